"""In a real browser: curate a record, with and without JavaScript; axe; reflow; the keyboard."""

import shutil
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from examples import family
from playwright.sync_api import Page, expect

from recordsilo import Granary, Silo
from tests.webui.test_browser_curate import NOT_PAGES
from tests.webui.test_browser_curate import PAGES as CURATION
from webui.app import create_app
from webui.http.security import LOOPBACK_ONLY
from webui.multi_silo import Shelf
from webui.route import Scope
from webui.routes import table
from webui.site import SiteSettings

OF_SILO = table(Scope.SILO)

pytestmark = pytest.mark.browser

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
PLAIN = "oai:example.org:1"
URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
PAGES = {
    "home": "/",
    "list": "/search",
    "Fedora preview": "/fedora-preview/oai+example,org+1",
    "filtered": "/search?deleted=true",
    "nothing fits": "/search?upstream_newer=true",
    "nobody": "/search?q=nobody",
    "sets": "/sets",
    "search": "/search",
    "search narrowed": "/search?q=record*&deleted=false&open=creator&since=2000-01-01",
    "nothing found": "/search?q=nobody",
    "values": "/search/values?field=creator",
    "kept": "/searches",
    "collections": "/collections",
    "collection": "/collections/about-keeping",
    "edit a collection": "/collections/about-keeping/edit",
    "pasted": "/searches/pasted",
    "differences": URL + "/differences",
    "source": URL + "/versions/1/source",
    "record": URL,
    "harvested version": URL + "/versions/1",
    "right to left": "/records/oai+example,org+3",
    "hostile": "/records/oai+example,org+4%5E3cscript%5E3ealert(4)%5E3c=script%5E3e%5E22'",
    "deleted": "/records/oai+example,org+2",
    "done": COPY + "?done=file-added",
    "new version": URL + "/versions",
    "add a file": COPY + "/files",
    "rename a file": COPY + "/rename-file?path=oai_dc",
    "delete a file": COPY + "/delete-file?path=oai_dc",
    "rename a version": COPY + "/rename",
    "delete a version": COPY + "/delete",
    "delete the record": URL + "/delete",
    "not found": "/nothing/here",
    "read only": URL + "/versions/1/files",
    "selection": "/selection",
    "facet of a field": "/search/fields?field=creator",
    "rename values": "/bulk/rename?field=creator&value=Nobody",
    "jobs": "/jobs",
    "harvests": "/harvests",
    "crawls": "/crawls",
    "new job": "/jobs/new",
    **{
        f"form of a job: {name}": f"/jobs/new/{name}"
        for name in (
            "harvest",
            "update",
            "export",
            "export-csv",
            "crawl-match",
            "usage-import",
            "audit",
            "reindex",
        )
    },
    "schedules": "/schedules",
    "accounts": "/accounts",
    "places": "/places",
    "harvesters": "/providing",
    "reconciliation": "/reconciliation",
    "places of reconciliation": "/reconciliation/places",
    "account": "/account",
    "help": "/help",
    "help on a topic": "/help/search",
    "activity": "/activity",
    "sign in": "/sign-in",
}
OTHER_TESTS = {
    "/queue": "test_queue.py",
    "/queue/{record}": "test_browser_clicks.py",
    "/jobs/{job}": "jobs/test_in_browser.py",
    "/crawls/{name}": "test_crawls.py",
    "/usage": "test_browser_usage.py",
    "/usage/top": "test_browser_usage.py",
    "/usage/records/{record}": "test_browser_usage.py",
    "/usage/entities/{key}": "test_browser_usage.py",
    "/usage/fragments/{part}": "test_usage.py",
    "/usage/widgets/{part}": "test_browser_usage.py",
    "/bulk/jobs/{job}": "test_browser_people.py",
    "/bulk/jobs/{job}/changes": "test_browser_people.py",
    "/crawling/targets": "test_crawling_pages.py",
    "/crawling/targets/{name}": "test_crawling_pages.py",
    "/crawling/targets/{name}/seeds": "test_crawling_pages.py",
    "/crawling/targets/{name}/failures": "test_crawling_pages.py",
    "/crawling/add": "test_crawling_pages.py",
    "/crawling/add/records": "test_crawling_pages.py",
    "/crawling/jobs": "test_crawl_jobs.py",
    "/crawling/jobs/{engine}/{job}": "test_crawl_jobs.py",
    "/crawling/running": "test_crawl_jobs.py",
    "/crawling/packages": "test_crawl_packages.py",
    "/crawling/packages/{package}": "test_crawl_packages.py",
    "/crawling/status": "test_crawling_pages.py",
    "/crawling/dead/{queue}": "test_crawling_pages.py",
    "/crawling/proposals": "test_crawling_pages.py",
    "/crawling/comparisons": "test_crawling_pages.py",
    "/crawling/comparisons/{name}": "test_crawling_pages.py",
}
"""Pages of what has to be made first, with the tests that look at them."""
FILES = (".atom", ".csv", ".jsonl", ".png", ".zip", "/picture")


