"""Notices: told once by mail and webhook, again after it was well, and never lost."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ports import free_port

from silofleet.fleet import Fleet, make_fleet
from silofleet.notices import notices_for
from silofleet.values import Endpoint, Facts, Node, RunOutcome
from silofleet.wishes import wishes_path
from silowork.telling import Notices

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    make_fleet(str(tmp_path))
    with Fleet(str(tmp_path)) as found:
        found.add([Endpoint(name, f"http://{name}.example.org/oai") for name in "abc"])
        for name in "abc":
            _put(found, name, RunOutcome.WHOLE)
        yield found


def _put(fleet: Fleet, name: str, outcome: RunOutcome, **known: Any) -> None:
    def change(facts: Facts) -> Facts:
        whole = NOW if outcome is RunOutcome.WHOLE else facts.whole
        outcomes = facts.outcomes + outcome.letter
        facts = facts._replace(outcome=outcome, outcomes=outcomes, whole=whole, due=NOW + DAY)
        return facts._replace(**{"said": "what it said", **known})

    fleet.ledger.change(name, change)


def _wish(fleet: Fleet, **settings: str) -> None:
    with open(wishes_path(fleet.directory), "a", encoding="utf-8") as file:
        print(
            "[notices]",
            *(f'{key} = "{text}"' for key, text in settings.items()),
            sep="\n",
            file=file,
        )


def _look(notices: Notices, minutes: int) -> None:
    notices.look(NOW + timedelta(minutes=minutes))
    notices.wait(time.monotonic() + 20)


def test_a_mail_names_all_that_is_not_well_once(fleet: Fleet, mails: Any) -> None:
    _wish(
        fleet, mail="me@example.org", smtp=f"127.0.0.1:{mails.server_address[1]}",
        **{"from": "silo@example.org"},
    )  # fmt: skip
    notices = notices_for(fleet)
    _look(notices, 0)
    assert mails.got == []
    _put(fleet, "a", RunOutcome.BLOCKED)
    _put(fleet, "b", RunOutcome.MOVED, moved_to="http://new.example.org/")
    _put(fleet, "c", RunOutcome.FAILED, failures=1)
    fleet.ledger.see(Node("n1", 1, 1, 1, NOW - DAY))
    _look(notices, 2)
    (mail,) = mails.got
    assert "To: me@example.org" in mail
    assert "From: silo@example.org" in mail
    assert "3 are not well" in mail
    assert "a (http://a.example.org/oai): blocked: what it said" in mail
    assert "silo fleet readdress" in mail
    assert "node/n1: lost" in mail
    assert "c.example.org" not in mail
    _look(notices, 4)
    _look(notices_for(fleet), 6)
    assert len(mails.got) == 1
    _put(fleet, "a", RunOutcome.WHOLE)
    _look(notices, 8)
    _put(fleet, "a", RunOutcome.BLOCKED)
    _look(notices, 10)
    assert len(mails.got) == 2
    assert "a is blocked" in mails.got[1]


@pytest.mark.parametrize("is_here", [True, False])
def test_a_password_is_sent_to_this_machine_or_by_tls_only(
    fleet: Fleet, mails: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_here: bool
) -> None:
    _wish(fleet, mail="me@example.org", smtp=f"127.0.0.1:{mails.server_address[1]}")
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("silowork.notices.is_loopback", lambda _host: is_here)
    _put(fleet, "a", RunOutcome.BLOCKED)
    _look(notices_for(fleet), 0)
    assert (len(mails.got), len(mails.logins)) == (1, int(is_here))


def test_silence_is_told_but_not_of_paused_endpoints(fleet: Fleet, hook: Any) -> None:
    _wish(fleet, webhook=f"http://127.0.0.1:{hook.server_port}/x", silent_after="7d")
    fleet.change("b", is_paused=True)
    for name in "ab":
        _put(fleet, name, RunOutcome.HELD, whole=NOW - 8 * DAY)
    notices = notices_for(fleet)
    _look(notices, 0)
    _look(notices, 2)
    (told,) = hook.got
    assert [(one["endpoint"], one["what"]) for one in told["notices"]] == [("a", "silent")]
    assert "2026-11-15" in told["text"]


def test_a_notice_waits_for_a_server_that_does_not_answer(fleet: Fleet, hook: Any) -> None:
    _wish(
        fleet, webhook=f"http://127.0.0.1:{hook.server_port}/x", mail="me@example.org",
        smtp=f"127.0.0.1:{free_port()}",
    )  # fmt: skip
    hook.statuses = [500]
    _put(fleet, "a", RunOutcome.SUSPICIOUS)
    notices = notices_for(fleet)
    _look(notices, 0)
    assert (hook.got, fleet.ledger.told.sent()) == ([], set())
    _look(notices, 5)
    assert [one["notices"][0]["what"] for one in hook.got] == ["suspicious"]
    assert fleet.ledger.told.sent() == {("a", "webhook suspicious")}
    _look(notices, 60)
    assert len(hook.got) == 1


def test_a_long_answer_does_not_cut_off_what_to_do(fleet: Fleet, hook: Any) -> None:
    _wish(fleet, webhook=f"http://127.0.0.1:{hook.server_port}/x")
    _put(fleet, "a", RunOutcome.SUSPICIOUS, said="it lists fewer " * 40)
    _look(notices_for(fleet), 0)
    ((told,),) = (one["notices"] for one in hook.got)
    assert told["said"].endswith(
        f"…; ask the repository; if its list is right: silo fleet accept {fleet.directory} a"
    )


def test_the_log_does_not_have_the_address_of_a_webhook(
    fleet: Fleet, caplog: pytest.LogCaptureFixture
) -> None:
    _wish(fleet, webhook=f"http://127.0.0.1:{free_port()}/secret")
    _put(fleet, "a", RunOutcome.SUSPICIOUS)
    _look(notices_for(fleet), 0)
    assert "the connection was refused; it is sent later" in caplog.text
    assert "/secret" not in caplog.text


def test_the_end_of_the_clock_tells_what_is_left(fleet: Fleet, hook: Any) -> None:
    _wish(fleet, webhook=f"http://127.0.0.1:{hook.server_port}/x")
    with notices_for(fleet):
        _put(fleet, "a", RunOutcome.SUSPICIOUS)
    assert len(hook.got) == 1
