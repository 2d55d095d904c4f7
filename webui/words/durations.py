"""How long something took or will take, in words (pure)."""

from webui.words.texts import counted
from webui.words.texts import text as _

MINUTE, HOUR, DAY = 60, 3600, 86400


def in_words(seconds: float) -> str:
    """Return a time in seconds, minutes or hours, rounded down; two minutes have 120 seconds.

    Whole days, from two on, are given as days: 7 days, and not 168 hours.
    """
    whole = round(seconds)
    if whole < 1:
        return _("less than a second")
    if whole < 2 * MINUTE:
        return counted("{n} second", "{n} seconds", whole)
    if whole < 2 * HOUR:
        return counted("{n} minute", "{n} minutes", whole // MINUTE)
    if whole >= 2 * DAY and whole % DAY == 0:
        return counted("{n} day", "{n} days", whole // DAY)
    return counted("{n} hour", "{n} hours", whole // HOUR)


def by_clock(seconds: float) -> str:
    """Return a time as minutes and seconds, such as ``4:05``; from one hour on ``1:04:05``."""
    minutes, rest = divmod(max(0, round(seconds)), MINUTE)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
