"""The part of a Silo that lists and searches its records, which asks the index."""

import contextlib
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from recordsilo.errors import IndexProblem, RecordNotFound, SearchError, most_similar
from recordsilo.index import (
    Around,
    Described,
    FacetValue,
    Filters,
    Page,
    PageRequest,
    ResultPage,
    Row,
    SearchFilters,
)
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.projection import Unread
from recordsilo.index.query import Titled
from recordsilo.index.query_syntax import query_from
from recordsilo.index.search_values import (
    AnyFilters,
    Suggestion,
    Wanted,
    filters_of,
    filters_with,
)
from recordsilo.notebook import typed_key
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.remarks import remarks_on
from recordsilo.search_result import (
    PAGE,
    AskPage,
    Facets,
    RowPages,
    SearchResult,
    every_row,
)
from recordsilo.state import PersistentState

if TYPE_CHECKING:
    from recordsilo.index.changes import Changes
    from recordsilo.index.projection import Entry

_TITLED = 5000
"""Titles that are asked for at once."""
_NEAR = 500
"""Rows before and after a mistyped identifier that are compared with it."""
_BEGINNINGS = 20
"""Beginnings of identifiers that are tried with a short name."""
_OFFERED = 100
"""The largest number of identifiers that a prompt completes."""


class Listing:
    """The methods of a `Silo` that list, search and count its records."""

    storage_dir: str
    path: str
    state: PersistentState
    _catalogue: Catalogue

    @abstractmethod
    def removed(self) -> frozenset[str]:
        """Identifiers of the records that were removed here; see `Silo.removed`."""

    @abstractmethod
    def __getitem__(self, identifier: str) -> HarvestedRecord:
        """The record; see `Silo`."""

    @abstractmethod
    def resolve(self, text: str) -> str:
        """The full identifier of a record; see `Silo.resolve`."""

    def page(
        self,
        *,
        limit: int = 50,
        after: str | None = None,
        before: str | None = None,
        from_identifier: str | None = None,
        **filters: Any,
    ) -> Page:
        """A page of the list of records; the cost does not depend on the position.

        Args:
            limit: The largest number of rows.
            after: Only identifiers after this one.
            before: Only identifiers before this one, the nearest ``limit`` of them.
            from_identifier: Only this identifier and those after it.
            filters: Fields of `Filters`.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.page(
            Filters(**filters), limit, after=after, before=before, starting=from_identifier
        )

    def listed(
        self, start: str | None = None, *, at_once: int = PAGE, **filters: Any
    ) -> Iterator[Row]:
        """The rows of all pages from an identifier on, some read at a time; see `page`."""
        found = self.page(limit=at_once, from_identifier=start, **filters)
        yield from found.rows
        while found.has_next:
            found = self.page(limit=at_once, after=found.rows[-1].identifier, **filters)
            yield from found.rows

    def neighbours(self, identifier: str, *, limit: int = 2, **filters: Any) -> tuple[Row, ...]:
        """The records of a list that are nearest to an identifier, which is left out.

        Args:
            identifier: Any identifier.
            limit: The largest number of them on each side.
            filters: Fields of `Filters`.

        Returns:
            In the order of identifiers. Unlike `page`, nothing is counted.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.neighbours(identifier, Filters(**filters), limit)

    def search(
        self,
        query: str = "",
        filters: AnyFilters = None,
        facets: Sequence[str] = (),
        page: PageRequest | None = None,
        *,
        limit: int | None = None,
        sort: str | None = None,
        **conditions: Wanted,
    ) -> SearchResult:
        """Find records by words and filters; the result is a sequence of records.

        Args:
            query: Words, ``"phrases"``, ``begin*``, ``field:word``, ``-not``, ``a OR b``;
                any text is valid (docs/search.md).
            filters: Conditions on fields, also as a mapping: ``{"type!": "Thesis"}``
                (see `filters_of`).
            facets: The fields whose values are counted with the search, such as
                ``"subject"``; ``result.facets`` counts others when they are looked up.
            page: Number of `SearchResult.rows`, their start, and the order; by default the
                first 25.
            limit: The most records in the result; None for all.
            sort: The order, one of ``relevance``, ``newest``, ``oldest``, ``identifier``,
                ``title``, or a number that packages contribute.
            conditions: Filters by their names, in addition: ``year=2016``,
                ``type=["Thesis", "Article"]``, ``has_file=True``, ``since="2024-01-01"``.

        Raises:
            SearchError: Unknown facet, filter or order, or an invalid date, page or limit.
            IndexProblem: The index cannot be used now.

        Cost: tens of milliseconds over a million records; the first search of a process
            loads the facet columns (a few seconds for a million records), and again for
            subjects and creators. Iterating the result asks again for every 1,000 records.
        """
        wanted = filters_with(filters, conditions)
        page = page or PageRequest()
        if sort is not None:
            page = replace(page, sort=sort)
        _check_limit(limit)
        facets = [facets] if isinstance(facets, str) else facets
        first = self._result_page(query, wanted, facets, page)
        pages = RowPages(self._pages_of(query, wanted, first.sort), first)
        return SearchResult(
            self,
            first,
            pages=pages,
            facets=Facets(first.facets, partial(self._facet_of, query, wanted, page)),
            limit=limit,
            remarks=partial(self._remarks_on, query, wanted),
        )

    def abstracts(self, identifiers: Sequence[str]) -> dict[str, str]:
        """Record → the first 20,000 characters of its abstract; without records that have none.

        Args:
            identifiers: As in `Row.identifier`, at most a thousand.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.ask(lambda index: index.abstracts(identifiers))

    def respelled(self, query: str) -> str:
        """A query whose words the index does not have, with the words that were probably meant.

            >>> silo.respelled("pollinater")
            'pollinator'

        Args:
            query: As `search` takes it.

        Returns:
            ``""`` if the index has all its words, or a word is more than a letter away from all
            that it has. Whether the query with the filters of a search finds anything is not
            checked.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.ask(lambda index: index.respelled(query))

    def suggested(self, typed: str, each: int = 4) -> Sequence[Suggestion]:
        """What may be meant while one types: titles, people, subjects and identifiers.

        Args:
            typed: The beginning, at least two characters.
            each: The largest number of each kind.

        Returns:
            In this order of kinds; people and subjects with most records first.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        found = self._catalogue.ask(lambda index: index.suggested(typed, each))
        named = self.beginning(typed.strip(), each) if len(typed.strip()) > 1 else ()
        return [*found, *(Suggestion("identifier", one, self.resolve(one), 1) for one in named)]

    def _remarks_on(self, query: str, filters: SearchFilters) -> Iterator[str]:
        """Why the search found nothing; see `recordsilo.remarks.remarks_on`."""
        return remarks_on(self, query, filters)

    def _pages_of(self, query: str, filters: SearchFilters, sort: str) -> AskPage:
        """Asks for the pages of a search, in an order that stays the same."""
        return partial(self._rows_of, query, filters, PageRequest(limit=PAGE, sort=sort))

    def _rows_of(
        self, query: str, filters: SearchFilters, page: PageRequest, after: str | None
    ) -> ResultPage:
        return self._result_page(query, filters, (), replace(page, after=after))

    def _facet_of(
        self, query: str, filters: SearchFilters, page: PageRequest, name: str
    ) -> tuple[FacetValue, ...]:
        """Count the values of one facet more."""
        few = replace(page, limit=1, after=None)
        return self._result_page(query, filters, [name], few).facets[name]

    def _result_page(
        self, query: str, filters: SearchFilters, facets: Sequence[str], page: PageRequest
    ) -> ResultPage:
        """One page of the result of a search, as the index gives it."""
        return self._catalogue.search(query, filters, facets, page)

    def around(
        self,
        identifier: str,
        query: str = "",
        filters: AnyFilters = None,
        sort: str | None = None,
    ) -> Around | None:
        """Where a record stands in the order of a search, and which records are next to it.

        Args:
            identifier: As in `Row.identifier`.
            query, filters: As in `search`.
            sort: As in `PageRequest`.

        Returns:
            None if the search does not find the record.

        Raises:
            SearchError: Unknown filter or order, or an invalid date.
            IndexProblem: The index cannot be used now.

        Cost: that of a search without facets.
        """
        return self._catalogue.around(identifier, query, filters_of(filters), sort)

    def found(self, filters: AnyFilters = None, query: str = "") -> Iterator[Row]:
        """All records that match the filters and the query, by identifier, page by page.

        Records added meanwhile may be missing.

        Raises:
            SearchError, IndexProblem: See `search`.
        """
        filters = filters_of(filters)
        if not query.strip() and filters == SearchFilters():
            yield from self.listed()
        else:
            yield from every_row(self._pages_of(query, filters, "identifier"))

    def selected(
        self, query: str = "", filters: AnyFilters = None, identifiers: Iterable[str] = ()
    ) -> Iterator[str]:
        """The identifiers of the records that are selected, each once.

        Args:
            query: As `search` takes it.
            filters: Conditions on fields.
            identifiers: Only these, in this order; if empty, all that are found, sorted.

        Raises:
            RecordNotFound: A listed record does not exist; nothing was yielded.
            SearchError, IndexProblem: See `search`.

        Cost: memory for one page; with both identifiers and a search, for all found.
        """
        named, wanted = list(identifiers), filters_of(filters)
        if not named:
            yield from (row.identifier for row in self.found(wanted, query))
            return
        allowed = None
        if query.strip() or wanted != SearchFilters():
            allowed = {row.identifier for row in self.found(wanted, query)}
        full = dict.fromkeys(self.resolve(one) for one in named)
        yield from (one for one in full if allowed is None or one in allowed)

    def records(
        self,
        query: str = "",
        filters: AnyFilters = None,
        *,
        ids: Iterable[str] | None = None,
        **conditions: Wanted,
    ) -> Iterator[HarvestedRecord]:
        """The records that are selected, one by one; without conditions, all.

            >>> for record in silo.records(type="Article", changed_since="2024-01-01"):
            ...     print(record.title)
            Solar cells

        Args:
            query: As `search` takes it; unlike there, one without a word to search for is
                refused, because it would select every record.
            filters: Conditions on fields.
            ids: Only these records, in full or short, in this order; without it, all that are
                found, by identifier. A text is one record; an empty list selects nothing.
            conditions: Filters by their names: ``year=2016``, ``state="in work"``,
                ``set="a:b"``, ``since="2024-01-01"``; see `search`.

        Raises:
            RecordNotFound: One of ``ids`` does not exist.
            SearchError: See `search`.
            IndexProblem: The index cannot be used now.

        Records that are deleted meanwhile are left out; those that are changed meanwhile may or
        may not be found.

        Cost: reads a manifest for each record; memory for 1,000 rows of the index. With both
        ``ids`` and conditions, for the identifiers of all records that meet the conditions.
        """
        wanted = filters_with(filters, conditions)
        if query.strip():
            query_from(query)
        ids = [ids] if isinstance(ids, str) else ids
        named = [self.resolve(one) for one in ids] if ids is not None else []
        if ids is not None and not named:
            return iter(())
        return self._read_each(self.selected(query, wanted, named))

    def _read_each(self, identifiers: Iterable[str]) -> Iterator[HarvestedRecord]:
        for identifier in identifiers:
            with contextlib.suppress(RecordNotFound):  # deleted meanwhile
                yield self[identifier]

    def beginning(self, typed: str, most: int) -> list[str]:
        """Identifiers that begin with a text: short ones where there are any, or full ones.

        Args:
            typed: The beginning.
            most: The largest number of them.

        Returns:
            In the order of identifiers.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        prefix = str(self.state.get("identifier_uri_prefix") or "")
        for before in dict.fromkeys((prefix, "")):
            rows = self.page(limit=most, from_identifier=before + typed).rows
            fit = [r.identifier for r in rows if r.identifier.startswith(before + typed)]
            if fit:
                return [one.removeprefix(before) for one in fit]
        return []

    def similar(self, identifier: str) -> list[str]:
        """At most two identifiers that are similar to one that does not exist.

        Those that end with it after a colon or slash, as ``oai:example.org:12`` with ``12``; else
        some that are near it in the order of identifiers, short or full as it is. Empty if the
        index cannot be used now.

        Args:
            identifier: As typed.
        """
        with contextlib.suppress(IndexProblem, OSError):
            if ending := self._ending_in(identifier):
                return ending[:2]
        prefix = str(self.state.get("identifier_uri_prefix") or "")
        found: list[str] = []
        for before in dict.fromkeys((prefix, "")):
            with contextlib.suppress(IndexProblem, OSError):
                around = before + identifier
                rows = (
                    *self.page(limit=_NEAR, before=around).rows,
                    *self.page(limit=_NEAR, from_identifier=around).rows,
                )
                found += [
                    one.identifier.removeprefix(before)
                    for one in rows
                    if one.identifier.startswith(before)
                ]
        return most_similar(identifier, found)

    def _ending_in(self, name: str) -> list[str]:
        """The identifiers that are one of the first beginnings in the Silo and a name.

        One identifier is read for each beginning, such as ``oai:example.org:``.
        """
        found, start = [], ""
        for _time in range(_BEGINNINGS):
            rows = self.page(limit=1, from_identifier=start).rows
            if not rows or not (begin := re.match(r".*[:/]", rows[0].identifier, re.DOTALL)):
                break
            start = begin[0] + "\U0010ffff"
            full = begin[0] + name
            rows = self.page(limit=1, from_identifier=full).rows
            found += [one.identifier for one in rows if one.identifier == full]
        return found

    def _ipython_key_completions_(self) -> list[str]:
        try:
            return self.beginning(typed_key(), _OFFERED)
        except (IndexProblem, OSError):
            return []

    def warm(self) -> None:
        """Load what searches need in memory, so that the first one does not wait for it.

        Does nothing if the index has to be rebuilt first.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        self._catalogue.warm()

    def count(self, **filters: Any) -> int:
        """The number of records that match the filters (fields of `Filters`)."""
        wanted = Filters(**filters)
        return self._catalogue.ask(lambda index: index.count(wanted))

    def version_count(self) -> int:
        """The number of versions of all records."""
        return self._catalogue.ask(lambda index: index.version_count())

    def set_counts(self) -> dict[str, int]:
        """setSpec → number of its records, sorted by setSpec."""
        return self._catalogue.ask(lambda index: index.set_counts())

    def set_years(self) -> dict[str, dict[str, int]]:
        """setSpec → year → number of its records; one pass over the index for all sets."""
        return self._catalogue.ask(lambda index: index.set_years())

    def described(self, identifiers: Sequence[str]) -> dict[str, Described]:
        """The descriptions of records as lists show them, for example of a page.

        Args:
            identifiers: As in `Row.identifier`.

        Returns:
            Record → creators, year, types and other values; records that the index does not
            have are omitted.

        Raises:
            IndexProblem: The index cannot be used now.

        Cost: depends on the number of these records only, not on the size of the Silo.
        """
        return self._catalogue.ask(lambda index: index.described(identifiers))

    def indexed(self) -> list[str]:
        """The identifiers of all records that the index has, in no order.

        Unlike a list, this does not notice what other programs have changed.

        Raises:
            IndexProblem: The index cannot be used now.

        Cost: 1 µs for each, no manifest is looked at; memory for all of them.
        """
        return self._catalogue.ask(lambda index: index.indexed())

    def titled(self) -> Iterator[Titled]:
        """The titles and first DOIs of all records that the source has not deleted.

        Records that change meanwhile may be missing, or be told as they were.

        Raises:
            IndexProblem: The index cannot be used now.

        Cost: reads a row of the index for each, no manifest; memory for some thousand rows.
        """
        after = 0
        while found := self._titles_after(after):
            yield from found
            after = found[-1].number

    def _titles_after(self, number: int) -> Sequence[Titled]:
        return self._catalogue.ask(lambda index: index.titled(number, _TITLED))

    def identified(self, spellings: Sequence[str]) -> list[str]:
        """The records whose descriptions have one of these texts as an identifier.

        Args:
            spellings: DOIs as ``doi:10.5555/12``; case does not count.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.ask(lambda index: index.identified(spellings))

    def reindex(self, progress: Callable[[int], None] | None = None) -> int:
        """Update the index from the manifests; what cannot be read becomes `index_problems`.

        Needed only after files were changed by other programs. Records whose manifests
        have not changed since they were indexed are not read again.

        Args:
            progress: Called with the number of records examined so far.

        Returns:
            The number of records in the index.
        """
        return self._catalogue.reindex(progress)

    @property
    def index_is_kept(self) -> bool:
        """Whether changes of the index are kept; not where the Silo cannot be written."""
        return self._catalogue.is_kept

    def index_stamp(self) -> object | None:
        """A value that changes when records do; None if changes cannot be detected."""
        return self._catalogue.stamp()

    def changes(self, mark: str = "", *, contributed: bool = True) -> "Changes":
        """What changed since a mark, for who keeps a copy of the index; by default everything.

        Args:
            mark: `Changes.mark` of the last time.
            contributed: Whether values that packages contribute are brought in step first; a
                package that fails is logged. Without, this takes a fifth of a millisecond.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.changes(mark, contributed=contributed)

    def changed_entries(self, changes: "Changes") -> "Iterator[tuple[int, Entry]]":
        """The records that were written, each with its number, which its next text replaces.

        Args:
            changes: From `changes`; can be read once.

        Raises:
            IndexProblem: The index cannot be used now, or was rebuilt; begin again.
        """
        return self._catalogue.entries(changes)

    def index_problems(self) -> list[tuple[str, str]]:
        """(path, sentence) for each path or record that cannot be read, sorted by path."""
        return self._catalogue.problems()

    def unread(self) -> list[Unread]:
        """The records whose manifests cannot be read, by identifier.

        Lists, counts and searches have them as they were last read, with the finding
        ``Q001``. They are indexed again by the first look after their manifests were mended.

        Raises:
            IndexProblem: The index cannot be used now.
        """
        return self._catalogue.ask(lambda index: index.unread())

    def unreported_problems(self) -> list[tuple[str, str]]:
        """`index_problems` if records were listed since the last call of this, else ``[]``."""
        return self._catalogue.unreported_problems()


def _check_limit(limit: object) -> None:
    if limit is None or (isinstance(limit, int) and limit is not True and limit >= 0):
        return
    raise SearchError(f"limit is a number of records, or None for all, not {limit!r}")
