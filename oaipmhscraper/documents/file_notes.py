"""Notes on the files of a record's links, and what is left to fetch (pure).

They are in the record's ``metadata``, so that they stay with the record: `FETCHED` has the origin
of each file, `FAILED` the links that failed, and why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from politeweb.exchange import Known
from recordsilo.formats import Link
from recordsilo.records.manifest import Json, Manifest

FETCHED = "fetched_files"
FAILED = "unfetched_files"


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A fetched file.

    Attributes:
        url: The link.
        path: Its path there.
        type: The media type that the server sent.
        date: When it was fetched, in the 2010 form.
        etag: For a later conditional request.
        last_modified: Likewise.
    """

    url: str
    version: str
    path: str
    type: str = ""
    date: str = ""
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class FailedLink:
    """A link whose file could not be fetched.

    Attributes:
        reason: Why, as a predicate.
        date: The last attempt, in the 2010 form.
        attempts: The number of runs that tried.
        lasting: Whether the failure is permanent.
    """

    url: str
    reason: str
    date: str = ""
    attempts: int = 1
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes of a record."""

    fetched: tuple[FetchedFile, ...] = ()
    failed: tuple[FailedLink, ...] = ()

    @classmethod
    def of(cls, metadata: Mapping[str, Json]) -> "Notes":
        """Read the notes in a record's metadata; malformed ones are ignored."""
        return cls(
            tuple(_read(FetchedFile, metadata.get(FETCHED), ("url", "version", "path"))),
            tuple(_read(FailedLink, metadata.get(FAILED), ("url", "reason"))),
        )

    def with_fetched(self, one: FetchedFile) -> "Notes":
        """Return the notes after a file was fetched; it replaces an older one of that version."""
        kept = (n for n in self.fetched if (n.url, n.version) != (one.url, one.version))
        return Notes((*kept, one), tuple(n for n in self.failed if n.url != one.url))

    def with_failed(self, one: FailedLink) -> "Notes":
        """Return the notes after a file could not be fetched."""
        earlier = sum(n.attempts for n in self.failed if n.url == one.url)
        counted = FailedLink(one.url, one.reason, one.date, earlier + 1, one.lasting)
        return Notes(self.fetched, (*(n for n in self.failed if n.url != one.url), counted))

    def to_json(self) -> dict[str, Json]:
        """Return the two keys of the record's metadata, without empty and default values."""
        return {
            FETCHED: [_shown(one) for one in self.fetched],
            FAILED: [_shown(one) for one in self.failed],
        }


Note = TypeVar("Note", FetchedFile, FailedLink)


def _read(kind: type[Note], found: Any, needed: Iterable[str]) -> Iterable[Note]:
    types = {one.name: type(getattr(kind("", "", ""), one.name)) for one in fields(kind)}
    for one in found if isinstance(found, list) else ():
        if not isinstance(one, Mapping) or not all(isinstance(one.get(n), str) for n in needed):
            continue
        sound = {name: v for name, v in one.items() if type(v) is types.get(str(name))}
        yield kind(**sound)


def _shown(one: FetchedFile | FailedLink) -> dict[str, Json]:
    usual = asdict(type(one)("", "", ""))
    shown = {name: value for name, value in asdict(one).items() if value != usual[name]}
    return {**shown, "date": one.date}


# --------------------------------------------------------------------------- what is left


@dataclass(frozen=True, slots=True)
class LinkToFetch:
    """A link to fetch.

    Attributes:
        before: The file fetched from it for another version, which may be unchanged.
    """

    link: Link
    before: FetchedFile | None = None

    @property
    def known(self) -> Known | None:
        """Return the validators for the request."""
        if self.before is None or not (self.before.etag or self.before.last_modified):
            return None
        return Known(self.before.etag, self.before.last_modified)


def tasks_left(
    manifest: Manifest, links: Iterable[Link], notes: Notes, *, retry_failed: bool = False
) -> list[LinkToFetch]:
    """Return the links to fetch for the current version.

    A file exists as long as the version lists it. A link that failed permanently is skipped; one
    that failed temporarily is tried in every run.

    Args:
        manifest: The record's manifest.
        links: The links wanted.
        notes: The record's notes.
        retry_failed: Whether to retry links that failed permanently.
    """
    present = {one.url: one for one in notes.fetched if _is_there(manifest, one)}
    here = {
        one.url
        for one in notes.fetched
        if one.version == manifest.current_version and _is_there(manifest, one)
    }
    given_up = set() if retry_failed else {one.url for one in notes.failed if one.lasting}
    return [
        LinkToFetch(link, present.get(link.url))
        for link in links
        if link.url not in here and link.url not in given_up
    ]


def _is_there(manifest: Manifest, one: FetchedFile) -> bool:
    return manifest.has(one.version) and one.path in manifest.version(one.version).paths
