"""The sets of the Silo, by name, with the number of their records."""

from webui import urls
from webui.rendering import View
from webui.site import Call, set_choices


def show(call: Call) -> View:
    """All sets that a record is in."""
    choices = set_choices(call.site)
    twin = {
        "sets": [
            {"spec": spec, "name": name, "records": count, "url": urls.records_of_set(spec)}
            for spec, name, count in choices
        ]
    }
    return View("sets.mako", {"set_choices": choices}, twin, urls.sets())
