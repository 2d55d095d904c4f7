"""Changing many records by a rule: built, previewed, applied as a job, or kept."""

from collections.abc import Mapping
from typing import Any

from recordsilo.errors import RecordNotFound, RecordSiloError, SearchError
from recordsilo.records.manifest import STATES
from silocuration.bulk import Preview, create_job, preview
from silocuration.errors import CurationError
from silocuration.job_specs import JobSpec, rules_job
from silocuration.rule_files import RuleSet, load_rules, rules_text, save_rules, to_table
from silowork.values import Job
from webui import urls
from webui.activity import note
from webui.bulk.jobs import start_bulk_job, start_preview
from webui.bulk.rule_form import BY_NAME, CASES, KINDS, RuleForm
from webui.editing.edit_form import DUBLIN_CORE
from webui.http.errors import BadRequest, from_curation, from_store
from webui.http.messages import Response, redirect
from webui.pages.edit import field_label
from webui.pages.selecting import Chosen, from_address, search_of, selected
from webui.rendering import View, json_answer
from webui.search_request import SearchRequest
from webui.site import Call

LOOKED_AT = 20_000
"""Records of a preview: about seven seconds of them."""
SECONDS = 15.0
"""For which a request looks at records."""
SAMPLES = 8


def show(call: Call) -> View:
    """The form of a rule, for what the address selects, or of a kept rule (``rule``)."""
    if name := call.request.query.get("rule", ""):
        return view(call, form_of_rule(load_rules(call.site.silo.path, rule_name(name)), name))
    chosen = from_address(call)
    return view(call, RuleForm(search=chosen.search))


def form_of_rule(rule_set: RuleSet, name: str = "") -> RuleForm:
    """The form of a rule that is there."""
    request = SearchRequest.of_selection(rule_set.select)
    return RuleForm.of_rule(rule_set, name, search_of(request.asked))


def rule_name(name: str) -> str:
    """A name of a rule in this Silo; never a path.

    Raises:
        BadRequest: It is a path.
    """
    if "/" in name or name.endswith(".toml"):
        raise BadRequest("A rule is named as it is in the list of rules.")
    return name


def act(call: Call) -> View | Response:
    """What a button of the form says: add or remove a change, preview, apply, keep."""
    form = RuleForm.of(call.form.fields)
    action = call.field("do") or "preview"
    if action == "add":
        return view(call, form.added(call.field("add"), call.field("add-field") or "subject"))
    if action.startswith("remove-"):
        return view(call, form.without(action.removeprefix("remove-")))
    try:
        rule_set = form.rule_set(selected(call.site, form.search).select)
        return _done(call, form, action, rule_set)
    except (CurationError, RecordNotFound, SearchError) as error:
        if call.wants_json:
            raise
        return view(call, form, fault=_words(call, error), status=400)


def _words(call: Call, error: CurationError | RecordSiloError) -> str:
    path = call.site.silo.path
    if isinstance(error, CurationError):
        return from_curation(error, path).message
    return from_store(error, path).message


def _done(call: Call, form: RuleForm, action: str, rule_set: RuleSet) -> View | Response:
    if action == "preview":
        return view(call, form, found=look(call, rules_job(rule_set, form.name)))
    if action == "apply":
        return apply(call, rules_job(rule_set, form.name))
    if action == "look":
        return look_at_all(call, rules_job(rule_set, form.name))
    if action == "keep":
        _keep_rules(call, rule_name(form.name), rule_set)
        location = urls.rule(form.name, done="kept")
        if call.wants_json:
            return json_answer(
                {"name": form.name, **to_table(rule_set)}, 201, {"Location": location}
            )
        return redirect(location)
    raise BadRequest("The button (field do) is add, remove-0, preview, look, apply or keep.")


def _keep_rules(call: Call, name: str, rule_set: RuleSet) -> None:
    """Keep a rule under a name, in the place of the one that had it."""
    path = call.site.silo.path
    before = rules_text(path, name)
    save_rules(path, name, rule_set)
    note(call, "keep rule", (name, before, rules_text(path, name)))


def apply(call: Call, spec: JobSpec) -> Response:
    """Make a job of a change, start it, and lead to where it is watched."""
    job_id = create_job(call.site.silo, spec, agent=call.user.name, message=call.field("message"))
    return begun(call, job_id, start_bulk_job(call, job_id))


def begun(call: Call, job_id: str, job: Job) -> Response:
    """Lead a person to where a change or its undoing is watched, and a program to its report."""
    if call.wants_json:
        location = urls.bulk_job(job_id)
        return json_answer({"job": job_id, "url": location}, 202, {"Location": location})
    return redirect(urls.job(job.job_id))


def look_at_all(call: Call, spec: JobSpec) -> Response:
    """Plan a change, and look at all that it would do as a job; nothing is written to records."""
    job_id = create_job(call.site.silo, spec, agent=call.user.name, message=call.field("message"))
    job = start_preview(call, job_id)
    location = urls.job(job.job_id)
    if call.wants_json:
        told = {"job": job_id, "url": urls.bulk_job(job_id), "preview_job": job.job_id}
        return json_answer(told, 202, {"Location": location})
    return redirect(location)


def look(call: Call, spec: JobSpec) -> Preview:
    """What a change would do to the first `LOOKED_AT` records, or fewer: a request does not
    wait for a million, nor for longer than some `SECONDS`.
    """
    return preview(call.site.silo, spec, samples=SAMPLES, most=LOOKED_AT, seconds=SECONDS)


def preview_json(found: Preview) -> dict[str, Any]:
    """A preview as JSON values."""
    return {
        "complete": found.whole,
        "records": found.records,
        "changed": found.changed,
        "values": found.values,
        "copies": found.copies,
        "skipped": found.skipped,
        "remarks": list(found.remarks),
        "samples": [
            {
                "identifier": one.identifier,
                "before": [list(value) for value in one.before],
                "after": [list(value) for value in one.after],
                "state": one.state,
            }
            for one in found.samples
        ],
    }


def view(
    call: Call, form: RuleForm, *, found: Preview | None = None, fault: str = "", status: int = 200
) -> View:
    """The form of a rule, with its preview or with what is wrong with it."""
    chosen = selected(call.site, form.search, form.named)
    data: Mapping[str, Any] = {
        "form": form,
        "chosen": chosen,
        "kinds": KINDS,
        "by_name": BY_NAME,
        "cases": CASES,
        "states": STATES,
        "fields": DUBLIN_CORE,
        "field_label": field_label,
        "found": found,
        "fault": fault,
        "message": call.field("message"),
    }
    twin = _as_json(chosen, form, found)
    return View("bulk.mako", data, twin, urls.bulk(form.search), status)


def _as_json(chosen: Chosen, form: RuleForm, found: Preview | None) -> dict[str, Any]:
    return {
        "search": form.search,
        "records": chosen.count,
        "changes": [dict(change) for change in form.changes],
        "kinds": {kind.do: [one.name for one in kind.inputs] for kind in KINDS},
        "preview": None if found is None else preview_json(found),
    }
