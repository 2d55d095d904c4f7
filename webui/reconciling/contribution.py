"""The pages of reconciliation, as a package contributes pages."""

from typing import Any

from webui.contributed import Pages
from webui.people.roles import Role
from webui.reconciling import service
from webui.reconciling.service import PATH
from webui.route import Body, Handler, Operation, Query, Route

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
    ),
)
