"""Interrupted writers, and the checks of their work afterwards."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from crash_writer import content

from recordsilo import Silo
from recordsilo.audit import Audit, Severity
from recordsilo.audit.repair import MendedFinding, SiloRepair
from recordsilo.disk import atomic_file
from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.disk.walk import walk_records

SCRIPT = Path(__file__).with_name("crash_writer.py")
NAMES = ("a", "b", "c", "d")

Known = dict[str, int | None]


@dataclass
class Figures:
    """What an ordeal amounted to.

    Attributes:
        acknowledged: Operations said to be done, each found done afterwards.
        unsettled: Operations begun and not acknowledged, found done or not begun.
        codes: Finding → in how many rounds the audit told it before anything was mended.
    """

    rounds: int = 0
    acknowledged: int = 0
    unsettled: int = 0
    codes: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        told = ", ".join(f"{code} × {n}" for code, n in sorted(self.codes.items()))
        return (
            f"{self.rounds:,} rounds, {self.acknowledged:,} operations acknowledged and none lost, "
            f"{self.unsettled:,} broken off; left to be swept: {told or 'nothing'}"
        )


class Ordeal:
    """Four writers on one Silo, started anew for each round and stopped in the middle.

    Args:
        path: The Silo's.
        notes: A directory on a medium that nothing happens to.
        grade: As of `crash_writer.py`.
    """

    def __init__(self, path: str, notes: str, seed: int, grade: str = "both") -> None:
        self.path, self.notes, self.grade = path, notes, grade
        self.random = random.Random(seed)
        self.figures = Figures()
        self.pids: list[int] = []
        self._known: dict[str, Known] = {name: {} for name in NAMES}
        for name in NAMES:
            self._remember(name)

    def __enter__(self) -> "Ordeal":
        with open(f"{self.notes}/errors", "wb") as errors:
            self._forker = subprocess.Popen(
                [sys.executable, "-W", "error", str(SCRIPT), self.path],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, at: TracebackType | None
    ) -> None:
        self.kill()
        self._forker.communicate(timeout=60)
        if kind is not None:
            print(Path(f"{self.notes}/errors").read_text(encoding="utf-8")[-8000:])

    def _ask(self, line: str) -> int:
        assert self._forker.stdin
        assert self._forker.stdout
        print(line, file=self._forker.stdin, flush=True)
        return int(self._forker.stdout.readline())

    def start(self) -> None:
        for name in NAMES:
            seed = self.random.getrandbits(32)
            self.pids.append(self._ask(f"{name} {seed} {self.notes}/{name} {self.grade}"))

    def all_at_work(self) -> bool:
        """Whether none of the writers has failed of itself."""
        return all(_state(pid) not in "ZX" for pid in self.pids)

    def wait_for(self, acknowledged: int) -> None:
        """Let the writers work until so many operations of this round are acknowledged."""
        while sum(map(self._acknowledged_now, NAMES)) < acknowledged:
            assert self.all_at_work(), "a writer failed before it was stopped"
            time.sleep(0.01)

    def _acknowledged_now(self, name: str) -> int:
        path = Path(f"{self.notes}/{name}")
        return path.read_bytes().splitlines().count(b"[]") if path.exists() else 0

    def kill(self) -> None:
        """Kill what is left of the writers."""
        while self.pids:
            self.kill_one()

    def kill_one(self) -> None:
        """Kill the one started first; nobody waited for it yet, so the id is its own."""
        os.kill(self.pids.pop(0), signal.SIGKILL)

    def wait(self) -> bool:
        """Whether all writers were killed, rather than failed."""
        return self._ask("") == 0

    def check(self) -> None:
        """Nothing unreadable, nothing acknowledged lost, no damage; leftovers are no damage."""
        self.figures.rounds += 1
        for code in find_no_damage(self.path):
            self.figures.codes[code] = self.figures.codes.get(code, 0) + 1
        with Silo(self.path, create=False) as silo:
            check_every_record(silo)
            for name in NAMES:
                self._settle(silo, name)

    def _settle(self, silo: Silo, name: str) -> None:
        """Compare with what a writer noted; what it began may be done or not."""
        known = self._known[name]
        acknowledged, last = self._read_notes(name)
        known |= acknowledged
        for key in {*known, *last}:
            found = value_of(silo, *json.loads(key))
            allowed = [known.get(key)] + ([last[key]] if key in last else [])
            assert found in allowed, f"{key} is {found}, not one of {allowed}"
            if key in last:
                known[key] = found
        for key in [key for key, value in known.items() if value is None]:
            del known[key]
        self._remember(name)

    def _read_notes(self, name: str) -> tuple[Known, Known]:
        path = Path(f"{self.notes}/{name}")
        path.touch()
        sure: Known = {}
        begun: Known = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if change := json.loads(line):
                begun = {json.dumps(key): value for key, value in change}
                continue
            self.figures.acknowledged += 1
            sure |= begun
            begun = {}
        path.unlink()
        self.figures.unsettled += bool(begun)
        return sure, begun

    def _remember(self, name: str) -> None:
        known = json.dumps(self._known[name])
        Path(f"{self.notes}/{name}.known").write_text(known, encoding="utf-8")


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def value_of(silo: Silo, kind: str, identifier: str, name: str = "f") -> int | None:
    """What is there of what a writer noted under this key."""
    if kind == "removed":
        return 1 if identifier in silo.removed() else None
    if identifier not in silo:
        return None
    record = silo[identifier]
    if kind == "version":
        return 1 if name in record.versions else None
    if kind == "metadata":
        return record.metadata.get(name)  # type: ignore[no-any-return]
    version = record.currentversion if kind == "current" else "1"
    if name not in record.paths(version):
        return None
    with record.get_stream(name, version) as stream:
        found = stream.read()
    number = int(found.split()[0])
    assert found == content(number)
    return number


def _has_manifest(silo: Silo, identifier: str) -> bool:
    """Whether it is a record; else it is what a killed creation or deletion left."""
    return os.path.exists(f"{silo._catalogue._place_of(identifier).dirpath}/{MANIFEST_NAME}")


def check_every_record(silo: Silo) -> None:
    """Each record is read whole, byte for byte, and the index tells what the disk does."""
    problems: list[tuple[str, str]] = []
    found = walk_records(f"{silo.path}/pairtree_root", lambda *p: problems.append(p))
    walked = sorted(one for one in found if _has_manifest(silo, one))
    assert problems == []
    assert list(silo) == walked
    assert len(silo) == len(walked)
    for identifier in walked:
        record = silo[identifier]
        row = silo.row(identifier)
        assert (row.revision, row.versions) == (record.revision, len(record.versions))
        for version in record.versions:
            for path in record.paths(version):
                with record.get_stream(path, version) as stream:
                    found = atomic_file.digest_of(stream)
                info = record.file_info(path, version)
                assert (found.sha256, found.size) == (info.sha256, info.size)


def find_no_damage(path: str) -> set[str]:
    """Codes of what the audit tells; none of it is damage."""
    findings = list(Audit(path).findings())
    damage = [one for one in findings if one.severity is Severity.DAMAGE]
    assert not damage, f"{len(damage)} findings of damage, as {damage[:3]}"
    return {one.code.number for one in findings}


def mend(path: str) -> None:
    """`silo repair` mends everything that was left, and nothing at all is found after it."""
    outcomes = list(SiloRepair(path).run())
    assert all(isinstance(one, MendedFinding) for one in outcomes), outcomes
    assert find_no_damage(path) == set()


def write_everywhere(path: str) -> None:
    """The next write of each record leaves nothing of the killed ones."""
    with Silo(path, create=False) as silo:
        for identifier in silo:
            record = silo[identifier]
            record.metadata["swept"] = True
            record.create_new_version("last")
            record.del_version("last")
        check_every_record(silo)
        listed = {
            os.path.realpath(os.path.join(record.path_to_item(), f"__{version}"))
            for record in silo.iteritems()
            for version in record.versions
        }
        absent = {os.path.dirname(each) for each in _marks(path)} - {
            record.path_to_item() for record in silo.iteritems()
        }
    for below, directories, files in os.walk(f"{path}/pairtree_root"):
        if below in absent:  # of a record that was never there: `mend` sees to it
            continue
        own = [name for name in directories if name.startswith("__") and len(name) > 2]
        assert all(os.path.realpath(os.path.join(below, name)) in listed for name in own)
        assert not [name for name in files if name.endswith((".tmp", ".new", ".deleted"))]
    assert os.listdir(f"{path}/.silo/tmp") == []


def _marks(path: str) -> list[str]:
    return [
        os.path.join(below, name)
        for below, _, files in os.walk(f"{path}/pairtree_root")
        for name in files
        if name.endswith((".new", ".deleted"))
    ]
