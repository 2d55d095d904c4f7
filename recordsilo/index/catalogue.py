"""The catalogue of a Silo: keeps its index in step with the records, and queries it.

A missing, damaged or outdated index is rebuilt from the manifests. Writers never wait for
the index.
"""

import contextlib
import itertools
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from recordsilo.contributions import warn_once
from recordsilo.disk.atomic_file import Staging
from recordsilo.disk.full_disk import is_full_disk
from recordsilo.disk.locks import Locks
from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.disk.walk import walk_records
from recordsilo.errors import IndexProblem, SearchError, SiloGone
from recordsilo.index.facets import (
    Facet,
    additions_to,
    contributed_names,
    facet_named,
    facet_names,
)
from recordsilo.index.interface import Index, IndexLost, OpenIndex
from recordsilo.index.projection import Entry, ManifestStamp, Row, Unread
from recordsilo.index.query import Filters, Page
from recordsilo.index.record_reading import entry_of, read_chunks, read_or_not, state_of
from recordsilo.index.rows import Prepared
from recordsilo.index.search_values import (
    Around,
    PageRequest,
    ResultPage,
    SearchFilters,
)
from recordsilo.index.typed_filters import filters_within
from recordsilo.progress import logging_count
from recordsilo.records.commit import sweep_absent
from recordsilo.records.place import RecordPlace

if TYPE_CHECKING:
    from recordsilo.index.changes import Changes

logger = logging.getLogger("RecordSilo")
__all__ = ["Catalogue", "entry_of"]
T = TypeVar("T")
_CHUNK = 1000
_ATTEMPTS = 3
_TRIED = 100
"""How many unread records are looked at again before each answer (about 0.2 ms)."""
_PARTIAL_EVERY = 60.0
"""Seconds after which so many records are looked at of which a file could not be read (20 ms)."""


