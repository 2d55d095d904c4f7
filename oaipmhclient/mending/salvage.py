"""Divide a page that no parser accepts into its records and the parts around them (pure).

The page is cut where records begin: at ``<record>`` followed by ``<header>``, with any prefix.
Records of other formats (MARC's ``<record>``) begin differently. Records quoted in an OAI-PMH
record stay with it if it can be read whole.

Source: OAI-PMH 2.0, sections 2.5, 3.2 and 3.5.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from oaipmhclient.mending.prolog import SeparatedResponse
from oaipmhprotocol import Verb

_P = rb"(?:[A-Za-z_][\w.\-]{0,63}:)?"
_ASIDE = rb"(?:\s++|<!--(?:[^-]|-(?!->)){0,200}+-->|<\?[^<>?]{0,200}+\?>)*+"
_NAMESPACE = re.compile(
    rb"\s(xmlns(?::[A-Za-z_][\w.\-]{0,63})?)\s*+=\s*+"
    rb"(\"(?:[^\"<>&\x80-\xff]|&amp;)*+\"|'(?:[^'<>&\x80-\xff]|&amp;)*+')"
)
DECLARED_PREFIX = re.compile(
    rb"\sxmlns:([A-Za-z_][\w.\-]{0,63})\s*+=\s*+[\"']([^\"'<>&\s]{1,500})[\"']"
)
_TOKEN = re.compile(
    rb"<(" + _P + rb")resumptionToken((?:\s[^<>]*+)?/?)"
    rb"(?:(?<=/)>|>([^<]*+(?:<!\[CDATA\[(?:[^\]]|\](?!\]>)){0,4096}+\]\]>\s*+)?)</\1resumptionToken\s*+>)"
)
_TOKEN_BEGUN = re.compile(rb"<" + _P + rb"resumptionToken\b")
_IDENTIFIER = re.compile(rb"<" + _P + rb"identifier(?:\s[^<>]*+)?>\s*+([^<]{1,2000}+)")
_IDENTIFIER_SENT = re.compile(
    rb"<" + _P + rb"identifier(?:\s[^<>]*+)?>(.{1,4000}?)</" + _P + rb"identifier", re.DOTALL
)
_ANCHOR = re.compile(_ASIDE)
_MOST_QUOTED = 200
_HEADER_OVER = re.compile(rb"</" + _P + rb"header\s*+>|<" + _P + rb"metadata[\s/>]")
_OAI_END = re.compile(rb"</" + _P + rb"(?:metadata|about|header|identifier|datestamp)\s*+>")


@dataclass(frozen=True, slots=True)
class Grain:
    """The element that lists of a verb consist of.

    Attributes:
        verb: The verb whose response has it.
        name: The element's local name.
        begins: Matches the beginning of one: its tag, then its first child.
        edges: Begin and end tags of any element of that name, also of other vocabularies.
        closes: Its end tag.
        seams: Its end tag, if followed by an element of that name.
        list_begins: The list's begin tag.
        list_ends: The list's end tag.
    """

    verb: Verb
    name: str
    begins: re.Pattern[bytes]
    edges: re.Pattern[bytes]
    closes: re.Pattern[bytes]
    seams: re.Pattern[bytes]
    list_begins: re.Pattern[bytes]
    list_ends: re.Pattern[bytes]

    @classmethod
    def of(cls, verb: Verb, name: str, first_child: str) -> "Grain":
        """Return the grain whose elements have ``first_child`` as their first child."""
        begin = rb"<" + _P + name.encode() + rb"(?:\s[^<>]*+)?"
        close = rb"</" + _P + name.encode() + rb"\s*+>"
        child = rb"(?=<" + _P + first_child.encode() + rb"[\s/>])"
        list_name = _P + verb.encode()
        return cls(
            verb=verb,
            name=name,
            begins=re.compile(begin + rb">" + _ASIDE + child),
            edges=re.compile(close + rb"|" + begin + rb"(?<!/)>"),
            closes=re.compile(close),
            seams=re.compile(close + rb"\s*+(?=" + begin + rb">)"),
            list_begins=re.compile(rb"<" + list_name + rb"((?:\s[^<>]*+)?)>"),
            list_ends=re.compile(rb"</" + list_name + rb"\s*+>"),
        )


GRAINS = {
    Verb.LIST_RECORDS: Grain.of(Verb.LIST_RECORDS, "record", "header"),
    Verb.GET_RECORD: Grain.of(Verb.GET_RECORD, "record", "header"),
    Verb.LIST_IDENTIFIERS: Grain.of(Verb.LIST_IDENTIFIERS, "header", "identifier"),
}


@dataclass(frozen=True, slots=True)
class Slice:
    """The bytes of one record, as far as they could be separated.

    Attributes:
        start: Its offset in the page.
        is_cut: Whether the page ends within it.
    """

    start: int
    raw: bytes
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class PageParts:
    """A divided page.

    Attributes:
        prefix: The prefix of OAI-PMH's elements, with its colon; may be empty.
        namespaces: The declarations of the root and of the list element, as written.
        head: The bytes between the root's tag and the list.
        slices: The records, in the order sent.
        token: The last complete element of a resumption token; empty if there is none.
        rest: The bytes between the list and the end of the root.
        is_cut: Whether the end tags of both list and root are missing.
        end_lost: Whether a token may have been lost.
    """

    prefix: bytes
    namespaces: tuple[bytes, bytes]
    head: bytes
    has_list: bool
    slices: tuple[Slice, ...]
    token: bytes
    rest: bytes
    is_cut: bool
    end_lost: bool

    def page_of(self, grain: Grain, content: bytes, declared: bytes = b"") -> bytes:
        """Return a page whose list has only this content, with all namespaces of the original."""
        return self.page(self.list_of(grain, content, declared))

    def list_of(self, grain: Grain, content: bytes, declared: bytes = b"") -> bytes:
        """Return the list's element around this content."""
        name = self.prefix + grain.verb.encode()
        return b"<%b%b%b>%b</%b>" % (name, self.namespaces[1], declared, content, name)

    def page(self, content: bytes, declared: bytes = b"") -> bytes:
        """Return the root element around this content."""
        name = self.prefix + b"OAI-PMH"
        return b"<%b%b%b>%b</%b>" % (name, self.namespaces[0], declared, content, name)

    @property
    def declared_prefixes(self) -> frozenset[str]:
        """Return the namespace prefixes in scope in every record."""
        found = DECLARED_PREFIX.findall(b"".join(self.namespaces))
        return frozenset(prefix.decode() for prefix, _ in found)


