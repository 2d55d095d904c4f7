"""A Silo, synchronised by the client of resync 2.0.1, which runs in an environment of its own."""

import os
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from lxml import etree
from real_servers.running import ENVIRONMENTS
from strangers import metha

from oaipmhprovider import ProviderServer
from oaipmhprovider.resourcesync.app import ResourceSyncApp
from oaipmhprovider.resourcesync.dumps import document_of
from recordsilo import Silo
from recordsilo.records.manifest import Origin
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity

pytestmark = pytest.mark.long

RECORDS = 100
ODD = "oai:x:a/b%2Fc d?é#"


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as silo:
        for name in [ODD, *(f"oai:x:{number:03}" for number in range(RECORDS))]:
            with silo.editing(name) as edit:
                edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
                document = f'<a xmlns="urn:a">{name}</a>'
                edit.put("1", "oai_dc", document.encode(), metadata=True)
        yield silo


class Resync:
    """``resync-sync`` with one format of a repository."""

    def __init__(self, base_url: str, place: Path) -> None:
        self.base, self.place = f"{base_url}/resourcesync/oai_dc", place / "synced"
        self.place.mkdir()
        self._python = ENVIRONMENTS / "resync" / "bin" / "python"
        if not self._python.exists():
            pytest.skip(f"resync is not in {ENVIRONMENTS}")

    def __call__(self, *options: str) -> str:
        command = [self._python, "-W", "ignore", self._python.with_name("resync-sync")]
        done = subprocess.run(
            [*map(str, command), *options, f"{self.base}={self.place}"],
            check=True, capture_output=True, text=True, timeout=120, cwd=self.place.parent,
        )  # fmt: skip
        assert "Error" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.stdout + done.stderr

    def files(self) -> list[bytes]:
        return sorted(path.read_bytes() for path in self.place.rglob("*") if path.is_file())


@pytest.mark.parametrize("largest", [50_000, 30])
def test_resync_has_the_same_documents_and_follows_changes(
    silo: Silo, tmp_path: Path, largest: int
) -> None:
    front = partial(ResourceSyncApp, largest=largest)
    identity = Identity("A Silo", ("a@example.org",))
    with (
        SiloSource(silo, identity) as source,
        ProviderServer(source, front=front) as server,
    ):
        resync = Resync(server.base_url, tmp_path)
        resync("--baseline")  # it finds the lists by the well-known address
        assert len(resync.files()) == RECORDS + 1
        assert resync.files() == documents(source, silo)
        assert "IN SYNC (same=101" in resync("--audit")
        time.sleep(1.1)  # dates are to the second
        began = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        for number in range(0, 40, 4):
            record = silo[f"oai:x:{number:03}"]
            record.clone_version("1", "mine")
            record.put_stream("oai_dc", f'<a xmlns="urn:a">new {number}</a>')
        for number in range(41, 60, 3):
            silo.del_item(f"oai:x:{number:03}", remember=True)
        for address in change_lists(f"{resync.base}/changelist.xml"):
            resync("--incremental", "--delete", "--from", began, "--changelist-uri", address)
        assert resync.files() == documents(source, silo)
        assert len(resync.files()) == RECORDS + 1 - 7


def change_lists(address: str) -> list[str]:
    """A change list, or its parts: resync 2.0.1 reads an index of resource lists only."""
    root = etree.fromstring(metha.ask(address))
    return [one.text or "" for one in root.iterfind("{*}sitemap/{*}loc")] or [address]


def documents(source: SiloSource, silo: Silo) -> list[bytes]:
    """What a client has to have."""
    return sorted(document_of(source.record(name, "oai_dc")) for name in silo)


def test_odd_identifiers_have_files_of_their_own(silo: Silo, tmp_path: Path) -> None:
    with (
        SiloSource(silo, Identity("A Silo", ("a@example.org",))) as source,
        ProviderServer(source, front=ResourceSyncApp) as server,
    ):
        resync = Resync(server.base_url, tmp_path)
        resync("--baseline")
    names = {os.path.basename(path) for path in resync.place.rglob("*")}
    assert "oai:x:a%2Fb%252Fc%20d%3F%C3%A9%23" in names
