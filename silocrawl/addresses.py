"""The form in which an address is fetched, logged and indexed (pure)."""

import re
from functools import lru_cache

from crawlmatch.errors import BadAddress
from crawlmatch.uris import heritrix_form

PICTURE, DOM, TEXT, REQUESTS = "urn:fullPage:", "urn:dom:", "urn:text:", "urn:pageinfo:"
"""Before the address of a page that a browser showed: its picture, its DOM, its text, and the list
of its requests. Source: browsertrix-crawler, whose names these are but for the DOM."""
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(?:[/?#]\S*)?", re.IGNORECASE)
_BARE = re.compile(
    r"(?:localhost|[^\s/?#@:]+\.[^\s/?#@:]+|[^\s/?#@:]+(?=:\d))(?::\d{1,5})?(?:[/?#]\S*)?",
    re.IGNORECASE,
)
"""An address whose scheme was left out, and not another one, as ``mailto:`` or ``doi:10.1/x``."""
_LOGIN = re.compile(r"\A(https?://)[^/?#]*@", re.IGNORECASE)


@lru_cache(20_000)  # the pages of a site have most of their links in common
def fetched_form(address: str) -> str:
    """Return Heritrix's form of an address, without the login that it may have.

    A login in a link is nobody's to use, nor to be kept in logs and archives.

    Raises:
        BadAddress: See `heritrix_form`.
    """
    return _LOGIN.sub(r"\1", heritrix_form(address))


def without_login(address: str) -> str:
    """Return an address as it is, or in its fetched form if it has a login."""
    if "@" not in address:
        return address
    try:
        form = heritrix_form(address)
    except BadAddress:
        return address
    return _LOGIN.sub(r"\1", form) if _LOGIN.match(form) else address


def bare_with_scheme(address: str) -> str:
    """An address without a scheme as it was meant; empty for every other text."""
    return f"http://{address}" if _BARE.fullmatch(address) else ""


def why_not_web(address: str) -> str:
    """Say why somebody's address is none of http or https, or has a login; empty if it is good."""
    if _ADDRESS.fullmatch(address):
        return ""
    bare = _LOGIN.sub(r"\1", address)
    if bare != address and _ADDRESS.fullmatch(bare):
        return f"an address is written without a login, which is never used: {bare}"
    if with_scheme := bare_with_scheme(address):
        return f"{address!r} has no http:// or https://; write {with_scheme}"
    return f"{address!r} is not an address of http or https"
