"""A Silo with one damaged manifest: checked, read, searched, repaired."""

import hashlib
import os
import shutil
from collections.abc import Hashable, Iterable, Sequence
from random import Random

from click.testing import CliRunner
from fuzzing.mutators import changed_json
from fuzzing.target import Target

from fuzz_targets.manifests import NAMES
from fuzz_targets.rules import DC
from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.disk.identifier import ppath
from recordsilo.errors import RecordSiloError

_MANGLED, _OTHER = "oai:x:1", "oai:x:2"


class Silos(Target):
    promise = (
        "Whatever one manifest holds, check and repair end without an exception, every file's "
        "content is still there, and the record beside it is as it was and can be found."
    )
    largest = 32_768
    iterations = 15
    seconds = 10.0

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        self._pristine, self._path = (os.path.join(scratch, one) for one in ("pristine", "silo"))
        with Silo(self._pristine) as silo:
            for identifier in (_MANGLED, _OTHER):
                record = silo.get_item(identifier, date="2026-11-22T10:00:00Z")
                record.put_stream("oai_dc", DC.replace(b"Physics", identifier.encode()), "1", True)
                record.put_stream("a/b.txt", f"a file of {identifier}", "1")
                record.clone_version("1", "w")
                record.put_stream("note.txt", f"a note on {identifier}", "w")
            silo.search("tides")
        self._records = os.path.join(self._pristine, "pairtree_root")
        self._contents = {one for path, one in _files(self._records) if "manifest" not in path}
        self._other = _files_of(self._pristine, _OTHER)

    def seeds(self) -> Iterable[bytes]:
        with open(_manifest(self._pristine), "rb") as file:
            return [file.read()]

    def mutated(self, random: Random, pool: Sequence[bytes]) -> bytes:
        if random.random() < 0.2:
            return super().mutated(random, pool)
        return changed_json(random, random.choice(pool), NAMES)

    def check(self, data: bytes) -> Hashable:
        shutil.rmtree(self._path, ignore_errors=True)
        shutil.copytree(self._pristine, self._path)
        with open(_manifest(self._path), "wb") as file:
            file.write(data)
        met = [self._run("check")]
        self._read()
        met.append(self._run("repair"))
        lost = self._contents - {one for _, one in _files(self._path)}
        assert not lost, "the content of a file is gone"
        assert _files_of(self._path, _OTHER) == self._other
        met += [self._run("repair"), self._run("check"), self._read()]
        return tuple(met)

    def _run(self, command: str) -> int:
        done = CliRunner().invoke(silo_command, [command, self._path], standalone_mode=False)
        if done.exception is not None and not isinstance(done.exception, RecordSiloError):
            raise done.exception
        return done.return_value if isinstance(done.return_value, int) else done.exit_code

    def _read(self) -> Hashable:
        """What the store says of both records."""
        with Silo(self._path, create=False) as silo:
            assert _OTHER in {row.identifier for row in silo.search("tides").rows}
            with silo[_OTHER].get_stream("note.txt", "w") as stream:
                assert stream.read() == f"a note on {_OTHER}".encode()
            try:
                record = silo[_MANGLED]
                for version in record.versions:
                    for path in record.state.version(version).digests or ():
                        with record.get_stream(path, version) as stream:
                            stream.read()
            except RecordSiloError as error:
                return type(error).__name__
        return "read"


def _manifest(silo: str) -> str:
    return os.path.join(silo, "pairtree_root", ppath(_MANGLED), "__manifest.json")


def _files(root: str) -> Iterable[tuple[str, str]]:
    """Every file below a directory but the index, and its digest."""
    for place, _, names in os.walk(root):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                yield os.path.relpath(path, root), hashlib.file_digest(file, "sha256").hexdigest()


def _files_of(silo: str, identifier: str) -> dict[str, str]:
    return dict(_files(os.path.join(silo, "pairtree_root", ppath(identifier))))
