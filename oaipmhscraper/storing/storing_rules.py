"""Decide what a listed record changes in the Silo (pure).

One version holds a record as of one datestamp, one file for each metadata format:

* changed content makes the next numbered version;
* a second format joins the version of the same datestamp;
* the same content makes no version, but its newer datestamp is noted in the origin;
* a deletion makes an empty version, and a record that exists again after it a new one.

Working copies are never changed, and a current version that is one stays current.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from oaipmhclient.mending.repairs import Repair
from oaipmhclient.pages.xml_pages import same_content
from oaipmhprotocol import Header, Record
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.sweep_rules import MISSING_SINCE
from recordsilo.disk.atomic_file import digest_of_bytes
from recordsilo.index.projection import MENDED
from recordsilo.records.manifest import Json, Manifest, Origin, Version, next_version_number

DELETED_VERSION = "deleted_at_version"
DELETED_DATE = "deleted_at_date"
FIRST_VERSION = "1"
OAI_WRAPPER = b'<record xmlns="http://www.openarchives.org/OAI/2.0/">%s</record>'


@dataclass(frozen=True, slots=True)
class AddVersion:
    """Add an empty version."""

    name: str
    date: str
    origin: Origin
    log: str
    move_cursor: bool


@dataclass(frozen=True, slots=True)
class PutFile:
    """Put a file into a version that does not have it."""

    version: str
    path: str
    content: bytes
    metadata: bool


@dataclass(frozen=True, slots=True)
class SetOrigin:
    """Note another datestamp in a version's origin."""

    version: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class SetMetadata:
    """Set a key of the record's metadata; None removes it."""

    key: str
    value: Json


Action = AddVersion | PutFile | SetOrigin | SetMetadata


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a record.

    Attributes:
        outcome: Its outcome in the receipt.
        actions: In order; may be empty.
        writes: Whether content or a deletion is written, not only datestamps and sets.
    """

    outcome: Outcome
    actions: tuple[Action, ...]
    writes: bool


@dataclass(frozen=True, slots=True)
class Reception:
    """How and when records were received.

    Attributes:
        metadata_prefix: The format of the list.
        agent: The program that harvested.
        message: Their source.
        now: The current time, in the 2010 form.
        mended: The kinds of repair that the record's bytes needed.
    """

    metadata_prefix: str
    agent: str = ""
    message: str = ""
    now: str = ""
    mended: tuple[str, ...] = ()

    @property
    def remark(self) -> str:
        """Return the origin's remark on repairs; the WARC file has the original bytes."""
        kinds = ", ".join(self.mended)
        return f"; {self.metadata_prefix}{MENDED}{kinds}" if kinds else ""

    @property
    def is_undated(self) -> bool:
        """Whether the datestamp is that of the response, which always changes."""
        return Repair.DATESTAMP in self.mended


ReadFile = Callable[[str, str], bytes | None]
"""(version, path) → content, or None if it can no longer be read."""


def plan_record(
    manifest: Manifest, record: Record, datestamp: str, listing: Reception, read_file: ReadFile
) -> Plan:
    """Decide what a listed record changes in the Silo.

    Args:
        manifest: The record's manifest; without versions if it does not exist.
        record: With metadata, unless deleted.
        datestamp: The header's, in the 2010 form (``2004-06-24T00:00:00``).
        listing: How and when it was received.
        read_file: Called only if the digests differ.
    """
    planner = _Planner(manifest, record, datestamp, listing, read_file)
    return planner.deletion() if record.header.deleted else planner.content()


def first_state(
    record: Record, datestamp: str, listing: Reception
) -> tuple[Manifest, dict[str, bytes]]:
    """Return what `plan_record` makes of a record that the Silo does not have, in one step.

    Args:
        record, datestamp, listing: See `plan_record`.

    Returns:
        The manifest, and the path of each file → its content.
    """
    header, prefix = record.header, listing.metadata_prefix
    metadata: dict[str, Json] = {"identifier": header.identifier, "firstSeen": datestamp}
    if header.set_specs or not header.deleted:
        metadata["setSpec"] = list(header.set_specs)
    contents: dict[str, bytes] = {}
    if header.deleted:
        metadata |= {DELETED_VERSION: FIRST_VERSION, DELETED_DATE: datestamp}
    else:
        assert record.metadata is not None
        contents[prefix] = record.metadata
        about = about_content(record.about)
        if about is not None:
            contents[about_file(prefix)] = about
    version = Version(
        FIRST_VERSION,
        datestamp,
        _origin(datestamp, listing),
        files=tuple(contents),
        metadata_files=(prefix,) if contents else (),
        log=(_log_line(header, datestamp, listing),),
        digests={path: digest_of_bytes(content) for path, content in contents.items()},
    )
    manifest = Manifest(
        header.identifier, datestamp, FIRST_VERSION, (version,), metadata, revision=1
    )
    return manifest, contents


