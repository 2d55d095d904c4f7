"""Small texts for people: counted things, times, and long texts cut in the middle (pure)."""

from datetime import UTC, datetime


def counted(number: int, thing: str, things: str = "") -> str:
    """Such as ``1 record`` or ``1,234 records``.

    Args:
        thing: What, in the singular.
        things: In the plural, if that does not only add an s.
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def cut_middle(text: str, most: int) -> str:
    """A text of at most `most` characters; of a longer one, both ends with … between."""
    if len(text) <= most:
        return text
    end = max(most - 1, 0) // 2
    return f"{text[: max(most - 1 - end, 0)]}…{text[len(text) - end :]}"


def escaped(text: str) -> str:
    """A line for a terminal: control characters other than tabs are escaped."""
    return "".join(
        c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text
    )


def with_unit(size: int) -> str:
    """A number of bytes, such as ``712 bytes``, ``3.1 MB`` or ``12 GB``; a MB is a million."""
    if size < 1000:
        return counted(size, "byte")
    number = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        number /= 1000
        if number < 999.5 or unit == "TB":
            break
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:,.0f} {unit}"


def minute(at: datetime | str) -> str:
    """When something happened, as all commands write it: ``2026-11-29 18:54 UTC``.

    Args:
        at: An aware time, or one in ISO 8601, which is in UTC if it names no zone; another text
            is given as it is.
    """
    try:
        moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    except ValueError:
        return str(at)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
