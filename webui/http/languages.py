"""The language of an answer: what the person chose, else the browser's, else the server's.

A choice is kept with the account of who is signed in, and in a cookie.

JSON is English, whoever asks; only what the page's own scripts ask for, to show it, is in the
language of the page. Browsers mark such a request (``Sec-Fetch-Dest: empty``), programs do not.

Source: RFC 9110, section 12.5.4 (Accept-Language); RFC 4647, section 3.4 (lookup); GNU gettext,
"Locale Environment Variables"; Fetch Metadata Request Headers (W3C).
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from webui.http.messages import cookie_in, weighted
from webui.words.locales import ENGLISH, LOCALES

COOKIE = "silo-language"
LONGEST = 365 * 24 * 3600
"""Seconds for which a choice is kept."""


def language_of(environ: Mapping[str, Any], kept: str = "", *, as_json: bool) -> str:
    """Return the language of the answer to a WSGI request.

    Args:
        kept: What the account of the user has; empty for none.
        as_json: Whether the answer is JSON.
    """
    if as_json and not _is_by_page(environ):
        return ENGLISH
    for chosen in (kept, cookie_in(str(environ.get("HTTP_COOKIE", "")), COOKIE)):
        if chosen in LOCALES:
            return chosen
    accepted = weighted(str(environ.get("HTTP_ACCEPT_LANGUAGE", "")))
    wanted = sorted((one for one in accepted if one[1] > 0), key=lambda one: -one[1])
    return _first(tag for tag, _weight in wanted) or _of_server() or ENGLISH


def choice_header(language: str, path: str) -> str:
    """Return the header that keeps a choice in the browser; an unknown language ends it.

    Args:
        path: The addresses for which it holds.
    """
    is_known = language in LOCALES
    kept = f"{COOKIE}={language if is_known else ''}; Path={path}"
    return f"{kept}; HttpOnly; SameSite=Lax; Max-Age={LONGEST if is_known else 0}"


def _is_by_page(environ: Mapping[str, Any]) -> bool:
    asked = environ.get("HTTP_SEC_FETCH_DEST"), environ.get("HTTP_SEC_FETCH_SITE")
    return asked == ("empty", "same-origin")


def _first(tags: Iterable[str]) -> str:
    """The first language that the page speaks; ``de-AT`` is German."""
    found = (tag.replace("_", "-").partition("-")[0].lower() for tag in tags)
    return next((one for one in found if one in LOCALES), "")


def _of_server() -> str:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if said := os.environ.get(name, ""):
            return _first(one.partition(".")[0] for one in said.split(":"))
    return ""
