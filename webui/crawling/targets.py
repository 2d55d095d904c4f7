"""The targets of crawls: their list, the form of a new one, and each with its launches."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from crawlmatch.link_outcomes import LINK_OUTCOME, values_of
from crawlmatch.outcomes import OWN, LinkOutcome
from recordsilo.index import PageRequest
from recordsilo.selection import Selection
from silocrawl.errors import TargetRefused
from silocrawl.history import outcome_of_address, past_launches
from silocrawl.launching import due_of, launched
from silocrawl.proposals import ProposalState
from silocrawl.proposals import counts as document_counts
from silocrawl.targets import (
    CrawlTarget,
    add_target,
    change_target,
    load_target,
    records_said,
    remove_target,
    target_name_of,
    target_names,
)
from silocrawl.wishes import as_object, free_name, size_text
from silowork.queues.values import Queues
from webui import urls
from webui.activity import note
from webui.crawling import form, opening
from webui.crawling.opening import queues_of, target_of, told
from webui.http.errors import BadRequest, NotFound, as_sentence
from webui.http.messages import Response
from webui.rendering import View, changed_answer
from webui.search.chosen_records import selected
from webui.search.request import SearchRequest
from webui.site import Call
from webui.words import durations
from webui.words.sentences import sentence
from webui.words.texts import capital, counted
from webui.words.texts import text as _

LISTED = 50
DONE = {
    "add": "Target added.",
    "change": "Target changed.",
    "pause": "Target paused. What was launched is still fetched.",
    "resume": "Target resumed. Launches that were missed are one.",
    "remove": "Target removed. What was crawled stays.",
}
"""English texts of the catalogue."""
OUTCOME = LINK_OUTCOME.name


@dataclass(frozen=True, slots=True)
class TargetLine:
    """A target in the list.

    Attributes:
        due, last: Its next and its last launch; None for none.
    """

    target: CrawlTarget
    due: datetime | None
    last: datetime | None

    @property
    def frequency(self) -> str:
        """How often it is launched, in words."""
        return form.frequency_said(self.target.when)

    @property
    def is_due(self) -> bool:
        """Whether its launch waits for a crawl to run."""
        return self.due is not None and self.due <= datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """An outcome of a target's links; `url` lists the records, and is empty if there are none."""

    outcome: LinkOutcome
    meaning: str
    next_step: str
    count: int
    url: str


def show(call: Call) -> View:
    """List the targets, by name."""
    start, names = call.request.start, target_names(call.site.path)
    lines, faults = [], []
    with told(call), queues_of(call) as queues:
        for name in names[start : start + LISTED]:
            try:
                lines.append(_line(queues, load_target(call.site.path, name)))
            except TargetRefused as error:
                faults.append(as_sentence(str(error)))
        objects = [as_object(queues, one.target) for one in lines]
    following = start + LISTED if len(names) > start + LISTED else 0
    data = {
        "lines": lines,
        "faults": faults,
        "total": len(names),
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "previous_url": opening.targets(start=max(0, start - LISTED) or None) if start else "",
        "next_url": opening.targets(start=following) if following else "",
        "add_url": urls.at("/crawling/add"),
        "at": opening.target,
    }
    twin = {"targets": objects, "problems": faults, "next": data["next_url"] or None}
    return View("crawl_targets.mako", data, twin, opening.targets(start=start or None))


def ask(_call: Call) -> View:
    """Show the form of a new target, which is an address."""
    return _form("/crawling/add", {})


def ask_records(call: Call) -> View:
    """Show the form of a new target: the links of the records that a search finds."""
    query = urls.search(call.request.pairs).partition("?")[2]
    chosen = selected(call, query)
    own = {"search": chosen.search, "said": chosen.said, "shown_at": chosen.url}
    return _form("/crawling/add/records", own)


def _form(path: str, records: Mapping[str, str]) -> View:
    values = form.filled_in()
    data = {"values": values, "records": records, "action": opening.targets(), **_choices()}
    url = urls.with_search(urls.at(path), records.get("search", ""))
    return View("crawl_target_new.mako", data, {"fields": values, **records}, url)


def _choices(*more: tuple[str, str]) -> dict[str, Any]:
    return {
        "frequencies": [*more, *((name, _(label)) for name, label in form.FREQUENCIES.items())],
        "scopes": [(kind.value, _(label)) for kind, label in form.SCOPES.items()],
        "limits": [(name, _(label)) for name, label in form.LIMITS.items()],
    }


def add(call: Call) -> Response:
    """Add a target: an address (``url``), or the links of the records of a search (``search``).

    Raises:
        BadRequest: Names the field that is wrong.
    """
    path, url, fields = call.site.path, call.field("url"), form.read(call)
    select = Selection() if url else _selection(call)
    now = datetime.now(UTC).replace(microsecond=0)
    with told(call, "url"):
        said = records_said(select) if select.identifiers else select.said(call.site.set_name)
        name = free_name(path, _name(fields["title"], url, said, "links"))
        made = CrawlTarget(name, url=url, select=select, agent=call.user.name, made=now, **fields)
        add_target(path, made)
    note(call, "add crawl target", message=made.title or name)
    return changed_answer(call, opening.target(name, done="add"), {"name": name})


def _selection(call: Call) -> Selection:
    if "search" not in call.form.fields:
        said = "Give the address of a target (url), or a search whose records have its links."
        raise BadRequest(said).at("url")
    select = selected(call, call.field("search")).select
    select.check(call.site.silo)
    return select


