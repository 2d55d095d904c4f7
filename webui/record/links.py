"""Which values of a record become links (pure).

Only ``http``, ``https``, DOIs and handles: a value such as ``javascript:…`` stays text.
"""

import re
from urllib.parse import quote, urlsplit

from recordsilo.formats import persistent_identifier

_WEB = re.compile(r"https?://[^\s<>\"\\^`{|}]+", re.IGNORECASE)
_RESOLVERS = {"doi": "https://doi.org/", "hdl": "https://hdl.handle.net/"}


def href(text: str) -> str | None:
    """Return the address that a value links to, or None."""
    text = text.strip()
    if _WEB.fullmatch(text):
        return text if _has_host(text) else None
    if found := persistent_identifier(text):
        scheme, name = found
        return _RESOLVERS[scheme] + quote(name, safe="/:;()._-")
    return None


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
