"""The pages of reconciliation, as a package contributes pages."""

from typing import Any

from webui.contributed import Pages
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.navigation import NavigationLink
from webui.people.roles import Role
from webui.reconciling import pages, place_pages, service
from webui.reconciling.service import PATH
from webui.route import Body, Handler, Operation, Query, Route
from webui.site import Call

_READING: dict[str, Any] = {
    "role": Role.VIEWER,
    "is_for_programs": True,
    "admits": service.may_ask,
}
_QUERIES = {
    "queries": "A batch of queries, as the Reconciliation Service API says.",
    "query": "One query.",
    "extend": "A request for properties of entities.",
}
_WRONG = {"400": "Not as specified.", "409": "A file of the Silo is malformed."}


def _get(path: str, handler: Handler, *names: str, answer: str = "", needs: str = "") -> Route:
    query = tuple(Query(name, required=name == needs) for name in names)
    leads = {**_WRONG, "404": "There is no such entity."}
    return Route(
        "GET", PATH + path, handler, told=Operation(answer, query, leads=leads), **_READING
    )


_OF_PAGE = tuple(Query(name) for name in ("place", "field", "show", "start"))
_FIELDS = {
    "do": "`ask`, `save`, `clear`, `write`, `undo` (of a `batch`) or `undo-N` (of the value N).",
    "place": "Name of the service or list.",
    "field": "`creator`, `contributor`, `publisher` or `subject`.",
    "search": "The query of a search, whose records count.",
    "value-N": "A value of the page.",
    "pick-N": "`id:` and the identifier of a candidate of this value, or `none`.",
    "score": "For `clear`: the least score of a candidate.",
    "distance": "For `clear`: its least distance to the next one.",
    "batch": "Decisions that were made together.",
}


_PLACE = {
    "name": "Its name: small letters, digits, `-` and `_`.",
    "url": "The address of a service.",
    "part": "A list: a CSV file with the columns `id` and `name`.",
    "title": "Its title; the name if there is none.",
    "type": "Only entities of this type.",
    "for-creator": "`yes` offers it for a field; also `for-publisher` and others.",
}
_ASK = {"ask": "`yes` only asks the service what it is; the answer says that."}


def press(call: Call) -> Response:
    """Ask for candidates, or decide about values, as a button says (field do)."""
    actions = {"save": pages.save, "ask": pages.ask_now, "clear": pages.accept_clear,
               "undo": pages.undo, "write": pages.write}  # fmt: skip
    name = (call.field("do") or "save").partition("-")[0]
    if name not in actions:
        known = ", ".join(actions)
        raise BadRequest("Unknown action; choose one of {known} (field do).", known=known)
    return actions[name](call)


PAGES = Pages(
    "reconciling",
    (
        _get("", service.answer, *_QUERIES, answer="application/json"),
        Route(
            "POST",
            PATH,
            service.answer,
            Body.LIST,
            only_reads=True,
            told=Operation("application/json", fields=_QUERIES, leads=_WRONG),
            **_READING,
        ),
        _get("/suggest/{part}", service.suggest, "prefix", answer="application/json"),
        _get("/properties", service.propose, "type", answer="application/json"),
        _get("/preview", service.preview, "id", answer="text/html"),
        Route(
            "GET",
            PATH + "/view",
            service.view,
            told=Operation(
                "", (Query("id"),), status=303, leads={"303": "The page of the entity."}
            ),
            **_READING,
        ),
        Route("GET", "/reconciliation", pages.show, told=Operation("", _OF_PAGE)),
        Route("POST", "/reconciliation", press, Body.LIST, told=Operation("", fields=_FIELDS)),
        Route("GET", place_pages.PATH, place_pages.show, role=Role.MANAGER, told=Operation("")),
        Route(
            "POST",
            place_pages.PATH,
            place_pages.create,
            Body.FILE,
            Role.MANAGER,
            told=Operation("", fields=_PLACE | _ASK, needed=("name",)),
        ),
        Route(
            "POST",
            place_pages.PATH + "/{name}/{action}",
            place_pages.act,
            Body.FILE,
            Role.MANAGER,
            told=Operation(
                "",
                fields={name: text for name, text in _PLACE.items() if name != "name"},
                leads={"404": "There is no such place or action."},
            ),
        ),
    ),
    (("Curate", NavigationLink("Reconciliation", "/reconciliation")),),
    of_search=(NavigationLink("Reconcile", "/reconciliation", Role.CURATOR),),
    actions={
        "reconcile": "Reconciliation started",
        "identify": "Identifiers given",
        "add service": "Service or list added",
        "change service": "Service or list changed",
        "remove service": "Service or list removed",
    },
)
