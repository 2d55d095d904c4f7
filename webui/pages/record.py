"""The pages of a record and of its versions, and the deletion of a record."""

import json
from collections.abc import Callable, Mapping

from recordsilo import HarvestedRecord
from recordsilo.disk.identifier import clean
from recordsilo.errors import FileNotInVersion
from webui import urls
from webui.editing.curator import WORKING_COPY, Curator
from webui.http.downloads import TEXT, saved_as
from webui.http.messages import JSON, Response, redirect, revision_tag
from webui.questions import asked_of, message_field
from webui.record.citation import bibtex, citation_text, csl_item
from webui.record.panels import panels_of
from webui.record.related import Results, links_of, results_of, results_of_all, siblings_of
from webui.record.version_differences import VersionComparison, base_of, compare_versions
from webui.record.view import RecordPage, as_json, record_view, version_as_json
from webui.rendering import View, json_answer
from webui.site import Call
from webui.words.texts import counted
from webui.words.texts import text as _

BIBTEX = "application/x-bibtex; charset=utf-8"
DONE: Mapping[str, str] = {
    "cloned": "Copy created. It is now the current version.",
    "made": "Empty version created. It is now the current version.",
    "renamed": "Version renamed.",
    "version-deleted": "Version deleted.",
    "edited": "Changes saved.",
    "file-added": "File added to this version.",
    "file-renamed": "File renamed.",
    "file-deleted": "File deleted from this version.",
}
"""Messages after a change; the address has the code, never the text."""


def show(call: Call) -> View | Response:
    """Show a record in its current version."""
    identifier = call.identifier
    if not call.is_twin and call.params["record"] != clean(identifier):
        return redirect(urls.record(identifier, **call.request.query))
    return _view(call, call.site.silo[identifier])


def show_version(call: Call) -> View:
    """Show a record in one of its versions; the JSON twin has that version only."""
    record = call.record
    view = record_view(call.site, record, call.version, _query(call))
    twin = version_as_json(record, view)
    return _page(call, record, view, twin, urls.version(view.identifier, view.shown.name))


def _view(call: Call, record: HarvestedRecord) -> View:
    view = record_view(call.site, record, query=_query(call))

    def twin() -> Mapping[str, object]:
        results = _results(call, view)
        return as_json(record, view, results.as_json() if results else None)

    return _page(call, record, view, twin, urls.record(view.identifier))


def cite(call: Call) -> Response:
    """Show the citation of the record as text; the JSON twin is CSL JSON."""
    item = csl_item(call.identifier, record_view(call.site, call.record).description)
    if call.wants_json:
        return Response(
            200, json.dumps([item], ensure_ascii=False, indent=2).encode() + b"\n", JSON
        )
    return Response(200, citation_text(item).encode() + b"\n", TEXT)


def cite_as_bibtex(call: Call) -> Response:
    """Send the record as a BibTeX entry."""
    item = csl_item(call.identifier, record_view(call.site, call.record).description)
    headers = saved_as(call.site.name, "citation.bib", call.identifier)
    return Response(200, bibtex(item).encode(), BIBTEX, headers)


def _query(call: Call) -> str:
    """The way back to the search, for the links of a page; JSON names the versions alone."""
    return "" if call.wants_json else call.request.query.get("from", "")


def _results(call: Call, view: RecordPage) -> Results | None:
    query = call.request.query
    if call.site.settings.on_shelf and (found := results_of_all(query)):
        return found
    return results_of(call.site, view.identifier, query.get("from", ""))


def _page(
    call: Call,
    record: HarvestedRecord,
    view: RecordPage,
    twin: Mapping[str, object] | Callable[[], Mapping[str, object]],
    url: str,
) -> View:
    data = {
        "view": view,
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "clone_name": _free_name(view),
        "links": links_of(view),
        "citation": citation_text(csl_item(view.identifier, view.description))
        if view.description.title
        else "",
        "results": None if call.wants_json else _results(call, view),
        "came_from": _query(call),
        "siblings": None if call.wants_json else siblings_of(call.site, view),
        "panels": () if call.wants_json else panels_of(call.site, view.identifier),
        "changes": None if call.wants_json else _changes(record, view),
    }
    headers = {"ETag": revision_tag(view.revision)}
    return View("record.mako", data, twin, url, headers=headers, summary=_summary(view))


def _summary(view: RecordPage) -> str:
    """Who made it, and its description."""
    said = view.description
    creators = "; ".join(one.text for one in said.creators[:3])
    return " – ".join(filter(None, (creators, *(one.text for one in said.descriptions[:1]))))


def _changes(record: HarvestedRecord, view: RecordPage) -> VersionComparison | None:
    """The differences of a curated version from the harvested one; None if there is none."""
    if not view.shown.curated or not (base := base_of(record, view.shown.name)):
        return None
    try:
        return compare_versions(record, base, view.shown.name)
    except FileNotInVersion:  # the list of files says which, and why
        return None


def _free_name(view: RecordPage) -> str:
    """``workingcopy``, or the first of ``workingcopy-2``, ``-3`` … that is free."""
    taken = {version.name for version in view.versions}
    name, number = WORKING_COPY, 1
    while name in taken:
        number += 1
        name = f"{WORKING_COPY}-{number}"
    return name


def ask_delete(call: Call) -> View:
    """Ask for confirmation before the record is deleted."""
    record = call.record
    return asked_of(
        record,
        title=_("Delete this record"),
        text=counted(
            "Deletes the record from this Silo with its version and all its files.",
            "Deletes the record from this Silo with its {n} versions and all their files.",
            len(record.versions),
        )
        + " "
        + _("Later harvests will not restore it. This cannot be undone."),
        action=urls.delete_record(record.item_id),
        submit=_("Delete record"),
        fields=(message_field(),),
        back=urls.record(record.item_id),
        is_danger=True,
    )


def delete(call: Call) -> Response:
    """Delete the record, and record the deletion."""
    curator = Curator(call)
    curator.delete_record()
    if call.wants_json:
        return json_answer({"deleted": curator.record.item_id})
    return redirect(urls.search([("done", "record-deleted")]))
