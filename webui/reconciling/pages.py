"""Values of the records beside their candidates: ask, look, accept, reject, undo."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo.index import PageRequest
from recordsilo.selection import Selection, selection_table
from silocuration.authorities import (
    FIELDS,
    INDEXED,
    Authority,
    read_authorities,
    scheme_of,
)
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Identify
from silocuration.errors import CurationError
from silocuration.reconciling.asking import ask, begin, values_in
from silocuration.reconciling.places import (
    PlaceNotFound,
    PlacesUnreadable,
    ReconciliationPlace,
    read_places,
)
from silocuration.reconciling.protocol import Candidate
from silocuration.reconciling.store import ACCEPTED, OPEN, REJECTED, Reconciled, Reconciliation
from webui import urls
from webui.activity import note, note_job
from webui.bulk import jobs
from webui.http.errors import BadRequest, ChangeConflict, NotFound, as_sentence, told_as
from webui.http.messages import Response, parse_pairs, redirect, whole_number
from webui.people.roles import Role
from webui.rendering import View
from webui.search.request import SearchRequest
from webui.site import Call
from webui.timed_cache import TimedCache
from webui.words.field_labels import field_label
from webui.words.texts import counted
from webui.words.texts import text as _

PAGE = 25
"""Values per page."""
ASKED_HERE = 2_000
"""Values that are looked up in a list of one's own while one waits."""
SCORE, DISTANCE = 90, 10
"""What makes a candidate clear, unless somebody says otherwise."""
WITHOUT, UNASKED = "without", "unasked"
"""Values without a decision: no candidate was found, or nobody asked for any."""
SHOWN = {
    OPEN: "To decide",
    WITHOUT: "Without candidates",
    ACCEPTED: "Accepted",
    REJECTED: "None fits",
    UNASKED: "Not asked yet",
}
"""English texts of the catalogue."""
_COUNTS: TimedCache[dict[str, int]] = TimedCache()
_OWN = ("place", "field", "show", "start", "done", "n", "batch", "score", "distance")


_NEEDED = ("page", "kinds", "shown", "kept", "unasked", "accepted", "clear", "all", "previous_url",
           "next_url", "done", "batch", "has_no_room")  # fmt: skip
