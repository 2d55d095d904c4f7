"""Targets as people wish them, by a command or on the page, and as both tell of them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from recordsilo.selection import selection_table
from silocrawl.errors import TargetRefused
from silocrawl.launching import due_of, launched
from silocrawl.targets import CrawlTarget, Limits, target_names
from silowork.due.timetable import FREQUENCIES, Timetable, moment_of, repeated, timetable_table
from silowork.queues.values import Queues

OFFERED = ("once", "daily", "weekly", *FREQUENCIES)
"""How often a target is launched."""
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def amount_of(text: str) -> int:
    """Read a whole number, with ``k``, ``M``, ``G`` or ``T`` for thousands.

    Raises:
        TargetRefused: It is not one.
    """
    unit = text[-1:] if text[-1:] in _UNITS else ""
    digits = text.removesuffix(unit)
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 15:
        raise TargetRefused(f"{text[:40]!r} is not a number; write 500, 20k or 2G")
    return int(digits) * _UNITS[unit]


def amount_text(number: int) -> str:
    """Write a number as `amount_of` reads it, in the largest unit in which it is whole."""
    known = ((unit, size) for unit, size in reversed(_UNITS.items()) if number % size == 0)
    unit, size = next(known)
    return f"{number // size}{unit}"


def size_text(number: int) -> str:
    """Write a number of bytes for people, as ``2 GB``."""
    text = amount_text(number)
    return f"{text[:-1]} {text[-1]}B" if text[-1].isalpha() else f"{text} bytes"


def timetable_wished(frequency: str, start: str, end: str, zone: str) -> Timetable:
    """Return a timetable from texts.

    Args:
        frequency: One of `OFFERED`.
        start: Of the first launch, as a date or a moment; empty for now.
        end: From when on there is no launch; empty for never.
        zone: Name of the time zone of days and times.

    Raises:
        JobRefused: One of them is invalid.
    """
    begin = moment_of(start) if start else datetime.now(UTC)
    wish = repeated(frequency, begin.replace(second=0, microsecond=0), zone)
    return replace(wish, end=moment_of(end)) if end else wish


def frequency_of(wish: Timetable) -> str:
    """Return the frequency of which a timetable is; empty if somebody wrote another one."""
    if wish.once is not None:
        return "once"
    if wish.begin is None:
        return ""
    bare = replace(wish, end=None, is_paused=False)
    known = (one for one in OFFERED[1:] if repeated(one, wish.begin, wish.zone) == bare)
    return next(known, "")


def texts_of(wish: Timetable) -> dict[str, str]:
    """The texts of which `timetable_wished` makes a timetable; its moments are in UTC.

    The frequency is empty if somebody wrote another timetable.
    """
    begin = wish.once or wish.begin
    return {
        "frequency": frequency_of(wish),
        "start": _moment(begin) if begin else "",
        "end": _moment(wish.end) if wish.end else "",
        "zone": wish.zone,
    }


def _moment(one: datetime) -> str:
    return f"{one.astimezone(UTC):%Y-%m-%dT%H:%M}"


def when_said(wish: Timetable) -> str:
    """When a target is launched, such as ``quarterly from 2026-12-01 02:00 Europe/London``."""
    frequency, begin = frequency_of(wish), wish.once or wish.begin
    if begin is None or not frequency:
        table = timetable_table(replace(wish, is_paused=False))
        parts = {name: value for name, value in table.items() if value}
        return ", ".join(f"{name} {_words(value)}" for name, value in parts.items())
    local = begin.astimezone(ZoneInfo(wish.zone))
    end = f" until {wish.end.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if wish.end else ""
    joint = "on" if frequency == "once" else "from"
    return f"{frequency} {joint} {local:%Y-%m-%d %H:%M} {wish.zone}{end}"


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def free_name(silo_path: str, name: str) -> str:
    """A name, or with a number if it is taken."""
    taken, number, found = set(target_names(silo_path)), 1, name
    while found in taken:
        number += 1
        found = f"{name[:60]}-{number}"
    return found


def state_said(queues: Queues | None, one: CrawlTarget) -> str:
    """When a target is launched next, in words."""
    if one.when.is_paused:
        return "paused"
    due = due_of(queues, one)
    if due is None:
        return "no further launch"
    is_due = due <= datetime.now(UTC) + timedelta(minutes=1)
    return "due now" if is_due else f"next launch {due:%Y-%m-%d %H:%M} UTC"


def as_object(queues: Queues | None, one: CrawlTarget) -> Mapping[str, Any]:
    """A target as JSON values, with its next and its last launch."""
    due, last = due_of(queues, one), launched(queues, one.name)
    return {
        "name": one.name,
        "title": one.title,
        "url": one.url,
        "select": selection_table(one.select),
        "scope": one.scope.kind.value,
        "plus_one": one.scope.plus_one,
        "render": one.is_rendered,
        "ignore": list(one.scope.ignore),
        "limits": {key: getattr(one.limits, key) for key in Limits.__slots__},
        "when": timetable_table(one.when),
        "watched": one.watched,
        "next": f"{due:%Y-%m-%dT%H:%M:%SZ}" if due else None,
        "last": f"{last.due:%Y-%m-%dT%H:%M:%SZ}" if last.due else None,
    }
