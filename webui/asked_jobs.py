"""What a job was asked for in words: its records, and the form or page that asks for the same."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo.errors import RecordSiloError
from recordsilo.selection import selection_from
from silocuration.reconciling.asking import RECONCILE
from silocuration.review.facet_job import COUNT
from siloexport.jobs import DEFAULT_FORM, EXPORT, export_of_preview, selection_of
from siloexport.target_kinds import FieldAvailability, TargetKind, kind_named
from siloexport.values import Deletions, OnConflict
from silowork.errors import JobRefused
from silowork.values import Job
from webui import urls
from webui.export_forms import export_forms
from webui.export_selection import SEARCH
from webui.search.request import Pair, SearchRequest
from webui.words.field_labels import field_label
from webui.words.texts import text as _

CONFLICTS = {
    OnConflict.FAIL: "skip, and report as failed",
    OnConflict.SKIP: "skip",
    OnConflict.OVERWRITE: "overwrite",
}
"""English texts of the catalogue."""
DELETIONS = {
    Deletions.STATUS: "mark as deleted",
    Deletions.DELETE: "delete",
    Deletions.KEEP: "keep",
}
"""The same."""


@dataclass(frozen=True, slots=True)
class AskedRecords:
    """What a job was asked for.

    Attributes:
        records: Which records, in words.
        url: Of the search that finds them; empty if they are listed one by one.
        others: (label, text) of the other fields whose values are not the usual ones.
        shown: The page that shows what the job found; empty for exports.
        shown_label: Of the button that leads there.
    """

    records: str
    url: str
    others: tuple[tuple[str, str], ...]
    shown: str = ""
    shown_label: str = ""


def asked_of(
    kind: str, arguments: Mapping[str, Any], set_name: Callable[[str], str]
) -> AskedRecords | None:
    """Return what an export, a count or a reconciliation of values was asked for.

    None for other kinds of jobs.

    Args:
        kind: Of the job.
        arguments: Of the job, or the fields of its form.
        set_name: setSpec → what the set is called.
    """
    if kind == COUNT.name:
        return _asked_values(arguments, set_name, _("Show the groups"), _groups)
    if kind == RECONCILE.name:
        return _asked_values(arguments, set_name, _("Show the candidates"), _candidates)
    if kind != EXPORT.name:
        return None
    try:
        given = dict(arguments)
        if isinstance(text := given.get("select"), str):
            given["select"] = json.loads(text)
        selection = selection_of(given)
        target = kind_named(str(given.get("form") or DEFAULT_FORM))
    except (JobRefused, RecordSiloError, ValueError, TypeError):
        return None  # of a package or a version that is not there any more
    is_listed = bool(selection.identifiers)
    pairs = SearchRequest.of_selection(selection).asked
    records = selection.said(set_name) or _("all records")
    others = (*_others(target, given),)
    return AskedRecords(records, "" if is_listed else urls.search(pairs), others)


def _asked_values(
    arguments: Mapping[str, Any],
    set_name: Callable[[str], str],
    label: str,
    page: Callable[[Sequence[Pair], Mapping[str, Any]], str],
) -> AskedRecords | None:
    """What a job about the values of a field was asked for; `page` is the address of its result."""
    try:
        selection, field = selection_from(arguments["select"]), str(arguments["field"])
        shown = page(SearchRequest.of_selection(selection).asked, arguments)
    except (RecordSiloError, LookupError):  # of another release
        return None
    return AskedRecords(
        selection.said(set_name) or _("all records"),
        urls.search(SearchRequest.of_selection(selection).asked),
        ((_("Field"), field_label(field)),),
        shown,
        label,
    )


def _groups(pairs: Sequence[Pair], arguments: Mapping[str, Any]) -> str:
    return urls.search((*pairs, ("field", str(arguments["field"]))), "fields")


def _candidates(pairs: Sequence[Pair], arguments: Mapping[str, Any]) -> str:
    about = [(name, str(arguments[name])) for name in ("place", "field")]
    return f"{urls.at('/reconciliation')}?{urls.query((*pairs, *about))}"


def _others(target: TargetKind, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if (versions := given.get("versions", "")) not in ("", "current"):
        yield _("Versions"), _(versions)
    if (deletions := given.get("deletions", "")) not in ("", Deletions.STATUS):
        yield _("Deleted at the source"), _(DELETIONS.get(deletions, deletions))
    if (conflicts := given.get("conflicts", "")) not in ("", OnConflict.FAIL):
        yield _("If others changed the target"), _(CONFLICTS.get(conflicts, conflicts))
    for field in target.asked(FieldAvailability.PAGE):
        value = given.get(field.name, "")
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        if field.name != "versions" and text not in ("", field.default):
            yield _(field.label), text


def form_of(job: Job, silo_path: str) -> str:
    """The address of the form of a job, filled in as it was; empty if it cannot be filled in."""
    given = export_of_preview(job.arguments)
    if job.kind == "harvest":
        return urls.with_query(urls.new_job("harvest"), given)
    try:
        select = selection_of(job.arguments)
        form = next(one for one in export_forms(silo_path) if one.has(given["form"]))
    except (KeyError, StopIteration, RecordSiloError):  # another kind, or of another release
        return ""
    if select.identifiers:
        return ""
    asked = SearchRequest.of_selection(select).asked
    fields = [one for one in given.items() if one[0] not in ("select", "query", "set", "state")]
    pairs = [(SEARCH, urls.query(asked)), *fields]
    return urls.with_search(urls.new_job(f"export-{form.first.name}"), urls.query(pairs))
