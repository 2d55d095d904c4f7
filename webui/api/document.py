"""The route table → an OpenAPI 3.1 document: every page's JSON twin (pure).

Source: OpenAPI 3.1.1.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from recordsilo.distribution import release
from webui import routes
from webui.api.operations import OPERATIONS
from webui.api.schemas import ANY_OBJECT, SCHEMAS, ref
from webui.http.bodies import FORMS
from webui.http.multipart import MULTIPART
from webui.pages import manual, openapi, static
from webui.route import Body, Operation, Query, Route, Scope
from webui.urls import twin

_OWN = frozenset({static.favicon, static.robots, openapi.show, static.show, manual.show})
"""Handlers that are of no use to programs."""
_REFERENCE = re.compile(r"#/components/schemas/(\w+)")
_BRACES = re.compile(r"\{(\w+)(\.\.\.)?\}")
_PATH_TEXTS: Mapping[str, str] = {
    "record": "The record: its cleaned pairtree form; a full or short identifier, encoded, too.",
    "version": "Name of a version.",
    "path": "A file's path; each of its segments percent-encoded.",
    "name": "What the address before it lists: a kept search, a crawl, an account.",
}


def document(scopes: frozenset[Scope]) -> Mapping[str, Any]:
    """Return the OpenAPI document of a site with these scopes."""
    return _document(routes.table(*scopes))


@cache
def _document(table: routes.RouteTable) -> Mapping[str, Any]:
    paths = _paths(table.documented())
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Silo",
            "version": release(),
            "description": "Records that were harvested, and what was made of them. A list is "
            "walked by `next`, which is null at its end; an ETag of a record begins with "
            "its revision, and If-Match makes a change at that revision only. Fields of a "
            "change are sent urlencoded, as multipart/form-data or as a JSON object of texts.",
        },
        "paths": paths,
        "components": {
            "schemas": {name: SCHEMAS[name] for name in sorted(_used(paths, {"Error"}))},
            "responses": {"Error": _json(ref("Error"), "Refused; `code` says why.")},
        },
    }


def _used(told: object, known: set[str]) -> set[str]:
    """The components that a part of the document refers to, and those to which these refer."""
    for name in set(_REFERENCE.findall(str(told))) - known:
        known |= {name} | _used(SCHEMAS[name], known | {name})
    return known


def _paths(table: Iterable[tuple[Route, bool]]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route, has_twin in table:
        if route.handler in _OWN:
            continue
        operation = route.told or OPERATIONS.get(route.handler) or _untold(route)
        is_twin = has_twin and "/" not in operation.answer
        address = _BRACES.sub(r"{\1}", route.pattern)
        address = twin(address) if is_twin else address
        paths.setdefault(address, {})[route.method.lower()] = _operation(route, operation)
    return paths


def _untold(route: Route) -> Operation:
    """The operation of a handler without an entry: any object, or a file if the name says so."""
    return Operation("*/*" if "." in route.pattern.strip("{.}") else "")


def _operation(route: Route, operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": _name(route),
        "summary": (route.handler.__doc__ or "").strip().partition("\n")[0].rstrip("."),
        "parameters": [*_path_parameters(route), *map(_query, operation.query), *_if_match(route)],
        "responses": {
            **{status: _answer(operation) for status in _statuses(route, operation)},
            **({"304": {"description": "Unchanged."}} if route.method == "GET" else {}),
            **({"303": {"description": "Leads to the page."}} if not operation.answer else {}),
            "4XX": {"$ref": "#/components/responses/Error"},
            "5XX": {"$ref": "#/components/responses/Error"},
            **{status: {"description": text} for status, text in operation.leads.items()},
        },
    }
    body = _body(route, operation)
    return told | ({"requestBody": body} if body else {})


def _statuses(route: Route, operation: Operation) -> tuple[str, ...]:
    """201 or 204 for a stored file; any success status for a handler without an entry."""
    if not operation.answer:
        return ("2XX",)
    return ("200", "201") if route.body in {Body.FILE, Body.RAW} else (str(operation.status),)


def _name(route: Route) -> str:
    """A unique name for each line of the table."""
    words = re.findall(r"\w+", route.pattern)
    return "_".join([route.method.lower(), *words]).replace("-", "_")


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1},
            "description": _PATH_TEXTS.get(name, ""),
        }
        for name, _rest in _BRACES.findall(route.pattern)
    ]


def _query(query: Query) -> dict[str, Any]:
    told = {"name": query.name, "in": "query", "schema": query.schema, "required": query.required}
    return told | ({"description": query.text} if query.text else {})


def _if_match(route: Route) -> list[dict[str, Any]]:
    if route.method == "GET" or "{record}" not in route.pattern:
        return []
    told = "The revision the change is made for, in quotation marks."
    text = {"type": "string", "pattern": r'^("[0-9]{1,9}(-[0-9a-f]{16})?"|\*)$'}
    return [{"name": "If-Match", "in": "header", "schema": text, "description": told}]


def _answer(operation: Operation) -> dict[str, Any]:
    if "/" in operation.answer:
        return {"description": "The content.", "content": {operation.answer: {}}}
    return _json(ref(operation.answer) if operation.answer else ANY_OBJECT, "Done.")


def _json(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _body(route: Route, operation: Operation) -> dict[str, Any] | None:
    if route.body is Body.NONE:
        return None
    if route.body is Body.RAW:
        return {"content": {"application/octet-stream": {}}, "required": True}
    fields = operation.fields or {}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, text in fields.items()
        },
        "required": list(operation.needed),
        "additionalProperties": {"type": "string"},
    }
    content = {kind: {"schema": schema} for kind in FORMS}
    if route.body is Body.FILE:
        file = {"type": "string", "contentMediaType": "application/octet-stream"}
        content[MULTIPART] = {
            "schema": schema | {"properties": schema["properties"] | {"part": file}}
        }
    return {"content": content, "required": bool(operation.needed)}
