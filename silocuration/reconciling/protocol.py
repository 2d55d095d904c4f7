"""The messages of the Reconciliation Service API, read and written within limits (pure).

What comes from the other side is never trusted: each text is one line of bounded length, and what
is not as specified is left out or refused.

Source: Reconciliation Service API 0.2, sections 3 to 7.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_QUERIES, MOST_CANDIDATES = 50, 25
"""Queries in a batch, and candidates of each."""
MOST_TEXT = 500
"""Characters of a name, an identifier or a description."""
_MOST_PROPERTIES, _MOST_TYPES = 20, 20


class ProtocolError(ValueError):
    """A message that is not as specified; the text says why."""


@dataclass(frozen=True, slots=True)
class ReconciliationQuery:
    """One name that is asked for.

    Attributes:
        types: Only candidates of one of these types.
        properties: (property, value) that help to decide.
    """

    text: str
    types: tuple[str, ...] = ()
    limit: int = 5
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a service says a name may be.

    Attributes:
        score: The greater, the more alike; most services have at most 100.
        matches: Whether the service is certain.
        types: Names of its types.
    """

    id: str
    name: str
    score: float
    matches: bool = False
    types: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class ServiceManifest:
    """What a service says of itself.

    Attributes:
        view, preview: Addresses with ``{{id}}`` where the identifier of an entity belongs; empty
            without one.
        size: Width and height of the preview, pixels.
        types: (id, name) of its default types.
    """

    name: str
    identifier_space: str = ""
    view: str = ""
    preview: str = ""
    size: tuple[int, int] = (400, 200)
    types: tuple[tuple[str, str], ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


# --------------------------------------------------------------------------- the asking side


def batch_of(queries: Mapping[str, ReconciliationQuery]) -> str:
    """Return the JSON text of a batch, by their keys."""
    return json.dumps({key: _asked(one) for key, one in queries.items()}, ensure_ascii=False)


def _asked(one: ReconciliationQuery) -> dict[str, Any]:
    asked: dict[str, Any] = {"query": one.text, "limit": one.limit}
    if one.types:
        asked["type"] = one.types[0] if len(one.types) == 1 else list(one.types)
        asked["type_strict"] = "should"
    if one.properties:
        asked["properties"] = [{"pid": pid, "v": value} for pid, value in one.properties]
    return asked


def manifest_from(value: Any) -> ServiceManifest:
    """Read the manifest of a service.

    Raises:
        ProtocolError: It is none.
    """
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise ProtocolError("it does not answer with the manifest of a reconciliation service")
    preview = value.get("preview")
    size = (400, 200)
    if isinstance(preview, dict):
        size = (_pixels(preview.get("width"), 400), _pixels(preview.get("height"), 200))
    types = value.get("defaultTypes")
    return ServiceManifest(
        name=line_of(value["name"]),
        identifier_space=line_of(value.get("identifierSpace")),
        view=_template(value.get("view")),
        preview=_template(preview),
        size=size,
        types=tuple(_types(types)),
        raw=value,
    )


def results_from(value: Any, keys: Iterable[str]) -> dict[str, tuple[Candidate, ...]]:
    """Read the answer to a batch: key → candidates, the best first.

    Raises:
        ProtocolError: It is none, or lacks the result of a key.
    """
    if not isinstance(value, dict):
        raise ProtocolError("it does not answer with an object")
    found = {}
    for key in keys:
        one = value.get(key)
        result = one.get("result") if isinstance(one, dict) else None
        if not isinstance(result, list):
            raise ProtocolError(f"its answer has no result for the query {key!r}")
        candidates = [*filter(None, map(_candidate, result[:MOST_CANDIDATES]))]
        found[key] = tuple(sorted(candidates, key=lambda c: -c.score))
    return found


def _candidate(value: Any) -> Candidate | None:
    """A candidate; None without an identifier or a name."""
    if not isinstance(value, dict):
        return None
    key, name = line_of(value.get("id")), line_of(value.get("name"))
    score = value.get("score")
    number = (
        float(score) if isinstance(score, int | float) and abs(score) < 1e9 else 0.0
    )  # also for NaN
    if not key or not name:
        return None
    types = tuple(name or key for key, name in _types(value.get("type")))
    said = line_of(value.get("description"))
    return Candidate(key, name, round(number, 2), value.get("match") is True, types, said)


def line_of(value: Any) -> str:
    """Return a text as one line of bounded length; empty for what is none."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        return ""
    line = " ".join(value.split())[:MOST_TEXT]
    return "".join(sign for sign in line if sign.isprintable())


def _types(value: Any) -> Iterable[tuple[str, str]]:
    for one in (value if isinstance(value, list) else [value])[:_MOST_TYPES]:
        if isinstance(one, dict) and line_of(one.get("id")):
            yield line_of(one["id"]), line_of(one.get("name"))
        elif line_of(one):
            yield line_of(one), ""


def _template(value: Any) -> str:
    url = line_of(value.get("url")) if isinstance(value, dict) else ""
    is_web = url.lower().startswith(("http://", "https://"))
    return url if is_web and "{{id}}" in url else ""


def _pixels(value: Any, otherwise: int) -> int:
    return min(max(value, 50), 1000) if type(value) is int else otherwise


# --------------------------------------------------------------------------- the answering side


def queries_from(text: str) -> dict[str, ReconciliationQuery]:
    """Read a batch that somebody sends.

    Raises:
        ProtocolError: It is none, or has more than `MOST_QUERIES`.
    """
    value = object_of(text, "queries")
    if len(value) > MOST_QUERIES:
        raise ProtocolError(f"a batch has at most {MOST_QUERIES} queries")
    return {key: query_from(one) for key, one in value.items()}


def query_from(value: Any) -> ReconciliationQuery:
    """Read one query.

    Raises:
        ProtocolError: It has neither a text, which may be blank, nor properties.
    """
    if not isinstance(value, dict):
        raise ProtocolError("a query is an object with the member query")
    text = line_of(value.get("query"))
    properties = tuple(_properties(value.get("properties")))
    if not isinstance(value.get("query"), str) and not properties:
        raise ProtocolError("a query needs the member query, or properties")
    limit = value.get("limit")
    number = int(limit) if isinstance(limit, int | float) and 1 <= limit < 1e6 else 5
    types = tuple(key for key, _name in _types(value.get("type")))
    return ReconciliationQuery(text, types, min(number, MOST_CANDIDATES), properties)


def object_of(text: str, name: str) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        name: Of the parameter, for the error.

    Raises:
        ProtocolError: The text is none.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ProtocolError(f"{name} is not a JSON object")
    return value


def _properties(value: Any) -> Iterable[tuple[str, str]]:
    for one in value[:_MOST_PROPERTIES] if isinstance(value, list) else ():
        if not isinstance(one, dict):
            continue
        given = one.get("v")
        for each in (given if isinstance(given, list) else [given])[:_MOST_PROPERTIES]:
            said = each.get("name") or each.get("id") if isinstance(each, dict) else each
            said = str(said) if isinstance(said, int | float) else said
            if line_of(one.get("pid")) and line_of(said):
                yield line_of(one["pid"]), line_of(said)


def result_of(candidates: Sequence[Candidate], types: Mapping[str, str]) -> dict[str, Any]:
    """Return the result of one query as JSON values.

    Args:
        types: Type's id → its name.
    """
    return {
        "result": [
            {
                "id": one.id,
                "name": one.name,
                "score": one.score,
                "match": one.matches,
                "type": [{"id": key, "name": types.get(key, key)} for key in one.types],
            }
            | ({"description": one.description} if one.description else {})
            for one in candidates
        ]
    }
