"""An import counts what an independent oracle counts, however the lines come."""

import errno
import gc
import gzip
import os
import random
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_up_log import made_up_log
from usage_oracle import Truth, truth_of
from usage_silo import counts_of

from recordsilo.cli import ExitCode, silo_command
from silosteps.engine import Engine
from silosteps.lines import Block
from usagestats import counting
from usagestats.importing import importing
from usagestats.importing.blocks import KINDS, BlockClassifier
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.importing.intern import InternTable
from usagestats.importing.receipt import ImportReceipt
from usagestats.lines.readers import reader_of
from usagestats.rules.classify import NO_PATTERN, Rules, classify
from usagestats.rules.settings import UsageSettings, logs_of, read_settings
from usagestats.store import events
from usagestats.store.counts import UsageCounts
from usagestats.store.paths import catalogue_path, settings_path
from usagestats.values import Fate

LONDON = '\ntimezone = "Europe/London"\n'
MANY = [1200, pytest.param(200_000, marks=pytest.mark.long)]


def write(path: Path, lines: list[bytes]) -> str:
    content = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return str(path)


def check(silo_path: str, truth: Truth) -> None:
    found = counts_of(silo_path)
    assert found.figures == truth.figures
    assert found.first_last == truth.first_last


def balances(receipt: ImportReceipt) -> None:
    assert sum(receipt.number(fate) for fate in Fate) == receipt.lines


