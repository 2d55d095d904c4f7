"""Pages that packages contribute: their addresses, their place in the menu, and their limits."""

from collections.abc import Callable
from typing import Any

import pytest

from recordsilo.panels import Cell, Chart, PanelView
from webui import urls
from webui.contributed import GROUP, Pages
from webui.http.messages import Response
from webui.navigation import NavigationLink
from webui.page_of_values import page_of_values
from webui.people.roles import Role
from webui.rendering import View
from webui.route import Body, Operation, Query, Route, Scope
from webui.routes import table
from webui.site import Call

Contribute = Callable[[str, str, Any], None]
ATTACK = "<script>alert(1)</script>"


def _show(call: Call) -> View:
    """Show the stars."""
    bars = ((ATTACK, (float(len(call.site.silo)),)),)
    view = PanelView(
        charts=(Chart("Stars by record", "Record", ("Stars",), bars),),
        rows=(("Asked", Cell(call.request.query.get("q", ""))),),
    )
    return page_of_values("Stars", view, urls.at("/stars"))


def _give(call: Call) -> Response:
    """Give stars."""
    return Response(200, call.field("number").encode())


def _steal(_call: Call) -> Response:
    """Answer for somebody else."""
    return Response(200, b"stolen")


@pytest.fixture
def stars(contribute: Contribute) -> None:
    told = Operation("", (Query("q"),))
    routes = (
        Route("GET", "/stars", _show, told=told),
        Route("POST", "/stars/{record}", _give, Body.FIELDS),
        Route("GET", "/search", _steal),
        Route("GET", "/records/{record}", _steal),
    )
    menu = (
        ("Browse", NavigationLink("Stars", "/stars")),
        ("Sky", NavigationLink("Moons", "/moons", Role.MANAGER)),
    )
    contribute(GROUP, "stars", Pages("stars", routes, menu))
    contribute(GROUP, "broken", "no pages")


def test_a_page_of_a_package_is_a_page(stars: None, client: Any) -> None:
    page = client.get(f"/stars?q={ATTACK}").text
    assert "<h1" in page
    assert "<script>alert" not in page
    assert "<svg" in page
    assert client.json("/stars?q=x")["rows"] == [["Asked", {"text": "x", "url": ""}]]
    assert client.json("/stars.json")["charts"][0]["title"] == "Stars by record"
    assert client.post("/stars/oai+example,org+1", {"number": "4"}).text == "4"
    assert client.ask("PUT", "/stars", headers={"Content-Length": "0"}).status == 405
    assert client.get("/usage").status == 200  # of another package


def test_it_has_an_entry_in_the_menu_of_those_who_may_follow_it(stars: None, client: Any) -> None:
    page = client.get("/stars").text
    assert page.count('<a href="/stars" aria-current="page">Stars</a>') == 2
    assert '<a href="/moons">Moons</a>' in page
    assert ">Sky<" in page


def test_it_is_described_and_closed_as_ours_are(stars: None, client: Any) -> None:
    paths = client.json("/openapi.json")["paths"]
    assert paths["/stars.json"]["get"]["summary"] == "Show the stars"
    assert [one["name"] for one in paths["/stars.json"]["get"]["parameters"]] == ["q"]
    routes = {one.pattern: one for one in table(Scope.SILO).routes}
    assert routes["/stars"].needs is Role.VIEWER
    assert routes["/stars/{record}"].needs is Role.CURATOR
    assert client.post("/stars/nobody", {}).status == 404
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert client.post("/stars/oai+example,org+1", {}, headers=cross).status == 403


def test_it_replaces_no_page_of_ours_and_no_identifier(stars: None, client: Any) -> None:
    for path in ("/search", "/records/oai+example,org+1"):
        assert client.get(path).text != "stolen"
    with pytest.raises(ValueError, match="begins with its name"):
        Pages("bad", (Route("GET", "/{record}", _steal),))


def test_a_directory_of_silos_has_none_of_them(stars: None) -> None:
    assert "/stars" not in {one.pattern for one in table(Scope.DIRECTORY).routes}
