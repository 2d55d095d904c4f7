"""Days are frozen, late lines are named, a client is forgotten, and the commands say so."""

import json
import shutil
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from made_up_log import made_up_log
from test_importing import write
from usage_oracle import truth_of
from usage_silo import counts_of

from recordsilo import Silo
from recordsilo.cli import silo_command
from usagestats.errors import PartMissing
from usagestats.importing import freezing, importing
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.sample import import_sample
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.paths import catalogue_path, counts_path
from usagestats.values import Fate

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


CREATOR = b"""<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:creator>?</dc:creator></oai_dc:dc>"""


def line(day: str, address: str = "203.0.113.7", item: int = 3002) -> bytes:
    request = f"GET /{item}/ HTTP/1.1"
    return f'{address} - - [{day}:10:00:00 +0000] "{request}" 200 9 "-" "{AGENT}"'.encode()


def run(*arguments: str, code: int = 0) -> Result:
    done = CliRunner().invoke(silo_command, ["usage", *arguments], standalone_mode=False)
    told = done.return_value if isinstance(done.return_value, int) else 0
    assert (getattr(done.exception, "exit_code", 99) if done.exception else told) == code, done
    return done


def test_old_days_are_frozen_and_late_lines_are_named(silo_path: str, tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [line("01/Jan/2026"), line("10/Oct/2026")])
    january, april = datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 4, 20, tzinfo=UTC)
    assert import_logs(silo_path, ImportRequest([log]), now=january).frozen == []
    before = counts_of(silo_path).figures
    assert import_logs(silo_path, ImportRequest([log]), now=april).frozen == ["2026-01-01"]
    assert not Path(silo_path, "usage", "keys", "2026-01-01").exists()
    assert not Path(silo_path, "usage", "events", "2026-01-01").exists()
    assert counts_of(silo_path).figures == before
    late = write(tmp_path / "b.log", [line("01/Jan/2026", item=3003), line("11/Oct/2026")])
    receipt = import_logs(silo_path, ImportRequest([late]), now=april)
    assert dict(receipt.late) == {"2026-01-01": 1}
    assert not receipt.whole
    assert "came too late" in receipt.text()
    assert (receipt.number(Fate.COUNTED), receipt.number(Fate.OTHER), receipt.lines) == (1, 1, 2)
    assert set(counts_of(silo_path).figures) == {*before, ("2026-10-11", "3002", False)}


def test_freezing_keeps_all_counts(silo_path: str, tmp_path: Path) -> None:
    lines, now = made_up_log(300), datetime(2026, 11, 1, tzinfo=UTC)
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]), now=now)
    assert "Frozen: " in run("freeze", silo_path, "--before", "2027-01").output
    assert counts_of(silo_path).figures == truth_of(lines).figures
    assert not list(Path(silo_path, "usage", "keys").iterdir())
    assert "No day" in run("freeze", silo_path).output


@pytest.mark.parametrize("text", ["", "nonsense", "me@example.org", "203.0.113", "a b", "-"])
def test_what_is_no_address_is_refused(silo_path: str, text: str) -> None:
    assert run("forget", "--yes", silo_path, "--", text, code=2).stdout == ""


@pytest.mark.parametrize("text", ["2001:db8::1", "::1", "pc17.example.org", "203.0.113.7"])
def test_addresses_and_names_of_hosts_may_be_forgotten(silo_path: str, text: str) -> None:
    assert run("forget", "--yes", silo_path, text).stdout.startswith("Nothing was removed: ")


@pytest.mark.parametrize("command", ["totals", "top"])
def test_figures_of_the_future_are_refused(silo_path: str, tmp_path: Path, command: str) -> None:
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", [line("10/Oct/2026")])]))
    refused = run(command, silo_path, "--from", "2999-01", code=2)
    assert "2999-01 has not begun" in str(refused.exception)
    run(command, silo_path, "--from", "2026-01", "--until", "2999-01")


def test_a_client_is_forgotten(silo_path: str, tmp_path: Path) -> None:
    lines = made_up_log(300)
    address = "203.0.113.4"
    nothing = run("forget", "--yes", silo_path, address).output
    assert nothing.startswith("Nothing was removed: ")
    assert "Removed" not in nothing
    assert "as it is in the log" in nothing
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    run("forget", "--yes", silo_path, address)
    left = [one for one in lines if not one.startswith(address.encode() + b" ")]
    assert len(left) < len(lines)
    assert counts_of(silo_path).figures == truth_of(left).figures


