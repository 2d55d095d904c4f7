"""In a real browser: the pages of usage; axe, light and dark; reflow; the suggestions."""

from collections.abc import Callable

import pytest
from made_up import GONE, count
from playwright.sync_api import Page, expect

from recordsilo import Silo
from tests.webui.test_browser import WCAG, fits, is_accessible
from usagestats.entities.usage import Usage
from usagestats.store.counts import Period

pytestmark = [pytest.mark.browser, pytest.mark.long]
PLAIN, RIGHT_TO_LEFT = "oai:example.org:1", "oai:example.org:3"


@pytest.fixture
def pages(silo: Silo) -> dict[str, str]:
    """Name → address of each page, of a Silo with counts."""
    count(silo.path, items=(PLAIN, RIGHT_TO_LEFT, GONE))
    with Usage(silo) as usage:
        key = usage.top_entities("creator", Period(), number=1)[0].key
    return {
        "site": "/usage",
        "a few days": "/usage?from=2026-01-05&until=2026-01-20&by=downloads",
        "no use": "/usage?from=2030-01&until=2030-02",
        "records": "/usage/top",
        "creators": "/usage/top?kind=creator",
        "a record": "/usage/records/oai+example,org+3",
        "an entity": f"/usage/entities/{key}",
        "record": "/records/oai+example,org+1",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    open_page: Callable[..., Page], pages: dict[str, str], scheme: str
) -> None:
    page = open_page("/usage", color_scheme=scheme)
    for name, path in {**pages, "widget": "/usage/widgets/top"}.items():
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        is_accessible(page, name, WCAG if scheme == "light" else ["color-contrast"])


@pytest.mark.parametrize("width", [320, 1280])
def test_no_page_is_wider_than_the_window(
    open_page: Callable[..., Page], pages: dict[str, str], width: int
) -> None:
    page = open_page("/usage", viewport={"width": width, "height": 800})
    for name, path in pages.items():
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        fits(page, name)


def test_titles_in_other_scripts_begin_where_the_others_do(
    open_page: Callable[..., Page], pages: dict[str, str]
) -> None:
    page = open_page(pages["records"], viewport={"width": 1280, "height": 800})
    begins = """
    () => [...document.querySelectorAll("main tbody th")].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return Math.round(range.getBoundingClientRect().left);
    })
    """
    found = page.evaluate(begins)
    assert (len(found), len(set(found))) == (3, 1)
    expect(page.get_by_role("link", name="مقدمة ابن خلدون")).to_be_visible()


def test_names_are_suggested_and_found_without_scripts_too(
    open_page: Callable[..., Page], pages: dict[str, str]
) -> None:
    page = open_page(pages["creators"])
    label = page.locator("table.used th a").first.inner_text()
    page.get_by_label("Name begins with").press_sequentially(label[:3])
    expect(page.locator("datalist option").first).to_be_attached()
    plain = open_page(pages["creators"], java_script_enabled=False)
    plain.get_by_label("Name begins with").fill(label[:3])
    plain.get_by_role("button", name="Find", exact=True).last.click()
    expect(plain.locator("table.used th a").filter(has_text=label).first).to_be_visible()
