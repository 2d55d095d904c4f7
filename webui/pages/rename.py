"""Rename values of a field everywhere: count while one types, preview, apply as a batch edit."""

from itertools import islice

from silocuration.batch.specs import rules_job
from silocuration.batch.spreadsheet import fields_of
from silocuration.errors import CurationError, RuleRefused
from silocuration.review.counts import RenameCounts, rename_counts
from webui import urls
from webui.bulk import jobs
from webui.editing.edit_form import DUBLIN_CORE
from webui.http.errors import BadRequest, as_sentence, as_web_error
from webui.http.messages import Response
from webui.rendering import View
from webui.search.renaming import Renaming, counts_as_json, noted, rename_url, told
from webui.site import Call
from webui.words.field_labels import field_label
from webui.words.texts import text as _

LOOKED_AT = 100
"""Records whose fields are known, if a field is none of Dublin Core."""


def show(call: Call) -> View:
    """Show the form for values (``value``, repeated) of a ``field``, and count for ``to``.

    Raises:
        BadRequest: There is no such field, or none or no value is given.
    """
    return _view(call, _of_a_field(call, Renaming.of(call.request.pairs)))


def preview(call: Call) -> View | Response:
    """Plan the renaming as a batch edit, and lead to its preview; nothing is changed yet."""
    renaming = _of_a_field(call, Renaming.of(call.form.fields.items()))
    try:
        rules = renaming.rule_set()
        if (counts := _counts(call, renaming)) and not counts.having:
            raise RuleRefused(_("no record has the value"), part="value")
        return jobs.plan(call, noted(rules_job(rules), renaming, counts))
    except CurationError as error:
        if call.wants_json:
            raise
        is_of_field = isinstance(error, RuleRefused) and error.part
        reason = (
            as_sentence(error.reason)
            if isinstance(error, RuleRefused) and is_of_field
            else as_web_error(error, call.site.silo.path).message
        )
        return _view(call, renaming, reason, 400)


def _of_a_field(call: Call, renaming: Renaming) -> Renaming:
    """Return a renaming whose field Dublin Core or one of the first records found has."""
    if renaming.is_facet or renaming.field in DUBLIN_CORE:
        return renaming
    silo = call.site.silo
    others = fields_of(silo, islice(renaming.request.selection.iterate(silo), LOOKED_AT))
    if renaming.field not in others:
        known = ", ".join(dict.fromkeys((*DUBLIN_CORE, *others)))
        raise BadRequest("Choose one of these fields: {known} (field).", known=known)
    return renaming


def _view(call: Call, renaming: Renaming, fault: str = "", status: int = 200) -> View:
    counts = _counts(call, renaming)
    url = rename_url(renaming.search, renaming.field, renaming.values)
    everywhere = rename_url("", renaming.field, renaming.values) if renaming.search else ""
    data = {
        "renaming": renaming,
        "label": field_label(renaming.element),
        "among": renaming.request,
        "found": renaming.found,
        "counts": counts,
        "told": told(counts, renaming.new) if counts else "",
        "everywhere": everywhere,
        "batch_edit": urls.bulk(urls.query(renaming.found.asked)),
        "fault": fault,
    }
    twin = {
        "field": renaming.field,
        "values": renaming.values,
        "to": renaming.to,
        "search": renaming.search,
        "batch_edit": data["batch_edit"],
        "everywhere": everywhere or None,
        "counts": counts_as_json(counts, renaming.new),
    }
    return View("rename.mako", data, twin, url, status)


def _counts(call: Call, renaming: Renaming) -> RenameCounts | None:
    """The counts; None if only reading the records would tell."""
    if not renaming.is_facet:
        return None
    silo, among = call.site.silo, renaming.request.selection
    return rename_counts(silo, among, renaming.field, renaming.values, renaming.new)