@pytest.mark.parametrize(
    "with_scripts", family([True, False], 1), ids=["JavaScript", "no JavaScript"]
)
@pytest.mark.long
def test_a_curator_copies_a_record_adds_a_file_and_version_1_stays(
    open_page: Callable[..., Page], silo: Silo, tmp_path: Any, with_scripts: bool
) -> None:
    before = silo[PLAIN].manifest
    page = open_page("/records", java_script_enabled=with_scripts)
    expect(page.get_by_role("heading", name="Records", exact=True)).to_be_visible()
    expect(page.get_by_role("listitem").filter(has=page.get_by_role("heading"))).to_have_count(25)

    page.get_by_role("link", name="On the keeping of records").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("On the keeping of records")
    page.get_by_text("Copy version 1", exact=True).click()
    page.get_by_label("Reason").fill("Add the licence")
    page.get_by_role("button", name="Create copy").click()
    expect(page.get_by_role("status")).to_contain_text("Copy created")
    expect(page).to_have_url(f"{page.url.split('/records')[0]}{COPY}?done=cloned")

    page.get_by_role("link", name="Add a file").click()
    licence = tmp_path / "licence.txt"
    licence.write_bytes(b"CC BY 4.0")
    page.get_by_label("File", exact=True).set_input_files(str(licence))
    page.get_by_role("button", name="Add file").click()
    expect(page.get_by_role("status")).to_contain_text("File added to this version")
    page.get_by_role("link", name="licence.txt", exact=True).click()
    expect(page.get_by_text("CC BY 4.0")).to_be_visible()

    page.go_back()
    page.get_by_role("link", name="1", exact=True).click()
    expect(page.get_by_role("heading", name="Files in version 1")).to_be_visible()
    expect(page.get_by_role("link", name="oai_dc", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="licence.txt")).to_have_count(0)
    expect(page.get_by_role("link", name="Add a file")).to_have_count(0)

    record = silo[PLAIN]
    assert record.paths("workingcopy") == ["oai_dc", "licence.txt"]
    assert record.paths("1") == ["oai_dc"]
    assert record.manifest["version_dates"]["1"] == before["version_dates"]["1"]
    assert record.manifest["versionlog"]["1"] == before["versionlog"]["1"]
    assert record.origin("workingcopy").message == "Add the licence"


@pytest.mark.long
def test_a_page_that_is_old_does_not_overwrite(open_page: Callable[..., Page], silo: Silo) -> None:
    page = open_page(URL)
    silo[PLAIN].clone_version("1", "somebody-elses")
    page.get_by_text("Copy version 1", exact=True).click()
    page.get_by_role("button", name="Create copy").click()
    expect(page.get_by_role("alert")).to_contain_text("This record was changed")
    assert silo[PLAIN].versions == ["1", "somebody-elses"]


@pytest.mark.long
def test_paging_filtering_and_jumping(open_page: Callable[..., Page]) -> None:
    page = open_page("/search")
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("link", name="Previous")).to_be_visible()
    page.get_by_text("Deleted at the source").click()
    page.get_by_role("link", name="Yes 1").click()
    expect(page.get_by_text("1 record", exact=True)).to_be_visible()
    page.get_by_role("link", name="Clear all").click()
    page.get_by_label("Search titles, people, subjects, or paste an identifier").fill(PLAIN)
    page.get_by_label("Search titles, people, subjects, or paste an identifier").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("On the keeping of records")


