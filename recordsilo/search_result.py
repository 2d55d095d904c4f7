"""What a search found: a sequence of records that asks the index for page after page."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Protocol, overload

from recordsilo.errors import RecordNotFound
from recordsilo.html_tables import Link, sentences, table
from recordsilo.index import Described, FacetValue, ResultPage, Row
from recordsilo.index.facets import facet_names
from recordsilo.index.search_values import ASKED
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.wording import counted, cut_middle, escaped

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

PAGE = 1000
"""Rows that are asked for at a time, the most that a page may have."""
_SHOWN, _WIDTH = 5, 60
_SHOWN_IN_NOTEBOOKS = 10
AskPage = Callable[[str | None], ResultPage]
"""`ResultPage.next_page` of a page, or None → the next page, or the first."""
"""Calls with the same argument may give other rows, if records change meanwhile."""
AskFacet = Callable[[str], tuple[FacetValue, ...]]


def every_row(ask: AskPage) -> Iterator[Row]:
    """Yield the rows of all pages, each page asked for when it is needed."""
    found = ask(None)
    yield from found.rows
    while found.next_page is not None:
        found = ask(found.next_page)
        yield from found.rows


class Searched(Protocol):
    """What a result needs of the Silo that was searched."""

    def __getitem__(self, identifier: str, /) -> HarvestedRecord:
        """See `Silo`."""

    def described(self, identifiers: Sequence[str], /) -> dict[str, Described]:
        """See `Silo.described`."""


class SearchResult(Sequence[HarvestedRecord]):
    """The records that `Silo.search` found, in the order of the search.

        >>> found = silo.search("solar", sort="oldest")
        >>> len(found), found[0].title, [record.year for record in found[:2]]
        (1, 'Solar cells', [None])

    It has a length, and can be indexed, sliced (which gives such a result again) and iterated.
    Rows are asked for when they are needed, `PAGE` at a time, and records are read one by one,
    so memory does not grow with what is found. Records that are deleted meanwhile are left out
    of an iteration. It can be copied and pickled, as its Silo: a copy asks again.

    The `repr` of a result without records says why that may be: ``0 records found; no record has
    the type 'thesis'; did you mean 'Thesis'?``

    Attributes:
        total: The number of records found, whatever the limit.
        rows: The first of them as lists show them: as many as the requested page has, 25
            if none was requested.
        next_page: `PageRequest.after` for the next page of rows; None on the last page.
        sort: The order (newest instead of relevance with more than `RELEVANCE_AT_MOST` hits).
        facets: Facet → its values with their numbers of records, the most frequent first, then
            by value. It lists the facets that were requested; any other is counted when it is
            looked up. A facet is counted without its own filters, so that the other values
            can be added.
    """

    def __init__(
        self,
        silo: Searched,
        first: ResultPage,
        *,
        pages: "RowPages",
        facets: Mapping[str, tuple[FacetValue, ...]],
        limit: int | None = None,
        places: range | None = None,
        remarks: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._silo, self._first, self._pages = silo, first, pages
        found = first.total if limit is None else min(limit, first.total)
        self._places = range(found) if places is None else places
        self.total, self.next_page, self.sort = first.total, first.next_page, first.sort
        self.rows: tuple[Row, ...] = first.rows if limit is None else first.rows[:limit]
        self.facets = facets
        self._remarks = remarks

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[HarvestedRecord]:
        for row in self.iter_rows():
            try:
                yield self._silo[row.identifier]
            except RecordNotFound:  # deleted meanwhile
                continue

    def iter_rows(self) -> Iterator[Row]:
        """The records as lists show them, in order; no record is read."""
        for place in self._places:
            if (row := self._pages.row(place)) is not None:
                yield row

    @overload
    def __getitem__(self, at: int) -> HarvestedRecord: ...
    @overload
    def __getitem__(self, at: slice) -> "SearchResult": ...
    def __getitem__(self, at: int | slice) -> "HarvestedRecord | SearchResult":
        if isinstance(at, slice):
            return SearchResult(
                self._silo,
                self._first,
                pages=self._pages,
                facets=self.facets,
                places=self._places[at],
            )
        try:
            row = self._pages.row(self._places[at])
        except IndexError:
            row = None
        if row is None:
            count = counted(len(self), "record")
            raise IndexError(f"the search found {count}, counted from 0; there is no {at}")
        return self._silo[row.identifier]

    def __eq__(self, other: object) -> bool:
        """Whether both found as much, and have the same places, first rows and requested facets."""
        if not isinstance(other, SearchResult):
            return NotImplemented
        return (self._places, self._first) == (other._places, other._first)

    __hash__ = None  # type: ignore[assignment]  # its facets have none

    def __contains__(self, item: object) -> bool:
        """Whether a record was found, given itself or its full identifier."""
        wanted = item.item_id if isinstance(item, HarvestedRecord) else item
        return any(row.identifier == wanted for row in self.iter_rows())

    def to_pandas(self) -> "pandas.DataFrame":
        """The records as a table of pandas, a row each, in order.

        The columns are named like the properties of a record: ``identifier``, ``title``,
        ``creators`` (a list, as ``types``, ``subjects``, ``publishers``, ``languages`` and
        ``sets``), ``year``, ``doi``, ``datestamp`` (in UTC), ``is_curated``, ``is_deleted``. What
        is not known is missing; values are cut at 500 characters, as in facets.

        Raises:
            PackageMissing: pandas is not installed; the message says how to install it.
            IndexProblem: The index cannot be used now.

        Cost: reads the index only, about 50,000 records a second; memory for the table.
        """
        from recordsilo.frames import to_pandas

        return to_pandas(self.iter_rows(), self._silo.described)

    def to_polars(self) -> "polars.DataFrame":
        """The records as a table of Polars; as `to_pandas`."""
        from recordsilo.frames import to_polars

        return to_polars(self.iter_rows(), self._silo.described)

    def to_arrow(self) -> "pyarrow.Table":
        """The records as a table of Arrow; as `to_pandas`."""
        from recordsilo.frames import to_arrow

        return to_arrow(self.iter_rows(), self._silo.described)

    @property
    def _caption(self) -> str:
        of = f" of {self.total:,}" if len(self) < self.total else ""
        if not self.total and (remarks := list(self._remarks())):
            return "; ".join(["0 records found", *remarks])
        return f"{counted(len(self), 'record')}{of} found, by {self.sort}"

    def __repr__(self) -> str:
        lines = [escaped(self._caption)]
        lines += [
            escaped(f"  {row.identifier}  {cut_middle(row.title or '(no title)', _WIDTH)}")
            for row in islice(self.iter_rows(), _SHOWN)
        ]
        more = len(self) - _SHOWN
        return "\n".join([*lines, *([f"  … and {more:,} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        rows = list(islice(self.iter_rows(), _SHOWN_IN_NOTEBOOKS))
        described = self._silo.described([row.identifier for row in rows])
        cells = []
        for row in rows:
            of = described.get(row.identifier, Described())
            doi = Link(of.doi, f"https://doi.org/{of.doi}") if of.doi else None
            cells.append((row.identifier, row.title, "; ".join(of.creators[:3]), of.year, doi))
        more = len(self) - len(rows)
        found = table(
            cells, head=("identifier", "title", "creators", "year", "DOI"), caption=self._caption
        )
        return found + (sentences([f"… and {more:,} more"]) if more > 0 else "")


class RowPages:
    """The rows of a search by their places, of which one page is in memory.

    Args:
        ask: Asks for a page of `PAGE` rows.
        first: The page that was asked for at first.
    """

    def __init__(self, ask: AskPage, first: ResultPage | None = None) -> None:
        self._ask = ask
        self._starts: list[str | None] = [None]  # the cursors of the pages that are known
        self._held: tuple[int, tuple[Row, ...]] = -1, ()
        if first is not None and len(first.rows) == first.total <= PAGE:
            self._held = 0, first.rows

    def row(self, place: int) -> Row | None:
        """The row at a place; None if the search does not find as many any more."""
        number, offset = divmod(place, PAGE)
        if self._held[0] != number and not self._turn_to(number):
            return None
        rows = self._held[1]
        return rows[offset] if offset < len(rows) else None

    def _turn_to(self, number: int) -> bool:
        while (known := len(self._starts) - 1) < number:
            if not self._load(known):
                return False
        self._load(number)
        return True

    def _load(self, number: int) -> bool:
        """Load a page whose start is known; returns whether there is one behind it."""
        page = self._ask(self._starts[number])
        self._held = number, page.rows
        if page.next_page is not None and number == len(self._starts) - 1:
            self._starts.append(page.next_page)
        return page.next_page is not None


class Facets(Mapping[str, tuple[FacetValue, ...]]):
    """The values of facets: of those requested, and of others when they are looked up."""

    def __init__(self, counted_ones: Mapping[str, tuple[FacetValue, ...]], ask: AskFacet) -> None:
        self._requested, self._ask = counted_ones, ask
        self._others: dict[str, tuple[FacetValue, ...]] = {}

    def __getitem__(self, name: str) -> tuple[FacetValue, ...]:
        """The values of a facet.

        Raises:
            SearchError: There is no such facet; the message names the nearest.
            IndexProblem: The index cannot be used now.
        """
        if name in self._requested:
            return self._requested[name]
        if name not in self._others:
            self._others[name] = self._ask(name)
        return self._others[name]

    def __contains__(self, name: object) -> bool:
        return name in self._requested

    def __iter__(self) -> Iterator[str]:
        return iter(self._requested)

    def __len__(self) -> int:
        return len(self._requested)

    def __repr__(self) -> str:
        found = "\n".join(_said(name, values) for name, values in self.items())
        others = ", ".join(name for name in _countable() if name not in self)
        return found + ("\n" if found else "") + f"counted when looked up: {others}"

    def _ipython_key_completions_(self) -> list[str]:
        return _countable()


def _countable() -> list[str]:
    return [name for name in facet_names() if name not in ASKED]


def _said(name: str, values: Sequence[FacetValue]) -> str:
    said = ", ".join(f"{one.value} {one.count:,}" for one in values[:_SHOWN])
    return f"{name}: {said}" + (", …" if len(values) > _SHOWN else "")
