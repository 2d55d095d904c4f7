"""The form in which an address is fetched, logged and indexed (pure)."""

import re
from functools import lru_cache

from crawlmatch.errors import BadAddress
from crawlmatch.uris import heritrix_form

PICTURE, DOM, TEXT, REQUESTS = "urn:fullPage:", "urn:dom:", "urn:text:", "urn:pageinfo:"
"""Before the address of a page that a browser showed: its picture, its DOM, its text, and the list
of its requests. Source: browsertrix-crawler, whose names these are but for the DOM."""
_LOGIN = re.compile(r"\A(https?://)[^/?#]*@")


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
