"""Documents that may belong to a record, one after the other: what speaks for it, and decisions."""

import threading
import time

from crawlmatch.errors import CrawlError
from silocrawl.captures import Captures, CaptureUnreadable
from silocrawl.proposals import (
    Proposal,
    ProposalRefused,
    ProposalState,
    accept,
    counts,
    decided,
    first_page,
    proposal,
    proposals,
    reject,
    take_back,
)
from silocrawl.record_panel import replay_address
from silocrawl.tying import PDF, landing_page
from webui import urls
from webui.activity import note
from webui.crawling import opening
from webui.crawling.opening import png, told
from webui.http.errors import BadRequest, ChangeConflict, NotFound, ServerBusy, told_as
from webui.http.messages import Response, whole_number
from webui.http.streams import RETRY
from webui.queues import ROUND, Before, QueuePlace, Round
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.texts import text as _

DONE = {
    "attach": "Document attached.",
    "reject": "Document rejected.",
    "undo": "Decision undone.",
}
"""English texts of the catalogue."""
DECIDED = {ProposalState.ATTACHED: "Attached", ProposalState.REJECTED: "Rejected"}
"""English texts of the catalogue."""
MOST_DECIDED = 20
"""Documents in the list of those that people decided about."""
_DRAWING, _PATIENCE = threading.BoundedSemaphore(2), 2.0
"""First pages that are drawn at a time, as each may take a GB of memory and 20 s of a processor;
and seconds for which another one waits."""
REFUSALS = (
    (ProposalRefused, ChangeConflict),
    (CaptureUnreadable, ChangeConflict),
    (CrawlError, ChangeConflict),
)


def show(call: Call) -> View:
    """Show the next document that waits for a decision: ``after`` one that was shown before."""
    query = call.request.query
    after = whole_number(query.get("after", "") or "0", 0, 2**62)
    if after is None:
        raise BadRequest("Unknown place in the list (after).")
    with told(call):
        found = proposals(call.site.path, after=after, most=1)
        total = counts(call.site.path).get(ProposalState.PROPOSED, 0)
    one = found[0] if found else None
    round_ = Round.of(query.get(ROUND, ""), time.time())
    data = {
        "one": one,
        "total": total,
        "queue": _place(call, one, after, round_),
        "round_said": round_.told(time.time()) if round_.done or round_.passed else "",
        "first_url": opening.proposals() if after and total else "",
        "about": _about(call, one) if one else {},
        "decided": _decided(call),
        "undo": _undo(call, after),
    }
    told_of = _object(one) if one else None
    next_url = opening.proposals(after=one.number) if one else None
    twin = {"proposal": told_of, "waiting": total, "next": next_url}
    return View("crawl_proposals.mako", data, twin, opening.proposals(after=after or None))


def _place(call: Call, one: Proposal | None, after: int, round_: Round) -> QueuePlace:
    """Where a document is among those that wait; None: behind the last one."""
    done, left, skip = call.request.query.get("done", ""), 0, ""
    if one is not None:
        with told(call):
            left = counts(call.site.path, one.number - 1).get(ProposalState.PROPOSED, 0)
        skip = opening.proposals(after=one.number, **{ROUND: round_.skipped().field})
    before = _before(call, after, _(DONE[done])) if done in DONE else None
    if done == "undo":  # its document is shown
        before = Before(_(DONE[done]))
    return QueuePlace.at(round_, time.time(), skip=skip, left=left, before=before)


def _decided(call: Call) -> list[dict[str, str]]:
    """The documents that people decided about, and what is shown of each."""
    with told(call):
        found = decided(call.site.path, MOST_DECIDED)
    rows = call.site.silo.rows([one.record for one in found])
    return [
        {
            "title": (row.title if (row := rows.get(one.record)) else "") or one.record,
            "record_url": urls.record(one.record) if one.record in rows else "",
            "url": one.url,
            "said": _(DECIDED[one.state]),
            "agent": one.agent,
            "undo": opening.proposal(one.number, "/undo"),
        }
        for one in found
    ]


