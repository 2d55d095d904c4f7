"""Records as files, with one table of all of them, for the importer of another repository.

out/
  bulkrax.csv  field_mappings.json      the table, and what the importer needs beside it
  files/oai+eprints.example.org+6102/   a record
    data/docs/licence.txt                 its files
    metadata/oai_dc  metadata/oai_dc.xml  its metadata, as in the Silo
    silo.json                             what the table says of it

A record is deposited as in any directory. The table is made from the records' ``silo.json`` when
a run ends, so it can be made again at any time, and names a record only if that is there, whole.
If the process is killed before, the next run makes it.
"""

import contextlib
import csv
import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TypeAlias

from recordsilo.disk.atomic_file import digest_of, make_file, remove_left_over
from recordsilo.disk.regular_file import regular_fd
from recordsilo.disk.whole_file import as_text, whole_file
from siloexport.errors import DepositFailed, TargetUnusable
from siloexport.targets.directory import DirectoryTarget, failing_as
from siloexport.targets.sheet_facts import (
    Row,
    SheetFacts,
    SheetTable,
    containing,
    record_name,
)
from siloexport.targets.sheet_records import RecordsForm, facts_in
from siloexport.targets.sheet_state import SheetState, note_state, read_state
from siloexport.values import Capabilities, Deposit, Difference, Held

FILES = "files"
ALL_SETS, NO_SET = "all", "none"
_MAX = 64 << 20


Settings: TypeAlias = Mapping[str, str]
"""Name of a setting → its value; ``""`` if it is not given."""
COLLECTIONS = "collections"
"""The setting that all kinds have: setSpecs between spaces, `ALL_SETS` or `NO_SET`."""


