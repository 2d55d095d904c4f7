"""Datestamps and their granularity (OAI-PMH 2.0, sections 2.7.1 and 3.3)."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from enum import StrEnum
from functools import lru_cache

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_SECOND = re.compile(r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})Z", re.ASCII)
_TOLERANT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|z|[+-]\d{2}:?\d{2})?)?",
    re.ASCII,
)

_WELL_FORMED = re.compile(
    r"(?:(?!0000)\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ)?\n)*+",
    re.ASCII,
)
"""Lines with datestamps of the two forms; not those with the 29th of February."""


class DatestampError(ValueError):
    """A text is not a datestamp."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(text)

    def __str__(self) -> str:
        return f"{self.text!r} is not a datestamp; write YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ (UTC)"


class Granularity(StrEnum):
    """The finest granularity of a repository's datestamps."""

    DAY = "YYYY-MM-DD"
    SECOND = "YYYY-MM-DDThh:mm:ssZ"

    @property
    def step(self) -> timedelta:
        """Return the length of one granule."""
        return timedelta(days=1) if self is Granularity.DAY else timedelta(seconds=1)

    @classmethod
    def of(cls, text: str) -> "Granularity":
        """Return the granularity of a well-formed datestamp.

        Raises:
            DatestampError: The text has neither of the two forms.
        """
        if _DAY.fullmatch(text):
            return cls.DAY
        if _SECOND.fullmatch(text):
            return cls.SECOND
        raise DatestampError(text)

    def floor(self, moment: datetime) -> datetime:
        """Return the beginning of the granule of ``moment`` (aware), in UTC."""
        moment = moment.astimezone(UTC)
        if self is Granularity.DAY:
            return moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return moment.replace(microsecond=0)


def parse_datestamp(text: str) -> datetime:
    """Parse a datestamp of either granularity strictly; a day is its first second.

    Returns:
        An aware datetime in UTC.

    Raises:
        DatestampError: It has neither of the two forms, or the day or hour does not exist.

    Source: OAI-PMH 2.0, section 3.3.
    """
    match = _SECOND.fullmatch(text) or _DAY.fullmatch(text)
    if match is None:
        raise DatestampError(text)
    return _moment(text, *(int(part) for part in match.groups()))


@lru_cache(maxsize=4096)  # a record's datestamp is parsed four times while its page is processed
def read_datestamp(text: str) -> datetime:
    """Parse a datestamp in the forms that real repositories use.

    In addition to the two forms of the specification: outer white space, a space for the
    ``T``, fractions of a second, no zone (read as UTC) or an offset.
    ``OpenSKOS`` sends offsets and NOAA's repository no ``Z`` (2015–2023).

    Returns:
        An aware datetime in UTC, without fractions.

    Raises:
        DatestampError: It has none of these forms, or no such date, as ``0000-00-00``.
    """
    if _is_usual(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise DatestampError(text) from None
    match = _TOLERANT.fullmatch(text.strip())
    if match is None:
        raise DatestampError(text)
    *numbers, zone = match.groups()
    moment = _moment(text, *(int(part) for part in numbers if part is not None))
    try:
        return moment - _offset(zone)
    except (ValueError, OverflowError):
        raise DatestampError(text) from None


def datestamp_or_none(text: str | None) -> datetime | None:
    """Parse a datestamp as `read_datestamp`; None if there is none, or it is no date."""
    try:
        return read_datestamp(text) if text else None
    except DatestampError:
        return None


def unreadable(texts: Sequence[str]) -> list[int]:
    """Return the indexes of the texts that `read_datestamp` cannot read.

    Cost: 0.2 µs for each text if all have a form of the specification, a tenth of reading them.
    """
    lines = "\n".join([*texts, ""])
    if lines.count("\n") == len(texts) and _WELL_FORMED.fullmatch(lines):
        return []
    return [number for number, text in enumerate(texts) if datestamp_or_none(text) is None]


def _is_usual(text: str) -> bool:
    """Whether a text looks like YYYY-MM-DDThh:mm:ssZ, which `datetime` parses ten times as fast.

    Python 3.13 accepts hour 24 as the next day's first.
    """
    return (
        len(text) == 20
        and text[4] == text[7] == "-"
        and text[10] == "T"
        and text[13::3] == "::Z"
        and text[11:13] != "24"
    )


def _offset(zone: str | None) -> timedelta:
    """Return a zone's offset from UTC; raise ValueError if it does not exist."""
    if zone is None or zone in "Zz":
        return timedelta()
    ahead = timezone(timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))).utcoffset(None)
    return -ahead if zone[0] == "-" else ahead


def format_datestamp(moment: datetime, granularity: Granularity) -> str:
    """Write an aware moment as a datestamp, truncated to the granularity."""
    moment = moment.astimezone(UTC)
    day = f"{moment.year:04d}-{moment.month:02d}-{moment.day:02d}"
    if granularity is Granularity.DAY:
        return day
    return f"{day}T{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d}Z"


def _moment(text: str, *parts: int) -> datetime:
    try:
        day = date(parts[0], parts[1], parts[2])
        hour, minute, second = (*parts[3:], 0, 0, 0)[:3]
        return datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise DatestampError(text) from None
