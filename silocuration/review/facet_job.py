"""Count all groups of the values of a field, over all records of a search, as a job.

The values are read once, into a file of the Silo's staging directory; all groupings are counted
from there, so memory does not grow with the number of records. What was counted is kept when it
is complete (`kept_facets`); a job that was paused or killed begins again.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from sqlite3 import Connection

from recordsilo import Silo
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import now_text
from recordsilo.removals import noted_bytes
from recordsilo.selection import Selection, selection_from, selection_table
from silocuration.editing.changes import CannotChange
from silocuration.errors import CurationError
from silocuration.review.any_field import IN_ORDER, Grouping, labels_of, place_of, values_in
from silocuration.review.kept_duplicates import mark_of
from silocuration.review.kept_facets import (
    MOST_GROUPS,
    MOST_RECORDS,
    KeptFacet,
    KeptGroup,
    forget_facets,
    keep_facets,
    within_size,
)
from silowork.ledger_file import LedgerFile, LedgerKind
from silowork.service import Jobs
from silowork.values import Ending, Job, JobAction, State
from silowork.work import Kind, Work

_SCHEMA = """
CREATE TABLE IF NOT EXISTS record (identifier TEXT NOT NULL, found TEXT);
CREATE TABLE IF NOT EXISTS grouped (
    label TEXT PRIMARY KEY,
    "values" INTEGER NOT NULL,
    records INTEGER NOT NULL,
    first TEXT NOT NULL
) WITHOUT ROWID;
"""
_ADD = f"""
INSERT INTO grouped VALUES (?1, ?2, 1, json_array(?3)) ON CONFLICT (label) DO UPDATE SET
    "values" = "values" + ?2,
    records = records + 1,
    first = CASE WHEN records < {MOST_RECORDS} THEN json_insert(first, '$[#]', ?3) ELSE first END
"""  # noqa: S608  # a number of ours
_FIRST = 'SELECT label, "values", records, first FROM grouped ORDER BY records DESC, label LIMIT ?'
_CHUNK = 1000
"""Records between two looks at whether the job is to end, once they were read."""
GROUPING = "grouping"
"""The second step of the job."""
COUNTS = ("records read", "records without fields that can be read", "different values")
"""What an ending counts."""


class CountUnreadable(CurationError):
    """The file in which values are counted was changed meanwhile, or is damaged."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"the values cannot be counted: {path}: {reason}")


class RecordsRemoved(CurationError):
    """Records were removed for good while their values were counted."""

    def __init__(self) -> None:
        super().__init__("records were removed for good meanwhile; retry, and it counts again")


_KIND = LedgerKind(_SCHEMA, CountUnreadable, synchronous="OFF")
Progress = Callable[[int, str], object]
"""Gets how many records are done in a step, and the step; it may raise an exception to end."""


def count_facets(
    silo: Silo, select: Selection, field: str, progress: Progress = lambda _done, _step: None
) -> dict[Grouping, KeptFacet]:
    """Read the values of a field in all records selected, and count their groups.

    Raises:
        SearchError, IndexProblem: The records cannot be selected.
        OSError: The disk of the Silo is full.

    Cost: the manifest and one file of every record, a third of a millisecond each, and some
    microseconds more for each grouping; meanwhile, disk for the values. A number in memory for
    each value.
    """
    directory = silo.staging.new_directory()
    mark = mark_of(silo)
    try:
        with (
            LedgerFile(os.path.join(directory, "values.sqlite"), _KIND) as file,
            file.transaction() as connection,
        ):
            rows = _read(silo, select, field, progress)
            connection.executemany("INSERT INTO record VALUES (?, ?)", rows)
            counts = "SELECT count(*), count(found) FROM record"
            every, read = connection.execute(counts).fetchone()
            facet = KeptFacet(mark, now_text(), read, every - read, 0, ())
            return {
                how: _counted(connection, how, facet, partial(_after, progress, number * every))
                for number, how in enumerate(Grouping)
            }
    finally:
        silo.staging.discard(directory)


def _read(
    silo: Silo, select: Selection, field: str, progress: Progress
) -> Iterator[tuple[str, str | None]]:
    """Yield each record's identifier and values, as JSON; None if they cannot be read."""
    for done, identifier in enumerate(select.iterate(silo)):
        progress(done, "")
        try:
            yield identifier, json.dumps(values_in(silo, identifier, field))
        except (CannotChange, RecordSiloError):
            yield identifier, None