def _origin(datestamp: str, listing: Reception) -> Origin:
    return Origin(
        "harvest",
        prefixes={listing.metadata_prefix: datestamp},
        agent=listing.agent,
        message=listing.message + listing.remark,
        date=listing.now,
    )


def _log_line(header: Header, datestamp: str, listing: Reception) -> str:
    what = "deleted, " if header.deleted else ""
    return f"Harvested {listing.metadata_prefix}, {what}datestamp {datestamp}"


def about_file(metadata_prefix: str) -> str:
    """Return the name of the file with a record's about containers."""
    return f"{metadata_prefix}.about"


def about_content(about: Sequence[bytes]) -> bytes | None:
    """Return the about containers as one document: one as it is, several within ``<record>``."""
    if not about:
        return None
    return about[0] if len(about) == 1 else OAI_WRAPPER % b"\n".join(about)


def is_deletion(version: Version) -> bool:
    """Whether the version represents a harvested deletion."""
    return version.origin.kind == "harvest" and not version.paths


class _Planner:
    """Makes the plan of one record, without side effects."""

    def __init__(
        self,
        manifest: Manifest,
        record: Record,
        datestamp: str,
        listing: Reception,
        read_file: ReadFile,
    ) -> None:
        self.manifest = manifest
        self.record = record
        self.datestamp = datestamp
        self.listing = listing
        self.prefix = listing.metadata_prefix
        self.read_file = read_file
        harvested = [v for v in manifest.versions if v.origin.kind == "harvest"]
        self.harvested = harvested
        self.deletions = [version for version in harvested if is_deletion(version)]
        last = harvested.index(self.deletions[-1]) + 1 if self.deletions else 0
        self.living = harvested[last:]
        self.is_deleted = DELETED_VERSION in manifest.metadata

    # ------------------------------------------------------------------ live records

    def content(self) -> Plan:
        holder = None if self.is_deleted else self._holder()
        if holder is not None and self._is_same(holder):
            return Plan(Outcome.UNCHANGED, (*self._dated(holder), *self._noted()), writes=False)
        came_before = any(self.prefix in version.paths for version in self.harvested)
        outcome = Outcome.UPDATED if came_before or self.is_deleted else Outcome.NEW
        joined = None if self.is_deleted else self._joined()
        if joined is None:
            added = self._new_version()
            written: list[Action] = [added, *self._files(added.name)]
        else:
            written = [*self._dated(joined, self.listing.remark), *self._files(joined.name)]
        return Plan(outcome, (*written, *self._noted(), *self._undeleted()), writes=True)

    def _holder(self) -> Version | None:
        """Return the newest harvested version with this format since the last deletion."""
        return next((v for v in reversed(self.living) if self.prefix in v.paths), None)

    def _joined(self) -> Version | None:
        """Return the newest harvested version if it has the same datestamp and lacks the format."""
        newest = self.living[-1] if self.living else None
        if newest is None or self.prefix in newest.paths:
            return None
        dates = set(newest.origin.prefixes.values()) or {newest.date}
        return newest if self.datestamp in dates or self.listing.is_undated else None

    def _is_same(self, holder: Version) -> bool:
        """Whether the version has the same content.

        About containers are compared only if the datestamp is newer, because some repositories
        write the time of the response into ``about``.
        """
        assert self.record.metadata is not None
        if not self._same_file(holder, self.prefix, self.record.metadata):
            return False
        if self._date_in(holder) == self.datestamp or self.listing.is_undated:
            return True
        about, path = about_content(self.record.about), about_file(self.prefix)
        if about is None or path not in holder.paths:
            return about is None and path not in holder.paths
        return self._same_file(holder, path, about)

    def _same_file(self, holder: Version, path: str, content: bytes) -> bool:
        known = (holder.digests or {}).get(path)
        if known is not None and known.sha256 == hashlib.sha256(content).hexdigest():
            return True
        stored = self.read_file(holder.name, path)
        return stored is not None and same_content(stored, content)

    def _files(self, version: str) -> list[Action]:
        assert self.record.metadata is not None
        files: list[Action] = [PutFile(version, self.prefix, self.record.metadata, metadata=True)]
        about = about_content(self.record.about)
        if about is not None:
            files.append(PutFile(version, about_file(self.prefix), about, metadata=False))
        return files

    def _undeleted(self) -> list[Action]:
        keys = (DELETED_VERSION, DELETED_DATE)
        return [SetMetadata(key, None) for key in keys if key in self.manifest.metadata]

    # ------------------------------------------------------------------ deletions

    def deletion(self) -> Plan:
        if self.is_deleted:
            return Plan(Outcome.DELETED_BEFORE, self._deleted_again(), writes=False)
        if self.living and self._is_outlived():
            return Plan(Outcome.DELETED_BEFORE, tuple(self._noted()), writes=False)
        added = self._new_version()
        marks = (
            SetMetadata(DELETED_VERSION, added.name),
            SetMetadata(DELETED_DATE, self.datestamp),
        )
        return Plan(Outcome.DELETED, (added, *self._noted(), *marks), writes=True)

    def _is_outlived(self) -> bool:
        """Whether the record still exists in another format, and only this one was deleted.

        A deletion is of a record, which is an item in one format (section 2.5.1). Otherwise a
        list of another format would restore the record, and the next list of this one delete it
        again, with a new version each time.
        """
        others = [
            date
            for version in self.living
            for prefix, date in version.origin.prefixes.items()
            if prefix != self.prefix
        ]
        newest = max(others, default="")
        if self._holder() is not None:
            return newest > self.datestamp
        known = (deletion.origin.prefixes.get(self.prefix, "") for deletion in self.deletions)
        return newest >= self.datestamp or any(date >= self.datestamp for date in known)

    def _deleted_again(self) -> tuple[Action, ...]:
        actions: list[Action] = []
        noted = str(self.manifest.metadata.get(DELETED_DATE, ""))
        if self.datestamp > noted and not self.listing.is_undated:
            actions.append(SetMetadata(DELETED_DATE, self.datestamp))
        name = str(self.manifest.metadata[DELETED_VERSION])
        if self.manifest.has(name):
            actions += self._dated(self.manifest.version(name))
        return (*actions, *self._noted())

    # ------------------------------------------------------------------ both

    def _new_version(self) -> AddVersion:
        manifest = self.manifest
        curated = bool(manifest.current_version) and manifest.current.is_curated
        return AddVersion(
            next_version_number(manifest),
            self.datestamp,
            _origin(self.datestamp, self.listing),
            _log_line(self.record.header, self.datestamp, self.listing),
            move_cursor=not curated,
        )

    def _date_in(self, version: Version) -> str:
        return version.origin.prefixes.get(self.prefix, version.date)

    def _dated(self, version: Version, remark: str = "") -> list[Action]:
        """Note the format's datestamp in a version's origin, unless it is already there."""
        origin = version.origin
        known = origin.prefixes.get(self.prefix)
        is_known = known is not None if self.listing.is_undated else known == self.datestamp
        if is_known and not remark:
            return []
        dated = {**origin.prefixes, self.prefix: self.datestamp}
        noted = replace(origin, prefixes=dated, message=origin.message + remark)
        return [SetOrigin(version.name, noted)]

    def _noted(self) -> list[Action]:
        """Store the header in ``metadata``; a change of sets alone makes no version.

        Also remove the mark of a sweep, because the record is listed.
        """
        header: Header = self.record.header
        wanted: dict[str, Json] = {"identifier": header.identifier}
        wanted["firstSeen"] = self.manifest.metadata.get("firstSeen", self.datestamp)
        if header.set_specs or not header.deleted:
            wanted["setSpec"] = list(header.set_specs)
        known = self.manifest.metadata
        noted = [SetMetadata(k, v) for k, v in wanted.items() if k not in known or known[k] != v]
        return [*noted, SetMetadata(MISSING_SINCE, None)] if MISSING_SINCE in known else [*noted]
