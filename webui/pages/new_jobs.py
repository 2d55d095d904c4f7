"""Start a job, now or at set times: choose a kind, then fill in its form."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from recordsilo.records.manifest import STATES
from recordsilo.selection import selection_table
from siloexport.fedora_places import fedora_places
from siloexport.jobs import DRY_RUN, EXPORT, VERSIONS, selection_of
from silowork.errors import JobRefused
from silowork.forms import JobForm
from silowork.kinds import begun_by_form, kind_of, read_request
from silowork.schedules import Schedule, add_schedule, name_of, schedule_names
from webui import urls
from webui.activity import note, note_job
from webui.export_forms import ExportForm, export_forms
from webui.export_selection import (
    COUNTED,
    SEARCH,
    FormSelection,
    conditions_and_fields,
    form_selection,
)
from webui.http.downloads import name_for
from webui.http.errors import BadRequest, NotFound, as_sentence
from webui.http.messages import Response
from webui.rendering import View, changed_answer
from webui.schedule_forms import NOW, WHEN, timetable_from
from webui.site import Call, set_choices
from webui.words.texts import text as _

_OWN = ("kind", "when", "at")
_ORDER = 20
"""The place of exports among the forms of kinds of jobs."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A form that starts a job.

    Attributes:
        name: In its address.
        export: Its fields, if it is an export; `form` if it is not.
    """

    name: str
    heading: str
    explained: str
    group: str
    order: int
    export: ExportForm | None = None
    form: JobForm | None = None

    @property
    def url(self) -> str:
        """The address of the form."""
        return urls.new_job(self.name)


def _choices(call: Call) -> list[Choice]:
    """The forms, in their order: those of kinds of jobs, and of exports."""
    path = call.site.silo.path
    choices = [_export_choice(one) for one in export_forms(path)]
    for name in begun_by_form():
        if form := kind_of(name).form(path):
            texts = (_(form.heading), _(form.explained), _(form.group))
            choices.append(Choice(name, *texts, form.order, form=form))
    return sorted(choices, key=lambda one: one.order)


def _export_choice(form: ExportForm) -> Choice:
    kind = form.first
    explained = form.fault if kind.lacking else _(kind.explained or kind.hint)
    return Choice(f"export-{kind.name}", _(kind.heading), explained, _("Export"), _ORDER, form)


def ask_new(call: Call) -> View:
    """List the jobs that can be started."""
    choices = _choices(call)
    try:
        places = fedora_places(call.site.silo.path).values()
    except JobRefused:  # the form gives the reason
        places = {}.values()
    twin = {
        "kinds": begun_by_form(),
        "forms": [{"name": one.name, "heading": one.heading, "url": one.url} for one in choices],
        "base_url": str(call.site.silo.state.get("base_oai_url") or ""),
        "fedoras": [{"name": one.name, "url": one.url} for one in places],
    }
    groups: dict[str, list[Choice]] = {}
    for one in choices:
        groups.setdefault(one.group, []).append(one)
    return View("job_new.mako", {"groups": tuple(groups.items())}, twin, urls.new_job())


def ask(call: Call) -> View:
    """Show the form of one kind of job; an export is for the selected records.

    The address of an export has conditions as `export_selection` says, and fields of the form.

    Raises:
        NotFound: There is no such form.
    """
    name = call.params["form"]
    choice = next((one for one in _choices(call) if one.name == name), None)
    if choice is None:
        raise NotFound("There is no page at this address.")
    if not choice.export:
        return _form(call, choice, call.request.query, ())
    own = _fields_of(choice.export)
    conditions, fields = conditions_and_fields(call.request.pairs, own)
    return _form(call, choice, dict(fields), conditions)


def _fields_of(form: ExportForm) -> frozenset[str]:
    """The fields of a form that are no conditions on the records."""
    return frozenset({"form", "name", "versions", "deletions", "conflicts", "as_of"}) | {
        field.name for field, _choices in form.fields
    }


def _form(
    call: Call,
    choice: Choice,
    given: Mapping[str, str],
    pairs: Iterable[tuple[str, str]],
    *,
    fault: str = "",
    wrong: str = "",
    status: int = 200,
) -> View:
    """Show a form, filled in with what was given.

    Args:
        pairs: For an export, the conditions on its records.
        fault: Why the form as it was sent starts nothing.
        wrong: The field that is wrong; empty if none is named.
    """
    asked = form_selection(call, pairs, choice.url) if choice.export else None
    chosen = asked.chosen if asked else None
    twin: dict[str, Any] = {"form": choice.name, "heading": choice.heading}
    if asked and chosen:
        twin |= {"records": chosen.count, "select": selection_table(chosen.select)}
        twin |= {"said": chosen.said, "counted": asked.counted, "shown_at": chosen.url}
    if choice.form:
        twin |= _form_json(choice.form) | {"fault": _said(call, choice.form.fault)}
    data = {
        "choice": choice,
        "form_fault": _said(call, choice.form.fault) if choice.form else "",
        "asked": asked,
        "chosen": chosen,
        "given": given,
        "name": _name(call, choice.export, asked) if choice.export and asked else "",
        "fault": fault,
        "wrong": wrong,
        "states": STATES,
        "sets": set_choices(call.site) if chosen else [],
        "versions": VERSIONS,
        "when": WHEN,
    }
    url = urls.with_search(choice.url, chosen.search if chosen else "")
    return View("job_form.mako", data, twin, url, status)


def _name(call: Call, form: ExportForm, asked: FormSelection) -> str:
    """The proposed name of an export: what is in it; the ending of a file says its kind."""
    return name_for(call.site.name, *asked.words, "" if form.is_file else form.first.name)


def _form_json(form: JobForm) -> dict[str, Any]:
    return {
        "fields": [asdict(one) for one in form.fields],
        "note": form.note,
        "listed": list(form.listed),
    }


def _said(call: Call, fault: str) -> str:
    """A fault as a sentence, without the path of the Silo."""
    return _(as_sentence(fault.replace(call.site.silo.path, call.site.name))) if fault else ""


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
    fields = {name: text for name, text in given.items() if name not in _OWN}
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
        return _form(
            call, choice, given, pairs,
            fault=error.message, wrong=error.field, status=HTTPStatus.BAD_REQUEST,
        )  # fmt: skip


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
        raise BadRequest(as_sentence(str(error))).at(error.field) from None
    if kind == EXPORT.name:
        selection = selection_of(asked.arguments)
        if not selection.as_of and not selection.total(call.site.silo):  # of then, the job says it
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
