"""A child process ends with its parent, whatever it does, and however early the parent ends."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from waiting import wait_until

from recordsilo.child_process import wait_for_end_of, wait_for_reader_of

CHILD = """
import os, signal, time
from recordsilo.child_process import end_with_parent

def handler(*_):
    print("interrupted", flush=True)

def gone():
    print("handled" if signal.getsignal(signal.SIGINT) is handler else "too early", flush=True)
    {gone}

signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGINT}})
end_with_parent(gone, handler, {seconds})
while True:
    time.sleep(60)
"""


def _end_of(gone: str, seconds: float) -> tuple[int, list[str], str]:
    program = CHILD.format(gone=gone, seconds=seconds)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout.split("\n")[:-1], done.stderr


@pytest.mark.parametrize("gone", ["pass", "raise EOFError", "os.read(os.pipe()[1], 1)"])
def test_a_child_whose_parent_is_gone_at_its_start_handles_the_signal_first(gone: str) -> None:
    assert _end_of(gone, 0.3) == (os.EX_TEMPFAIL, ["handled", "interrupted"], "")


def test_a_child_without_time_ends_at_once() -> None:
    assert _end_of("pass", 0) == (os.EX_TEMPFAIL, ["handled"], "")


def test_a_child_whose_watch_fails_ends_too() -> None:
    assert _end_of("raise LookupError", 0.3)[:2] == (os.EX_TEMPFAIL, ["handled"])


def test_a_child_is_ended_by_a_signal_that_it_does_not_handle() -> None:
    program = (
        "import os, signal, time\n"
        "from recordsilo.child_process import end_with_parent\n"
        "end_with_parent(lambda: time.sleep(60), signal.SIG_DFL)\n"
        "os.kill(os.getpid(), signal.SIGINT); time.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize(
    ("wait", "ours", "theirs"), [(wait_for_end_of, 0, 1), (wait_for_reader_of, 1, 0)]
)
def test_either_end_of_a_pipe_shows_when_the_other_is_closed(
    wait: Callable[[int], None], ours: int, theirs: int
) -> None:
    pipe = os.pipe()
    waiting = threading.Thread(target=wait, args=(pipe[ours],))
    waiting.start()
    os.write(pipe[1], b"something")
    waiting.join(0.2)
    assert waiting.is_alive()
    os.close(pipe[theirs])
    waiting.join(30)
    assert not waiting.is_alive()
    os.close(pipe[ours])


BUSY = """
import time
from recordsilo.second_process import serve

def work(question):
    if question == "rest":
        time.sleep(60)
    return question

def main():
    serve(work)
"""
PARENT = """
import os, signal, sys, time
from recordsilo.second_process import SecondProcess

second = SecondProcess("busy_work")
second.ask("first")
second.answer()
second.ask("rest")
time.sleep(0.5)
print(second._process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_second_process_that_is_at_work_ends_with_a_killed_parent(tmp_path: Path) -> None:
    (tmp_path / "busy_work.py").write_text(BUSY, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    wait_until(lambda: not _runs(int(done.stdout)), 30)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
