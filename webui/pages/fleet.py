"""A fleet: which repositories are harvested well, and which are not; runs, actions, metrics."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recordsilo.errors import RecordSiloError
from recordsilo.repository import Repository
from silofleet.fleet import EndpointLine, Fleet, csv_of, node_to_json
from silofleet.ledger import Run
from silofleet.metrics import metrics_of
from silofleet.values import TROUBLED, RunOutcome, State
from silowork.prometheus import MEDIA_TYPE
from webui import urls
from webui.activity import note
from webui.charts.pictures import BarFigures, Picture, Series, Tone, columns
from webui.directory import DirectoryCall
from webui.fleet_errors import fleet_told
from webui.fleet_lines import SORTS, STATE_LABELS, FleetQuestion, FoundEndpoints, by_hour
from webui.fleet_morning import morning
from webui.http.errors import BadRequest
from webui.http.messages import JSON, Request, Response, redirect, whole_number
from webui.http.streams import encoded
from webui.people.roles import Role
from webui.rendering import View
from webui.words.dates import for_people
from webui.words.texts import counted
from webui.words.texts import text as _

ON_A_PAGE = 50
STATE_HINTS: Mapping[State, str] = {
    State.WHOLE: "Its last harvest was whole.",
    State.PARTIAL: "Its last harvest lacks records that the repository has.",
    State.NEW: "It was not harvested yet.",
    State.DUE: "A run is due; it starts when a slot is free and its host may be asked.",
    State.RUNNING: "It is being harvested.",
    State.FAILING: "It does not answer, or not with OAI-PMH; it is asked again, each time later.",
    State.QUARANTINED: "It failed too often, or somebody put it here; it is asked once a month.",
    State.BLOCKED: "It refuses to answer (401 or 403).",
    State.MOVED: "It redirects to another address, which somebody has to accept.",
    State.SUSPICIOUS: "It lists far fewer records than before; somebody should look.",
    State.PAUSED: "No runs are started.",
    State.LOST: "Its node does not report any more.",
}
OUTCOME_LABELS: Mapping[RunOutcome, str] = {
    RunOutcome.WHOLE: "Whole",
    RunOutcome.PARTIAL: "Not whole",
    RunOutcome.SUSPICIOUS: "Suspicious",
    RunOutcome.FAILED: "Failed",
    RunOutcome.BLOCKED: "Blocked",
    RunOutcome.MOVED: "Moved",
    RunOutcome.HELD: "Asked to pause",
    RunOutcome.CUT: "Interrupted",
}
GROUPS: tuple[tuple[str, Tone, tuple[RunOutcome, ...]], ...] = (
    ("Whole", "ok", (RunOutcome.WHOLE,)),
    (
        "Not whole",
        "warn",
        (RunOutcome.PARTIAL, RunOutcome.SUSPICIOUS, RunOutcome.HELD, RunOutcome.CUT),
    ),
    ("Failed", "bad", (RunOutcome.FAILED, RunOutcome.BLOCKED, RunOutcome.MOVED)),
)
TONES = {one.letter: tone for _name, tone, outcomes in GROUPS for one in outcomes}
PARTS: Mapping[str, str] = {
    "to_do": "To decide",
    "failed": "Not well",
    "late": "Late",
    "resting": "Resting",
}
PART_HINTS: Mapping[str, str] = {
    "to_do": "Somebody has to look at these.",
    "failed": "They are asked again after a pause; nothing has to be done.",
    "late": "A run should have started more than an hour ago.",
    "resting": "No runs start, or only once a month.",
}
MOST_RUNS = 40
_ACTIONS: Mapping[str, Callable[[Fleet, str], object]] = {
    "run-now": lambda fleet, name: fleet.run_now([name]),
    "pause": lambda fleet, name: fleet.change(name, is_paused=True),
    "resume": lambda fleet, name: fleet.change(name, is_paused=False),
    "quarantine": lambda fleet, name: fleet.quarantine(name),
    "release": lambda fleet, name: fleet.quarantine(name, release=True),
    "accept-list": lambda fleet, name: fleet.accept(name),
    "accept": lambda fleet, name: fleet.readdress(name, fleet.line(name).facts.moved_to),
}


def show(call: DirectoryCall) -> View | Response:
    """List the repositories that are harvested, those with problems first."""
    asked = _asked(call.request)
    with fleet_told(call):
        found = call.fleet.find(asked)
    if call.wants_json:
        return Response(200, encoded(_json_of(found)), JSON)
    start = min(call.request.start, max(0, len(found.lines) - 1) // ON_A_PAGE * ON_A_PAGE)
    following = start + ON_A_PAGE
    shown = found.lines[start:following]
    parts = morning(found.lines, found.now) if asked.is_everything and not start else []
    names = names_of(call, [line.endpoint.name for line in shown])
    data: dict[str, Any] = {
        "parts_of_day": [
            (_(PARTS[part.name]), _(PART_HINTS[part.name]), part, _part_url(asked, part.name))
            for part in parts
        ],
        "names": names,
        "is_manager": call.user.may(Role.MANAGER),
        "add_url": urls.add_repositories(),
        "done": _done(call),
        "csv_url": urls.fleet_csv(**_pairs(asked)),
        "asked": asked,
        "total": len(found.lines),
        "states": [
            (state, found.counts[state], _link(asked, state=state.value))
            for state in TROUBLED
            if found.counts.get(state)
        ],
        "all_url": _link(asked, state=""),
        "sort_url": {name: _link(asked, sort=name) for name in SORTS},
        "lines": [(line, urls.endpoint(line.endpoint.name)) for line in shown],
        "nodes": found.nodes,
        "is_at_work": found.is_at_work,
        "awaited": sorted(found.awaited.items()),
        "rebuilt": found.rebuilt,
        "day": tuple(_day(found)),
        "has_nodes": len(found.nodes) > 1,
        "previous_url": _link(asked, start=max(0, start - ON_A_PAGE)) if start else "",
        "next_url": _link(asked, start=following) if following < len(found.lines) else "",
        **_WORDS,
    }
    return View("fleet.mako", data, {}, urls.fleet(**_pairs(asked)))


def _done(call: DirectoryCall) -> str:
    """What was just added, in words."""
    number = whole_number(call.request.query.get("added", ""), 0, 10**6)
    if number is None:
        return ""
    return counted("{n} repository added.", "{n} repositories added.", number)


def _part_url(asked: FleetQuestion, name: str) -> str:
    """The list that a part of the overview is about; empty if no filter has it."""
    state = {"failed": State.FAILING, "resting": State.PAUSED}.get(name)
    if name == "late":
        return _link(asked, sort="due")
    return _link(asked, state=state.value) if state else _link(asked, state="")


def names_of(call: DirectoryCall, endpoints: Iterable[str]) -> dict[str, str]:
    """What repositories call themselves (Identify), by endpoint; those that are known."""
    found = {one: _name_in(os.path.join(call.site.path, one)) for one in endpoints}
    return {endpoint: name for endpoint, name in found.items() if name}


def _name_in(silo_path: str) -> str:
    try:
        return Repository(silo_path).name
    except (RecordSiloError, OSError):
        return ""  # its page says what is wrong


def _json_of(found: FoundEndpoints) -> Iterator[str]:
    """The list as JSON on one line, an endpoint at a time: with 10,000 it has 8 MB."""
    counts = {state.value: number for state, number in found.counts.items()}
    yield f'{{"counts": {_dumped(counts)}, "endpoints": ['
    for number, line in enumerate(found.lines):
        yield f"{', ' if number else ''}{_dumped(line.to_json())}"
    nodes = [node_to_json(one, is_lost=lost) for one, lost, _room in found.nodes]
    yield f'], "nodes": {_dumped(nodes)}, "day": {_dumped(_day_json(found))}}}\n'


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_csv(call: DirectoryCall) -> Response:
    """Send the list of repositories as CSV."""
    with fleet_told(call):
        found = call.fleet.find(_asked(call.request))
    return Response(200, encoded(csv_of(found.lines)), "text/csv; charset=utf-8")


def metrics(call: DirectoryCall) -> Response:
    """Send the figures of the fleet for Prometheus."""
    with fleet_told(call):
        found = call.fleet.find(FleetQuestion())
    text = metrics_of(found.lines, found.nodes, found.last_day, found.now)
    return Response(200, text.encode(), MEDIA_TYPE)


def show_one(call: DirectoryCall) -> View:
    """Show a repository and its last runs."""
    with fleet_told(call):
        line, runs = call.fleet.one(call.params["name"])
        is_at_work = call.fleet.is_at_work()
    name = line.endpoint.name
    now = datetime.now(UTC)
    has_silo = os.path.isdir(os.path.join(call.site.path, name))
    data = {
        "here": urls.endpoint(name),
        "fleet_url": urls.fleet(),
        "silo_url": urls.silo(name) if has_silo else "",
        "line": line,
        "runs": runs,
        "history": history(runs) if len(runs) > 1 else None,
        "called": names_of(call, [name]).get(name, ""),
        "is_at_work": is_at_work,
        "will_happen": will_happen(line, is_at_work=is_at_work, now=now),
        "done": _("A run was asked for.") if call.request.query.get("done") == "run-now" else "",
        "is_manager": call.user.may(Role.MANAGER),
        **_WORDS,
    }
    twin = line.to_json() | {"runs": [run.to_json() for run in runs]}
    return View("fleet_one.mako", data, twin, urls.endpoint(name))


def act(call: DirectoryCall) -> Response:
    """Run a repository now, pause it, or decide what became of it (field ``action``)."""
    asked = call.field("action")
    action = _ACTIONS.get(asked)
    if action is None:
        raise BadRequest("There is no such action.")
    with fleet_told(call):
        line, _runs = call.fleet.one(call.params["name"])
        if action is _ACTIONS["accept"] and not line.facts.moved_to:
            raise BadRequest("This endpoint does not redirect to another address.")
        call.fleet.change(lambda fleet: action(fleet, line.endpoint.name))
    note(call, asked, message=f"endpoint {line.endpoint.name}")
    done = {"done": asked} if asked == "run-now" else {}
    return redirect(urls.with_query(urls.endpoint(line.endpoint.name), done))


def will_happen(line: EndpointLine, *, is_at_work: bool, now: datetime) -> str:
    """What follows when a run is asked for now, in a sentence."""
    if line.state is State.RUNNING:
        return _("It is being harvested now.")
    if not is_at_work:
        return _("Nothing runs the fleet now; a run starts when the scheduler is started:")
    if line.facts.host and line.state in {State.NEW, State.DUE}:
        return _("A run starts when a slot is free and its host may be asked.")
    if line.due is not None and line.due > now:
        return _("The scheduler is at work: a run that is asked for starts within a minute.")
    return _("A run starts within a minute, when a slot is free.")


def history(runs: Sequence[Run]) -> Picture:
    """Draw the records that each run listed, by how it ended, the oldest first."""
    ended = [run for run in reversed(runs) if run.outcome is not None][-MOST_RUNS:]
    bars = [
        BarFigures(
            for_people(f"{run.started:%Y-%m-%d}"),
            tuple(run.done if run.outcome in of else 0 for *_, of in GROUPS),
        )
        for run in ended
    ]
    series = [Series(_(name), tone) for name, tone, _outcomes in GROUPS]
    picture = columns(_("Records listed in each run"), _("Run"), series, bars)
    if not ended:
        return picture
    said = _(
        "Each bar is a run, the latest at the right; its height is the number of records listed. "
        "A run that listed none has no bar."
    )
    done = ended[-1].done
    latest = counted("The latest listed {n} record.", "The latest listed {n} records.", done)
    return replace(picture, caption=f"{said} {latest}")


def _asked(request: Request) -> FleetQuestion:
    state, sort = request.query.get("state", ""), request.query.get("sort", "state")
    if state and state not in {one.value for one in State}:
        raise BadRequest("There is no such state.")
    if sort not in SORTS:
        raise BadRequest("The list cannot be sorted by that.")
    return FleetQuestion(
        state,
        request.query.get("tag", ""),
        request.query.get("host", ""),
        request.query.get("q", "").strip(),
        sort,
    )


def _pairs(asked: FleetQuestion) -> dict[str, object]:
    return {
        "state": asked.state or None,
        "tag": asked.tag or None,
        "host": asked.host or None,
        "q": asked.text or None,
        "sort": asked.sort if asked.sort != "state" else None,
    }


def _link(asked: FleetQuestion, start: int = 0, **changed: str) -> str:
    pairs = _pairs(asked) | {name: value or None for name, value in changed.items()}
    if pairs["sort"] == "state":
        pairs["sort"] = None
    return urls.fleet(**pairs, start=start or None)


def _day(found: FoundEndpoints) -> Iterator[Picture]:
    """The runs of the last 24 hours by outcome, and those due in the next 24 hours."""
    if found.last_day:
        bars = [
            BarFigures(
                _clock(hour, found.now),
                tuple(sum(ended[one] for one in them) for *_, them in GROUPS),
            )
            for hour, ended in by_hour(found.last_day, found.now)
        ]
        series = [Series(_(name), tone) for name, tone, _outcomes in GROUPS]
        yield columns(_("Runs in the last 24 hours"), _("Hour (UTC)"), series, bars)
    if any(number or overdue for _hour, number, overdue in found.due):
        bars = [BarFigures(_clock(hour, found.now), (due, late)) for hour, due, late in found.due]
        series = [Series(_("Due")), Series(_("Overdue"), "warn")]
        yield columns(_("Runs due in the next 24 hours"), _("Hour (UTC)"), series, bars)


def _clock(hour: datetime, now: datetime) -> str:
    """An hour as text; the present one is "now", because another day has one of the same number."""
    return _("now") if hour <= now < hour + timedelta(hours=1) else f"{hour:%H}:00"


def _day_json(found: FoundEndpoints) -> dict[str, Any]:
    ended = [
        {"hour": hour.isoformat(), **{one.value: number for one, number in outcomes.items()}}
        for hour, outcomes in by_hour(found.last_day, found.now)
    ]
    due = [
        {"hour": hour.isoformat(), "due": number, "overdue": overdue}
        for hour, number, overdue in found.due
    ]
    return {"ended": ended, "due": due}


def _outcomes_said(line: EndpointLine) -> str:
    """The last outcomes in words, for readers of screens."""
    letters = line.facts.outcomes
    by_letter = {one.letter: one for one in RunOutcome}
    counts = {one: letters.count(letter) for letter, one in by_letter.items() if letter in letters}
    return ", ".join(f"{_(OUTCOME_LABELS[one])}: {number}" for one, number in counts.items())


_WORDS: Mapping[str, Any] = {
    "state_label": lambda state: _(STATE_LABELS[state]),
    "state_hint": lambda state: _(STATE_HINTS[state]),
    "outcome_label": lambda outcome: _(OUTCOME_LABELS[outcome]),
    "tones": TONES,
    "outcomes_said": _outcomes_said,
}
"""What the templates say of states and outcomes."""
