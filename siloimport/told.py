"""What a `silo.json` tells of a record, checked value by value: it may come from anybody (pure)."""

import json
from typing import Any, NoReturn

from recordsilo.records.manifest import Origin, date_text
from recordsilo.records.manifest_plain import KINDS
from siloimport.errors import ImportProblem

ABOUT = "silo.json"
LARGEST = 64 << 20
"""The largest ``silo.json`` that is read."""
_NEEDED = object()


def told_by(content: bytes, identifier: str) -> dict[str, Any]:
    """Return the content of a ``silo.json``.

    Args:
        identifier: Of the record that it has to be about.

    Raises:
        ImportProblem: It is not JSON, or about another record.
    """

    def invalid(_constant: str) -> NoReturn:
        raise ValueError

    try:
        value = json.loads(content, parse_constant=invalid)
    except (ValueError, RecursionError):
        raise ImportProblem("its silo.json is not JSON") from None
    if not isinstance(value, dict):
        raise ImportProblem("its silo.json is not about a record")
    if value.get("identifier") != identifier:
        raise ImportProblem("its silo.json is that of another record")
    return value


def origin_of(given: dict[str, Any]) -> Origin:
    """Return the origin of a version.

    Raises:
        ImportProblem: A value is missing or has a wrong type.
    """
    if given.get("kind") not in KINDS:
        raise ImportProblem("its silo.json has an unknown kind of origin")
    texts = {key: typed(given, key, str, "") for key in ("agent", "message", "date")}
    prefixes = typed(given, "prefixes", dict, {})
    if not all(isinstance(one, str) for one in prefixes.values()):
        raise ImportProblem("its silo.json has invalid prefixes")
    of = given.get("of")
    if of is not None and not isinstance(of, str):
        raise ImportProblem("its silo.json has no valid 'of'")
    return Origin(given["kind"], of or None, prefixes, **texts)


def dated(text: Any) -> str:
    """Return a date in the form of manifests.

    Raises:
        ImportProblem: It is no date.
    """
    try:
        return date_text(text)
    except (ValueError, TypeError, AttributeError, OverflowError):
        raise ImportProblem(f"its silo.json has an invalid date: {text!r}") from None


def typed(value: Any, key: str, kind: type, otherwise: Any = _NEEDED) -> Any:
    """Return the value of a key, if it is of a type.

    Raises:
        ImportProblem: It is not, or it is missing and there is no other.
    """
    found = value.get(key, otherwise) if isinstance(value, dict) else _NEEDED
    if found is _NEEDED or type(found) is not kind:
        raise ImportProblem(f"its silo.json has no valid {key!r}")
    return found
