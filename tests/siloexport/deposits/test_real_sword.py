"""Deposits to a real server of SWORDv2: swh-deposit, which gives no content back."""

import os
import re
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import real_swh_deposit
from loopback_peer import LOST, Answer, Request, serving

from recordsilo import Silo
from siloexport import Export, Policy, Selection
from siloexport.engine.deposits import Retries
from siloexport.targets.remote.server import Server
from siloexport.targets.sword import SwordSettings, SwordTarget

pytestmark = pytest.mark.slow
LOGIN = f"{real_swh_deposit.USER}:{real_swh_deposit.PASSWORD}"
HEADER = f"Basic {b64encode(LOGIN.encode()).decode()}"


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    files = Path(os.environ.get("SWH_DEPOSIT_FILES") or "~/.cache/recordsilo-swh-deposit")
    files = files.expanduser()
    if lacking := real_swh_deposit.lacks(files):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no real server: {lacking}")
    with real_swh_deposit.running(files) as url:
        yield url


def exporting(silo: Silo, url: str, settings: SwordSettings | None = None) -> Export:
    target = SwordTarget(url, Server(url, HEADER), settings)
    return Export(silo, target, Policy(), Retries(attempts=2, first=0.05))


def listed(service: str) -> list[str]:
    """The Slugs of the deposits there."""
    url = service.replace("servicedocument/", f"{real_swh_deposit.COLLECTION}/")
    request = urllib.request.Request(url, headers={"Authorization": HEADER})
    with urllib.request.urlopen(request) as answer:
        return re.findall("<sd:external_id>(.*?)<", answer.read().decode())


def test_records_are_deposited_and_their_state_is_told(silo: Silo, service: str) -> None:
    report = exporting(silo, service).run()
    assert report.whole, report.problems
    assert listed(service) == [f"oai+example,org+{number}" for number in (1, 2, 3)]
    assert exporting(silo, service).run().written == 0
    found = exporting(silo, service).verify()
    assert found.differences == 0
    assert all("it says: deposited" in one for one in found.unreadable.values())
    assert len(found.unreadable) == 3


@pytest.mark.parametrize("in_steps", [False, True])
def test_open_deposits_are_replaced_and_completed(
    silo: Silo, service: str, harvest: Callable[..., None], in_steps: bool
) -> None:
    identifier = f"oai:example.org:open-{in_steps}"
    only = Selection(identifiers=(identifier,))
    harvest(silo, identifier, "Open")
    settings = SwordSettings(in_progress=True, in_steps=in_steps)
    run = exporting(silo, service, settings).run(only)
    assert run.whole, run.problems
    (reason,) = exporting(silo, service, settings).verify(only).unreadable.values()
    assert "it says: partial" in reason
    silo[identifier].clone_version("1", "workingcopy")
    silo[identifier].put_stream("notes.txt", "seen")
    if not in_steps:  # this server names the address of the content only once
        report = exporting(silo, service, settings).run(only)
        assert report.whole, report.problems
        report = exporting(silo, service).run(only)
        assert report.whole, report.problems
        (reason,) = exporting(silo, service).verify(only).unreadable.values()
        assert "it says: deposited" in reason
    else:
        report = exporting(silo, service, settings).rollback(run.run_id)
        assert "does not tell whether it was changed" in next(iter(report.kept.values()))


def test_lost_answer_makes_no_second_deposit(
    silo: Silo, service: str, harvest: Callable[..., None]
) -> None:
    identifier = "oai:example.org:lost"
    only = Selection(identifiers=(identifier,))
    harvest(silo, identifier, "Lost")
    lost: list[Request] = []

    def between(request: Request) -> Answer:
        url = service.replace("/1/servicedocument/", request.path)
        asked = urllib.request.Request(url, request.body or None, method=request.method)
        for name, value in request.headers.items():
            if name.lower() not in {"connection", "content-length"}:
                asked.add_header(name, value)
        try:
            with urllib.request.urlopen(asked) as answer:
                status, body = answer.status, answer.read()
                headers = dict(answer.headers)
        except urllib.error.HTTPError as error:
            status, body, headers = error.code, error.read(), dict(error.headers)
        if request.method == "POST" and not lost:
            lost.append(request)
            return Answer(LOST)
        kept = {n: v for n, v in headers.items() if n in {"Content-Type", "Location"}}
        return Answer(status, body, kept)

    with serving(between) as proxy:
        report = exporting(silo, f"{proxy}/1/servicedocument/").run(only)
    assert len(lost) == 1
    assert listed(service).count("oai+example,org+lost") == 1
    assert report.conflicts == 1
    assert "gives no address" in report.problems[0].reason
