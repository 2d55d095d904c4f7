"""The addresses of ResourceSync's documents, below the base URL of a repository (pure).

A part of a list has its bounds in its address, so it needs no session and survives a restart, as a
resumption token does.
"""

import base64
import binascii
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

from oaipmhprotocol import Header
from oaipmhprovider.source import Position

WELL_KNOWN = "/.well-known/resourcesync"
FOLDER = "resourcesync"


class DocumentKind(StrEnum):
    """The documents of a format."""

    CAPABILITIES = "capabilitylist"
    RESOURCES = "resourcelist"
    CHANGES = "changelist"
    DUMP = "resourcedump"
    PACKAGE = "package"
    RECORD = "records"


LISTS = (DocumentKind.RESOURCES, DocumentKind.DUMP, DocumentKind.CHANGES)
"""In the order in which a capability list has them."""
_ENDINGS = {DocumentKind.PACKAGE: ".zip"}
_DATESTAMP = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?", re.ASCII)
_LONGEST = 8000
"""Characters of the bounds of a part: two datestamps, two identifiers."""


@dataclass(frozen=True, slots=True)
class ListPart:
    """A part of a list.

    Attributes:
        after: The position before its first record; None from the beginning.
        last: That of its last record; None to the end, however far it is then.
    """

    after: Position | None = None
    last: Position | None = None

    @property
    def is_all(self) -> bool:
        """Whether it is the whole list."""
        return self.after is None and self.last is None

    def is_before(self, header: Header) -> bool:
        """Whether a header in the order of the list is certainly after the end.

        Those of the last second are told by the last record, since a source need not order them
        as their identifiers; without it they are in the next part, too.
        """
        return self.last is not None and header.datestamp > self.last.datestamp


@dataclass(frozen=True, slots=True)
class AskedDocument:
    """What an address stands for.

    Attributes:
        kind: None for the source description.
        prefix: The format.
        part: None for a list as a whole, which may be an index of parts.
        identifier: Of a record.
    """

    kind: DocumentKind | None
    prefix: str = ""
    part: ListPart | None = None
    identifier: str = ""


def path_of(asked: AskedDocument) -> str:
    """The path below the base URL, without a slash before it."""
    if asked.kind is None:
        return FOLDER
    below = f"{FOLDER}/{quote(asked.prefix, safe='')}/{asked.kind}"
    if asked.kind is DocumentKind.RECORD:
        return f"{below}/{quote(asked.identifier, safe=':')}"
    part = "" if asked.part is None else f"-{_bounds(asked.part)}"
    return f"{below}{part}{_ENDINGS.get(asked.kind, '.xml')}"


def asked_at(path: str) -> AskedDocument | None:
    """What is at a path below the base URL, as it was sent; None if nothing can be there.

    Args:
        path: Percent-encoded, without a slash before it.
    """
    if path == FOLDER:
        return AskedDocument(None)
    folder, _, rest = path.partition("/")
    prefix, _, name = rest.partition("/")
    if folder != FOLDER or not prefix or not name:
        return None
    prefix = unquote(prefix)
    if name.startswith(f"{DocumentKind.RECORD}/"):
        return AskedDocument(
            DocumentKind.RECORD,
            prefix,
            identifier=unquote(name.removeprefix(f"{DocumentKind.RECORD}/")),
        )
    for kind in (DocumentKind.CAPABILITIES, DocumentKind.PACKAGE, *LISTS):
        ending = _ENDINGS.get(kind, ".xml")
        if name == f"{kind}{ending}":
            return None if kind is DocumentKind.PACKAGE else AskedDocument(kind, prefix)
        if name.startswith(f"{kind}-") and name.endswith(ending):
            part = _part(name.removeprefix(f"{kind}-").removesuffix(ending))
            has_parts = kind is not DocumentKind.CAPABILITIES and kind is not DocumentKind.DUMP
            return AskedDocument(kind, prefix, part) if part is not None and has_parts else None
    return None


def _bounds(part: ListPart) -> str:
    ends = [place and [place.datestamp, place.identifier] for place in (part.after, part.last)]
    text = json.dumps(ends, ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def _part(text: str) -> ListPart | None:
    if len(text) > _LONGEST:
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        after, last = json.loads(raw)
        return ListPart(_position(after), _position(last))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None


def _position(found: object) -> Position | None:
    if found is None:
        return None
    if not isinstance(found, list) or len(found) != 2:
        raise TypeError(found)
    for text in found:
        if not isinstance(text, str):
            raise TypeError(text)
        text.encode()  # half of a surrogate pair is nowhere
    if not _DATESTAMP.fullmatch(found[0]):
        raise ValueError(found[0])
    return Position(*found)
