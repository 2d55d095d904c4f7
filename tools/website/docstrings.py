"""Docstrings as the website shows them: `Cost:` and `Source:`, and links to pages and decisions."""

import re
from typing import Any

from website.pages import places

NOTE = re.compile(r"(Cost|Source|Order|Note): ")
PLACES = places()
PAGE = re.compile(r"(?<![`\w/])docs/((?:adr/)?[\w-]+)(?:\.md)?")


def process(*given: Any) -> None:
    """Change the lines of a docstring: the last argument of `autodoc-process-docstring`."""
    lines: list[str] = given[-1]
    changed: list[str] = []
    in_note = False
    for line in lines:
        if found := NOTE.match(line):
            in_note = True
            changed += ["", f"**{found[1]}:** {line[found.end() :]}"]
        elif in_note and line.startswith("    "):
            changed.append(line.strip())
        else:
            changed += ["", line] if in_note and line else [line]
            in_note = False
    lines[:] = [PAGE.sub(_link, line) for line in changed]


def _link(page: re.Match[str]) -> str:
    """A link to a page; a decision may be named by its number, as docs/adr/0057."""
    for source, place in PLACES.items():
        if source == f"{page[0].removesuffix('.md')}.md" or source.startswith(f"{page[0]}-"):
            return f":doc:`{page[0]} </{place.removesuffix('.md')}>`"
    return page[0]
