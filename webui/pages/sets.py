"""The sets of the Silo, by name, with the number of their records."""

from webui import urls
from webui.rendering import View
from webui.site import Call, set_choices

FEW = 15
"""Maximum number of sets shown without a filter box."""


def show(call: Call) -> View:
    """List all sets that have records, or those whose name or setSpec contains ``match``."""
    every = set_choices(call.site)
    match = call.request.query.get("match", "").strip()
    part = match.casefold()
    choices = [one for one in every if part in one[1].casefold() or part in one[0].casefold()]
    twin = {
        "sets": [
            {"spec": spec, "name": name, "records": count, "url": urls.records_of_set(spec)}
            for spec, name, count in choices
        ]
    }
    data = {"set_choices": choices, "total": len(every), "match": match, "few": FEW}
    return View("sets.mako", data, twin, urls.with_query(urls.sets(), {"match": match}))
