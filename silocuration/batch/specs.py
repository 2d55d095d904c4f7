"""The kinds of jobs: which records each changes, and how.

A job's journal stores its kind and the data of the kind, so that any process that
continues the job makes the same plan.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from recordsilo import Silo
from recordsilo.records.manifest import Manifest
from recordsilo.selection import Selection
from silocuration.batch.attach import Attachment, plan_attachment
from silocuration.batch.spreadsheet import SheetRow, check_rows, plan_row
from silocuration.editing.changes import ReadFile, RecordChange, plan_record
from silocuration.editing.rule_files import RuleSet, absent_fields, from_table, to_table

MAX_SHOWN = 3
"""Most changes of a job, or values of a change, that its summary names."""
MAX_CONFLICTS = 20
"""Most values with another identifier that are named."""
Planner = Callable[[Manifest, ReadFile, str], RecordChange | None]
"""(manifest, read, the job's data for the record) → change."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job before it is created.

    Attributes:
        kind: One of `PLANNERS`.
        title: One line for people.
        about: The data of its planner, as JSON values.
        records: Finds (identifier, data for it alone), each identifier once.
    """

    kind: str
    title: str
    about: Mapping[str, Any]
    records: Callable[[Silo], Iterable[tuple[str, str]]]


def rules_job(rule_set: RuleSet, name: str = "") -> JobSpec:
    """Return a job that applies rules to the records they select; `name` is the rule file's."""
    about: dict[str, Any] = {"rules": to_table(rule_set), "rule": name}
    title = rule_set.title or name or summary(about)
    return JobSpec("rules", title, about, _selected(rule_set.select))


def summary(about: Mapping[str, Any], *, undone: bool = False) -> str:
    """Return a line on what a job changes, such as ``Type: Article → article``.

    Args:
        about: The description in the job's journal.
        undone: Return what undoing it changes: ``Type: article → Article``.

    Returns:
        An empty text for a spreadsheet, where each record has its own change.
    """
    if "attachment" in about:
        return f"{'Undone: a' if undone else 'A'}ttach {about['attachment']['path']}"
    rules = about.get("rules", {})
    changes = [
        f"{_capital(one['field'])}: {_change(one, undone=undone)}"
        for one in rules.get("change", ())
    ]
    if rules.get("state"):
        changes.append(f"Status: {_UNDONE if undone else ''}{rules['state']}")
    return "; ".join(_few(changes))


def _capital(field: str) -> str:
    """A field as a line begins with it; one with a prefix, such as ``dc:type``, as it is."""
    return field[:1].upper() + field[1:] if field.isalpha() else field


_UNDONE = "undone: "
_REVERSED = {"replace": "{by} → {value}", "map": "{table}"}
"""The changes that are said the other way round when they are undone."""


def _change(change: Mapping[str, Any], *, undone: bool = False) -> str:
    """Return a change without its field, such as ``Article → article``."""
    told = {name: _short(one) for name, one in change.items() if isinstance(one, str)}
    told["values"] = " || ".join(_few(change.get("values", ())))
    pairs = change.get("table", {}).items()
    told["table"] = ", ".join(
        _few(f"{new} → {old}" if undone else f"{old} → {new}" for old, new in pairs)
    )
    form = _FORMS.get(change["do"], "{do}")
    if change["do"] == "remove" and "value" in change:
        form = "remove {value}"
    elif change["do"] == "remove" and "pattern" in change:
        form = "remove /{pattern}/"
    if undone:
        form = _REVERSED.get(change["do"], _UNDONE + form)
    return form.format_map({"lang": "", **told})


_FORMS: Mapping[str, str] = {
    "set": "set to {values}",
    "add": "add {value}",
    "replace": "{value} → {by}",
    "replace pattern": "/{pattern}/ → {by}",
    "split": "split at {separator}",
    "case": "{case} case",
    "map": "{table}",
    "language": "language {lang}",
    "move": "move to {to}",
    "transform": "transform ({how})",
    "identify": "write identifiers",
    "repair": "repair {finding}",
}


def _few(texts: Iterable[str]) -> list[str]:
    shown = [_short(text) for text in texts]
    more = len(shown) - MAX_SHOWN
    return [*shown[:MAX_SHOWN], f"and {more:,} more"] if more > 0 else shown


def _short(text: str) -> str:
    return shorten(text, 120, placeholder="…") if len(text) > 120 else text


def sheet_job(rows: Sequence[SheetRow], title: str = "", *, file: str = "") -> JobSpec:
    """Return a job that imports an edited spreadsheet, unless `check_rows` refuses it."""
    given = [(row.identifier, json.dumps([row.mark, row.cells])) for row in rows]
    title = title or "Spreadsheet"

    def records(silo: Silo) -> list[tuple[str, str]]:
        check_rows(silo, rows, file)
        return given

    return JobSpec("spreadsheet", title, {"file": file}, records)


def attach_job(select: Selection, attachment: Attachment) -> JobSpec:
    """Return a job that adds a file to the working copy of each selected record."""
    about = {"attachment": attachment.to_json()}
    return JobSpec("attach", summary(about), about, _selected(select))


def planner_of(kind: str, about: Mapping[str, Any], seen: set[str] | None = None) -> Planner:
    """Return the planner of a job, which decides the change to one record.

    Args:
        kind: One of `PLANNERS`.
        about: See `JobSpec`.
        seen: Gets the names of the fields of the records that rules are planned for.
    """
    return PLANNERS[kind](about, seen)


def remarks_on(about: Mapping[str, Any], seen: Collection[str], who: str) -> tuple[str, ...]:
    """Return remarks about a job whose records were read; see `rule_files.absent_fields`."""
    if "rules" not in about or not seen:
        return ()
    if any(one["do"] == "identify" for one in about["rules"]["change"]):
        return _conflicts(seen)
    return absent_fields(from_table(about["rules"]), seen, who)


def _conflicts(seen: Collection[str]) -> tuple[str, ...]:
    """Remarks on values that have another identifier, and keep it."""
    more = len(seen) - MAX_CONFLICTS
    rest = (f"{more:,} more values have another identifier, and keep it",) if more > 0 else ()
    return (*sorted(seen)[:MAX_CONFLICTS], *rest)


def _selected(select: Selection) -> Callable[[Silo], Iterable[tuple[str, str]]]:
    return lambda silo: ((identifier, "") for identifier in select.find(silo))


def _by_rules(about: Mapping[str, Any], seen: set[str] | None) -> Planner:
    rule_set = from_table(about["rules"])
    return lambda manifest, read, _given: plan_record(manifest, read, rule_set, seen)


def _by_sheet(about: Mapping[str, Any], _seen: set[str] | None) -> Planner:
    def plan(manifest: Manifest, read: ReadFile, given: str) -> RecordChange | None:
        mark, cells = json.loads(given)
        return plan_row(manifest, read, SheetRow(manifest.item_id, mark, cells), about["file"])

    return plan


def _by_attaching(about: Mapping[str, Any], _seen: set[str] | None) -> Planner:
    attachment = Attachment.from_json(about["attachment"])
    return lambda manifest, read, _given: plan_attachment(manifest, read, attachment)


PLANNERS: Mapping[str, Callable[[Mapping[str, Any], set[str] | None], Planner]] = {
    "rules": _by_rules,
    "spreadsheet": _by_sheet,
    "attach": _by_attaching,
}
"""Kind of job → factory of its planner."""
