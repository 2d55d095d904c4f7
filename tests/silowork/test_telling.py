"""Notices: each told once by each way, again after it was well, and never lost."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from silowork import telling
from silowork.errors import LedgerUnreadable
from silowork.ledger_file import LedgerFile, LedgerKind
from silowork.notices import Notice, NoticeSender
from silowork.telling import LONGEST_REST, TOLD_TABLE, LookFindings, Notices, Told

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SENDER = NoticeSender("fleet", "all", "endpoint", "silo fleet report all")
BOTH = {"mail": "me@example.org", "webhook": "https://hook.example/"}
BAD, SLOW = Notice("a", "blocked", "it refuses"), Notice("b", "silent", "no answer")
GOOD = Notice("a", "good", "it answers", is_over=True)


class Ways:
    """Mail and webhook, which send to a list unless they are to fail."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, list[Notice]]] = []
        self.failing: dict[str, Exception] = {}
        self.tried: list[str] = []

    def way(self, name: str) -> Callable[..., None]:
        def send(
            _settings: Mapping[str, str],
            _sender: NoticeSender,
            notices: Sequence[Notice],
            _now: datetime,
        ) -> None:
            self.tried.append(name)
            if name in self.failing:
                raise self.failing[name]
            self.sent.append((name, list(notices)))

        return send

    def by(self, name: str) -> list[list[Notice]]:
        return [notices for way, notices in self.sent if way == name]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    found = Ways()
    for name in ("mail", "webhook"):
        monkeypatch.setattr(telling, f"send_{name}", found.way(name))
    return found


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    kind = LedgerKind(TOLD_TABLE, LedgerUnreadable)
    with LedgerFile(str(tmp_path / "told.sqlite"), kind, "create") as file:
        yield Told(file)


class Place:
    """What a look finds, and the looking."""

    def __init__(self, told: Told) -> None:
        self.told, self.settings, self.well = told, BOTH, set[tuple[str, str]]()
        self.notices: list[Notice] = []
        self.minutes = 0.0
        self.looker = self.new()

    def new(self) -> Notices:
        return Notices(SENDER, self.told, self.find, (LedgerUnreadable,))

    def find(self, _now: datetime) -> LookFindings:
        return LookFindings(self.settings, self.notices, self.well)

    def look(self, *notices: Notice, after: float = 2.0) -> bool:
        """Look some minutes later, and return whether all was sent."""
        self.notices, self.minutes = list(notices), self.minutes + after
        self.looker.look(NOON + self.minutes * MINUTE)
        return self.looker.wait(time.monotonic() + 60)


@pytest.fixture
def place(told: Told, ways: Ways) -> Place:
    return Place(told)


def test_what_is_not_well_is_told_once_by_each_way(place: Place, ways: Ways) -> None:
    assert place.look(BAD)
    place.look(BAD)
    place.looker = place.new()  # as after a restart
    place.look(BAD)
    assert sorted(ways.sent) == [("mail", [BAD]), ("webhook", [BAD])]
    place.look(BAD, SLOW)
    assert ways.by("mail") == [[BAD], [SLOW]], "what is new alone"


def test_another_trouble_of_the_same_place_is_told_too(place: Place, ways: Ways) -> None:
    place.look(BAD)
    place.look(BAD, Notice("a", "moved", "it is elsewhere"))
    assert [[one.what for one in sent] for sent in ways.by("webhook")] == [["blocked"], ["moved"]]


def test_who_was_told_of_it_is_told_that_it_is_over_and_then_of_the_next(
    place: Place, ways: Ways
) -> None:
    place.look(GOOD)
    assert ways.sent == [], "nobody was told that it was not"
    for notice in (BAD, GOOD, GOOD, BAD):
        place.look(notice)
    assert ways.by("mail") == [[BAD], [GOOD], [BAD]]


def test_what_is_over_without_a_word_is_told_again_when_it_comes_back(
    place: Place, ways: Ways
) -> None:
    place.look(BAD, SLOW)
    place.well = {("a", "blocked")}
    place.look(SLOW)
    place.well = set()
    place.look(BAD, SLOW)
    assert ways.by("mail") == [[BAD, SLOW], [BAD]]


def test_only_the_ways_of_the_settings_are_used(place: Place, ways: Ways) -> None:
    place.settings = {"mail": "me@example.org", "webhook": ""}
    place.look(BAD)
    assert [way for way, _ in ways.sent] == ["mail"]
    place.settings = BOTH
    place.look(BAD)
    assert [way for way, _ in ways.sent] == ["mail", "webhook"], "who is added learns of it"


def test_nobody_is_told_where_nobody_is_to_be_told(told: Told, ways: Ways) -> None:
    Notices(SENDER, told, lambda _now: None).look(NOON)
    assert ways.tried == []


