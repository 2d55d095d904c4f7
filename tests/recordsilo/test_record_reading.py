"""Reading for the index in two processes: the same rows as in one, even if a process ends."""

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.index import SqliteIndex, record_reading
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.packing import Unpacker
from recordsilo.index.record_reading import read_chunks
from recordsilo.rdf.records import RDFSilo
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace
from recordsilo.second_process import SecondProcess

Harvest = Callable[..., str]
RECORDS = 24


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few records need a second process."""
    monkeypatch.setattr(record_reading, "BESIDE_FROM", 4)
    monkeypatch.setattr(record_reading, "cores", lambda: 2)
    monkeypatch.setattr("recordsilo.index.catalogue._CHUNK", 3)
    # nothing depends on which of the two is faster: this one waits and does not help
    monkeypatch.setattr(SecondProcess, "is_listening", lambda _self: True)
    monkeypatch.setattr(SecondProcess, "has_answer", lambda _self: True)


@pytest.fixture
def many(silo: Silo, harvest: Harvest) -> Silo:
    for number in range(RECORDS):
        harvest(silo, f"r{number}", sets=("a", f"s{number % 3}"), title=f"Title é {number}")
    silo["r3"].clone_version("1", "wc")
    Path(silo["r5"].path_to_item(), "__manifest.json").write_bytes(b"{")
    return silo


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each question to the second process was answered."""
    seen: list[bool] = []
    real = SecondProcess.answer

    def noted(self: SecondProcess) -> object:
        found = real(self)
        seen.append(found is not None)
        return found

    monkeypatch.setattr(SecondProcess, "answer", noted)
    return seen


def rows(silo: Silo) -> dict[str, list[tuple[object, ...]]]:
    """Everything in the index that does not depend on the order of writing."""
    silo.close()
    with sqlite3.connect(f"{silo.path}/.silo/index.sqlite") as connection:
        found = {
            "record": "SELECT identifier, datestamp, title, deleted, curated, versions, "
            "revision, seconds, flags, mtime_ns, size, inode FROM record",
            "facet_value": "SELECT field, value FROM facet_value",
            "problem": "SELECT * FROM problem",
            "unreadable": "SELECT * FROM unreadable",
        }
        result = {name: sorted(connection.execute(sql).fetchall()) for name, sql in found.items()}
        read = Unpacker(connection).texts
        texts = connection.execute("SELECT packed, title, identifier FROM record").fetchall()
        result["text"] = sorted(read(*one) for one in texts)
    connection.close()
    result["set"] = sorted(silo.set_counts().items())
    silo.close()
    return result


@pytest.mark.usefixtures("small")
def test_two_processes_make_the_index_that_one_makes(
    many: Silo, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
) -> None:
    def made(cores: int) -> dict[str, list[tuple[object, ...]]]:
        monkeypatch.setattr(record_reading, "cores", lambda: cores)
        many.close()
        shutil.rmtree(f"{many.path}/.silo")
        assert many.reindex() == RECORDS
        return rows(many)

    alone, together = made(1), made(2)
    assert alone == together
    assert len(alone["unreadable"]) == 1
    assert len(answers) > 3
    assert all(answers)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("listens", [True, False])
