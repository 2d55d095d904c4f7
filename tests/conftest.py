"""For all tests: in CI nothing is skipped, no example has a time limit, Ctrl-C is a terminal's."""

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "any load", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any load")


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
