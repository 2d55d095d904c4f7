"""Repair a page that a parser refuses: as a whole, or record by record (pure).

Seldom needed, so `repair` loads this module only then.

Source: XML 1.0, section 2.1, "Well-Formed XML Documents".
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from html import unescape
from typing import Generic, TypeVar

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.encodings import NotText, text_of
from oaipmhclient.mending.pieces import mend
from oaipmhclient.mending.prolog import SeparatedResponse
from oaipmhclient.mending.references import EntityRefused
from oaipmhclient.mending.repairs import Repair, Repairs, plain
from oaipmhclient.mending.salvage import (
    DECLARED_PREFIX,
    GRAINS,
    Grain,
    Slice,
    identifier_as_sent,
    identifier_in,
    joined_end,
    open_elements,
    parted,
    take_apart,
    without_junk,
)
from oaipmhclient.pages.requests_and_pages import SET_ASIDE_BYTES, ListPage, SetAside
from oaipmhclient.pages.xml_pages import Serialiser
from oaipmhprotocol import Record, Verb

Item = TypeVar("Item")

_PLACE = re.compile(r", line \d+, column \d+$")
"""The place of a fault in libxml2's messages; useless for a record read separately."""
_LOSING = {Repair.LOST_CHARACTER, Repair.CONTROL_CHARACTER, Repair.ILLEGAL_REFERENCE}
"""Repairs that leave out, or mark, a character that nobody can know."""
NO_IDENTIFIER = "has an identifier with a character that no text can have"
_WELL_KNOWN = {
    "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "oai_dc": "http://www.openarchives.org/OAI/2.0/oai_dc/",
    "marc": "http://www.loc.gov/MARC21/slim",
    "mods": "http://www.loc.gov/mods/v3",
    "mets": "http://www.loc.gov/METS/",
    "mml": "http://www.w3.org/1998/Math/MathML",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
}
"""Prefixes that have the same namespace in all harvested metadata."""


def mended_whole(body: bytes) -> tuple[bytes, Repairs] | None:
    """Return a response repaired as a whole, and its repairs; None if that is not possible."""
    opened = SeparatedResponse.of(body)
    if opened is None:
        return None
    try:
        text, decoding = text_of(opened.answer)
        mended = mend(text, frozenset(), opened.doctype)
    except (NotText, EntityRefused):
        return None
    return mended.text.encode(), opened.repairs + decoding + mended.repairs


def salvaged(
    body: bytes,
    read: Callable[[bytes], ListPage[Item]],
    verb: Verb,
    refusal: PageUnreadable,
) -> ListPage[Item]:
    """Return the records of a list that can be read.

    Args:
        body: The response.
        read: Reads a well-formed one.
        verb: The verb whose response it is.
        refusal: The strict parser's.

    Raises:
        PageUnreadable: ``refusal``, if the page cannot be read at all.
    """
    opened = SeparatedResponse.of(body)
    if opened is None:
        raise refusal
    if opened.repairs:
        try:
            return replace(read(opened.answer), repairs=plain(opened.repairs))
        except PageUnreadable:
            pass
    page = _Salvage(opened, read, GRAINS[verb]).page()
    if page is None:
        raise refusal
    return page


def _loses(repairs: Repairs) -> bool:
    return any(repairs[kind] for kind in _LOSING)