def take_apart(opened: SeparatedResponse, grain: Grain) -> PageParts:
    """Divide a response where its records begin.

    Cost: linear; a few pattern searches over the bytes.
    """
    body, (start, end) = opened.answer, opened.inner
    listed = grain.list_begins.search(body, start, end)
    begins = [match.start() for match in grain.begins.finditer(body, start, end)]
    list_begin = listed.start() if listed else begins[0] if begins else end
    last = begins[-1] if begins else listed.end() if listed else end
    tail = _tail_of(opened, grain, last)
    return PageParts(
        prefix=opened.prefix,
        namespaces=(_root_namespaces(opened), _namespaces(listed[1]) if listed else b""),
        head=body[start:list_begin],
        has_list=bool(listed or begins),
        slices=tuple(_slices(body, grain, begins, tail)),
        token=tail.token,
        rest=body[tail.list_over : end],
        is_cut=tail.is_cut,
        end_lost=tail.end_lost,
    )


def _namespaces(attributes: bytes) -> bytes:
    return b"".join(b" %b=%b" % (match[1], match[2]) for match in _NAMESPACE.finditer(attributes))


def _root_namespaces(opened: SeparatedResponse) -> bytes:
    """Return the root's declarations; that of its own prefix is added if missing."""
    found, prefix = _namespaces(opened.attributes), opened.prefix.rstrip(b":")
    if prefix and b" xmlns:%b=" % prefix not in found:
        found += b' xmlns:%b="http://www.openarchives.org/OAI/2.0/"' % prefix
    return found


@dataclass(frozen=True, slots=True)
class _Tail:
    """The end of a list.

    Attributes:
        start: Where the last record ends.
        token: See `PageParts`.
        list_over: The place after the list's end tag.
        is_cut: See `PageParts`.
        end_lost: See `PageParts`.
    """

    start: int
    token: bytes
    list_over: int
    is_cut: bool
    end_lost: bool


