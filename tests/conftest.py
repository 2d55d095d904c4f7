"""For all tests: in CI nothing is skipped, and Ctrl-C is what it is at a terminal."""

import os
import signal
from collections.abc import Generator

import pytest


def pytest_configure() -> None:
    """Take SIGINT as a terminal gives it.

    A shell starts what it runs in the background with SIGINT ignored, which every
    process below inherits: then no Ctrl-C would reach the programs that are tested.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI, where nothing may be: {report.longrepr}"
    return report
