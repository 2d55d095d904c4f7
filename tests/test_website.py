"""The website of docs/: its navigation, and what code and messages say about pages."""

import re
from pathlib import Path

from website.pages import ROOT, navigation

from recordsilo.cli import silo_command
from recordsilo.documentation import pages

DOCS = ROOT / "docs"
PACKAGES = sorted(path.parent for path in ROOT.glob("*/__init__.py"))
OWN = re.compile(r'(?<![\w/])docs/((?:adr/)?[\w-]+)(?:\.md)?(?:#([\w-]+)|, "([^"]+)")?(?![\w./-])')
"""A page that a text names, with an anchor or the heading in quotation marks."""
TOPIC = re.compile(r"silo help ([a-z][a-z-]*)")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def texts() -> dict[Path, str]:
    """The sources and templates of all packages."""
    found = (path for one in PACKAGES for path in one.rglob("*"))
    return {path: path.read_text("utf-8") for path in found if path.suffix in {".py", ".mako"}}


def headings(path: Path) -> dict[str, str]:
    """Anchor → heading of a page."""
    found = HEADING.findall(path.read_text("utf-8"))
    return {re.sub(r"[^\w -]", "", one).lower().replace(" ", "-"): one for one in found}


def test_every_page_is_in_the_index() -> None:
    trees = navigation((DOCS / "index.md").read_text("utf-8"))
    listed = {path for parts in trees.values() for part in parts.values() for _, path in part}
    there = {path.name for path in DOCS.glob("*.md")} - {"index.md"}
    assert there - listed == set(), "docs/index.md has a line for each page"
    assert {path for path in listed if not (DOCS / path).exists()} == set()


def test_pages_named_in_code_and_messages_exist() -> None:
    missing = []
    for path, text in texts().items():
        for found in OWN.finditer(re.sub(r"\n\s*", " ", text)):
            page, anchor, heading = found.groups()
            files = list(DOCS.glob(f"{page}-*.md" if page.startswith("adr/") else f"{page}.md"))
            files += DOCS.glob(f"{page}.md")
            has = headings(files[0]) if files else {}
            if not files or (anchor or heading) not in {None, *has, *has.values()}:
                missing.append(f"{path.relative_to(ROOT)}: {found[0]}")
    assert missing == []


def test_topics_named_in_messages_exist() -> None:
    commands = silo_command.make_context("silo", [], resilient_parsing=True)
    topics = {*pages(), *silo_command.list_commands(commands)}
    named = {topic for text in texts().values() for topic in TOPIC.findall(text)}
    assert named
    assert named - topics == set()


def test_the_readme_lists_pages_under_the_headings_of_the_index() -> None:
    trees = navigation((DOCS / "index.md").read_text("utf-8"))
    for line in (ROOT / "README.md").read_text("utf-8").split("## Documentation")[1].splitlines():
        if line.startswith("* "):
            heading, _, links = line.removeprefix("* ").partition(":")
            listed = {path for part in trees.values() for _, path in part.get(heading, [])}
            paths = {path for path, _ in LINK.findall(links)}
            assert paths <= {f"docs/{path}".removeprefix("docs/../") for path in listed}


def test_links_of_the_readme_lead_somewhere() -> None:
    for path, anchor in LINK.findall((ROOT / "README.md").read_text("utf-8")):
        assert (ROOT / path).exists(), path
        if anchor:
            assert anchor in headings(ROOT / path), f"{path}#{anchor}"
