"""Times as names and logs write them, in UTC (pure)."""

from datetime import UTC, datetime


def moment_of(digits: str) -> datetime:
    """Read a time of 14 digits, such as ``20261124061149``.

    Raises:
        ValueError: It is none.
    """
    return datetime.strptime(f"{digits}+0000", "%Y%m%d%H%M%S%z")


def moment_or_none(digits: str) -> datetime | None:
    """The same; None if it is none."""
    try:
        return moment_of(digits)
    except ValueError:
        return None


def moment_of_checkpoint(name: str) -> datetime | None:
    """When a checkpoint such as ``cp00001-20261124061149`` was made; None if it is none."""
    return moment_or_none(name.rpartition("-")[2])


def logged(line: str) -> datetime | None:
    """When a line of a log was written, by its first field in ISO 8601; None if that is none."""
    try:
        found = datetime.fromisoformat(line.split(None, 1)[0])
    except (ValueError, IndexError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def in_iso(at: datetime) -> str:
    """A time in ISO 8601, such as ``2026-11-24T06:11:49Z``."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
