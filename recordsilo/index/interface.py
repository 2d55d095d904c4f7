"""The interface of an index; a Silo works with any engine that implements it.

`recordsilo.index.database.SqliteIndex` is the one in use. Another engine must pass
tests/recordsilo/index_conformance.py, and `Silo._open_index` must return it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from recordsilo.errors import IndexProblem
from recordsilo.index.facets import Facet
from recordsilo.index.projection import Described, Entry, ManifestStamp, Row, Unread
from recordsilo.index.query import Filters, Page, Titled
from recordsilo.index.rows import Prepared
from recordsilo.index.search_values import (
    Around,
    PageRequest,
    ResultPage,
    SearchFilters,
    Suggestion,
)

if TYPE_CHECKING:
    from recordsilo.index.changes import Changes


class IndexLost(IndexProblem):
    """The index was damaged and is empty now; rebuild it, then query it again."""


class Index(Protocol):
    """The index of one Silo: lists, counts and searches, kept in step by `Catalogue`.

    The manifests are authoritative. An index may be lost at any time and is then incomplete
    until it is rebuilt from them. Several processes and threads may use one at once; each
    answer is one snapshot.

    Every method may raise `IndexProblem` if the index cannot be used now (busy, disk
    full), and `IndexLost`; `note_unsettled` and `settle` never do.
    """

    # -- state ----------------------------------------------------------------------------

    @property
    def is_private(self) -> bool:
        """Whether what changes is this object's own, because the directory is not writable."""

    @property
    def complete(self) -> bool:
        """Whether every record has been indexed since the index was created."""

    def stamp(self) -> object | None:
        """A value that changes with every write; None if a write may not change it now."""

    def close(self) -> None:
        """Release files and memory; a later use opens the index again."""

    def take_refuge(self) -> None:
        """Go on in memory for some minutes, or until a record is written: the disk is full."""

    # -- writers, under the locks of their records ------------------------------------------

    def note_unsettled(self, identifiers: Iterable[str], *, durable: bool) -> None:
        """Note the records that are about to change, before their manifests do.

        Args:
            durable: Return only when the notes are on the medium.
        """

    def settle(
        self, entries: Iterable[tuple[Entry, ManifestStamp] | Prepared], gone: Iterable[str] = ()
    ) -> None:
        """Store the entries of changed records, and remove those ``gone`` and all their notes."""

    def note_unread(self, found: Iterable[Unread]) -> None:
        """Keep records whose manifests cannot be read as they were last read, with that finding.

        Those of which nothing was read are known by their identifiers alone. A record is
        unread until it is settled, taken in or removed.
        """

    def unread(self, after: str = "", limit: int | None = None) -> list[Unread]:
        """The records whose manifests cannot be read, by identifier.

        Args:
            after: Only identifiers greater than this one.
            limit: The largest number of records; None for all.
        """

    def partial(self, after: str, limit: int) -> list[str]:
        """The records of which a metadata file could not be read, by identifier.

        Args:
            after: Only identifiers greater than this one.
            limit: The largest number of records.
        """

    def unsettled(self) -> list[str]:
        """The records with a note: those being written, and those left by a killed writer."""

    # -- readers --------------------------------------------------------------------------

    def rows(self, identifiers: Sequence[str]) -> dict[str, Row]:
        """Record → the record as lists show it, without unknown records."""

    def described(self, identifiers: Sequence[str]) -> dict[str, Described]:
        """Record → its description for lists, without unknown records.

        The facets are the store's own that have texts as values.
        """

    def abstracts(self, identifiers: Sequence[str]) -> dict[str, str]:
        """Record → the beginning of its abstract; without records that have none."""

    def identified(self, spellings: Sequence[str]) -> list[str]:
        """The records among whose identifiers is one of these texts; case does not count."""

    def stamps(self, identifiers: Sequence[str]) -> dict[str, ManifestStamp]:
        """Record → the stamp of the manifest that was indexed.

        Unknown and unread records are omitted.
        """

    def page(
        self,
        filters: Filters,
        limit: int,
        *,
        after: str | None = None,
        before: str | None = None,
        starting: str | None = None,
    ) -> Page:
        """A page of the list, by identifier.

        Args:
            filters: Which records.
            limit: The largest number of rows.
            after: Only identifiers after this one.
            before: Only identifiers before this one, the nearest ``limit`` of them.
            starting: Only this identifier and those after it.
        """

    def neighbours(self, identifier: str, filters: Filters, limit: int) -> tuple[Row, ...]:
        """The records of a list that are nearest to an identifier, itself left out.

        Args:
            identifier: Any identifier.
            filters: Which records.
            limit: The largest number of them on each side.

        Returns:
            In the order of identifiers.
        """

    def titled(self, after: int, limit: int) -> Sequence[Titled]:
        """The titles of records that the source has not deleted, in the order of their numbers.

        Args:
            after: Only records with a greater number.
            limit: The largest number of them.
        """

    def indexed(self) -> list[str]:
        """The identifiers of all records, in no order."""

    def count(self, filters: Filters) -> int:
        """The number of records that pass the filters."""

    def version_count(self) -> int:
        """The number of versions of all records."""

    def set_counts(self) -> dict[str, int]:
        """setSpec → number of its records, sorted by setSpec."""

    def set_years(self) -> dict[str, dict[str, int]]:
        """setSpec → year → number of its records, without sets whose records have no year."""

    def search(
        self,
        words: str,
        filters: SearchFilters,
        facets: Sequence[str],
        page: PageRequest,
        *,
        beside: Sequence[str] = (),
    ) -> ResultPage:
        """Find records by words and filters; see `Silo.search`.

        Args:
            words: As typed.
            facets: The fields whose values are counted.
            page: Which part of the result, and its order.
            beside: The contributed facets that the search uses.

        Raises:
            SearchError: Unknown facet, filter or order, or an invalid date or page.
        """

    def around(
        self,
        identifier: str,
        words: str,
        filters: SearchFilters,
        sort: str | None,
        *,
        beside: Sequence[str] = (),
    ) -> Around | None:
        """Where a record stands in the order of a search; None if it is not found.

        Args:
            beside: The contributed facets that the search uses.

        Raises:
            SearchError: Unknown filter or order, or an invalid date.
        """

    def respelled(self, words: str) -> str:
        """A query with its unknown words spelled as in the index, the most frequent of those near.

        Returns:
            ``""`` if all words are known, or one is far from all of them.
        """

    def suggested(self, typed: str, each: int) -> Sequence[Suggestion]:
        """Titles, people, subjects and identifiers that begin as typed, at most so many of each."""

    def warm(self) -> None:
        """Load what searches need in memory, so that the first one does not wait for it."""

    def is_in_step(self, facet: Facet, path: str) -> bool:
        """Whether the index has the current values of a contributed facet.

        Args:
            facet: Contributed by a package.
            path: The Silo's directory.
        """

    def bring_in_step(self, facet: Facet, path: str) -> None:
        """Read a contributed facet's values: all if its stamp changed, else those of new records.

        Raises:
            SearchError: Its package fails.
        """

    def changes_since(self, mark: str) -> "Changes":
        """What changed since a mark that this gave out; everything for any other text."""

    def next_entries(self, changes: "Changes") -> Sequence[tuple[int, Entry]]:
        """The next written records of these changes, each with its number; empty at the end.

        Raises:
            LookupError: The index was rebuilt meanwhile; begin again.
        """

    # -- rebuilding, by one process at a time ------------------------------------------------

    def begin_rebuild(self) -> int:
        """Start a rebuild; its end removes all records neither confirmed nor written meanwhile.

        Returns:
            A number by which `end_rebuild` recognises that the index is still the same.
        """

    def confirm(self, stamps: Mapping[str, ManifestStamp]) -> set[str]:
        """Keep the records that are indexed with exactly this stamp, and return them."""

    def take_in(self, found: Sequence[Prepared]) -> int:
        """Store records that were read without their locks.

        Returns:
            The number of changes written to the index before this one, by any process.
        """

    def changes(self) -> int:
        """The number of changes written to the index, by any process."""

    def end_rebuild(self, ticket: int) -> int | None:
        """Remove deleted records, and mark the index as complete.

        Returns:
            The number of records in the index; None if it was lost since the rebuild began.
        """

    def note_problem(self, path: str, sentence: str) -> None:
        """Store a path that could not be read and is no record, until the next rebuild."""

    def problems(self) -> list[tuple[str, str]]:
        """(path, sentence) for each path or record that could not be read, sorted by path."""


OpenIndex = Callable[[Callable[[], bool]], Index]
"""Opens a Silo's index; takes a function that says whether the Silo has no records."""
