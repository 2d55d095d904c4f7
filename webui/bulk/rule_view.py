"""The page for editing a rule, with its preview or its errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from recordsilo.index import FacetValue, PageRequest
from recordsilo.index.facets import labels_of
from recordsilo.records.manifest import STATES
from silocuration.batch.job import Preview
from silocuration.batch.spreadsheet import fields_of
from silocuration.editing.repairs import REPAIRS
from silocuration.review.counts import CLUSTERED
from webui import urls
from webui.bulk.rule_form import BY_NAME, CASES, HOWS, KINDS, RuleForm
from webui.editing.edit_form import DUBLIN_CORE
from webui.rendering import View
from webui.search.chosen_records import Chosen, selected
from webui.site import Call
from webui.words.field_labels import field_label
from webui.words.texts import text as _

LOOKED_AT = 20
"""Number of records whose fields are offered."""
OFFERED = 100
"""Number of values of a field that are offered without JavaScript."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a form.

    Attributes:
        said: A sentence.
        at: The id of the input that is wrong; empty if it is not known.
        reason: The sentence beside this input.
    """

    said: str
    at: str = ""
    reason: str = ""


def rule_view(
    call: Call,
    form: RuleForm,
    *,
    found: Preview | None = None,
    fault: Fault | None = None,
    status: int = 200,
) -> View:
    """Return the form of a rule, with its preview or its errors.

    Args:
        form: The rule that is being edited.
        found: Its preview, if it was previewed.
        fault: What is wrong with it, if anything is.
        status: The HTTP status.
    """
    chosen = selected(call, form.search, form.named)
    data: Mapping[str, Any] = {
        "form": form,
        "chosen": chosen,
        "kinds": KINDS,
        "by_name": BY_NAME,
        "cases": CASES,
        "hows": HOWS,
        "repairs": {code: _(labels_of("finding")[code]) for code in REPAIRS},
        "offered": _offered(call, form, chosen),
        "facets": {element: facet for facet, element in CLUSTERED.items()},
        "states": STATES,
        "fields": _fields(call, form, chosen),
        "field_label": field_label,
        "found": found,
        "fault": fault,
        "wrong_at": fault.at if fault else "",
        "message": call.field("message"),
        "job": call.field("job") or call.request.query.get("job", ""),
    }
    twin = _as_json(chosen, form, found)
    return View("bulk.mako", data, twin, urls.bulk(form.search), status)


def _fields(call: Call, form: RuleForm, chosen: Chosen) -> tuple[str, ...]:
    """The fields to choose from: those of the first records, their formats', and the form's."""
    silo, select = call.site.silo, chosen.select
    first = islice(select.identifiers or select.iterate(silo), LOOKED_AT)
    known = dict.fromkeys((*fields_of(silo, first, form.file), *form.field_names)) or DUBLIN_CORE
    return (
        *(name for name in DUBLIN_CORE if name in known),
        *(name for name in known if name not in DUBLIN_CORE),
    )


def _offered(call: Call, form: RuleForm, chosen: Chosen) -> dict[str, Sequence[FacetValue]]:
    """Element → its most frequent values in the records found, for the elements in the form.

    Values are offered for a search; of a list of identifiers, the index knows no counts.
    """
    silo, select = call.site.silo, chosen.select
    wanted = {change.get("field", "") for change in form.changes} & set(CLUSTERED.values())
    if select.identifiers or not wanted:
        return {}
    names = [facet for facet, element in CLUSTERED.items() if element in wanted]
    page = PageRequest(limit=1, facet_limit=OFFERED)
    found = silo.search(select.query, select.filters, names, page).facets
    return {CLUSTERED[facet]: values for facet, values in found.items()}


def _as_json(chosen: Chosen, form: RuleForm, found: Preview | None) -> dict[str, Any]:
    return {
        "search": form.search,
        "records": chosen.count,
        "changes": [dict(change) for change in form.changes],
        "kinds": {kind.do: [one.name for one in kind.inputs] for kind in KINDS},
        "preview": None if found is None else found.to_json(),
    }
