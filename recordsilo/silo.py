"""Silo: records under one uri_base, in a pairtree (the 2010 class of that name)."""

import contextlib
import getpass
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar
from urllib.parse import unquote

from recordsilo import removals
from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import (
    Barrier,
    Staging,
    StrictBarrier,
    group_barrier,
    make_directory,
    replace_file,
)
from recordsilo.disk.full_disk import not_writable
from recordsilo.disk.identifier import check_identifier, not_text, unclean
from recordsilo.disk.locks import Locks
from recordsilo.disk.regular_file import regular_fd
from recordsilo.disk.unmounted_disks import unmounted_above
from recordsilo.errors import (
    VERSION_FILE,
    IdentifierError,
    IndexProblem,
    NotASilo,
    RecordGone,
    RecordNotFound,
    RecordRemoved,
    RecordSiloError,
    RevisionConflict,
    SeveralRecords,
    SiloNotFound,
    SiloNotWritable,
    SiloSettingConflict,
)
from recordsilo.harvesting import HarvestReceipt, update
from recordsilo.index import (
    Entry,
    Index,
    Row,
    SqliteIndex,
    project,
)
from recordsilo.index.catalogue import Catalogue, entry_of
from recordsilo.index.rows import stamped
from recordsilo.listing import Listing
from recordsilo.other_names import may_be_other_name, records_named
from recordsilo.records.batch import Batch, begun
from recordsilo.records.commit import commit, delete_record
from recordsilo.records.creation import Creation
from recordsilo.records.edit import RecordEdit
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.records.history import known_since
from recordsilo.records.manifest import Manifest, now_text
from recordsilo.records.place import RecordPlace
from recordsilo.state import PersistentState

logger = logging.getLogger("RecordSilo")
CREATED_FILE = ".silo/created"
"""Has the time at which the Silo was made; it may be deleted."""
VERSION_TEXT = (
    b"This directory conforms to Pairtree Version 0.1. Updated spec: "
    b"http://www.cdlib.org/inside/diglib/pairtree/pairtreespec.html"
)
_PAGE = re.compile(r"https?://[^/?#]+/(?:[^?#]*/)?records?/([^/?#]+)")
"""The address of a record's page, as it is copied from a browser."""
_HALF_MADE = re.compile(
    r"pairtree_root|\.silo|(pairtree_prefix|persisted_state\.json|pairtree_version0_1)(\..+\.tmp)?"
)
"""What an interrupted creation of a Silo may leave behind."""


def may_become_a_silo(directory: str) -> bool:
    """Whether a Silo can be created there: nothing exists, or only an interrupted creation.

    Raises:
        NotADirectoryError: It is a file.
    """
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return True
    return VERSION_FILE not in names and all(map(_HALF_MADE.fullmatch, names))


