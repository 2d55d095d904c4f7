"""Which values of a record become links (pure).

Only ``http``, ``https`` and DOIs: a value such as ``javascript:…`` stays text.
"""

import re
from urllib.parse import quote, urlsplit

_WEB = re.compile(r"https?://[^\s<>\"\\^`{|}]+", re.IGNORECASE)
_DOI = re.compile(r"(?:doi:\s*)?(?P<doi>10\.\d{4,9}/\S+)", re.IGNORECASE)


def href(text: str) -> str | None:
    """The address a value leads to, or None."""
    text = text.strip()
    if _WEB.fullmatch(text):
        return text if _has_host(text) else None
    if match := _DOI.fullmatch(text):
        return "https://doi.org/" + quote(match["doi"], safe="/:;()._-")
    return None


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False
