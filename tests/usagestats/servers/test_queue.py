"""Lines go through a real Redis to workers, which may be killed at any moment."""

import logging
import logging.config
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live_logs import kinds_of, logs_of, numbered
from usage_silo import counts_of
from waiting import handles_sigterm, wait_until

from recordsilo.cli import ExitCode
from silowork.stop import Stop
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.live import queue as queue_module
from usagestats.live.entries import QueueEntry
from usagestats.live.line_processor import LineProcessor
from usagestats.live.queue import Queue, QueueUnusable
from usagestats.live.workers import Intervals, follow_into_queue, run_worker
from usagestats.rules.settings import read_settings

pytestmark = pytest.mark.long
SETTINGS = '\n[log]\nformat = "combined"\n'
MAIN = "from recordsilo.cli import main; main()"
QUICK = Intervals(gather=0, count=60, idle=0.6)


def work(silo: str, url: str) -> None:
    queue, desk = Queue(url, claim_after=0.2), LineProcessor(silo)
    run_worker(queue, desk, Stop(), QUICK)
    desk.close()
    queue.close()


def check(silo: str, lines: list[bytes], other: str, log: Path) -> None:
    """The same logs and counts as by an import."""
    assert logs_of(silo) == kinds_of(lines, read_settings(silo))
    log.write_bytes(b"\n".join(lines) + b"\n")
    import_logs(other, ImportRequest([str(log)]))
    assert counts_of(silo).figures == counts_of(other).figures


def test_lines_of_the_logger_of_2010_are_counted(
    new_silo: Callable[[str], str], redis_url: str, database: Any, tmp_path: Path
) -> None:
    lines, port = numbered(50), int(redis_url.rpartition(":")[2].partition("/")[0])
    config = tmp_path / "logging.conf"
    config.write_text(
        "[loggers]\nkeys=root,access\n[handlers]\nkeys=usage\n[formatters]\nkeys=plain\n"
        "[logger_root]\nlevel=WARNING\nhandlers=\n"
        "[logger_access]\nlevel=INFO\nhandlers=usage\npropagate=0\nqualname=access\n"
        "[handler_usage]\nclass=usagestats.logger.RedisLogger\nformatter=plain\n"
        f'args=("127.0.0.1", "q:loglines", {port}, 0)\n[formatter_plain]\nformat=%(message)s\n'
    )
    logging.config.fileConfig(config, disable_existing_loggers=False)
    access = logging.getLogger("access")
    for line in lines[:30]:
        access.info(line.decode())
    database.client_kill_filter(_type="normal", skipme=True)  # it connects again
    for line in lines[30:]:
        access.info(line.decode())
    for handler in list(access.handlers):
        access.removeHandler(handler)
        handler.close()
    assert database.llen("q:loglines") == len(lines)
    silo = new_silo(SETTINGS)
    work(silo, redis_url)
    assert not database.exists("q:loglines")
    assert database.xlen("q:loglines:stream") == 0
    check(silo, lines, new_silo(SETTINGS), tmp_path / "log")


def test_lines_of_a_list_become_entries_in_their_order(redis_url: str, database: Any) -> None:
    """Programs of 2010 push with LPUSH; the list does not exist while it is empty."""
    queue, limit = Queue(redis_url), queue_module._GATHERED
    for number in range(limit + 5):
        database.lpush("q:loglines", f"line {number}\r\n")
    assert queue.length() == limit + 5
    found = [one for _ in range(3) for one in queue.take(10, 0.05)]
    assert [line for one in found for line in one.lines] == [
        f"line {number}".encode() for number in range(limit + 5)
    ]
    assert not database.exists("q:loglines")
    queue.done(found)
    database.lpush("q:loglines", "x" * 70_000, "y")
    assert [one.lines for one in queue.take(10, 0.05)] == [(b"x" * 70_000,), (b"y",)]


def test_a_key_that_is_no_list_is_named(redis_url: str, database: Any) -> None:
    queue = Queue(redis_url)
    database.set("q:loglines", "x")
    with pytest.raises(QueueUnusable, match="q:loglines is a string, not a list of lines"):
        queue.take(10, 0.05)


