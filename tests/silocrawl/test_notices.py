"""People are told of the crawls: once of what is not well, and once when it is good again."""

import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from politeweb.loopback import LOOPBACK
from recordsilo import Silo
from recordsilo.disk.locks import Locks
from silocrawl import in_time, monitor
from silocrawl.commands.running import status
from silocrawl.conditions import Condition, Word, good
from silocrawl.launching import inject
from silocrawl.messages import CRAWL
from silocrawl.monitor import Look, look
from silocrawl.notices import CrawlNotices, noticing
from silocrawl.paths import broker_file, notices_file, notices_told_file
from silocrawl.sharing import fetching_alone, is_fetched
from silowork.queues.sqlite import SqliteQueues


@pytest.fixture(autouse=True)
def disk(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A disk with room."""
    found = SimpleNamespace(f_bavail=10**11, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda _path: found)
    return found


def wish(silo: Silo, text: str) -> None:
    path = Path(notices_file(silo.path))
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def notified(silo: Silo) -> Result:
    return CliRunner().invoke(status, [silo.path, "--notify"], standalone_mode=False)


def told(hook: Any) -> list[tuple[str, str]]:
    return [(one["condition"], one["what"]) for body in hook.got for one in body["notices"]]


def test_an_alert_is_told_once_and_once_when_it_is_over(
    silo: Silo, hook: Any, disk: SimpleNamespace
) -> None:
    wish(silo, f'webhook = "http://{LOOPBACK}:{hook.server_port}/x"')
    assert notified(silo).return_value == 0
    assert told(hook) == []
    disk.f_bavail = 10**9 - 1
    for _ in range(3):
        assert notified(silo).return_value == 0
    assert told(hook) == [("disk", "alert")]
    assert "1.0 GB free; make room" in hook.got[0]["notices"][0]["said"]
    assert hook.got[0]["silo"] == "silo"
    disk.f_bavail = 10**11
    for _ in range(2):
        notified(silo)
    assert told(hook) == [("disk", "alert"), ("disk", "good")]
    disk.f_bavail = 10**10 - 1
    notified(silo)
    assert told(hook)[2:] == [("disk", "warning")]


def test_what_could_not_be_sent_is_sent_later(silo: Silo, hook: Any, disk: SimpleNamespace) -> None:
    wish(silo, f'webhook = "http://{LOOPBACK}:{hook.server_port}/x"')
    disk.f_bavail = 0
    hook.statuses = [500]
    assert notified(silo).return_value == 1
    assert told(hook) == []
    assert notified(silo).return_value == 0
    assert told(hook) == [("disk", "alert")]


def test_a_run_tells_when_it_ends(silo: Silo, hook: Any, disk: SimpleNamespace) -> None:
    wish(silo, f'webhook = "http://{LOOPBACK}:{hook.server_port}/x"')
    with noticing(silo.path):
        disk.f_bavail = 0
    assert told(hook) == [("disk", "alert")]


def test_two_processes_tell_it_once(silo: Silo, hook: Any, disk: SimpleNamespace) -> None:
    wish(silo, f'webhook = "http://{LOOPBACK}:{hook.server_port}/x"')
    disk.f_bavail = 0
    with Locks(os.path.join(silo.path, ".silo", "locks")).hold_name_if_free("crawl-notices"):
        assert CrawlNotices(silo.path).tell()
    assert told(hook) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names nobody"),
        ("mail = 3", "mail is a text"),
        ('mail = "me"', "mail is an address such as me@example.org"),
        ('mial = "me@example.org"', "no setting 'mial'; there are mail, from, smtp, webhook"),
        ("mail =", "cannot be read: it is not valid TOML"),
    ],
)
def test_wrong_settings_are_a_sentence(silo: Silo, text: str, said: str) -> None:
    wish(silo, text)
    assert said in str(notified(silo).exception)


def test_a_damaged_ledger_says_what_to_do(
    silo: Silo, disk: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    wish(silo, 'mail = "me@example.org"')
    Path(notices_told_file(silo.path)).write_bytes(b"no database" * 1000)
    CrawlNotices(silo.path).tell()
    assert "delete it: all is told again" in caplog.text


# --------------------------------------------------------------------------- the looks


def test_a_look_that_fails_or_hangs_is_a_condition(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_now: object) -> list[Condition]:
        raise OSError("the connection was refused")

    may_end, has_ended = threading.Event(), threading.Event()

    def hangs(_now: object) -> list[Condition]:
        may_end.wait(60)
        has_ended.set()
        return []

    looks = [Look("a", "", refuses), Look("b", "", hangs),
             Look("c", "x", lambda _now: [good("c", "well", "x")])]  # fmt: skip
    monkeypatch.setattr(monitor, "looks_of", lambda _path: looks)
    monkeypatch.setattr(in_time, "SECONDS_OF_A_LOOK", 1.5)
    try:
        found = {one.label: one for one in look(silo.path).conditions}
        assert not has_ended.is_set()
    finally:
        may_end.set()
    assert (found["a"].word, found["a"].said) == (Word.ALERT, "the connection was refused")
    assert (found["b"].word, found["b"].said) == (Word.ALERT, "no answer within 1.5 seconds")
    assert found["c x"].word is Word.GOOD


def test_queues_that_cannot_be_reached_are_a_condition(silo: Silo) -> None:
    path = Path(broker_file(silo.path))
    path.parent.mkdir()
    path.write_text(f"redis://{LOOPBACK}:1/0")
    found = look(silo.path)
    words = {one.name: one.word for one in found.conditions}
    assert words == {"targets": Word.GOOD, "queue": Word.ALERT, "disk": Word.GOOD}
    assert found.queues == {}


def test_a_queue_from_which_nobody_takes_is_becalmed(
    silo: Silo, queues: SqliteQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    inject(queues, ["http://a.example/"], force=False)
    now = time.time()
    monkeypatch.setattr("silowork.queues.sqlite.time.time", lambda: now + 3_700)

    def word_of_queue() -> tuple[Word, str]:
        return next(
            (one.word, one.said) for one in look(silo.path).conditions if one.name == "queue"
        )

    word, said = word_of_queue()
    assert (word, said.endswith(f"becalmed, as nobody takes from them: {CRAWL}")) == (
        Word.WARNING, True,
    )  # fmt: skip
    with fetching_alone(silo.path) as is_free:
        assert is_free
        assert is_fetched(silo.path)
        assert word_of_queue()[0] is Word.GOOD
    assert not is_fetched(silo.path)
