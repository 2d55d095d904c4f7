"""Settings: the media types of full texts, the addresses of walls and defences (pure)."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crawlmatch.errors import CrawlError
from recordsilo.patterns import PatternRefused, compiled

FULL_TEXTS = ("application/pdf", "application/postscript", "application/octet-stream")
WEB_PAGES = ("text/html", "application/xhtml+xml")
WALLS = (
    r"[?&;](cookieSet|cookiesSet|cookie_set|needCookies?|cookieCheck|gdpr_cookies?)=",
    r"cookie[_-]?(absent|s?[_-]?disabled|s?[_-]?required|s?[_-]?not[_-]?supported)",
    r"/(errors?/)?(no[-_]?cookies?|cookies?[-_]?(error|test|check|wall))([/?.]|$)",
    r"/(login|logon|signin|sign-in|sign_in|log-in|ssostart|wayf|shibboleth(\.sso)?|authwall)([/?.;]|$)",
    r"//(login|idp|sso|auth|accounts?|shibboleth|wayf)\.[^/]+\.[^/]+/",
    r"/(idp|simplesaml|openathens|saml2?)/",
)
"""Addresses of walls: pages before a document that require cookies or a password.

Regular expressions that mean the same to RE2 and Java; matched without case.
"""
MOST_TEXT = 1 << 20
"""Most characters of a file of rules."""
DEFENCES = (
    r"/crawlprevention/",
    r"/(captcha|distil_r_captcha|distil_r_blocked|cdn-cgi/challenge)",
)
"""Addresses of defences against robots: pages that a crawler gets in place of a document.

The Governor of Silverchair is at ``/crawlprevention/governor``; the others are of Distil (Imperva),
Cloudflare, and pages with a captcha.
"""


@dataclass(frozen=True, slots=True)
class LineRules:
    """The rules by which lines are judged.

    Attributes:
        full_texts: Media types of full texts.
        walls: Patterns of addresses that require a login or cookies.
        defences: Patterns of addresses where robots are sent.
    """

    full_texts: tuple[str, ...] = FULL_TEXTS
    walls: tuple[str, ...] = WALLS
    defences: tuple[str, ...] = DEFENCES

    @classmethod
    def html(cls) -> "LineRules":
        """Return rules that look for web pages instead of documents."""
        return cls(WEB_PAGES)

    @property
    def hits(self) -> str:
        """Return the pattern of the media types of full texts."""
        return f"^({'|'.join(map(_escaped, self.full_texts))})"

    @property
    def pages(self) -> str:
        """Return the pattern of the media types of web pages."""
        return f"^({'|'.join(map(_escaped, WEB_PAGES))})"

    @property
    def walled(self) -> str:
        """Return the pattern of the addresses of walls."""
        return _any(self.walls)

    @property
    def defended(self) -> str:
        """Return the pattern of the addresses of defences against robots."""
        return _any(self.defences)


def _any(patterns: tuple[str, ...]) -> str:
    return f"(?i)({'|'.join(patterns)})" if patterns else "^$"


def _escaped(media_type: str) -> str:
    return re.sub(r"([.+*?^$()\[\]{}|\\])", r"\\\1", media_type.lower())


def rules_from(text: str, *, html: bool = False) -> LineRules:
    """Read rules from TOML: ``walls`` and ``defences`` are added to the default.

    ``full_texts`` replace it.

    Raises:
        CrawlError: It is not TOML, has an unknown key, or a pattern is invalid.
    """
    if len(text) > MOST_TEXT:
        raise CrawlError(f"the rules are larger than {MOST_TEXT >> 20} MiB")
    try:
        found: Mapping[str, Any] = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise CrawlError(f"the rules are not TOML: {error}") from None
    if unknown := found.keys() - set(_NAMES):
        raise CrawlError(
            f"unknown in the rules: {', '.join(sorted(unknown))}; there are {', '.join(_NAMES)}"
        )
    walls, defences, types = (_texts(found, name) for name in _NAMES)
    for pattern in (*walls, *defences):
        _check(pattern)
    usual = WEB_PAGES if html else FULL_TEXTS
    return LineRules(types or usual, (*WALLS, *walls), (*DEFENCES, *defences))


_MOST_COUNT = 1000
_COUNTS = re.compile(r"(?<=[{,])[0-9]+(?=[,}])")
_NAMES = ("walls", "defences", "full_texts")


def _texts(found: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = found.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise CrawlError(f"{name} must be a list of texts, not {value!r}")
    return tuple(value)


def _check(pattern: str) -> None:
    """Refuse patterns that are invalid or too large, and what RE2 does not have.

    That is back-references, look-around, and counts above 1,000; otherwise its time is linear.
    """
    try:
        compiled(pattern, ignore_case=True)
    except PatternRefused as error:
        raise CrawlError(f"the pattern {pattern[:100]!r} is invalid: {error}") from None
    if any(int(count) > _MOST_COUNT for count in _COUNTS.findall(pattern)):
        raise CrawlError(f"the pattern {pattern!r} repeats more than {_MOST_COUNT:,} times")
    if re.search(r"\\[1-9]|\(\?[=!<P>]|[*+?}]\+", pattern):
        raise CrawlError(
            f"the pattern {pattern!r} has look-around or a back-reference, which is not supported"
        )
