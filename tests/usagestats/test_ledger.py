"""The ledger, the keys, the journal and the events of a Silo, each by what it promises."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from day_items import DayItem, replace_day
from hypothesis import given
from hypothesis import strategies as st
from made_up_log import made_up_log
from test_importing import GOOD, write
from usage_silo import counts_of

from recordsilo.cli import silo_command
from recordsilo.disk.atomic_file import StrictBarrier
from silosteps.engine import Engine
from usagestats import counting
from usagestats.counting import CountedUses, count
from usagestats.errors import (
    CountsLost,
    EventsUnreadable,
    KeysMissing,
    NothingImported,
    ZoneChanged,
)
from usagestats.importing import importing
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.store import keys as keys_room
from usagestats.store.consistency import check_imported, check_ledger
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.events import (
    can_be_read,
    day_number,
    day_text,
    engine,
    event_path,
    remove_unnamed,
    rewrite_without,
    unreadable_files,
    write_events,
)
from usagestats.store.journal import UsageJournal
from usagestats.store.keys import Keys, client_text, token
from usagestats.store.ledger import HINT, ImportedBlock, Mark, UsageLedger, hint_of
from usagestats.store.paths import events_path, key_path, ledger_path, place, secret_path
from usagestats.values import Figures

DAY, NEXT = "2026-10-12", "2026-10-13"


@pytest.fixture
def ledger(silo_path: str) -> Iterator[UsageLedger]:
    with UsageLedger(silo_path) as found:
        yield found


def mark_of(data: bytes, lines: int = 1) -> tuple[bytes, Mark]:
    return hint_of(data), Mark(len(data), hashlib.sha256(data).digest(), lines, "combined")


def added(
    ledger: UsageLedger, data: bytes, files: dict[str, tuple[str, int]], on: str = DAY
) -> tuple[bytes, Mark]:
    """Add a block; its hint and its mark."""
    hint, mark = mark_of(data)
    ledger.add("1", on, ImportedBlock(hint, mark, files), {"counted": 1})
    return hint, mark


# --------------------------------------------------------------------------- marks


def test_a_short_file_is_known_as_the_beginning_of_a_longer_one(ledger: UsageLedger) -> None:
    short, longer = b"a" * 100, b"a" * 100 + b"b" * HINT
    _, mark = added(ledger, short, {})
    assert ledger.marks(short) == ledger.marks(longer[:HINT]) == [mark]
    assert ledger.marks(b"a" * 99) == []
    assert ledger.marks(b"b" + short) == []


def test_the_longest_mark_of_a_file_comes_first(ledger: UsageLedger) -> None:
    data = bytes(range(256)) * 20
    marks = [added(ledger, data[:length], {})[1] for length in (100, HINT, 5000, 2000)]
    found = ledger.marks(data[:HINT])
    assert [one.length for one in found] == [5000, 2000, HINT, 100]
    assert set(found) == set(marks)
    assert ledger.marks(b"\xff" + data[1:HINT]) == []


# --------------------------------------------------------------------------- blocks and days


def test_a_day_is_stale_until_it_was_counted_from_all_its_files(ledger: UsageLedger) -> None:
    added(ledger, b"one", {DAY: ("f1", 3), NEXT: ("f2", 1)})
    assert ledger.stale() == ledger.days() == ledger.days_with_events() == [DAY, NEXT]
    ledger.counted({DAY: {"f1"}, NEXT: {"f0"}})
    assert ledger.stale() == [NEXT]
    added(ledger, b"two", {DAY: ("f3", 2)})
    assert ledger.files(DAY) == [("f1", 3), ("f3", 2)]
    ledger.counted({DAY: {"f1"}})  # another import was faster
    assert ledger.stale() == [DAY, NEXT]
    ledger.counted({DAY: {"f1", "f3"}})
    assert ledger.stale() == [NEXT]
    ledger.set_stale([DAY, "2000-01-01"])
    assert ledger.stale() == [DAY, NEXT]
    assert ledger.all_files() == {(DAY, "f1"), (DAY, "f3"), (NEXT, "f2")}


def test_the_day_before_is_counted_again_only_if_it_is_known(ledger: UsageLedger) -> None:
    added(ledger, b"one", {DAY: ("f1", 3)})
    ledger.counted({DAY: {"f1"}})
    hint, mark = mark_of(b"two")
    ledger.add("1", DAY, ImportedBlock(hint, mark, {NEXT: ("f2", 1)}, [DAY, "2026-10-11"]), {})
    assert ledger.stale() == [DAY, NEXT]
    assert ledger.days() == [DAY, NEXT]


def test_what_a_block_gave_is_replaced_unless_another_gave_it_too(ledger: UsageLedger) -> None:
    first = added(ledger, b"one", {DAY: ("f1", 3), NEXT: ("f2", 1)})
    added(ledger, b"other", {DAY: ("f1", 3)})
    ledger.counted({DAY: {"f1"}, NEXT: {"f2"}})
    hint, mark = mark_of(b"again")
    ledger.add("2", DAY, ImportedBlock(hint, mark, {DAY: ("f3", 2)}, replaced=[first]), {})
    assert ledger.files(DAY) == [("f1", 3), ("f3", 2)]
    assert ledger.files(NEXT) == []
    assert ledger.stale() == [DAY, NEXT]


def test_files_are_together_that_are_from_the_same_logs(ledger: UsageLedger) -> None:
    log, other = b"log" * 500, b"other" * 500
    added(ledger, log[:1100], {DAY: ("f1", 1)})
    added(ledger, log[:1200], {DAY: ("f2", 1)})
    added(ledger, other, {DAY: ("f3", 1)})
    ledger.add("1", DAY, ImportedBlock(b"", None, {DAY: ("live", 1)}), {})
    assert sorted(ledger.files_by_source(DAY)) == [["f1", "f2"], ["f3"], ["live"]]
    ledger.replace_files(DAY, "f12", 2, ["f1", "f2"])
    assert sorted(ledger.files_by_source(DAY)) == [["f12"], ["f3"], ["live"]]
    ledger.replace_files(DAY, "", 0, ["f12"])
    assert sorted(ledger.files_by_source(DAY)) == [["f3"], ["live"]]


def test_fewer_events_make_a_day_and_the_one_before_it_stale(ledger: UsageLedger) -> None:
    added(ledger, b"one", {DAY: ("f1", 3), NEXT: ("f2", 1)})
    counted = {DAY: {"f1"}, NEXT: {"f2"}}
    ledger.counted(counted)
    ledger.replace_files(NEXT, "f4", 1, ["f2"])
    assert ledger.stale() == []
    ledger.replace_files(NEXT, "f5", 0, ["f4"], fewer=True)
    assert ledger.stale() == [DAY, NEXT]


def test_days_are_frozen_by_their_date_and_by_when_they_came(ledger: UsageLedger) -> None:
    added(ledger, b"one", {DAY: ("f1", 3)}, on=DAY)
    added(ledger, b"two", {"2026-01-01": ("f2", 1)}, on="2026-12-24")
    assert ledger.to_freeze("2026-12-01") == [DAY]
    assert ledger.not_frozen("2026-12-01") == ["2026-01-01", DAY]
    assert ledger.not_frozen(DAY) == ["2026-01-01"]
    ledger.freeze([DAY])
    assert (ledger.frozen(), ledger.files(DAY), ledger.stale()) == ({DAY}, [], ["2026-01-01"])
    ledger.set_stale([DAY])
    assert ledger.stale() == ["2026-01-01"]
    assert ledger.to_freeze("2027-01-01") == ["2026-01-01"]


def test_late_lines_and_receipts_are_added_up_and_kept(ledger: UsageLedger) -> None:
    assert not ledger.has_counted()
    for one, late in (("1", {DAY: 2}), ("1", {DAY: 1, NEXT: 5}), ("2", {DAY: 4})):
        ledger.add(one, DAY, ImportedBlock(b"", None, late=late), {"counted": 0, "of": one})
    assert ledger.late() == {DAY: 7, NEXT: 5}
    assert not ledger.has_counted()
    ledger.end("2", {"counted": 3})
    assert ledger.receipts() == [("2", {"counted": 3}), ("1", {"counted": 0, "of": "1"})]
    assert ledger.has_counted()


def test_what_is_fixed_at_first_stays(ledger: UsageLedger, silo_path: str) -> None:
    assert ledger.fixed("timezone", "UTC") == "UTC"
    with UsageLedger(silo_path) as other:
        assert other.fixed("timezone", "Europe/London") == "UTC"
        assert other.fixed("sample", "x") == "x"


def test_without_a_ledger_nothing_is_known_and_nothing_is_made(silo_path: str) -> None:
    with UsageLedger(silo_path, "read") as found:
        assert (found.days(), found.receipts(), found.marks(b"x")) == ([], [], [])
    assert not os.path.exists(ledger_path(silo_path))


# --------------------------------------------------------------------------- consistency


def test_another_time_zone_is_refused_with_both_names(
    silo_path: str, new_silo: Callable[[str], str], tmp_path: Path
) -> None:
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", [GOOD])]))
    with open(place(silo_path, "usage.toml"), "a") as file:
        file.write('timezone = "Europe/London"\n')
    with pytest.raises(ZoneChanged, match=r"days in UTC, but usage\.toml has timezone = 'Europe/"):
        import_logs(silo_path, ImportRequest([]))
    with UsageLedger(silo_path) as ledger:
        check_ledger(silo_path, ledger, "UTC")
        check_ledger(silo_path, ledger)


def test_nothing_imported_is_not_nothing_counted(silo_path: str, tmp_path: Path) -> None:
    with pytest.raises(NothingImported, match="has no usage yet; silo usage import reads"):
        check_imported(silo_path)
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", [b""]) + ""],
                                         format="combined"))  # fmt: skip
    check_imported(silo_path)
    done = CliRunner().invoke(silo_command, ["usage", "totals", silo_path])
    assert (done.exit_code, "0  views and downloads" in done.output) == (0, True)


def test_errors_name_some_days_of_many() -> None:
    days = [f"2026-10-{one:02}" for one in range(10, 20)]
    five = "2026-10-10, 2026-10-11, 2026-10-12, 2026-10-13, 2026-10-14, …"
    assert f"are missing in /s/usage/keys: {five}. " in str(KeysMissing("/s", days, "x"))
    assert f"damaged: /a and 1,199 more. So {five} cannot" in str(
        EventsUnreadable(["/a"] * 1200, days)
    )
    assert "damaged: /a. So 2026-10-10 cannot" in str(EventsUnreadable(["/a"], days[:1]))
    assert "silo usage import /s makes it again" in str(CountsLost("/s/usage/counts", "/s"))
    assert CountedUses().problem == ""
    assert "So 2026-10-10 cannot" in CountedUses(left=days[:1], unreadable=["/a"]).problem


# --------------------------------------------------------------------------- keys


def test_every_process_gets_the_same_key(silo_path: str) -> None:
    found, start = set[bytes](), threading.Barrier(8)

    def ask() -> None:
        keys = Keys(silo_path)
        start.wait()
        found.add(keys.key(DAY))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 1
    assert sorted(os.listdir(place(silo_path, "keys"))) == [DAY]
    assert not [one for one in os.listdir(place(silo_path)) if one.endswith(".new")]
    for path in (secret_path(silo_path), key_path(silo_path, DAY)):
        assert os.stat(path).st_mode & 0o777 == 0o600
        assert os.path.getsize(path) == 32


def test_a_secret_that_another_process_makes_meanwhile_is_not_missing(
    silo_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = Keys.days

    def late(self: Keys) -> list[str]:
        monkeypatch.undo()
        Keys(silo_path).key(NEXT)
        return days(self)

    monkeypatch.setattr(Keys, "days", late)
    assert Keys(silo_path).key(DAY) == Keys(silo_path).key(DAY)


def test_a_key_that_another_process_makes_meanwhile_is_taken(
    silo_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Keys(silo_path).key(NEXT)
    made, write_new = list[bytes](), keys_room.write_new

    def late(*given: object) -> None:
        monkeypatch.undo()
        made.append(Keys(silo_path).key(DAY))
        write_new(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(keys_room, "write_new", late)
    assert Keys(silo_path).key(DAY) == made[0] == Keys(silo_path).key(DAY)


def test_the_salt_of_a_day_is_overwritten_before_it_is_removed(
    silo_path: str, tmp_path: Path
) -> None:
    keys = Keys(silo_path)
    before = keys.key(DAY)
    os.link(key_path(silo_path, DAY), tmp_path / "same file")
    keys.shred(DAY)
    keys.shred(DAY)  # as after a kill
    assert (tmp_path / "same file").read_bytes() == bytes(32)
    assert not keys.has_key(DAY)
    assert keys.key(DAY) != before


def test_keys_are_those_of_a_silo_and_a_day(silo_path: str, new_silo: Callable[[str], str]) -> None:
    other = Keys(new_silo(""))
    keys = Keys(silo_path)
    text = client_text("203.0.113.7")
    made = {token(one.key(day), text) for one in (keys, other) for day in (DAY, NEXT)}
    assert len(made) == 4
    assert keys.days() == [DAY, NEXT]
    keys.key(f"{DAY}-unreadable")
    assert (keys.days(), keys.has_key("2026-10-14")) == ([DAY, NEXT], False)


@pytest.mark.parametrize("path_of", [secret_path, lambda path: key_path(path, DAY)])
def test_a_damaged_key_is_named_and_no_other_is_made(
    silo_path: str, path_of: Callable[[str], str]
) -> None:
    Keys(silo_path).key(DAY)
    path = Path(path_of(silo_path))
    path.write_bytes(b"short")
    with pytest.raises(OSError, match=f"{path.name} is damaged; restore it from a backup"):
        Keys(silo_path).key(DAY)
    assert path.read_bytes() == b"short"


# --------------------------------------------------------------------------- the journal


@pytest.fixture
def journal(silo_path: str) -> Iterator[UsageJournal]:
    found = UsageJournal(silo_path)
    yield found
    found.close()


def test_a_position_is_noted_with_the_lines_before_it(journal: UsageJournal) -> None:
    assert journal.position("/a.log") is None
    journal.write({(DAY, "views"): [b"x"]}, ["1"], 1000, ("/a.log", [7, 20]))
    journal.write({}, [], 1000, ("/b.log", None))
    assert (journal.position("/a.log"), journal.position("/b.log")) == ([7, 20], None)
    journal.write({}, [], 1000, ("/a.log", [7, 30]))
    assert journal.position("/a.log") == [7, 30]


def test_entries_are_forgotten_when_they_are_acknowledged_or_old(journal: UsageJournal) -> None:
    journal.write({}, ["1", "2", ""], 1000)
    assert journal.known(["1", "2", "3", ""]) == {"1", "2"}
    journal.forget(["1", "9"])
    assert journal.known(["1", "2"]) == {"2"}
    week = 7 * 86_400
    journal.write({}, ["3"], 1000 + week)
    assert journal.known(["2", "3"]) == {"2", "3"}
    journal.write({}, ["4"], 1001 + week)
    assert journal.known(["2", "3", "4"]) == {"3", "4"}


def test_lines_with_a_mark_are_removed_from_the_logs_of_a_day(
    journal: UsageJournal, silo_path: str
) -> None:
    journal.write(
        {
            (DAY, "views"): [b"[aa] 1", b"[bb] 2", b"x [aa]"],
            (DAY, "bots"): [b"[bb]"],
            (NEXT, "views"): [b"[aa] 3"],
        },
        ["1"], 1000,
    )  # fmt: skip
    assert journal.remove(DAY, [b"[aa]", b"[cc]"]) == 2
    journal.write({(DAY, "views"): [b"new"]}, ["2"], 1000)
    logs = Path(place(silo_path, "logs"))
    assert (logs / DAY / "views.log").read_bytes() == b"[bb] 2\nnew\n"
    assert (logs / NEXT / "views.log").read_bytes() == b"[aa] 3\n"
    assert journal.lines() == {"views": 3, "bots": 1}
    (logs / DAY / "bots.log").unlink()
    assert journal.remove(DAY, [b"[bb]"]) == 1


# --------------------------------------------------------------------------- events


@pytest.fixture
def steps(silo_path: str) -> Iterator[Engine]:
    with engine(silo_path, threads=1) as found:
        yield found


def written(
    silo_path: str, steps: Engine, uses: list[tuple[str, str, int]], name: str = "f"
) -> dict[str, tuple[str, int]]:
    """Write events of a day, an item and a client each."""
    day, items, clients = zip(*uses, strict=True)
    names = list(dict.fromkeys(items))
    number, one = len(uses), np.ones(len(uses), np.int64)
    return write_events(
        silo_path, steps, name,
        {
            "day": np.array([day_number(text) for text in day], np.int32),
            "moment": np.arange(number), "hour": one.astype(np.uint8),
            "item": np.array([names.index(text) for text in items]),
            "kind": np.zeros(number, np.uint8), "path": one, "client": np.array(clients, np.int64),
            "visitor": one, "neighbour": one * 0, "machine": (one * 0).astype(np.bool_),
            "country": one * 0,
        },
        items=dict(enumerate(names)), countries=["GB"], barrier=StrictBarrier(),
    )  # fmt: skip


def read(silo_path: str, steps: Engine, day: str, name: str) -> list[tuple[str, int]]:
    steps.run("clients_of_day", files=[event_path(silo_path, day, name)])
    return sorted((item, client) for item, _, client, _ in steps.all())


def test_events_are_written_a_file_for_each_day(silo_path: str, steps: Engine) -> None:
    uses = [(DAY, "a", 1), (NEXT, "b", 2), (DAY, "ü\udc80", 3)]
    assert written(silo_path, steps, uses) == {DAY: ("f", 2), NEXT: ("f", 1)}
    assert written(silo_path, steps, uses) == {DAY: ("f", 2), NEXT: ("f", 1)}
    assert os.listdir(events_path(silo_path, DAY)) == ["f.parquet"]
    steps.run("items", files=[event_path(silo_path, DAY, "f")])
    assert sorted(steps.all()) == [("a",), ("ü\\udc80",)]
    assert written(silo_path, steps, [("1970-01-01", "a", 1)]) == {"1970-01-01": ("f", 1)}
    assert (day_number("1970-01-02"), day_text(-1), day_text(day_number(DAY))) == (
        1, "1969-12-31", DAY,
    )  # fmt: skip


def test_a_file_that_is_missing_or_damaged_is_found(
    silo_path: str, steps: Engine, ledger: UsageLedger
) -> None:
    for name in ("good", "gone", "cut"):
        added(ledger, name.encode(), written(silo_path, steps, [(DAY, "a", 1)] * 9, name))
    assert unreadable_files(silo_path, steps, ledger, [DAY, NEXT]) == {}
    paths = {name: Path(event_path(silo_path, DAY, name)) for name in ("gone", "cut")}
    paths["gone"].unlink()
    paths["cut"].write_bytes(paths["cut"].read_bytes()[:-3])
    assert unreadable_files(silo_path, steps, ledger, [DAY]) == {
        DAY: [str(paths["cut"]), str(paths["gone"])]
    }
    assert not can_be_read(steps, events_path(silo_path, DAY))


def test_events_of_a_client_or_a_record_are_left_out(
    silo_path: str, steps: Engine, ledger: UsageLedger
) -> None:
    uses = [(DAY, "a", 1), (DAY, "b", 2), (DAY, "c", 2)]
    for name, some in (("f", uses), ("other", [(DAY, "a", 3)]), ("damaged", uses)):
        added(ledger, name.encode(), written(silo_path, steps, some, name))
    ledger.counted({DAY: {"f", "other", "damaged"}})
    damaged = event_path(silo_path, DAY, "damaged")
    os.truncate(damaged, 10)

    def without(step: str, **values: object) -> tuple[int, list[str]]:
        return rewrite_without(silo_path, steps, ledger, DAY, step, **values)

    assert without("without_client", client=9) == (0, [damaged])
    assert ledger.stale() == []
    assert without("without_client", client=2) == (2, [damaged])
    assert ledger.stale() == [DAY]
    assert ledger.files(DAY) == [("damaged", 3), ("f-without", 1), ("other", 1)]
    assert read(silo_path, steps, DAY, "f-without") == [("a", 1)]
    assert without("without_items", items=["a", "x"]) == (2, [damaged])
    assert ledger.files(DAY) == [("damaged", 3)]
    assert os.listdir(events_path(silo_path, DAY)) == ["damaged.parquet"]


def test_files_that_no_import_named_are_removed_when_they_are_old(
    silo_path: str, steps: Engine, ledger: UsageLedger
) -> None:
    added(ledger, b"x", written(silo_path, steps, [(DAY, "a", 1)], "named"))
    for name, age in (("old", 100), ("young", 300), ("half.7.new", 100), ("named", 100)):
        path = Path(events_path(silo_path, DAY), f"{name}{'' if '.' in name else '.parquet'}")
        path.touch()
        os.utime(path, (age, age))
    remove_unnamed(silo_path, ledger, before=200)
    assert sorted(os.listdir(events_path(silo_path, DAY))) == ["named.parquet", "young.parquet"]


@pytest.mark.long
def test_many_files_of_one_log_become_one_and_count_the_same(
    silo_path: str, new_silo: Callable[[str], str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    lines = [GOOD.replace(b"3002", b"%d" % number) for number in range(3000, 3080)]
    monkeypatch.setattr(importing, "BLOCK", 200)
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    with UsageLedger(silo_path) as ledger:
        files = ledger.files(DAY)
        # Those of the first kilobyte, by which the log is not yet known, stay apart.
        assert len(files) < 10
        assert sum(events for _, events in files) == len(lines)
        assert len(os.listdir(events_path(silo_path, DAY))) == len(files)
        assert count(silo_path, ledger).days == []
    monkeypatch.setattr(counting, "MOST_FILES", 99)
    other = new_silo("")
    import_logs(other, ImportRequest([str(tmp_path / "a.log")]))
    with UsageLedger(other) as ledger:
        assert len(ledger.files(DAY)) > 30
    assert counts_of(other) == counts_of(silo_path)


def test_days_are_counted_in_groups_and_told(
    silo_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = made_up_log(200)
    import_logs(silo_path, ImportRequest([write(tmp_path / "a.log", lines)]))
    before, told = counts_of(silo_path), list[int]()
    monkeypatch.setattr(counting, "EVENTS_AT_ONCE", 30)
    with UsageLedger(silo_path) as ledger:
        ledger.set_stale(ledger.days())
        done = count(silo_path, ledger, told.append)
        assert done.days == ledger.days()
        assert ledger.stale() == []
    assert told[-1] == len(done.days)
    assert len(told) > 2
    assert counts_of(silo_path) == before


# --------------------------------------------------------------------------- counts

DAYS = st.sampled_from(["2026-09-30", "2026-10-01", "2026-10-02", "2026-11-01"])
USES = st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 5)), max_size=4)


@given(st.lists(st.one_of(st.tuples(DAYS, USES), st.sampled_from("abc")), max_size=8))
def test_whatever_days_are_replaced_and_records_removed_the_sums_agree(
    tmp_path_factory: pytest.TempPathFactory, changes: list[object]
) -> None:
    path = tmp_path_factory.mktemp("silo")
    (path / "usage").mkdir()
    model: dict[tuple[str, str, bool], int] = {}
    with UsageCounts(str(path), "create") as counts:
        for one in changes:
            with counts.changing() as change:
                if isinstance(one, str):
                    change.remove_items([one])
                    model = {key: number for key, number in model.items() if key[1] != one}
                    continue
                assert isinstance(one, tuple)
                day, uses = one
                rows = {(item, machine): number for item, machine, number in uses}
                model = {key: number for key, number in model.items() if key[0] != day}
                model |= {(day, *key): number for key, number in rows.items()}
                replace_day(change, day, [
                    DayItem(item, machine, figures(number), 0, 0,
                            (() if machine or not number else (("GB", number, 1),)))
                    for (item, machine), number in rows.items()
                ])  # fmt: skip
        for machine in (False, True):
            total = sum(number for key, number in model.items() if key[2] is machine)
            assert counts.totals(Period(), machine=machine).total_investigations == total
            for month in ("2026-09", "2026-10", "2026-11"):
                expected: dict[str, int] = {}
                for (day, item, is_machine), number in model.items():
                    if day[:7] == month and is_machine is machine and number:
                        expected[item] = expected.get(item, 0) + number
                found = counts.month_items(month, machine=machine)
                assert {item: one.total_investigations for item, one in found.items()} == expected
        people = sum(number for key, number in model.items() if not key[2])
        for table in ("day_country", "month_country", "day_site_country", "month_site_country"):
            rows_of = counts.rows(f"SELECT investigations FROM {table}")
            assert sum(number for (number,) in rows_of) == people
            assert all(number for (number,) in rows_of)


def figures(number: int) -> Figures:
    return Figures(number, 0, number, 0, 0, number, 0, 0, number)


def test_a_new_log_is_on_the_medium_with_its_name(
    journal: UsageJournal, silo_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed, fsync = list[str](), os.fsync

    def flush(file: int) -> None:
        flushed.append(os.path.relpath(os.readlink(f"/proc/self/fd/{file}"), silo_path))
        fsync(file)

    monkeypatch.setattr(os, "fsync", flush)
    log = f"usage/logs/{DAY}/views.log"
    journal.write({(DAY, "views"): [b"1"]}, ["1"], 1000)
    assert flushed.index(log) < len(flushed) - 1 - flushed[::-1].index(f"usage/logs/{DAY}")
    flushed.clear()
    journal.write({(DAY, "views"): [b"2"]}, ["2"], 1000)
    assert log in flushed
    assert f"usage/logs/{DAY}" not in flushed


def test_a_log_that_somebody_moved_away_begins_anew(journal: UsageJournal, silo_path: str) -> None:
    journal.write({(DAY, "views"): [b"1", b"2"]}, ["1"], 1000)
    log = Path(place(silo_path, "logs"), DAY, "views.log")
    log.unlink()
    journal.write({(DAY, "views"): [b"3"]}, ["2"], 1000)
    assert log.read_bytes() == b"3\n"
    log.write_bytes(log.read_bytes() + b"half a li")  # of a process that was killed
    journal.write({(DAY, "views"): [b"4"]}, ["3"], 1000)
    assert log.read_bytes() == b"3\n4\n"
