"""Docstrings as the website shows them: sections, `Cost:` and `Source:`, links to pages."""

import re
from enum import Enum
from typing import Any

from sphinx.ext.napoleon import Config, GoogleDocstring

from website.pages import places

PLACES = places()
SETTINGS = Config(
    napoleon_use_rtype=False,
    napoleon_custom_sections=[("Attributes", "params_style")],  # else they are "Variables"
)
NOTE = re.compile(r"(Cost|Source|Order|Note): ")
LAMBDA = re.compile(r"<function [^>]*<lambda>>|<factory>")
CALL = re.compile(r"(\w)\((?!\.\.\.\))[^()]+\)")
PAGE = re.compile(r"(?<![`\w/])docs/((?:adr/)?[\w-]+)(?:\.md)?")


class _Docstring(GoogleDocstring):
    """A docstring whose returns and yields have no types: the signature has them."""

    def _consume_returns_section(self, *_given: Any, **_named: Any) -> list[Any]:
        lines = self._dedent(self._consume_to_next_section())
        return [("", "", lines)] if lines else []


def process(app: Any, _what: str, name: str, found: Any, *given: Any) -> None:
    """Change the lines of a docstring: the last argument of `autodoc-process-docstring`.

    All are read as those of functions: a property may raise, too.
    """
    lines: list[str] = given[-1]
    changed = [PAGE.sub(_link, line) for line in _with_notes(lines)]
    lines[:] = _Docstring(changed, SETTINGS, app, "method", name, found).lines()


def signature(*given: Any) -> tuple[str, str] | None:
    """A signature without the insides of default values; an enumeration is not called.

    The event `autodoc-process-signature` ends with the options, the arguments and what returns.
    """
    found, arguments, returned = given[3], given[5], given[6]
    if isinstance(found, type) and issubclass(found, Enum):
        return "", ""
    if arguments is None:
        return None
    inside = LAMBDA.sub("...", arguments[1:-1])
    while (shorter := CALL.sub(r"\1(...)", inside)) != inside:
        inside = shorter
    return f"({inside})", returned


def _with_notes(lines: list[str]) -> list[str]:
    """The lines, in which `Cost: …` is a paragraph, which may go on in lines that are indented."""
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
    return changed


def _link(page: re.Match[str]) -> str:
    """A link to a page; a decision may be named by its number, as docs/adr/0057."""
    for source, place in PLACES.items():
        if source == f"{page[0].removesuffix('.md')}.md" or source.startswith(f"{page[0]}-"):
            return f":doc:`{page[0]} </{place.removesuffix('.md')}>`"
    return page[0]
