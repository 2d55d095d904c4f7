"""The page's texts: English here, other languages from a gettext catalogue (pure).

Templates and handlers say ``_("… {name} …", name=value)``; the English text is the key.
Each request speaks one language (`speak`); outside of requests, in jobs, commands and logs,
texts are English. Texts in a table at import are English, too, and are looked up when shown.

Source: GNU gettext; the Python library, "gettext" and "contextvars".
"""

import gettext
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from webui.words import locales
from webui.words.catalogue import catalogue
from webui.words.locales import ENGLISH

_SPOKEN: ContextVar[str] = ContextVar("language", default=ENGLISH)


def speak(language: str) -> None:
    """Say texts in a language from now on, in this request."""
    _SPOKEN.set(language)


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Say texts in a language for a while."""
    token = _SPOKEN.set(language)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def language() -> str:
    """Return the language of the texts (BCP 47)."""
    return _SPOKEN.get()


def _catalogue() -> gettext.NullTranslations:
    return catalogue(_SPOKEN.get())


def text(message: str, /, **values: object) -> str:
    """Translate a text, and insert values for its placeholders."""
    # For an empty text, the catalogue would return its header.
    found = _catalogue().gettext(message) if message else ""
    return found.format(**values) if values else found


def capital(words: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return words[:1].upper() + words[1:]


def numeral(number: float, /, decimals: int | None = None) -> str:
    """Return a number as people write it: ``1,234``, ``1.234``; see `locales.grouped`."""
    return locales.grouped(number, _SPOKEN.get(), decimals)


def percent(number: float, /) -> str:
    """Return a number of hundredths with its sign: ``97.5%``, ``97,5 %``."""
    return locales.percent(number, _SPOKEN.get())


def counted(one: str, many: str, number: int, /, **values: object) -> str:
    """Return the text for a number: ``counted("{n} record", "{n} records", 3)``."""
    found = _catalogue().ngettext(one, many, number)
    return found.format(n=numeral(number), **values)
