"""Ask a place about the values of a field: here, or as a job."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recordsilo import Silo
from recordsilo.batches import batched
from recordsilo.selection import Selection, selection_from, selection_table
from silocuration.authorities import FIELDS, INDEXED, full_id
from silocuration.errors import CurationError
from silocuration.reconciling.client import OpenPlace, of_values, opened
from silocuration.reconciling.places import ReconciliationPlace, read_places
from silocuration.reconciling.protocol import Candidate
from silocuration.reconciling.store import OPEN, Reconciled, Reconciliation
from silocuration.review.any_field import values_read
from silocuration.review.counts import value_counts
from silowork.errors import Interrupted
from silowork.service import Jobs
from silowork.values import Ending, Job
from silowork.work import Kind, Work

BATCH = 10
"""Values in a request: services search for each of them."""
_CHUNK = 1_000
Progress = Callable[[int, int], None]


def values_in(silo: Silo, field: str, selection: Selection) -> dict[str, int]:
    """Return the values of a field → how many of the selected records have them.

    Cost: contributors are not in the index: a third of a millisecond for each record selected.
    """
    if field not in INDEXED:
        return dict(Counter(v for some in values_read(silo, selection, field) for v in {*some}))
    if selection.is_everything:
        return value_counts(silo, field)
    counts: Counter[str] = Counter()
    for some in batched(selection.find(silo), _CHUNK):
        for described in silo.described(some).values():
            counts.update(set(described.values.get(field, ())))
    return dict(counts)


def ask(
    place: ReconciliationPlace,
    silo_path: str,
    field: str,
    values: Sequence[str],
    *,
    progress: Progress = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
    again: bool = False,
    **options: Any,
) -> int:
    """Ask about values that were not asked for before, and store each answer at once.

    Args:
        values: Those that come first are asked for first.
        again: Ask also about those that were asked for and are not decided.
        progress: Gets how many are done, and of how many.
        stop: Whether to end early.
        options: Of `opened`.

    Returns:
        How many were asked for.

    Raises:
        PlaceUnusable, ListUnusable: What was answered before that is stored.
    """
    store = Reconciliation(silo_path, place.name, field)
    known = store.read()
    unknown = Reconciled("")
    todo = [
        one
        for one in values
        if not (found := known.get(one, unknown)).asked or (again and found.decision == OPEN)
    ]
    if not todo and not place.list:  # a list is read, so that one that is missing is told
        return 0
    done = 0
    source = opened(place, silo_path, **options)
    try:
        size = _CHUNK if place.list else BATCH
        for some in batched(todo, size):
            if stop():
                break
            store.add(_answers(source, place, some))
            done += len(some)
            progress(done, len(todo))
    finally:
        source.close()
    return done


def _answers(
    source: OpenPlace, place: ReconciliationPlace, values: Sequence[str]
) -> Mapping[str, Sequence[Candidate]]:
    space, view = source.manifest.identifier_space, source.manifest.view
    found = source.candidates(of_values(values, place.type))
    return {
        value: [replace(one, id=full_id(one.id, space, view)) for one in some]
        for value, some in zip(values, found, strict=True)
    }


# --------------------------------------------------------------------------- as a job


def run(work: Work) -> Ending:
    """Ask a place about the values of a field; what was asked for before is not asked again."""
    given = work.arguments
    place = read_places(work.silo_path).place(str(given["place"]))
    field = checked_field(str(given["field"]))
    with Silo(work.silo_path, create=False) as silo:
        counts = values_in(silo, field, selection_from(given.get("select", {})))
    values = sorted(counts, key=lambda one: (-counts[one], one))
    done = ask(place, work.silo_path, field, values, progress=work.advanced, stop=work.stop)
    if work.stop():
        raise Interrupted("the job was stopped")
    numbers = {"values asked for": done, "values known": len(values) - done}
    text = "\n".join(f"{number:>12,}  {name}" for name, number in numbers.items())
    return Ending(True, text, numbers, numbers)


def checked_field(field: str) -> str:
    """Return a field whose values can be reconciled.

    Raises:
        CurationError: It is none.
    """
    if field not in FIELDS:
        raise CurationError(f"the field {field!r} is none of {', '.join(FIELDS)}")
    return field


RECONCILE = Kind(
    "reconcile",
    "Reconcile",
    run,
    lane="reconcile",
    foreseen=(CurationError,),
    by_curators=True,
    result="values asked for",
    did="{n} asked for",
    counts={"values asked for": "values asked for", "values known": "values known"},
)


def begin(jobs: Jobs, place: str, field: str, selection: Selection, agent: str) -> Job:
    """Start a job that asks a place about the values of a field.

    Raises:
        LedgerUnreadable: See `Jobs.begin`.
    """
    arguments = {"place": place, "field": field, "select": selection_table(selection)}
    return jobs.begin(RECONCILE.name, f"Reconcile {field}: {place}", arguments, agent)
