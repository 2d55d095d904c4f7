"""The main navigation: four groups, one row, one button in a small window, by role."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from webui.contributed import navigation, place_of
from webui.people.roles import Role, User


def labels(role: Role) -> list[list[str]]:
    """What each group offers to somebody of a role."""
    user = User("x", role)
    return [[entry.label for entry in group.offered(user)] for group in navigation()]


def test_a_group_offers_only_what_the_role_may_do() -> None:
    _browse, curate, harvest, _admin = labels(Role.VIEWER)
    assert not {"Batch edit", "Activity"} & set(curate)
    assert "New job" not in harvest
    assert {"Batch edit", "Activity"} <= set(labels(Role.CURATOR)[1])
    assert "New job" not in labels(Role.CURATOR)[2]
    assert "New job" in labels(Role.MANAGER)[2]


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/search?q=x", "Records"),
        ("/records/oai+example,org+1", "Records"),
        ("/searches/soil", "Saved searches"),
        ("/quality", "Quality"),
        ("/quality/duplicates?start=50", "Probable duplicates"),
        ("/bulk/sheet", "Batch edit"),
        ("/bulk/jobs/x", "Past batch edits"),
        ("/jobs/new", "New job"),
        ("/jobs/x", "Jobs"),
        ("/account", None),
    ],
)
def test_the_place_of_a_page_is_the_entry_that_matches_most_of_its_address(
    path: str, label: str | None
) -> None:
    found = place_of(path, navigation())
    assert (found.label if found else None) == label


def test_the_current_place_is_marked_once_in_each_menu(client: Any) -> None:
    page = client.get("/quality/duplicates").text
    marked = re.findall(r'<a href="([^"]*)" aria-current="page">', page)
    assert marked == ["/quality/duplicates"] * 2  # of the wide window, and of the small one
    assert re.findall(r'<summary class="current">(\w+)<', page) == ["Curate"]


def test_there_is_one_search_box_on_every_page(client: Any) -> None:
    for path in ("/sets", "/jobs", "/search", "/search?q=keeping"):
        page = client.get(path).text
        assert len(re.findall(r'<input id="[a-z]+" name="q"', page)) == 1, path
    assert 'class="find"' not in client.get("/search").text


@pytest.mark.browser
@pytest.mark.long
def test_the_header_is_one_row_and_its_menus_work_by_keyboard_and_without_scripts(
    open_page: Callable[..., Page],
) -> None:
    for width in (1024, 1440):
        page = open_page("/sets", viewport={"width": width, "height": 700})
        assert page.evaluate("document.querySelector('.top').offsetHeight") < 70
    summary = page.get_by_text("Curate", exact=True).locator("visible=true")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Clusters")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Clusters")).to_be_hidden()
    expect(summary).to_be_focused()
    small = open_page("/sets", viewport={"width": 320, "height": 700}, java_script_enabled=False)
    expect(small.locator(".top summary:visible")).to_have_text(["Menu"])
    small.get_by_text("Menu", exact=True).click()
    small.get_by_role("link", name="Clusters").click()
    expect(small.get_by_role("heading", level=1)).to_have_text("Clusters")
