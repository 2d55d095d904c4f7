"""What the counts of a log must be, by plain Python sets; it shares no code with the package.

Rules: COUNTER R5.1, sections 7.1 to 7.3, and the rule of 2010 (one per client, item, day, kind).
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import counter_robots

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
NAMES = (
    "total_investigations", "total_requests", "unique_investigations", "unique_requests", "others",
    "views_2010", "downloads_2010", "others_2010", "visitors",
)  # fmt: skip


@dataclass
class Truth:
    """The figures of each day, item and kind of access, and what became of the lines."""

    figures: dict[tuple[str, str, bool], tuple[int, ...]] = field(default_factory=dict)
    first_last: dict[tuple[str, str, bool], tuple[int, int]] = field(default_factory=dict)
    fates: Counter[str] = field(default_factory=Counter)


def fields_of(line: str) -> list[str]:
    """Split a line at spaces; quotes and brackets keep a field together."""
    found, at = [], 0
    while at < len(line):
        if line[at] == '"':
            end = at + 1
            while line[end] != '"':  # IndexError: the quote is not closed
                end += 2 if line[end] == "\\" else 1
            found.append(line[at + 1 : end])
            end += 1
        elif line[at] == "[":
            end = line.index("]", at) + 1
            found.append(line[at + 1 : end - 1])
        else:
            end = line.find(" ", at) if " " in line[at:] else len(line)
            found.append(line[at:end])
        if end < len(line) and line[end] != " ":
            raise ValueError(line)
        at = end + 1
    return found


def read(line: bytes) -> tuple[datetime, str, str, str, str, int] | None:
    """Return moment, address, user, agent, request and status."""
    try:
        parts = fields_of(line.removesuffix(b"\r").decode("utf-8", "backslashreplace"))
        address, _, user, time, request, status, _, _, agent, *_ = parts
        date, clock, zone = time[:11], time[12:20], time[21:]
        day, month, year = date.split("/")
        hours, minutes = int(zone[1:3]), int(zone[3:])
        ahead = timedelta(hours=hours, minutes=minutes) * (1 if zone[0] == "+" else -1)
        moment = datetime(
            int(year), MONTHS.index(month) + 1, int(day), *map(int, clock.split(":")),
            tzinfo=timezone(ahead),
        )  # fmt: skip
        return moment, address, user, agent, request, int(status)
    except (ValueError, IndexError):
        return None


def truth_of(lines: list[bytes], zone: str = "UTC") -> Truth:
    """Count the lines of a repository of EPrints, in any order, repeated or not."""
    truth = Truth()
    events: set[tuple[int, str, str, str, str, int, bool]] = set()
    for line in lines:
        known = read(line)
        if known is None:
            truth.fates["unreadable" if line.strip() else "other"] += 1
            continue
        moment, address, user, agent, request, status = known
        machine = counter_robots.is_machine(agent)
        if counter_robots.is_robot(agent) and not machine:
            truth.fates["bots"] += 1
            continue
        parts = request.split(" ")
        path = parts[1].split("?")[0] if len(parts) == 3 else ""
        found = re.match(r"/(\d+)/(\d+/(.+))?$", path)
        counts = parts[0] == "GET" and status in {200, 304} and found is not None
        truth.fates["bots" if machine else "counted" if counts else "other"] += 1
        if counts:
            assert found is not None
            visitor = user if user != "-" else f"{address} {agent}"
            kind = 1 if found[2] else 0
            seconds = int(moment.timestamp())
            events.add((seconds, visitor, path, found[1], address, kind, machine))
    _count(events, ZoneInfo(zone), truth)
    return truth


def _count(
    events: set[tuple[int, str, str, str, str, int, bool]], zone: ZoneInfo, truth: Truth
) -> None:
    clicks: dict[tuple[str, str, bool], set[int]] = defaultdict(set)
    for moment, visitor, path, _, _, _, machine in events:
        clicks[visitor, path, machine].add(moment)
    numbers: dict[tuple[str, str, bool], list[int]] = defaultdict(lambda: [0] * 9)
    sets: dict[tuple[tuple[str, str, bool], str], set[tuple[str, str]]] = defaultdict(set)
    moments: dict[tuple[str, str, bool], set[int]] = defaultdict(set)
    counted = set()
    for moment, visitor, path, item, address, kind, machine in events:
        local = datetime.fromtimestamp(moment, UTC).astimezone(zone)
        key = (str(local.date()), item, machine)
        moments[key].add(moment)
        sets[key, ("views_2010", "downloads_2010")[kind]].add((address, ""))
        sets[key, "visitors"].add((address, ""))
        later = clicks[visitor, path, machine]
        if any(moment < other <= moment + 30 for other in later):
            continue
        session = (visitor, f"{local:%H}")
        sets[key, "unique_investigations"].add(session)
        if kind == 1:
            sets[key, "unique_requests"].add(session)
        if (moment, visitor, path, machine) not in counted:
            counted.add((moment, visitor, path, machine))
            numbers[key][0] += 1
            numbers[key][1] += kind
    for (key, name), found in sets.items():
        numbers[key][NAMES.index(name)] = len(found)
    truth.figures = {key: tuple(some) for key, some in numbers.items()}
    truth.first_last = {key: (min(some), max(some)) for key, some in moments.items()}
