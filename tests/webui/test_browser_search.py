"""In a real browser: find records and compare versions, without JavaScript too, and by keyboard."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from examples import family
from playwright.sync_api import Page, expect

from recordsilo import Silo
from tests.webui.conftest import dublin_core, harvest

pytestmark = pytest.mark.browser

PLAIN = "oai:example.org:1"


@pytest.fixture
def picture(tmp_path: Any) -> Callable[[Page, str], None]:
    """Keep what is seen among the files of the test."""

    def take(page: Page, name: str) -> None:
        if (
            browser := page.context.browser
        ) and browser.browser_type.name == "chromium":  # in Firefox, by inline styles
            page.screenshot(path=str(tmp_path / f"{name}.png"), full_page=True)

    return take


@pytest.mark.parametrize(
    "with_scripts", family([True, False], 1), ids=["JavaScript", "no JavaScript"]
)
@pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True, scope="session")
@pytest.mark.long
def test_a_librarian_finds_narrows_and_keeps(
    open_page: Callable[..., Page], picture: Callable[[Page, str], None], with_scripts: bool
) -> None:
    page = open_page("/search", java_script_enabled=with_scripts)
    page.get_by_label("Search titles, people, subjects, or paste an identifier").fill("keeping")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_text("1 record", exact=True)).to_be_visible()

    page.get_by_label("Find a value of Creator").fill("nuria")
    if not with_scripts:
        page.get_by_label("Find a value of Creator").press("Enter")
        expect(page.get_by_role("heading", name="Creator")).to_be_visible()
    page.get_by_role("link", name="Ortega, Núria 1").last.click()
    chosen = page.get_by_role("list", name="Filters in use")
    expect(chosen).to_contain_text("Creator: Ortega, Núria")
    picture(page, "narrowed")

    page.get_by_text("Actions", exact=True).click()
    page.get_by_label("Name of the search").fill("By Núria Ortega")
    page.get_by_role("button", name="Save search").click()
    expect(
        page.get_by_label("Search titles, people, subjects, or paste an identifier")
    ).to_have_value("keeping")
    page.get_by_text("Actions", exact=True).click()
    page.get_by_role("link", name="Saved searches").first.click()
    page.get_by_role("link", name="By Núria Ortega").click()
    expect(chosen).to_contain_text("Creator: Ortega, Núria")
    chosen.get_by_role("link", name="Remove filter: Creator").click()
    expect(chosen).to_have_count(0)


@pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True, scope="session")
@pytest.mark.long
def test_without_an_answer_the_page_stays_as_it_is(open_page: Callable[..., Page]) -> None:
    page = open_page("/search")
    asked = []

    def refuse(route: Any) -> None:
        if route.request.resource_type == "fetch":
            asked.append(route.request.url.partition("?")[0].rpartition("/")[2])
            route.abort()
        else:
            route.continue_()

    page.route("**/*", refuse)
    search = page.get_by_label("Search titles, people, subjects, or paste an identifier")
    with page.expect_event("requestfailed"):
        search.fill("keep")
    with page.expect_event("requestfailed"):
        page.get_by_label("Find a value of Creator").fill("nuria")
    row = page.get_by_role("checkbox", name=re.compile("On the keeping of records"))
    with page.expect_event("requestfailed"):
        row.click()
    expect(row).not_to_be_checked()
    expect(page.locator("[data-said]")).to_contain_text("The server does not answer")
    assert asked == ["suggestions", "values.json", "selection"]


@pytest.mark.long
def test_a_pasted_list_is_shown_and_what_is_lacking_is_named(
    open_page: Callable[..., Page], picture: Callable[[Page, str], None]
) -> None:
    page = open_page("/searches")
    page.get_by_role("textbox", name="Identifiers").fill(f"{PLAIN}\nnobody\n6102")
    page.get_by_role("button", name="Show these records").click()
    expect(page.get_by_role("link", name="On the keeping of records")).to_be_visible()
    expect(page.locator(".note[role=status]")).to_contain_text("nobody")
    picture(page, "pasted")


@pytest.mark.long
def test_a_curated_record_shows_its_changes_and_any_two_versions_are_compared(
    open_page: Callable[..., Page],
    silo: Silo,
    working_copy: str,
    picture: Callable[[Page, str], None],
) -> None:
    with silo[working_copy].get_stream("oai_dc", "workingcopy") as stream:
        content = stream.read().replace(b"the keeping", b"the long keeping")
    with silo.editing(working_copy) as edit:
        edit.put("workingcopy", "oai_dc", content, metadata=True)
    page = open_page("/records/oai+example,org+1")
    changes = page.get_by_role("region", name="Changed since version 1")
    expect(changes.locator("ins mark")).to_have_text("long ")
    picture(page, "curated")
    changes.get_by_role("link", name="All differences").click()
    page.get_by_label("Before").select_option("workingcopy")
    page.get_by_label("After").select_option("1")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("del mark")).to_have_text("long ")
    page.get_by_text("Line by line").click()
    expect(page.get_by_label("Lines of oai_dc")).to_contain_text("long keeping")
    picture(page, "differences")


@pytest.mark.long
def test_searching_needs_the_keyboard_only(open_page: Callable[..., Page]) -> None:
    page = open_page("/sets")
    search = page.get_by_label("Search titles, people, subjects, or paste an identifier")
    _tab_to(page, search)
    page.keyboard.type("keeping")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?q=keeping$"))
    _tab_to(page, page.get_by_role("link", name="On the keeping of records"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("On the keeping of records")


def _tab_to(page: Page, wanted: Any) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError("the keyboard does not get there")


@pytest.mark.long
def test_years_are_brushed_and_on_a_phone_the_facets_are_a_sheet(
    open_page: Callable[..., Page], silo: Silo
) -> None:
    harvest(silo, {
        f"y:{year}": dublin_core(("title", f"Yzz {year}"), ("date", str(year)))
        for year in range(2001, 2009)
    })  # fmt: skip
    page = open_page("/search?q=yzz*", viewport={"width": 1280, "height": 900})
    bars = page.locator(".years rect")
    for number, event in ((2, "down"), (4, "up")):
        box = bars.nth(number).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        getattr(page.mouse, event)()
    expect(page.get_by_role("list", name="Filters in use")).to_contain_text("2003–2005")
    expect(page.get_by_text("3 records", exact=True)).to_be_visible()

    page = open_page("/search?q=yzz*&year=2003..2005", viewport={"width": 320, "height": 700})
    sheet = page.get_by_role("complementary", name="Filters")
    expect(sheet).to_be_hidden()
    button = page.get_by_role("button", name="Filters (1)")
    button.focus()
    button.press("Enter")
    expect(sheet.get_by_role("textbox", name="From")).to_have_value("2003")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


@pytest.mark.long
def test_actions_are_seen_beside_the_first_results(open_page: Callable[..., Page]) -> None:
    page = open_page("/search?q=record", viewport={"width": 1280, "height": 800})
    expect(page.get_by_text("Actions", exact=True)).to_be_in_viewport()
    first = page.locator(".records li").first.bounding_box()
    assert first is not None
    assert first["y"] < 240


@pytest.mark.long
def test_actions_and_words_have_room_in_other_languages(open_page: Callable[..., Page]) -> None:
    phone = open_page("/search?q=record", viewport={"width": 320, "height": 800}, locale="de-DE")
    actions, heading = phone.locator("#keep > summary"), phone.locator("h1")
    places = [one.bounding_box() for one in (actions, heading)]
    assert all(places)
    assert places[0]["y"] < places[1]["y"] + places[1]["height"]  # type: ignore[index]  # both are there
    page = open_page("/search?q=record", viewport={"width": 768, "height": 800}, locale="fr-FR")
    words = page.locator("#q").bounding_box()
    assert words is not None
    assert words["width"] > 200
    page.locator("#keep > summary").click()
    page.get_by_label("Nom de la recherche").fill("Records")
    page.get_by_role("button", name="Enregistrer la recherche").click(trial=True)


@pytest.mark.long
def test_what_was_saved_in_a_queue_is_seen_and_announced(open_page: Callable[..., Page]) -> None:
    page = open_page("/queue?q=record", viewport={"width": 1280, "height": 400})
    page.get_by_label("Title 1", exact=True).fill("Another title")
    page.get_by_role("button", name="Save and next").last.click()
    told = page.locator(".queue + .done")
    expect(told).to_contain_text("Saved:")
    page.evaluate("scrollTo(0, 300)")
    expect(told).to_be_in_viewport()
    expect(page.locator(".unseen[role=status]")).to_contain_text("Another title")
