"""The requests below ``/fleet`` of a directory of Silos that is a fleet, and ``/metrics``."""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote

from silocuration.activity import changes_of, log_activity
from silofleet.errors import FleetError, FleetRefused, NoSuchEndpoint
from silofleet.fleet import Fleet, Line, csv_of, node_to_json
from silofleet.metrics import metrics_of
from silofleet.values import TROUBLED, Outcome, State
from webui import urls
from webui.charts.pictures import Bar, Picture, Series, Tone, columns
from webui.fleet.lines import SORTS, Asked, FleetLines, Found, by_hour
from webui.http.bodies import read_form
from webui.http.errors import BadRequest, Busy, MethodNotAllowed, NotFound, as_sentence
from webui.http.messages import Request, Response, redirect
from webui.people.authentication import require
from webui.people.roles import NOBODY, Role, User
from webui.rendering import PAGE, html, json_answer
from webui.words.texts import text as _

FLEET, METRICS = "/fleet", "/metrics"
ON_A_PAGE = 50
STATE_LABELS: Mapping[State, str] = {
    State.WHOLE: "Whole",
    State.PARTIAL: "Partial",
    State.NEW: "New",
    State.DUE: "Due",
    State.RUNNING: "Running",
    State.FAILING: "Failing",
    State.QUARANTINED: "Quarantined",
    State.BLOCKED: "Blocked",
    State.MOVED: "Moved",
    State.SUSPICIOUS: "Suspicious",
    State.PAUSED: "Paused",
    State.LOST: "Lost",
}
STATE_HINTS: Mapping[State, str] = {
    State.WHOLE: "Its last harvest was whole.",
    State.PARTIAL: "Its last harvest lacks records that the repository has.",
    State.NEW: "It was not harvested yet.",
    State.DUE: "A run is due; it starts when a slot is free and its host may be asked.",
    State.RUNNING: "It is being harvested.",
    State.FAILING: "It does not answer, or not with OAI-PMH; it is asked again, later and later.",
    State.QUARANTINED: "It failed too often, or somebody put it here; it is asked once a month.",
    State.BLOCKED: "It refuses to answer (401 or 403).",
    State.MOVED: "It redirects to another address, which somebody has to accept.",
    State.SUSPICIOUS: "It lists far fewer records than before; somebody should look.",
    State.PAUSED: "No runs are started.",
    State.LOST: "Its node does not report any more.",
}
OUTCOME_LABELS: Mapping[Outcome, str] = {
    Outcome.WHOLE: "Whole",
    Outcome.PARTIAL: "Partial",
    Outcome.SUSPICIOUS: "Suspicious",
    Outcome.FAILED: "Failed",
    Outcome.BLOCKED: "Blocked",
    Outcome.MOVED: "Moved",
    Outcome.HELD: "Asked for a pause",
    Outcome.CUT: "Interrupted",
}
GROUPS: tuple[tuple[str, Tone, tuple[Outcome, ...]], ...] = (
    ("Whole", "ok", (Outcome.WHOLE,)),
    ("Not whole", "warn", (Outcome.PARTIAL, Outcome.SUSPICIOUS, Outcome.HELD, Outcome.CUT)),
    ("Failed", "bad", (Outcome.FAILED, Outcome.BLOCKED, Outcome.MOVED)),
)
TONES = {one.letter: tone for _name, tone, outcomes in GROUPS for one in outcomes}
_ACTIONS: Mapping[str, Callable[[Fleet, str], object]] = {
    "run-now": lambda fleet, name: fleet.run_now([name]),
    "pause": lambda fleet, name: fleet.change(name, is_paused=True),
    "resume": lambda fleet, name: fleet.change(name, is_paused=False),
    "quarantine": lambda fleet, name: fleet.quarantine(name),
    "release": lambda fleet, name: fleet.quarantine(name, release=True),
    "accept-list": lambda fleet, name: fleet.accept(name),
    "accept": lambda fleet, name: fleet.readdress(name, fleet.line(name).facts.moved_to),
}


