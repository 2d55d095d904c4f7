"""The file of queues, and the transactions that threads share."""

import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from waiting import wait_until

from silowork.errors import QueuesUnreadable
from silowork.ledger_file import LedgerFile
from silowork.queues.group_commit import GroupCommit
from silowork.queues.sqlite import KIND, SqliteQueues
from silowork.queues.values import Message


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "queues.sqlite")


class Counted(LedgerFile):
    """A file that counts its transactions."""

    transactions = 0

    def transaction(self):  # type: ignore[no-untyped-def]
        self.transactions += 1
        return super().transaction()


def test_changes_that_wait_are_committed_together_each_with_its_own_error(path: str) -> None:
    file, is_free, began = Counted(path, KIND), Event(), Event()
    group = GroupCommit(file)

    def slow(_: sqlite3.Connection) -> None:
        began.set()
        is_free.wait(60)

    def note(connection: sqlite3.Connection, name: str) -> str:
        connection.execute("INSERT INTO mark VALUES (?, '')", (name,))
        return name

    with ThreadPoolExecutor(12) as threads:
        first = threads.submit(group.change, slow)
        began.wait(60)
        names = ["a", "b", "a", "c", "d"]
        before = file.transactions

        def begun(name: str) -> "Future[str]":
            return threads.submit(group.change, lambda connection: note(connection, name))

        changes = [begun(name) for name in names]
        wait_until(lambda: len(group._waiting) == len(names))
        is_free.set()
        first.result(60)
        errors = [one.exception(60) for one in changes]
    assert sorted(type(one).__name__ for one in errors) == ["NoneType"] * 4 + ["QueuesUnreadable"]
    assert sorted(file.rows("SELECT name FROM mark")) == [("a",), ("b",), ("c",), ("d",)]
    assert file.transactions - before == 1 + len(names)  # together, then each alone

    with ThreadPoolExecutor(12) as threads:
        is_free.clear(), began.clear()
        first = threads.submit(group.change, slow)
        began.wait(60)
        before = file.transactions
        changes = [begun(name) for name in "efgh"]
        wait_until(lambda: len(group._waiting) == 4)
        is_free.set()
        assert [one.result(60) for one in changes] == ["e", "f", "g", "h"]
    assert file.transactions - before == 1
    file.close()


def test_a_change_that_ctrl_c_ends_leaves_those_of_other_threads(path: str) -> None:
    file = LedgerFile(path, KIND)
    group = GroupCommit(file)

    def interrupted(_: sqlite3.Connection) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        group.change(interrupted)
    assert group.change(lambda connection: connection.execute("SELECT 1").fetchone()) == (1,)
    file.close()


def test_a_file_that_holds_no_queues_is_refused(path: str) -> None:
    Path(path).write_bytes(b"no database at all, and longer than a header " * 9)
    with (
        SqliteQueues(path) as queues,
        pytest.raises(QueuesUnreadable, match=r"queues\.sqlite cannot"),
    ):
        queues.put([Message("q", b"")])


def test_queues_can_be_read_before_anything_was_put(path: str) -> None:
    with SqliteQueues(path, "read") as queues:
        assert (queues.sizes(), queues.peek("q"), queues.mark("m")) == ({}, [], "")
    assert not Path(path).exists()


def test_what_is_done_leaves_its_key_only(path: str) -> None:
    with SqliteQueues(path) as queues:
        queues.put([Message("q", b"long " * 999, "k")])
        queues.done(queues.take("q"))
        assert queues.file.rows("SELECT key, body, lease, reason FROM message") == [
            ("k", b"", "", "")
        ]


def test_what_a_clock_that_was_wrong_put_far_ahead_is_taken(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    with SqliteQueues(path) as queues:
        monkeypatch.setattr(time, "time", lambda: real() + 366 * 86_400)
        queues.put([Message("q", b"at once"), Message("q", b"later", wait=3600)])
        queues.put([Message("held", b"x")])
        queues.take("held")
        monkeypatch.setattr(time, "time", real)
        queues.put([Message("q", b"in a day", wait=86_400)])
        assert [one.body for one in queues.take("q", 9)] == [b"at once", b"later"]
        assert [one.body for one in queues.take("held")] == [b"x"]
        assert queues.take("q") == []
