"""How the crawls are, in a word each; and targets as people wish them."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result
from crawl_records import put_record
from hypothesis import given
from hypothesis import strategies as st

from politeweb.file_pace import FilePace
from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.commands.queues import ls
from silocrawl.commands.running import run, status
from silocrawl.commands.targets import add, list_targets, pause, schedule, show
from silocrawl.errors import TargetRefused
from silocrawl.launching import inject, launch_due, launch_now
from silocrawl.messages import CRAWL
from silocrawl.running import CrawlSummary, CrawlWorker
from silocrawl.status import Word, status_of
from silocrawl.targets import CrawlTarget, Limits, add_target, load_target, target_names
from silocrawl.wishes import (
    OFFERED,
    amount_of,
    amount_text,
    free_name,
    frequency_of,
    timetable_wished,
)
from silowork.due.timetable import Timetable
from silowork.errors import JobRefused
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

BEGIN = datetime(2026, 3, 31, 2, 30, tzinfo=UTC)
DAILY = CrawlTarget("theses", timetable_wished("daily", "2026-03-31T02:30", "", "UTC"), made=BEGIN)


def words(silo: Silo, queues: SqliteQueues | None, now: datetime) -> dict[str, str]:
    return {one.name: one.word.value for one in status_of(silo.path, queues, now).conditions}


def test_each_condition_has_its_word(
    silo: Silo, queues: SqliteQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_bavail=10**11, f_frsize=1)
    monkeypatch.setattr(os, "statvfs", lambda _path: disk)
    good = dict.fromkeys(("targets", "messages", "launches", "queue", "disk"), "good")
    now = datetime.now(UTC)
    assert words(silo, queues, now) == words(silo, None, now) == good

    add_target(silo.path, DAILY)
    assert words(silo, queues, BEGIN + timedelta(minutes=59)) == good
    assert words(silo, None, BEGIN + timedelta(hours=2)) == good | {"launches": "warning"}
    launch_now(silo, queues, DAILY, now)
    inject(queues, ["http://a.example/", "http://b.example/"], force=False)
    queues.failed(queues.take(CRAWL), "refused", None)
    disk.f_bavail = 10**9 - 1
    later = status_of(silo.path, queues, now)
    assert {one.name: one.word for one in later.conditions if one.word is not Word.GOOD} == {
        "messages": Word.ALERT, "disk": Word.ALERT,
    }  # fmt: skip
    assert (later.queues[CRAWL].waiting, later.queues[CRAWL].dead, later.targets) == (1, 1, 1)
    disk.f_bavail = 10**10 - 1
    assert words(silo, queues, now)["disk"] == "warning"


def test_hosts_that_rest_are_part_of_it(silo: Silo) -> None:
    os.makedirs(place := os.path.join(silo.path, ".silo"), exist_ok=True)
    FilePace(place, "slow.example", 1.0).hold(600)
    ((host, seconds),) = status_of(silo.path, None).resting
    assert host == "slow.example"
    assert 590 < seconds <= 600


def test_the_command_says_the_same(silo: Silo, queues: SqliteQueues) -> None:
    add_target(silo.path, DAILY)
    found = status_of(silo.path, queues)
    told = CliRunner().invoke(status, [silo.path, "--json"], standalone_mode=False)
    assert told.return_value == 1  # nobody has launched it
    objects = json.loads(told.stdout)
    assert {name: (one["state"], one["said"]) for name, one in objects.items()} == {
        one.name: (one.word, one.said) for one in found.conditions
    }
    assert objects["launches"]["advice"] == "start silo crawl run"
    assert "advice" not in objects["targets"]


def rescheduled(silo: Silo, *given: str) -> Result:
    return CliRunner().invoke(schedule, [silo.path, "theses", *given], standalone_mode=False)


def test_a_new_schedule_leaves_a_paused_target_paused(silo: Silo, queues: SqliteQueues) -> None:
    add_target(silo.path, DAILY)
    CliRunner().invoke(pause, [silo.path, "theses"], standalone_mode=False)
    rescheduled(silo, "--frequency", "monthly")
    when = load_target(silo.path, "theses").when
    assert (when.is_paused, frequency_of(when)) == (True, "monthly")


def test_a_new_schedule_changes_only_what_is_given(silo: Silo, queues: SqliteQueues) -> None:
    begun = timetable_wished("quarterly", "2026-03-31T02:30", "2030-01-01", "Europe/Berlin")
    add_target(silo.path, replace(DAILY, when=begun))
    said = rescheduled(silo).exception
    assert str(said).startswith("nothing to change")
    assert load_target(silo.path, "theses").when == begun
    rescheduled(silo, "--end", "")
    assert load_target(silo.path, "theses").when == replace(begun, end=None)
    rescheduled(silo, "--frequency", "weekly")
    again = timetable_wished("weekly", "2026-03-31T02:30", "", "Europe/Berlin")
    assert load_target(silo.path, "theses").when == again


def test_a_timetable_of_another_kind_needs_a_frequency(silo: Silo, queues: SqliteQueues) -> None:
    own = Timetable(every=timedelta(hours=6))
    add_target(silo.path, replace(DAILY, when=own))
    assert "give --frequency" in str(rescheduled(silo, "--end", "2030-01-01").exception)
    assert load_target(silo.path, "theses").when == own
    assert (
        "next launch" in rescheduled(silo, "--frequency", "daily", "--start", "2099-01-01").stdout
    )


@pytest.mark.parametrize("frequency", OFFERED)
def test_a_timetable_has_the_frequency_that_it_was_made_of(frequency: str) -> None:
    wish = timetable_wished(frequency, "2026-03-31T02:30", "2027-01-01", "Europe/Berlin")
    assert frequency_of(wish) == frequency
    assert frequency_of(replace(wish, is_paused=True)) == frequency


def test_a_timetable_of_another_kind_has_no_frequency() -> None:
    assert frequency_of(Timetable(every=timedelta(hours=6))) == ""
    assert frequency_of(replace(DAILY.when, weekdays=(1, 3))) == ""
    for wrong in (("hourly", "", ""), ("daily", "soon", ""), ("daily", "", "never")):
        with pytest.raises(JobRefused):
            timetable_wished(*wrong, "UTC")
    with pytest.raises(JobRefused):
        timetable_wished("daily", "", "", "Mars/Olympus")


def test_amounts_are_whole_numbers_with_a_unit(silo: Silo) -> None:
    assert [amount_of(one) for one in ("7", "20k", "2G")] == [7, 20_000, 2 * 10**9]
    for wrong in ("", "k", "-1", "1.5G", "٣", "²", "9" * 400):
        with pytest.raises(TargetRefused):
            amount_of(wrong)
    for name in ("theses", "theses-2"):
        assert free_name(silo.path, "theses") == name
        add_target(silo.path, replace(DAILY, name=name))


def test_an_address_that_cannot_be_fetched_is_no_target() -> None:
    for url in ("http://[::1", "http://a.example:99999999/", "http://%zz.example/"):
        with pytest.raises(TargetRefused):
            replace(DAILY, url=url)


@pytest.mark.parametrize(
    "given", [[], [""], ["http://a.example/", "--all"], ["--all", "--search", "solar"]]
)
def test_a_target_is_one_address_or_a_choice_of_records(silo: Silo, given: list[str]) -> None:
    done = CliRunner().invoke(add, [silo.path, *given], standalone_mode=False)
    assert "give an address, or choose records" in str(done.exception)
    assert target_names(silo.path) == []


def test_all_records_are_a_target_if_they_are_asked_for(silo: Silo) -> None:
    done = CliRunner().invoke(add, [silo.path, "--all"], standalone_mode=False)
    assert done.stdout.startswith("links: links of all records")
    assert target_names(silo.path) == ["links"]


def test_a_target_of_an_unknown_field_is_not_added(silo: Silo) -> None:
    given = [silo.path, "--search", "solar has_flie:false"]
    done = CliRunner().invoke(add, given, standalone_mode=False)
    assert "there is no field 'has_flie'" in str(done.exception)
    assert "did you mean 'has_file'" in str(done.exception)
    assert target_names(silo.path) == []


def test_it_is_said_how_many_records_a_target_has_now(silo: Silo, queues: SqliteQueues) -> None:
    put_record(silo, "7", "http://a.example/7")
    for title, words, said in (
        ("found", "example", "(1 record now)"),
        ("nothing", "zzzzqqq", "(0 records now)"),
    ):
        given = ([add, silo.path, "--search", words, "--title", title], [show, silo.path, title],
                 [list_targets, silo.path])  # fmt: skip
        for command, *rest in given:
            assert said in CliRunner().invoke(command, rest, standalone_mode=False).stdout


@pytest.mark.parametrize(
    ("when", "said"),
    [
        (
            timetable_wished("quarterly", "2026-03-31T02:30", "2027-01-01", "Europe/Berlin"),
            "quarterly from 2026-03-31 04:30 Europe/Berlin until 2027-01-01 00:00 UTC",
        ),
        (timetable_wished("once", "2026-03-31T02:30", "", "UTC"), "once on 2026-03-31 02:30 UTC"),
        (
            Timetable(times=(time(2), time(14)), weekdays=(0, 2), is_paused=True),
            "times 02:00 14:00, weekdays mon wed, zone UTC",
        ),
    ],
)
def test_people_are_shown_words_and_not_json(silo: Silo, when: Timetable, said: str) -> None:
    add_target(silo.path, replace(DAILY, when=when, limits=Limits(bytes=1_500_000_000)))
    told = CliRunner().invoke(show, [silo.path, "theses"], standalone_mode=False).stdout
    assert f"when     {said}\n" in told
    assert "1500 MB" in told


@given(st.integers(1, 10**15 - 1))
def test_an_amount_is_read_as_it_was_written(number: int) -> None:
    assert amount_of(amount_text(number)) == number


def test_a_silo_without_targets_says_how_to_begin(silo: Silo) -> None:
    told = CliRunner().invoke(status, [silo.path], standalone_mode=False)
    assert told.return_value == 0, told.exception
    assert "no targets; see silo crawl target add" in told.stdout
    listed = CliRunner().invoke(ls, [silo.path], standalone_mode=False)
    assert str(listed.exception).endswith("; see silo crawl target add")


@pytest.mark.long
def test_a_run_without_targets_says_how_to_begin(silo: Silo) -> None:
    done = CliRunner().invoke(run, [silo.path, "--until-idle"], standalone_mode=False)
    assert done.return_value == 0, done.exception
    way = f"silo crawl target add {silo.path} --all makes one of the links of all records"
    assert f"silo: no targets, so nothing to crawl; {way}\n" in done.stderr


@pytest.mark.long
def test_a_stopped_run_that_had_nothing_to_crawl_is_not_to_be_continued(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_worker: CrawlWorker, stop: Stop, **_: object) -> CrawlSummary:
        stop.ask()
        return CrawlSummary()

    monkeypatch.setattr(CrawlWorker, "run", stopped)
    done = CliRunner().invoke(run, [silo.path], standalone_mode=False)
    assert "silo: stopped; there was nothing to crawl\n" in done.stderr
    assert "run the same command" not in done.stderr


def test_the_same_seeds_are_a_second_target_only_with_a_title(silo: Silo) -> None:
    put_record(silo, "7", "https://example.org/7")

    def added(*given: str) -> Result:
        return CliRunner().invoke(silo_command, ["crawl", "target", "add", silo.path, *given])

    assert added("http://localhost:81/3002/").stdout.startswith("localhost-81-3002: ")
    assert added("--item", "7").stdout.startswith("oai-example-org-7: links of oai:example.org:7")
    for again in (["http://LOCALHOST:81/3002/"], ["--item", "7"]):
        done = added(*again)
        assert done.exit_code == 2
        assert "a second one needs a --title" in done.stderr
    assert added("http://localhost:81/3002/", "--title", "Deep").stdout.startswith("deep: ")
    assert added("http://localhost:81/3003/").exit_code == 0
    assert target_names(silo.path) == [
        "deep", "localhost-81-3002", "localhost-81-3003", "oai-example-org-7",
    ]  # fmt: skip


def test_a_record_is_named_in_full_so_that_its_changes_join(
    silo: Silo, queues: SqliteQueues
) -> None:
    put_record(silo, "7", "https://example.org/7")
    CliRunner().invoke(silo_command, ["crawl", "target", "add", silo.path, "--item", "7"])
    assert [one.seeds for one in launch_due(silo, queues)] == [1]
    put_record(silo, "7", "https://example.org/7", "https://example.org/7.pdf")
    assert [(one.seeds, one.is_joined) for one in launch_due(silo, queues)] == [(1, True)]
    none = CliRunner().invoke(silo_command, ["crawl", "target", "add", silo.path, "--item", "x"])
    assert (none.exit_code, len(target_names(silo.path))) == (2, 1)