class SheetTarget(DirectoryTarget):
    """A `SummedTarget`: a directory of records with a table for an importer.

    Args:
        directory: A new or empty directory, or one from an earlier export of this kind.
        name: Of the kind, in the marker.
        make: Makes the form of the table from the settings.
        settings: What is not given is as in the directory, or the default. If they change, only
            the table is made again.
        set_names: setSpec → the set's name, where it has one.
        today: Returns the current day in UTC.
    """

    def __init__(
        self,
        directory: str,
        name: str,
        make: Callable[[Settings], SheetTable],
        settings: Settings,
        set_names: Mapping[str, str],
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        self._records_form = RecordsForm(name)
        super().__init__(directory, self._records_form)
        self._make, self._today, self._set_names = make, today, set_names
        self._given = {one: value for one, value in settings.items() if value}
        self._settings, self._table = self._given, make(self._given)
        self._lock = threading.Lock()
        self._rows_there: set[bytes] | None = None

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, sets=True, sums=True)

    def _take_marker(self, marker: bytes) -> None:
        kept = self._settings_in(marker, _texts)
        self._settings = {**(kept or {}), **self._given}
        self._table = self._make(self._settings)
        self._records_form.settings = json.dumps(self._settings, sort_keys=True)

    def prepare(self) -> None:
        with self._failing_whole():
            self._refuse_changed_table()
        super().prepare()
        with self._failing_whole():
            os.makedirs(f"{self.directory}/{FILES}", exist_ok=True)
            remove_left_over(self._table_path)

    # -- records --------------------------------------------------------------------------

    def _name(self, identifier: str) -> str:
        return record_name(identifier)

    def _place(self, identifier: str) -> str:
        return f"{self.directory}/{FILES}/{self._name(identifier)}"

    @contextlib.contextmanager
    def _staged(self) -> Iterator[str]:
        """See `DirectoryTarget`; from the first change on, the table is not current."""
        with self._lock:
            state = read_state(self.directory)
            if state.is_current:
                note_state(self.directory, replace(state, is_current=False))
        with super()._staged() as path:
            yield path

    def verify(self, deposit: Deposit, held: Held, *, is_head: bool) -> Iterator[Difference]:
        """See `Target`: also the rows of the record in the table."""
        found = list(super().verify(deposit, held, is_head=is_head))
        yield from found
        if found or not is_head:
            return
        with failing_as(self.shown, deposit.identifier):
            why = self._why_changed(deposit.identifier)
        if why:
            table = self._table.file_name
            yield deposit.differs("table", self._table_path, f"{why} {table}")

    def _why_changed(self, identifier: str) -> str:
        """Say what is wrong with the table for a record; a change of other rows is told once."""
        facts = facts_in(self._place(identifier))
        with self._lock:
            if self._rows_there is None:
                self._rows_there = set(self._read_rows())
                if self._rows_there and not self._is_own_table():
                    return "others changed"
        if facts is not None and not self._has_rows(facts, self._rows_there):
            return "its rows are missing, or were changed, in"
        return ""

    def _has_rows(self, facts: SheetFacts, there: set[bytes]) -> bool:
        rows = self._table.rows(facts, self._collected(facts), read_state(self.directory).day)
        return all(_row_digest(row) in there for row in rows)

    def _read_rows(self) -> Iterator[bytes]:
        """Yield the digests of the rows of the table; nothing if it cannot be read as one."""
        try:
            with open(self._table_path, encoding=self._table.encoding, newline="",
                      opener=regular_fd) as file:  # fmt: skip
                head, *lines = csv.reader(file)
        except (FileNotFoundError, UnicodeDecodeError, csv.Error, ValueError):
            return
        columns = self._unheaded(head)
        for line in lines:
            yield _row_digest(dict(zip(columns, line, strict=False)))

    def _unheaded(self, head: Sequence[str]) -> list[str]:
        """Return the columns that a first row stands for."""
        of = dict(zip(self._table.headed(self._table.columns), self._table.columns, strict=True))
        alone = {self._table.headed([one])[0]: one for one in self._table.columns}
        return [of.get(one) or alone.get(one) or one for one in head]

    # -- the table ------------------------------------------------------------------------

    def finish(self) -> None:
        """See `SummedTarget`: write the table, unless it is as it was."""
        with self._failing_whole():
            self._refuse_changed_table()
            state, settings = read_state(self.directory), self._records_form.settings
            day, is_there = f"{self._today()}", os.path.lexists(self._table_path)
            if is_there and state.holds(settings, day):
                return
            now = (_digest(self._table_path),) if is_there else ()
            used, specs, until = self._looked_through(day)
            columns = [one for one in self._table.columns if one in used]

            def note(staged: str) -> None:
                new = _digest(staged)
                note_state(self.directory, SheetState((*now, new), False, day, settings, until))

            with (
                whole_file(self._table_path, note, follow=False) as file,
                as_text(file, self._table.encoding) as text,
            ):
                writer = csv.writer(text, lineterminator="\r\n")
                writer.writerow(self._table.headed(columns))
                for row in self._rows(specs, day):
                    writer.writerow([row.get(one, "") for one in columns])
            note_state(self.directory, replace(read_state(self.directory), is_current=True))
            name, content = self._table.companion()
            with contextlib.suppress(FileExistsError):
                make_file(f"{self.directory}/{name}", content.encode())

    @contextlib.contextmanager
    def _failing_whole(self) -> Iterator[None]:
        try:
            with failing_as(self.shown, ""):
                yield
        except DepositFailed as error:
            raise TargetUnusable(f"{self.shown}: {error.reason}") from error

    @property
    def _asked(self) -> list[str] | None:
        """The sets that become collections; None for all."""
        asked = self._settings.get(COLLECTIONS, ALL_SETS).split()
        if asked == [ALL_SETS]:
            return None
        return [] if asked == [NO_SET] else asked

    def _collected(self, facts: SheetFacts) -> list[str]:
        return facts.sets_among(self._asked)

    def _looked_through(self, day: str) -> tuple[set[str], list[str], str]:
        """Return the columns that have a value, the sets that become collections, and when the
        first embargo ends."""
        used, specs, until = set(self._table.required), set(), ""
        for facts in self._records():
            sets = self._collected(facts)
            specs.update(sets)
            ends = str(facts.values["until"])
            if ends > day:
                until = min(until or ends, ends)
            for row in self._table.rows(facts, sets, day):
                used.update(name for name, value in row.items() if value)
        asked = self._asked
        found = [one for one in containing(specs) if asked is None or one in asked]
        for row in self._table.collections(found, self._set_names):
            used.update(name for name, value in row.items() if value)
        return used, found, until

    def _rows(self, specs: list[str], day: str) -> Iterator[Row]:
        yield from self._table.collections(specs, self._set_names)
        for facts in self._records():
            yield from self._table.rows(facts, self._collected(facts), day)

    def _records(self) -> Iterator[SheetFacts]:
        """Yield the records in the directory, in the order of their names."""
        try:
            names = sorted(os.listdir(f"{self.directory}/{FILES}"))
        except FileNotFoundError:
            return
        for name in names:
            facts = facts_in(f"{self.directory}/{FILES}/{name}")
            if facts is not None:
                yield facts

    @property
    def _table_path(self) -> str:
        return f"{self.directory}/{self._table.file_name}"

    def _refuse_changed_table(self) -> None:
        """Raise `TargetUnusable` if others changed the table; it may hold somebody's work."""
        if os.path.lexists(self._table_path) and not self._is_own_table():
            raise TargetUnusable(
                f"{self._table.file_name} in {self.shown} was changed since it was exported; "
                "rename it, and the export writes it again"
            )

    def _is_own_table(self) -> bool:
        try:
            return _digest(self._table_path) in read_state(self.directory).known
        except OSError:  # no regular file
            return False


def _texts(written: str) -> dict[str, str]:
    return {str(name): str(value) for name, value in json.loads(written).items()}


def _digest(path: str) -> str:
    with open(path, "rb", opener=regular_fd) as file:
        return digest_of(file).sha256


def _row_digest(row: Row) -> bytes:
    cells = sorted((name, value) for name, value in row.items() if value)
    return hashlib.sha256(json.dumps(cells).encode()).digest()
