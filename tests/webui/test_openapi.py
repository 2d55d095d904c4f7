"""The interface for programs matches its OpenAPI document, also for random requests."""

import re
from typing import Any

import pytest
import schemathesis
from examples import family
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from webui.api.document import document
from webui.api.schemas import SCHEMAS
from webui.http.bodies import FORMS
from webui.route import Body, Scope
from webui.routes import table
from webui.urls import twin

DOCUMENT = document(frozenset({Scope.SILO}))

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]
REAL = {
    "record": "oai+example,org+1",
    "version": "1",
    "path": "oai_dc",
    "name": "kept",
}


def test_every_line_of_the_table_is_documented() -> None:
    own = {
        "/favicon.ico",
        "/robots.txt",
        "/openapi.json",
        "/static/{path...}",
        "/help",
        "/help/{topic}",
    }
    lines = [route for route, _twin in table(Scope.SILO).documented() if route.pattern not in own]
    assert len(OPERATIONS) == len(lines) > 30
    names = [
        operation["operationId"]
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
    ]
    assert len(names) == len(set(names))
    for methods in DOCUMENT["paths"].values():
        for operation in methods.values():
            assert operation["summary"], operation["operationId"]


def test_every_form_is_documented_in_each_kind_that_is_read() -> None:
    for route, _twin in table(Scope.SILO).documented():
        if route.body in {Body.FIELDS, Body.LIST, Body.FILE}:
            path = re.sub(r"\{(\w+)\.\.\.\}", r"{\1}", route.pattern)
            operations = DOCUMENT["paths"].get(path) or DOCUMENT["paths"][twin(path)]
            body = operations[route.method.lower()]["requestBody"]
            assert tuple(body["content"]) == FORMS


def test_every_component_is_used_and_every_reference_leads_somewhere() -> None:
    known: set[str] = set()
    for scopes in ({Scope.SILO}, {Scope.DIRECTORY}, {Scope.DIRECTORY, Scope.FLEET}):
        told = document(frozenset(scopes))
        used = set(re.findall(r"#/components/schemas/(\w+)", str(told)))
        assert used == set(told["components"]["schemas"])
        known |= used
    assert known == set(SCHEMAS)


def test_the_document_is_served(client: Any) -> None:
    answer = client.get("/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.json["openapi"] == "3.1.0"
    assert answer.json["paths"].keys() == DOCUMENT["paths"].keys()


def loaded(client: Any) -> Any:
    return schemathesis.openapi.from_url(f"http://127.0.0.1:{client.port}/openapi.json")


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "method"),
    family(OPERATIONS, 8),
    ids=[f"{method} {path}" for path, method in OPERATIONS],
)
def test_answers_are_as_documented(client: Any, path: str, method: str) -> None:
    """Every parameter is invented, but records and versions are now and then real ones."""
    operation = loaded(client)[path][method.upper()]
    client.post("/searches", {"search": "q=keeping", "title": "kept"})
    client.post("/records/oai+example,org+1/versions", {"name": "w", "clone_of": "1"})

    @settings(
        max_examples=5,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        for real in ({}, REAL, REAL | {"version": "w"}):
            case.path_parameters = {
                name: real.get(name, value) for name, value in (case.path_parameters or {}).items()
            }
            case.call_and_validate(checks=CHECKS, headers={"Accept": "application/json"})

    ask()