"""Variables of the template where there is a place."""


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate as the page shows it."""

    candidate: Candidate
    link: str
    scheme: str
    is_clear: bool


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value as the page shows it.

    Attributes:
        records_url: The search that finds its records.
        link: Of the accepted entity.
        other: The identifier that the authority file has from elsewhere.
    """

    value: str
    records: int
    known: Reconciled
    candidates: tuple[ShownCandidate, ...]
    records_url: str
    link: str = ""
    other: Authority | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the address of the page names."""

    place: ReconciliationPlace
    field: str
    search: SearchRequest
    score: int
    distance: int

    def pairs(self, **more: object) -> list[tuple[str, str]]:
        about: dict[str, object] = {"place": self.place.name, "field": self.field}
        if (self.score, self.distance) != (SCORE, DISTANCE):
            about |= {"score": self.score, "distance": self.distance}
        given = [
            (name, str(value)) for name, value in (about | more).items() if value not in ("", None)
        ]
        return [*self.search.asked, *given]

    def url(self, **more: object) -> str:
        return f"{urls.at('/reconciliation')}?{urls.query(self.pairs(**more))}"


def show(call: Call) -> View:
    """Show the values of a field with their candidates, those of most records first."""
    try:
        places, fault = read_places(call.site.silo.path).places, ""
    except PlacesUnreadable as error:
        places, fault = {}, as_sentence(str(error))
    data: dict[str, Any] = {"places": list(places.values()), "fault": fault, "asked": None,
                            "may_manage": call.user.may(Role.MANAGER),
                            "fields": [(name, field_label(name)) for name in FIELDS]}  # fmt: skip
    own = urls.at("/reconciliation")
    if not places:
        data |= dict.fromkeys(_NEEDED)
        return View("reconciliation.mako", data, {"places": [], "problem": fault}, own)
    asked = _asked(call, places)
    lines = _lines(call, asked)
    shown = call.request.query.get("show") or _usual(lines)
    if shown not in SHOWN:
        raise BadRequest("Unknown list; choose one of {known} (show).", known=", ".join(SHOWN))
    some = [one for one in lines if _kind(one) == shown]
    start = call.request.start
    page = some[start : start + PAGE]
    clear = [one for one in lines if _is_clear(one, asked)]
    numbers = {kind: sum(_kind(one) == kind for one in lines) for kind in SHOWN}
    data |= {
        "asked": asked,
        "page": list(enumerate(_shown(one, asked) for one in page)),
        "kinds": [
            (kind, _(label), numbers[kind], asked.url(show=kind)) for kind, label in SHOWN.items()
        ],
        "shown": shown,
        "kept": asked.search.asked,
        "unasked": numbers[UNASKED],
        "accepted": numbers[ACCEPTED],
        "has_no_room": bool(numbers[ACCEPTED]) and _are_dublin_core(call, asked),
        "clear": len(clear),
        "all": len(lines),
        "previous_url": asked.url(show=shown, start=max(0, start - PAGE)) if start else "",
        "next_url": asked.url(show=shown, start=start + PAGE) if start + PAGE < len(some) else "",
        "done": _done(call),
        "batch": call.request.query.get("batch", ""),
    }
    twin = {
        "place": asked.place.name, "field": asked.field, "numbers": numbers, "clear": len(clear),
        "values": [_as_json(one) for one in page],
        "next": urls.twin(data["next_url"]) if data["next_url"] else None,
    }  # fmt: skip
    return View("reconciliation.mako", data, twin, asked.url(show=shown))


@dataclass(frozen=True, slots=True)
class _Line:
    value: str
    records: int
    known: Reconciled
    authority: Authority | None


def _lines(call: Call, asked: _Asked) -> list[_Line]:
    path = call.site.silo.path
    silo, selection = call.site.silo, _selection(asked.search)
    key = (asked.field, str(selection_table(selection)))
    counts = _COUNTS.get(
        silo, key, lambda: values_in(silo, asked.field, selection), silo.index_stamp()
    )
    with told_as((CurationError, ChangeConflict)):
        authorities = read_authorities(path, asked.field)
        known = Reconciliation(path, asked.place.name, asked.field).read()
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [
        _Line(value, count, known.get(value, Reconciled(value)), authorities.get(value))
        for value, count in ordered
    ]


def _are_dublin_core(call: Call, asked: _Asked) -> bool:
    """Whether the records have Dublin Core alone, which has no place for identifiers."""
    select = _selection(asked.search)
    found = call.site.silo.search(select.query, select.filters, ["format"], PageRequest(limit=1))
    return {one.value for one in found.facets["format"]} == {"oai_dc"}


def _selection(search: SearchRequest) -> Selection:
    return search.selection


def _kind(line: _Line) -> str:
    if line.known.decision != OPEN:
        return line.known.decision
    if line.authority is not None:
        return ACCEPTED
    if line.known.candidates:
        return OPEN
    return WITHOUT if line.known.asked else UNASKED


def _usual(lines: list[_Line]) -> str:
    kinds = {_kind(one) for one in lines}
    return next((kind for kind in (OPEN, UNASKED, WITHOUT) if kind in kinds), ACCEPTED)


def _is_clear(line: _Line, asked: _Asked) -> bool:
    is_open = _kind(line) == OPEN
    return is_open and line.known.clear(asked.score, asked.distance) is not None


def _shown(line: _Line, asked: _Asked) -> ShownValue:
    clear = line.known.clear(asked.score, asked.distance)
    candidates = tuple(
        ShownCandidate(one, scheme_of(one.id)[1], scheme_of(one.id)[0], one is clear)
        for one in line.known.candidates
    )
    link = scheme_of(line.known.id or (line.authority.id if line.authority else ""))[1]
    own = line.known.decision == ACCEPTED
    return ShownValue(
        line.value,
        line.records,
        line.known,
        candidates,
        _records_url(asked.field, line.value),
        link,
        None if own else line.authority,
    )


def _records_url(field: str, value: str) -> str:
    if field in INDEXED:
        return urls.search([(field, value)])
    words = value.replace('"', " ")
    return urls.search([("q", f'{field}:"{words}"')])


def _as_json(line: _Line) -> dict[str, Any]:
    return {
        "value": line.value,
        "records": line.records,
        "decision": line.known.decision,
        "id": line.authority.id if line.authority else None,
        "candidates": [
            {"id": one.id, "name": one.name, "score": one.score} for one in line.known.candidates
        ],
    }


def _asked(call: Call, places: Mapping[str, ReconciliationPlace]) -> _Asked:
    pairs = call.request.pairs if call.request.is_safe else (*call.form.fields.items(),)
    given = dict(pairs) if call.request.is_safe else call.form.fields
    name = given.get("place") or next(iter(places))
    if name not in places:
        raise NotFound("There is no such service or list.")
    place = places[name]
    field = given.get("field") or place.fields[0]
    if field not in FIELDS:
        known = ", ".join(FIELDS)
        raise BadRequest("Choose one of these fields: {known} (field).", known=known)
    if call.request.is_safe:
        search = SearchRequest.of(pairs, also=_OWN)
    else:
        search = SearchRequest.of(parse_pairs(given.get("search", "")), also=_OWN)
    return _Asked(
        place, field, search, _number(given, "score", SCORE), _number(given, "distance", DISTANCE)
    )


def _number(given: Mapping[str, str], name: str, usual: int) -> int:
    number = whole_number(given.get(name) or str(usual), 0, 1000)
    if number is None:
        raise BadRequest(
            "{name} must be a number from {least} to {most}.", name=name, least=0, most=1000
        )
    return number


def _done(call: Call) -> str:
    done = call.request.query.get("done", "")
    number = whole_number(call.request.query.get("n", "0"), 0, 10_000_000) or 0
    if done == "decided":
        return counted("{n} decision saved.", "{n} decisions saved.", number)
    if done == "accepted":
        return counted(
            "{n} value has its identifier.", "{n} values have their identifiers.", number
        )
    if done == "undone":
        return counted("{n} decision taken back.", "{n} decisions taken back.", number)
    if done == "asked":
        return counted("{n} value was asked for.", "{n} values were asked for.", number)
    return ""


# --------------------------------------------------------------------------- changes


def _of_form(call: Call) -> _Asked:
    with told_as((PlacesUnreadable, ChangeConflict), (PlaceNotFound, NotFound)):
        places = read_places(call.site.silo.path).places
    if not places:
        raise NotFound("There is no such service or list.")
    return _asked(call, places)


def save(call: Call) -> Response:
    """Save what was chosen for each value of the page; values without a choice stay open."""
    asked = _of_form(call)
    store = Reconciliation(call.site.silo.path, asked.place.name, asked.field)
    known = store.read()
    accepted: dict[str, Candidate] = {}
    rejected = []
    for value, choice in _choices(call):
        candidates = {one.id: one for one in known.get(value, Reconciled(value)).candidates}
        if choice == "none":
            rejected.append(value)
        elif choice.startswith("id:") and choice[3:] in candidates:
            accepted[value] = candidates[choice[3:]]
    if not accepted and not rejected:
        raise BadRequest("Nothing was chosen. Choose a candidate, or None of these.")
    with told_as((CurationError, ChangeConflict)):
        batch = store.accept(accepted, call.user.name)
        store.reject(rejected, call.user.name, batch)
    number = len(accepted) + len(rejected)
    _note(call, asked, f"{number}")
    return redirect(asked.url(done="decided", n=number, batch=batch))


def _choices(call: Call) -> Iterator[tuple[str, str]]:
    fields = call.form.fields
    for name, value in fields.items():
        kind, _dash, number = name.partition("-")
        if kind == "value" and fields.get(f"pick-{number}"):
            yield value, fields[f"pick-{number}"]


def accept_clear(call: Call) -> Response:
    """Accept the best candidate of every value where it is clear, on all pages."""
    asked = _of_form(call)
    clear = {
        one.value: best
        for one in _lines(call, asked)
        if _kind(one) == OPEN and (best := one.known.clear(asked.score, asked.distance))
    }
    if not clear:
        raise BadRequest("No value has a candidate that is so clear.")
    store = Reconciliation(call.site.silo.path, asked.place.name, asked.field)
    with told_as((CurationError, ChangeConflict)):
        batch = store.accept(clear, call.user.name)
    _note(call, asked, f"{len(clear)}")
    return redirect(asked.url(done="accepted", n=len(clear), batch=batch))


def undo(call: Call) -> Response:
    """Take back decisions that were made together (``batch``), or that on one value (``value``)."""
    asked = _of_form(call)
    store = Reconciliation(call.site.silo.path, asked.place.name, asked.field)
    with told_as((CurationError, ChangeConflict)):
        if batch := call.field("batch"):
            number = store.undo(batch, call.user.name)
        else:
            place = call.field("do").partition("-")[2]
            value = call.form.fields.get(f"value-{place}", "")
            number = store.reopen([value], call.user.name)
    return redirect(asked.url(done="undone", n=number))


def ask_now(call: Call) -> Response:
    """Ask for the values that were not asked for: of a list at once, of a service by a job."""
    asked = _of_form(call)
    lines = [one.value for one in _lines(call, asked) if _kind(one) == UNASKED]
    path = call.site.silo.path
    if asked.place.list and len(lines) <= ASKED_HERE:
        with told_as((CurationError, ChangeConflict)):
            number = ask(asked.place, path, asked.field, lines)
        return redirect(asked.url(done="asked", n=number))
    selection = _selection(asked.search)
    job = begin(call.site.jobs, asked.place.name, asked.field, selection, call.user.name)
    note_job(call, job, "reconcile")
    return redirect(urls.job(job.job_id))


def write(call: Call) -> Response:
    """Plan to write the identifiers of the field into the records, and lead to the preview."""
    asked = _of_form(call)
    rule_set = RuleSet(select=_selection(asked.search), rules=(Identify(asked.field),))
    with told_as((CurationError, ChangeConflict)):
        return jobs.plan(call, rules_job(rule_set))


def _note(call: Call, asked: _Asked, number: str) -> None:
    note(call, "identify", (asked.field, None, number), message=asked.place.title)
