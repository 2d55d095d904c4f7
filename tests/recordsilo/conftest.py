"""Silos to test with: a new one, the one of 2010, and a harvest of a few records."""

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recordsilo import Origin, Silo

DATA = Path(__file__).parent / "data"

Harvest = Callable[..., str]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On the disk, where inodes, times and room are those of the Silos that people have."""
    with tempfile.TemporaryDirectory(prefix="recordsilo-test-") as made:
        yield Path(made)


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as opened:
        yield opened


@pytest.fixture
def path_of_2010(tmp_path: Path) -> str:
    with tarfile.open(DATA / "silo-2010.tar.gz") as archive:
        archive.extractall(tmp_path, filter="fully_trusted")  # its delta clone links absolutely
    return str(tmp_path / "silo-2010")


@pytest.fixture
def silo_2010(path_of_2010: str) -> Iterator[Silo]:
    with Silo(path_of_2010, create=False) as opened:
        yield opened


def dublin_core(title: str) -> bytes:
    return (
        '<metadata xmlns="http://www.openarchives.org/OAI/2.0/">'
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{title}</dc:title></oai_dc:dc></metadata>"
    ).encode()


@pytest.fixture
def harvest() -> Harvest:
    """Adds a harvested version to a record, as a harvester does: in a batch."""

    def add(
        silo: Silo,
        identifier: str,
        content: bytes | None = None,
        *,
        version: str = "1",
        date: str = "2004-06-24T00:00:00",
        sets: tuple[str, ...] = (),
        title: str = "A harvested title",
        move_cursor: bool = True,
    ) -> str:
        with silo.batch([identifier], agent="harvester") as batch:
            edit = batch.edit(identifier)
            origin = Origin("harvest", prefixes={"oai_dc": date}, agent="harvester")
            edit.add_version(version, date=date, origin=origin, move_cursor=move_cursor)
            edit.put(version, "oai_dc", content or dublin_core(title), metadata=True)
            edit.set_metadata("identifier", identifier)
            if "firstSeen" not in edit.manifest.metadata:
                edit.set_metadata("firstSeen", date)
            edit.set_metadata("setSpec", list(sets))
        return identifier

    return add


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a script in a process of its own."""

    def run(script: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", script, *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )

    return run


@pytest.fixture
def tree() -> Callable[[str], list[str]]:
    """Every file and directory of a record or Silo, as sorted relative paths."""

    def listing(root: str) -> list[str]:
        found = []
        for directory, directories, files in os.walk(root):
            for name in (*directories, *files):
                found.append(os.path.relpath(os.path.join(directory, name), root))
        return sorted(found)

    return listing