def test_process_that_would_wait_reads_too_and_keeps_the_order(
    many: Silo, monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    monkeypatch.setattr(SecondProcess, "is_listening", lambda _self: listens)
    monkeypatch.setattr(SecondProcess, "has_answer", lambda _self: False)
    here: list[str] = []
    place_of, names = many._catalogue._place_of, [f"r{n}" for n in range(RECORDS) if n != 5]

    def noted(identifier: str) -> RecordPlace:
        here.append(identifier)
        return place_of(identifier)

    chunks = [[name] for name in names]
    read = list(read_chunks(noted, many._catalogue._root, chunks))
    assert [[one.identifier for one in some.found] for some in read] == chunks
    there = set(names) - set(here)
    assert len(there) >= 2 if listens else not there


@pytest.mark.usefixtures("small")
def test_process_that_ends_midway_is_done_without(
    many: Silo, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
) -> None:
    monkeypatch.setattr("recordsilo.second_process._AHEAD", 1)
    real = SecondProcess.answer

    def killing(self: SecondProcess) -> object:
        if len(answers) == 2:
            assert self._process is not None
            self._process.kill()
            self._process.wait()
        return real(self)

    monkeypatch.setattr(SecondProcess, "answer", killing)
    many.close()
    shutil.rmtree(f"{many.path}/.silo")
    assert many.reindex() == RECORDS
    assert answers[:2] == [True, True]
    assert answers[-1] is False
    assert len(list(many)) == RECORDS


@pytest.mark.usefixtures("small")
def test_interpreter_that_cannot_be_started_is_done_without(
    many: Silo, monkeypatch: pytest.MonkeyPatch, answers: list[bool]
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    many.close()
    shutil.rmtree(f"{many.path}/.silo")
    assert many.reindex() == RECORDS
    assert answers
    assert not any(answers)


@pytest.mark.usefixtures("small")
def test_records_of_another_class_are_read_here(
    tmp_path: Path, harvest: Harvest, answers: list[bool]
) -> None:
    with RDFSilo(str(tmp_path / "rdf")) as silo:
        for number in range(9):
            harvest(silo, f"r{number}")
        assert silo.reindex() == 9
    assert answers == []


@pytest.mark.usefixtures("small")
def test_second_process_ends_when_the_reading_is_broken_off(many: Silo) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    place_of = many._catalogue._place_of

    def chunks() -> Iterator[list[str]]:
        for number in range(RECORDS):
            yield [f"r{number}"]

    reading = read_chunks(place_of, many._catalogue._root, chunks())
    real = subprocess.Popen

    def noted(*arguments: object, **keywords: object) -> subprocess.Popen[bytes]:
        processes.append(real(*arguments, **keywords))  # type: ignore[call-overload]
        return processes[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", noted)
        for _ in range(6):
            next(reading)
    (process,) = processes
    assert process.poll() is None
    reading.close()
    assert process.poll() == -signal.SIGKILL


def test_second_process_ends_with_the_one_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from recordsilo.second_process import SecondProcess\n"
        "beside = SecondProcess('recordsilo.index.record_reading', sys.argv[1])\n"
        "beside.ask(['nothing']); beside.answer()\n"
        "print(beside._process.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, check=False
    )
    pid = int(done.stdout)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and _runs(pid):
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.usefixtures("small")
def test_records_written_while_others_read_them_are_in_the_index_as_they_are(
    many: Silo, harvest: Harvest
) -> None:
    many.close()
    shutil.rmtree(f"{many.path}/.silo")
    with Silo(many.path) as other:

        def write(done: int) -> None:
            if done <= 12:
                for number in (1, 7, 11, 13, 17, 22):
                    other[f"r{number}"].create_new_version(f"v{done}")
                if "r2" in other:
                    other.del_item("r2")

        many.reindex(write)
        assert len(list(many)) == RECORDS - 1
        for number in (1, 7, 11, 13, 17, 22):
            assert many.row(f"r{number}").revision == other[f"r{number}"].revision
        with many._catalogue._index.reading() as connection:
            listed = dict(connection.execute("SELECT identifier, revision FROM record"))
        assert all(listed[f"r{n}"] == other[f"r{n}"].revision for n in (1, 7, 11, 13, 17, 22))


def test_index_replaced_while_it_is_made_is_made_anew(
    many: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordsilo.index.catalogue._CHUNK", 3)
    runs: list[int] = []

    def lose(done: int) -> None:
        runs.append(done)
        if len(runs) == 4:
            with Silo(many.path) as other:
                other._catalogue._index._set_aside()

    assert many.reindex(lose) == RECORDS
    assert len(runs) > RECORDS // 3 + 2
    assert len(list(many)) == RECORDS


def test_unchanged_records_are_not_read_again(many: Silo, monkeypatch: pytest.MonkeyPatch) -> None:
    many.reindex()
    read: list[str] = []
    real = record_reading.read_entry
    monkeypatch.setattr(
        record_reading, "read_entry", lambda place: read.append(place.identifier) or real(place)
    )
    assert many.reindex() == RECORDS
    assert read == ["r5"]
    assert os.path.exists(f"{many.path}/.silo/index.sqlite")


def test_interrupted_indexing_goes_on_where_it_was(
    many: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordsilo.index.catalogue._CHUNK", 3)
    many.close()
    shutil.rmtree(f"{many.path}/.silo")

    def stop(done: int) -> None:
        if done >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        many.reindex(stop)
    with contextlib.closing(SqliteIndex(f"{many.path}/.silo/index.sqlite", lambda: False)) as index:
        assert not index.complete
    read: list[int] = []
    real = Catalogue._not_as_indexed

    def counted(self: Catalogue, identifiers: list[str]) -> list[str]:
        found = real(self, identifiers)
        read.append(len(found))
        return found

    monkeypatch.setattr(Catalogue, "_not_as_indexed", counted)
    assert many.reindex() == RECORDS
    assert sum(read) <= RECORDS - 11


def both_ways(place: RecordPlace, manifest: Manifest, path: str) -> tuple[object, object]:
    """What reading a file whole gives, and what opening it gives; an error by its class."""

    def opened() -> bytes:
        with place.open(manifest, "1", path) as file:
            return file.read()

    found: list[object] = []
    for way in (lambda: place.content(manifest, "1", path), opened):
        try:
            found.append(way())
        except (RecordSiloError, OSError) as error:
            found.append((type(error), str(error)))
    return found[0], found[1]


def test_file_read_whole_is_the_one_that_is_opened(silo: Silo, harvest: Harvest) -> None:
    record = silo[harvest(silo, "r")]
    for name, text in (("long", "x" * 100_000), ("sub/inner", "in"), ("empty", "")):
        with silo.batch(["r"]) as batch:
            batch.edit("r").put("1", name, text.encode(), allow_frozen=True)
    place = silo._catalogue._place_of("r")
    manifest = place.read_manifest()
    assert manifest is not None
    for path, content in (("long", b"x" * 100_000), ("sub/inner", b"in"), ("empty", b"")):
        assert both_ways(place, manifest, path) == (content, content)
    files = Path(record.path_to_item(), "__1")

    def compare() -> None:
        for path in ("oai_dc", "long", "empty", "sub/inner", "unlisted"):
            whole, opened = both_ways(place, manifest, path)
            assert whole == opened

    empty = files / "empty"
    for target in (files / "long", Path("/etc/passwd"), Path("nowhere")):
        empty.unlink()
        compare()
        empty.symlink_to(target)
        compare()
    empty.unlink()
    empty.mkdir()
    compare()
    files.rename(files.with_name("elsewhere"))
    compare()
    files.symlink_to("elsewhere")
    compare()
