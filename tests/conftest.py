"""For all tests: in CI nothing is skipped, no example has a time limit, Ctrl-C is a terminal's.

Temporary directories are in memory where there is room; those of the store's tests are on the
disk, which its promises are about.

Hypothesis has two profiles: `default` tries few examples, `--hypothesis-profile=ci` all of them.
"""

import gc
import os
import signal
import sys
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from memory import MEMORY
from running_processes import descendants_of

from recordsilo import contributions

ANY_LOAD = settings(settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", ANY_LOAD, max_examples=100)
settings.register_profile("default", ANY_LOAD, max_examples=25)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_configure() -> None:
    """Put temporary directories in memory; take SIGINT as a terminal gives it.

    A shell starts what it runs in the background with SIGINT ignored, which every
    process below inherits: then no Ctrl-C would reach the programs that are tested.
    """
    if MEMORY:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
    os.environ["LANGUAGE"] = "en"  # the page speaks the language of the server where nobody asks
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while tests are collected: that takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing may be: {report.longrepr}"
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the processes that failed tests have left; others use those in sessions of their own."""
    if session.testsfailed and not session.config.getoption("numprocesses", None):
        for pid in descendants_of(os.getpid()):
            with suppress(ProcessLookupError):
                if os.getsid(pid) == os.getsid(0):
                    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def contribute(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, Any], None]]:
    """Contribute a value for this test: (group, name of the entry point, value)."""
    module = types.ModuleType("made_up_sibling")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    ours = contributions.entry_points
    added: list[EntryPoint] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [*ours(group=group), *(point for point in added if point.group == group)]

    def add(group: str, name: str, value: Any) -> None:
        attribute = f"value_{len(added)}"
        setattr(module, attribute, value)
        added.append(EntryPoint(name, f"{module.__name__}:{attribute}", group))
        contributions.points.cache_clear()

    monkeypatch.setattr(contributions, "entry_points", entry_points)
    monkeypatch.setattr(contributions, "_told", set())
    yield add
    contributions.points.cache_clear()
