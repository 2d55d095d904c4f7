"""What a Silo needs of an index, whatever engine keeps it.

`recordsilo.index.database.SqliteIndex` is the one in use. Another engine has to pass
tests/recordsilo/index_conformance.py, and `Silo._open_index` has to return it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from recordsilo.errors import IndexProblem
from recordsilo.index.facets import Facet
from recordsilo.index.projection import Described, Entry, ManifestStamp, Row
from recordsilo.index.query import Filters, Page
from recordsilo.index.rows import Prepared
from recordsilo.index.search_values import PageRequest, SearchFilters, SearchResult


class IndexLost(IndexProblem):
    """The index was damaged and is empty now: rebuild it, then ask again."""


class Index(Protocol):
    """The index of one Silo: lists, counts and searches, kept in step by `Catalogue`.

    An index is never the truth. It may be lost at any time and is then incomplete
    until it is rebuilt from the manifests. Several processes and threads use one at
    once; each answer is one snapshot.

    Every method may raise `IndexProblem` if the index cannot be used now (busy, disk
    full), and `IndexLost`; `note_unsettled` and `settle` never do.
    """

    # -- state ----------------------------------------------------------------------------

    @property
    def in_memory(self) -> bool:
        """Whether only this object has the content, as if its directory cannot be written."""

    @property
    def complete(self) -> bool:
        """Whether every record has been indexed since the index was created."""

    def stamp(self) -> object | None:
        """A value that changes when anything is written; None if a change may not show in it."""

    def close(self) -> None:
        """Release files and memory; a later use opens the index again."""

    # -- writers, under the locks of their records ------------------------------------------

    def note_unsettled(self, identifiers: Iterable[str], *, durable: bool) -> None:
        """Note which records are about to change, before their manifests do.

        Args:
            durable: Return only when the notes are on the medium.
        """

    def settle(
        self, entries: Iterable[tuple[Entry, ManifestStamp]], gone: Iterable[str] = ()
    ) -> None:
        """Store what records are now and remove those ``gone``, together with their notes."""

    def unsettled(self) -> list[str]:
        """The records with a note: being written now, or left by a killed writer."""

    # -- readers --------------------------------------------------------------------------

    def row(self, identifier: str) -> Row | None:
        """A record as lists show it; None if the index does not have it."""

    def described(self, identifiers: Sequence[str]) -> dict[str, Described]:
        """Record → what lists show of its description; unknown records left out.

        The facets are the store's own that have texts as values.
        """

    def stamps(self, identifiers: Sequence[str]) -> dict[str, ManifestStamp]:
        """Record → the stamp of the manifest that was indexed; unknown records left out."""

    def page(
        self,
        filters: Filters,
        limit: int,
        *,
        after: str | None = None,
        before: str | None = None,
        starting: str | None = None,
    ) -> Page:
        """A page of the list; see `Silo.page`."""

    def count(self, filters: Filters) -> int:
        """How many records pass the filters."""

    def set_counts(self) -> dict[str, int]:
        """setSpec → how many records name it, in the order of setSpecs."""

    def search(
        self,
        words: str,
        filters: SearchFilters,
        facets: Sequence[str],
        page: PageRequest,
        *,
        beside: Sequence[str] = (),
    ) -> SearchResult:
        """Find records by words and filters; see `Silo.search`.

        Args:
            beside: The contributed facets that the search uses.

        Raises:
            SearchError: Unknown facet, filter or order, or an invalid date or page.
        """

    def is_in_step(self, facet: Facet, path: str) -> bool:
        """Whether the index has the values of a contributed facet as its package has them.

        Args:
            path: The Silo's directory.
        """

    def bring_in_step(self, facet: Facet, path: str) -> None:
        """Read the values of a contributed facet: all if its stamp changed, else of new records.

        Raises:
            SearchError: Its package fails.
        """

    # -- rebuilding, by one process at a time ------------------------------------------------

    def begin_rebuild(self) -> int:
        """Start a rebuild: what is neither confirmed nor written until its end is removed then.

        Returns:
            A number for `end_rebuild`, by which the index knows that it is still the same.
        """

    def confirm(self, stamps: Mapping[str, ManifestStamp]) -> set[str]:
        """Keep those records that are indexed with this very stamp, and return them."""

    def take_in(self, found: Sequence[Prepared]) -> int:
        """Store records that were read without their locks.

        Returns:
            How many changes were written to the index before this one, by any process.
        """

    def changes(self) -> int:
        """How many changes were written to the index, by any process."""

    def end_rebuild(self, ticket: int) -> int | None:
        """Remove the records that are gone; the index is complete now.

        Returns:
            How many records it holds; None if it was lost since the rebuild began.
        """

    def note_problem(self, path: str, sentence: str) -> None:
        """Keep what could not be read, until the next rebuild."""

    def problems(self) -> list[tuple[str, str]]:
        """(path, sentence) of what could not be read, in the order of paths."""


OpenIndex = Callable[[Callable[[], bool]], Index]
"""Open a Silo's index, given a function that says whether the Silo holds no record."""
