"""The tour of docs/page-tour.md, walked in a real browser on `silo demo`; it makes its pictures.

PICTURES=docs/images makes the pictures anew; otherwise they go to the directory of the test.
"""

import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "docs" / "page-tour.md"
IMAGES = ROOT / "docs" / "images"
ALL_IMAGES = 1_500_000  # bytes

JOB = 120_000  # milliseconds


def tour() -> str:
    """The page of the tour."""
    return MANUAL.read_text(encoding="utf-8")


def pictures_of(text: str) -> list[str]:
    return re.findall(r"!\[[^\]]{20,}\]\((?:docs/)?images/([\w-]+\.png)\)", text)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The addresses of a demo's page and of the page of its sample repository."""
    process = subprocess.Popen(
        [
            os.path.join(os.path.dirname(sys.executable), "silo"),
            "demo",
            "--port",
            "0",
            str(tmp_path / "demo"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    said = ""
    try:
        while (here := re.search(r"is at (\S+) \(stop with Ctrl-C\)", said)) is None:
            line = process.stdout.readline()
            assert line, said
            said += line
        source = re.search(r"To change records at the source, open (\S+)", said)
        assert source is not None, said
        yield here[1], source[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def picture(tmp_path: Path) -> Callable[[Page, str], None]:
    """Take the picture of a step."""
    directory = Path(os.environ.get("PICTURES") or tmp_path)

    def take(page: Page, name: str) -> None:
        assert name in pictures_of(tour())
        directory.mkdir(parents=True, exist_ok=True)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=directory / name, animations="disabled")

    return take


def choose(page: Page, group: str, name: str) -> None:
    """Choose from the navigation."""
    navigation = page.get_by_role("navigation").first
    navigation.get_by_text(group, exact=True).locator("visible=true").click()
    navigation.get_by_role("link", name=name, exact=True).locator("visible=true").click()


def test_a_newcomer_is_told_where_the_command_is_and_that_installing_takes_a_while() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    begin, without_make = readme.index(". .venv/bin/activate"), readme.index("-m venv .venv")
    assert readme.index("make demo") < begin < without_make
    installing = (ROOT / "Makefile").read_text(encoding="utf-8").count('echo "Installing into')
    assert installing == 2


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.timeout(600)
def test_the_tour_is_walked(
    demo: tuple[str, str],
    open_page: Callable[..., Page],
    picture: Callable[[Page, str], None],
    tmp_path: Path,
) -> None:
    here, at_the_source = demo
    page = open_page(here, viewport={"width": 1280, "height": 800})

    # 1. Find
    page.get_by_label("Search titles, people, subjects, or paste an identifier").fill("pollinator")
    page.keyboard.press("Enter")
    expect(page.get_by_text("28 records", exact=True)).to_be_visible()
    page.get_by_role("link", name=re.compile("^Article ")).first.click()
    expect(page.get_by_role("list", name="Filters in use")).to_contain_text("Type: Article")
    page.set_viewport_size({"width": 1280, "height": 960})
    picture(page, "1-find.png")
    page.set_viewport_size({"width": 1280, "height": 800})
    bars = page.locator(".years rect")
    bars.nth(0).hover()
    page.mouse.down()
    bars.nth(3).hover()
    page.mouse.up()
    expect(page.get_by_role("list", name="Filters in use")).to_contain_text("2013–2016")

    # 2. Look
    page.get_by_role("link", name="Pollinator networks reconsidered").click()
    expect(page.get_by_role("heading", name="Cite")).to_be_visible()
    picture(page, "2-look.png")

    # 3. Correct
    page.get_by_role("button", name="Curate").click()
    box = page.get_by_role("button", name="Add a value (Title)").bounding_box()
    assert box is not None
    assert box["width"] < 200
    page.get_by_label("Title 1", exact=True).fill("Pollinator networks reconsidered: a field study")
    page.get_by_label("Reason").fill("As on the title page")
    picture(page, "3-correct.png")
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_role("status").first).to_contain_text("Changes saved")

    # 4. Edit many
    choose(page, "Curate", "Clusters")
    expect(page.get_by_role("button", name="Merge all ticked on this page")).to_be_in_viewport()
    page.get_by_role("button", name="Merge population").click()
    page.get_by_role("button", name="Preview", exact=True).last.click()
    change = page.get_by_role("button", name="Change 4 records")
    expect(change).to_be_visible(timeout=JOB)
    picture(page, "4-edit-many.png")
    change.click()
    outcome = page.locator(".heading .outcome")
    expect(outcome).to_contain_text("Finished", timeout=JOB)
    page.get_by_role("button", name="Undo").click()
    expect(outcome).to_contain_text("Undone", timeout=JOB)

    # 5. Decide
    page.goto(at_the_source)
    page.get_by_role("button", name="Change 5 records").click()
    expect(page.get_by_role("listitem")).to_have_count(5)
    page.goto(here)
    choose(page, "Harvest & export", "New job")
    page.get_by_role("link", name="Update").click()
    page.get_by_role("button", name="Update").click()
    expect(outcome).to_contain_text("Finished", timeout=JOB)
    choose(page, "Curate", "Source changes")
    page.get_by_role("link", name="Pollinator networks reconsidered").click()
    picture(page, "5-decide.png")
    page.get_by_label("Curated").check()
    page.get_by_role("button", name="Preview merge").click()
    page.get_by_role("button", name="Accept the proposal").click()
    expect(page.get_by_role("heading", name="Nothing to decide")).to_be_visible()

    # 6. Export
    page.get_by_label("Search titles, people, subjects, or paste an identifier").fill("pollinator")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Select all 28").click()
    page.get_by_text("Selection", exact=True).click()
    picture(page, "6-export.png")
    with page.expect_download() as started:
        page.get_by_role("button", name="Bags (zip)").click()
    started.value.save_as(tmp_path / "bags.zip")
    with zipfile.ZipFile(tmp_path / "bags.zip") as bags:
        assert sum(name.endswith("/bagit.txt") for name in bags.namelist()) == 28


def test_every_step_of_the_tour_has_a_picture() -> None:
    assert re.findall(r"^## (\d)\. ", tour(), re.MULTILINE) == list("123456")
    shown = pictures_of(tour())
    assert [name[0] for name in shown] == list("123456")
    assert pictures_of((ROOT / "README.md").read_text(encoding="utf-8"))[0] in shown
    assert sorted(path.name for path in IMAGES.iterdir()) == sorted(shown)
    assert sum(path.stat().st_size for path in IMAGES.iterdir()) < ALL_IMAGES