def test_every_page_is_among_those_that_are_looked_at() -> None:
    seen = [path.partition("?")[0] for path in (*PAGES.values(), *CURATION.values())]
    known = {OF_SILO.find("GET", path).route.pattern for path in seen if path != "/nothing/here"}
    pages = {
        one.pattern for one, has_twin in OF_SILO.documented() if one.method == "GET" and has_twin
    }
    pages = {one for one in pages if not one.endswith(FILES)} - NOT_PAGES
    assert pages - known == set(OTHER_TESTS)


@pytest.mark.parametrize(
    ("scheme", "rules", "pages"),
    [
        ("light", WCAG, ["list", "record", "add a file"]),
        pytest.param("light", WCAG, PAGES, marks=pytest.mark.long),
        pytest.param("dark", ["color-contrast"], PAGES, marks=pytest.mark.long),
    ],
    ids=["three pages", "light", "dark"],
)
@pytest.mark.usefixtures("kept_searches")
def test_axe_finds_nothing_on_any_page(
    open_page: Callable[..., Page],
    working_copy: str,
    scheme: str,
    rules: list[str],
    pages: Iterable[str],
) -> None:
    """In the dark only the colours are others."""
    assert working_copy == PLAIN
    page = open_page("/search", color_scheme=scheme)
    for name in pages:
        page.goto(PAGES[name])
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        is_accessible(page, name, rules)


def is_accessible(page: Page, name: str, rules: list[str] = WCAG) -> None:
    """Axe finds nothing."""
    found = Axe().run(page, options={"runOnly": rules}).response["violations"]
    told = [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found]
    assert told == [], name


BESIDE = """
() => {
  const main = document.querySelector('main'), style = getComputedStyle(main);
  const end = main.getBoundingClientRect().right - parseFloat(style.paddingRight) + 1;
  const boxes = main.querySelectorAll('input, select, textarea, button, fieldset, .card, .button');
  return [...boxes]
    .filter((box) => box.checkVisibility() && !box.closest('.scroll, .sheet, .unseen, [popover]'))
    .filter((box) => box.getBoundingClientRect().right > end)
    .map((box) => box.outerHTML.slice(0, 150));
}
"""
"""Controls and cards that end beside the column of the page."""


def fits(page: Page, name: str) -> None:
    """The page is no wider than the window, and nothing in it than its column."""
    wide, window = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= window, name
    assert page.evaluate(BESIDE) == [], name


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_menus_above_a_list_lie_within_a_narrow_window(
    open_page: Callable[..., Page], language: str
) -> None:
    page = open_page("/search", viewport={"width": 320, "height": 800}, locale=language)
    for menu in page.locator(".tools details.menu").all():
        menu.locator("summary").first.click()
        box = menu.locator(".sheet").bounding_box()
        assert box is not None
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 320
        menu.evaluate("one => one.open = false")


@pytest.mark.long
@pytest.mark.parametrize(
    ("width", "language"), [(320, "en"), (320, "de"), (320, "fr"), (768, "de"), (1280, "en")]
)
@pytest.mark.usefixtures("kept_searches")
def test_no_page_is_wider_than_the_window(
    open_page: Callable[..., Page], silo: Silo, working_copy: str, width: int, language: str
) -> None:
    """Also with the longer words of other languages."""
    silo[working_copy].put_stream("a" * 200 + ".txt", b"x" * 10)
    page = open_page("/search", viewport={"width": width, "height": 800}, locale=language)
    for name, path in PAGES.items():
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        fits(page, name)


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 1280])
def test_what_begins_the_editing_of_a_record_is_there_once(
    open_page: Callable[..., Page], working_copy: str, width: int
) -> None:
    assert working_copy == PLAIN
    page = open_page(URL, viewport={"width": width, "height": 800})
    expect(page.get_by_role("link", name="Edit the description")).to_have_count(1)
    page.goto("/records/oai+example,org+3")
    expect(page.get_by_role("button", name="Curate", exact=True)).to_have_count(1)
    card = page.get_by_role("region", name="Curate")
    begins = [card.get_by_text(said).bounding_box() for said in ("Create a copy", "Delete record")]
    assert len({round(box["x"]) for box in begins if box}) == 1


