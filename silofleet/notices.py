"""What people are told of a fleet by mail or webhook; the clock calls `Notices.look`."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from silofleet.errors import FleetError
from silofleet.fleet import EndpointLine, Fleet
from silofleet.values import Node, State
from silowork.due.timetable import duration_of, duration_text
from silowork.notices import Notice, NoticeSender, clean
from silowork.telling import LookFindings, Notices

TOLD = (State.QUARANTINED, State.BLOCKED, State.MOVED, State.SUSPICIOUS)
ADVICE: Mapping[State, str] = {
    State.QUARANTINED: "asked once a month; to run it: silo fleet quarantine {0} {1} --release",
    State.BLOCKED: "ask the repository for access, then: silo fleet run-now {0} {1}",
    State.MOVED: "if that is the same repository: silo fleet readdress {0} {1}",
    State.SUSPICIOUS: "ask the repository; if its list is right: silo fleet accept {0} {1}",
}


def notices_for(fleet: Fleet) -> Notices:
    """Return what looks at a fleet, and tells those whom its wishes name."""
    directory = fleet.directory
    name, more = Path(directory).resolve().name, f"silo fleet report {directory}"
    sender = NoticeSender("fleet", name, "endpoint", more)
    return Notices(sender, fleet.ledger.told, lambda now: _found(fleet, now), (FleetError,))


def _found(fleet: Fleet, now: datetime) -> LookFindings | None:
    settings = fleet.wishes.notices
    if not (settings.get("mail") or settings.get("webhook")):
        return None
    silent = settings.get("silent_after")
    notices, well = notices_of(
        fleet.lines(now),
        fleet.ledger.nodes(),
        fleet.lost_nodes(now),
        duration_of(silent) if silent else None,
        now,
        directory=fleet.directory,
    )
    return LookFindings(settings, notices, well)


def advice_for(line: EndpointLine, directory: str) -> str:
    """What a person can do about the state of an endpoint; empty if nothing is known."""
    return ADVICE.get(line.state, "").format(directory, line.endpoint.name)


def notices_of(
    lines: Iterable[EndpointLine],
    nodes: Iterable[Node],
    lost: Iterable[str],
    silent_after: timedelta | None,
    now: datetime,
    *,
    directory: str,
) -> tuple[list[Notice], set[tuple[str, str]]]:
    """What people must know now, and what is well again: pairs of endpoint and state.

    A notice is about an endpoint, or about ``node/NAME``; besides states, there are ``lost`` and
    ``silent``.
    """
    notices: list[Notice] = []
    well: set[tuple[str, str]] = set()
    for line in lines:
        name, url = line.endpoint.name, line.endpoint.url
        if line.state in TOLD:
            parts = map(clean, (line.facts.said, advice_for(line, directory)))
            notices.append(Notice(name, line.state.value, "; ".join(filter(None, parts)), url))
        elif is_well(line):
            well.update((name, state.value) for state in TOLD)
        if silent_after is None or line.state is State.PAUSED:
            continue
        since = line.facts.whole or line.facts.added
        if now - since > silent_after:
            said = f"no whole harvest since {since:%Y-%m-%d}, for more than"
            notices.append(Notice(name, "silent", f"{said} {duration_text(silent_after)}", url))
        else:
            well.add((name, "silent"))
    gone = set(lost)
    for node in nodes:
        if node.name in gone:
            said = f"it has not reported since {node.seen:%Y-%m-%d %H:%M} UTC; its Silos wait"
            notices.append(Notice(f"node/{node.name}", State.LOST.value, said))
        else:
            well.add((f"node/{node.name}", State.LOST.value))
    return notices, well


def is_well(line: EndpointLine) -> bool:
    """Whether the last harvest that says something was whole, and nothing is known against it."""
    return line.state in {State.WHOLE, State.DUE} and line.facts.outcomes.rstrip("ch")[-1:] == "w"
