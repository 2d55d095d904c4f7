"""The Silo's saved rules: show, test, apply, delete."""

from typing import Any

import tomli_w

from silocuration.batch.job import Preview
from silocuration.batch.specs import JobSpec, rules_job, summary
from silocuration.editing.rule_files import (
    delete_rules,
    load_rules,
    rule_names,
    rules_text,
    to_table,
)
from silocuration.errors import CurationError
from webui import urls
from webui.activity import note
from webui.bulk import jobs
from webui.bulk.previews import look
from webui.bulk.rule_form import rule_name
from webui.http.messages import Response, redirect
from webui.rendering import View, json_answer
from webui.site import Call


def show(call: Call) -> View:
    """List the saved rules; one that cannot be read is listed with the reason."""
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
    """Show the text of a rule."""
    return _view(call)


def preview(call: Call) -> View | Response:
    """Show what a rule would do: to people all of it, to programs the first records."""
    return _view(call, look(call, _spec(call))) if call.wants_json else jobs.plan(call, _spec(call))


def preview_all(call: Call) -> Response:
    """Start a job that previews a rule completely."""
    return jobs.look_at_all(call, _spec(call))


def apply(call: Call) -> Response:
    """Start a job that applies a rule."""
    return jobs.apply(call, _spec(call))


def _spec(call: Call) -> JobSpec:
    name = rule_name(call.params["name"])
    return rules_job(load_rules(call.site.silo.path, name), name)


def delete(call: Call) -> Response:
    """Delete a rule; its changes stay."""
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
        "does": summary({"rules": table}),
        "selects": rule_set.select.said(call.site.set_name),
        "found": found,
        "done": call.request.query.get("done", "") == "kept",
    }
    twin = {"name": name, **table, "preview": None if found is None else found.to_json()}
    return View("rule.mako", data, twin, urls.rule(name))