class _Salvage(Generic[Item]):
    """Reads the records of one page, one after the other."""

    def __init__(
        self, opened: SeparatedResponse, read: Callable[[bytes], ListPage[Item]], grain: Grain
    ) -> None:
        self._opened = opened
        self._read = read
        self._grain = grain
        self._parts = take_apart(opened, grain)
        self._prefixes = self._parts.declared_prefixes
        self._items: list[Item] = []
        self._set_aside: list[SetAside] = []
        self._mended: dict[int, tuple[str, ...]] = {}
        self._repairs = Repairs(opened.repairs)
        self._made = Serialiser(len(opened.answer))

    def page(self) -> ListPage[Item] | None:
        """Return the page; None if it cannot be read at all.

        Raises:
            PageOverfull: The content would be far larger than the page.
        """
        self._made.spend(len(b"".join(self._parts.namespaces)) * len(self._parts.slices))
        frame = self._frame()
        if frame is None:
            return None
        self._take_all()
        parts = self._parts
        end_lost = parts.end_lost or (bool(parts.token) and frame.token is None)
        if end_lost and not self._items:
            return None
        self._repairs[Repair.RECORD_BY_RECORD] += bool(parts.slices)
        self._repairs[Repair.TOKEN_BY_PATTERN] += frame.token is not None
        self._repairs[Repair.CUT_SHORT] += parts.is_cut
        self._repairs[Repair.ENVELOPE] += not self._repairs.total()
        return replace(
            frame,
            items=tuple(self._items),
            set_aside=tuple(self._set_aside),
            repairs=plain(self._repairs),
            mended=self._mended,
            end_lost=end_lost,
        )

    # ------------------------------------------------------------------ around the records

    def _frame(self) -> ListPage[Item] | None:
        """Return the page without its records: the parts before them, the token, and errors.

        If they cannot be read completely, return the token alone.
        """
        parts, grain = self._parts, self._grain
        if not parts.has_list:
            return self._mended_frame(parts.head)
        before, after = parts.head, parts.rest
        around: tuple[tuple[bytes, bytes, bytes], ...] = (
            (before, parts.token, after),
            (before, parts.token, b""),
            (b"", parts.token, b""),
            (before, b"", b""),
            (b"", b"", b""),
        )
        for number, (head, token, rest) in enumerate(around):
            content = head + parts.list_of(grain, token) + rest
            page = self._mended_frame(content)
            if page is not None:
                self._repairs[Repair.ENVELOPE] += number > 0
                return page
        return None

    def _mended_frame(self, content: bytes) -> ListPage[Item] | None:
        try:
            text, decoding = text_of(content)
            mended, repairs, declared = self._mended_text(text)
            page = self._read(self._parts.page(mended, declared))
        except (NotText, EntityRefused, PageUnreadable):
            return None
        self._repairs += decoding + repairs
        return page

    # ------------------------------------------------------------------ the records

    def _take_all(self) -> None:
        slices, number, joinable = self._parts.slices, 0, 0
        while number < len(slices):
            piece = slices[number]
            page = self._strict(piece.raw)
            behind = number + 1
            if page is None and number >= joinable:
                joinable = joined_end(self._still_open, number)
                joined = b"".join(one.raw for one in slices[number:joinable])
                if joinable > behind and (page := self._strict(joined)) is not None:
                    behind = joinable
            if page is not None:
                self._add(page, piece)
            else:
                self._take_parts(piece)
            number = behind

    @cached_property
    def _still_open(self) -> list[int]:
        return [open_elements(one.raw, self._grain) for one in self._parts.slices]

    def _take_parts(self, piece: Slice) -> None:
        """Divide an unreadable slice: perhaps only the bytes after its record are at fault."""
        parts = parted(piece, self._grain)
        if len(parts) > 1 and self._strict(parts[0].raw) is None:
            parts = [piece]
        for part in parts:
            page = self._strict(part.raw) if len(parts) > 1 else None
            if page is not None:
                self._add(page, part)
            else:
                self._mend(part)

    def _mend(self, piece: Slice) -> None:
        raw = without_junk(piece.raw, self._grain)
        if len(raw) < len(piece.raw.rstrip()):
            self._repairs[Repair.JUNK_BETWEEN] += 1
            page = self._strict(raw)
            if page is not None:
                self._add(page, piece)
                return
        if piece.is_cut:
            return
        try:
            page, repairs = self._read_mended(raw)
            is_known = not (_loses(repairs) and self._loses_identifier(raw))
        except (NotText, EntityRefused, PageUnreadable) as error:
            reason = error.reason if isinstance(error, PageUnreadable) else str(error)
            self._put_aside(piece, _PLACE.sub("", reason.partition("\n")[0]))
        else:
            if is_known:
                self._repairs += repairs
                self._add(page, piece, tuple(plain(repairs)))
            else:
                self._put_aside(piece, NO_IDENTIFIER)

    def _loses_identifier(self, raw: bytes) -> bool:
        """Whether repairs drop characters of the identifier: it would be that of another record."""
        text, decoding = text_of(identifier_as_sent(raw))
        mended = mend(text, self._prefixes, self._opened.doctype)
        return _loses(decoding + mended.repairs)

    def _read_mended(self, raw: bytes) -> tuple[ListPage[Item], Repairs]:
        """Return a repaired record.

        Raises:
            NotText, EntityRefused: It cannot be repaired.
            PageUnreadable: It is still malformed after the repairs.
        """
        text, repairs = text_of(raw)
        if repairs and (page := self._strict(text.encode())) is not None:
            return page, repairs
        content, more, declared = self._mended_text(text)
        page = self._read(self._parts.page_of(self._grain, content, declared))
        return page, repairs + more

    def _mended_text(self, text: str) -> tuple[bytes, Repairs, bytes]:
        """Return a repaired text as UTF-8, the repairs, and the declarations that it needs."""
        mended = mend(text, self._prefixes, self._opened.doctype)
        declared = self._declarations(mended.undeclared)
        repairs = mended.repairs + Repairs({Repair.PREFIX: len(declared)})
        return mended.text.encode(), repairs, b"".join(declared)

    def _strict(self, raw: bytes) -> ListPage[Item] | None:
        """Return the records in the bytes as sent; None if they are not well-formed."""
        try:
            return self._read(self._parts.page_of(self._grain, raw))
        except PageUnreadable:
            return None

    def _add(self, page: ListPage[Item], piece: Slice, kinds: tuple[str, ...] = ()) -> None:
        for item in page.items:
            if isinstance(item, Record):
                self._made.spend(len(item.metadata or b"") + sum(map(len, item.about)))
            if kinds:
                self._mended[len(self._items)] = kinds
            self._items.append(item)
        for lack in page.set_aside:
            self._put_aside(piece, lack.reason)

    def _put_aside(self, piece: Slice, reason: str) -> None:
        self._made.spend(SET_ASIDE_BYTES)
        number = len(self._items) + len(self._set_aside) + 1
        where = f"{self._grain.name} {number} of the page, from byte {self._start_of(piece):,}"
        identifier = unescape(identifier_in(piece.raw).decode("utf-8", "replace")).strip()
        self._set_aside.append(SetAside(identifier, reason, where, piece.raw))

    def _start_of(self, piece: Slice) -> int:
        return self._opened.start + piece.start

    # ------------------------------------------------------------------ namespaces

    def _declarations(self, prefixes: frozenset[str]) -> list[bytes]:
        """Return a declaration for each prefix with a certain namespace, in alphabetical order."""
        found = {prefix: self._namespace_of(prefix) for prefix in sorted(prefixes)}
        return [f' xmlns:{p}="{uri}"'.encode() for p, uri in found.items() if uri is not None]

    def _namespace_of(self, prefix: str) -> str | None:
        """Return a prefix's namespace in the rest of the page if unique, else the common one."""
        uris = self._declared_in_page.get(prefix, set())
        return next(iter(uris)) if len(uris) == 1 else _WELL_KNOWN.get(prefix)

    @cached_property
    def _declared_in_page(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for prefix, uri in DECLARED_PREFIX.findall(self._opened.answer):
            found.setdefault(prefix.decode(), set()).add(uri.decode("utf-8", "replace"))
        return found