def _undo(call: Call, number: int) -> str:
    """The address that undoes what was decided just now; empty if nothing was."""
    is_decided = call.request.query.get("done") in {"attach", "reject"}
    return opening.proposal(number, "/undo") if is_decided else ""


def _before(call: Call, number: int, said: str) -> Before:
    """The document that was decided about, by its record."""
    with told(call):
        try:
            record = proposal(call.site.path, number).record
        except ProposalRefused:  # a number that somebody wrote into the address
            return Before(said)
    row = call.site.silo.rows([record]).get(record)
    return Before(said, (row.title if row else "") or record, urls.record(record) if row else "")


def _about(call: Call, one: Proposal) -> dict[str, object]:
    """What is shown beside a document: its record, and the page that links to it."""
    silo = call.site.silo
    described = silo.described([one.record]).get(one.record)
    row = silo.rows([one.record]).get(one.record)
    replay = replay_address(call.site.path)
    page = one.landing or one.seed or one.url
    return {
        "record_url": urls.record(one.record),
        "title": row.title if row else "",
        "creators": "; ".join(described.creators) if described else "",
        "doi": described.doi if described else "",
        "landing": page if page != one.url else "",
        "landing_title": _title_of(call, page, one.timestamp),
        "picture": opening.proposal(one.number, "/first-page.png") if one.mimetype in PDF else "",
        "archived": f"{replay}{one.timestamp}/{one.url}" if replay else "",
        "action": opening.proposal(one.number),
    }


def _title_of(call: Call, url: str, until: str) -> str:
    try:
        page = landing_page(Captures(call.site.path), url, until)
    except CaptureUnreadable:  # the decision is possible without it
        return ""
    return page.title if page else ""


def _object(one: Proposal) -> dict[str, object]:
    names = ("number", "record", "url", "digest", "timestamp", "mimetype", "seed", "landing")
    found: dict[str, object] = {name: getattr(one, name) for name in names}
    more = {"reason": one.reason.code, "why": one.reason.sentence, "score": one.score}
    return {**found, **more, "dois": one.doi.split(), "state": one.state.value}


def picture(call: Call) -> Response:
    """Draw the first page of a document as PNG.

    Raises:
        NotFound: There is no such document, or no such page.
        ServerBusy: As many are drawn as may be at a time.
    """
    one = _named(call)
    if not _DRAWING.acquire(timeout=_PATIENCE):
        raise ServerBusy("Too many first pages are drawn. Try again in some seconds.", RETRY)
    try:
        with told(call), told_as(*REFUSALS):
            drawn = first_page(call.site.silo, one)
    finally:
        _DRAWING.release()
    return png(drawn, "This document has no first page that can be drawn.")


def decide(call: Call) -> Response:
    """Attach a document to its record, reject it, or undo that (``attach``, ``reject``, ``undo``).

    Raises:
        NotFound: There is no such document or action.
        ChangeConflict: It cannot be attached, or is attached already.
    """
    one, action = _named(call), call.params["action"]
    if action not in DONE:
        raise NotFound("There is no page at this address.")
    with told(call), told_as(*REFUSALS):
        if action == "attach":
            (now,) = accept(call.site.silo, [one.number], call.user.name)
        elif action == "reject":
            (now,) = reject(call.site.path, [one.number], call.user.name)
        else:
            (now,) = take_back(call.site.silo, [one.number])
    note(call, f"{action} document", identifier=one.record, message=one.url)
    written = call.field(ROUND)
    round_, after = Round.of(written, time.time()), one.number
    if action == "undo":
        round_, after = round_.taken_back(), one.number - 1
    else:
        round_ = round_.decided()
    field = round_.field if written else ""
    url = opening.proposals(after=after, done=action, **{ROUND: field})
    return changed_answer(call, url, _object(now), 200)


def _named(call: Call) -> Proposal:
    number = whole_number(call.params["number"], 1, 2**62)
    if number is None:
        raise NotFound("There is no document of this number.")
    with told(call):
        try:
            return proposal(call.site.path, number)
        except ProposalRefused:
            raise NotFound("There is no document of this number.") from None
