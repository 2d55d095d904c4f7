"""Locks between writers, removals that are remembered, and progress shown."""

import errno
import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Silo, progress, removals
from recordsilo.disk import atomic_file
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordNotFound, RevisionConflict, StateUnreadable
from recordsilo.progress import counting

Harvest = Callable[..., str]

HOLD = """
import sys, time
from recordsilo.disk.locks import Locks
with Locks(sys.argv[1]).hold(["a"]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    directory = str(tmp_path / "locks")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, directory], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        with Locks(directory).hold_if_free("a") as free:
            assert not free
        holder.kill()
        with Locks(directory).hold(["a"]):
            pass
        with Locks(directory).hold_if_free("a") as free:
            assert free


def test_locks_of_a_batch_are_given_back_when_one_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = Locks(str(tmp_path / "locks"))
    names = [str(number) for number in range(20)]
    real, had = atomic_file.open_lock_file, []

    def run_out(path: str, below: str, *, in_silo: bool) -> int:
        if len(had) == 5:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        had.append(path)
        return real(path, below, in_silo=in_silo)

    with monkeypatch.context() as patch:
        patch.setattr(atomic_file, "open_lock_file", run_out)
        with pytest.raises(OSError, match="Too many open files"):
            locks.hold(names).__enter__()
    assert len(had) == 5
    for name in names:
        with locks.hold_if_free(name) as free:
            assert free


def test_lock_is_made_again_when_its_directory_is_deleted_while_another_waits(
    tmp_path: Path,
) -> None:
    locks = Locks(str(tmp_path / "locks"))
    inside = threading.Event()
    with locks.hold(["a"]):
        thread = threading.Thread(target=lambda: hold_and_tell(locks, inside))
        thread.start()
        assert not inside.wait(0.1)
        for path in (tmp_path / "locks").iterdir():
            path.unlink()
        (tmp_path / "locks").rmdir()
    assert inside.wait(10)
    thread.join()
    assert list((tmp_path / "locks").iterdir())


def hold_and_tell(locks: Locks, inside: threading.Event) -> None:
    with locks.hold(["a"]):
        inside.set()


def test_lock_held_here_is_not_free(tmp_path: Path) -> None:
    locks = Locks(str(tmp_path))
    with locks.hold(["a", "b"]), locks.hold_if_free("a") as free:
        assert not free
    with pytest.raises(ZeroDivisionError), locks.hold(["a"]):
        _ = 1 / 0
    with locks.hold(["a"]):
        pass


# -- removals ---------------------------------------------------------------------------


def test_removals_are_remembered_until_they_are_restored(silo: Silo) -> None:
    for identifier in ("a", "b", "c", "d"):
        silo.get_item(identifier).sync()
    silo.del_item("a", remember=True, agent="Ada", message="a test")
    silo.del_item("b", remember=True)
    silo.del_item("c")
    assert silo.removed() == {"a", "b"}
    silo.restore_removed(["a", "unknown"])
    assert silo.removed() == {"b"}
    silo.restore_removed()
    assert silo.removed() == frozenset()
    text = Path(silo.path, "curation", "removed.jsonl").read_text(encoding="utf-8")
    assert '"agent": "Ada", "message": "a test"' in text
    assert len(text.splitlines()) == 4


def test_refused_deletion_is_not_remembered(silo: Silo) -> None:
    silo.get_item("a").sync()
    with pytest.raises(RevisionConflict):
        silo.del_item("a", remember=True, if_revision=7)
    with pytest.raises(RecordNotFound):
        silo.del_item("b", remember=True)
    assert silo.removed() == frozenset()


def test_line_that_was_not_written_whole_is_not_there(silo: Silo) -> None:
    silo.get_item("a").sync()
    silo.del_item("a", remember=True)
    path = Path(silo.path, "curation", "removed.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"identifier": "b", "removed": true')
    assert silo.removed() == {"a"}
    removals.note_removed(silo.path, "c\udcff", "", "")
    assert silo.removed() == {"a", "c\udcff"}


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"removed": true}', b"7"])
def test_whole_line_that_is_damaged_is_an_error(silo: Silo, line: bytes) -> None:
    path = Path(silo.path, "curation", "removed.jsonl")
    path.parent.mkdir()
    path.write_bytes(line + b"\n")
    with pytest.raises(StateUnreadable, match="line 1"):
        silo.removed()


# -- progress ---------------------------------------------------------------------------


def test_progress_in_a_pipe_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 3))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    out = io.StringIO()
    with counting("indexing", 4000, stream=out) as show:
        for done in (1000, 2000, 3000):
            show(done)
    assert out.getvalue() == "indexing: 2,000 of 4,000\n"


def test_progress_at_a_terminal_is_a_bar() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    with counting("indexing", 4, stream=out) as show:
        show(4)
    assert "indexing" in out.getvalue()
    assert "4/4" in out.getvalue()


def test_quiet_progress_shows_nothing() -> None:
    out = io.StringIO()
    with counting("indexing", stream=out, quiet=True) as show:
        show(1)
    assert out.getvalue() == ""
