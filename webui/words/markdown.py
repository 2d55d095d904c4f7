"""Texts that people write in Markdown, as HTML that can hold nothing else (CommonMark 0.31).

HTML in a text is shown as it is written. Pictures are links, so a text loads nothing. Links lead to
pages of the web or of this Silo, and are ``nofollow``. Headings begin at the second level.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_SCHEMES = frozenset({"http", "https", "mailto"})
_BLOCKS = frozenset(
    {"paragraph_open", "heading_open", "blockquote_open", "bullet_list_open", "ordered_list_open"}
)


def html_of(text: str) -> Markup:
    """Return a text as HTML.

    Cost: about 1 ms for 1,000 words; nesting is limited to 20 levels.
    """
    parser = _parser()
    tokens = parser.parse(text)
    _adapt(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - see above


def first_words(text: str) -> str:
    """Return the first paragraph without its marks; of a text without one, an empty text."""
    tokens = _parser().parse(text)
    for before, one in itertools.pairwise(tokens):
        if before.type == "paragraph_open":
            return "".join(_said(one.children or ()))
    return ""


def _said(tokens: Sequence["Token"]) -> Iterator[str]:
    for one in tokens:
        if one.type in {"softbreak", "hardbreak"}:
            yield " "
        elif one.type in {"text", "code_inline"}:
            yield one.content


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 - takes 30 ms

    found = MarkdownIt("commonmark", {"html": False})
    found.disable(["image", "html_block", "html_inline"])
    found.validateLink = is_link  # type: ignore[method-assign]
    return found


def is_link(url: str) -> bool:
    """Whether a text may link to an address: one of the web, of mail, or a path of this page."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if not parts.scheme and not parts.netloc:
        return url.startswith(("/", "#")) and not url.startswith(("//", "/\\"))
    return parts.scheme.lower() in _SCHEMES


def _adapt(tokens: Sequence["Token"]) -> None:
    """Lower the headings, and say the direction of blocks and what links are (in place)."""
    for one in tokens:
        if one.type in {"heading_open", "heading_close"}:
            one.tag = f"h{min(int(one.tag[1]) + 1, 6)}"
        if one.type in _BLOCKS:
            one.attrSet("dir", "auto")
        if one.type == "link_open":
            one.attrSet("rel", "nofollow noopener noreferrer")
        _adapt(one.children or ())