def test_a_way_that_fails_holds_up_no_other_and_is_tried_again(
    place: Place, ways: Ways, caplog: pytest.LogCaptureFixture
) -> None:
    ways.failing["mail"] = OSError("no route to the server")
    assert not place.look(BAD)
    assert [way for way, _ in ways.sent] == ["webhook"]
    assert "a notice could not be sent (mail): no route to the server; it is sent later" in (
        caplog.messages
    )
    del ways.failing["mail"]
    assert place.look(BAD)
    assert ways.by("mail") == [[BAD]]
    assert len(ways.by("webhook")) == 1


def test_a_way_that_keeps_failing_is_tried_less_and_less(place: Place, ways: Ways) -> None:
    place.settings = {"mail": "me@example.org"}
    ways.failing["mail"] = OSError("no")
    tried: list[int] = []
    for minute in range(1, 400):
        place.look(BAD, after=1)
        if len(ways.tried) > len(tried):
            tried.append(minute)
    gaps = [later - sooner for sooner, later in pairwise(tried)]
    assert gaps[:7] == [1, 2, 4, 8, 16, 32, 60]
    assert max(gaps) == LONGEST_REST / MINUTE
    del ways.failing["mail"]
    place.look(BAD, after=60)
    ways.failing["mail"] = OSError("no")
    before = len(ways.tried)
    place.look(SLOW, after=1)
    place.look(SLOW, after=1)
    assert len(ways.tried) == before + 2, "after a success, it begins with a minute again"


def test_looks_are_a_minute_apart(place: Place, ways: Ways) -> None:
    place.look(BAD)
    place.look(SLOW, after=0.9)
    assert ways.by("mail") == [[BAD]]
    place.look(SLOW, after=0.1)
    assert ways.by("mail") == [[BAD], [SLOW]]


def test_an_error_of_the_look_is_logged_and_the_next_look_tells(
    place: Place, ways: Ways, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_now: datetime) -> LookFindings:
        raise LedgerUnreadable("/x", "it is damaged")

    find, place.find = place.find, fail  # type: ignore[method-assign]
    place.looker = place.new()
    place.look(BAD)
    assert "notices could not be sent: the ledger of jobs /x cannot be used" in caplog.text
    place.find = find  # type: ignore[method-assign]
    place.looker = place.new()
    place.look(BAD)
    assert ways.by("mail") == [[BAD]]


def test_what_nobody_foresaw_is_not_hidden(told: Told) -> None:
    def fail(_now: datetime) -> LookFindings:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Notices(SENDER, told, fail).look(NOON)


def test_the_end_tells_what_is_left_and_an_error_does_not(place: Place, ways: Ways) -> None:
    with place.new():
        place.notices = [BAD]
    assert ways.by("mail") == [[BAD]]
    with suppress(ValueError), place.new():
        place.notices = [SLOW]
        raise ValueError
    assert ways.by("mail") == [[BAD]]


def test_one_message_is_sent_at_a_time(
    told: Told, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun, may_end, sent = threading.Event(), threading.Event(), list[Sequence[Notice]]()
    threads: list[threading.Thread] = []

    def slow(_settings: object, _sender: object, notices: Sequence[Notice], _now: object) -> None:
        sent.append(notices)
        threads.append(threading.current_thread())
        begun.set()
        assert may_end.wait(60)

    monkeypatch.setattr(telling, "send_mail", slow)
    place = Place(told)
    place.settings = {"mail": "me@example.org"}
    place.notices = [BAD]
    place.looker.look(NOON)
    assert begun.wait(60)
    place.looker.look(NOON + 2 * MINUTE)
    assert not place.looker.wait(time.monotonic()), "it is still being sent"
    monkeypatch.setattr(telling, "SECONDS_OF_SENDING", 0.0)
    place.looker.look(NOON + 4 * MINUTE)
    may_end.set()
    assert place.looker.wait(time.monotonic() + 60)
    for thread in threads:
        thread.join(60)
    assert sent == [[BAD], [BAD]], "one that takes too long is begun again"
    assert caplog.records == []


def test_what_was_told_is_noted_by_its_way_and_forgotten(told: Told) -> None:
    told.note([("a", "mail blocked"), ("b", "mail silent")], NOON)
    told.note([("a", "mail blocked")], NOON + MINUTE)
    assert told.sent() == {("a", "mail blocked"), ("b", "mail silent")}
    told.forget([("a", "mail blocked"), ("c", "mail gone")])
    assert told.sent() == {("b", "mail silent")}


def test_the_moment_of_a_notice_is_the_first_and_in_utc(told: Told, tmp_path: Path) -> None:
    east = (NOON + MINUTE).astimezone(UTC).replace(tzinfo=UTC)
    told.note([("a", "mail blocked")], NOON.astimezone(tz=None))
    told.note([("a", "mail blocked")], east)
    with sqlite3.connect(tmp_path / "told.sqlite") as connection:
        rows = connection.execute("SELECT at FROM told").fetchall()
    connection.close()
    assert rows == [("2026-11-23T12:00:00.000000+00:00",)]


def test_no_log_of_a_quiet_look(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    place.look()
    assert caplog.records == []
