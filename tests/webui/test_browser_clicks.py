"""In a real browser: the selection, and how many clicks work takes (docs/page-curating.md)."""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from recordsilo import Silo

pytestmark = pytest.mark.browser
SET = "7374617475733D707562"
PROMISED = Path(__file__).parents[2] / "docs" / "page-curating.md"


class Hand:
    """Clicks, and counts its clicks; choosing from a list is one."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, what: Locator) -> None:
        self.clicks += 1
        what.click()

    def choose(self, what: Locator, value: str) -> None:
        self.clicks += 1
        what.select_option(value)

    def took(self, work: str) -> None:
        """Compare with what the manual promises."""
        line = re.search(rf"^\| {re.escape(work)}.*\| (\d) \|$", PROMISED.read_text(), re.MULTILINE)
        assert line is not None, work
        assert self.clicks <= int(line[1])


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True, scope="session")
@pytest.mark.long
def test_ticks_outlast_paging_and_lead_to_a_batch_edit(
    open_page: Callable[..., Page], silo: Silo, tmp_path: Any
) -> None:
    page = open_page("/search?q=Record&sort=identifier")
    boxes = page.get_by_role("checkbox", name=re.compile("^Select Record"))
    with page.expect_response("**/selection"):
        boxes.nth(0).check()
    with page.expect_response("**/selection"):
        boxes.nth(2).click(modifiers=["Shift"])
    expect(page.get_by_role("link", name="3 selected")).to_be_visible()
    page.get_by_role("link", name="Next").click()
    with page.expect_response("**/selection"):
        boxes.nth(0).check()
    expect(page.get_by_role("link", name="4 selected")).to_be_visible()
    page.get_by_role("link", name="Previous").click()
    expect(boxes.nth(1)).to_be_checked()
    page.locator("#selection summary").click()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    page.get_by_role("button", name="Batch edit").click()
    expect(page.get_by_text("4 selected records")).to_be_visible()


@pytest.mark.long
def test_ticks_are_kept_by_the_next_button_without_scripts(open_page: Callable[..., Page]) -> None:
    page = open_page("/search?q=Record&sort=identifier", java_script_enabled=False)
    boxes = page.get_by_role("checkbox", name=re.compile("^Select Record"))
    boxes.nth(0).check()
    page.get_by_role("button", name="go to the next page").click()
    boxes.nth(0).check()
    page.locator("#selection summary").click()
    page.get_by_role("button", name="Batch edit").click()
    expect(page.get_by_text("2 selected records")).to_be_visible()


@pytest.mark.long
def test_theses_of_a_year_in_a_set(
    open_page: Callable[..., Page], add_record: Callable[..., None], hand: Hand
) -> None:
    add_record("oai:example.org:t", ("title", "A thesis"), ("type", "Thesis"), ("date", "2016"))
    add_record("oai:example.org:u", ("title", "An article"), ("type", "Article"), ("date", "2016"))
    page = open_page("/search")
    hand.click(page.get_by_role("link", name=re.compile("^Status = Published")).first)
    hand.click(page.get_by_role("link", name=re.compile("^Thesis")).first)
    hand.click(page.locator(".facets").get_by_role("link", name=re.compile("^2016")).first)
    expect(page.get_by_text("1 record", exact=True)).to_be_visible()
    hand.took("Theses of 2016 in a set")


@pytest.mark.long
def test_a_creator_is_corrected(open_page: Callable[..., Page], silo: Silo, hand: Hand) -> None:
    page = open_page("/search?q=keeping+records")
    hand.click(page.get_by_role("link", name="On the keeping of records"))
    hand.click(page.locator("main").get_by_role("button", name="Curate", exact=True).first)
    creator = page.get_by_label("Creator 1", exact=True)
    hand.click(creator)
    creator.fill("Ortega Ruiz, Núria")
    hand.click(page.get_by_role("button", name="Save", exact=True).last)
    expect(page.get_by_role("status").first).to_contain_text("Changes saved")
    hand.took("Correct a creator")


@pytest.mark.long
def test_many_values_are_changed(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo, hand: Hand
) -> None:
    for number in range(150):
        add_record(f"oai:example.org:a{number}", ("title", f"Work {number}"), ("type", "Article"))
    page = open_page("/search?type=Article")
    hand.click(page.get_by_role("link", name="Batch edit").last)
    hand.choose(page.get_by_label("Field", exact=True), "type")
    hand.click(page.get_by_label("Value", exact=True))
    page.keyboard.type("Article")
    page.keyboard.press("Tab")
    page.keyboard.type("Journal article")
    hand.click(page.get_by_role("button", name="Preview", exact=True).last)
    expect(
        page.get_by_role("row", name=re.compile("Article Journal article 150 ×"))
    ).to_be_visible()
    hand.click(page.get_by_role("button", name="Change 150 records"))
    expect(page.locator(".heading .outcome")).to_contain_text("Finished", timeout=60_000)
    hand.took("Change 150 values in bulk")
    assert silo.count(curated=True) == 150


@pytest.mark.long
def test_a_finding_leads_to_the_form(open_page: Callable[..., Page], hand: Hand) -> None:
    page = open_page("/quality")
    hand.click(page.get_by_role("region", name="Findings").locator("a").first)
    hand.click(page.locator(".records h2 a").first)
    hand.click(page.locator("main").get_by_role("button", name="Curate", exact=True).first)
    expect(page.get_by_role("button", name="Save", exact=True).last).to_be_visible()
    hand.took("From a quality finding to the form")


@pytest.mark.long
def test_findings_are_corrected_one_after_another(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo, hand: Hand
) -> None:
    for number in range(31):
        add_record(f"oai:example.org:w{number}", ("title", f"Work {number}"), ("date", "20x6"))
    page = open_page("/quality")
    page.get_by_role("link", name="Correct one by one (invalid date)").click()
    hands = []
    for left in range(31, 0, -1):
        expect(page.get_by_text(f"{left} left", exact=True)).to_be_visible()
        while page.evaluate("getSelection().toString()") != "20x6":  # the page is not ready
            page.wait_for_timeout(20)
        hand.clicks = 0
        page.keyboard.type("2016")  # the value concerned has the focus, and is selected
        hand.clicks += 1
        if left % 3:
            page.keyboard.press("Enter" if left % 2 else "Control+Enter")
            hand.clicks += 1
        else:
            hand.click(page.get_by_role("button", name="Save and next").last)
        hands.append(hand.clicks)
        if left == 30:
            found = Axe().run(page).response["violations"]
            assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    expect(page.get_by_role("heading", name=re.compile("^31 done in "))).to_be_visible()
    assert [one.description.dates for one in silo.search(finding="Q202")] == []
    hand.clicks = max(hands)
    hand.took("Each of 31 findings")


@pytest.mark.long
def test_a_queue_is_left_and_skipped_by_keys(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo
) -> None:
    for number in range(2):
        add_record(f"oai:example.org:w{number}", ("title", f"Work {number}"), ("date", "20x6"))
    page = open_page("/search?finding=Q202")
    page.get_by_role("link", name="Correct one by one").click()
    page.get_by_role("navigation", name="Queue").get_by_role("link", name="Skip").click()
    expect(page.get_by_text("1 left", exact=True)).to_be_visible()
    page.get_by_label("Date 1", exact=True).fill("2016")
    page.locator("h1").click()
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name=re.compile("1 done in .*1 skipped"))).to_be_visible()
    page.get_by_role("link", name="Begin again").click()
    expect(page.get_by_role("heading", name="Edit “Work 0”")).to_be_visible()


def is_accessible_here(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pytest.mark.long
def test_clusters_and_duplicates_are_decided_by_one_key_each(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo, hand: Hand
) -> None:
    for number, (kind, title) in enumerate(
        (kind, f"Tides of the {place} coast")
        for kind, place in zip(
            ("Map", "map", "Essay", "essay", "Score", "score"),
            ("northern", "northern", "eastern", "eastern", "western", "western"),
            strict=True,
        )
    ):
        fields = (("title", title), ("creator", "Swann, Ann"), ("date", "2016"), ("type", kind))
        add_record(f"oai:example.org:d{number}", *fields)
    page = open_page("/clusters?field=type")
    page.get_by_role("link", name="Decide one by one").click()
    for left in (3, 2, 1):
        expect(page.get_by_text(f"{left} left", exact=True)).to_be_visible()
        if left == 2:
            is_accessible_here(page)
        page.keyboard.press("s")
    expect(page.get_by_role("heading", name=re.compile("^3 done in "))).to_be_visible()
    page.get_by_role("button", name="Preview 3 merges").click()
    expect(page.get_by_role("button", name="Preview", exact=True).last).to_be_visible()

    page = open_page("/quality/duplicates")
    page.get_by_role("link", name="Decide one by one").click()
    for left in (3, 2, 1):
        expect(page.get_by_text(f"{left} left", exact=True)).to_be_visible()
        if left == 2:
            is_accessible_here(page)
            page.get_by_role("button", name="Undo").click()
            expect(page.get_by_text("3 left", exact=True)).to_be_visible()
            page.keyboard.press("s")
            expect(page.get_by_text("2 left", exact=True)).to_be_visible()
        hand.clicks = 1
        page.keyboard.press("s")
    expect(page.get_by_text(re.compile("^3 done in "))).to_be_visible()
    hand.took("Each of several source changes, clusters, duplicates or proposed documents")
    assert silo.search(finding="Q901").total == 3


@pytest.mark.long
def test_bags_of_a_search_are_downloaded(
    open_page: Callable[..., Page], tmp_path: Any, hand: Hand
) -> None:
    page = open_page("/search?q=Record")
    hand.click(page.get_by_role("button", name="Select all 55"))
    hand.click(page.locator("#selection summary"))
    with page.expect_download() as download:
        hand.click(page.get_by_role("button", name="Bags (zip)"))
    with zipfile.ZipFile(download.value.path()) as archive:
        assert len([name for name in archive.namelist() if name.endswith("/bagit.txt")]) == 55
    hand.took("A zip of the bags of a search")


@pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True, scope="session")
@pytest.mark.long
def test_a_value_is_renamed_where_it_stands(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo, hand: Hand
) -> None:
    for number in range(12):
        add_record(f"oai:example.org:a{number}", ("title", f"Work {number}"), ("type", "Article"))
    add_record("oai:example.org:b", ("title", "A work"), ("type", "Journal article"))
    page = open_page("/search?q=work")
    page.get_by_role("link", name="Article 12").hover()
    hand.click(page.get_by_role("link", name="Rename everywhere Article", exact=True))
    form = page.get_by_role("form", name="Rename everywhere")
    expect(form.get_by_role("status")).to_have_text("12 records have the value.")
    page.keyboard.type("Journal article")
    expect(form.get_by_role("status")).to_contain_text("1 record has the new value already.")
    form.get_by_role("textbox").fill("")
    expect(form.get_by_role("status")).to_have_text("12 records have the value.")
    page.keyboard.type("Journal article")
    expect(form.get_by_role("status")).to_contain_text("1 record has the new value already.")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    expect(form.get_by_role("link", name="Edit all 12")).to_have_attribute(
        "href", "/bulk?q=work&type=Article"
    )
    hand.click(form.get_by_role("button", name="Preview"))
    hand.click(page.get_by_role("button", name="Change 12 records"))
    expect(page.locator(".heading .outcome")).to_contain_text("Finished", timeout=60_000)
    hand.took("Rename a value of a facet")
    assert silo.search("", {"type": "Journal article"}).total == 13
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".heading .outcome")).to_contain_text("Undone", timeout=60_000)
    assert silo.search("", {"type": "Article"}).total == 12


@pytest.mark.long
def test_ticked_values_become_one(
    open_page: Callable[..., Page], add_record: Callable[..., None]
) -> None:
    for number, value in enumerate(("Article", "Article", "article", "Paper")):
        add_record(f"oai:example.org:a{number}", ("title", f"Work {number}"), ("type", value))
    page = open_page("/search/values?field=type")
    page.get_by_role("checkbox", name="Merge Article", exact=True).check()
    page.get_by_role("checkbox", name="Merge article", exact=True).check()
    form = page.get_by_role("form", name="Merge values")
    expect(form.get_by_role("textbox")).to_have_value("Article")
    expect(form.get_by_role("status")).to_contain_text("1 record changes.")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    form.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Change 1 record")).to_be_visible()


@pytest.mark.long
def test_a_value_of_a_record_is_renamed_everywhere(
    open_page: Callable[..., Page], add_record: Callable[..., None]
) -> None:
    page = open_page("/records/oai+example,org+1")
    page.get_by_role("link", name="Rename everywhere Smith, J.").click()
    form = page.get_by_role("form", name="Rename everywhere")
    expect(form.get_by_role("status")).to_have_text("1 record has the value.")
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    expect(page.get_by_role("link", name="Rename everywhere Smith, J.")).to_be_focused()


@pytest.mark.long
def test_a_value_is_set_in_bulk(
    open_page: Callable[..., Page], add_record: Callable[..., None], silo: Silo, hand: Hand
) -> None:
    for number in range(12):
        add_record(f"oai:example.org:a{number}", ("title", f"Work {number}"), ("rights", "?"))
    page = open_page("/search?q=work")
    hand.click(page.get_by_role("link", name="Batch edit").last)
    hand.choose(page.get_by_label("Change", exact=True).first, "set")
    expect(page.get_by_label("Values", exact=True)).to_be_visible()
    hand.choose(page.get_by_label("Field", exact=True), "rights")
    page.keyboard.press("Tab")
    page.keyboard.type("CC BY 4.0")
    expect(page.get_by_text("12 records change, of 12.")).to_be_visible()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    hand.click(page.get_by_role("button", name="Preview", exact=True).last)
    hand.click(page.get_by_role("button", name="Change 12 records"))
    expect(page.locator(".heading .outcome")).to_contain_text("Finished", timeout=60_000)
    hand.took("Set a value in bulk")
    assert silo.count(curated=True) == 12


@pytest.mark.long
def test_values_of_the_results_are_offered_and_tried(
    open_page: Callable[..., Page], add_record: Callable[..., None]
) -> None:
    for number, value in enumerate(("Article.", "Article.", "Thesis")):
        add_record(f"oai:example.org:a{number}", ("title", f"Work {number}"), ("type", value))
    page = open_page("/bulk?q=work")
    page.get_by_label("Field", exact=True).select_option("type")
    offered = page.locator("#change-0-value-values option")
    expect(offered).to_have_count(2)
    expect(offered.first).to_have_attribute("label", "Article. (2)")
    page.get_by_label("Change", exact=True).first.select_option("transform")
    page.get_by_label("How", exact=True).select_option("end")
    expect(page.get_by_text("1 distinct value changes, of 2.")).to_be_visible()
    expect(page.locator(".tried li")).to_have_text("Article. → Article")


@pytest.mark.long
def test_a_pattern_of_any_field_leads_to_its_records_and_their_batch_edit(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/search?q=Record")
    page.get_by_text("Actions", exact=True).click()
    page.get_by_role("link", name="Facet any field").click()
    page.get_by_label("Group by").select_option("shape")
    page.get_by_role("button", name="Show").click()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    page.get_by_role("link", name="Aa 999").click()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
    page.get_by_role("button", name="Batch edit of these records").click()
    expect(page.get_by_text("55 listed records")).to_be_visible()
