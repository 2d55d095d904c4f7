"""The file under every ledger: whole transactions, one error for each cause, many at once."""

import errno
import os
import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from silowork import ledger_file
from silowork.ledger_file import NEW_ID, LedgerFile, LedgerKind, new_id


class Unreadable(Exception):
    pass


def unreadable(path: str, reason: str) -> Exception:
    return Unreadable(f"{path}: {reason}")


ONE = "CREATE TABLE IF NOT EXISTS one (n INTEGER PRIMARY KEY, t TEXT);"
KIND = LedgerKind(ONE, unreadable)
LOGGED = LedgerKind(ONE, unreadable, version=1, synchronous="NORMAL", has_log=True)
MODES = ("create", "write", "read")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "one.sqlite")


def add(file: LedgerFile, *texts: str) -> None:
    with file.transaction() as connection:
        connection.executemany("INSERT INTO one (t) VALUES (?)", [(text,) for text in texts])


def texts(file: LedgerFile) -> list[str]:
    return [text for (text,) in file.rows("SELECT t FROM one ORDER BY n")]


@pytest.mark.parametrize("kind", [KIND, LOGGED])
def test_what_was_committed_is_there_again(path: str, kind: LedgerKind) -> None:
    with LedgerFile(path, kind) as file:
        add(file, "a", "b")
    with LedgerFile(path, kind, "write") as file:
        assert texts(file) == ["a", "b"]
    assert sorted(os.listdir(os.path.dirname(path))) == ["one.sqlite"]


def test_a_file_is_opened_at_its_first_use_and_again_after_it_was_closed(path: str) -> None:
    file = LedgerFile(path, KIND)
    assert not os.path.exists(path)
    add(file, "a")
    file.close()
    file.close()
    assert texts(file) == ["a"]
    file.close()


def test_many_files_open_in_one_process_hold_no_descriptor_once_closed(tmp_path: Path) -> None:
    def held() -> int:
        places = (Path(one).resolve() for one in Path("/proc/self/fd").iterdir())
        return sum(tmp_path in place.parents for place in places)

    files = [LedgerFile(str(tmp_path / f"{number}.sqlite"), LOGGED) for number in range(40)]
    for file in files:
        add(file, "a")
    assert held() >= 40
    for file in files:
        file.close()
    assert held() == 0
    assert all(texts(file) == ["a"] for file in files)
    for file in files:
        file.close()


def test_a_transaction_that_fails_leaves_nothing_and_the_next_one_works(path: str) -> None:
    with LedgerFile(path, KIND) as file:
        with pytest.raises(ZeroDivisionError), file.transaction() as connection:  # noqa: PT012 - it is the case
            connection.execute("INSERT INTO one (t) VALUES ('lost')")
            raise ZeroDivisionError
        add(file, "kept")
        assert texts(file) == ["kept"]


def test_threads_share_a_file_one_transaction_at_a_time(path: str) -> None:
    with LedgerFile(path, LOGGED) as file, ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(add, file, f"{n}", f"{n}") for n in range(40)]:
            done.result()
        found = texts(file)
    assert found[::2] == found[1::2]
    assert sorted(found[::2], key=int) == [f"{n}" for n in range(40)]


@pytest.mark.parametrize("kind", [KIND, LOGGED])
def test_several_may_begin_the_same_file_at_once(path: str, kind: LedgerKind) -> None:
    def begin(number: int) -> None:
        with LedgerFile(path, kind) as file:
            add(file, f"{number}")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(begin, range(24)))
    with LedgerFile(path, kind) as file:
        assert len(texts(file)) == 24


# --------------------------------------------------------------------------- reading


@pytest.mark.parametrize("is_there", [True, False])
def test_reading_a_file_that_is_missing_or_empty_finds_nothing_and_makes_none(
    path: str, is_there: bool
) -> None:
    if is_there:
        Path(path).touch()
    with LedgerFile(path, LOGGED, "read") as file:
        assert texts(file) == []
    assert os.path.exists(path) is is_there
    assert not is_there or os.path.getsize(path) == 0


def test_reading_changes_nothing(path: str) -> None:
    with LedgerFile(path, KIND) as file:
        add(file, "a")
    with LedgerFile(path, KIND, "read") as file, pytest.raises(OSError, match=r"one\.sqlite"):
        add(file, "b")


@pytest.mark.parametrize("kind", [KIND, LOGGED])
def test_a_file_is_read_where_nothing_can_be_written(
    path: str, kind: LedgerKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_file.os, "access", lambda *_: False)
    with LedgerFile(path, kind) as writer:
        add(writer, "a")
        with LedgerFile(path, kind, "read") as file:
            assert texts(file) == ["a"]  # also from the writer's log
    with LedgerFile(path, kind, "read") as file:
        assert texts(file) == ["a"]
        assert os.listdir(os.path.dirname(path)) == ["one.sqlite"]


def test_a_reader_rolls_back_what_a_killed_writer_left(path: str) -> None:
    with LedgerFile(path, KIND) as file:
        add(file, "before")
    script = (
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('PRAGMA cache_size = 1')\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.executemany('INSERT INTO one (t) VALUES (?)', [('x' * 4000,)] * 200)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=False)
    assert os.path.getsize(path + "-journal") > 512
    with LedgerFile(path, KIND, "read") as file:
        assert texts(file) == ["before"]


# --------------------------------------------------------------------------- making


