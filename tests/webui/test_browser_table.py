"""In a real browser: the table of records, its keys, the preview and the suggestions."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from recordsilo import Silo

pytestmark = [pytest.mark.browser, pytest.mark.long]


def test_a_list_is_worked_through_by_keys(open_page: Callable[..., Page]) -> None:
    page = open_page("/search", viewport={"width": 1280, "height": 800})
    top = page.locator(".records > li").first.bounding_box()
    assert top is not None
    assert top["y"] <= 240
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator("[data-said]")).to_have_text("1 selected")
    page.keyboard.press("p")
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview.get_by_role("heading")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Escape")
    expect(preview).to_be_hidden()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_be_visible()
    keys.get_by_role("switch").check()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#q")).not_to_be_focused()


def test_a_long_title_is_there_beside_its_badge_and_e_copies_nothing(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo
) -> None:
    add_record("t:long", ("title", "Longtitled " + "on the keeping of many records " * 9))
    page = open_page("/search?q=longtitled", viewport={"width": 1280, "height": 800})
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_label("Title 1", exact=True)).to_be_visible()
    assert silo.count(curated=True) == 0
    page.context.add_cookies(
        [{"name": "list", "value": "table.title.doi", "domain": "localhost", "path": "/"}]
    )
    page.goto("/search?q=longtitled")
    badge = """(cell) => cell.querySelector(".first").insertAdjacentHTML(
        "beforeend", '<span class="badge curated">curated</span>')"""
    cell = page.locator(".found-table td:has(.first)")
    cell.evaluate(badge)
    link, badge_at = cell.locator("a").bounding_box(), cell.locator(".badge").bounding_box()
    whole = cell.bounding_box()
    assert link
    assert badge_at
    assert whole
    assert link["x"] < badge_at["x"]
    assert badge_at["x"] + badge_at["width"] <= whole["x"] + whole["width"]


def test_columns_are_moved_and_widened_by_the_keyboard(open_page: Callable[..., Page]) -> None:
    page = open_page("/search", viewport={"width": 1280, "height": 800})
    page.locator(".look summary").click()
    page.get_by_label("Table with these columns:").check()
    page.get_by_role("button", name="Move to the left: Year").click()
    heads = page.locator(".found-table th[data-column]")
    expect(heads.nth(1)).to_contain_text("Year")
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    page.keyboard.press("Escape")
    grip = page.get_by_role("separator", name="Width of Year")
    before = heads.nth(1).bounding_box()
    grip.focus()
    with page.expect_response("**/search/look"):
        page.keyboard.press("ArrowRight")
    page.reload()
    after = heads.nth(1).bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"]
    page.get_by_role("link", name="Title", exact=True).click()
    expect(heads.first).to_have_attribute("aria-sort", "ascending")
    page.set_viewport_size({"width": 320, "height": 700})
    expect(page.locator(".sideways")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("start", ["/search", "/quality"])  # the head of other pages has it, too
def test_suggestions_are_chosen_by_the_keyboard(open_page: Callable[..., Page], start: str) -> None:
    page = open_page(start)
    field = page.get_by_role("combobox", name="Search titles, people, subjects")
    field.press_sequentially("keep")
    option = page.get_by_role("option", name="On the keeping of records")
    expect(option).to_be_visible()
    field.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(page).to_have_url(re.compile(r"/records/"))


def test_on_paper_are_records_and_no_actions(open_page: Callable[..., Page]) -> None:
    page = open_page("/search?q=keeping", viewport={"width": 1280, "height": 800})
    page.emulate_media(media="print")
    expect(page.locator("#keep")).to_be_hidden()
    page.goto("/records/oai+example,org+1")
    expect(page.locator(".fields")).to_be_visible()
    for name in (".rename", ".out", "a.look"):
        expect(page.locator(name).filter(visible=True)).to_have_count(0)
    after = "(one) => getComputedStyle(one, '::after').content"
    for link in page.locator("a.whole").all():
        assert link.evaluate(after) == "none"