def test_a_client_is_forgotten_although_the_command_was_killed(
    silo_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, address = made_up_log(300), "203.0.113.4"
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    Path(silo_path, "usage", "events", "a file of somebody's").touch()
    with monkeypatch.context() as killed:
        killed.setattr(freezing, "_forget_elsewhere", lambda *_: sys.exit(9))
        run("forget", "--yes", silo_path, address, code=99)
    run("forget", "--yes", silo_path, address)
    left = [one for one in lines if not one.startswith(address.encode() + b" ")]
    assert counts_of(silo_path).figures == truth_of(left).figures
    assert not import_logs(silo_path, ImportRequest([write(tmp_path / "b.log", [])])).failed


def test_totals_are_those_of_the_oracle(silo_path: str, tmp_path: Path) -> None:
    lines = made_up_log(300)
    run("import", silo_path, write(tmp_path / "a.log", lines), code=1)
    truth = truth_of(lines).figures
    for machine, option in ((False, ()), (True, ("--machine",))):
        known = json.loads(run("totals", silo_path, "--json", *option).stdout)
        rows = [figures for (_, _, is_machine), figures in truth.items() if is_machine is machine]
        names = (
            "total_item_investigations", "total_item_requests", "unique_item_investigations",
            "unique_item_requests", "others", "views_2010", "downloads_2010", "others_2010",
            "visitors",
        )  # fmt: skip
        assert [known[name] for name in names] == [
            sum(column) for column in zip(*rows, strict=True)
        ]
        assert known["robots_list"].startswith("COUNTER list ")
    assert "2025-12-30 to 2026-10-26" in run("totals", silo_path).stdout
    assert run("totals", silo_path, "--from", "2030", code=2).exception is not None


def test_a_log_in_no_format_is_refused(silo_path: str, tmp_path: Path) -> None:
    log = write(tmp_path / "a.log", [b"nonsense", b"more nonsense"])
    assert "in no known log format" in run("import", silo_path, log, code=2).stderr
    assert run("import", silo_path, log, "--format", "combined", code=1).output
    kept = next(Path(silo_path, "usage", "unreadable").iterdir()).read_text()
    assert kept == "nonsense\nmore nonsense\n"


def test_a_broken_file_is_named_and_the_others_are_imported(silo_path: str, tmp_path: Path) -> None:
    good = write(tmp_path / "good.log", [line("01/Jan/2026")])
    truncated, missing = tmp_path / "truncated.gz", str(tmp_path / "missing.log")
    write(truncated, made_up_log(300))
    truncated.write_bytes(truncated.read_bytes()[:-20])
    other = write(tmp_path / "other.log", [line("02/Jan/2026")])
    done = run("import", silo_path, good, str(truncated), missing, other, code=1)
    assert "2  lines in 4 files" in done.stdout
    assert [one.split(" cannot be read: ")[0] for one in done.stderr.splitlines()] == [
        f"silo: {truncated}", f"silo: {missing}",
    ]  # fmt: skip
    assert {day for day, *_ in counts_of(silo_path).figures} == {"2026-01-01", "2026-01-02"}
    known = json.loads(run("import", silo_path, good, missing, "--json", code=1).stdout)
    assert (known["known"], len(known["failed"])) == (1, 1)


def test_without_patterns_a_profile_is_asked_for(silo_path: str, tmp_path: Path) -> None:
    Path(silo_path, "usage", "usage.toml").unlink()
    log = write(tmp_path / "a.log", [line("01/Jan/2026")])
    assert "--profile eprints | dspace6" in str(run("import", silo_path, log, code=2).exception)
    assert "1  counted: 1 view" in run("import", silo_path, log, "--profile", "eprints").stdout
    assert 'profile = "eprints"' in Path(silo_path, "usage", "usage.toml").read_text()


@pytest.mark.long
def test_the_sample_year_can_be_repeated(silo_path: str) -> None:
    first = import_sample(silo_path, today=date(2026, 11, 1), progress=lambda _name, _lines: None)
    counts = counts_of(silo_path)
    again = import_sample(silo_path, today=date(2026, 11, 9), progress=lambda _name, _lines: None)
    assert (again.lines, again.known) == (0, first.lines)
    assert counts_of(silo_path) == counts


@pytest.mark.parametrize("lost", ["ledger", "counts"])
def test_nothing_is_counted_without_the_ledger_or_the_counts(
    silo_path: str, tmp_path: Path, lost: str
) -> None:
    """Else the counts of a day would become those of its new lines, and frozen ones be lost."""
    days = [line("01/Jan/2026"), line("10/Oct/2026")]
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", days)]))
    run("freeze", silo_path, "--before", "2026-02")
    Path(silo_path, "usage", f"{lost}.sqlite").unlink()
    more = write(tmp_path / "b.log", [line("10/Oct/2026", "203.0.113.8")])
    with pytest.raises(PartMissing, match=f"{lost}.sqlite is missing or empty"):
        import_logs(silo_path, ImportRequest([more]))
    run("freeze", silo_path, "--before", "2026-11-01", code=0 if lost == "ledger" else 2)
    assert len(list(Path(silo_path, "usage", "events").rglob("*.parquet"))) == 1
    run("totals", silo_path, code=0 if lost == "ledger" else 2)


def test_days_whose_events_cannot_be_read_are_named_and_the_others_go_on(
    silo_path: str, tmp_path: Path
) -> None:
    days = [line(f"{one}/Oct/2026") for one in ("10", "12", "14", "16")]
    log, other = write(tmp_path / "a.log", days), "203.0.113.8"
    run("import", silo_path, log)
    damaged, missing = (
        next(Path(silo_path, "usage", "events", day).iterdir())
        for day in ("2026-10-12", "2026-10-14")
    )
    kept = damaged.read_bytes(), missing.read_bytes()
    damaged.write_bytes(kept[0][:-9])
    missing.unlink()
    more = [line(f"{one}/Oct/2026", other) for one in ("10", "12", "13", "16")]
    done = run("import", silo_path, write(tmp_path / "b.log", more), code=1)
    assert (
        f"events are missing or damaged: {damaged} and 1 more. So 2026-10-12, 2026-10-13 cannot "
        in done.stderr
    )
    assert "Counted: 2 days, 2026-10-10 to 2026-10-16" in done.stdout
    assert "Removed: 4 events of 4 days" in run("forget", "--yes", silo_path, other, code=1).stdout
    frozen = run("freeze", silo_path, "--before", "2026-10-13", code=1)
    assert "Frozen: 1 day, 2026-10-10" in frozen.stdout
    assert str(damaged) in frozen.stderr
    for command in (["totals"], ["top"], ["show", "3002"], ["report", "IR"]):
        said = run(command[0], silo_path, *command[1:], code=1).stderr
        assert f"2 days are not counted yet; silo usage import {silo_path} " in said
    damaged.write_bytes(kept[0])
    missing.write_bytes(kept[1])
    run("import", silo_path)
    assert counts_of(silo_path).figures == truth_of(days).figures


def test_without_the_keys_of_days_no_line_is_read(silo_path: str, tmp_path: Path) -> None:
    """Their visitors would be others, and count twice."""
    log = write(tmp_path / "a.log", [line("01/Jan/2026"), line("10/Oct/2026")])
    run("import", silo_path, log)
    before = counts_of(silo_path)
    shutil.rmtree(f"{silo_path}/usage/keys")
    Path(silo_path, "usage", "secret").unlink()
    for command in (
        ["import", silo_path, log, "--again"],
        ["forget", "--yes", silo_path, "203.0.113.7"],
    ):
        told = str(run(*command, code=2).exception)
        assert "2026-01-01, 2026-10-10. Restore" in told
        assert told.endswith(f"silo usage freeze {silo_path} --before 2026-10-11")
    run("freeze", silo_path, "--before", "2026-10-11")
    run("import", silo_path, write(tmp_path / "b.log", [line("11/Oct/2026")]))
    assert {day for day, *_ in counts_of(silo_path).figures} > {d for d, *_ in before.figures}


def test_lost_counts_are_made_again_and_no_zeros_are_told(silo_path: str, tmp_path: Path) -> None:
    lines = made_up_log(300)
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    Path(silo_path, "usage", "counts.sqlite").unlink()
    for command in (["totals"], ["top"], ["show", "3002"], ["report", "IR"]):
        done = run(command[0], silo_path, *command[1:], code=2)
        assert "counts.sqlite is missing or empty; silo usage import" in str(done.exception)
    assert "0  lines in 0 files" in run("import", silo_path).stdout
    assert counts_of(silo_path).figures == truth_of(lines).figures
    assert "name a LOG" in str(run("import", silo_path, code=2).exception)


@pytest.mark.parametrize("is_frozen", [False, True])
def test_usage_of_a_record_that_is_removed_for_good_goes_with_it(
    silo_path: str, tmp_path: Path, *, is_frozen: bool
) -> None:
    with Silo(silo_path) as silo:
        for number in (3002, 3003):
            silo.get_item(f"oai:example.org:{number}").sync()
    lines = [line("10/Oct/2026", f"203.0.113.{n}", 3002 + n % 2) for n in range(6)]
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    alone = [one for one in lines if b"/3003/" in one]
    if is_frozen:
        run("freeze", silo_path, "--before", "2027-01")
    with Silo(silo_path) as silo:
        silo.del_item("oai:example.org:3002", remember=True)
    assert {key[1] for key in counts_of(silo_path).figures} == {"oai:example.org:3003"}
    with UsageCounts(silo_path) as counts:
        assert counts.totals(Period()).total_investigations == len(alone)
        assert counts.rows("SELECT name FROM item") == [("oai:example.org:3003",)]
        assert sum(one.total_investigations for _, one in counts.days(Period())) == len(alone)
    assert b"3002" not in b"".join(
        path.read_bytes() for path in Path(silo_path, "usage").rglob("*.sqlite") if path.is_file()
    )
    again = import_logs(silo_path, ImportRequest([write(tmp_path / "b.log", lines)]))
    assert again.number(Fate.COUNTED) == 0


def test_usage_that_was_not_counted_yet_goes_with_a_removed_record(
    silo_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Silo(silo_path) as silo:
        for number in (3002, 3003):
            silo.get_item(f"oai:example.org:{number}").sync()
    lines = [line("10/Oct/2026", f"203.0.113.{n}", 3002 + n % 2) for n in range(6)]
    log = write(tmp_path / "a.log", lines)

    def killed(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importing, "count", killed)
    with pytest.raises(KeyboardInterrupt):
        import_logs(silo_path, ImportRequest([log]))
    monkeypatch.undo()
    assert not Path(counts_path(silo_path)).exists()
    with Silo(silo_path) as silo:
        silo.del_item("oai:example.org:3002", remember=True)
    import_logs(silo_path, ImportRequest([log]))
    assert {key[1] for key in counts_of(silo_path).figures} == {"oai:example.org:3003"}


def test_a_record_without_usage_is_removed_without_making_any(tmp_path: Path) -> None:
    path = str(tmp_path / "plain")
    with Silo(path) as silo:
        silo.get_item("oai:example.org:1").sync()
        silo.del_item("oai:example.org:1", remember=True)
    assert not (tmp_path / "plain" / "usage").exists()


def test_names_in_a_record_leave_the_catalogue_with_it(silo_path: str, tmp_path: Path) -> None:
    def creators() -> list[str]:
        with closing(sqlite3.connect(catalogue_path(silo_path))) as connection:
            found = connection.execute("SELECT label FROM entity WHERE kind = 'creator'")
            return sorted(label for (label,) in found)

    with Silo(silo_path) as silo:
        for number, creator in ((3002, "Doe, Jane"), (3003, "Roe, Rita")):
            record = silo.get_item(f"oai:example.org:{number}")
            record.put_stream("oai_dc", CREATOR.replace(b"?", creator.encode()), metadata=True)
            record.sync()
    lines = [line("10/Oct/2026", f"203.0.113.{n}", 3002 + n % 2) for n in range(6)]
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    assert creators() == ["Doe, Jane", "Roe, Rita"]
    with Silo(silo_path) as silo:
        silo.del_item("oai:example.org:3002", remember=True)
    assert creators() == ["Roe, Rita"]
