"""Live lines are counted as imported ones are, and each is in one log, once."""

import configparser
import gzip
import logging
import os
import random
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from live_logs import kinds_of, logs_of, numbered
from made_up_log import made_up_log
from usage_oracle import truth_of
from usage_silo import counts_of
from waiting import wait_until

from recordsilo.cli import ExitCode, silo_command
from silowork.stop import Stop
from usagestats.errors import FormatUnknown
from usagestats.lines.readers import WebServerReader, reader_of
from usagestats.live import queue, workers
from usagestats.live.entries import QueueEntry
from usagestats.live.line_processor import KINDS, VIEWS, LineProcessor, logged_line
from usagestats.live.tail import FilePosition, tail
from usagestats.logger import RedisLogger
from usagestats.rules.settings import read_settings
from usagestats.store.journal import UsageJournal
from usagestats.values import Fate, Hit

SETTINGS = '\ntimezone = "Europe/London"\n[log]\nformat = "combined"\n'


def entries_of(lines: list[bytes], most: int = 20) -> list[QueueEntry]:
    drawn, found, at = random.Random(3), list[QueueEntry](), 0
    while at < len(lines):
        size = drawn.randint(1, most)
        found.append(QueueEntry(f"{at}-0", tuple(lines[at : at + size])))
        at += size
    return found


def without_addresses(silo_path: str, lines: list[bytes]) -> None:
    """No file of the Silo has an address of these lines."""
    addresses = {line.split(b" ")[0] for line in lines if line.count(b" ") > 3}
    pattern = re.compile(b"|".join(rb"(?<![\d.])%s(?![\d])" % re.escape(one) for one in addresses
                                   if one.count(b".") == 3 or b":" in one))  # fmt: skip
    for path in Path(silo_path).rglob("*"):
        if path.is_file():
            assert not pattern.search(path.read_bytes()), path


def test_entries_that_come_again_count_once(new_silo: Callable[[str], str]) -> None:
    lines = made_up_log(300)
    silo, entries = new_silo(SETTINGS), entries_of(lines)
    drawn = random.Random(5)
    desk, other = LineProcessor(silo), LineProcessor(silo)
    taken = 0
    for at in range(0, len(entries), 7):
        taken += sum(desk.take(entries[at : at + 7]).values())
        again = drawn.sample(entries[: at + 7], min(at + 7, 3))
        assert not other.take(again)
    desk.count()
    desk.close()
    other.close()
    truth = truth_of(lines, "Europe/London")
    found = counts_of(silo)
    assert found.figures == truth.figures
    assert found.first_last == truth.first_last
    journal = UsageJournal(silo)
    assert taken == len(lines) == sum(journal.lines().values())
    assert journal.lines()[VIEWS] == truth.fates[Fate.COUNTED]
    journal.close()
    without_addresses(silo, lines)


def test_what_another_worker_has_acknowledged_meanwhile_is_not_logged_again(
    new_silo: Callable[[str], str],
) -> None:
    silo, entries = new_silo(SETTINGS), entries_of(numbered(20))
    desk = LineProcessor(silo)
    assert desk.take(entries, held=lambda some: {one.entry_id for one in some[1:]})
    found = sum(sum(kind.values()) for kind in logs_of(silo).values())
    assert found == sum(len(one.lines) for one in entries[1:])
    desk.close()