def test_entries_of_a_dead_worker_are_taken_over(redis_url: str, database: Any) -> None:
    dead, living = Queue(redis_url, claim_after=60), Queue(redis_url, claim_after=2.0)
    dead.add([b"a", b"b"], "", "f", [1, 2])
    assert dead.position("f") == [1, 2]
    (entry,) = dead.take(10, 0.1)
    assert living.take(10, 0.01) == []
    found: list[QueueEntry] = []
    wait_until(lambda: found.extend(living.take(10, 0.1)) or found)
    assert found == [entry]
    assert entry.lines == (b"a", b"b")
    living.done([entry])
    assert living.length() == 0
    assert database.xpending("q:loglines:stream", "workers")["pending"] == 0


def test_a_file_goes_through_the_queue_once(
    new_silo: Callable[[str], str], redis_url: str, database: Any, tmp_path: Path
) -> None:
    lines, log, silo = numbered(300), tmp_path / "access.log", new_silo(SETTINGS)
    queue = Queue(redis_url)
    for part in (lines[:200], lines[200:], []):
        with log.open("ab") as file:
            file.write(b"".join(line + b"\n" for line in part))
        follow_into_queue(str(log), queue, "", Stop(), until_end=True, lost=lambda: None)
    work(silo, redis_url)
    check(silo, lines, new_silo(SETTINGS), tmp_path / "log")


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_workers_lose_no_line_and_log_and_count_none_twice(
    kills: int, new_silo: Callable[[str], str], redis_url: str, database: Any, tmp_path: Path
) -> None:
    lines, silo, drawn = numbered(1000 * kills), new_silo(SETTINGS), random.Random(kills)
    queue = Queue(redis_url)
    left = list(lines)
    command = [sys.executable, "-c", MAIN, "usage", "work", silo, "--redis", redis_url,
               "--gather", "0", "--count-every", "1", "--claim-after", "0.8"]  # fmt: skip
    errors = (tmp_path / "errors").open("wb")
    running = [subprocess.Popen(command, stderr=errors) for _ in range(2)]
    try:
        done = 0
        while done < kills:
            for number in range(110):
                if some := [left.pop() for _ in range(min(10, len(left)))]:
                    if number % 2:
                        queue.add(some, "", "f", 0)
                    else:  # as the logger of 2010
                        database.lpush("q:loglines", *some)
            time.sleep(drawn.uniform(0.05, 1.2))
            process = running.pop(drawn.randrange(2))
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
            running.append(subprocess.Popen(command, stderr=errors))
        wait_until(lambda: not queue.length() and all(map(handles_sigterm, running)), between=0.1)
        for process in running:
            process.send_signal(signal.SIGTERM)
        codes = [process.wait(60) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()
        errors.close()
    assert b"Traceback" not in (tmp_path / "errors").read_bytes()
    assert codes == [75, 75], (tmp_path / "errors").read_text()
    assert not left
    work(silo, redis_url)
    assert queue.length() == 0
    check(silo, lines, new_silo(SETTINGS), tmp_path / "log")


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_follower_without_redis_loses_nothing_and_repeats_nothing(
    kills: int, new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    lines, silo, log = numbered(2000 * kills), new_silo(SETTINGS), tmp_path / "access.log"
    drawn, at = random.Random(kills), 0
    log.touch()
    command = [sys.executable, "-c", MAIN, "usage", "follow", silo, str(log)]
    subprocess.run([*command, "--until-end"], timeout=120, check=True)
    for number in range(kills):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        end = len(lines) * (number + 1) // kills
        while at < end:
            with log.open("ab") as file:
                file.write(b"".join(line + b"\n" for line in lines[at : min(at + 100, end)]))
            at = min(at + 100, end)
            time.sleep(drawn.uniform(0, 0.12))
        process.send_signal(signal.SIGKILL)
        process.wait()
        if drawn.random() < 0.2:
            os.replace(log, tmp_path / f"access.log.{number}")
            log.touch()
    done = subprocess.run([*command, "--until-end"], timeout=120, check=False)
    assert done.returncode == ExitCode.LOSSES  # some lines are unreadable
    check(silo, lines, new_silo(SETTINGS), tmp_path / "log")