UNEVEN = """
() => {
  const kinds = 'input:not([type=checkbox], [type=radio]), select, button:not(.as-link), .button';
  const all = [...document.querySelectorAll(kinds)].filter((one) => one.checkVisibility());
  const boxes = all.map((one) => [one.name || one.innerText, one.getBoundingClientRect()]);
  const isBeside = (a, b) => b.left >= a.right && b.left < a.right + 40
    && a.top < b.bottom - 8 && b.top < a.bottom - 8;
  const isEven = (a, b) => Math.abs(a.height - b.height) <= 1 && Math.abs(a.top - b.top) <= 1;
  return boxes.flatMap(([one, a]) => boxes
    .filter(([, b]) => isBeside(a, b) && !isEven(a, b))
    .map(([other]) => `${one} / ${other}`));
}
"""
"""Fields and buttons side by side of which one is higher, or begins higher."""


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.usefixtures("kept_searches")
def test_fields_and_buttons_of_a_row_are_even(
    open_page: Callable[..., Page], working_copy: str, width: int
) -> None:
    assert working_copy == PLAIN
    page = open_page("/search", viewport={"width": width, "height": 800})
    found = {}
    for name, path in PAGES.items():
        page.goto(path)
        if uneven := page.evaluate(UNEVEN):
            found[name] = uneven
    assert found == {}


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 768, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_empty_silo_and_a_directory_of_silos_are_for_everybody(
    open_page: Callable[..., Page],
    harvested: str,
    stage: Any,
    tmp_path: Any,
    scheme: str,
    width: int,
) -> None:
    directory = tmp_path / "silos"
    shutil.copytree(harvested, directory / "a-repository-with-a-long-name")
    Silo(str(directory / "empty")).close()
    stage.app = Shelf(
        Granary(str(directory), create=False),
        lambda silo: create_app(silo, SiteSettings(agent="ada", on_shelf=True)),
        LOOPBACK_ONLY,
    )
    page = open_page("/", color_scheme=scheme, viewport={"width": width, "height": 800})
    empty = ("", "search", "sets", "quality", "clusters", "jobs", "activity", "upstream", "rules")
    over_all = ("search?q=record*&repository=empty&year!=2003", "search?q=nobody")
    for path in ("/", *map("/{}".format, over_all), *(f"/silos/empty/{name}" for name in empty)):
        page.goto(path)
        is_accessible(page, path)
        fits(page, path)
    stage.app.close()


@pytest.mark.long
def test_the_keyboard_reaches_everything_and_focus_is_seen(
    open_page: Callable[..., Page], working_copy: str
) -> None:
    assert working_copy
    page = open_page(URL)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    steps = "a[href]:not([tabindex='-1']), button, input:not([type=hidden]), summary, pre"
    reachable = page.locator(steps).all()
    expected = sum(element.is_visible() for element in reachable)
    seen = 1
    while True:
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        if focused.count() == 0 or focused.evaluate("e => e.matches('.skip, body')"):
            break
        outline = focused.evaluate("e => getComputedStyle(e).outlineStyle")
        width = focused.evaluate("e => parseFloat(getComputedStyle(e).outlineWidth)")
        assert (outline, width >= 2) == ("solid", True), focused.evaluate("e => e.outerHTML")
        seen += 1
    assert seen == expected


@pytest.mark.long
def test_a_right_to_left_abstract_runs_from_the_right(open_page: Callable[..., Page]) -> None:
    page = open_page(PAGES["right to left"])
    abstract = page.locator("dd", has_text="كتاب في التاريخ")
    assert abstract.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert abstract.evaluate("e => [e.localName, e.lang]") == ["dd", "ar"]


def test_stored_script_does_not_run(open_page: Callable[..., Page]) -> None:
    page = open_page("/search")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.goto(PAGES["hostile"])
    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>alert(1)</script>")
    assert page.locator("main script, main img").count() == 0
    assert asked == []


def test_a_stored_page_is_shown_in_a_sandbox(
    open_page: Callable[..., Page], silo: Silo, working_copy: str
) -> None:
    markup = (
        b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>before</title></head><body>'
        b'<script>document.title = "run"</script></body></html>'
    )
    silo[working_copy].put_stream("page.xml", markup)
    page = open_page("/search")
    with page.context.expect_page() as opened:
        page.evaluate(f"window.open('{COPY}/files/page.xml', '_blank', 'noopener')")
    shown = opened.value
    shown.wait_for_load_state()
    assert shown.title() == "before"
    shown.close()