def _after(progress: Progress, before: int, done: int) -> None:
    progress(before + done, GROUPING)


def _counted(
    connection: Connection, how: Grouping, facet: KeptFacet, progress: Callable[[int], object]
) -> KeptFacet:
    """The groups of one grouping, counted in a table."""
    connection.execute("DELETE FROM grouped")
    connection.executemany(_ADD, _groups(connection, how, progress))
    (number,) = connection.execute("SELECT count(*) FROM grouped").fetchone()
    if how in IN_ORDER:
        every = connection.execute(_FIRST, (-1,)).fetchall()
        rows = sorted(every, key=lambda row: place_of(row[0]))[:MOST_GROUPS]
    else:
        rows = connection.execute(_FIRST, (MOST_GROUPS,)).fetchall()
    first = (
        KeptGroup(label, values, records, tuple(json.loads(some)))
        for label, values, records, some in rows
    )
    return replace(facet, groups=number, first=within_size(first))


def _groups(
    connection: Connection, how: Grouping, progress: Callable[[int], object]
) -> Iterator[tuple[str, int, str]]:
    """Yield the label of each group that a record is in, its values there, and the record."""
    records = groupby(labels_of(_Values(connection), how), itemgetter(0))
    for done, (identifier, labels) in enumerate(records):
        if done % _CHUNK == 0:
            progress(done)
        for label, values in Counter(label for _, label in labels).items():
            yield label, values, identifier


class _Values:
    """The values that were read, in the order of the records; can be iterated again."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __iter__(self) -> Iterator[tuple[str, Sequence[str]]]:
        rows = self._connection.execute(
            "SELECT identifier, found FROM record WHERE found IS NOT NULL ORDER BY rowid"
        )
        return ((identifier, json.loads(found)) for identifier, found in rows)


# --------------------------------------------------------------------------- as a job


def run(work: Work) -> Ending:
    """Count the values of the field ``field`` in the records ``select``, and keep the groups."""
    select, field = selection_from(work.arguments["select"]), str(work.arguments["field"])
    removed = noted_bytes(work.silo_path)
    with Silo(work.silo_path, create=False) as silo:
        total = select.total(silo)

        def show(done: int, step: str) -> None:
            work.advanced(done, total * len(Grouping) if step else total, step)
            work.end_if_asked()

        found = count_facets(silo, select, field, show)
    work.end_if_asked()
    keep_facets(work.silo_path, select, field, found)
    if noted_bytes(work.silo_path) != removed:  # some of the values may be of these records
        forget_facets(work.silo_path)
        raise RecordsRemoved
    of_values = found[Grouping.VALUE]
    counts = dict(zip(COUNTS, (of_values.read, of_values.unread, of_values.groups), strict=True))
    text = "\n".join(f"{number:>12,}  {name}" for name, number in counts.items())
    return Ending(True, text, dict(counts), counts)


COUNT = Kind(
    "facet",
    "Count values",
    run,
    lane="facet",
    foreseen=(CurationError,),
    by_curators=True,
    counts={name: name for name in COUNTS},
    result="records read",
    did="{n} read",
)


def begin_count(jobs: Jobs, select: Selection, field: str, agent: str) -> Job:
    """Start to count the values of a field, or resume or return the job that does so.

    Raises:
        LedgerUnreadable: See `Jobs.begin`.
    """
    with Locks.of_silo(jobs.broker.silo_path).hold_name("begin-facet"):
        if found := count_under_way(jobs, select, field):
            return found
        if paused := _first_of(jobs.ledger.jobs(), State.PAUSED, select, field):
            return jobs.act(paused.job_id, JobAction.RESUME)
        said = f"Count values: {field}" + (f" ({select})" if str(select) else "")
        return jobs.begin(COUNT.name, said, _arguments(select, field), agent)


def count_under_way(jobs: Jobs, select: Selection, field: str) -> Job | None:
    """The job that counts the values of a field, or waits to do so; None if there is none."""
    return _first_of(jobs.ledger.active(), "", select, field)


def _first_of(found: Iterable[Job], state: str, select: Selection, field: str) -> Job | None:
    asked = _arguments(select, field)
    same = (one for one in found if (one.kind, one.arguments) == (COUNT.name, asked))
    return next((one for one in same if state in ("", one.state)), None)


def _arguments(select: Selection, field: str) -> dict[str, object]:
    return {"select": selection_table(select), "field": field}
