"""Children of workers: they end with their parent, and messages arrive whole."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import wait
from multiprocessing.forkserver import _forkserver as forkserver
from pathlib import Path

import child_work
import pytest
from waiting import wait_until

from recordsilo.errors import VERSION_FILE
from silowork.children import ask_to_end, ended, started
from silowork.ledger import JobLedger
from silowork.stop import Stop
from silowork.values import State
from silowork.warm_children import ChildEnded, WarmChild, _left

SHARED = os.path.dirname(child_work.__file__)


def heard(child: WarmChild, number: int = 1) -> list[str]:
    """The next messages of a child."""
    said: list[str] = []
    end = time.monotonic() + 60
    while len(said) < number and time.monotonic() < end:
        wait([child], 1)
        said += child.heard()
    return said


def rest_of(child: WarmChild) -> list[str]:
    """The messages of a child until its end, and how it ended."""
    said: list[str] = []
    try:
        while True:
            said += heard(child)
    except ChildEnded as ended:
        child.join()
        return [*said, str(ended)]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --------------------------------------------------------------------------- of workers


@pytest.mark.parametrize("time_left", [0.0, 0.05])
def test_a_job_whose_worker_is_gone_at_its_start_ends_without_a_traceback(
    tmp_path: Path, time_left: float
) -> None:
    (tmp_path / VERSION_FILE).touch()
    job_id = JobLedger(str(tmp_path)).add("audit", "Check", {}, agent="ada").job_id
    command = [sys.executable, "-m", "silowork", "run", str(tmp_path), job_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        time.sleep(time_left)
        _, printed = child.communicate(timeout=60)
    assert printed == b""
    assert child.returncode == 0
    assert JobLedger(str(tmp_path)).job(job_id).state is not State.RUNNING


def test_a_worker_that_waits_for_another_ends_when_its_input_is_closed(tmp_path: Path) -> None:
    first, second = (started("work", str(tmp_path)) for _ in range(2))
    ask_to_end(second)
    assert second.wait(60) in {0, -signal.SIGINT}
    assert ended(first, 60) in {0, -signal.SIGINT}
    ask_to_end(first)


def test_a_child_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE) as child:
        assert ended(child, 0.1) == -signal.SIGKILL


# --------------------------------------------------------------------------- warm ones


def test_messages_arrive_whole_and_in_order() -> None:
    child = WarmChild(child_work.echo, prefix="=")
    messages = [*map(str, range(200)), "x" * 1_000_000]
    for message in messages:
        child.say(message)
    assert heard(child, len(messages)) == [f"={message}" for message in messages]
    child.ask_to_end()
    assert rest_of(child) == ["ended with 0"]


def test_how_a_child_ended_is_known_after_all_processes_were_asked_to_end() -> None:
    child = WarmChild(child_work.echo, prefix="=")
    child.say("a")
    assert heard(child) == ["=a"]
    pid = forkserver._forkserver_pid
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    os.kill(child.pid, signal.SIGTERM)
    time.sleep(0.2)  # in which it would end
    child.ask_to_end()
    assert rest_of(child) == ["ended with 0"]


@pytest.mark.parametrize("is_whole", [True, False])
def test_children_are_forked_after_the_socket_of_the_warm_process_was_removed(
    *, is_whole: bool
) -> None:
    """As systemd-tmpfiles removes it, with its directory or alone."""
    first = WarmChild(child_work.echo, prefix="=")
    address = forkserver._forkserver_address
    assert address is not None
    before = forkserver._forkserver_pid
    if is_whole:
        shutil.rmtree(os.path.dirname(address))
    else:
        os.unlink(address)
    second = WarmChild(child_work.echo, prefix="+")
    for child, said in ((first, "="), (second, "+")):
        child.say("a")
        assert heard(child) == [f"{said}a"]
    for child in (first, second):
        child.ask_to_end()
        assert rest_of(child) == ["ended with 0"]
    assert before is not None
    assert forkserver._forkserver_pid != before
    os.close(_left.pop())
    wait_until(lambda: not runs(before))


def test_a_child_that_is_asked_to_end_is_interrupted() -> None:
    child = WarmChild(child_work.work_until_interrupted)
    assert heard(child) == ["working"]
    child.ask_to_end()
    child.ask_to_end()
    assert rest_of(child) == ["interrupted", "ended with 0"]


def test_a_child_that_is_asked_to_end_before_it_works_is_interrupted_at_once() -> None:
    child = WarmChild(child_work.work_until_interrupted)
    child.ask_to_end()
    assert rest_of(child)[-2:] == ["interrupted", "ended with 0"]


def test_how_a_child_ended_is_said(caplog: pytest.LogCaptureFixture) -> None:
    child = WarmChild(child_work.fail)
    assert rest_of(child) == [f"ended with {os.EX_SOFTWARE}"]
    assert rest_of(WarmChild(child_work.give_up)) == ["ended with 1"]
    child = WarmChild(child_work.echo)
    os.kill(child.pid, signal.SIGKILL)
    assert rest_of(child) == ["was killed by signal 9"]


def test_a_message_to_a_child_that_has_ended_is_dropped() -> None:
    child = WarmChild(child_work.echo)
    os.kill(child.pid, signal.SIGKILL)
    wait_until(lambda: not runs(child.pid))
    child.say("anybody")
    assert rest_of(child) == ["was killed by signal 9"]


def test_a_child_that_does_not_end_when_asked_is_killed(tmp_path: Path) -> None:
    child = WarmChild(child_work.ignore, str(tmp_path / "pid"))
    assert heard(child) == ["ignoring"]
    pid = child.pid
    child.ask_to_end()
    child.join(0.2)
    assert not runs(pid)


def test_the_end_of_a_child_is_waited_for_and_asked_for() -> None:
    stop = Stop()
    child = WarmChild(child_work.end_late)
    asking = threading.Timer(0.05, stop.ask)
    asking.start()
    assert child.end_of(stop) == os.EX_TEMPFAIL
    asking.join()
    child = WarmChild(child_work.end_late)
    os.kill(child.pid, signal.SIGKILL)
    assert child.end_of(Stop()) == -signal.SIGKILL


@pytest.mark.long
def test_the_end_of_a_child_is_waited_for_also_if_the_warm_process_was_killed(
    tmp_path: Path,
) -> None:
    child = WarmChild(child_work.touch_later, str(tmp_path / "done"))
    pid = forkserver._forkserver_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert child.end_of(Stop()) == 255
    assert (tmp_path / "done").exists()
    assert WarmChild(child_work.touch_later, str(tmp_path / "again")).end_of(Stop()) == 0


LOADED = """
import os, sys
import silowork.warm_kinds as warm
from silowork.kinds import own_names
print(sorted(warm.KINDS) == own_names(), len(os.listdir("/proc/self/task")))
print([name for name in ("duckdb", "numpy", "celery", "tantivy") if name in sys.modules])
print([one for one in map(os.readlink, (f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")
       if int(n) > 2 and os.path.exists(f"/proc/self/fd/{n}")))])
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="looks at /proc")
def test_the_process_that_jobs_are_forked_from_has_one_thread_and_nothing_open() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, check=True)
    assert done.stdout.decode().splitlines() == ["True 1", "[]", "[]"]


MAIN = """
import sys
WAS_LOADED = "recordsilo.cli" in sys.modules
import recordsilo.cli
import child_work
from silowork.stop import Stop
from silowork.warm_children import WarmChild

if __name__ == "__main__":
    raise SystemExit(WarmChild(child_work.end_well_if_main_was_loaded).end_of(Stop()))
"""


@pytest.mark.long
def test_a_child_of_the_command_finds_it_loaded(tmp_path: Path) -> None:
    script = tmp_path / "silo.py"
    script.write_text(MAIN, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": SHARED}
    done = subprocess.run([sys.executable, str(script)], env=environment, check=False)
    assert done.returncode == 0


PARENT = """
import sys, time
import child_work
from silowork.warm_children import WarmChild

if __name__ == "__main__":
    child = WarmChild(getattr(child_work, sys.argv[1]))
    print(child.pid, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("work", ["echo", "work_until_interrupted"])
def test_a_warm_child_ends_with_a_killed_parent(tmp_path: Path, work: str) -> None:
    environment = {**os.environ, "PYTHONPATH": SHARED}
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    command = [sys.executable, str(script), work]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert runs(pid)
        parent.kill()
    wait_until(lambda: not runs(pid))