@pytest.mark.long
@pytest.mark.parametrize("number", MANY)
def test_an_import_agrees_with_the_oracle(
    number: int, new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    lines = made_up_log(number, items=12 if number < 10_000 else 900)
    truth = truth_of(lines, "Europe/London")
    silo = new_silo(LONDON)
    receipt = import_logs(silo, ImportRequest([write(tmp_path / "access.log", lines)]))
    check(silo, truth)
    assert {fate: receipt.number(fate) for fate in Fate} == {
        fate: truth.fates[fate] for fate in Fate
    }
    assert receipt.lines == len(lines)
    # Again, in another order, repeated, and split over files of any kind: nothing changes.
    other = new_silo(LONDON)
    dice = random.Random(2)
    lines += dice.choices(lines, k=number // 3)
    dice.shuffle(lines)
    names = []
    while lines:
        size = dice.randrange(1, number)
        part, lines = lines[:size], lines[size:]
        suffix = dice.choice(("log", "log.gz"))
        names.append(write(tmp_path / f"part-{len(names)}.{suffix}", part))
    for name in names:
        balances(import_logs(other, ImportRequest([name])))
    check(other, truth)


def test_a_file_is_known_by_its_content(silo_path: str, tmp_path: Path) -> None:
    lines = made_up_log(400)
    truth = truth_of(lines)
    log = tmp_path / "access.log"
    first = import_logs(silo_path, ImportRequest([write(log, lines[:150])]))
    grown = import_logs(silo_path, ImportRequest([write(log, lines[:300])]))
    assert (first.lines, grown.lines, grown.known) == (150, 150, 150)
    log.rename(tmp_path / "access.log.1")
    rotated = write(tmp_path / "access.log.1.gz", lines)
    third = import_logs(silo_path, ImportRequest([str(tmp_path / "access.log.1"), rotated]))
    assert (third.lines, third.known) == (len(lines) - 300, 300 + 300)
    joined = write(tmp_path / "joined.log", lines + lines)
    last = import_logs(silo_path, ImportRequest([joined]))
    assert (last.lines, last.known) == (0, 2 * len(lines))
    check(silo_path, truth)


@pytest.mark.parametrize("suffix", ["log", "log.gz"])
def test_a_file_with_a_line_that_is_too_long_is_known(
    suffix: str, silo_path: str, tmp_path: Path
) -> None:
    long, log = b"x" * (5 << 20), tmp_path / f"a.{suffix}"
    assert import_logs(silo_path, ImportRequest([write(log, [GOOD, long, GOOD, GOOD])])).lines == 4
    new = GOOD.replace(b"3002", b"3003")
    grown = import_logs(silo_path, ImportRequest([write(log, [GOOD, long, GOOD, GOOD, new])]))
    assert (grown.lines, grown.known) == (1, 4)
    other = import_logs(silo_path, ImportRequest([write(tmp_path / "b.log", [GOOD, b"y" * 2000])]))
    assert other.lines + other.known == 2


def test_a_line_that_is_being_written_waits(silo_path: str, tmp_path: Path) -> None:
    lines = [line for line in made_up_log(60) if line.startswith(b"203") and line.endswith(b'"')]
    truth = truth_of(lines)
    log, content = tmp_path / "access.log", b"".join(line + b"\n" for line in lines)
    for end in (len(content) // 2, len(content) - 5, len(content) - 1, len(content)):
        log.write_bytes(content[:end])
        receipt = import_logs(silo_path, ImportRequest([str(log)]))
        balances(receipt)
        assert not receipt.number(Fate.UNREADABLE)
    assert counts_of(silo_path).figures == truth.figures
    log.write_bytes(content + b"203.0.113.9 - - [")
    assert import_logs(silo_path, ImportRequest([str(log)])).waiting == [str(log)]
    assert import_logs(silo_path, ImportRequest([str(log)], complete=True)).lines == 1


@pytest.mark.long
def test_the_memory_of_an_import_is_free_at_its_end(silo_path: str, tmp_path: Path) -> None:
    """Without waiting for Python's garbage collection, which does not count the bytes."""
    gc.collect()
    gc.disable()
    try:
        import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", made_up_log(9, seed=1))]))
        assert not any(isinstance(one, InternTable) for one in gc.get_objects())
    finally:
        gc.enable()


def test_without_a_log_the_command_asks_for_one(silo_path: str) -> None:
    done = CliRunner().invoke(silo_command, ["usage", "import", silo_path])
    assert (done.exit_code, "name a LOG" in done.output) == (2, True)


def test_a_log_of_the_settings_is_a_regular_file(
    new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    (logs / "old").mkdir(parents=True)
    os.mkfifo(logs / "pipe")
    write(logs / "access.log", [_ASSET])
    silo_path = new_silo(f'logs = ["{logs}/*"]\n')
    assert logs_of(silo_path, read_settings(silo_path)) == (str(logs / "access.log"),)
    odd = str(tmp_path / "a[1]")
    os.mkdir(odd)
    Path(odd, "access.log").touch()
    beside = replace(read_settings(silo_path), logs=("access.log",))
    assert logs_of(odd, beside) == (os.path.join(odd, "access.log"),)
    silo_path = new_silo('logs = ["/dev/zero"]\n')
    done = CliRunner().invoke(silo_command, ["usage", "import", silo_path])
    assert done.exit_code == ExitCode.USAGE
    assert "/dev/zero is not a regular file" in done.output


def test_a_log_is_not_blamed_for_what_fails_meanwhile(
    silo_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_any: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "usage/secret")

    log = tmp_path / "access.log"
    log.write_bytes(b"\n".join(made_up_log(3)) + b"\n")
    monkeypatch.setattr(importing._Import, "_add", fails)
    with pytest.raises(PermissionError, match="usage/secret"):
        import_logs(silo_path, ImportRequest([str(log)]))


def test_a_receipt_says_how_to_read_lines_again_of_which_none_was_understood() -> None:
    for fate, reason, words in (
        (Fate.UNREADABLE, "not of the log's format", "--format"),
        (Fate.OTHER, NO_PATTERN, "silo usage try"),
    ):
        receipt = ImportReceipt(lines=2)
        receipt.fates[fate][reason] = 2
        assert words in receipt.text()
        assert "--again" in receipt.text()
        receipt.lines, receipt.fates[Fate.COUNTED][""] = 3, 1
        assert "--again" not in receipt.text()


_ASSET = (
    b'203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "GET /style.css HTTP/1.1" 200 9 "-" '
    b'"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"'
)


def test_patterns_that_fit_nothing_are_no_success(silo_path: str, tmp_path: Path) -> None:
    def imported(name: str, lines: list[bytes]) -> tuple[int, str]:
        log = write(tmp_path / name, lines)
        asked = ["usage", "import", silo_path, log]
        done = CliRunner().invoke(silo_command, asked, standalone_mode=False)
        return done.return_value, done.output

    code, output = imported("wrong.log", [_ASSET])
    assert code == ExitCode.LOSSES
    assert "No pattern fits any path" in output
    use = _ASSET.replace(b"/style.css", b"/7/")
    assert imported("mended.log", [_ASSET, use])[0] == ExitCode.OK
    # A quiet night, in a Silo whose patterns have fitted; then a day on which none fits any more.
    assert imported("night.log", [_ASSET.replace(b"10:00:01", b"11:00:01")])[0] == ExitCode.OK
    changed = [_ASSET.replace(b"style", b"%d" % number) for number in range(1000)]
    assert imported("changed.log", changed)[0] == ExitCode.LOSSES


def test_settings_at_the_root_of_the_silo_are_refused_with_their_place(
    silo_path: str, tmp_path: Path
) -> None:
    log = write(tmp_path / "access.log", [_ASSET])
    misplaced, right = Path(silo_path, "usage.toml"), Path(settings_path(silo_path))
    misplaced.write_text("profile = 'ojs'\n")
    asked = ["usage", "import", silo_path, log]
    done = CliRunner().invoke(silo_command, asked)
    assert done.exit_code == ExitCode.USAGE
    assert f"{misplaced}: it is not read here" in done.output
    assert "move what is missing" in done.output
    right.unlink()
    done = CliRunner().invoke(silo_command, asked)
    assert done.exit_code == ExitCode.USAGE
    assert f"move it to {right}" in done.output
    assert not right.exists()
    misplaced.rename(right)
    done = CliRunner().invoke(silo_command, asked, standalone_mode=False)
    assert done.return_value == ExitCode.LOSSES


def test_double_clicks_over_midnight_in_any_order(
    new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    agent = "Firefox/140.0"
    times = ("12/Oct/2026:23:59:20", "12/Oct/2026:23:59:45", "13/Oct/2026:00:00:10",
             "13/Oct/2026:00:00:29", "13/Oct/2026:00:01:10")  # fmt: skip
    lines = [
        f'203.0.113.7 - - [{one} +0000] "GET /3002/ HTTP/1.1" 200 9 "-" "{agent}"'.encode()
        for one in times
    ]
    truth = truth_of(lines)
    assert truth.figures["2026-10-12", "3002", False][0] == 0
    assert truth.figures["2026-10-13", "3002", False][0] == 2
    silo = new_silo("")
    for number, line in enumerate(reversed(lines)):
        import_logs(silo, ImportRequest([write(tmp_path / f"{number}.log", [line])]))
    check(silo, truth)


@pytest.mark.long
def test_many_days_are_written_and_counted_some_at_a_time(
    silo_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the cost grows with the square of the days, and with it the memory."""
    given: list[int] = []
    files: list[int] = []
    table, run = Engine.table, Engine.run

    def watched_table(self: Engine, name: str, columns: Any) -> None:
        if name == "given":
            given.append(len(np.unique(columns["day"])))
        table(self, name, columns)

    def watched_run(self: Engine, step: str, **values: Any) -> Engine:
        if step == "events":
            files.append(len(values["files"]))
        return run(self, step, **values)

    monkeypatch.setattr(Engine, "table", watched_table)
    monkeypatch.setattr(Engine, "run", watched_run)
    monkeypatch.setattr(events, "_DAYS", 3)
    monkeypatch.setattr(counting, "DAYS_AT_ONCE", 4)
    lines = [
        re.sub(rb"\[../.../", b"[%02d/May/" % (number % 25 + 1), line, count=1)
        for number, line in enumerate(made_up_log(500))
    ]
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    check(silo_path, truth_of(lines))
    assert len(counts_of(silo_path).figures) > 50
    assert max(given) == 3
    assert max(files) == 5


def test_several_processes_and_small_blocks(
    new_silo: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BLOCK", 20_000)
    lines = made_up_log(600, seed=4)
    silo = new_silo("")
    receipt = import_logs(silo, ImportRequest([write(tmp_path / "a.log.gz", lines)]))
    balances(receipt)
    check(silo, truth_of(lines))


@pytest.mark.long
def test_several_processes(
    new_silo: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BLOCK", 100_000)
    lines = made_up_log(3000, seed=5)
    silo = new_silo("")
    receipt = import_logs(silo, ImportRequest([write(tmp_path / "a.log", lines)], processes=2))
    balances(receipt)
    check(silo, truth_of(lines))


RULES = Rules(UsageSettings(profile="eprints"))


def both_ways(data: bytes, name: str) -> None:
    """A block gives what its lines give one by one."""
    reader = reader_of(name)
    sorter = BlockClassifier(RULES)
    done, events = sorter.sort(Block(0, len(data), data), reader)
    sorter.close()
    lines = Block(0, len(data), data).split()
    assert done.lines == len(lines)
    expected = [classify(line, reader, RULES) for line in lines]
    fates = {key: number for key, number in done.fates.items() if number}
    assert sum(fates.values()) == len(lines)
    for one in expected:
        fates[one.fate, one.reason] -= 1
    assert not any(fates.values())
    found = sorted(
        (
            moment,
            events.items[item],
            KINDS[kind],
            *events.clients[client],
            events.agents[agent],
            bool(machine),
        )
        for moment, item, kind, client, agent, machine in zip(
            events.moment,
            events.item,
            events.kind,
            events.client,
            events.agent,
            events.machine,
            strict=True,
        )
    )
    assert found == sorted(
        (one.hit.moment, one.use.item, one.use.kind, one.hit.address, one.hit.user, one.hit.agent,
         one.machine)
        for one in expected if one.hit is not None and one.use is not None
    )  # fmt: skip


GOOD = b'203.0.113.7 - - [12/Oct/2026:10:00:01 +0000] "GET /3002/ HTTP/1.1" 200 9 "-" "Firefox/140"'


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(
    st.binary(max_size=60),
    st.sampled_from(made_up_log(50, seed=9)),
    st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)).map(
        lambda one: GOOD[: one[0]] + bytes([one[1]]) + GOOD[one[0] + 1 :]
    ),
    st.integers(0, len(GOOD)).map(lambda cut: GOOD[:cut] + GOOD[cut + 1 :]),
), min_size=1, max_size=8), st.sampled_from(["combined", "common", "vhost_combined"]))  # fmt: skip
def test_a_block_of_any_bytes_gives_what_its_lines_give(lines: list[bytes], name: str) -> None:
    both_ways(b"\n".join(lines) + b"\n", name)


@pytest.mark.parametrize("name", ["combined", "common", "vhost_combined"])
def test_a_block_of_damaged_lines_gives_what_its_lines_give(name: str) -> None:
    line = {"combined": GOOD, "common": GOOD.partition(b' "-"')[0]}.get(name, b"a:1 " + GOOD)
    damaged = [
        line[:place] + bytes([one]) + line[place + 1 :]
        for place in range(len(line))
        for one in range(256)
    ]
    both_ways(b"\n".join(damaged), name)


@pytest.mark.parametrize("time", ["31/Dec/9999:23:59:59 +0000", "31/Dec/9999:23:59:59 -9959"])
def test_a_line_of_a_far_year_is_unreadable_and_stops_no_import(
    time: str, new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    far = GOOD.replace(b"12/Oct/2026:10:00:01 +0000", time.encode())
    both_ways(b"\n".join((GOOD, far)), "combined")
    silo = new_silo('\ntimezone = "Pacific/Apia"\n')
    receipt = import_logs(silo, ImportRequest([write(tmp_path / "a.log", [far, GOOD])]))
    assert (receipt.number(Fate.UNREADABLE), receipt.number(Fate.COUNTED)) == (1, 1)


def test_a_block_of_a_log_gives_what_its_lines_give() -> None:
    lines = made_up_log(2000, seed=3)
    both_ways(b"\n".join(lines), "combined")
    both_ways(b"\n".join(b"example.org:443 " + line for line in lines), "vhost_combined")
    both_ways(b"\n".join(line.partition(b' "-"')[0] for line in lines), "common")


@pytest.mark.parametrize("with_country", [False, True])
def test_no_address_is_stored(
    new_silo: Callable[[str], str], tmp_path: Path, *, with_country: bool
) -> None:
    lines = made_up_log(400)
    geoip = tmp_path / "geoip"
    geoip.write_text("3405803776,3405804031,GB\n")
    silo = new_silo(f'\ncountries = "{geoip}"\n' if with_country else "")
    receipt = import_logs(silo, ImportRequest([write(tmp_path / "a.log", lines)]))
    assert receipt.number(Fate.UNREADABLE)
    kept = list(Path(silo, "usage", "unreadable").iterdir())
    assert len(kept) == 1
    for path in Path(silo).rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert b"203.0.113." not in content, path
            assert b"2001:db8:" not in content, path
    with sqlite3.connect(f"{silo}/usage/counts.sqlite") as connection:
        codes = {code for (code,) in connection.execute("SELECT country FROM day_country")}
    connection.close()
    assert codes == ({"GB", "XX"} if with_country else set())


def test_no_name_of_an_unreadable_line_is_stored(silo_path: str, tmp_path: Path) -> None:
    lines = [
        b"203.0.113.7 - alice " + GOOD.partition(b" - - ")[2],
        b"host.example.org - b " + GOOD.partition(b" - - ")[2],
    ]
    broken = [line.replace(b"12/Oct", b"32/Oct") for line in lines]
    receipt = import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", [GOOD, *broken])]))
    assert receipt.number(Fate.UNREADABLE) == 2
    [kept] = Path(silo_path, "usage", "unreadable").iterdir()
    assert re.findall(rb"(?m)^\[\w{16}\] - \[\w{16}\] \[32/Oct", kept.read_bytes()) != []
    assert not re.search(rb"alice|example|203\.0| b ", kept.read_bytes())


def test_an_unreadable_line_is_kept_without_control_characters(
    silo_path: str, tmp_path: Path
) -> None:
    line = b"\x1b]0;owned\x07 [2J \xc2\x9b\x7f \xc3\xa9\t\xff"
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", [GOOD, line])]))
    [kept] = Path(silo_path, "usage", "unreadable").iterdir()
    assert kept.read_bytes().endswith(rb" [2J \xc2\x9b\x7f " + b"\xc3\xa9\t\xff\n")
    assert b"\x1b" not in kept.read_bytes()


def test_an_import_reads_the_records_that_are_new(silo_path: str, tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", made_up_log(50))
    import_logs(silo_path, ImportRequest([log]))
    with UsageCounts(silo_path) as counts:
        used = {name for (name,) in counts.rows("SELECT name FROM item")}
    with sqlite3.connect(catalogue_path(silo_path)) as connection:
        assert {name for (name,) in connection.execute("SELECT name FROM record")} == used
    connection.close()
