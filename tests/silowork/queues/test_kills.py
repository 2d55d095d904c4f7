"""Takers and putters are killed with -9: nothing is lost, and what follows is there once."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from stores import Opened
from waiting import wait_until

from silowork.queues.values import QueueSize

HERE = Path(__file__).parent


def started(*arguments: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    return subprocess.Popen(
        [sys.executable, str(HERE / "queue_program.py"), *arguments], env=environment
    )


@pytest.mark.parametrize("kills", [4, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.long
def test_kills_lose_no_message_and_repeat_no_result(
    kills: int, address: str, opened: Opened, tmp_path: Path
) -> None:
    enough, log, drawn = tmp_path / "enough", tmp_path / "log", random.Random(kills)
    log.touch()
    queues = opened(lease=0.5, most_tries=0)
    reached: list[Callable[[], object]] = [
        lambda: queues.mark("source"),
        lambda: log.stat().st_size,
    ]
    put, take = ("put", address, str(enough)), ("take", address, str(log))
    commands = [put, take, take]
    running = [started(*command) for command in commands]
    try:
        for _ in range(kills):
            one = drawn.randrange(3)
            before = reached[min(one, 1)]()
            wait_until(lambda: reached[min(one, 1)]() != before)  # noqa: B023  # it is at work
            time.sleep(drawn.uniform(0, 0.1))
            running[one].send_signal(signal.SIGKILL)
            assert running[one].wait() == -signal.SIGKILL
            running[one] = started(*commands[one])
        enough.touch()
        assert running[0].wait(60) == 0
        last = int(queues.mark("source"))
        wait_until(lambda: queues.sizes().get("second", QueueSize()).waiting == last)
    finally:
        for process in running:
            process.kill()
            process.wait()
    found = [one.body for one in queues.take("second", 2 * last)]
    assert Counter(found) == Counter(b"%d" % number for number in range(last))
    told = [line.split() for line in log.read_bytes().split(b"\n")[:-1]]
    assert {body for body, _ in told} == set(found)
    assert len({number for _, number in told}) == last  # each was put once
    assert queues.sizes()["tens"].waiting == last // 10 + 1
    print(f"{len(told) - last:,} of {last:,} messages were told again")