def test_a_line_is_classified_once_to_be_counted_logged_and_pushed(
    new_silo: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    push = '[push]\nprofile = "irus"\ngatherer = "http://127.0.0.1:9/"\nsite = "https://e.org"\n'
    desk = LineProcessor(new_silo(SETTINGS + push))
    lines, read = made_up_log(50), list[bytes]()

    def reading(one: WebServerReader, line: bytes) -> Hit | None:
        read.append(line)
        return as_before(one, line)

    as_before = WebServerReader.read
    monkeypatch.setattr(WebServerReader, "read", reading)
    assert sum(desk.take(entries_of(lines)).values()) == len(lines)
    assert sorted(read) == sorted(lines)
    desk.close()


def test_each_line_is_in_the_log_of_its_kind(new_silo: Callable[[str], str]) -> None:
    lines = numbered(200)
    silo = new_silo(SETTINGS)
    desk = LineProcessor(silo)
    desk.take(entries_of(lines))
    desk.close()
    assert logs_of(silo) == kinds_of(lines, read_settings(silo))
    view = Path(silo, "usage/logs/2026-10-10/views.log").read_text().splitlines()[0]
    assert re.fullmatch(
        r'\[[0-9a-f]{16}\] - - \[10/Oct/2026:01:00:00 \+0100\] "GET /3000/1/p.pdf\?line=0 HTTP/1.1"'
        r' 200 9 "-" "Mozilla/5.0 \(X11; Linux x86_64; rv:140.0\) Gecko/20100101 Firefox/140.0"',
        view,
    )
    without_addresses(silo, lines)


def test_a_client_is_forgotten_in_the_logs_too(new_silo: Callable[[str], str]) -> None:
    lines = numbered(60)
    silo = new_silo(SETTINGS)
    desk = LineProcessor(silo)
    desk.take(entries_of(lines))
    done = CliRunner().invoke(silo_command, ["usage", "forget", "--yes", silo, "203.0.113.5"])
    assert done.exit_code == 0, done.output
    more = numbered(100)[len(lines) :]
    desk.take([QueueEntry("x", tuple(more))])
    desk.close()
    kept = [one for one in lines if not one.startswith(b"203.0.113.5 ")]
    assert logs_of(silo) == kinds_of(kept + more, read_settings(silo))


def test_what_a_killed_worker_appended_but_did_not_note_is_cut_off(silo_path: str) -> None:
    journal, log = UsageJournal(silo_path), Path(silo_path, "usage/logs/d/views.log")
    journal.write({("d", "views"): [b"one"]}, ["1-0"], 1000)
    with log.open("ab") as file:
        file.write(b"two\nthr")
    journal.write({("d", "views"): [b"two", b"three"]}, ["2-0"], 1000)
    assert log.read_bytes() == b"one\ntwo\nthree\n"
    assert journal.known(["1-0", "2-0", "3-0"]) == {"1-0", "2-0"}
    log.unlink()
    journal.write({("d", "views"): [b"four"]}, ["4-0"], 1000)
    assert log.read_bytes() == b"four\n"
    assert journal.lines() == {"views": 4}
    journal.close()


def follow(silo: str, log: Path) -> str:
    done = CliRunner().invoke(silo_command, ["usage", "follow", silo, str(log), "--until-end"])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_file_is_followed_over_rotation(new_silo: Callable[[str], str], tmp_path: Path) -> None:
    lines = numbered(120)
    silo, log = new_silo(SETTINGS), tmp_path / "access.log"
    parts = [lines[:50], lines[50:80], lines[80:100], lines[100:]]
    log.write_bytes(b"\n".join(parts[0]) + b"\n" + parts[1][0][:20])
    follow(silo, log)
    with log.open("ab") as file:
        file.write(parts[1][0][20:] + b"\n" + b"\n".join(parts[1][1:]) + b"\n")
    log.rename(tmp_path / "access.log.1")
    log.write_bytes(b"\n".join(parts[2]) + b"\n")
    follow(silo, log)
    assert "moved away" not in follow(silo, log)
    log.write_bytes(b"\n".join(parts[3]) + b"\n")  # truncated
    (tmp_path / "other").write_bytes(b"\n".join(parts[3]) + b"\n")
    follow(silo, log)
    assert logs_of(silo) == kinds_of(lines, read_settings(silo))
    os.replace(tmp_path / "other", log)
    assert "silo usage import" in follow(silo, log)


def test_tail_waits_for_more_and_goes_on_in_the_new_file(tmp_path: Path) -> None:
    log, found, stop = tmp_path / "log", list[bytes](), Stop()
    log.write_bytes(b"a\nb")

    def read() -> None:
        for lines, _ in tail(str(log), None, lambda: stop.wait(0.01)):
            found.extend(lines)

    def until(*expected: bytes) -> None:
        wait_until(lambda: len(found) >= len(expected))
        assert found == list(expected)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        until(b"a")
        writer = log.open("ab")
        writer.write(b"b\n")
        writer.flush()
        until(b"a", b"bb")
        log.rename(tmp_path / "log.1")
        writer.write(b"c\nlast")
        writer.close()
        log.write_bytes(b"d\n")
        until(b"a", b"bb", b"c", b"last", b"d")
    finally:
        stop.ask()
        thread.join()


def test_a_position_is_read_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"a\nb\n")
    _, (lines, position) = tail(str(log), None, lambda: True, until_end=True)
    assert lines == [b"a", b"b"]
    again = FilePosition.of(position.as_json())
    assert list(tail(str(log), again, lambda: True, until_end=True)) == []


def test_the_logger_keeps_lines_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = list[logging.LogRecord]()
    handler = RedisLogger("127.0.0.1", "q:loglines", 1, 0, keep=2)
    monkeypatch.setattr(handler, "handleError", failed.append)
    for number in range(3):
        handler.emit(logging.makeLogRecord({"msg": f"line\n{number}"}))
    assert list(handler._waiting) == ["line 1", "line 2"]
    assert [one.getMessage() for one in failed] == ["line\n2"]
    handler.close()


def test_the_units_start_commands_that_exist() -> None:
    units = files("usagestats.live").joinpath("units")
    commands = []
    for one in units.iterdir():
        unit = configparser.RawConfigParser(strict=False)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read_string(one.read_text("utf-8"))
        for section in unit.sections():
            commands += [unit[section][name] for name in ("ExecStart", "command")
                         if name in unit[section]]  # fmt: skip
    assert len(commands) == 4
    for command in commands:
        _, *words = command.split()
        parameters = dict.fromkeys(word.partition("=")[0] for word in words if word[:2] == "--")
        help_text = CliRunner().invoke(silo_command, [*words[:2], "--help"]).output
        assert all(one in help_text for one in parameters), command