class FleetPage:
    """Answers requests about a fleet.

    Args:
        directory: The fleet.
        site_name: The name of the directory.
    """

    def __init__(self, directory: str, site_name: str) -> None:
        self._directory, self._site = directory, site_name
        self._lines = FleetLines(directory)

    def close(self) -> None:
        """Close its files."""
        self._lines.close()

    def answer(self, request: Request, user: User, *, as_json: bool) -> Response:
        """Answer a request.

        Raises:
            WebError: The request is wrong, or not allowed.
        """
        try:
            return self._answered(request, user, as_json=as_json)
        except NoSuchEndpoint as error:
            raise NotFound("There is no endpoint of this name.") from error
        except FleetRefused as error:
            raise BadRequest(as_sentence(str(error))) from error
        except FleetError as error:
            bare = str(error).replace(self._directory, self._site)
            raise Busy(as_sentence(bare)) from error

    def _answered(self, request: Request, user: User, *, as_json: bool) -> Response:
        path = request.raw_path
        if not request.is_safe:
            return self._changed(request, user)
        if path == METRICS:
            return self._metrics()
        if path in {FLEET, f"{FLEET}.json", f"{FLEET}.csv"}:
            return self._all(request, user, as_json=as_json)
        return self._one(_name_in(path), user, as_json=as_json)

    # ------------------------------------------------------------------ all endpoints

    def _all(self, request: Request, user: User, *, as_json: bool) -> Response:
        asked = _asked(request)
        found = self._lines.find(asked)
        if request.raw_path.endswith(".csv"):
            return Response(200, csv_of(found.lines).encode(), "text/csv; charset=utf-8")
        if as_json:
            counts = {state.value: number for state, number in found.counts.items()}
            endpoints = [line.to_json() for line in found.lines]
            nodes = [node_to_json(one, is_lost=lost) for one, lost, _room in found.nodes]
            found_json = {"counts": counts, "endpoints": endpoints, "nodes": nodes}
            return json_answer(found_json | {"day": _day_json(found)}, indent=None)
        start = min(request.start, max(0, len(found.lines) - 1) // ON_A_PAGE * ON_A_PAGE)
        pairs = _pairs(asked)
        shown = found.lines[start : start + ON_A_PAGE]
        told: dict[str, Any] = {
            "site_name": self._site,
            "twin_url": urls.with_query(urls.at(f"{FLEET}.json"), pairs),
            "csv_url": urls.with_query(urls.at(f"{FLEET}.csv"), pairs),
            "page_url": urls.at(FLEET),
            "asked": asked,
            "total": len(found.lines),
            "states": [
                (state, found.counts[state], _link(asked, state=state.value))
                for state in TROUBLED
                if found.counts.get(state)
            ],
            "all_url": _link(asked, state=""),
            "sort_url": {name: _link(asked, sort=name) for name in SORTS},
            "lines": [(line, _page_of(line.endpoint.name)) for line in shown],
            "nodes": found.nodes,
            "is_at_work": found.is_at_work,
            "awaited": sorted(found.awaited.items()),
            "rebuilt": found.rebuilt,
            "day": tuple(_day(found)),
            "has_nodes": len(found.nodes) > 1,
            "previous_url": _link(asked, start=max(0, start - ON_A_PAGE)) if start else "",
            "next_url": (
                _link(asked, start=start + ON_A_PAGE)
                if start + ON_A_PAGE < len(found.lines)
                else ""
            ),
            **_words(user),
        }
        return Response(200, html("fleet.mako", **told, user=NOBODY), PAGE)

    def _metrics(self) -> Response:
        found = self._lines.find(Asked())
        text = metrics_of(found.lines, found.nodes, found.last_day, found.now)
        return Response(200, text.encode(), "text/plain; version=0.0.4; charset=utf-8")

    # ------------------------------------------------------------------ one endpoint

    def _one(self, name: str, user: User, *, as_json: bool) -> Response:
        line, runs = self._lines.one(name)
        if as_json:
            return json_answer(line.to_json() | {"runs": [run.to_json() for run in runs]})
        here = _page_of(line.endpoint.name)
        told: dict[str, Any] = {
            "site_name": self._site,
            "twin_url": f"{here}.json",
            "page_url": here,
            "here": here,
            "fleet_url": urls.at(FLEET),
            "silo_url": (
                urls.at(f"/silos/{urls.segment(line.endpoint.name)}/")
                if os.path.isdir(os.path.join(self._directory, line.endpoint.name))
                else ""
            ),
            "line": line,
            "runs": runs,
            "may_change": user.may(Role.MANAGER),
            **_words(user),
        }
        return Response(200, html("fleet_one.mako", **told, user=NOBODY), PAGE)

    def _changed(self, request: Request, user: User) -> Response:
        require(user, Role.MANAGER)
        if request.method != "POST":
            raise MethodNotAllowed(request.method, ("GET", "HEAD", "POST"))
        name = _name_in(request.raw_path)
        asked = read_form(request).fields.get("action", "")
        action = _ACTIONS.get(asked)
        if action is None:
            raise BadRequest("There is no such action.")
        line, _runs = self._lines.one(name)
        if action is _ACTIONS["accept"] and not line.facts.moved_to:
            raise BadRequest("This endpoint does not redirect to another address.")
        self._lines.change(lambda fleet: action(fleet, line.endpoint.name))
        done = changes_of(
            (), agent=user.name, action=asked, identifier="", version="",
            message=f"endpoint {line.endpoint.name}",
        )  # fmt: skip
        log_activity(self._directory, done)
        return redirect(_page_of(line.endpoint.name))


def is_of_fleet(path: str) -> bool:
    """Whether a path is one of this page."""
    first = path.partition("?")[0]
    return first in {FLEET, f"{FLEET}.json", f"{FLEET}.csv", METRICS} or first.startswith(
        f"{FLEET}/"
    )


def _page_of(name: str) -> str:
    return urls.at(f"{FLEET}/{urls.segment(name)}")


def _name_in(path: str) -> str:
    name = unquote(path.removeprefix(f"{FLEET}/").removesuffix(".json"))
    if not path.startswith(f"{FLEET}/") or not name or "/" in name:
        raise NotFound("There is no page at this address.")
    return name


def _asked(request: Request) -> Asked:
    state, sort = request.query.get("state", ""), request.query.get("sort", "state")
    if state and state not in {one.value for one in State}:
        raise BadRequest("There is no such state.")
    if sort not in SORTS:
        raise BadRequest("The list cannot be sorted so.")
    return Asked(
        state,
        request.query.get("tag", ""),
        request.query.get("host", ""),
        request.query.get("q", "").strip(),
        sort,
    )


def _pairs(asked: Asked) -> dict[str, object]:
    return {
        "state": asked.state or None,
        "tag": asked.tag or None,
        "host": asked.host or None,
        "q": asked.text or None,
        "sort": asked.sort if asked.sort != "state" else None,
    }


def _link(asked: Asked, start: int = 0, **changed: str) -> str:
    pairs = _pairs(asked) | {name: value or None for name, value in changed.items()}
    if pairs["sort"] == "state":
        pairs["sort"] = None
    return urls.with_query(urls.at(FLEET), pairs | {"start": start or None})


def _day(found: Found) -> Iterator[Picture]:
    """The runs of the last 24 hours by outcome, and those due in the next 24 hours."""
    if found.last_day:
        bars = [
            Bar(
                _clock(hour, found.now),
                tuple(sum(ended[one] for one in them) for *_, them in GROUPS),
            )
            for hour, ended in by_hour(found.last_day, found.now)
        ]
        series = [Series(_(name), tone) for name, tone, _outcomes in GROUPS]
        yield columns(_("Runs in the last 24 hours"), _("Hour (UTC)"), series, bars)
    if any(number or overdue for _hour, number, overdue in found.due):
        bars = [Bar(_clock(hour, found.now), (due, late)) for hour, due, late in found.due]
        series = [Series(_("Due")), Series(_("Overdue"), "warn")]
        yield columns(_("Runs due in the next 24 hours"), _("Hour (UTC)"), series, bars)


def _clock(hour: datetime, now: datetime) -> str:
    """An hour as text; the present one is "now", because another day has one of the same number."""
    return _("now") if hour <= now < hour + timedelta(hours=1) else f"{hour:%H}:00"


def _day_json(found: Found) -> dict[str, Any]:
    ended = [
        {"hour": hour.isoformat(), **{one.value: number for one, number in outcomes.items()}}
        for hour, outcomes in by_hour(found.last_day, found.now)
    ]
    due = [
        {"hour": hour.isoformat(), "due": number, "overdue": overdue}
        for hour, number, overdue in found.due
    ]
    return {"ended": ended, "due": due}


def _words(user: User) -> dict[str, Any]:
    return {
        "signed_in": user.name if user.session else "",
        "state_label": lambda state: _(STATE_LABELS[state]),
        "state_hint": lambda state: _(STATE_HINTS[state]),
        "outcome_label": lambda outcome: _(OUTCOME_LABELS[outcome]),
        "tones": TONES,
        "outcomes_said": _outcomes_said,
    }


def _outcomes_said(line: Line) -> str:
    """The last outcomes in words, for readers of screens."""
    letters = line.facts.outcomes
    by_letter = {one.letter: one for one in Outcome}
    counts = {one: letters.count(letter) for letter, one in by_letter.items() if letter in letters}
    return ", ".join(f"{_(OUTCOME_LABELS[one])}: {number}" for one, number in counts.items())
