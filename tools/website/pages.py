"""The pages of docs/ as Sphinx reads them: links that fit, and the navigation of docs/index.md."""

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)\s#]+)")
"""The path in a link or a picture of Markdown."""
CODE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"^( *)\* \[([^\]]+)\]\(([^)#]+)\)")
MOVED = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "docs/adr": "adr/index.md",
    "docs/search.md": "searching.md",  # Sphinx has a page of the name search
}
"""What has another place on the website than in docs/."""
GENERATED = {
    "* Commands:": "* [Commands](commands/index.md):",
    "* Python:": "* [Python](python/index.md):",
}
"""What docs/index.md says without a link, since only the website has the page."""
LISTED = "---\norphan: true\n---\n\n"
"""Before a page that another page lists, and the navigation does not."""
Trees = dict[str, dict[str, list[tuple[str, str]]]]
"""Page → heading → the title and path of each page below it."""


def places() -> Mapping[str, str]:
    """The path of each page in the checkout → its path on the website."""
    pages = (path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md")))
    return {page: page.removeprefix("docs/") for page in pages} | MOVED


def stage(staged: Path) -> None:
    """Copy docs/ and the pages beside it; the navigation becomes trees of Sphinx.

    Args:
        staged: A directory that does not exist.
    """
    shutil.copytree(ROOT / "docs/images", staged / "images")
    of_page = places()
    for source in sorted(of_page.keys() - {"README.md", "docs/adr"}):
        text = _relinked((ROOT / source).read_text("utf-8"), source, of_page, staged)
        if source.startswith("docs/adr/"):
            text = LISTED + text
        write(staged / of_page[source], text)
    write(staged / "adr/index.md", _decisions())
    index = (staged / "index.md").read_text("utf-8")
    for said, linked in GENERATED.items():
        index = index.replace(said, linked)
    write(staged / "index.md", index)
    for page, headings in navigation(index).items():
        with (staged / page).open("a", encoding="utf-8") as file:
            for heading, below in headings.items():
                file.write(tree(below, heading if page == "index.md" else ""))


def navigation(index: str) -> Trees:
    """What is below which page, from the lists of the home page.

    A page in a nested list is below the page that the outer item names.
    """
    found: Trees = {}
    heading, above = "", ""
    for line in index.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif (item := ITEM.match(line)) and heading:
            indent, title, path = item.groups()
            if not indent:
                above = path
            page = above if indent else "index.md"
            found.setdefault(page, {}).setdefault(heading, []).append((title, path))
    return found


def tree(below: Iterable[tuple[str, str]], caption: str = "") -> str:
    """A tree of Sphinx: the title and path of each page, under a heading in the navigation."""
    lines = [f"{title} <{path}>" for title, path in below]
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *lines, "```", ""])


def write(path: Path, text: str) -> None:
    """Write a page, in a folder that may not exist yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _relinked(text: str, source: str, of_page: Mapping[str, str], staged: Path) -> str:
    """A page with the links that it has at its place on the website.

    A file of the checkout that is no page is copied, to be downloaded.
    """

    def changed(link: re.Match[str]) -> str:
        path = os.path.normpath(os.path.join(os.path.dirname(source), link[1]))
        place = of_page.get(path, path.removeprefix("docs/"))
        if path not in of_page and not path.startswith("docs/") and (ROOT / path).is_file():
            place = f"files/{os.path.basename(path)}"
            (staged / "files").mkdir(exist_ok=True)
            shutil.copy(ROOT / path, staged / place)
        return os.path.relpath(place, os.path.dirname(of_page[source]) or ".")

    parts = CODE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(changed, part) for part in parts)


def _decisions() -> str:
    """A page with the decisions, in their order."""
    lines = ["# Decisions\n", "What was decided, why, and which other ways there were.\n"]
    for path in sorted((ROOT / "docs/adr").glob("[0-9]*.md")):
        title = path.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")
        lines.append(f"* [{title}]({path.name})")
    return "\n".join(lines) + "\n"