def _tail_of(opened: SeparatedResponse, grain: Grain, last: int) -> _Tail:
    """Examine the bytes after the beginning of the last record, or of the list."""
    body, end = opened.answer, opened.inner[1]
    list_end = _last(grain.list_ends, body, last, end)
    inner, list_over = list_end.span() if list_end else (end, end)
    closed = _last(grain.closes, body, last, inner)
    searched = closed.end() if closed else last
    token = _last(_TOKEN, body, searched, inner)
    if token and not closed and not _ANCHOR.fullmatch(body, token.end(), inner):
        token = None
    begun = _TOKEN_BEGUN.search(body, searched, inner)
    is_cut = not opened.is_whole and list_end is None
    return _Tail(
        start=token.start() if token else begun.start() if begun else inner,
        token=token[0] if token else b"",
        list_over=list_over,
        is_cut=is_cut,
        end_lost=token is None and (is_cut or begun is not None),
    )


def _last(pattern: re.Pattern[bytes], body: bytes, start: int, end: int) -> re.Match[bytes] | None:
    found = None
    for found in pattern.finditer(body, start, end):  # noqa: B007 - the last one is wanted
        pass
    return found


def _slices(body: bytes, grain: Grain, begins: list[int], tail: _Tail) -> Iterator[Slice]:
    if not begins:
        return
    for start, end in pairwise([*begins, tail.start]):
        raw = body[start:end]
        is_cut = tail.is_cut and not tail.token and start == begins[-1]
        over = balanced_end(raw, grain) if is_cut else None
        yield Slice(start, raw, is_cut) if over is None else Slice(start, raw[:over])


def identifier_in(raw: bytes) -> bytes:
    """Return the identifier in a record's header, still escaped; empty if there is none."""
    over = _HEADER_OVER.search(raw)
    found = _IDENTIFIER.search(raw, 0, over.start() if over else len(raw))
    return found[1].strip() if found else b""


def identifier_as_sent(raw: bytes) -> bytes:
    """Return the content of the element that `identifier_in` reads, with its markup."""
    over = _HEADER_OVER.search(raw)
    found = _IDENTIFIER_SENT.search(raw, 0, over.start() if over else len(raw))
    return found[1] if found else identifier_in(raw)


def balanced_end(raw: bytes, grain: Grain) -> int | None:
    """Return the place after the end tag of a slice's first record; None if it is missing.

    Tags are counted, because records of other vocabularies within have the same name.
    """
    depth = 0
    for match in grain.edges.finditer(raw):
        depth += -1 if match[0].startswith(b"</") else 1
        if depth == 0:
            return match.end()
    return None


def open_elements(raw: bytes, grain: Grain) -> int:
    """Return how many elements of the grain's name begin in the bytes and do not end there."""
    edges = grain.edges.finditer(raw)
    return sum(-1 if match[0].startswith(b"</") else 1 for match in edges)


def joined_end(still_open: Sequence[int], first: int) -> int:
    """Return the end of a record that seems to quote records: the slice after its last.

    Args:
        still_open: `open_elements` of each slice.
        first: The slice in which it begins.
    """
    depth = 0
    for number in range(first, min(first + _MOST_QUOTED, len(still_open))):
        depth += still_open[number]
        if depth <= 0:
            return number + 1
    return first + 1


def parted(piece: Slice, grain: Grain) -> list[Slice]:
    """Divide a slice also where a record ends and one without a header begins."""
    starts = [0, *(match.end() for match in grain.seams.finditer(piece.raw))]
    ends = [*starts[1:], len(piece.raw)]
    return [
        Slice(piece.start + a, piece.raw[a:b], piece.is_cut)
        for a, b in zip(starts, ends, strict=True)
    ]


def without_junk(raw: bytes, grain: Grain) -> bytes:
    """Return a slice without the bytes between its record and the next, unless they are XML.

    PHP writes its notices there (findsorguk#843).
    """
    closed = _last(grain.closes, raw, 0, len(raw))
    if (
        closed is None
        or _OAI_END.search(raw, closed.end())
        or grain.edges.search(raw, closed.end())
    ):
        return raw
    return raw[: closed.end()]
