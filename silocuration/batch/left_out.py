"""A planned change of a record without some of its values (pure)."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from recordsilo.records.manifest import Manifest, altered
from silocuration.activity import ValueChange, changed_values, of_fields, shown
from silocuration.batch.specs import Planner
from silocuration.editing.changes import FileChange, ReadFile, RecordChange
from silocuration.editing.fields import Field, Fields


def without(change: RecordChange, left_out: Collection[ValueChange]) -> RecordChange | None:
    """Return a change without values that are left out; None if nothing is left of it.

    Args:
        change: Of one record.
        left_out: As `changed_values` returns them.
    """
    cut = changed_values(change)
    if not any(one in left_out for one in cut):
        return change
    state = change.state
    if state is not None and cut.pop() in left_out:
        state = None
    values = of_fields(change.before, change.after)
    after, files = change.after, change.files
    if values:
        left = [value for value, known in zip(values, cut, strict=True) if known in left_out]
        after = _restored(change.before, change.after, left)
        files = tuple(_written(change, after))
    elif cut and all(one in left_out for one in cut):
        files = ()
    if not files and state is None:
        return None
    return replace(change, after=after, files=files, state=state)


def planner_without(plan: Planner, left_out: Collection[ValueChange]) -> Planner:
    """Return a planner whose changes are without values that are left out."""

    def planned(manifest: Manifest, read: ReadFile, given: str) -> RecordChange | None:
        change = plan(manifest, read, given)
        return None if change is None else without(change, left_out)

    return planned


def _written(change: RecordChange, after: Fields) -> Iterable[FileChange]:
    for file in change.files:
        assert file.before is not None
        content = change.write(file.before, after)
        if content != file.before:
            yield altered(file, after=content)


def _restored(before: Fields, after: Fields, left: Iterable[ValueChange]) -> Fields:
    """Return the new fields with the old values where changes are left out."""
    kept: list[Field] = list(after)
    for what, old, new in left:
        if what == "order":
            return before
        was = _found(before, what, old, kept)
        now = _found(tuple(kept), what, new, before)
        if now is not None and was is not None:
            kept[_place(kept, now)] = was
        elif now is not None:
            del kept[_place(kept, now)]
        elif was is not None:
            kept.insert(_place_of_old(kept, before, was), was)
    return tuple(kept)


def _found(fields: Fields, what: str, text: str | None, others: Collection[Field]) -> Field | None:
    """Return the field with a value that is not also among others."""
    there = {id(one) for one in others}
    for one in fields:
        if one.name == what and id(one) not in there and shown(one.said()) == text:
            return one
    return None


def _place(fields: list[Field], wanted: Field) -> int:
    return next(place for place, one in enumerate(fields) if one is wanted)


def _place_of_old(kept: list[Field], before: Fields, was: Field) -> int:
    """Return the place behind the nearest earlier field that is still there."""
    earlier = before[: _place(list(before), was)]
    for one in reversed(earlier):
        for place, there in enumerate(kept):
            if there is one:
                return place + 1
    return 0
