"""The URL space: what is found where, and which methods reach it."""

from typing import Any, get_type_hints
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo.disk.identifier import unclean, url_segment
from webui import urls
from webui.directory import DirectoryCall
from webui.http.errors import BadRequest, MethodNotAllowed, NotFound
from webui.route import Scope
from webui.routes import table
from webui.site import AnyCall, Call

TABLE = table(Scope.SILO)

identifiers = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
)
names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1, max_size=20
).filter(lambda name: name not in {".", ".."})


@given(identifiers, names, names, names)
def test_every_address_written_is_read_back(
    identifier: str, version: str, directory: str, name: str
) -> None:
    path = f"{directory}/{name}"
    found = TABLE.find("GET", urls.file(identifier, version, path))
    assert unclean(found.params["record"]) == identifier
    assert found.params["version"] == version
    assert found.params["path"] == path
    assert not found.is_twin


@given(identifiers, names)
def test_a_page_and_its_twin_have_the_same_handler(identifier: str, version: str) -> None:
    for url in (urls.record(identifier), urls.version(identifier, version), urls.home()):
        page, twin = TABLE.find("GET", url), TABLE.find("GET", urls.twin(url))
        assert (page.route, page.params) == (twin.route, twin.params)
        assert (page.is_twin, twin.is_twin) == (False, True)


@given(identifiers.filter(lambda text: text not in TABLE.fixed))
def test_the_2010_interface_takes_an_identifier_as_one_encoded_segment(identifier: str) -> None:
    found = TABLE.find("GET", f"/{quote(identifier, safe='')}/1/docs/a.txt")
    assert found.params == {"record": identifier, "version": "1", "path": "docs/a.txt"}


def test_a_slash_in_an_identifier_is_not_a_slash_between_segments() -> None:
    assert TABLE.find("GET", "/a%2Fb").params == {"record": "a/b"}
    assert TABLE.find("GET", "/a/b").params == {"record": "a", "version": "b"}


def test_a_version_whose_name_ends_in_json_keeps_its_page() -> None:
    found = TABLE.find("GET", urls.version("x", "notes.json"))
    assert found.params["version"] == "notes.json"
    assert not found.is_twin


@pytest.mark.parametrize("segment", sorted(TABLE.fixed))
def test_fixed_first_segments_win_over_an_identifier_of_that_name(segment: str) -> None:
    for path in (f"/{segment}", f"/{segment}/1/2/3/4/5/6"):
        try:
            found = TABLE.find("GET", path)
        except (NotFound, MethodNotAllowed):
            continue
        assert found.route.parts[0] == segment


@pytest.mark.parametrize("path", ["/records//1", "//", "/records/x/nothing", "/a/b//c/..%2f//"])
def test_paths_that_fit_no_line_of_the_table_are_not_found(path: str) -> None:
    with pytest.raises(NotFound):
        TABLE.find("GET", path)


def test_a_trailing_slash_is_no_other_page() -> None:
    assert TABLE.find("GET", "/records/").route is TABLE.find("GET", "/records").route


def test_a_path_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(BadRequest):
        TABLE.find("GET", "/records/%ff")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/records", {"GET", "HEAD", "POST"}),
        ("/sets", {"GET", "HEAD"}),
        ("/static/page.css", {"GET", "HEAD"}),
        ("/records/x", {"GET", "HEAD", "DELETE"}),
        ("/records/x/versions/1/files/a", {"GET", "HEAD", "PUT", "DELETE"}),
        ("/", {"GET", "HEAD", "POST"}),
        ("/x/1", {"GET", "HEAD", "POST", "DELETE"}),
        ("/x/1/a", {"GET", "HEAD", "DELETE"}),
    ],
)
def test_each_address_answers_its_methods_only(path: str, allowed: set[str]) -> None:
    for method in ("TRACE", "OPTIONS", "CONNECT", "PATCH", "PROPFIND", "get"):
        with pytest.raises(MethodNotAllowed) as refused:
            TABLE.find(method, path)
        assert set(refused.value.allowed) == allowed
        assert refused.value.headers["Allow"] == ", ".join(refused.value.allowed)


def test_no_two_lines_of_the_table_are_the_same() -> None:
    assert len({(route.method, route.pattern) for route in TABLE.routes}) == len(TABLE.routes)


def test_the_segment_of_a_record_is_its_cleaned_form() -> None:
    assert urls.record("oai:eprints.example.org:6102").endswith("/oai+eprints,example,org+6102")
    assert "/" not in url_segment("http://a/b")


CALLS = {Scope.SILO: Call, Scope.DIRECTORY: DirectoryCall, Scope.FLEET: DirectoryCall}


@pytest.mark.parametrize(
    "route", table(*Scope).routes, ids=lambda one: f"{one.method} {one.pattern}"
)
def test_a_handler_takes_the_calls_of_every_site_that_has_its_route(route: Any) -> None:
    taken = get_type_hints(route.handler)
    call = next(kind for name, kind in taken.items() if name != "return")
    assert issubclass(call, AnyCall)
    assert all(issubclass(CALLS[scope], call) for scope in route.scopes)


def test_a_silo_has_no_address_of_a_directory_and_a_directory_none_of_a_silo() -> None:
    assert TABLE.find("GET", "/fleet/ames").route.parts[0] == "{record}"
    assert TABLE.find("GET", "/metrics").params == {"record": "metrics"}
    directory = table(Scope.DIRECTORY)
    for path in ("/records", "/fleet", "/metrics", "/x", "/jobs.json"):
        with pytest.raises(NotFound):
            directory.find("GET", path)
    with pytest.raises(MethodNotAllowed):
        directory.find("POST", "/silos")
