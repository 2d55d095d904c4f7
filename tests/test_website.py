"""The website of docs/: its navigation, and what messages say about pages."""

from pathlib import Path

from website.pages import navigation

ROOT = Path(__file__).parents[1]


def test_every_page_is_in_the_index() -> None:
    trees = navigation((ROOT / "docs/index.md").read_text("utf-8"))
    listed = {path for headings in trees.values() for page in headings.values() for _, path in page}
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages - listed == set(), "docs/index.md has a line for each page"
    assert {path for path in listed if not (ROOT / "docs" / path).exists()} == set()