def test_a_file_that_is_made_is_there_whole_or_not_at_all(path: str) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO one (t) VALUES ('a')")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LedgerFile.make(path, KIND, fail)
    assert os.listdir(os.path.dirname(path)) == []
    LedgerFile.make(path, LOGGED, lambda c: c.execute("INSERT INTO one (t) VALUES ('a')"))
    assert os.listdir(os.path.dirname(path)) == ["one.sqlite"]
    with LedgerFile(path, LOGGED, "write") as file:
        assert texts(file) == ["a"]


# --------------------------------------------------------------------------- what cannot be read


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "content", [b"not a database " * 100, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_what_is_not_a_ledger_is_one_error_and_stays_as_it_is(
    path: str, mode: ledger_file.Mode, content: bytes
) -> None:
    Path(path).write_bytes(content)
    with LedgerFile(path, KIND, mode) as file, pytest.raises(Unreadable, match=r"one\.sqlite"):
        file.open()
    assert Path(path).read_bytes() == content


@pytest.mark.parametrize("mode", MODES)
def test_another_database_is_refused_and_gets_no_tables(path: str, mode: ledger_file.Mode) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE theirs (n)")
    other.close()
    before = Path(path).read_bytes()
    with LedgerFile(path, KIND, mode) as file, pytest.raises(Unreadable, match="no table one"):
        file.open()
    assert Path(path).read_bytes() == before


def test_an_empty_file_is_refused_where_it_was_made_whole(path: str) -> None:
    Path(path).touch()
    with LedgerFile(path, KIND, "write") as file, pytest.raises(Unreadable, match="no table one"):
        file.open()
    assert os.path.getsize(path) == 0


def test_a_file_of_a_later_version_is_refused(path: str) -> None:
    LedgerFile(path, LOGGED).open().close()
    with (
        LedgerFile(path, KIND) as file,
        pytest.raises(Unreadable, match="version 1, but this program supports 0"),
    ):
        file.open()


def test_a_file_of_an_earlier_version_gets_the_tables_that_were_added(path: str) -> None:
    with LedgerFile(path, KIND) as file:
        add(file, "a")
    later = LedgerKind(ONE + "CREATE TABLE IF NOT EXISTS two (n);", unreadable, version=1)
    with LedgerFile(path, later) as file, pytest.raises(Unreadable, match="no table two"):
        file.open()
    later = LedgerKind(later.schema, unreadable, version=1, added=frozenset({"two"}))
    with LedgerFile(path, later, "read") as file:
        assert texts(file) == ["a"]
    with LedgerFile(path, later, "write") as file:
        assert (texts(file), file.rows("SELECT * FROM two")) == (["a"], [])
        assert file.rows("PRAGMA user_version") == [(1,)]


def test_a_page_that_is_damaged_is_met_as_the_same_error(path: str) -> None:
    with LedgerFile(path, KIND) as file:
        add(file, *["x" * 3000] * 50)
    with open(path, "r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xff" * 4096 * 3)
    with LedgerFile(path, KIND) as file, pytest.raises(Unreadable, match="malformed"):
        texts(file)


# --------------------------------------------------------------------------- what the disk refuses


def test_a_full_disk_is_an_os_error_and_the_next_transaction_works(path: str) -> None:
    with LedgerFile(path, KIND) as file:
        add(file, "kept")
        file.rows("PRAGMA max_page_count = 10")
        with pytest.raises(OSError, match=re.escape(path)) as refused:
            add(file, *["x" * 4000] * 100)
        assert refused.value.errno == errno.ENOSPC
        add(file, "also kept")
        assert texts(file) == ["kept", "also kept"]


def test_on_a_full_disk_a_file_with_a_log_is_read_all_the_same(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LedgerFile(path, LOGGED) as file:
        add(file, "kept")

    def refuse(_connection: sqlite3.Connection, _path: str) -> None:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
        raise error

    monkeypatch.setattr(ledger_file, "keep_log", refuse)
    with LedgerFile(path, LOGGED, "read") as file:
        assert texts(file) == ["kept"]
    with LedgerFile(path, LOGGED, "write") as file, pytest.raises(OSError, match="No space left"):
        texts(file)


def test_a_file_kept_busy_is_an_os_error_that_says_so(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_file, "SECONDS_UNTIL_BUSY", 0.2)
    with LedgerFile(path, KIND) as one, LedgerFile(path, KIND) as other:
        other.open()
        with one.transaction(), pytest.raises(OSError, match=r"busy for 0\.2 seconds") as refused:
            add(other, "a")
        assert refused.value.errno == errno.EBUSY
        add(other, "b")
        assert texts(one) == ["b"]


@pytest.mark.parametrize("mode", MODES)
def test_what_cannot_be_opened_is_an_os_error_with_its_cause(
    tmp_path: Path, mode: ledger_file.Mode
) -> None:
    with pytest.raises(IsADirectoryError):
        LedgerFile(str(tmp_path), KIND, mode).open()


def test_a_directory_that_is_missing_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LedgerFile(str(tmp_path / "gone" / "one.sqlite"), KIND).open()


# --------------------------------------------------------------------------- ids


def test_ids_differ_sort_by_time_and_are_safe_as_file_names() -> None:
    ids = [new_id() for _ in range(200)]
    assert len(set(ids)) == 200
    assert [one[:16] for one in ids] == sorted(one[:16] for one in ids)
    assert all(NEW_ID.fullmatch(one) for one in ids)


def test_a_disk_without_inodes_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = SimpleNamespace(f_flag=0, f_files=100, f_favail=0)
    monkeypatch.setattr(os, "fstatvfs", lambda _fd: disk)
    path = tmp_path / "one.sqlite"
    path.mkdir()  # so that SQLite cannot open it
    with pytest.raises(OSError, match="No space left on device"):
        LedgerFile(str(path), KIND).open()
