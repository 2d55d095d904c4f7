"""Start a job, now or at set times: choose a kind, then fill in its form."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from crawlmatch.errors import check_extra
from crawlmatch.kept import crawls_beside, inputs_beside
from recordsilo.extras import PackageMissing
from recordsilo.records.manifest import STATES
from recordsilo.repository import Repository
from recordsilo.selection import selection_table
from siloexport.fedora_places import fedora_places
from siloexport.jobs import DRY_RUN, EXPORT, VERSIONS, selection_of
from silowork.errors import JobRefused
from silowork.kinds import begun_by_form, read_request
from silowork.schedules import Schedule, add_schedule, name_of, schedule_names
from usagestats.rules.settings import read_settings
from webui import urls
from webui.activity import note, note_job
from webui.export_forms import ExportForm, export_forms
from webui.export_selection import COUNTED, SEARCH, form_selection
from webui.http.errors import BadRequest, NotFound, as_sentence
from webui.http.messages import Response
from webui.rendering import View, changed_answer
from webui.schedule_forms import NOW, WHEN, timetable_from
from webui.site import Call, set_choices
from webui.words.texts import text as _

EXPLAINED = {
    "update": "Harvest what changed at the source since the last complete harvest.",
    "harvest": "Harvest a metadata format, a set, or a range of dates.",
    "crawl-match": "Determine from the logs of a crawler what became of the links in the records.",
    "usage-import": "Count how the records are used, from the access logs of the web server.",
    "audit": "Compare the files on disk with the manifests of the records. Changes nothing.",
    "reindex": "Needed only if files were changed by other software.",
    "export-files": "Plain files or BagIt bags, in a directory beside the Silo.",
    "export-csv": "One row for each record, as CSV or JSON lines, to download.",
    "export-links": "All links in the records, for download.",
    "export-zip": "The metadata files of the records, to download.",
    "export-fedora": "Objects with their versions, in a Fedora repository.",
}
"""English texts of the catalogue."""
HEADINGS = {
    "update": "Update",
    "harvest": "Harvest",
    "crawl-match": "Match a crawl",
    "usage-import": "Import access logs",
    "audit": "Audit",
    "reindex": "Rebuild the index",
}
"""The same, of kinds other than exports."""
GROUPS = ("Harvest", "Export", "Crawls", "Usage", "Maintenance")
"""The same, of the groups of forms."""
_OWN = ("kind", "when", "at")


@dataclass(frozen=True, slots=True)
class Choice:
    """A form that starts a job.

    Attributes:
        name: In its address.
        export: Its fields, if it is an export.
    """

    name: str
    heading: str
    explained: str
    group: str
    export: ExportForm | None = None

    @property
    def url(self) -> str:
        """The address of the form."""
        return urls.new_job(self.name)


def _choices(call: Call) -> Iterator[Choice]:
    """The forms, in their order."""
    if _base_url(call):
        yield _choice("update", "Harvest")
    yield _choice("harvest", "Harvest")
    for form in export_forms(call.site.silo.path):
        kind, name = form.first, f"export-{form.first.name}"
        explained = EXPLAINED.get(name, kind.hint)
        yield Choice(name, _(kind.heading), _(explained), _("Export"), form)
    yield _choice("crawl-match", "Crawls")
    yield _choice("usage-import", "Usage")
    yield _choice("audit", "Maintenance")
    yield _choice("reindex", "Maintenance")


def _choice(name: str, group: str) -> Choice:
    return Choice(name, _(HEADINGS[name]), _(EXPLAINED[name]), _(group))


def _base_url(call: Call) -> str:
    return str(call.site.silo.state.get("base_oai_url") or "")


def ask_new(call: Call) -> View:
    """List the jobs that can be started."""
    choices = list(_choices(call))
    try:
        places = fedora_places(call.site.silo.path).values()
    except JobRefused:  # the form gives the reason
        places = {}.values()
    twin = {
        "kinds": begun_by_form(),
        "forms": [{"name": one.name, "heading": one.heading, "url": one.url} for one in choices],
        "base_url": _base_url(call),
        "fedoras": [{"name": one.name, "url": one.url} for one in places],
    }
    groups = [(_(group), [one for one in choices if one.group == _(group)]) for group in GROUPS]
    return View("job_new.mako", {"groups": groups}, twin, urls.new_job())


def ask(call: Call) -> View:
    """Show the form of one kind of job; an export is for the selected records.

    Raises:
        NotFound: There is no such form.
    """
    name = call.params["form"]
    choice = next((one for one in _choices(call) if one.name == name), None)
    if choice is None:
        raise NotFound("There is no page at this address.")
    own = _fields_of(choice.export) if choice.export else frozenset[str]()
    pairs = [one for one in call.request.pairs if one[0] not in own]
    return _form(call, choice, call.request.query, pairs)


def _fields_of(form: ExportForm) -> frozenset[str]:
    """The fields of a form that are no conditions on the records."""
    return frozenset({"form", "name", "versions", "deletions", "conflicts"}) | {
        field.name for field, _choices in form.fields
    }


def _form(
    call: Call,
    choice: Choice,
    given: Mapping[str, str],
    pairs: Iterable[tuple[str, str]],
    *,
    fault: str = "",
    status: int = 200,
) -> View:
    """Show a form, filled in with what was given.

    Args:
        pairs: For an export, the conditions on its records.
        fault: Why the form as it was sent starts nothing.
    """
    name = choice.name
    asked = form_selection(call, pairs, choice.url) if choice.export else None
    chosen = asked.chosen if asked else None
    state = call.site.repository
    formats = _formats(state)
    sets = sorted(state["sets"].items(), key=lambda one: str(one[1]).casefold())
    twin: dict[str, Any] = {"form": name, "heading": choice.heading}
    if asked and chosen:
        twin |= {"records": chosen.count, "select": selection_table(chosen.select)}
        twin |= {"said": chosen.said, "counted": asked.counted, "shown_at": chosen.url}
    if name == "harvest":
        twin["formats"] = [{"prefix": one, "harvested": ticked} for one, ticked in formats]
        twin["sets"] = [{"spec": spec, "name": str(label)} for spec, label in sets]
    crawled = _crawl_files(call) if name == "crawl-match" else []
    if name == "crawl-match":
        twin["files"] = crawled
    logs, log_fault = _access_logs(call) if name == "usage-import" else ([], "")
    if name == "usage-import":
        twin["logs"] = logs
    data = {
        "choice": choice,
        "asked": asked,
        "chosen": chosen,
        "given": given,
        "fault": fault,
        "states": STATES,
        "base_url": _base_url(call),
        "formats": formats,
        "harvested_sets": sets,
        "sets": set_choices(call.site) if chosen else [],
        "versions": VERSIONS,
        "crawled": crawled,
        "crawl_place": os.path.basename(crawls_beside(call.site.silo.path)),
        "crawl_fault": _crawl_fault() if name == "crawl-match" else "",
        "logs": logs,
        "log_fault": log_fault,
        "when": WHEN,
    }
    url = urls.with_search(urls.new_job(name), chosen.search if chosen else "")
    return View("job_form.mako", data, twin, url, status)


def _crawl_files(call: Call) -> list[str]:
    """The files beside the Silo that a match may read."""
    return inputs_beside(call.site.silo.path)


def _crawl_fault() -> str:
    """Why no crawl can be matched, as a sentence; empty if one can."""
    try:
        check_extra()
    except PackageMissing as error:
        return as_sentence(str(error))
    return ""


def _access_logs(call: Call) -> tuple[list[str], str]:
    """The logs that ``usage.toml`` names; a form names none, because it could name any file.

    Returns:
        The names as they are written there, and why they cannot be imported, or ``""``.
    """
    path = call.site.silo.path
    try:
        read_request("usage-import", {}, path, 0)
        return list(read_settings(path).logs), ""
    except JobRefused as error:
        return [], as_sentence(str(error).replace(path, call.site.name))


def _formats(state: Repository) -> list[tuple[str, bool]]:
    """The formats of the source, those harvested first, each with whether it was harvested.

    Of a source that nothing is known about: ``oai_dc``, which every repository has.
    """
    harvested, announced = sorted(state["harvested"]), list(state["formats"])
    names = dict.fromkeys([*harvested, *announced]) or {"oai_dc": None}
    ticked = set(harvested) or {"oai_dc" if "oai_dc" in names else next(iter(names))}
    return [(name, name in ticked) for name in names]


def create(call: Call) -> View | Response:
    """Start a job, or add a schedule for it: the field ``kind``, and the fields of that kind.

    A schedule has the field ``when``, and ``at`` if it names days. The form of an export sends
    its conditions (`export_selection`); programs may send ``select`` instead. To people, a
    mistake is shown in the form as they filled it in.

    Raises:
        BadRequest: The kind, its fields, or the schedule's time are invalid, or an export
            would be of no record.
    """
    given, choice = call.form.fields, _choice_of(call)
    pairs = tuple(given.items())
    fields = _fields(given)
    if choice and choice.export and SEARCH in given:
        asked = form_selection(call, pairs, choice.url)
        if given.get(COUNTED, asked.counted) != asked.counted and not call.wants_json:
            said = _("The conditions have changed since the number was shown: {said}. Check it, and press the button again.", said=asked.chosen.said)  # fmt: skip  # noqa: E501
            return _form(call, choice, given, pairs, fault=said, status=HTTPStatus.CONFLICT)
        fields = {n: v for n, v in fields.items() if n not in (SEARCH, COUNTED, *asked.own)}
        fields["select"] = json.dumps(selection_table(asked.chosen.select))
    try:
        return _begun(call, fields)
    except BadRequest as error:
        if call.wants_json or choice is None:
            raise
        return _form(call, choice, given, pairs, fault=error.message, status=HTTPStatus.BAD_REQUEST)


def _choice_of(call: Call) -> Choice | None:
    """The form that was sent; None if it is none of them."""
    kind, form = call.field("kind"), call.field("form")
    for one in _choices(call):
        if one.name == kind or (one.export and kind == EXPORT.name and one.export.has(form)):
            return one
    return None


def _begun(call: Call, fields: Mapping[str, str]) -> Response:
    kind = call.field("kind")
    try:
        asked = read_request(kind, fields, call.site.silo.path, call.site.silo.count())
        if call.field("when", NOW) != NOW and not call.field(DRY_RUN):
            return _scheduled(call, kind, fields, asked.title)
    except JobRefused as error:
        raise BadRequest(as_sentence(str(error))) from None
    if kind == EXPORT.name and not selection_of(asked.arguments).total(call.site.silo):
        raise BadRequest("No record is selected, so there is nothing to export.")
    job = call.site.jobs.begin(kind, asked.title, asked.arguments, call.user.name)
    note_job(call, job, job.kind)
    return changed_answer(call, urls.job(job.job_id), job.to_json())


def _scheduled(call: Call, kind: str, fields: Mapping[str, str], title: str) -> Response:
    wish = timetable_from(call.field("when"), call.field("at"))
    path = call.site.silo.path
    name = name_of(f"{kind} {fields.get('form', '')}")  # short; the title says the rest
    taken, free, number = schedule_names(path), name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    made = add_schedule(path, Schedule(free, kind, wish, fields, title, call.user.name))
    note(call, "add schedule", message=title)
    return changed_answer(call, urls.schedules(done="added"), {"name": made.name})


def _fields(given: Mapping[str, str]) -> dict[str, str]:
    """The fields of the kind; ticked formats (``prefix-oai_dc``) are added to ``prefixes``."""
    fields = {name: text for name, text in given.items() if name not in _OWN}
    ticked = [name for name in fields if name.startswith("prefix-")]
    if ticked:
        prefixes = [one.removeprefix("prefix-") for one in ticked]
        fields["prefixes"] = " ".join(
            dict.fromkeys([*prefixes, *fields.get("prefixes", "").split()])
        )
    return {name: text for name, text in fields.items() if name not in ticked}
