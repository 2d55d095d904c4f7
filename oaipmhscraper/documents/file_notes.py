"""What a record remembers of the files behind its links, and what is left to fetch (pure).

Kept in the record's ``metadata``, so that it goes wherever the record goes:
`FETCHED` says where each file came from, `FAILED` what could not be had, and why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from politeweb.files import Known
from recordsilo.formats import Link
from recordsilo.records.manifest import Json, Manifest

FETCHED = "fetched_files"
FAILED = "unfetched_files"


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was fetched.

    Attributes:
        url: The link.
        version: The version it was put into.
        path: Its path there.
        type: What the server called it.
        date: When, in the 2010 form.
        etag: For asking again whether it changed.
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
class Failed:
    """A link that gave no file.

    Attributes:
        url: The link.
        reason: Why, in words after "it".
        date: When it was tried last, in the 2010 form.
        attempts: In how many runs.
        lasting: Whether trying again is vain unless somebody does something.
    """

    url: str
    reason: str
    date: str = ""
    attempts: int = 1
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class Notes:
    """All that a record remembers."""

    fetched: tuple[Fetched, ...] = ()
    failed: tuple[Failed, ...] = ()

    @classmethod
    def of(cls, metadata: Mapping[str, Json]) -> "Notes":
        """Read a record's metadata; what is no note of ours is passed over."""
        return cls(
            tuple(_read(Fetched, metadata.get(FETCHED), ("url", "version", "path"))),
            tuple(_read(Failed, metadata.get(FAILED), ("url", "reason"))),
        )

    def with_fetched(self, one: Fetched) -> "Notes":
        """The notes after a file came: it takes the place of an older one of that version."""
        kept = (n for n in self.fetched if (n.url, n.version) != (one.url, one.version))
        return Notes((*kept, one), tuple(n for n in self.failed if n.url != one.url))

    def with_failed(self, one: Failed) -> "Notes":
        """The notes after a file did not come."""
        earlier = sum(n.attempts for n in self.failed if n.url == one.url)
        counted = Failed(one.url, one.reason, one.date, earlier + 1, one.lasting)
        return Notes(self.fetched, (*(n for n in self.failed if n.url != one.url), counted))

    def to_json(self) -> dict[str, Json]:
        """The two keys of the record's metadata; what is empty or usual is left out."""
        return {
            FETCHED: [_shown(one) for one in self.fetched],
            FAILED: [_shown(one) for one in self.failed],
        }


Note = TypeVar("Note", Fetched, Failed)


def _read(kind: type[Note], found: Any, needed: Iterable[str]) -> Iterable[Note]:
    types = {one.name: type(getattr(kind("", "", ""), one.name)) for one in fields(kind)}
    for one in found if isinstance(found, list) else ():
        if not isinstance(one, Mapping) or not all(isinstance(one.get(n), str) for n in needed):
            continue
        sound = {name: v for name, v in one.items() if type(v) is types.get(str(name))}
        yield kind(**sound)


def _shown(one: Fetched | Failed) -> dict[str, Json]:
    usual = asdict(type(one)("", "", ""))
    shown = {name: value for name, value in asdict(one).items() if value != usual[name]}
    return {**shown, "date": one.date}


# --------------------------------------------------------------------------- what is left


@dataclass(frozen=True, slots=True)
class Task:
    """A link to be fetched.

    Attributes:
        link: See there.
        before: The file that came from it for another version, which may still be the same.
    """

    link: Link
    before: Fetched | None = None

    @property
    def known(self) -> Known | None:
        """What to tell the server of it."""
        if self.before is None or not (self.before.etag or self.before.last_modified):
            return None
        return Known(self.before.etag, self.before.last_modified)


def tasks_left(
    manifest: Manifest, links: Iterable[Link], notes: Notes, *, retry_failed: bool = False
) -> list[Task]:
    """What is to be fetched for the current version.

    A file counts as there as long as the version lists it. A link that failed for good
    is left alone, one that failed for a passing reason is tried in every run.

    Args:
        manifest: The record's.
        links: Those wanted.
        notes: What it remembers.
        retry_failed: Try links that failed for good, too.
    """
    present = {one.url: one for one in notes.fetched if _is_there(manifest, one)}
    here = {
        one.url
        for one in notes.fetched
        if one.version == manifest.current_version and _is_there(manifest, one)
    }
    given_up = set() if retry_failed else {one.url for one in notes.failed if one.lasting}
    return [
        Task(link, present.get(link.url))
        for link in links
        if link.url not in here and link.url not in given_up
    ]


def _is_there(manifest: Manifest, one: Fetched) -> bool:
    return manifest.has(one.version) and one.path in manifest.version(one.version).paths
