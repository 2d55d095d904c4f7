"""One target in this process: try inputs until the time is up, and collect violations."""

import hashlib
import os
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import cycle, islice
from pkgutil import iter_modules
from random import Random
from tempfile import TemporaryDirectory

import fuzz_targets

from fuzzing.target import Target

CORPUS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "corpus")
MOST_KEPT = 2000
"""Inputs in a pool at most; later ones take the place of earlier ones."""
MOST_FINDINGS = 20
SHRINK_CHECKS = 400
SHRINK_SECONDS = 10.0


class TooSlow(Exception):
    """An input took more CPU time than its target allows, three times in a row."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that breaks a promise.

    Attributes:
        error: Type and text of the exception, and the traceback's last places.
        place: Where it came from: the same place is the same fault.
    """

    data: bytes
    error: str
    place: str


@dataclass(slots=True)
class Run:
    """How far a target has come."""

    count: int = 0
    findings: dict[str, Finding] = field(default_factory=dict)


def target_names() -> list[str]:
    """All targets, in alphabetical order."""
    return sorted(module.name for module in iter_modules(fuzz_targets.__path__))


def target_class(name: str) -> type[Target]:
    """The one target of a module of `fuzz_targets`, or of any other by its dotted name."""
    module = import_module(name if "." in name else f"fuzz_targets.{name}")
    [found] = [
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Target) and one.__module__ == module.__name__
    ]
    return found


@contextmanager
def opened(name: str) -> Iterator[Target]:
    """A target with a directory of its own, in memory where there is such a place."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(prefix=f"fuzz-{name}-", dir=memory) as scratch:
        target = target_class(name)(scratch)
        try:
            yield target
        finally:
            target.close()


def saved_inputs(name: str) -> list[bytes]:
    """The target's corpus: what was found once."""
    directory = os.path.join(CORPUS, name)
    if not os.path.isdir(directory):
        return []
    contents = []
    for entry in sorted(os.listdir(directory)):
        with open(os.path.join(directory, entry), "rb") as file:
            contents.append(file.read())
    return contents


def save(name: str, data: bytes, directory: str = CORPUS) -> str:
    """Keep an input in the corpus; its path."""
    path = os.path.join(directory, name, hashlib.sha256(data).hexdigest()[:16])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def fuzz(
    name: str,
    target: Target,
    seed: int,
    *,
    goes_on: Callable[[Run], bool],
    before: Callable[[bytes], object] = lambda _: None,
) -> Run:
    """Try seeds, the corpus, then mutated inputs; the seed decides which.

    Args:
        goes_on: Asked before each input.
        before: Told each input before it is tried.
    """
    run, random, met = Run(), Random(f"{seed}:{name}"), set()
    pool = [*target.seeds(), *saved_inputs(name)]
    given = iter(pool[:])
    place = cycle(range(len(pool), max(MOST_KEPT, len(pool) + 1)))
    while goes_on(run) and len(run.findings) < MOST_FINDINGS:
        data = next(given, None)
        mutated = data is None
        if data is None:
            data = target.mutated(random, pool)
        before(data)
        run.count += 1
        outcome, finding = _tried(target, data)
        if finding is not None:
            if finding.place not in run.findings:
                run.findings[finding.place] = _shrunk(target, finding, before)
        elif outcome not in met:
            met.add(outcome)
            if mutated:
                at = next(place)
                pool[at : at + 1] = [data]
    return run


def _tried(target: Target, data: bytes) -> tuple[object, Finding | None]:
    """What an input met, or what it broke."""
    try:
        for attempt in range(3):
            begun = time.process_time()
            outcome = target.check(data)
            took = time.process_time() - begun
            if took <= target.seconds:
                return outcome, None
            if attempt == 2:
                raise TooSlow(f"{took:.1f} s of CPU time for {len(data):,} bytes")
    except Exception as error:
        return None, _finding(data, error)
    raise AssertionError("not reached")


def _finding(data: bytes, error: Exception) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    shown = "".join(traceback.format_list(frames[-6:]))
    told = "".join(traceback.format_exception_only(error)).strip()
    return Finding(
        data, f"{shown}{told[:2000]}", f"{type(error).__name__} {last.filename}:{last.lineno}"
    )


def _shrunk(target: Target, finding: Finding, before: Callable[[bytes], object]) -> Finding:
    """The finding with as much of its input left out as a few hundred tries can do."""
    deadline = time.monotonic() + SHRINK_SECONDS
    for candidate in islice(_Smaller(finding), SHRINK_CHECKS):
        if time.monotonic() > deadline:
            break
        before(candidate.data)
        _, again = _tried(target, candidate.data)
        if again is not None and again.place == finding.place:
            candidate.take(again)
            finding = again
    return finding


class _Smaller:
    """Inputs with ever smaller pieces left out of the smallest that still fails."""

    def __init__(self, finding: Finding) -> None:
        self.best = finding.data
        self.data = b""

    def take(self, finding: Finding) -> None:
        self.best = finding.data

    def __iter__(self) -> "Iterator[_Smaller]":
        size = max(1, len(self.best) // 2)
        while True:
            at = 0
            while at < len(self.best):
                was = self.best
                self.data = was[:at] + was[at + size :]
                yield self
                if self.best is was:
                    at += size
            if size == 1:
                return
            size //= 2
