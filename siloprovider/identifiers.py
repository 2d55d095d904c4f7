"""Identifiers of one's own for records of others, and back (pure).

``oai:mine.example.org:`` and the whole identifier of the source; a character that a local
identifier of OAI may not have, and each ``%``, is written as ``%`` and its bytes in UTF-8. No two
identifiers become one, and each that was given out leads back to the record.

Source: OAI-PMH Implementation Guidelines, *Specification and XML Schema for the OAI Identifier
Format*.
"""

import re
from urllib.parse import quote, unquote_to_bytes

from siloprovider.errors import SettingInvalid

_PREFIX = re.compile(r"oai:[A-Za-z][A-Za-z0-9\-]*(?:\.[A-Za-z][A-Za-z0-9\-]*)+:")
_LOCAL = re.compile(r"[A-Za-z0-9\-_.!~*'();/?:@&=+$,%]+")
_SAFE = "-_.!~*'();/?:@&=+$,"


def check_prefix(prefix: str) -> str:
    """Return a prefix of identifiers.

    Raises:
        SettingInvalid: It has not the form ``oai:DOMAIN:``.
    """
    if not _PREFIX.fullmatch(prefix):
        raise SettingInvalid(
            f"{prefix!r} cannot begin identifiers; write oai:, a domain of your own and a colon, "
            "such as oai:mine.example.org:",
            "identifiers",
        )
    return prefix


def mapped(prefix: str, identifier: str) -> str:
    """The identifier that a record is given with."""
    return prefix + quote(identifier.encode("utf-8", "surrogatepass"), _SAFE)


def original(prefix: str, identifier: str) -> str | None:
    """The identifier of the source; None if this is not one that `mapped` makes.

    Args:
        prefix: Empty if identifiers are those of the source.
    """
    if not prefix:
        return identifier
    if not identifier.startswith(prefix):
        return None
    try:
        found = unquote_to_bytes(identifier.removeprefix(prefix)).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return found if found and mapped(prefix, found) == identifier else None


def shared_prefix(first: str, last: str) -> str:
    """``oai:DOMAIN:`` with which all identifiers begin; empty if there is none.

    Args:
        first, last: In the order of their characters, so that what begins both begins all.
    """
    match = _PREFIX.match(first)
    if match is None or not last.startswith(match[0]):
        return ""
    is_valid = all(_LOCAL.fullmatch(one, match.end()) for one in (first, last))
    return match[0] if is_valid else ""