def _name(*texts: str) -> str:
    """A name for a target, of the first text that has letters for one."""
    for text in texts:
        try:
            return target_name_of(text)
        except TargetRefused:
            continue
    raise AssertionError(texts)


def show_one(call: Call) -> View:
    """Show a target: what is crawled, its launches, and the outcomes of its links."""
    one = target_of(call)
    outcomes, records = _outcomes(call, one)
    with told(call), queues_of(call) as queues:
        line, found = _line(queues, one), as_object(queues, one)
        launches = past_launches(call.site.path, one.name)
    values = form.filled_in(one)
    own = [(form.SAME, line.frequency)] if values["frequency"] == form.SAME else []
    data = {
        "line": line,
        "launches": launches,
        "outcomes": outcomes,
        "records": records,
        "search_url": "" if one.url or one.select.identifiers else _search(one).url(),
        "said": one.url or one.select.said(call.site.set_name) or _("all records"),
        "scope": _(form.SCOPES[one.scope.kind]),
        "most_time": durations.in_words(one.limits.seconds),
        "most_bytes": size_text(one.limits.bytes),
        "values": values,
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "list_url": opening.targets(),
        "compared_url": opening.comparisons(),
        "at": lambda part, **fields: opening.target(one.name, part, **fields),
        **_choices(*own),
    }
    twin = {
        **found,
        "records": records,
        "outcomes": [{"outcome": o.outcome, "records": o.count, "url": o.url} for o in outcomes],
        "launches": [
            {"due": f"{p.due:%Y-%m-%dT%H:%M:%SZ}", "pages": p.spent.pages, "bytes": p.spent.bytes}
            for p in launches
        ],
    }
    return View("crawl_target.mako", data, twin, opening.target(one.name))


def act(call: Call) -> Response:
    """Change, pause, resume or remove a target.

    Raises:
        NotFound: There is no such target or action.
        BadRequest: Names the field that is wrong.
    """
    path, action, one = call.site.path, call.params["action"], target_of(call)
    changes: Mapping[str, Callable[[], object]] = {
        "change": lambda: change_target(path, one.name, **form.read(call, one)),
        "pause": lambda: change_target(path, one.name, when=replace(one.when, is_paused=True)),
        "resume": lambda: change_target(path, one.name, when=replace(one.when, is_paused=False)),
        "remove": lambda: remove_target(path, one.name),
    }
    if action not in changes:
        raise NotFound("There is no page at this address.")
    with told(call):
        changes[action]()
    note(call, f"{action} crawl target", message=one.title or one.name)
    is_gone = action == "remove"
    url = opening.targets(done=action) if is_gone else opening.target(one.name, done=action)
    return changed_answer(call, url, {"name": one.name, "done": action}, 200)


def _line(queues: Queues | None, one: CrawlTarget) -> TargetLine:
    return TargetLine(one, due_of(queues, one), launched(queues, one.name).due)


def _search(one: CrawlTarget) -> SearchRequest:
    return SearchRequest.of_selection(one.select)


def _outcomes(call: Call, one: CrawlTarget) -> tuple[list[TargetOutcome], int]:
    """How many of its records have a link of each outcome, and how many records it has."""
    if one.url:
        return _lines(Counter(filter(None, [outcome_of_address(call.site.path, one.url)]))), 0
    if one.select.identifiers:
        found = values_of("outcome", call.site.path, one.select.identifiers).values()
        counts = Counter(outcome for some in found for outcome in set(some))
        return _lines(counts, documents=_documents(call)), len(one.select.identifiers)
    select, page = one.select, PageRequest(limit=1, facet_limit=len(LinkOutcome) + 1)
    result = call.site.silo.search(select.query, select.filters, (OUTCOME,), page)
    chosen = select.filters.values.get(OUTCOME) or list(LinkOutcome)
    counts = Counter({f.value: f.count for f in result.facets[OUTCOME] if f.value in chosen})
    asked = _search(one).asked
    lines = _lines(counts, lambda name: urls.search([*asked, (OUTCOME, name)]), _documents(call))
    return lines, result.total


def _documents(call: Call) -> str:
    """How many documents of the Silo have which state; empty if there are none."""
    with told(call):
        number = document_counts(call.site.path)
    said = {
        ProposalState.ATTACHED: counted(
            "{n} document is attached", "{n} documents are attached",
            number.get(ProposalState.ATTACHED, 0),
        ),
        ProposalState.PROPOSED: counted(
            "{n} waits under “Proposed documents”", "{n} wait under “Proposed documents”",
            number.get(ProposalState.PROPOSED, 0),
        ),
        ProposalState.REJECTED: counted(
            "{n} is rejected", "{n} are rejected", number.get(ProposalState.REJECTED, 0)
        ),
    }  # fmt: skip
    return ", ".join(said[state] for state in said if number.get(state))


def _lines(
    counts: Counter[str],
    url_of: Callable[[str], str] = lambda _name: "",
    documents: str = "",
) -> list[TargetOutcome]:
    def lines() -> Iterator[TargetOutcome]:
        for name, count in counts.most_common():
            if name in list(LinkOutcome):
                outcome = LinkOutcome(name)
                step = capital(sentence(outcome.next_step_in(OWN)))
                if outcome is LinkOutcome.FULLTEXT and documents:
                    step = _("In this Silo, {said}", said=documents)
                yield TargetOutcome(outcome, capital(_(outcome.meaning)), step, count, url_of(name))

    return list(lines())
