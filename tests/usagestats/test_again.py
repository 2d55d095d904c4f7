"""Logs that are read again replace what they gave, however they had been imported."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_log import made_up_log
from test_importing import write
from usage_oracle import truth_of
from usage_silo import counts_of

from usagestats import counting
from usagestats.importing import importing
from usagestats.importing.importing import ImportRequest, import_logs

PATTERN = "\n[[pattern]]\npath = '^/(?P<id>\\d*{digit})/?$'\nrecord = 'x{{id}}'\nkind = 'other'\n"
"""Changes the kind and the record of some pages."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make many blocks and files, so that the files of a day are put into one."""
    monkeypatch.setattr(importing, "BLOCK", 7_000)
    monkeypatch.setattr(counting, "MOST_FILES", 2)


def change(silo: str, digit: int) -> None:
    with open(f"{silo}/usage/usage.toml", "a") as file:
        file.write(PATTERN.format(digit=digit))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("suffix", ["log", pytest.param("log.gz", marks=pytest.mark.long)])
@pytest.mark.long
def test_what_a_log_gave_is_replaced(
    suffix: str, new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    lines = made_up_log(250, seed=8)
    silo, truth, before = new_silo(""), new_silo(""), new_silo("")
    for end in (5, 40, 90, 91, 160):  # as it grew
        import_logs(silo, ImportRequest([write(tmp_path / "grows.log", lines[:end])]))
    other = write(tmp_path / f"other.{suffix}", lines[160:])
    import_logs(silo, ImportRequest([other]))
    whole = write(tmp_path / f"whole.{suffix}", lines)
    import_logs(before, ImportRequest([whole]))
    assert counts_of(silo) == counts_of(before)
    for one in (silo, truth):
        change(one, 2)
    import_logs(truth, ImportRequest([whole]))
    assert import_logs(silo, ImportRequest([whole])).known == len(lines)
    assert counts_of(silo) == counts_of(before)
    assert import_logs(silo, ImportRequest([whole], again=True)).kept == []
    assert counts_of(silo) == counts_of(truth) != counts_of(before)
    with sqlite3.connect(f"{silo}/usage/ledger.sqlite") as ledger:
        days = ledger.execute("SELECT max(n) FROM (SELECT count(*) n FROM event_file GROUP BY day)")
        assert days.fetchone()[0] <= 4
    ledger.close()
    # Now it knows this log by other blocks.
    assert import_logs(silo, ImportRequest([whole])).lines == 0


@pytest.mark.usefixtures("small")
def test_what_other_logs_gave_stays_and_is_told(silo_path: str, tmp_path: Path) -> None:
    lines = made_up_log(150, seed=8)
    first, second = write(tmp_path / "a.log", lines[:80]), write(tmp_path / "b.log", lines[80:])
    import_logs(silo_path, ImportRequest([first, second]))
    before = counts_of(silo_path)
    again = import_logs(silo_path, ImportRequest([first], again=True))
    assert again.kept
    assert "also have uses from other logs" in again.text()
    assert counts_of(silo_path) == before
    assert import_logs(silo_path, ImportRequest([second, first], again=True)).kept == []
    assert counts_of(silo_path) == before


@pytest.mark.usefixtures("small")
def test_lost_events_come_back_when_their_log_is_read_again(silo_path: str, tmp_path: Path) -> None:
    lines = made_up_log(200, seed=8)
    log = write(tmp_path / "a.log", lines[:170])
    import_logs(silo_path, ImportRequest([log]))
    for path in list(Path(silo_path, "usage", "events").rglob("*.parquet"))[::2]:
        path.unlink()
    assert import_logs(silo_path, ImportRequest([write(tmp_path / "b.log", lines[170:])])).failed
    assert not import_logs(silo_path, ImportRequest([log], again=True)).failed
    assert counts_of(silo_path).figures == truth_of(lines).figures
