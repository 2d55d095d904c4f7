"""The rules that are kept in the Silo: looked at, tested, applied, deleted."""

from typing import Any

import tomli_w

from silocuration.bulk import Preview
from silocuration.errors import CurationError
from silocuration.job_specs import rules_job
from silocuration.rule_files import delete_rules, load_rules, rule_names, rules_text, to_table
from webui import urls
from webui.activity import note
from webui.http.messages import Response, redirect
from webui.pages.bulk import apply, look, look_at_all, preview_json, rule_name
from webui.rendering import View, json_answer
from webui.site import Call


def show(call: Call) -> View:
    """The kept rules; one that cannot be read is named with the reason."""
    path = call.site.silo.path
    lines: list[dict[str, Any]] = []
    for name in rule_names(path):
        try:
            rule_set = load_rules(path, name)
        except CurationError as error:
            lines.append({"name": name, "fault": str(error).replace(path + "/", "")})
            continue
        changes = len(rule_set.rules)
        lines.append(
            {"name": name, "title": rule_set.title, "keep": rule_set.keep, "changes": changes}
        )
    return View("rules.mako", {"lines": lines}, {"rules": lines}, urls.rules())


def show_one(call: Call) -> View:
    """A rule as it is written."""
    return _view(call)


def act(call: Call) -> View | Response:
    """Test a rule (``do=test``; ``do=look``: on all records, as a job), or ``do=apply`` it."""
    name = rule_name(call.params["name"])
    spec = rules_job(load_rules(call.site.silo.path, name), name)
    if call.field("do") == "apply":
        return apply(call, spec)
    if call.field("do") == "look":
        return look_at_all(call, spec)
    return _view(call, look(call, spec))


def delete(call: Call) -> Response:
    """Delete a rule; what it did stays done."""
    name = rule_name(call.params["name"])
    before = rules_text(call.site.silo.path, name)
    delete_rules(call.site.silo.path, name)
    note(call, "delete rule", (name, before, None))
    return json_answer({"deleted": name}) if call.wants_json else redirect(urls.rules())


def _view(call: Call, found: Preview | None = None) -> View:
    name = rule_name(call.params["name"])
    rule_set = load_rules(call.site.silo.path, name)
    table = to_table(rule_set)
    data = {
        "name": name,
        "rule_set": rule_set,
        "toml": tomli_w.dumps(table),
        "found": found,
        "done": call.request.query.get("done", "") == "kept",
    }
    twin = {"name": name, **table, "preview": None if found is None else preview_json(found)}
    return View("rule.mako", data, twin, urls.rule(name))
