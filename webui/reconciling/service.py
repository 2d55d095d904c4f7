"""``/reconcile``: the Silo as a reconciliation service, for OpenRefine and other programs.

It only reads. Programs in a browser may ask it from this machine, and from the origins that
``curation/reconciliation.toml`` names; without sign-in only where that file says so.

Source: Reconciliation Service API 0.2.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from politeweb.addresses import is_loopback
from recordsilo.distribution import release
from silocuration.errors import CurationError
from silocuration.reconciling.entities import (
    OF_RECORDS,
    OF_VALUES,
    TYPES,
    Entities,
    Entity,
    EntityNotFound,
    candidates,
    entity_of,
    extended,
)
from silocuration.reconciling.places import PlacesUnreadable, read_places
from silocuration.reconciling.protocol import (
    MOST_QUERIES,
    ProtocolError,
    object_of,
    queries_from,
    query_from,
    result_of,
)
from webui import urls
from webui.http.errors import NotFound
from webui.http.messages import JSON, Request, Response, redirect
from webui.site import Call
from webui.timed_cache import TimedCache

PATH = "/reconcile"
_KNOWN: TimedCache[Entities] = TimedCache()
_MOST = 20
_PREVIEW_POLICY = "default-src 'none'; sandbox; frame-ancestors {}"
_OWN_MACHINE = "http://127.0.0.1:* http://localhost:*"


def may_ask(_request: Request, path: str) -> bool:
    """Whether the service answers those who did not sign in."""
    try:
        return read_places(path).public
    except PlacesUnreadable:
        return False


def entities(call: Call) -> Entities:
    """The values of the Silo, read again after its index has changed."""
    silo = call.site.silo
    return _KNOWN.get(silo, "entities", lambda: Entities.of(silo), silo.index_stamp())


def answer(call: Call) -> Response:
    """Answer a batch of queries or a request for properties; else say what the service is."""
    given = {**call.request.query, **call.form.fields}

    def found() -> Mapping[str, Any]:
        if "queries" in given:
            asked = queries_from(given["queries"])
            return {key: _result(call, one) for key, one in asked.items()}
        if "query" in given:
            text = given["query"]
            one = object_of(text, "query") if text.lstrip().startswith("{") else {"query": text}
            return _result(call, query_from(one))
        if "extend" in given:
            asked_for = object_of(given["extend"], "extend")
            return extended(call.site.silo, entities(call), asked_for)
        return manifest(call)

    return _told(call, found)


def _result(call: Call, query: Any) -> dict[str, Any]:
    return result_of(candidates(call.site.silo, entities(call), query), TYPES)


def manifest(call: Call) -> dict[str, Any]:
    """What the service says of itself."""
    host = call.request.headers.get("host", "").strip()
    own = f"{call.request.scheme}://{host}{urls.at(PATH)}"
    path = {"service_url": own, "service_path": "/suggest/"}
    return {
        "versions": ["0.2"],
        "name": call.site.name,
        "identifierSpace": f"{own}/entities/",
        "schemaSpace": f"{own}/types/",
        "serviceVersion": release(),
        "batchSize": MOST_QUERIES,  # OpenRefine 3.8 sends 10 at once without it
        "defaultTypes": [{"id": key, "name": name} for key, name in TYPES.items()],
        "view": {"url": f"{own}/view?id={{{{id}}}}"},
        "preview": {"url": f"{own}/preview?id={{{{id}}}}", "width": 400, "height": 180},
        "suggest": {
            kind: path | {"service_path": f"/suggest/{kind}"}
            for kind in ("entity", "type", "property")
        },
        "extend": {
            "propose_properties": {"service_url": own, "service_path": "/properties"},
            "property_settings": [],
        },
    }


def suggest(call: Call) -> Response:
    """Suggest what somebody has begun to write: entities, types or properties.

    Raises:
        NotFound: There is nothing else.
    """
    kind, prefix = call.params["part"], call.request.query.get("prefix", "")[:200]
    if kind not in {"entity", "type", "property"}:
        raise NotFound("There is no page at this address.")

    def found() -> Mapping[str, Any]:
        if kind == "entity":
            return {"result": _suggested(call, prefix)}
        known = TYPES if kind == "type" else {**OF_VALUES, **OF_RECORDS}
        return {"result": _beginning(known, prefix)}

    return _told(call, found)


def _suggested(call: Call, prefix: str) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "name": one.names[0],
            "description": one.description,
            "notable": [{"id": key, "name": TYPES[key]} for key in one.types],
        }
        for one in entities(call).names.begin_with(prefix, _MOST)
    ]


def _beginning(known: Mapping[str, str], prefix: str) -> list[dict[str, str]]:
    text = prefix.strip().casefold()
    return [{"id": k, "name": n} for k, n in known.items() if text in n.casefold()]


def propose(call: Call) -> Response:
    """Propose the properties of the entities of a type (``type``)."""
    kind = call.request.query.get("type", "")
    known = OF_RECORDS if kind == "Record" else OF_VALUES if kind in TYPES else {}
    known = known or {**OF_VALUES, **OF_RECORDS}
    told = {"properties": [{"id": key, "name": name} for key, name in known.items()]}
    return _told(call, lambda: {**told, **({"type": kind} if kind else {})})


def view(call: Call) -> Response:
    """Lead to the page of an entity (``id``): a record, or the records that have a value.

    Raises:
        NotFound: There is none.
    """
    one = _entity(call)
    if one.field == "record":
        return redirect(urls.record(one.key))
    return redirect(urls.with_query(urls.at("/search"), {one.field: one.key}))


def preview(call: Call) -> Response:
    """A small page about an entity (``id``), for a frame of another page.

    Raises:
        NotFound: There is none.
    """
    one = _entity(call)
    known = {**OF_VALUES, **OF_RECORDS}
    lines = "".join(
        f"<li>{html.escape(known[name])}: {html.escape('; '.join(map(str, values[:5])))}</li>"
        for name, values in one.properties.items()
    )
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(one.name)}</title></head><body>"
        f"<strong>{html.escape(one.name)}</strong> ({html.escape(', '.join(one.types))})"
        f"<ul>{lines}</ul></body></html>"
    )
    ancestors = " ".join(("'self'", _OWN_MACHINE, *_origins(call)))
    headers = {"Content-Security-Policy": _PREVIEW_POLICY.format(ancestors)}
    body = page.encode("utf-8", "replace")
    return Response(200, body, "text/html; charset=utf-8", _allowed(call) | headers)


def _entity(call: Call) -> Entity:
    key = call.request.query.get("id", "")
    try:
        return entity_of(call.site.silo, entities(call), key)
    except EntityNotFound:
        raise NotFound("There is no such entity.") from None


# --------------------------------------------------------------------------- as it is sent


def _told(call: Call, found: Callable[[], Mapping[str, Any]]) -> Response:
    """An answer as JSON; what is wrong with the request is one, too."""
    try:
        status, value = 200, found()
    except (ProtocolError, CurationError) as error:
        status = 400 if isinstance(error, ProtocolError) else 409
        value = {"status": "error", "message": f"{error}", "details": ""}
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(status, body + b"\n", JSON, _allowed(call))


def _origins(call: Call) -> tuple[str, ...]:
    try:
        return read_places(call.site.path).origins
    except PlacesUnreadable:
        return ()


def _allowed(call: Call) -> dict[str, str]:
    """Headers that let a page of this machine, or of a named origin, read the answer."""
    origin = call.request.headers.get("origin", "").strip()
    if not re.fullmatch(r"https?://[\w.:\[\]-]+", origin):
        return {}
    if is_loopback(_host(origin)) or origin in _origins(call):
        return {
            "Access-Control-Allow-Origin": origin,
            "Cross-Origin-Resource-Policy": "cross-origin",
        }
    return {}


def _host(origin: str) -> str:
    try:
        host = urlsplit(origin).hostname or ""
    except ValueError:
        return ""
    return host
