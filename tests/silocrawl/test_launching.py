"""What is launched, when, and that it is launched once."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from crawl_records import put_record

from crawlmatch.errors import BadAddress
from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.selection import Selection
from silocrawl.commands.running import run, status
from silocrawl.commands.targets import list_targets
from silocrawl.errors import MessageInvalid, TargetNotFound, TargetRefused
from silocrawl.launching import due_of, inject, launch_due, launch_now
from silocrawl.messages import CHECK, CRAWL, CrawlAddress, address_of, message_of
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import (
    CrawlTarget,
    Limits,
    add_target,
    change_target,
    load_target,
    remove_target,
    target_name_of,
    target_names,
)
from silowork.due.timetable import Timetable, repeated
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Message

NOW = datetime(2026, 12, 1, 2, 0, tzinfo=UTC)
DAY = timedelta(days=1)
LINKS = CrawlTarget("links", repeated("monthly", NOW), made=NOW)


def urls(queues: SqliteQueues, queue: str = CRAWL) -> list[str]:
    return [address_of(one.body).url for one in queues.peek(queue, most=1000)]


def test_the_links_of_records_are_launched_when_they_are_due_and_once(
    silo: Silo, queues: SqliteQueues
) -> None:
    put_record(silo, "1", "http://a.example/1", "http://a.example/x%20y")
    put_record(silo, "2", "http://a.example/1", "http://b.example/2", "http://c.example:99999/3")
    add_target(silo.path, LINKS)
    assert launch_due(silo, queues, NOW - DAY) == []
    (one,) = launch_due(silo, queues, NOW)
    assert (one.target, one.seeds, one.refused, one.due) == ("links", 3, 1, NOW)
    assert urls(queues) == ["http://a.example/1", "http://a.example/x%20y", "http://b.example/2"]
    assert queues.sizes()[CHECK].later == 3
    assert launch_due(silo, queues, NOW + DAY) == []
    (again,) = launch_due(silo, queues, NOW + 31 * DAY)
    assert again.seeds == 3


def test_a_launch_of_a_clock_that_was_wrong_does_not_hold_up_the_next(
    silo: Silo, queues: SqliteQueues
) -> None:
    put_record(silo, "1", "http://a.example/1")
    add_target(silo.path, LINKS)
    launch_due(silo, queues, NOW + 3650 * DAY)
    later = NOW + 40 * DAY
    assert due_of(queues, LINKS, later) == later
    (one,) = launch_due(silo, queues, later)
    assert (one.seeds, one.due) == (1, later)
    assert launch_due(silo, queues, later + DAY) == []
    assert due_of(queues, LINKS, later + DAY) == due_of(queues, LINKS, later)


def test_a_launch_that_was_killed_adds_what_is_missing(
    silo: Silo, queues: SqliteQueues, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.launching._TOGETHER", 2)
    put_record(silo, "1", *(f"http://a.example/{number}" for number in range(6)))
    add_target(silo.path, LINKS)
    whole, calls = queues.put, [0]

    def put(*given: object, **named: object) -> int:
        calls[0] += 1
        if calls[0] == 4:
            raise KeyboardInterrupt
        return whole(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(queues, "put", put)
    with pytest.raises(KeyboardInterrupt):
        launch_due(silo, queues, NOW)
    (one,) = launch_due(silo, queues, NOW)
    assert one.seeds == 2
    assert len(urls(queues)) == len(set(urls(queues))) == 6


def test_new_records_join_the_last_launch_and_deleted_ones_leave(
    silo: Silo, queues: SqliteQueues
) -> None:
    put_record(silo, "1", "http://a.example/1", title="solar power")
    wish = replace(LINKS, select=Selection("solar"))
    add_target(silo.path, wish)
    launch_due(silo, queues, NOW)
    put_record(silo, "2", "http://a.example/2", "http://a.example/1", title="solar wind")
    put_record(silo, "3", "http://a.example/3", title="lunar dust")
    (joined,) = launch_due(silo, queues, NOW + DAY)
    assert (joined.seeds, joined.is_joined, joined.due) == (1, True, NOW)
    assert urls(queues) == ["http://a.example/1", "http://a.example/2"]
    assert launch_due(silo, queues, NOW + DAY) == []
    silo.del_item("oai:example.org:1")
    (again,) = launch_due(silo, queues, NOW + 31 * DAY)
    assert again.seeds == 2  # of the record that is left


def test_an_address_is_a_target_whose_launches_are_messages_of_shepherd(
    silo: Silo, queues: SqliteQueues
) -> None:
    add_target(
        silo.path, CrawlTarget("site", Timetable(once=NOW), "http://A.example:80/x", made=NOW)
    )
    launch_due(silo, queues, NOW)
    (message,) = queues.peek(CRAWL)
    assert json.loads(message.body) == {
        "headers": {},
        "method": "GET",
        "parentUrl": "http://a.example/x",
        "parentUrlMetadata": {
            "pathFromSeed": "",
            "heritableData": {
                "heritable": ["source", "launch", "heritable"],
                "source": "http://a.example/x",
                "launch": "site/20261201T020000Z",
            },
        },
        "isSeed": True,
        "forceFetch": False,
        "url": "http://a.example/x",
        "hop": "",
    }
    assert due_of(queues, load_target(silo.path, "site")) is None


def test_a_paused_target_is_launched_only_by_name(silo: Silo, queues: SqliteQueues) -> None:
    put_record(silo, "1", "http://a.example/1")
    add_target(silo.path, LINKS)
    change_target(silo.path, "links", when=replace(LINKS.when, is_paused=True))
    assert launch_due(silo, queues, NOW) == []
    assert launch_now(silo, queues, load_target(silo.path, "links"), NOW).seeds == 1


def test_a_target_that_cannot_be_read_does_not_hold_up_others(
    silo: Silo, queues: SqliteQueues, caplog: pytest.LogCaptureFixture
) -> None:
    put_record(silo, "1", "http://a.example/1")
    add_target(silo.path, LINKS)
    Path(silo.path, "crawling", "targets", "broken.toml").write_text("limits = 3")
    told: set[str] = set()
    assert [one.target for one in launch_due(silo, queues, NOW, told)] == ["links"]
    assert launch_due(silo, queues, NOW, told) == []
    assert caplog.text.count("broken") == 1


def test_single_addresses_are_injected_once_unless_forced(queues: SqliteQueues) -> None:
    given = ["http://a.example/1", "https://b.example/2"]
    assert inject(queues, given, force=False) == 2
    assert inject(queues, given, force=False) == 0
    assert inject(queues, given[:1], force=True) == 1
    with pytest.raises(BadAddress):
        inject(queues, ["http://c.example/", "ftp://a.example/"], force=False)
    assert len(urls(queues)) == 3


# --------------------------------------------------------------------------- targets


def test_a_target_is_stored_as_it_is_read(silo: Silo) -> None:
    rich = CrawlTarget(
        "site",
        replace(repeated("weekly", NOW, "Asia/Jakarta"), end=NOW + 99 * DAY),
        "https://a.example/x",
        title="A site",
        scope=Scope(ScopeKind.SUBDOMAINS, plus_one=True, ignore=("*.zip",)),
        limits=Limits(5, 6, 7, 8),
        agent="ada",
        made=NOW,
    )
    for one in (rich, replace(LINKS, select=Selection("solar"))):
        add_target(silo.path, one)
        assert load_target(silo.path, one.name) == one
    assert target_names(silo.path) == ["links", "site"]
    with pytest.raises(TargetRefused, match="there is a target 'site' already"):
        add_target(silo.path, rich)
    remove_target(silo.path, "site")
    for use in (load_target, remove_target):
        with pytest.raises(TargetNotFound, match="no target 'site'; those here: links"):
            use(silo.path, "site")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scope = 'all'", "'all' is not a scope; there are page"),
        ("colour = 'red'", "a target has no 'colour'"),
        ("[limits]\nmoons = 3", "there is no limit of moons"),
        ("[limits]\npages = 0", "the limit of pages is at least 1"),
        ("[limits]\npages = 'many'", "limits are whole numbers"),
        ("url = 'ftp://a.example'", "not an address of http or https"),
        ("url = 'http://ada:secret@a.example/'", "without a login"),
        ("url = 'a.example:8081/x'", "write http://a.example:8081/x"),
        ("watched = '../d'", "only an address is watched"),
        ("[select]\nshape = 'round'", "shape"),
        ("select = 3", "select is not a table"),
        ("ignore = 'x'", "ignore is not a list"),
        ("made = 'tomorrow'", "'tomorrow' is not a date"),
        ("title = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_target_is_said(silo: Silo, text: str, said: str) -> None:
    path = Path(silo.path, "crawling", "targets", "one.toml")
    path.parent.mkdir(parents=True)
    usual = "" if text.startswith(("made", "title")) else "made = '2026-01-01'\n"
    path.write_text(f"{usual}{text}\n[when]\nevery = '1d'\n")
    with pytest.raises(
        TargetRefused, match=r"target crawling/targets/one\.toml is invalid"
    ) as told:
        load_target(silo.path, "one")
    assert said in str(told.value)


def test_names_are_made_of_titles_and_addresses() -> None:
    assert target_name_of("https://www.Example.org/reports/") == "example-org-reports"
    assert target_name_of("Theses, since 2016") == "theses-since-2016"
    with pytest.raises(TargetRefused, match="give --title"):
        target_name_of("論文")


# --------------------------------------------------------------------------- messages


def test_a_message_is_read_as_it_was_written() -> None:
    one = CrawlAddress("http://a.example/x", "http://a.example/", "links/20261201T020000Z", "oai:1")
    two = one.hop("http://a.example/y", "L").hop("http://b.example/z", "R")
    assert (two.path, two.via, two.target) == ("LR", "http://a.example/y", "links")
    for address in (one, two, replace(two, is_forced=True)):
        read = address_of(message_of(address).body)
        assert replace(read, via="") == replace(address, via="")
    assert message_of(replace(one, url=one.url + "#part")).key == message_of(one).key
    assert message_of(replace(one, is_forced=True)).key == ""


def test_a_message_of_shepherd_is_read() -> None:
    har = {
        "clientId": "FC-1-uris-to-crawl",
        "metadata": {"heritableData": {"heritable": ["source"], "source": "http://a/"}},
        "isSeed": True,
        "url": "http://a/b",
    }
    found = address_of(json.dumps(har).encode())
    assert (found.url, found.source, found.path, found.launch) == (
        "http://a/b",
        "http://a/",
        "",
        "",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"", b"[]", b"{}", b'{"url": 3}', b'{"url": "ftp://a"}', b"[" * 9999,
        b'{"url": "http://a b"}', b'{"url": "http://a/\\n"}', b"\xff",
    ],
)  # fmt: skip
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(MessageInvalid):
        address_of(body)


@pytest.mark.parametrize("url", ["http://[::1/", "http://a:99999/", "http://%00/", "http://a..b/"])
def test_a_message_with_an_address_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(MessageInvalid, match="cannot be fetched"):
        address_of(json.dumps({"url": url}).encode())


@pytest.mark.parametrize(
    "launch", ["../../../x", "x/\0", "x" * 400, "\ud800", "links/../20261201T020000Z", "links"]
)
def test_a_launch_that_cannot_name_a_log_is_refused(launch: str) -> None:
    said = {"url": "http://a/", "parentUrlMetadata": {"heritableData": {"launch": launch}}}
    with pytest.raises(MessageInvalid, match="launch"):
        address_of(json.dumps(said).encode())


@pytest.mark.parametrize(
    "said",
    [
        {"parentUrl": "http://x/\n2026-12-01 forged"},
        {"parentUrl": "http://x/\ud800"},
        {"parentUrlMetadata": {"heritableData": {"source": "http://x/ y"}}},
        {"parentUrlMetadata": {"pathFromSeed": "L L\nx"}},
        {"hop": "L\u2028"},
    ],
)
def test_a_message_that_would_forge_lines_of_the_log_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(MessageInvalid):
        address_of(json.dumps({"url": "http://a/", **said}).encode())


def test_an_address_without_a_scheme_is_not_injected(queues: SqliteQueues) -> None:
    with pytest.raises(BadAddress, match="write http://localhost:8081/3002/"):
        inject(queues, ["http://a.example/", "localhost:8081/3002/"], force=False)
    assert urls(queues) == []


def test_a_source_that_is_no_address_is_not_injected(queues: SqliteQueues) -> None:
    with pytest.raises(BadAddress):
        inject(queues, ["http://a.example/"], force=False, source="a b\nc")
    assert urls(queues) == []


def test_one_invalid_target_does_not_hide_the_others(silo: Silo, queues: SqliteQueues) -> None:
    add_target(silo.path, LINKS)
    Path(silo.path, "crawling", "targets", "broken.toml").write_text("limits = 3")
    listed = CliRunner().invoke(list_targets, [silo.path], standalone_mode=False)
    assert (listed.return_value, listed.stdout.split("\t")[0]) == (1, "links")
    assert "the target crawling/targets/broken.toml is invalid" in listed.stderr
    told = CliRunner().invoke(status, [silo.path, "--json"], standalone_mode=False)
    assert told.return_value == 1
    assert json.loads(told.stdout)["targets"]["state"] == "alert"


def test_a_run_after_which_addresses_are_dead_letters_is_no_success(
    silo: Silo, queues: SqliteQueues
) -> None:
    queues.put([Message(CRAWL, b"not JSON")])
    ended = CliRunner().invoke(run, [silo.path, "--until-idle"], standalone_mode=False)
    assert ended.return_value == 1
    assert f"1 address failed too often: silo crawl queue dead {silo.path}" in ended.stderr


def test_a_pipe_in_place_of_a_log_is_told_and_not_waited_for(
    silo: Silo, queues: SqliteQueues
) -> None:
    add_target(silo.path, replace(LINKS, when=replace(LINKS.when, is_paused=True)))
    log = Path(silo.path, "crawling", "logs", "links-20261201T020000Z.log")
    log.parent.mkdir()
    os.mkfifo(log)
    ended = CliRunner().invoke(silo_command, ["crawl", "run", silo.path, "--until-idle"])
    assert ended.exit_code != 0
    assert "it is not a regular file" in ended.stderr
    assert str(ended.exception) == str(ended.exit_code)  # no traceback
