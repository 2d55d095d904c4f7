"""Events as they arrive, flattened and with a profile (pure)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from usagestats.visitors.errors import DeadLetter
from usagestats.visitors.settings import FieldNames

Event: TypeAlias = dict[str, Any]
_MILLISECONDS_FROM = 10**11
"""Seconds that large are in the year 5138; smaller milliseconds are before March 1973."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What an event says of its visitor.

    Attributes:
        session: ``""`` if the event has none.
        page: Title of the page; None if the event is not a page view.
        time: Milliseconds since 1970-01-01T00:00:00Z.
    """

    user: str
    session: str
    page: str | None
    time: int


def parsed(value: bytes | None) -> Event:
    """Parse a message.

    Raises:
        DeadLetter: It is not a JSON object in UTF-8.
    """
    if value is None:
        raise DeadLetter("the message has no value")
    try:
        event = json.loads(value.decode("utf-8"))
    except (ValueError, RecursionError):
        raise DeadLetter("the message is not JSON in UTF-8") from None
    if not isinstance(event, dict):
        raise DeadLetter("the message is not a JSON object")
    return event


def written(event: Event) -> bytes:
    """Return an event as the value of a message."""
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")


def flattened(event: Event) -> Event:
    """Return name and value pairs as fields: ``{"query-NAME": value}``.

    A member that is not a list of pairs keeps its name and value. Of two pairs with one name
    the last counts.
    """
    flat: Event = {}
    for group, members in event.items():
        if isinstance(members, list) and members and all(map(_is_pair, members)):
            flat.update({f"{group}-{one['name']}": one["value"] for one in members})
        elif members != []:
            flat[group] = members
    return flat


def _is_pair(member: object) -> bool:
    return isinstance(member, dict) and isinstance(member.get("name"), str) and "value" in member


def visit_of(event: Event, names: FieldNames, message_time: int, now: int) -> Visit:
    """Read what a flattened event says of its visitor.

    Args:
        names: Names of its fields.
        message_time: Time of the message, in milliseconds.
        now: The current time. An event cannot be later: a wrong clock would stop the profile.

    Raises:
        DeadLetter: The event has no user id.
    """
    user = _text(event.get(names.user))
    if not user:
        raise DeadLetter(f"the event has no user id ({names.user})")
    is_view = event.get(names.event_type) == names.page_view
    page = _text(event.get(names.page)) if is_view else ""
    said = _time(event.get(names.time)) if names.time else None
    time = message_time if said is None else said
    return Visit(user, _text(event.get(names.session)), page or None, min(max(time, 0), now))


def with_profile(event: Event, profile: Mapping[str, str]) -> Event:
    """Return the event with each field of a profile as ``profile_…``."""
    return event | {f"profile_{name}": value for name, value in sorted(profile.items())}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip().encode("utf-8", "replace").decode("utf-8")
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _time(value: object) -> int | None:
    text = _text(value)
    if re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text, re.ASCII):
        number = float(text)
        return int(number if number >= _MILLISECONDS_FROM else number * 1000)
    try:
        moment = datetime.fromisoformat(text)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
