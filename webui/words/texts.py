"""The page's texts: English here, other languages from a gettext catalogue (pure).

Templates and handlers say ``_("… {name} …", name=value)``; the English text is the key.
``tools/text_catalogue.py`` prints them all for translators, and a translation is the
file ``locale/<language>/LC_MESSAGES/webui.mo`` made from that; the server's environment
(``LANGUAGE``, ``LANG``) says which is used.

Source: GNU gettext; the Python library, "gettext".
"""

import gettext
from functools import cache
from importlib.resources import as_file, files

DOMAIN = "webui"


@cache
def _catalogue() -> gettext.NullTranslations:
    with as_file(files("webui") / "locale") as directory:
        return gettext.translation(DOMAIN, str(directory), fallback=True)


def text(message: str, /, **values: object) -> str:
    """Translate a text, and insert values for its placeholders."""
    # For an empty text, the catalogue would return its header.
    found = _catalogue().gettext(message) if message else ""
    return found.format(**values) if values else found


def capital(words: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return words[:1].upper() + words[1:]


def language() -> str:
    """Return the language tag of the texts (BCP 47)."""
    return _catalogue().info().get("language", "en").partition(".")[0].replace("_", "-")


def counted(one: str, many: str, number: int, /, **values: object) -> str:
    """Return the text for a number: ``counted("{n} record", "{n} records", 3)``."""
    found = _catalogue().ngettext(one, many, number)
    return found.format(n=f"{number:,}", **values)
