"""Dates of manifests for display and for ``<time datetime>``."""

from datetime import datetime
from functools import lru_cache

from webui.words import locales
from webui.words.texts import language


def for_people(text: str) -> str:
    """Return ``24 Jun 2004``, with the time (UTC) unless it is midnight; other text unchanged."""
    return _for_people(text, language())


@lru_cache(maxsize=1024)
def _for_people(text: str, language: str) -> str:
    moment = _parsed(text)
    if moment is None:
        return text
    day = locales.day(moment, language)
    is_midnight = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    return day if is_midnight else f"{day}, {moment:%H:%M} UTC"


@lru_cache(maxsize=1024)
def for_machines(text: str) -> str:
    """Return the date for ``<time datetime>``, marked as UTC; empty if it is not a date."""
    moment = _parsed(text)
    return f"{moment.isoformat(timespec='seconds')}Z" if moment else ""


def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=None)
