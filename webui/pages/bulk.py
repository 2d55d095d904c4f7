"""Batch edits by a rule: edit it, preview it, apply it as a job, or save it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from functools import wraps

from recordsilo.errors import RecordNotFound, RecordSiloError, SearchError
from silocuration.batch.job import job_report
from silocuration.batch.planned import discard
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import (
    RuleSet,
    from_table,
    load_rules,
    rules_text,
    save_rules,
    to_table,
)
from silocuration.errors import CurationError, RuleRefused
from silocuration.review.trials import trial
from webui import urls
from webui.activity import note
from webui.bulk import jobs
from webui.bulk.previews import look, tried
from webui.bulk.rule_form import RuleForm, rule_name
from webui.bulk.rule_view import Fault, rule_view
from webui.http.errors import NotFound, as_sentence, as_web_error
from webui.http.messages import Response
from webui.rendering import View, changed_answer, json_answer
from webui.search.chosen_records import from_address, search_of, selected
from webui.search.request import SearchRequest
from webui.site import Call
from webui.words.texts import text as _

Handler = Callable[[Call], View | Response]
Act = Callable[[Call, RuleForm, RuleSet], View | Response]


def show(call: Call) -> View | Response:
    """Show the form of a rule for the selected records, or of a saved rule (``rule``).

    With ``state-to``, the rule sets a status; ``job`` is a previewed batch edit.
    """
    if name := call.request.query.get("rule", ""):
        return rule_view(call, _form_of(load_rules(call.site.silo.path, rule_name(name)), name))
    if job_id := call.request.query.get("job", ""):
        about = job_report(call.site.silo, job_id).about
        if "rules" not in about:
            raise NotFound("This batch edit has no rule.")
        return rule_view(call, _form_of(from_table(about["rules"]), str(about.get("rule", ""))))
    form = RuleForm(search=from_address(call).search, state=call.request.query.get("state-to", ""))
    return rule_view(call, form if form.state else form.begun)


def _form_of(rule_set: RuleSet, name: str) -> RuleForm:
    request = SearchRequest.of_selection(rule_set.select)
    return RuleForm.of_rule(rule_set, name, search_of(request.asked))


# --------------------------------------------------------------------------- its buttons


def add(call: Call) -> View:
    """Add a change to the form: its kind in ``add``, its field in ``add-field``."""
    form = RuleForm.of(call.form.fields)
    return rule_view(call, form.added(call.field("add"), call.field("add-field") or "subject"))


def remove(call: Call) -> View:
    """Remove a change from the form; the button's name ends in its number."""
    form = RuleForm.of(call.form.fields)
    return rule_view(call, form.without(call.field("do").removeprefix("remove-")))


def kind(call: Call) -> View:
    """Show the form with the inputs of the chosen kind of a change; the button has its number."""
    form = RuleForm.of(call.form.fields)
    return rule_view(call, form.with_kind(call.field("do").removeprefix("kind-")))


def _with_rules(act: Act) -> Handler:
    """Make a handler from a function of the submitted form's rules."""

    @wraps(act)
    def handler(call: Call) -> View | Response:
        return _tried(act, call, RuleForm.of(call.form.fields))

    return handler


def _tried(act: Act, call: Call, form: RuleForm) -> View | Response:
    """Call a function with the form's rules; errors are shown in the form."""
    try:
        return act(call, form, form.rule_set(selected(call, form.search).select))
    except (CurationError, RecordNotFound, SearchError) as error:
        if call.wants_json:
            raise
        return rule_view(call, form, fault=_fault(call, error), status=400)


def _fault(call: Call, error: CurationError | RecordSiloError) -> Fault:
    said = as_web_error(error, call.site.silo.path).message
    if not isinstance(error, RuleRefused) or not error.part:
        return Fault(said)
    at = f"change-{error.change - 1}-{error.part}" if error.change else error.part
    return Fault(said, at, as_sentence(error.reason))


def _preview(call: Call, form: RuleForm, rule_set: RuleSet) -> View | Response:
    if not rule_set.rules and rule_set.state is None:
        raise RuleRefused(_("add a change, or choose a status"))
    spec = rules_job(rule_set, form.name)
    if call.wants_json:
        return rule_view(call, form, found=look(call, spec))
    answer = jobs.plan(call, spec)
    if earlier := call.field("job"):  # the preview that was opened to be changed
        with suppress(CurationError):
            discard(call.site.silo, earlier)
    return answer


@_with_rules
def preview(call: Call, form: RuleForm, rule_set: RuleSet) -> View | Response:
    """Show what the rules would do: to people all of it, to programs the first records."""
    return _preview(call, form, rule_set)


def sample(call: Call) -> Response:
    """Tell as JSON what the rules would do to the first values or records.

    Of a form that is not finished nothing is told: this is asked for while one fills it in.
    """
    form = RuleForm.of(call.form.fields)
    try:
        rule_set = form.rule_set(selected(call, form.search).select)
        found = trial(call.site.silo, rule_set)
    except (CurationError, RecordNotFound, SearchError) as error:
        return json_answer({"said": "", "shown": [], "fault": _fault(call, error).said})
    return json_answer({"said": tried(found), **asdict(found)})


@_with_rules
def preview_all(call: Call, form: RuleForm, rule_set: RuleSet) -> Response:
    """Start a job that previews the rules completely."""
    return jobs.look_at_all(call, rules_job(rule_set, form.name))


@_with_rules
def apply(call: Call, form: RuleForm, rule_set: RuleSet) -> Response:
    """Start a job that applies the rules."""
    return jobs.apply(call, rules_job(rule_set, form.name))


@_with_rules
def keep(call: Call, form: RuleForm, rule_set: RuleSet) -> Response:
    """Save the rules under a name; existing ones are replaced."""
    if not form.name:
        raise RuleRefused(_("“{label}” cannot be empty", label=_("Name of the rule")), part="name")
    path, name = call.site.silo.path, rule_name(form.name)
    before = rules_text(path, name)
    save_rules(path, name, rule_set)
    note(call, "keep rule", (name, before, rules_text(path, name)))
    return changed_answer(
        call, urls.rule(name, done="kept"), {"name": name, **to_table(rule_set)}, 201
    )
