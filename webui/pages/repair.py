"""Repair the records with a finding that has a repair: plan a batch edit, lead to its preview."""

from silocuration.batch.specs import rules_job
from silocuration.editing.repairs import REPAIRS
from webui.bulk import jobs
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.search.repairing import repair_of
from webui.search.request import SearchRequest, pairs_of_query
from webui.site import Call


def preview(call: Call) -> Response:
    """Plan the repair of a search's records that have a ``finding``; nothing is changed yet.

    Raises:
        BadRequest: The finding has no repair.
        RuleRefused: No record of the search has it.
    """
    code = call.field("finding")
    if code not in REPAIRS:
        raise BadRequest(
            "Choose a finding that has a repair: {known} (field finding).",
            known=", ".join(REPAIRS),
        )
    request = SearchRequest.of(pairs_of_query(call.field("search")))
    return jobs.plan(call, rules_job(repair_of(request, code)))
