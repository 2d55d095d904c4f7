"""Harvests killed at any point and continued: nothing is lost, little is fetched twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import count, pairwise

import pytest
from examples import examples
from misbehaving import SIZE, misbehaving
from silo_contents import contents

from oaipmhscraper.lists.journal import Journal

SILO = os.path.join(os.path.dirname(sys.executable), "silo")
TWO = "--two-processes"
STOPPED = 75
AT_ONCE = "--max-requests-in-flight"
SECONDS = 280


def harvest(server, directory, *options):
    return [SILO, "harvest", server.base_url, directory, "--quiet", *options]


def run(command):
    """Run to the end; the exit code."""
    return subprocess.run(command, capture_output=True, timeout=SECONDS, check=False).returncode


def run_and_kill(server, command, chance):
    """Begin, and kill once a few more requests came; None, or the exit code where it was faster.

    Of two processes, one of them is killed; if it is the second, the first ends by itself.
    """
    goal = len(server.repository.asked) + chance.randint(1, 5)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + SECONDS
        while process.poll() is None and len(server.repository.asked) < goal:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        time.sleep(chance.random() * 0.06)
        if TWO in command and chance.random() < 0.5 and kill_children(process.pid):
            assert process.wait(SECONDS) in {0, 1, STOPPED}
            return None
        return process.poll()
    finally:
        process.kill()
        process.wait()


def kill_children(pid):
    """Kill the children of a process; whether there were any."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(child) for child in file.read().split()]
    except FileNotFoundError:
        return False
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return bool(children)


def pages_again(asked, ends):
    """How many pages a process asked for that one before it had asked for already.

    A process may ask twice itself, where what came was broken: that is not counted.
    """
    before, again = set(), 0
    for begin, end in pairwise([*ends, len(asked)]):
        pages = {one.query for one in asked[begin:end] if "ListRecords" in one.query}
        again += len(pages & before)
        before |= pages
    return again


def receipts_of(directory):
    try:
        return [n for n in os.listdir(os.path.join(directory, "harvests")) if n.endswith("t.json")]
    except FileNotFoundError:
        return []


def receipt_of(directory):
    names = receipts_of(directory)
    assert len(names) == 1, "every run of a job writes the same receipt"
    with open(os.path.join(directory, "harvests", names[0]), encoding="utf-8") as file:
        return json.load(file)


def is_over(directory):
    """Whether a harvest has said all it has to say; its process may have been killed after that."""
    if not os.path.exists(os.path.join(directory, ".silo", "harvest.sqlite")):
        return False
    with Journal(directory) as journal:
        return bool(receipts_of(directory)) and not journal.jobs()


def kill_often(faults, options, kills, tmp_path, seed):
    """Kill harvests until so many were killed; compare each with an undisturbed one."""
    chance = random.Random(seed)
    killed = 0
    with misbehaving(*faults) as server:
        whole = str(tmp_path / "whole")
        code = run(harvest(server, whole, *options))
        expected, listed = contents(whole), receipt_of(whole)["counts"]["listed"]
        for number in count():
            directory = str(tmp_path / str(number))
            ends, ended = [len(server.repository.asked)], None
            while ended is None and killed < kills and not is_over(directory):
                command = harvest(server, directory, *options)
                ended = run_and_kill(server, command, chance)
                ends += [len(server.repository.asked)] * (ended is None)
                killed += ended is None
            if ended is None and not is_over(directory):
                ended = run(harvest(server, directory, *options))
            assert ended in {code, None}
            assert contents(directory) == expected
            assert receipt_of(directory)["counts"]["listed"] == listed >= SIZE - 1
            assert pages_again(server.repository.asked, ends) <= (len(ends) - 1) * int(options[-1])
            if killed >= kills:
                return


@pytest.mark.parametrize(
    ("faults", "options"),
    [
        (["bare_ampersands", "a_slow_record"], [AT_ONCE, "1"]),
        pytest.param(
            ["control_characters"], ["--window", "60d", AT_ONCE, "3"], marks=pytest.mark.slow
        ),
        pytest.param(["bare_ampersands"], [TWO, AT_ONCE, "1"], marks=pytest.mark.slow),
        pytest.param([], [TWO, "--window", "60d", AT_ONCE, "3"], marks=pytest.mark.long),
    ],
    ids=["in one list", "in windows", "by two processes", "in windows by two processes"],
)
@pytest.mark.long
def test_a_harvest_killed_again_and_again_ends_like_an_undisturbed_one(faults, options, tmp_path):
    kill_often(faults, options, examples(5, least=3), tmp_path, seed=5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faults", "options", "seed"),
    [
        (["bare_ampersands", "duplicates_across_pages"], [AT_ONCE, "1"], 1),
        (["html_entities", "a_record_cut_short"], [AT_ONCE, "1"], 2),
        (["windows_1252_in_places"], ["--window", "30d", AT_ONCE, "3"], 3),
        (["control_characters", "in_no_order"], ["--window", "90d", AT_ONCE, "3"], 4),
        (["duplicates_across_pages"], [TWO, AT_ONCE, "1"], 5),
        (["windows_1252_in_places"], [TWO, "--window", "30d", AT_ONCE, "3"], 6),
    ],
)
def test_three_hundred_kills_lose_nothing(faults, options, seed, tmp_path):
    kill_often(faults, options, 50, tmp_path, seed)
