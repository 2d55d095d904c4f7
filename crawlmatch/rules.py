"""What counts as a full text, and which pages are walls: what a user may set (pure)."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from crawlmatch.errors import CrawlError

FULL_TEXTS = ("application/pdf", "application/postscript", "application/octet-stream")
WEB_PAGES = ("text/html", "application/xhtml+xml")
WALLS = (
    r"[?&;](cookieSet|cookiesSet|cookie_set|needCookies?|cookieCheck|gdpr_cookies?)=",
    r"cookie[_-]?(absent|s?[_-]?disabled|s?[_-]?required|s?[_-]?not[_-]?supported)",
    r"/(errors?/)?(no[-_]?cookies?|cookies?[-_]?(error|test|check|wall))([/?.]|$)",
    r"/crawlprevention/",
    r"/(login|logon|signin|sign-in|sign_in|log-in|ssostart|wayf|shibboleth(\.sso)?|authwall)([/?.;]|$)",
    r"//(login|idp|sso|auth|accounts?|shibboleth|wayf)\.[^/]+\.[^/]+/",
    r"/(idp|simplesaml|openathens|saml2?)/",
    r"/(captcha|distil_r_captcha|cdn-cgi/challenge)",
)
"""Addresses of pages that stand before a document: they take cookies, or a password.

Regular expressions that RE2 and Java read alike; upper and lower case do not matter.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """How lines are judged.

    Attributes:
        full_texts: Media types of full texts.
        walls: Patterns of addresses where people sign in or take cookies.
    """

    full_texts: tuple[str, ...] = FULL_TEXTS
    walls: tuple[str, ...] = WALLS

    @classmethod
    def html(cls, walls: Iterable[str] = WALLS) -> "Rules":
        """Web pages are what is looked for, in place of documents."""
        return cls(WEB_PAGES, tuple(walls))

    @property
    def hits(self) -> str:
        """The pattern of the media types that are full texts."""
        return f"^({'|'.join(map(_escaped, self.full_texts))})"

    @property
    def pages(self) -> str:
        """The pattern of those that are web pages."""
        return f"^({'|'.join(map(_escaped, WEB_PAGES))})"

    @property
    def walled(self) -> str:
        """The pattern of addresses that are walls."""
        return f"(?i)({'|'.join(self.walls)})" if self.walls else "^$"


def _escaped(media_type: str) -> str:
    return re.sub(r"([.+*?^$()\[\]{}|\\])", r"\\\1", media_type.lower())


def rules_from(text: str, *, html: bool = False) -> Rules:
    """Rules from TOML: ``walls`` to be added to ours, ``full_texts`` in place of ours.

    Raises:
        CrawlError: It is no TOML, holds something else, or a pattern cannot be read.
    """
    try:
        found: Mapping[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CrawlError(f"the rules are no TOML: {error}") from None
    if unknown := found.keys() - {"walls", "full_texts"}:
        raise CrawlError(f"{', '.join(sorted(unknown))} is no rule; there are walls, full_texts")
    walls, types = (_texts(found, name) for name in ("walls", "full_texts"))
    for pattern in walls:
        _check(pattern)
    usual = WEB_PAGES if html else FULL_TEXTS
    return Rules(types or usual, (*WALLS, *walls))


def _texts(found: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = found.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise CrawlError(f"{name} is a list of texts, not {value!r}")
    return tuple(value)


def _check(pattern: str) -> None:
    """Refuse what Python cannot read, and what RE2 has not: references and look-around."""
    try:
        re.compile(pattern)
    except re.error as error:
        raise CrawlError(f"the pattern {pattern!r} cannot be read: {error}") from None
    if re.search(r"\\[1-9]|\(\?[=!<P>]|[*+?}]\+", pattern):
        raise CrawlError(
            f"the pattern {pattern!r} looks around or back, which is not possible here"
        )
