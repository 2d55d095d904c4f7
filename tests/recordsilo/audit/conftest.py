"""A small Silo to break: built once, copied for each test."""

import hashlib
import json
import os
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from copies import copy_of

from recordsilo import Origin, Silo
from recordsilo.disk.identifier import ppath

DATA = Path(__file__).parents[1] / "data"
IDENTIFIER = "oai:example.org:12"
NESTED = "oai:example.org:1202"


def sealed(members: dict[str, Any]) -> bytes:
    """A manifest's bytes as docs/format-manifest.md has them, checksum and all."""
    shown = {key: value for key, value in members.items() if key != "checksum"}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in shown.items()]
    body = ("{\n" + ",\n".join(lines) + ",\n").encode()
    return body + b'"checksum": "' + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


@dataclass(frozen=True)
class Box:
    """A Silo to break, and the record that is broken in it."""

    silo: Path
    identifier: str = IDENTIFIER

    @property
    def record(self) -> Path:
        return self.silo / "pairtree_root" / ppath(self.identifier)

    @property
    def manifest(self) -> Path:
        return self.record / "__manifest.json"

    @property
    def members(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.manifest.read_bytes())
        return found

    def rewrite(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the manifest as somebody would who knows how to seal it."""
        members = self.members
        change(members)
        self.manifest.write_bytes(sealed(members))

    def set(self, **members: Any) -> None:
        self.rewrite(lambda found: found.update(members))

    def drop_index(self) -> None:
        shutil.rmtree(self.silo / ".silo", ignore_errors=True)


def build(path: Path) -> None:
    with Silo(str(path), "http://example.org/oai", agent="tester") as silo:
        for identifier in (IDENTIFIER, NESTED):
            with silo.batch([identifier]) as batch:
                edit = batch.edit(identifier)
                stamp = "2004-06-24T00:00:00"
                edit.add_version("1", date=stamp, origin=Origin("harvest", prefixes={"a": stamp}))
                edit.put("1", "oai_dc", b"<dc>harvested</dc>", metadata=True)
                edit.put("1", "uketd_dc", b"<uketd_dc>harvested</uketd_dc>", metadata=True)
                edit.set_metadata("firstSeen", stamp)
                edit.set_metadata("setSpec", ["a", "b"])
        record = silo[IDENTIFIER]
        record.clone_version("1", "workingcopy")
        record.put_stream("docs/licence.txt", "open")
        record.put_stream("notes.txt", "as curated", message="said so")
        record.create_new_version("empty")
        record.set_version_cursor("workingcopy")
        record.sync()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / "silo"
    build(path)
    return path


@pytest.fixture
def box(built: Path, tmp_path: Path) -> Box:
    """A whole Silo with two records, one within the other's path, and an index."""
    copy_of(built, tmp_path / "silo")
    return Box(tmp_path / "silo")


@pytest.fixture
def box_2010(tmp_path: Path) -> Box:
    """The Silo of 2010, with the link of its delta clone leading where it led then."""
    with tarfile.open(DATA / "silo-2010.tar.gz") as archive:
        archive.extractall(tmp_path, filter="fully_trusted")
    box = Box(tmp_path / "silo-2010", "oai:eprints.example.org:6")
    link = box.record / "__delta/oai_dc"
    link.unlink()
    link.symlink_to(box.record / "__1/oai_dc")
    return box


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, tuple[int, bytes]]]:
    """Everything below a Silo but ``.silo``: path → mode and content."""

    def take(silo: Path) -> dict[str, tuple[int, bytes]]:
        found = {}
        for directory, directories, files in os.walk(silo):
            if ".silo" in directories and Path(directory) == silo:
                directories.remove(".silo")
            for name in (*directories, *files):
                path = os.path.join(directory, name)
                mode = os.lstat(path).st_mode
                content = Path(path).read_bytes() if os.path.isfile(path) else b""
                found[os.path.relpath(path, silo)] = (mode, content)
        return found

    return take
