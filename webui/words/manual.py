"""Pages of the documentation in parts that a template shows: just the Markdown that docs/ has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_INLINE = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*\s][^*]*)\*"
                     r"|(?P<picture>!)?\[(?P<link>[^\]]*)\]\((?P<to>[^)\s]+)\)")  # fmt: skip
_PAGE = re.compile(r"([\w-]*)(?:\.md)?(?:#([\w-]+))?")
_ITEM = re.compile(r"\s*(?:[*-]|\d+\.) ")
_RULE = re.compile(r"\|[\s:|-]+\|")


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of one kind: ``text``, ``code``, ``strong``, ``em`` or ``link``, with its target."""

    kind: str
    text: str
    topic: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class ManualBlock:
    """A heading (``h1`` to ``h4``), ``p``, ``pre``, ``ul`` or ``table``.

    Attributes:
        text: Of a ``pre``; of a heading the anchor; of a list a digit for each item: 0, or 1 if it
            belongs to the one above.
        rows: Lines of cells of pieces: one line with one cell for a heading or a paragraph, a line
            for each item of a list, and for each row of a table, its head first.
    """

    kind: str
    text: str = ""
    rows: tuple[tuple[tuple[Piece, ...], ...], ...] = ()


def pieces(text: str) -> tuple[Piece, ...]:
    """Divide a line; what leads out of the documentation is text. Pictures are left out."""
    found: list[Piece] = []
    end = 0
    for match in _INLINE.finditer(text):
        found += [Piece("text", text[end : match.start()])] * (match.start() > end)
        end = match.end()
        if match["picture"]:
            continue
        kind = str(match.lastgroup).replace("to", "link")
        found.append(_link(match) if kind == "link" else Piece(kind, match[kind]))
    return (*found, *[Piece("text", text[end:])] * (end < len(text)))


def _link(match: re.Match[str]) -> Piece:
    page = _PAGE.fullmatch(match["to"])
    text = match["link"].replace("`", "")
    return Piece("link", text, page[1], page[2] or "") if page else Piece("text", text)


def blocks(text: str) -> Iterator[ManualBlock]:
    """Divide a page."""
    for number, part in enumerate(re.split(r"^```.*\n", text, flags=re.MULTILINE)):
        if number % 2:
            yield ManualBlock("pre", part)
        else:
            texts = filter(str.strip, re.split(r"\n(?:[ \t]*\n)+|\n(?=#)", part))
            yield from filter(_is_shown, map(_block, texts))


def _is_shown(block: ManualBlock) -> bool:
    """Whether more than a picture is in it."""
    return block.kind != "p" or any(block.rows[0])


def _block(text: str) -> ManualBlock:
    lines = text.strip("\n").split("\n")
    heading = re.fullmatch(r"(#{1,4}) (.+)", lines[0])
    if heading:
        anchor = re.sub(r"[^\w -]", "", heading[2].lower()).replace(" ", "-")
        return ManualBlock(f"h{len(heading[1])}", anchor, ((pieces(heading[2]),),))
    if lines[0].startswith("|"):
        cells = [re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in lines
                 if not _RULE.fullmatch(line.strip())]  # fmt: skip
        return ManualBlock(
            "table", "", tuple(tuple(pieces(c.strip()) for c in row) for row in cells)
        )
    if _ITEM.match(lines[0]):
        items = re.split(r"\n(?=\s*(?:[*-]|\d+\.) )", "\n".join(lines))
        depths = "".join("1" if one.startswith(" ") else "0" for one in items)
        return ManualBlock(
            "ul", depths, tuple((pieces(_ITEM.sub("", one, count=1)),) for one in items)
        )
    return ManualBlock("p", "", ((pieces("\n".join(lines)),),))