def test_a_worker_needs_a_redis(silo_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SILO_REDIS", raising=False)
    done = CliRunner().invoke(silo_command, ["usage", "work", silo_path])
    assert (done.exit_code, "--redis redis://host/0" in done.output) == (2, True)
    away = ["usage", "work", silo_path, "--redis", "redis://127.0.0.1:1/0", "--until-idle", "1"]
    done = CliRunner().invoke(silo_command, away)
    assert (done.exit_code, "Redis cannot be used" in done.output) == (3, True)
    assert set(KINDS)


def test_why_redis_is_away_is_logged_once(
    new_silo: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    stop, tries = Stop(), []

    def take(_queue: queue.Queue, _most: int, _wait: float) -> list[QueueEntry]:
        tries.append(1)
        if len(tries) == 4:
            stop.ask()
        raise queue.QueueUnusable("gone" if len(tries) < 3 else "full")

    monkeypatch.setattr(workers, "_SECONDS_BETWEEN_TRIES", 0.0)
    monkeypatch.setattr(queue.Queue, "take", take)
    desk = LineProcessor(new_silo(SETTINGS))
    workers.run_worker(queue.Queue("redis://127.0.0.1:1/0", "q"), desk, stop, workers.Intervals())
    desk.close()
    assert [one.getMessage().partition(";")[0] for one in caplog.records] == ["gone", "full"]


def test_an_address_that_is_none_is_refused(silo_path: str) -> None:
    for words in (("work", silo_path), ("redis", silo_path),
                  ("visitors", "profile", "--kafka", "127.0.0.1:1")):  # fmt: skip
        done = CliRunner().invoke(silo_command, ["usage", *words, "--redis", "http://x"])
        assert (done.exit_code, "not an address of Redis" in done.output) == (2, True), words


def test_an_entry_that_is_not_ours_ends_no_worker(silo_path: str) -> None:
    fields: list[dict[bytes, bytes]] = [{b"\xff": b"x"}, {b"lines": b"\xff\n", b"format": b"\xff"}]
    bodies = [*map(queue._body_of, fields), b"", b"\xff"]
    entries = [QueueEntry(f"{number}-0", *queue._read(body)) for number, body in enumerate(bodies)]
    desk = LineProcessor(silo_path)
    assert sum(desk.take(entries).values()) == sum(len(one.lines) for one in entries)
    desk.close()


def test_a_host_name_is_hidden_wherever_it_stands() -> None:
    line = (
        b'pc7.example.org - - [12/Oct/2026:10:00:01 +0000] "GET /3/?from=pc7.example.org HTTP/1.1"'
        b' 200 9 "http://pc7.example.org/" "A pc7.example.org"'
    )
    hit = reader_of("combined").read(line)
    assert hit is not None
    logged = logged_line(hit, datetime.fromtimestamp(hit.moment, UTC), bytes(32))
    assert b"pc7" not in logged
    assert logged.count(logged.partition(b" ")[0]) == 4


def test_a_compressed_log_is_not_followed(silo_path: str, tmp_path: Path) -> None:
    log = tmp_path / "access.log.2.gz"
    log.write_bytes(gzip.compress(b"\n".join(made_up_log(3)) + b"\n"))
    done = CliRunner().invoke(silo_command, ["usage", "follow", silo_path, str(log), "--until-end"])
    assert (done.exit_code, "silo usage import counts it" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "clf"], "'clf' is not one of 'combined'"),
        (["--profile", "drupal"], "'drupal' is not one of 'eprints'"),
        (["--redis", "redis://127.0.0.1:1/0", "--profile", "ojs"], "silo usage work"),
    ],
)
def test_a_wrong_option_is_refused_before_a_line_is_read(
    silo_path: str, tmp_path: Path, options: list[str], told: str
) -> None:
    log = tmp_path / "access.log"
    log.touch()
    words = ["usage", "follow", silo_path, str(log), "--until-end", *options]
    done = CliRunner().invoke(silo_command, words)
    assert (done.exit_code, told in done.output) == (2, True), done.output


def test_a_worker_refuses_a_format_and_survives_one_in_the_queue(silo_path: str) -> None:
    with pytest.raises(FormatUnknown, match="there is no log format 'clf'"):
        LineProcessor(silo_path, log_format="clf")
    desk = LineProcessor(silo_path)
    for number, spec in enumerate(("clf", "json:{", "regex")):
        lines = (numbered(1)[0].replace(b"line=0", b"line=%d" % number),)
        assert desk.take([QueueEntry(f"{number}-0", lines, spec)]) == {VIEWS: 1}
    desk.close()


def test_unreadable_lines_are_losses(silo_path: str, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_bytes(numbered(1)[0] + b"\nno line of a log\n")
    words = ["usage", "follow", silo_path, str(log), "--until-end"]
    done = CliRunner().invoke(silo_command, words, standalone_mode=False)
    assert "1 views, 0 notfound, 0 other, 1 unreadable" in done.output
    assert done.return_value == ExitCode.LOSSES
