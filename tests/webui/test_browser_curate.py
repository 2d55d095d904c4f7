"""In a real browser: edit a description, batch edits, source changes; without JavaScript too."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from examples import family
from playwright.sync_api import Page, expect

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from recordsilo.selection import Selection
from silocuration.batch.job import create_job, run_job, undo_job
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import SetValues
from webui.bulk import jobs
from webui.route import Scope
from webui.routes import table

pytestmark = pytest.mark.browser

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
PLAIN = "oai:example.org:1"
URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
RULE = (
    'title = "Types"\nkeep = true\n[select]\nquery = "Record"\n[[change]]\ndo = "add"\n'
    'field = "type"\nvalue = "Text"\n[[change]]\ndo = "map"\nfield = "type"\n'
    '[change.table]\nText = "text"\n'
)


def content(silo: Silo, version: str = "workingcopy") -> str:
    with silo[PLAIN].get_stream("oai_dc", version) as file:
        return str(file.read().decode())


@pytest.fixture
def curated(silo: Silo, working_copy: str, tmp_path: Any) -> str:
    """A Silo with something on every page: a conflict upstream, a kept rule, duplicates."""
    record = silo[working_copy]
    ours = content(silo).replace("On the keeping of records", "Keeping records")
    record.put_stream("oai_dc", ours.encode(), "workingcopy")
    theirs = content(silo, "1").replace("On the keeping of records", "Records and their keeping")
    date = "2005-01-01T00:00:00"
    with silo.batch([PLAIN, "oai:example.org:100", "oai:example.org:101"]) as batch:
        edit = batch.edit(PLAIN)
        origin = Origin("harvest", prefixes={"oai_dc": date}, date=date)
        edit.add_version("2", date=date, origin=origin, move_cursor=False)
        edit.put("2", "oai_dc", theirs.encode(), metadata=True, allow_frozen=True)
        for number in (100, 101):
            edit = batch.edit(f"oai:example.org:{number}")
            edit.add_version("2", date=date, origin=origin)
            text = content(silo, "1").replace("Ortega, Núria", f"Lind{' ' * number}, A.")
            edit.put("2", "oai_dc", text.replace("eng", "Eng" if number % 2 else "eng").encode(),
                     metadata=True, allow_frozen=True)  # fmt: skip
    rules = tmp_path / "myrepo" / "curation" / "rules"
    rules.mkdir(parents=True)
    (rules / "types.toml").write_text(RULE)
    return working_copy


NOT_PAGES = {
    "/search/suggestions",
    "/records/{record}/citation",
    "/records/{record}/citation.bib",
    "/jobs/events", "/jobs/{job}/events", "/jobs/{job}/file", "/openapi.json", "/favicon.ico",
    "/robots.txt", "/records", "/crawling/metrics", "/crawling/comparisons/{name}/{picture}",
    "/reconcile", "/reconcile/suggest/{part}", "/reconcile/properties", "/reconcile/preview",
    "/reconcile/view",
    "/oai", "/r51/status", "/r51/reports", "/r51/reports/{report}", "/r51/members",
}  # fmt: skip
"""Files and streams, and an address that redirects."""
PAGES = {
    "edit": COPY + "/edit",
    "edit as XML": COPY + "/edit-xml",
    "change many": "/bulk?q=Record",
    "a kept rule in the form": "/bulk?rule=types",
    "changes made": "/bulk/jobs",
    "sheet": "/bulk/sheet?q=Record",
    "attach": "/bulk/attach?q=Record",
    "rules": "/rules",
    "rule": "/rules/types",
    "clusters": "/clusters?field=creator",
    "clusters of languages": "/clusters?field=language",
    "upstream": "/upstream",
    "upstream of a record": "/upstream/oai+example,org+1",
    "quality": "/quality",
    "duplicates": "/quality/duplicates",
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", WCAG), ("dark", ["color-contrast"])], ids=["light", "dark"]
)
def test_axe_finds_nothing_where_records_are_curated(
    open_page: Callable[..., Page], curated: str, tmp_path: Any, scheme: str, rules: list[str]
) -> None:
    assert curated == PLAIN
    page = open_page("/search", color_scheme=scheme)
    for name, path in PAGES.items():
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.screenshot(path=str(tmp_path / f"{name}-{scheme}.png"), full_page=True)
        found = Axe().run(page, options={"runOnly": rules}).response["violations"]
        told = [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found]
        assert told == [], name


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 768, 1280])
def test_no_page_of_curation_is_wider_than_the_window(
    open_page: Callable[..., Page], curated: str, tmp_path: Any, width: int
) -> None:
    assert curated == PLAIN
    page = open_page("/search", viewport={"width": width, "height": 800})
    for name, path in PAGES.items():
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.screenshot(path=str(tmp_path / f"{name}-{width}.png"), full_page=True)
        wide, window = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= window, name


@pytest.mark.long
@pytest.mark.parametrize("with_scripts", [True, False], ids=["JavaScript", "no JavaScript"])
def test_only_a_method_with_a_maximum_difference_asks_for_it(
    open_page: Callable[..., Page], with_scripts: bool
) -> None:
    page = open_page("/clusters", java_script_enabled=with_scripts)
    distance = page.get_by_label("Maximum difference")
    expect(distance).to_be_hidden()
    page.get_by_label("Method").select_option("nearest")
    expect(distance).to_be_visible()
    page.get_by_label("Method").select_option("ngram")
    expect(distance).to_be_hidden()


@pytest.mark.parametrize(
    "with_scripts", family([True, False], 1), ids=["JavaScript", "no JavaScript"]
)
@pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True, scope="session")
@pytest.mark.long
def test_a_curator_edits_a_description(
    open_page: Callable[..., Page], silo: Silo, with_scripts: bool
) -> None:
    page = open_page(URL, java_script_enabled=with_scripts)
    page.get_by_role("button", name="Curate").click()
    expect(page.get_by_role("status").first).to_contain_text("Working copy created")
    page.get_by_label("Title 1", exact=True).fill("Keeping records")
    page.get_by_role("button", name="Move down Creator 1").click()
    expect(page.get_by_label("Creator 1", exact=True)).to_have_value("Smith, J.")
    page.get_by_label("Field").select_option("subject")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_label("Subject 1", exact=True).fill("Archives")
    page.get_by_label("Language of Subject 1").fill("en")
    page.get_by_role("button", name="Remove Date 1").click()
    page.get_by_label("Reason").fill("Better words")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("status").first).to_contain_text("Changes saved")
    stored = content(silo)
    assert "<dc:title>Keeping records</dc:title>" in stored
    assert '<dc:subject xml:lang="en">Archives</dc:subject>' in stored
    assert "2003" not in stored
    assert "2003" in content(silo, "1")


@pytest.mark.long
@pytest.mark.parametrize("with_scripts", [True, False], ids=["JavaScript", "no JavaScript"])
def test_a_curator_changes_many_records_and_undoes_it(
    open_page: Callable[..., Page], silo: Silo, with_scripts: bool
) -> None:
    page = open_page("/search?q=Record", java_script_enabled=with_scripts)
    page.get_by_role("link", name="Batch edit").last.click()
    page.locator("#change-0-do").select_option("replace pattern")
    if not with_scripts:
        page.get_by_role("button", name="Show its fields").click()
    page.locator("#change-0-field").select_option("title")
    page.get_by_label("Pattern").fill("^Record")
    page.get_by_label("New value").fill("Item")
    page.get_by_role("button", name="Preview", exact=True).last.click()
    expect(page.get_by_text("Nothing has been changed yet.")).to_be_visible()
    assert silo.count(curated=True) == 0
    page.get_by_role("button", name="Change 55 records").click()
    _wait_for_job(page, "Finished", with_scripts=with_scripts)
    assert silo.count(curated=True) == 55
    page.goto("/bulk/jobs")
    page.locator("tbody a").first.click()
    page.get_by_role("button", name="Undo").click()
    _wait_for_job(page, "Undone", with_scripts=with_scripts)
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    assert silo.count(curated=True) == 0


def _wait_for_job(page: Page, word: str, *, with_scripts: bool = True) -> None:
    """Wait until the page has moved to the batch edit, and its job has ended."""
    expect(page).to_have_url(re.compile(r"/bulk/jobs/2"), timeout=60_000)
    outcome = page.locator(".heading .outcome")
    for _ in range(90):
        if with_scripts or word in outcome.inner_text():
            break
        page.get_by_role("link", name="Refresh").click()
        page.wait_for_timeout(1000)
    expect(outcome).to_contain_text(word, timeout=180_000)


@pytest.mark.long
def test_an_upload_shows_how_far_it_is_and_refuses_what_is_too_large(
    open_page: Callable[..., Page], silo: Silo, working_copy: str, tmp_path: Any
) -> None:
    page = open_page(COPY + "/files")
    file = tmp_path / "data.bin"
    file.write_bytes(b"x" * 300_000)
    page.get_by_label("File", exact=True).set_input_files(str(file))
    page.locator("input[type=file]").evaluate("e => e.dataset.limit = '1000'")
    page.get_by_role("button", name="Add file").click()
    expect(page.get_by_role("alert")).to_contain_text("This file is too large")
    page.locator("input[type=file]").evaluate("e => e.dataset.limit = '1000000'")
    page.get_by_role("button", name="Add file").click()
    expect(page.get_by_role("status").first).to_contain_text("File added to this version")
    assert silo[working_copy].paths("workingcopy") == ["oai_dc", "data.bin"]


@pytest.mark.long
def test_values_of_other_records_are_offered_while_one_types(
    open_page: Callable[..., Page], curated: str
) -> None:
    assert curated == PLAIN
    page = open_page(COPY + "/edit")
    field = page.get_by_label("Creator 1", exact=True)
    field.fill("")
    with page.expect_response(lambda answer: "/search/values.json" in answer.url):
        field.press_sequentially("Lind")
    expect(page.locator("#values-creator option")).not_to_have_count(0)
    offered = page.locator("#values-creator option").evaluate_all("all => all.map(e => e.value)")
    assert all("Lind" in value for value in offered)


def _axe(page: Page, path: str) -> list[Any]:
    """What axe finds on the page as it is; a picture of it is kept."""
    page.screenshot(path=path, full_page=True)
    found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
    return [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found]


@pytest.mark.long
def test_pages_that_answer_a_form_are_as_accessible(
    open_page: Callable[..., Page], silo: Silo, working_copy: str, tmp_path: Any
) -> None:
    page = open_page(COPY + "/edit")
    theirs = content(silo).replace("2003", "2004").replace("On the keeping", "Upon the keeping")
    silo[working_copy].put_stream("oai_dc", theirs.encode(), "workingcopy")
    page.get_by_label("Title 1", exact=True).fill("Keeping records")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("alert")).to_contain_text("This record was changed in the meantime")
    assert _axe(page, str(tmp_path / "conflict.png")) == []

    page.goto(COPY + "/edit-xml")
    page.get_by_label("The file").fill("<a>\n<b>\n</a>")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Line 3")
    assert _axe(page, str(tmp_path / "broken XML.png")) == []

    page.goto("/bulk?q=Record")
    page.locator("#change-0-do").select_option("set")
    page.locator("#change-0-field").select_option("type")
    page.get_by_label("Values").fill("Text\nBook")
    page.get_by_role("button", name="Preview", exact=True).last.click()
    expect(page.get_by_text("Nothing has been changed yet.")).to_be_visible()
    assert _axe(page, str(tmp_path / "preview.png")) == []

    page.goto("/bulk/attach?q=Record")
    page.get_by_role("button", name="Preview the PREMIS records").click()
    expect(page.get_by_role("button", name="Change 55 records")).to_be_visible()
    assert _axe(page, str(tmp_path / "staged.png")) == []


@pytest.mark.long
def test_a_description_is_edited_by_keyboard_alone(
    open_page: Callable[..., Page], silo: Silo, working_copy: str
) -> None:
    assert working_copy == PLAIN
    page = open_page(COPY + "/edit")
    page.get_by_label("Title 1", exact=True).focus()
    page.keyboard.press("End")
    page.keyboard.type(" today")
    for _ in range(3):  # the language, the button that removes, the one that adds
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Add a value (Title)")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title 2", exact=True)).to_be_focused()
    page.keyboard.type("A subtitle")
    page.keyboard.press("Enter")  # saves, as in any form
    expect(page.get_by_role("status").first).to_contain_text("Changes saved")
    assert "<dc:title>On the keeping of records today</dc:title>" in content(silo)
    assert "<dc:title>A subtitle</dc:title>" in content(silo)


SMALL = """() => {
  const wide = [...document.querySelectorAll("main table")]
    .filter((table) => table.checkVisibility())
    .filter((table) => table.getBoundingClientRect().right > innerWidth)
    .map((table) => "wide: " + table.innerText.slice(0, 60));
  const range = document.createRange();
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    const text = walker.currentNode;
    const word = /[\\p{L}\\p{N}]{4,12}/u.exec(text.data);
    const parent = text.parentElement;
    if (!word || !parent.checkVisibility() || parent.closest("svg, .unseen, .cards thead"))
      continue;
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
    if (lines.size > 2) broken.push("broken: " + word[0]);
  }
  const page = document.documentElement;
  return [...wide, ...broken, ...(page.scrollWidth > innerWidth ? ["scrolls sideways"] : [])];
}"""
"""Tables that are wider than the window, short words on three or more lines, a page too wide."""


@pytest.mark.long
def test_nothing_is_too_wide_or_broken_letter_by_letter_in_a_small_window(
    open_page: Callable[..., Page], silo: Silo, curated: str
) -> None:
    rules = RuleSet("Types", rules=(SetValues("type", ("Text",)),), select=Selection(
        identifiers=tuple(f"oai:example.org:{n}" for n in range(110, 115))))  # fmt: skip
    job = create_job(silo, rules_job(rules), agent="ada", message="one spelling")
    run_job(silo, job)
    undo_job(silo, job, agent="bob")
    for number in (120, 121):
        silo[f"oai:example.org:{number}"].clone_version("1", "workingcopy")
        silo[f"oai:example.org:{number}"].put_stream("oai_dc", content(silo, "1").encode())
    page = open_page("/search", viewport={"width": 320, "height": 800})
    routes = {
        route.pattern
        for route in table(Scope.SILO).routes
        if route.method == "GET" and not route.is_for_programs
    }
    plain = {one for one in routes if "{" not in one and "." not in one and "events" not in one}
    plain = {one for one in plain if not one.startswith("/r51/")} - NOT_PAGES
    record = {URL + one.partition("{record}")[2] for one in routes if one.endswith("{record}")}
    shown = sorted(plain | record | {*PAGES.values(), URL + "/differences", f"/bulk/jobs/{job}"})
    assert len(shown) > 35
    assert silo[curated].is_curated
    found = {}
    for path in shown:
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found[path] = page.evaluate(SMALL)
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.long
def test_edits_that_are_not_saved_are_not_left_without_a_question(
    open_page: Callable[..., Page], working_copy: str
) -> None:
    assert working_copy == PLAIN
    page = open_page(COPY + "/edit")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_label("Title 1", exact=True).fill("Another")
    page.get_by_text("Harvest & export", exact=True).locator("visible=true").click()
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_label("Title 1", exact=True)).to_have_value("Another")
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Move down Creator 1").click()
    page.get_by_text("Harvest & export", exact=True).locator("visible=true").click()
    page.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_label("Title 1", exact=True)).to_have_value("Another")
    assert asked == ["beforeunload", "beforeunload"]
    page.get_by_role("link", name="Cancel").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("On the keeping of records")


@pytest.mark.long
def test_values_are_added_moved_and_removed_without_leaving_the_place(
    open_page: Callable[..., Page], working_copy: str
) -> None:
    assert working_copy
    page = open_page(COPY + "/edit", viewport={"width": 800, "height": 400})
    page.evaluate("window.isTheSame = true")
    page.get_by_label("Title 1", exact=True).fill("Another")
    expect(page.locator(".unsaved")).to_have_text("Unsaved: Title")
    expect(page.get_by_role("button", name="Save", exact=True).last).to_be_in_viewport()
    button = page.get_by_role("button", name="Move down Creator 1")
    button.focus()
    top = page.evaluate("document.activeElement.getBoundingClientRect().top")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Creator 2", exact=True)).to_have_value("Ortega, Núria")
    expect(page.get_by_role("button", name="Move up Creator 2")).to_be_focused()
    moved = page.evaluate("document.activeElement.getBoundingClientRect().top")
    assert abs(moved - top) < 2
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Move down Creator 1")).to_be_focused()
    page.get_by_role("button", name="Add a value (Creator)").press("Enter")
    expect(page.get_by_label("Creator 3", exact=True)).to_be_focused()
    page.keyboard.type("Third, T.")
    page.get_by_role("button", name="Remove Creator 3").press("Enter")
    expect(page.get_by_label("Creator 2", exact=True)).to_be_focused()
    expect(page.get_by_label("Title 1", exact=True)).to_have_value("Another")
    expect(page.locator(".unsaved")).to_have_text("Unsaved: Title")
    assert page.evaluate("window.isTheSame")
    page.route("**/edit", lambda route: route.abort())
    page.get_by_role("button", name="Add a value (Creator)").press("Enter")
    expect(page.locator(".unsaved")).to_contain_text("The server does not answer")
    expect(page.get_by_label("Title 1", exact=True)).to_have_value("Another")


@pytest.mark.long
def test_without_scripts_the_answer_leads_back_to_the_value(
    open_page: Callable[..., Page], working_copy: str
) -> None:
    assert working_copy
    size = {"width": 800, "height": 400}
    page = open_page(COPY + "/edit", viewport=size, java_script_enabled=False)
    page.get_by_role("button", name="Move down Creator 1").click()
    expect(page.get_by_label("Creator 2", exact=True)).to_have_value("Ortega, Núria")
    expect(page.get_by_label("Creator 2", exact=True)).to_be_in_viewport()
    page.get_by_role("button", name="Add a value (Identifier)").click()
    expect(page.get_by_label("Identifier 3", exact=True)).to_be_focused()
    expect(page.get_by_label("Identifier 3", exact=True)).to_be_in_viewport()


@pytest.mark.long
def test_a_creator_is_corrected_in_four_clicks(open_page: Callable[..., Page], silo: Silo) -> None:
    page = open_page("/search?q=keeping")
    page.get_by_role("link", name="On the keeping of records").click()
    page.get_by_role("button", name="Curate").click()
    page.get_by_label("Creator 2", exact=True).click()
    page.keyboard.press("End")
    page.keyboard.type("ane")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("status").first).to_contain_text("Changes saved")
    assert "Smith, J.ane" in content(silo)


@pytest.mark.long
def test_very_many_are_looked_at_as_a_job_and_changed_from_there(
    open_page: Callable[..., Page],
    curated: str,
    silo: Silo,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert curated == PLAIN
    monkeypatch.setattr(jobs, "AT_ONCE", 1)
    page = open_page("/rules/types", viewport={"width": 320, "height": 800})
    page.get_by_role("button", name="Preview").click()
    _wait_for_job(page, "Previewed, not applied")
    page.screenshot(path=str(tmp_path / "planned-320.png"), full_page=True)
    found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
    assert [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    before = silo.count(curated=True)
    page.get_by_label("Reason").fill("as counted")
    page.get_by_role("button", name="Change 5").click()
    _wait_for_job(page, "Finished")
    expect(page.get_by_role("heading", name="Types")).to_be_visible()
    assert silo.count(curated=True) > before
