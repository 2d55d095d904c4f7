"""A page with an entry in the menu: the records with the most stars."""

from example_sibling.stars import read_stars
from recordsilo.disk.identifier import url_segment
from recordsilo.panels import Cell, PanelView, Table
from webui import urls
from webui.contributed import Pages
from webui.navigation import NavigationLink
from webui.page_of_values import page_of_values
from webui.rendering import View
from webui.route import Route
from webui.site import Call


def show(call: Call) -> View:
    """List the records with the most stars."""
    stars = sorted(read_stars(call.site.path).items(), key=lambda one: (-one[1], one[0]))
    rows = tuple(
        (Cell(name, f"/records/{url_segment(name)}"), Cell("★" * number))
        for name, number in stars[:100]
    )
    content = PanelView(table=Table(("Record", "Stars"), rows))
    return page_of_values("Stars", content, urls.at("/stars"))


STARS = Pages(
    "stars",
    (Route("GET", "/stars", show),),
    (("Browse", NavigationLink("Stars", "/stars")),),
)