class Silo(Closing, Listing):
    """A directory of records that may be read, listed and changed by many processes at once.

        >>> silo = Silo("myrepo")
        >>> record = silo.get_item("oai:eprints.example.org:6102")
        >>> record.put_stream("oai_dc", "<dc><title>Solar cells</title></dc>", metadata=True)
        >>> len(silo), list(silo), "oai:eprints.example.org:6102" in silo
        (1, ['oai:eprints.example.org:6102'], True)
        >>> found = silo.search("solar", SearchFilters(flags={"curated": True}), ["format"])
        >>> found.total, found.rows[0].title, found.facets["format"]
        (1, 'Solar cells', (FacetValue(value='oai_dc', count=1),))

    ``silo[identifier]`` and `get_item` return a `HarvestedRecord`.

    Args:
        storage_dir: The directory; created if its parent exists.
        uri_base: What identifiers are relative to; ``"info:"`` for a new Silo.
        create: False opens an existing Silo only.
        agent: Who changes records through this handle, if a change does not name anyone;
            by default the operating system's user. Not stored.
        settings: Kept in ``state``; ``identifier_uri_prefix`` completes short
            identifiers, ``base_oai_url`` is where the records come from,
            ``hashing_type`` makes `HarvestedRecord.put_stream` return such a checksum.

    A setting of None does not change the stored value.

    Attributes:
        state: `PersistentState` with the settings and ``storage_dir`` as given here.
        path: The directory, absolute.

    Raises:
        SiloNotFound: The directory does not exist and is not created (``create`` is
            False, or its parent does not exist), or is where a disk is to be mounted that is not.
        NotASilo: The directory holds something else.
        SiloSettingConflict: A setting differs from the stored one.

    Source: docs/format.md; the interface of RecordSilo 0.4.16 (2010).
    """

    for_packages: ClassVar = frozenset({
        "around", "batch", "beginning", "changed_entries", "changes", "described", "editing",
        "for_packages", "found", "handle", "identified", "index_is_kept", "index_problems",
        "index_stamp", "page", "row", "rows", "selected", "set_years", "similar", "staging",
        "tell_removals", "unread", "unreported_problems", "version_count", "warm", "writing",
    })  # fmt: skip
    """Names that the other packages use, and that ``dir`` and the Tab key do not list."""

    def __init__(
        self,
        storage_dir: str,
        uri_base: str | None = None,
        *,
        create: bool = True,
        agent: str | None = None,
        **settings: Any,
    ) -> None:
        self.storage_dir = os.fspath(storage_dir)
        self.path = os.path.abspath(self.storage_dir)
        self._root = f"{self.path}/pairtree_root"
        given = {k: v for k, v in {"uri_base": uri_base, **settings}.items() if v is not None}
        if not os.path.exists(f"{self.path}/{VERSION_FILE}"):
            self._create(create, given)
        self.state = self._open_state(given)
        self.agent = agent or _user()
        self.staging = Staging(f"{self.path}/.silo/tmp", self.path)
        self._locks = Locks.of_silo(self.path, in_silo=True)
        self._catalogue = Catalogue(
            self.path,
            self._root,
            self._indexed_place,
            self._locks,
            self.staging,
            open_index=self._open_index,
        )

    # -- opening ------------------------------------------------------------------------

    def _create(self, create: bool, given: dict[str, Any]) -> None:
        """Create the Silo's files; the version file, which marks a Silo, comes last."""
        self._check_place(create)
        try:
            make_directory(self.path)
        except OSError as error:
            raise SiloNotFound.uncreated(self.storage_dir, error) from error
        with self.writing():
            make_directory(self._root)
            state = {"storage_dir": self.storage_dir, "uri_base": "info:", **given}
            replace_file(f"{self.path}/pairtree_prefix", str(state["uri_base"]).encode())
            kept = PersistentState(self.path, create=False)
            kept.state = state
            kept.sync()
            make_directory(f"{self.path}/.silo")
            replace_file(f"{self.path}/{CREATED_FILE}", now_text().encode())
            replace_file(f"{self.path}/{VERSION_FILE}", VERSION_TEXT)

    def _check_place(self, create: bool) -> None:
        if not os.path.isdir(self.path):
            if os.path.exists(self.path):
                raise NotASilo(self.storage_dir, may_be_new=create)
            if not create:
                raise SiloNotFound.at(self.storage_dir)
        elif not create or not may_become_a_silo(self.path):
            raise NotASilo(self.storage_dir, may_be_new=create)
        if point := unmounted_above(self.path):
            raise SiloNotFound.unmounted(self.storage_dir, point)

    def _open_state(self, given: dict[str, Any]) -> PersistentState:
        """The stored settings, with ``storage_dir`` as given now; new settings are added."""
        state = PersistentState(self.path, create=False)
        for key, value in given.items():
            if state.get(key) not in (None, value):
                raise SiloSettingConflict(self.storage_dir, key, state[key], value)
        added = {key: value for key, value in given.items() if key not in state}
        if "uri_base" not in state:
            added.setdefault("uri_base", self._pairtree_prefix())
        state.state = {"storage_dir": self.storage_dir, **state.state, **added}
        if added and os.access(self.path, os.W_OK):
            state.sync()
        state["storage_dir"] = self.storage_dir
        return state

    def _pairtree_prefix(self) -> str:
        try:
            with open(f"{self.path}/pairtree_prefix", encoding="utf-8", opener=regular_fd) as file:
                return file.read().strip() or "info:"
        except FileNotFoundError:
            return "info:"

    def _open_index(self, is_empty: Callable[[], bool]) -> Index:
        return SqliteIndex(f"{self.path}/.silo/index.sqlite", is_empty)

    def close(self) -> None:
        """Close the index and remove the staging directory.

        The Silo and its records can still be used: what they need is opened again.
        """
        self._catalogue.close()
        self.staging.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy it by its path: a copy, also in another process, opens the Silo again.

        Settings in ``state`` that are not stored stay behind.
        """
        return _opened_again, (type(self), self.path, self.agent)

    def __dir__(self) -> list[str]:
        """The names for people; those of `for_packages` can be used, too."""
        return sorted({*super().__dir__()} - self.for_packages)

    def __repr__(self) -> str:
        """Its directory and what it was harvested from; nothing is read or counted for it."""
        source = self.state.get("base_oai_url")
        return f"<Silo {self.storage_dir!r}{f', harvested from {source}' if source else ''}>"

    def _repr_html_(self) -> str | None:
        from recordsilo.overview import overview  # noqa: PLC0415 - for notebooks only

        return overview(self).to_html(f"Silo {self.storage_dir}")

    # -- finding ------------------------------------------------------------------------

    def _place(self, identifier: str) -> RecordPlace:
        return RecordPlace.below(self._root, identifier)

    def _indexed_place(self, identifier: str) -> RecordPlace:
        """Where the index reads a record: always as it is now."""
        return self._place(identifier)

    def _candidates(self, identifier: str, *, only_full: bool = False) -> Iterator[str]:
        """The forms an identifier may be stored under: as given, then with each prefix."""
        yield check_identifier(identifier)
        seen = {""}
        for key in () if only_full else ("identifier_uri_prefix", "uri_base"):
            prefix = self.state.get(key)
            if isinstance(prefix, str) and prefix not in seen:
                seen.add(prefix)
                yield prefix + identifier

    def _read(self, identifier: str, *, only_full: bool = False) -> HarvestedRecord | None:
        for form in self._candidates(identifier, only_full=only_full):
            place = self._place(form)
            if (manifest := place.read_manifest()) is not None:
                return self._handle(place, manifest)
        return None

    def _handle(self, place: RecordPlace, manifest: Manifest | None, **how: Any) -> HarvestedRecord:
        return HarvestedRecord(self, place, manifest, **how)

    def handle(self, manifest: Manifest) -> HarvestedRecord:
        """A record as it was read before, for example in another process.

        Args:
            manifest: Its state then.
        """
        return self._handle(self._place(manifest.item_id), manifest)

    def _find(self, identifier: str, *, only_full: bool = False) -> str | None:
        for form in self._candidates(identifier, only_full=only_full):
            place = self._place(form)
            if place.exists():
                return form
            place.read_manifest()  # raises if versions exist without one
        return None

    def exists(self, identifier: str) -> bool:
        """Whether the record exists, under its full or its short identifier."""
        return self._find(identifier) is not None

    has_key = exists

    def __contains__(self, identifier: object) -> bool:
        """Whether the record exists; what is not text is none, but a number is refused.

        Raises:
            IdentifierError: It is a number, such as 3002 for ``"3002"``.
        """
        if not isinstance(identifier, str):
            if isinstance(identifier, int):
                raise not_text(identifier)
            return False
        try:
            return self.exists(identifier)
        except IdentifierError:
            return False

    def resolve(self, text: str) -> str:
        """The full identifier of a record named in full, short, in its URL form, or by its page.

        A DOI, a handle and the address of its page at the source will do, too; see `other_names`.

        Raises:
            RecordNotFound: The Silo has no such record in any form; RecordRemoved if
                it was deleted here; SeveralRecords if a DOI or an address is of several.
        """
        with contextlib.suppress(IdentifierError):
            if found := self._find(text):
                return found
            if found := self._find(unclean(text)):
                return found
        with contextlib.suppress(IdentifierError):
            page = _PAGE.match(text)
            if page and (found := self._find(unclean(unquote(page[1])))):
                return found
        if may_be_other_name(text) and (named := records_named(self, text)):
            if len(named) > 1:
                raise SeveralRecords(text, self.storage_dir, named)
            return named[0]
        if self._was_removed(text):
            raise RecordRemoved(text, self.storage_dir)
        raise RecordNotFound(text, self.storage_dir, self.similar)

    def _form_removed(self, identifier: str, *, only_full: bool) -> str | None:
        """The form of an identifier under which a record was removed for good."""
        removed = self.removed()
        forms = self._candidates(identifier, only_full=only_full)
        return next((form for form in forms if form in removed), None)

    def _was_removed(self, text: str) -> bool:
        forms: set[str] = set()
        for read in (str, unclean):
            with contextlib.suppress(IdentifierError):
                forms.update(self._candidates(read(text)))
        return not self.removed().isdisjoint(forms)

    def __getitem__(self, identifier: str) -> HarvestedRecord:
        if (found := self._read(identifier)) is not None:
            return found
        raise RecordNotFound(identifier, self.storage_dir, self.similar)

    def get(self, identifier: str, default: Any = None) -> Any:
        """The record, or ``default`` if there is no such record."""
        try:
            return self[identifier]
        except RecordNotFound:
            return default

    def get_item(
        self,
        identifier: str,
        date: datetime | str | None = None,
        force: bool = False,
        startversion: str = "1",
    ) -> HarvestedRecord:
        """A handle on a record, which need not exist yet.

        A new record gets an empty version ``startversion``; only the first change, or
        `HarvestedRecord.sync`, writes it. That raises `RecordRemoved` if the record was removed
        here for good (``remember=True``, `silo rm`, the page), also under its short identifier,
        until `restore_removed`.

        Args:
            identifier: In full, or without ``identifier_uri_prefix``; a full match wins,
                and a record found under neither is created as given.
            date: Date of a new record's first version; by default now.
            force: Take the identifier as given, without trying prefixes.
            startversion: Name of a new record's first version.

        Raises:
            IdentifierError: The identifier is invalid.
            ManifestUnreadable: The record is damaged.
        """
        found = self._find(identifier, only_full=force)
        removed = None if found else self._form_removed(identifier, only_full=force)
        place = self._place(found or removed or identifier)
        manifest = None if found is None else place.read_manifest()
        return self._handle(place, manifest, date=date, startversion=startversion)

    # -- changing -----------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Raise `SiloNotWritable` if the Silo's disk refuses what the block writes."""
        try:
            yield
        except (OSError, IndexProblem, sqlite3.Error) as error:
            if isinstance(error, SiloNotWritable):
                raise
            if (ours := not_writable(self.storage_dir, error)) is None:
                raise
            raise ours from error

    @contextlib.contextmanager
    def editing(self, identifier: str, *, if_revision: int | None = None) -> Iterator[RecordEdit]:
        """A record's `RecordEdit` under its lock; leaving the block commits it, strictly durable.

        Raises:
            RevisionConflict: The record is not at ``if_revision`` (0: does not exist yet).
            RecordRemoved: It would be made anew, but was removed here for good; see
                `restore_removed`.
            SiloNotWritable: The disk is read-only or full.
        """
        with self.writing(), self._locks.hold([identifier]):
            barrier = StrictBarrier()
            edit = self._edit(identifier, barrier)
            edit.agent = self.agent
            try:
                found = edit.before.revision if edit.before else 0
                if if_revision is not None and found != if_revision:
                    raise RevisionConflict(identifier, if_revision, found)
                yield edit
                if edit.before is None and identifier in self.removed():
                    raise RecordRemoved(identifier, self.storage_dir)
            except BaseException:
                edit.discard()
                raise
            self._commit([edit], barrier, durable=True)

    @contextlib.contextmanager
    def batch(self, identifiers: Iterable[str], *, agent: str = "") -> Iterator[Batch]:
        """Change several records as one group with one barrier, for a page of a harvest.

        Holds the locks of all of them. Leaving the block commits the edits and returns
        once they are on the medium; leaving it by an exception commits nothing.
        """
        wanted = list(dict.fromkeys(check_identifier(i) for i in identifiers))
        with self.writing(), self._locks.hold(wanted):
            barrier = group_barrier(self.path)
            found = Batch(wanted, self._place, self.staging, barrier, agent)
            try:
                yield found
            except BaseException:
                for change in found.changes:
                    change.discard()
                raise
            for edit in found.edits:
                edit.agent = agent or self.agent
            self._commit(found.changes, barrier, durable=False)

    def _edit(self, identifier: str, barrier: Barrier) -> RecordEdit:
        return begun(self._place(check_identifier(identifier)), self.staging, barrier)

    def _commit(
        self, changes: Sequence[RecordEdit | Creation], barrier: Barrier, *, durable: bool
    ) -> None:
        changed = [one for one in changes if one.changed]
        for one in changes:
            if not one.changed:
                one.discard()
        if not changed:
            return
        try:
            for one in changed:
                one.seal()
            entries = [one if isinstance(one, Creation) else _projected(one) for one in changed]
            self._catalogue.before_write((one.identifier for one in changed), durable=durable)
        except BaseException:
            for one in changed:
                one.discard()
            raise
        commit(changed, barrier)
        self._catalogue.after_write(
            stamped(one.state.row, one.stamp) if isinstance(one, Creation) else one
            for one in entries
            if one is not None
        )

    def del_item(
        self,
        identifier: str,
        *,
        remember: bool = False,
        agent: str = "",
        message: str = "",
        if_revision: int | None = None,
    ) -> None:
        """Delete a record with all its versions; records nested below its path stay.

        Args:
            identifier: In full or short.
            remember: Whether later harvests skip the record, until `restore_removed`.
            agent: Who deletes it; kept if ``remember``.
            message: Why; kept if ``remember``.
            if_revision: Delete only if the record is at this revision.

        Raises:
            RecordNotFound: The Silo has no such record.
            RevisionConflict: It is not at ``if_revision``; nothing is deleted.
        """
        found = self._find(identifier)
        if found is None:
            raise RecordNotFound(identifier, self.storage_dir, self.similar)
        with self.writing(), self._locks.hold([found]):
            place = self._place(found)
            manifest = place.read_manifest()
            if manifest is None:
                raise RecordGone(found, self.storage_dir)
            if if_revision is not None and manifest.revision != if_revision:
                raise RevisionConflict(found, if_revision, manifest.revision)
            self._catalogue.before_write([found], durable=True)
            try:
                if remember:
                    title = listed.title if (listed := self._row_of(found)) else ""
                    made = known_since(manifest)
                    with self._locks.hold_name("removed"):
                        removals.note_removed(
                            self.path,
                            found,
                            agent or self.agent,
                            message,
                            since=made[0] if made[1] else "",
                            title=title,
                        )
                delete_record(place, StrictBarrier(), self.staging)
            except BaseException:
                if remember and place.exists():
                    with contextlib.suppress(OSError):
                        self.restore_removed([found])
                raise
            self._catalogue.after_delete(found)
        if remember:
            self.tell_removals()

    def _row_of(self, identifier: str) -> Row | None:
        """The row of a record; None if the index cannot tell now."""
        try:
            return self._catalogue.rows([identifier]).get(identifier)
        except IndexProblem:
            return None

    def tell_removals(self) -> None:
        """Let packages deal with the permanent removals that they have not dealt with.

        `del_item` does this; it is needed only if the process was killed in between.
        """
        if removals.is_behind(self.path):
            try:
                removals.catch_up(self.path, self._locks)
            except OSError as error:  # for example a full disk; the next call does it
                logger.warning("what follows from a removal waits for the next command: %s", error)

    __delitem__ = del_item

    def removed(self) -> frozenset[str]:
        """Identifiers of the records that later harvests skip."""
        return removals.read_removed(self.path)

    def restore_removed(self, identifiers: Iterable[str] | None = None) -> None:
        """Let later harvests store these records again, or all that were removed.

        They can then be made anew here, too.
        """
        with self.writing(), self._locks.hold_name("removed"):
            known = removals.read_removed(self.path)
            for identifier in sorted(known if identifiers is None else known & set(identifiers)):
                removals.note_restored(self.path, identifier, self.agent)

    def update(self, *, quiet: bool = False, **options: Any) -> HarvestReceipt:
        """Harvest what has changed since the last harvests, and resume those that were stopped.

            >>> receipt = recordsilo.open("myrepo").update()

        Args:
            quiet: Show no progress; it is shown in a terminal and in a notebook.
            options: Those of `oaipmhscraper.OAIPMHScraper.update`.

        Returns:
            An `oaipmhscraper.Receipt`. Check its ``whole``.

        Raises:
            ArgumentUnknown: There is no such option.
            NothingToUpdate: Nothing was harvested before.
            HarvestStopped: A list broke off; it has the receipt so far.
        """
        with self.writing():
            return update(self.path, quiet=quiet, **options)

    # -- listing ------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        """Identifiers, by code point; records added meanwhile may be missing."""
        return (row.identifier for row in self.found())

    list_items = __iter__

    def keys(self) -> list[str]:
        """All identifiers, by code point."""
        return list(self)

    def iteritems(self) -> Iterator[HarvestedRecord]:
        """The records, in the order of their identifiers, without those deleted meanwhile."""
        for identifier in self:
            with contextlib.suppress(RecordNotFound):
                yield self[identifier]

    values = iteritems

    def items(self) -> Iterator[tuple[str, HarvestedRecord]]:
        """(identifier, record) pairs, in the order of identifiers."""
        return ((record.item_id, record) for record in self.iteritems())

    def row(self, identifier: str) -> Row:
        """A record as lists show it.

        Raises:
            RecordNotFound: The Silo has no such record.
        """
        found = self._find(identifier)
        if found is None:
            raise RecordNotFound(identifier, self.storage_dir, self.similar)
        if listed := self._catalogue.rows([found]):
            return listed[found]
        place = self._place(found)  # new, and not indexed yet
        manifest = place.read_manifest()
        if manifest is None:
            raise RecordGone(found, self.storage_dir)
        return entry_of(place, manifest).row

    def rows(self, identifiers: Iterable[str]) -> dict[str, Row]:
        """Records as lists show them, looked up together.

        Args:
            identifiers: Full ones are fast; others are looked up each by itself.

        Returns:
            Identifier as given → row, in the same order; names without a record are omitted.
        """
        named = tuple(dict.fromkeys(identifiers))
        listed, found = self._catalogue.rows(named), {}
        for one in named:
            with contextlib.suppress(RecordNotFound):
                found[one] = listed.get(one) or self.row(one)
        return found


def open_existing(directory: str | os.PathLike[str], *, agent: str | None = None) -> Silo:
    """Open the Silo in a directory, and never make one; this is ``recordsilo.open``.

        >>> silo = recordsilo.open("myrepo")

    Args:
        agent: Who changes records through it; see `Silo`.

    Raises:
        SiloNotFound: There is none; the sentence names Silos beside it with a similar name.
        NotASilo: The directory holds something else.
    """
    return Silo(os.fspath(directory), create=False, agent=agent)


def _opened_again(kind: type[Silo], path: str, agent: str) -> Silo:
    """Open the Silo that was pickled or copied."""
    return kind(path, create=False, agent=agent)


def _projected(edit: RecordEdit) -> Entry | None:
    """The index entry of a record as it will be once committed.

    Returns:
        None if one of its files cannot be read now (for example, too many open files). The
        note that the record is about to change is kept, and the next reader indexes it.
    """
    failures: list[Exception] = []

    def read(version: str, path: str) -> bytes:
        try:
            return edit.read(version, path)
        except (OSError, RecordSiloError) as error:
            failures.append(error)
            raise

    entry = project(edit.manifest, read)
    return None if failures else entry


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in the password database of a container
        return f"uid {os.getuid()}"
