"""Changing many records by a rule: built, previewed, applied as a job, or kept."""

from collections.abc import Callable
from functools import wraps

from recordsilo.errors import RecordNotFound, RecordSiloError, SearchError
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet, load_rules, rules_text, save_rules, to_table
from silocuration.errors import CurationError
from webui import urls
from webui.activity import note
from webui.bulk import jobs
from webui.bulk.previews import look
from webui.bulk.rule_form import RuleForm, rule_name
from webui.bulk.rule_view import rule_view
from webui.http.errors import from_curation, from_store
from webui.http.messages import Response, redirect
from webui.rendering import View, json_answer
from webui.search.chosen_records import from_address, search_of, selected
from webui.search.request import SearchRequest
from webui.site import Call

Handler = Callable[[Call], View | Response]
Act = Callable[[Call, RuleForm, RuleSet], View | Response]


def show(call: Call) -> View | Response:
    """The form of a rule, for what the address selects, or of a saved rule (``rule``).

    With ``state-to`` it sets a status, and is previewed.
    """
    if name := call.request.query.get("rule", ""):
        return rule_view(call, _form_of(load_rules(call.site.silo.path, rule_name(name)), name))
    form = RuleForm(search=from_address(call).search, state=call.request.query.get("state-to", ""))
    return _tried(_preview, call, form) if form.state else rule_view(call, form)


def _form_of(rule_set: RuleSet, name: str) -> RuleForm:
    request = SearchRequest.of_selection(rule_set.select)
    return RuleForm.of_rule(rule_set, name, search_of(request.asked))


# --------------------------------------------------------------------------- its buttons


def add(call: Call) -> View:
    """Add a change to the form: its kind in ``add``, its field in ``add-field``."""
    form = RuleForm.of(call.form.fields)
    return rule_view(call, form.added(call.field("add"), call.field("add-field") or "subject"))


def remove(call: Call) -> View:
    """Remove a change from the form; the button ends in its number."""
    form = RuleForm.of(call.form.fields)
    return rule_view(call, form.without(call.field("do").removeprefix("remove-")))


def _with_rules(act: Act) -> Handler:
    """A handler that gets the rules of the form that was sent."""

    @wraps(act)
    def handler(call: Call) -> View | Response:
        return _tried(act, call, RuleForm.of(call.form.fields))

    return handler


def _tried(act: Act, call: Call, form: RuleForm) -> View | Response:
    """What is done with the rules of a form; people see in the form what is wrong with it."""
    try:
        return act(call, form, form.rule_set(selected(call, form.search).select))
    except (CurationError, RecordNotFound, SearchError) as error:
        if call.wants_json:
            raise
        return rule_view(call, form, fault=_sentence(call, error), status=400)


def _sentence(call: Call, error: CurationError | RecordSiloError) -> str:
    path = call.site.silo.path
    if isinstance(error, CurationError):
        return from_curation(error, path).message
    return from_store(error, path).message


def _preview(call: Call, form: RuleForm, rule_set: RuleSet) -> View:
    return rule_view(call, form, found=look(call, rules_job(rule_set, form.name)))


@_with_rules
def preview(call: Call, form: RuleForm, rule_set: RuleSet) -> View:
    """Show what the rules would do to the first records."""
    return _preview(call, form, rule_set)


@_with_rules
def preview_all(call: Call, form: RuleForm, rule_set: RuleSet) -> Response:
    """Begin a job that looks at all that the rules would do."""
    return jobs.look_at_all(call, rules_job(rule_set, form.name))


@_with_rules
def apply(call: Call, form: RuleForm, rule_set: RuleSet) -> Response:
    """Begin a job that applies the rules."""
    return jobs.apply(call, rules_job(rule_set, form.name))


@_with_rules
def keep(call: Call, form: RuleForm, rule_set: RuleSet) -> Response:
    """Keep the rules under a name, in place of those that had it."""
    path, name = call.site.silo.path, rule_name(form.name)
    before = rules_text(path, name)
    save_rules(path, name, rule_set)
    note(call, "keep rule", (name, before, rules_text(path, name)))
    location = urls.rule(name, done="kept")
    if call.wants_json:
        return json_answer({"name": name, **to_table(rule_set)}, 201, {"Location": location})
    return redirect(location)
