"""The harvests of the Silo, with their receipts."""

from oaipmhscraper.errors import ScraperError
from oaipmhscraper.harvests.past_harvests import harvests_of
from webui import urls
from webui.harvest_lines import harvest_history, line_of, url_of_running
from webui.http.errors import WebError, as_sentence
from webui.job_view import receipt_of_harvest
from webui.people.roles import Role
from webui.rendering import View
from webui.site import Call

PAGE = 30


def show(call: Call) -> View:
    """Show the harvests, the newest first, each with its receipt.

    Raises:
        BadRequest: ``start`` is not a position in the list.
        WebError: The journal of open harvests is damaged.

    Cost: reads the receipts up to the end of the page.
    """
    start = call.request.start
    try:
        newest = [*harvests_of(call.site.silo.path, newest=start + PAGE + 1)]
    except ScraperError as error:
        raise WebError(as_sentence(str(error))) from error
    shown = newest[::-1][start : start + PAGE]
    job_url = url_of_running(call.site.jobs.ledger.active())
    lines = [line_of(one, call.site.set_name, job_url) for one in shown]
    has_next = len(newest) > start + PAGE
    following = urls.harvests(start=start + PAGE) if has_next else ""
    data = {
        "found": [
            (line, receipt_of_harvest(one.receipt, call.site.set_name))
            for line, one in zip(lines, shown, strict=True)
        ],
        "history": harvest_history(lines) if len(lines) > 1 else None,
        "first": urls.harvests() if start else "",
        "following": following,
        "may_harvest": call.user.may(Role.MANAGER),
    }
    twin = {
        "harvests": [
            line.to_json() | {"receipt": one.receipt or None}
            for line, one in zip(lines, shown, strict=True)
        ],
        "next": urls.twin(following) if following else None,
    }
    return View("harvests.mako", data, twin, urls.harvests(start=start or None))
