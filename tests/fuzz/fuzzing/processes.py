"""Every target in a process of its own, so that a hang or a crash is a finding as well."""

import contextlib
import mmap
import multiprocessing
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from tempfile import NamedTemporaryFile
from typing import IO

from fuzzing.loop import CORPUS, Finding, Run, fuzz, opened, save

PATIENCE = 60.0
"""Seconds that one input may take before its process is ended."""
_REPORT_EVERY = 1.0
_LONGEST = 1 << 22
_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run.

    Attributes:
        seed: Decides on all inputs.
        seconds: For each target, beginning with its first input.
        runs: Inputs for each target at most; 0: as many as there is time for.
        corpus: Where inputs that broke a promise are kept.
    """

    seed: int
    seconds: float
    runs: int = 0
    corpus: str = CORPUS
    patience: float = PATIENCE


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a target.

    Attributes:
        saved: Path of the input and what it broke, of each finding.
    """

    name: str
    count: int
    seconds: float
    saved: Sequence[tuple[str, Finding]]
    interrupted: bool = False


def run_all(
    names: Sequence[str],
    plan: Plan,
    jobs: int,
    show: Callable[[str, int], None],
    tell: Callable[[Outcome], None],
) -> list[Outcome]:
    """Run targets side by side; Ctrl-C ends all of them, and what they found is kept.

    Args:
        jobs: How many at a time.
        show: Told the name of a target and its number of inputs, once a second.
        tell: Told what came of a target, as soon as it has ended; one call at a time.
    """
    stop, telling = threading.Event(), threading.Lock()

    def run(name: str) -> Outcome:
        outcome = _run_one(name, plan, stop, show)
        with telling:
            tell(outcome)
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run, name) for name in names]
        try:
            for future in futures:
                future.exception()
        except KeyboardInterrupt:
            stop.set()
        return [future.result() for future in futures]


def _run_one(
    name: str, plan: Plan, stop: threading.Event, show: Callable[[str, int], None]
) -> Outcome:
    if stop.is_set():
        return Outcome(name, 0, 0.0, (), interrupted=True)
    ours, theirs = _spawn.Pipe()
    with NamedTemporaryFile(prefix="fuzz-") as file:
        file.truncate(_LONGEST)
        process = _spawn.Process(target=_work, args=(name, plan, theirs, file.name))
        process.start()
        theirs.close()
        try:
            return _watched(name, plan, process, ours, _Noted(file), stop, show)
        finally:
            process.kill()
            process.join()


def _watched(
    name: str, plan: Plan, process: multiprocessing.process.BaseProcess, ours: Connection,
    noted: "_Noted", stop: threading.Event, show: Callable[[str, int], None],
) -> Outcome:  # fmt: skip
    begun = heard = time.monotonic()
    count = 0
    while True:
        if stop.is_set():
            with contextlib.suppress(BrokenPipeError):
                ours.send("stop")
        if ours.poll(0.2):
            try:
                told = ours.recv()
            except EOFError:
                process.join()
                return _lost(name, plan, count, begun, noted, _death_of(process))
            heard = time.monotonic()
            if isinstance(told, Run):
                saved = [(save(name, one.data, plan.corpus), one) for one in told.findings.values()]
                return Outcome(name, told.count, heard - begun, saved, stop.is_set())
            count = told
            show(name, count)
        elif time.monotonic() - heard > plan.patience:
            return _lost(name, plan, count, begun, noted, f"no end within {plan.patience:g} s")


def _lost(name: str, plan: Plan, count: int, begun: float, noted: "_Noted", error: str) -> Outcome:
    """A target whose process ended, or was ended, within an input."""
    finding = Finding(noted.last(), error, error)
    path = save(name, finding.data, plan.corpus)
    return Outcome(name, count, time.monotonic() - begun, [(path, finding)])


def _death_of(process: multiprocessing.process.BaseProcess) -> str:
    code = process.exitcode or 0
    if code < 0:
        return f"the process was ended by {signal.Signals(-code).name}"
    return f"the process ended with {code}"


# --------------------------------------------------------------------------- in the process


class _Noted:
    """The input that is being tried, where it outlives the process."""

    def __init__(self, file: IO[bytes]) -> None:
        self._map = mmap.mmap(file.fileno(), _LONGEST)

    def keep(self, data: bytes) -> None:
        self._map[:8] = len(data).to_bytes(8, "big")
        self._map[8 : 8 + len(data)] = data

    def last(self) -> bytes:
        return self._map[8 : 8 + int.from_bytes(self._map[:8], "big")]


def _work(name: str, plan: Plan, pipe: Connection, noting: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's "stop" is what ends it
    with open(noting, "r+b") as file, opened(name) as target:
        noted = _Noted(file)
        _limit_memory(target.memory)
        begun = reported = time.monotonic()

        def goes_on(run: Run) -> bool:
            nonlocal reported
            now = time.monotonic()
            if now - reported > _REPORT_EVERY:
                reported = now
                pipe.send(run.count)
                if pipe.poll():
                    return False
            return now - begun < plan.seconds and not 0 < plan.runs <= run.count

        pipe.send(0)
        pipe.send(fuzz(name, target, plan.seed, goes_on=goes_on, before=noted.keep))


def _limit_memory(more: int) -> None:
    """Let the process take so many bytes of address space beyond what it has."""
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as file:
            has = int(file.read().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (has + more, hard))
