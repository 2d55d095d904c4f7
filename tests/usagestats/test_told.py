"""What imports, pushes and live workers tell: receipts, exit codes, sentences, and their loops."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from live_logs import logs_of, numbered
from made_up_log import made_up_log
from test_importing import GOOD, write

from recordsilo.cli import silo_command
from silowork.stop import Stop
from usagestats import sample
from usagestats.countries import DEBIAN, countries_path, country_lookup
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.importing.receipt import ImportReceipt
from usagestats.importing.unreadable import LONGEST, MOST, escaped, without_addresses
from usagestats.live import workers
from usagestats.live.entries import QueueEntry
from usagestats.live.queue import QueueUnusable
from usagestats.live.tail import FilePosition, tail
from usagestats.live.workers import Intervals, run_worker
from usagestats.push.outbox import Outbox, WaitingUse
from usagestats.push.settings import ClientAddress, Profile, push_settings, settings_from
from usagestats.rules.classify import LATE, MACHINE, NO_PATTERN, ROBOT, UNREADABLE
from usagestats.values import Fate

DAY = "2026-10-12"


def run(*words: str, given: bytes | None = None, code: int = 0) -> Result:
    done = CliRunner().invoke(silo_command, ["usage", *words], input=given, standalone_mode=False)
    told = done.return_value if isinstance(done.return_value, int) else 0
    assert (getattr(done.exception, "exit_code", 99) if done.exception else told) == code, done
    return done


# --------------------------------------------------------------------------- receipts


def receipt(**more: Any) -> ImportReceipt:
    """A receipt of ten lines of each fate."""
    made = ImportReceipt(lines=60, files=2, **more)
    made.fates[Fate.COUNTED][""] = 30
    made.fates[Fate.BOT] = Counter({ROBOT: 6, MACHINE: 4})
    made.fates[Fate.OTHER] = Counter({NO_PATTERN: 9, "not found": 1, LATE: 0})
    made.fates[Fate.UNREADABLE][UNREADABLE] = 10
    made.kinds.update({"view": 1, "download": 28, "other": 1})
    return made


def test_a_receipt_says_what_became_of_every_line() -> None:
    made = receipt()
    assert made.text().splitlines() == [
        "          60  lines in 2 files",
        "          30  counted: 1 view, 28 downloads, 1 other use",
        "          10  bots: a robot 6, a machine 4",
        "          10  other: no pattern fits 9, not found 1",
        "          10  unreadable: not of the log's format 10",
        "The first unreadable lines are in usage/unreadable/, without addresses.",
    ]
    known = made.as_json()
    assert [known[name] for name in ("lines", "counted", "bots", "other", "unreadable")] == [
        60, 30, 10, 10, 10,
    ]  # fmt: skip
    assert (known["machines"], known["views"], known["downloads"], known["others"]) == (4, 1, 28, 1)
    assert known["reasons"]["other"] == {NO_PATTERN: 9, "not found": 1}
    assert "counted" not in known["reasons"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"known": 1}, "1 line had been imported before."),
        ({"days": [DAY], "robots": "list"}, f"Counted: 1 day, {DAY} to {DAY} (robots: list)."),
        ({"seconds": 2.0}, "It took 2.0 s, 30 lines/s."),
        ({"without_agents": True}, "has no user agents, so no robot could be recognised."),
        ({"waiting": ["a.log"]}, "a.log: the last line is not complete and was left"),
        ({"not_held": ["b", "a"]}, "but counted: 2 identifiers (a, b)."),
        ({"not_held": list("gfedcba")}, "counted: 7 identifiers (a, b, c, d, e, …)."),
        ({"left_out": ["(a+)+"]}, "The expression '(a+)+' of usage/usage.toml took too long 20"),
        ({"kept": [DAY] * 6}, f"6 days ({', '.join([DAY] * 5)}, …) also have uses from other"),
        ({"late": Counter({DAY: 2})}, f"2 lines came too late: the days are frozen ({DAY})"),
        ({"frozen": ["2026-01-01", DAY]}, f"Frozen: 2 days up to {DAY}."),
    ],
)
def test_a_receipt_has_a_sentence_for_everything_else(more: dict[str, Any], sentence: str) -> None:
    assert sentence in receipt(**more).text()
    assert sentence not in receipt().text()


@pytest.mark.parametrize(
    ("more", "whole"),
    [
        ({}, True),
        ({"known": 3, "waiting": ["a"], "not_held": ["b"], "frozen": [DAY], "kept": [DAY]}, True),
        ({"late": Counter({DAY: 1})}, False),
        ({"failed": ["a.log cannot be read"]}, False),
        ({"left_out": ["x"]}, False),
    ],
)
def test_an_import_is_whole_if_nothing_of_it_is_missing(more: dict[str, Any], whole: bool) -> None:
    assert ImportReceipt(lines=3, **more).whole is whole
    assert not receipt(**more).whole  # lines are unreadable


def test_the_command_prints_a_receipt_or_json_or_nothing(silo_path: str, tmp_path: Path) -> None:
    good, broken = write(tmp_path / "a.log", [GOOD]), write(tmp_path / "b.log", [GOOD, b"broken"])
    known = json.loads(run("import", silo_path, good, "--json").stdout)
    assert (known["lines"], known["views"], known["days"]) == (1, 1, [DAY])
    assert run("import", silo_path, good, "--quiet").output == ""
    assert "1  unreadable" in run("import", silo_path, broken, "-q", code=1).stdout
    piped = run("import", silo_path, "-", given=GOOD + b"\n").stdout
    assert "1 line had been imported before." in piped
    assert "0  lines in 1 file" in piped
    more = GOOD + b"\n" + GOOD.replace(b"3002", b"3003") + b"\n"
    assert "1  counted: 1 view" in run("import", silo_path, "-", given=more).stdout


def test_of_unreadable_lines_the_first_are_kept(silo_path: str, tmp_path: Path) -> None:
    lines = [GOOD, *(b"broken %d" % number for number in range(MOST + 50))]
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    (file,) = Path(silo_path, "usage", "unreadable").iterdir()
    kept = file.read_bytes().splitlines()
    assert kept == [b"broken %d" % number for number in range(MOST)]
    import_logs(silo_path, ImportRequest([write(tmp_path / "b.log", [GOOD, b"x" * 5000])]))
    assert file.read_bytes().splitlines()[MOST:] == [b"x" * LONGEST]


@pytest.mark.parametrize(
    ("line", "hidden", "kept"),
    [
        (b"host.example.org - anna [12/Okt/2026:10:00:01]", [b"host", b"anna"], [b":10:00:01"]),
        (b"no bracket 203.0.113.7 10:00", [b"203.0"], [b"no bracket", b" 10:00"]),
        (b"a [x] 2001:db8::7,198.51.100.4:8080", [b"2001", b"198.51"], [b"[x]"]),
        (b"a [x] 1.2.3 version 4.5 2026:10:00:01", [b"1.2.3"], [b"version 4.5", b"2026:10:00:01"]),
        (b"a [x] 192.0.2", [b"192.0.2"], [b"[x]"]),
        (b"\x00::ffff:203.0.113.7", [b"203.0"], [b"\x00"]),
    ],
)  # fmt: skip
def test_what_looks_like_an_address_is_hidden(
    line: bytes, hidden: list[bytes], kept: list[bytes]
) -> None:
    found = without_addresses(line, bytes(32))
    assert not [one for one in hidden if one in found]
    assert [one for one in kept if one not in found] == []
    assert without_addresses(line, bytes(32)) == found != without_addresses(line, b"k" * 32)
    assert escaped(b"a\tb\x1b\n\xc2\x85") == b"a\tb\\x1b\\x0a\\xc2\\x85"


# --------------------------------------------------------------------------- countries


def test_the_file_of_countries_is_that_of_the_settings() -> None:
    assert countries_path("/silo", "") == ""
    assert countries_path("/silo", "debian") == DEBIAN
    assert countries_path("/silo", "geo.mmdb") == "/silo/usage/geo.mmdb"
    assert countries_path("/silo", "/x/geo.mmdb") == "/x/geo.mmdb"


def test_lists_may_have_quotes_texts_and_lines_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "list6"
    v6 = int.from_bytes(bytes.fromhex("20010db8") + bytes(12), "big")
    path.write_text(
        f'# x\n"192.0.2.0","192.0.2.9","gb","more"\nnonsense,x,DE\n1,2\n{v6},{v6 + 9},fr\n'
        "192.0.2.20,192.0.2.29,Germany\n10.0.0.1,10.0.0.0,NL\n"
    )
    look = country_lookup(str(path))
    asked = ("192.0.2.0", "192.0.2.9", "192.0.2.10", "192.0.2.25", "2001:db8::9", "2001:db8::a",
             "1.1.1.1", "10.0.0.1")  # fmt: skip
    assert [look(one) for one in asked] == ["GB", "GB", "XX", "XX", "FR", "XX", "XX", "XX"]


# --------------------------------------------------------------------------- pushes

PUSH = '[push]\nprofile = "irus"\nsite = "https://e.org/"\ngatherer = "http://127.0.0.1:1/c/"\n'


def test_the_settings_of_a_push_have_defaults(new_silo: Callable[[str], str]) -> None:
    found = push_settings(new_silo('[push]\nprofile = "irus"\nsite = "https://e.org/"\n'))
    assert found is not None
    assert (found.profile, found.gatherer) == (Profile.IRUS, "https://irus.jisc.ac.uk/counter/")
    assert (found.site, found.client, found.pause) == ("https://e.org", ClientAddress.TOKEN, 0.3)
    assert found.host == "irus.jisc.ac.uk"
    assert push_settings(new_silo("")) is None
    assert push_settings(new_silo('[push]\nprofile = "off"\n')) is None


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"gatherer": "https://g.org/?a=b"}, "gatherer is an address"),
        ({"gatherer": "ftp://g.org/"}, "gatherer is an address"),
        ({"gatherer": "https://[x"}, "gatherer is an address"),
        ({"site": "https:///x"}, "site is an address"),
        ({"pause": True}, "pause is a number of seconds"),
        ({"pause": 3601}, "pause is a number of seconds"),
        ({"version": 3}, "version is a text"),
        ({"profile": "IRUS"}, 'profile is "pirus2", "irus" or "off"'),
        ({"client": None}, 'client is "raw", "truncated" or "token"'),
    ],
)
def test_a_setting_of_a_push_that_is_invalid_is_named(more: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        settings_from({"profile": "irus", "site": "https://e.org", **more})
    with pytest.raises(ValueError, match="it is not a table"):
        settings_from(3)


def test_consent_is_asked_for_again_when_something_else_is_sent() -> None:
    table = {"profile": "irus", "site": "https://e.org"}
    found = [settings_from(table | more) for more in (
        {}, {"client": "raw"}, {"gatherer": "https://u:p@g.org/"}, {"profile": "pirus2",
        "gatherer": "https://g.org/"}, {"pause": 9, "site": "https://f.org", "version": "x"},
    )]  # fmt: skip
    consents = [one.consent for one in found if one]
    assert len(set(consents)) == 4
    assert consents[0] == consents[-1]
    assert found[2] is not None
    assert found[2].host == "g.org"


def rows(*days: str) -> list[WaitingUse]:
    return [WaitingUse(bytes([n]) * 16, day, f"oai:{n}", {"req_id": f"c{n % 2}"})
            for n, day in enumerate(days)]  # fmt: skip


def test_what_failed_waits_behind_what_never_did(silo_path: str) -> None:
    with Outbox(silo_path) as outbox:
        all_rows = rows(*["2099-01-01"] * 4)
        outbox.add(all_rows[:3])
        first = outbox.next()
        assert first is not None
        outbox.put_back(first, "HTTP 500", 0.0)
        second = outbox.next()
        assert second is not None
        outbox.put_back(second, "HTTP 500", 3600.0)
        outbox.add(all_rows[3:])
        taken = [one.item for one in iter(outbox.next, None) if not outbox.acknowledged(one)]  # type: ignore[func-returns-value]
        assert taken == ["oai:2", "oai:3", "oai:0"]
        assert (outbox.waiting(), outbox.next()) == (1, None)
        outbox.add(rows("2099-01-01"))  # was acknowledged
        assert outbox.waiting() == 1


def test_a_use_that_was_not_sent_is_as_if_it_had_never_been_taken(silo_path: str) -> None:
    with Outbox(silo_path) as outbox:
        outbox.add(rows("2099-01-01"))
        for _ in range(3):
            one = outbox.next()
            assert one is not None
            assert one.tries == 1
            outbox.not_sent(one)


def test_old_uses_are_given_up_with_a_line_each_and_others_stay(silo_path: str) -> None:
    with Outbox(silo_path) as outbox:
        outbox.add(rows("2026-01-01", "2099-01-01", "2026-01-02"))
        outbox.expire("2026-01-02")
        assert outbox.waiting() == 2
        outbox.remove("2099-01-01", {"c1", "x"})
        outbox.remove("2026-01-02", {"c1"})
        assert outbox.waiting() == 1
        assert not outbox.has_consent("a")
        outbox.consent("a")
        assert (outbox.has_consent("a"), outbox.has_consent("b")) == (True, False)
    (line,) = Path(silo_path, "usage", "push-unsent.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert (told["record"], told["day"], told["id"]) == ("oai:0", "2026-01-01", "00" * 16)


def test_the_command_says_what_it_needs_and_what_waits(
    silo_path: str, new_silo: Callable[[str], str]
) -> None:
    nothing = str(run("push", silo_path, code=2).exception)
    assert "this Silo pushes nothing; to push, write into usage/usage.toml" in nothing
    path = new_silo(PUSH)
    with Outbox(path) as outbox:
        outbox.add(rows("2099-01-01"))
    assert run("push", path, "--dry-run").stdout.endswith("\n1 use waits.\n")
    assert "silo usage push --yes" in str(run("push", path, code=2).exception)
    sent = json.loads(run("push", path, "--yes", "--json", code=1).stdout)
    assert sent == {
        "sent": 0, "repeated": 0, "unsent": {"the Silo does not hold the record": 1},
        "waiting": 0, "problem": "",
    }  # fmt: skip
    with Outbox(path) as outbox:
        outbox.add(rows("2099-01-01", "2099-01-01"))
    told = run("push", path, code=1).stdout  # it was agreed to
    assert "0 acknowledged, 0 wait\n1 not sent: the Silo does not hold the record\n" in told
    assert told.endswith("usage/push-unsent.jsonl\n")


# --------------------------------------------------------------------------- following a file


def follow(
    path: Path, start: FilePosition | None = None
) -> tuple[list[bytes], FilePosition, list[int]]:
    """The lines of a file from a position to its end, the position there, and what was lost."""
    lost: list[int] = []
    found, position = list[bytes](), start
    for lines, at in tail(str(path), start, lambda: True, until_end=True,
                          lost=lambda: lost.append(1)):  # fmt: skip
        found += lines
        position = at
    assert position is not None
    return found, position, lost


def test_files_of_several_rotations_are_read_in_their_order(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"1\n2\n")
    found, at, _ = follow(log)
    with log.open("ab") as file:
        file.write(b"3\nlast")
    log.rename(tmp_path / "a.log.rotated")
    since = (tmp_path / "a.log.rotated").stat().st_mtime
    for number in (13, 11, 14, 12, 15, 10):  # the names say nothing
        (tmp_path / f"a.log.{30 - number}").write_bytes(b"%d\n-" % number)
        os.utime(tmp_path / f"a.log.{30 - number}", (since + number, since + number))
    (tmp_path / "a.log.0").write_bytes(b"no\n")
    os.utime(tmp_path / "a.log.0", (since - 9, since - 9))
    (tmp_path / "b.log").write_bytes(b"no\n")
    log.write_bytes(b"16\n")
    more, _, lost = follow(log, at)
    between = [one for number in range(10, 16) for one in (b"%d" % number, b"-")]
    assert (found, more, lost) == ([b"1", b"2"], [b"3", b"last", *between, b"16"], [])


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_compressed_or_moved_away_is_told(tmp_path: Path, *, kept: bool) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"1\n")
    _, at, _ = follow(log)
    log.rename(tmp_path / ("a.log.2" if kept else "elsewhere"))
    (tmp_path / "a.log.1.gz").write_bytes(b"packed")
    log.write_bytes(b"6\n")
    if not kept:
        (tmp_path / "elsewhere").write_bytes(b"9\n")
    assert follow(log, at)[::2] == ([b"6"], [1])


def test_a_file_that_was_truncated_and_has_grown_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"old\n" * 10)
    _, at, _ = follow(log)
    log.write_bytes(b"new\n" * 20)
    assert follow(log, at)[0] == [b"new"] * 20
    log.write_bytes(b"")
    assert follow(log, at)[0] == []


def test_a_line_without_end_is_given_in_pieces(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"x" * (9 << 20) + b"\ny\n")
    found, _, _ = follow(log)
    assert b"".join(found[:-1]) == b"x" * (9 << 20)
    assert max(map(len, found)) <= 5 << 20
    assert found[-1] == b"y"


# --------------------------------------------------------------------------- workers


class MadeUpQueue:
    """Entries in memory; `broken` is how often it cannot be used first."""

    def __init__(self, entries: Sequence[QueueEntry], broken: int = 0) -> None:
        self.entries, self.broken = list(entries), broken
        self.asked: list[int] = []
        self.acknowledged: list[str] = []

    def take(self, most: int, _wait: float) -> list[QueueEntry]:
        self.asked.append(most)
        if self.broken:
            self.broken -= 1
            raise QueueUnusable("Redis is away")
        taken, self.entries = self.entries[:most], self.entries[most:]
        return taken

    def held(self, entries: Sequence[QueueEntry]) -> set[str]:
        return {one.entry_id for one in entries}

    def done(self, entries: Sequence[QueueEntry]) -> None:
        self.acknowledged += [one.entry_id for one in entries]


def worked(silo: str, queue: MadeUpQueue, **intervals: Any) -> Counter[str]:
    from usagestats.live.line_processor import LineProcessor  # noqa: PLC0415  # takes a while

    processor = LineProcessor(silo, log_format="combined")
    try:
        return run_worker(queue, processor, Stop(), Intervals(0, 60, **intervals))  # type: ignore[arg-type]
    finally:
        processor.close()


def test_a_worker_takes_more_at_once_while_there_is_much_and_acknowledges_all(
    silo_path: str,
) -> None:
    entries = [QueueEntry(f"{n}-0", (line,)) for n, line in enumerate(numbered(200))]
    queue = MadeUpQueue(entries)
    told = worked(silo_path, queue, idle=0.01)
    assert sum(told.values()) == len(entries)
    assert queue.asked[:2] == [64, 128]
    assert queue.acknowledged == [one.entry_id for one in entries]
    assert sum(sum(kind.values()) for kind in logs_of(silo_path).values()) == len(entries)
    assert json.loads(run("totals", silo_path, "--json").stdout)["total_item_requests"]


@pytest.mark.long
def test_large_entries_are_taken_a_few_at_a_time(silo_path: str) -> None:
    entries = [QueueEntry(f"{n}-0", (b"x" * (1 << 20),)) for n in range(70)]
    queue = MadeUpQueue(entries)
    assert worked(silo_path, queue, idle=0.01) == {"unreadable": 70}
    assert queue.asked[:3] == [64, 32, 16]


def test_a_worker_that_ends_by_itself_does_not_wait_for_redis(
    silo_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(QueueUnusable):
        worked(silo_path, MadeUpQueue([], broken=1), idle=1.0)
    monkeypatch.setattr(workers, "_SECONDS_BETWEEN_TRIES", 0.0)
    stop, queue = Stop(), MadeUpQueue([], broken=3)
    monkeypatch.setattr(queue, "done", lambda _: stop.ask())
    queue.entries = [QueueEntry("1-0", (GOOD,))]
    from usagestats.live.line_processor import LineProcessor  # noqa: PLC0415  # takes a while

    processor = LineProcessor(silo_path, log_format="combined")
    told = run_worker(queue, processor, stop, Intervals(0))  # type: ignore[arg-type]
    processor.close()
    assert (told, len(queue.asked)) == ({"views": 1}, 4)


# --------------------------------------------------------------------------- the sample


def test_the_made_up_year_is_in_order_and_the_same_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sample, "DAYS", 40)
    until = date(2026, 11, 1)
    lines = list(sample.made_up_year(["1", "2"], until))
    assert lines == list(sample.made_up_year(["1", "2"], until))
    days = [line.partition("[")[2][:11] for line in lines]
    assert (days[0], days[-1], len(set(days))) == ("22/Sep/2026", "31/Oct/2026", sample.DAYS)
    times = [line.partition("[")[2][:20] for line in lines]
    assert all(a <= b for a, b in pairwise(times) if a[:11] == b[:11])
    changes = sum(a != b for a, b in pairwise(days))
    assert changes < sample.DAYS + 60  # a download may follow after midnight
    addresses = {line.partition(" ")[0] for line in lines}
    assert all(one.startswith(("198.18.", "198.19.", "2001:db8::")) for one in addresses)


def test_every_made_up_address_has_a_made_up_country(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(sample.made_up_countries())
    look = country_lookup(str(tmp_path / "list"))
    assert (look("198.18.0.0"), look("198.19.255.255"), look("198.20.0.0")) == ("GB", "SG", "XX")


def test_the_settings_of_the_sample_are_left_alone_if_there_are_some(
    silo_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "DAYS", 1)
    before = Path(silo_path, "usage", "usage.toml").read_text()
    sample.import_sample(silo_path, today=date(2026, 11, 1), progress=lambda _name, _lines: None)
    assert Path(silo_path, "usage", "usage.toml").read_text() == before
    Path(silo_path, "usage", "usage.toml").unlink()
    done = sample.import_sample(
        silo_path, today=date(2026, 11, 2), progress=lambda _name, _lines: None
    )
    assert (done.lines, done.known > 50) == (0, True)
    assert "made-up-countries.csv" in Path(silo_path, "usage", "usage.toml").read_text()


def test_the_exit_code_of_a_follower_is_that_of_its_lines(silo_path: str, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"\n".join(made_up_log(20)[:3]) + b"\n" + GOOD + b"\n")
    done = run("follow", silo_path, str(log), "--until-end", "--format", "combined")
    assert re.search(r"\d+ bots, \d+ views, \d+ notfound, \d+ other, 0 unreadable", done.stderr)
