"""Map identifiers to pairtree paths, and to the form that pages and exports use.

The mapping is that of the Pairtree specification 0.1, "Identifier string cleaning"
and "Mapping identifiers to paths". The PyPI package `pairtree` maps identifiers to
paths; the reverse is implemented here, because the package's fails on U+007F.
"""

import importlib
import logging
import re
from functools import lru_cache
from types import ModuleType
from urllib.parse import quote

from recordsilo.errors import IdentifierError

_FROM_CLEANED = str.maketrans("=+,", "/:.")
_TO_CLEANED = str.maketrans("/:.", "=+,")
_PLAIN = re.compile(r"[!#-)\-./0-;@-\[\]_`a-{}~]+")
_PLAIN_CLEANED = re.compile(r"[!#-)\-0-9;@-\[\]_`a-{}~=+,]+")
"""Identifiers, and cleaned forms, without characters that become ``^hh``: nearly all."""
_HEX = re.compile(rb"\^([0-9a-f]{2})")
_STRAY_CARET = re.compile(r"\^(?![0-9a-f]{2})")
MAX_PPATH = 3000
"""Longest pairtree path in bytes. Together with a version's name (252) and a file's path (600)
it leaves about 240 bytes of PATH_MAX (4,096) for the Silo's own directory."""


def _import_quietly(name: str) -> ModuleType:
    """Import a module that configures the root logger, and restore the root logger.

    pairtree 0.8.1 calls ``logging.basicConfig(level=INFO)`` when imported.
    """
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        return importlib.import_module(name)
    finally:
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
        root.setLevel(level)


_pairtree = _import_quietly("pairtree")


def not_text(given: object) -> IdentifierError:
    """The error for an identifier that is not text, which says what was probably meant."""
    if isinstance(given, slice):
        ends = ":".join("" if one is None else str(one) for one in (given.start, given.stop))
        return IdentifierError(
            given, f"it is a slice; search()[{ends}] has records, keys()[{ends}] identifiers"
        )
    if isinstance(given, int) and not isinstance(given, bool):
        return IdentifierError(given, f"it is a number; write {str(given)!r}")
    return IdentifierError(repr(given), "it is not text")


def check_identifier(identifier: str) -> str:
    """Return the identifier if it is valid.

    Raises:
        IdentifierError: It is empty, contains a lone surrogate or a NUL, or is too long for
            a path.
    """
    if not isinstance(identifier, str):
        raise not_text(identifier)
    if not identifier:
        raise IdentifierError(identifier, "it is empty")
    if "\0" in identifier:
        raise IdentifierError(identifier, "it contains a NUL character")
    try:
        identifier.encode("utf-8")
    except UnicodeEncodeError:
        raise IdentifierError(identifier, "it contains half of a surrogate pair") from None
    length = len(clean(identifier))
    if length * 3 // 2 > MAX_PPATH:
        raise IdentifierError(
            identifier[:60] + "…", f"it is too long for a path ({length} characters when cleaned)"
        )
    return identifier


@lru_cache(maxsize=4096)  # an operation needs the same few several times
def clean(identifier: str) -> str:
    """The identifier's cleaned form, such as ``oai+eprints,example,org+6102``.

    It is reversible, has no ``/`` and so is one path segment, and consists of the letters
    of the path on disk.

    Source: Pairtree 0.1, "Identifier string cleaning".
    """
    if _PLAIN.fullmatch(identifier):
        return identifier.translate(_TO_CLEANED)
    return str(_pairtree.id_encode(identifier))


def unclean(cleaned: str) -> str:
    """The identifier whose cleaned form this is.

    Raises:
        IdentifierError: No identifier has that cleaned form.
    """
    if _PLAIN_CLEANED.fullmatch(cleaned):
        return cleaned.translate(_FROM_CLEANED)
    try:
        octets = cleaned.translate(_FROM_CLEANED).encode("utf-8")
        found = _HEX.sub(lambda match: bytes([int(match[1], 16)]), octets).decode("utf-8")
    except UnicodeError:
        raise IdentifierError(cleaned, "it is not the cleaned form of any") from None
    if _STRAY_CARET.search(cleaned) or not found or clean(found) != cleaned:
        raise IdentifierError(cleaned, "it is not the cleaned form of any")
    return found


@lru_cache(maxsize=4096)
def ppath(identifier: str) -> str:
    """The record's directory below ``pairtree_root``, ``/``-separated: ``oa/i+/ep/…/02``.

    Source: Pairtree 0.1, "Mapping identifiers to paths" (shorties of two characters).
    """
    cleaned = clean(identifier)
    return "/".join([cleaned[i : i + 2] for i in range(0, len(cleaned), 2)])


def url_segment(identifier: str) -> str:
    """The cleaned form as a path segment of a URL, percent-encoded where necessary."""
    return quote(clean(identifier), safe="+=,:@!$&'()*;~")