class Catalogue:
    """The index of one Silo as lists, counts and searches use it.

    Args:
        path: The Silo's directory.
        root: Its ``pairtree_root``.
        place_of: Identifier → the record's place.
        locks: The locks of the records.
        open_index: Opens the index, which the catalogue closes.
    """

    def __init__(
        self,
        path: str,
        root: str,
        place_of: Callable[[str], RecordPlace],
        locks: Locks,
        staging: Staging,
        *,
        open_index: OpenIndex,
    ) -> None:
        self._path, self._root = path, root
        self._place_of, self._locks, self._staging = place_of, locks, staging
        self._index = open_index(self._holds_nothing)
        self._untold = False
        self._tried = ""
        self._partial_tried, self._partial_due = "", float("-inf")

    def close(self) -> None:
        """Close the index; a later use opens it again."""
        self._index.close()

    @property
    def is_kept(self) -> bool:
        """Whether changes of the index are kept in its file."""
        return not self._index.is_private

    # -- for writers ----------------------------------------------------------------------

    def before_write(self, identifiers: Iterable[str], *, durable: bool) -> None:
        """Note the records that are about to change, under their locks."""
        self._index.note_unsettled(identifiers, durable=durable)

    def after_write(self, entries: Iterable[Entry | Prepared]) -> None:
        """Store the new entries of changed records, under their locks; or those prepared."""
        self._index.settle(map(self._stamped, entries))

    def after_delete(self, identifier: str) -> None:
        """Remove a deleted record, under its lock."""
        self._index.settle([], gone=[identifier])

    def _stamped(self, entry: Entry | Prepared) -> tuple[Entry, ManifestStamp] | Prepared:
        if isinstance(entry, Prepared):
            return entry
        directory = self._place_of(entry.row.identifier).dirpath
        return entry, ManifestStamp.of(f"{directory}/{MANIFEST_NAME}")

    # -- for readers ----------------------------------------------------------------------

    def ask(self, question: Callable[[Index], T]) -> T:
        """Query the index once it is complete and in step; a damaged one is rebuilt first.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        try:
            return question(self._ready())
        except IndexLost:
            return question(self._ready())

    def page(
        self,
        filters: Filters,
        limit: int,
        *,
        after: str | None,
        before: str | None,
        starting: str | None,
    ) -> Page:
        """A page of the list, with rows that match the current manifests.

        Args:
            filters: Which records.
            limit: The largest number of rows.
            after: Only identifiers greater than this one.
            before: Only identifiers less than this one, the nearest ``limit``.
            starting: Only this identifier and those greater.
        """

        return self._listed(
            lambda index: index.page(filters, limit, after=after, before=before, starting=starting),
            lambda found: found.rows,
        )

    def neighbours(self, identifier: str, filters: Filters, limit: int) -> tuple[Row, ...]:
        """The records of a list around one, as in the current manifests; see `Index.neighbours`."""

        return self._listed(
            lambda index: index.neighbours(identifier, filters, limit), lambda found: found
        )

    def search(
        self, words: str, filters: SearchFilters, facets: Sequence[str], page: PageRequest
    ) -> ResultPage:
        """Find records, with rows that match the current manifests.

        Args:
            words: As typed.
            facets: The fields whose values are counted.
            page: Which part of the result, and its order.
        """
        words, filters = filters_within(words, filters)
        needed = (*filters.fields, (page.sort or "").removeprefix("-"))
        beside = self._contributed(needed, facets)

        return self._listed(
            lambda index: index.search(words, filters, facets, page, beside=beside),
            lambda found: found.rows,
        )

    def _listed(self, question: Callable[[Index], T], rows_of: Callable[[T], Iterable[Row]]) -> T:
        """Ask for a list, and again if a manifest of its records was replaced by other programs."""
        self._untold = True
        found = self.ask(question)
        return self.ask(question) if self._catch_up(rows_of(found)) else found

    def warm(self) -> None:
        """See `Index.warm`; does nothing if the index has to be rebuilt first."""
        if self._index.complete:
            self.ask(lambda index: index.warm())

    def around(
        self, identifier: str, words: str, filters: SearchFilters, sort: str | None
    ) -> Around | None:
        """Where a record stands in a search; see `Index.around`."""
        words, filters = filters_within(words, filters)
        beside = self._contributed((*filters.fields, (sort or "").removeprefix("-")), ())
        return self.ask(lambda index: index.around(identifier, words, filters, sort, beside=beside))

    def _contributed(self, needed: Sequence[str], counted: Sequence[str]) -> list[str]:
        """Bring the contributed facets that a search uses in step; return their names.

        Raises:
            SearchError: A facet that filters or sorts is broken. One that is only counted
                keeps its previous values, and the error is logged.
            IndexProblem: The values of a facet that filters or sorts cannot be written, for
                example because the disk is full. For one that is only counted, see above.
        """
        found = []
        names = dict.fromkeys((*needed, *counted))
        for name in names:
            facets = list(additions_to(name))
            if name in contributed_names():
                found.append(name)
                try:
                    facets.append(facet_named(name))
                except SearchError as error:
                    if name in needed:
                        raise
                    warn_once(str(error))
            for facet in facets:
                found.append(facet.name)
                try:
                    self._bring_in_step(facet)
                except (SearchError, IndexProblem) as error:
                    if facet.name in needed:
                        raise
                    warn_once(str(error))
        return list(dict.fromkeys(found))

    def _bring_in_step(self, facet: Facet) -> None:
        """Read a facet's changed values.

        Raises:
            SearchError: Its package fails.
        """
        if not self.ask(lambda index: index.is_in_step(facet, self._path)):
            with self._hold(f"facet {facet.name}"):
                if not self.ask(lambda index: index.is_in_step(facet, self._path)):
                    self.ask(lambda index: index.bring_in_step(facet, self._path))

    def rows(self, identifiers: Sequence[str]) -> dict[str, Row]:
        """Record → its row; records that are not in the index are omitted."""

        def ask(index: Index) -> dict[str, Row]:
            return index.rows(identifiers)

        found = self.ask(ask)
        return self.ask(ask) if found and self._catch_up(found.values()) else found

    def changes(self, mark: str, *, contributed: bool) -> "Changes":
        """See `Index.changes_since`; contributed values are brought in step first, if asked."""
        if contributed:
            self._contributed((), facet_names())
        return self.ask(lambda index: index.changes_since(mark))

    def entries(self, changes: "Changes") -> Iterator[tuple[int, Entry]]:
        """The written records of some changes, each with its number; see `Index.next_entries`.

        Raises:
            IndexProblem: The index was rebuilt meanwhile.
        """
        try:
            while found := self._index.next_entries(changes):
                yield from found
        except LookupError as error:
            raise IndexProblem(self._path, str(error)) from error

    def stamp(self) -> object | None:
        """See `Index.stamp`."""
        return self._index.stamp()

    def problems(self) -> list[tuple[str, str]]:
        """(path, sentence) for each path or record that cannot be read, sorted by path."""
        self._untold = False
        return self.ask(lambda index: index.problems())

    def unreported_problems(self) -> list[tuple[str, str]]:
        """`problems` if records were listed since the last call of this, else ``[]``."""
        return self.problems() if self._untold else []

    def _catch_up(self, rows: Iterable[Row]) -> bool:
        """Index records again whose manifests were replaced by other programs.

        For example by a restore from a backup, or by ``rsync``.

        Returns:
            Whether there were any.
        """
        identifiers = [row.identifier for row in rows]
        known = self.ask(lambda index: index.stamps(identifiers))
        return self._index_again(i for i, stamp in known.items() if not self._is_as(i, stamp))

    def _is_as(self, identifier: str, indexed: ManifestStamp) -> bool:
        """Whether a record's manifest is the one that was indexed.

        A Silo that cannot be written may be a copy: its files have other inodes, and some
        programs that copy keep whole seconds only.
        """
        now = self._stamp_of(identifier)
        if now == indexed or now is None or not self._index.is_private:
            return now == indexed
        seconds = indexed.mtime_ns - indexed.mtime_ns % 1_000_000_000
        return now.size == indexed.size and now.mtime_ns in (indexed.mtime_ns, seconds)

    def _stamp_of(self, identifier: str) -> ManifestStamp | None:
        try:
            return ManifestStamp.of(f"{self._place_of(identifier).dirpath}/{MANIFEST_NAME}")
        except OSError:
            return None

    def _ready(self) -> Index:
        """The index, complete and in step with every finished write.

        On a full disk, a write may have deleted it; then it is made again, in memory if need be.
        """
        for _ in range(_ATTEMPTS):
            self._complete()
            self._index_again(self._index.unsettled())  # those whose writers have died
            self._try_unread()
            self._try_partial()
            if self._index.complete:
                break
        return self._index

    def _complete(self) -> None:
        """Rebuild the index if it is not complete."""
        if self._index.complete:
            return
        with self._hold("reindex"):
            if not self._index.complete:  # otherwise another process completed it meanwhile
                logger.info("indexing %s", self._path)
                progress = logging_count(f"indexing {self._path}", logger)
                try:
                    self._rebuild(progress)
                except IndexProblem as error:
                    if not is_full_disk(error):
                        raise
                    self._index.take_refuge()
                    self._rebuild(progress)

    def _try_unread(self) -> None:
        """Index unread records again whose manifests were mended; looks at some, in turn."""
        some = self._index.unread(self._tried, _TRIED)
        self._tried = some[-1].identifier if len(some) == _TRIED else ""
        self._index_again(
            one.identifier for one in some if state_of(self._place_of(one.identifier)) != one.state
        )

    def _try_partial(self) -> None:
        """Now and then, describe some records again of which a file could not be read, in turn."""
        if time.monotonic() >= self._partial_due:
            self._partial_due = time.monotonic() + _PARTIAL_EVERY
            self._partial_tried = self._mend_partial(self._partial_tried, _TRIED)

    def _mend_partial(self, after: str, limit: int) -> str:
        """Index those of these records again whose files can be read now; returns the last one."""
        some = self._index.partial(after, limit)
        self._index_again(name for name in some if self._is_whole(name))
        return some[-1] if len(some) == limit else ""

    def _is_whole(self, identifier: str) -> bool:
        found = read_or_not(self._place_of(identifier))
        return isinstance(found, tuple) and not isinstance(found, Unread) and found[0].is_whole

    def _index_again(self, identifiers: Iterable[str]) -> bool:
        """Index records again that nobody is writing; returns whether there were any."""
        done = False
        is_private = self._index.is_private  # then no lock file can be created
        for identifier in identifiers:
            lock = (
                contextlib.nullcontext(True) if is_private else self._locks.hold_if_free(identifier)
            )
            with lock as free:
                if free:
                    self._index_one(identifier)
                    done = True
        return done

    def _holds_nothing(self) -> bool:
        try:
            with os.scandir(self._root) as entries:
                return next(entries, None) is None
        except FileNotFoundError:
            raise SiloGone(self._path) from None

    # -- reading records --------------------------------------------------------------------

    def _index_one(self, identifier: str) -> None:
        """Read a record again, under its lock."""
        place = self._place_of(identifier)
        found = read_or_not(place)
        if isinstance(found, Unread):
            self._index.note_unread([found])
        elif found is None:
            with contextlib.suppress(OSError):
                sweep_absent(place, self._staging)
            self._index.settle([], gone=[identifier])
        else:
            self._index.settle([found])

    def reindex(self, progress: Callable[[int], None] | None = None) -> int:
        """Bring the index in step with all manifests.

        Records whose manifests have not changed since they were indexed are not read again,
        so a run continues where an interrupted one stopped; but for those of which a file could
        not be read then. Readers and writers are not blocked; memory does not grow with the Silo.

        Args:
            progress: Called with the number of records examined so far.

        Returns:
            The number of records in the index.
        """
        with self._hold("reindex"):
            try:
                records = self._rebuild(progress)
            except IndexLost:
                records = self._rebuild(progress)
        after = self._mend_partial("", _CHUNK)
        while after:
            after = self._mend_partial(after, _CHUNK)
        return records

    def _hold(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Hold the lock of a rebuild; a private index needs none."""
        if self._index.is_private:
            return contextlib.nullcontext()
        return self._locks.hold_name(name)

    def _rebuild(self, progress: Callable[[int], None] | None) -> int:
        while (records := self._rebuild_once(progress)) is None:
            logger.warning(
                "the index %s was replaced during a rebuild; rebuilding it again", self._path
            )
        return records

    def _rebuild_once(self, progress: Callable[[int], None] | None) -> int | None:
        ticket = self._index.begin_rebuild()
        done = ours = 0
        asked: deque[_BeingRead] = deque()

        def changed() -> Iterator[Sequence[str]]:
            for chunk in _chunks(walk_records(self._root, self._index.note_problem), _CHUNK):
                identifiers = self._not_as_indexed(chunk)
                asked.append(_BeingRead(len(chunk), self._index.changes() - ours))
                yield identifiers

        for read in read_chunks(self._place_of, self._root, changed()):
            chunk = asked.popleft()
            if read.unread:
                self._index.note_unread(read.unread)
                ours += 1
            if read.found:
                before = self._index.take_in(read.found)
                if before - ours != chunk.changes_of_others:
                    self._note_moved(read.found)
                ours += 1
            done += chunk.size
            if progress:
                progress(done)
        return self._index.end_rebuild(ticket)

    def _not_as_indexed(self, identifiers: Sequence[str]) -> list[str]:
        """The records that are missing from the index, or differ from their manifests."""
        known = self._index.stamps(identifiers)
        stamps = {i: stamp for i in known if (stamp := self._stamp_of(i)) is not None}
        same = self._index.confirm(stamps) if stamps else set()
        return [identifier for identifier in identifiers if identifier not in same]

    def _note_moved(self, written: Iterable[Prepared]) -> None:
        """Note records whose manifests changed after they were read; the next reader indexes them.

        Records are read without their locks. A writer between our read and our write stored
        its rows before ours, and the index counts such changes; a later writer stores its
        rows after ours.
        """
        moved = [
            one.identifier
            for one in written
            if self._stamp_of(one.identifier) != ManifestStamp(*one.stamp)
        ]
        if moved:
            self._index.note_unsettled(moved, durable=False)


@dataclass(frozen=True, slots=True)
class _BeingRead:
    """Records that are being read.

    Attributes:
        changes_of_others: The number of changes that others had written to the index before.
    """

    size: int
    changes_of_others: int


def _chunks(identifiers: Iterator[str], size: int) -> Iterator[list[str]]:
    while chunk := list(itertools.islice(identifiers, size)):
        yield chunk
