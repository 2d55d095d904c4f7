"""What changes would do to the values of a search, tried while they are still being written."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from time import monotonic

from recordsilo import Silo
from recordsilo.index import PageRequest
from recordsilo.selection import Selection
from silocuration.batch.job import preview
from silocuration.batch.specs import JobSpec, rules_job
from silocuration.editing.fields import Field
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import (
    ChangeCase,
    MapValues,
    Remove,
    Repair,
    Replace,
    ReplacePattern,
    Rule,
    Split,
    Transform,
    Trim,
    apply,
)
from silocuration.review.counts import CLUSTERED

VALUES = 5000
"""Most values of a field that are tried, the most frequent first."""
RECORDS = 200
"""Most records that are read where the index does not have the values."""
SECONDS = 0.15
"""After so long, no further value or record is tried."""
SHOWN = 8
_OF_VALUES = (
    Replace,
    ReplacePattern,
    Remove,
    Split,
    Trim,
    ChangeCase,
    MapValues,
    Transform,
    Repair,
)
_FACETS = {element: facet for facet, element in CLUSTERED.items()}


@dataclass(frozen=True, slots=True)
class Tried:
    """A value that would change.

    Attributes:
        after: What it becomes: several if it is split, none if it is removed.
        records: How many records have it; 0 if that is not known.
    """

    before: str
    after: tuple[str, ...]
    records: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What changes would do, as far as it was tried.

    Attributes:
        shown: Some of the changes.
        changed: How many distinct values, or records, would change.
        tried: How many were tried.
        of_values: Whether distinct values were tried, not records.
        whole: Whether all were tried.
    """

    shown: tuple[Tried, ...]
    changed: int
    tried: int
    of_values: bool
    whole: bool


def trial(silo: Silo, rule_set: RuleSet) -> Trial:
    """Try changes on the values that the index has of their field, else on some records.

    Raises:
        PatternTooSlow, RecordTooSlow, RuleRefused: The rules are invalid or too slow.

    Cost: `SECONDS`, and a search.
    """
    rules, select = rule_set.rules, rule_set.select
    facet = _FACETS.get(rules[0].field, "") if rules else ""
    is_of_values = all(isinstance(one, _OF_VALUES) and one.field in _FACETS for one in rules)
    if facet and is_of_values and len({one.field for one in rules}) == 1 and not select.identifiers:
        return _of_values(silo, rules, select, facet)
    return _of_records(silo, rule_set)


def _of_values(silo: Silo, rules: Sequence[Rule], select: Selection, facet: str) -> Trial:
    page = PageRequest(limit=1, facet_limit=VALUES + 1)
    values = silo.search(select.query, select.filters, [facet], page).facets[facet]
    until = monotonic() + SECONDS
    element, changed, tried = rules[0].field, 0, 0
    shown: list[Tried] = []
    for one in values[:VALUES]:
        if monotonic() > until and tried:
            break
        tried += 1
        before = (Field(element, one.value),)
        after = apply(rules, before)
        if after != before:
            changed += 1
            if len(shown) < SHOWN:
                shown.append(Tried(one.value, tuple(field.text for field in after), one.count))
    return Trial(tuple(shown), changed, tried, True, tried == len(values))


def _of_records(silo: Silo, rule_set: RuleSet) -> Trial:
    spec = rules_job(rule_set)
    first = JobSpec(spec.kind, spec.title, spec.about, lambda silo: _first(silo, rule_set.select))
    found = preview(silo, first, samples=SHOWN, seconds=SECONDS)
    shown = tuple(
        Tried(
            "; ".join(text for _name, text, _lang in one.before),
            tuple(text for _name, text, _lang in one.after),
            0,
        )
        for one in found.samples
    )
    whole = found.whole and found.records < RECORDS
    return Trial(shown, found.changed, found.records, False, whole)


def _first(silo: Silo, select: Selection) -> list[tuple[str, str]]:
    return [(identifier, "") for identifier in islice(select.iterate(silo), RECORDS)]
