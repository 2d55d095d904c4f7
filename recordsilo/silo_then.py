"""SiloThen: a Silo as it was at a moment, for lists and exports. Nothing can be changed in it.

What has not changed since is read from the index; the other records are read, and taken back
(`recordsilo.records.history`). A search looks them up in an index of their own, which is deleted
afterwards.
"""

import contextlib
import heapq
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from recordsilo.batches import batched
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import (
    MomentUnknown,
    ReadOnlyMoment,
    RecordNotFound,
    RecordNotThen,
    RecordSiloError,
)
from recordsilo.index import Described, Entry, PageRequest, ResultPage, Row, SearchFilters
from recordsilo.index.catalogue import Catalogue, entry_of
from recordsilo.index.database import SqliteIndex
from recordsilo.index.projection import first_doi
from recordsilo.index.search_values import FLAGS, AnyFilters, bound_of, filters_of
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.records.history import full, known_since
from recordsilo.records.manifest import Manifest, date_text, now_text
from recordsilo.records.place import RecordPlace
from recordsilo.records.place_then import PlaceThen
from recordsilo.removals import Removal, removals_of
from recordsilo.search_result import PAGE, AskPage, every_row
from recordsilo.silo import CREATED_FILE, Silo

_TOGETHER = 500
_BY_IDENTIFIER = partial(PageRequest, limit=PAGE, sort="identifier")


class SiloThen(Silo):
    """The records of a Silo as they were at a moment: which there were, and what they were.

    Attributes:
        moment: In the 2010 form, with microseconds.
        unsure: Identifier → why a record that was read may have been different.
        unknown: Identifier → why it is not known whether a record was there.

    Args:
        moment: ISO 8601, UTC; a day means its first second. What was changed in that instant
            counts as changed.

    Raises:
        MomentUnknown: It is no date, is in the future, or the Silo did not exist then.
        SiloNotFound, NotASilo: See `Silo`.
    """

    def __init__(self, storage_dir: str, moment: str) -> None:
        super().__init__(storage_dir, create=False)
        self.moment = checked_moment(self.path, moment)
        self.unsure: dict[str, str] = {}
        self.unknown: dict[str, str] = {}
        self._changed_since: frozenset[str] | None = None
        self._own: tuple[tempfile.TemporaryDirectory[str], Catalogue] | None = None

    def told_unsure(self) -> str:
        """What is to be said of records that may have been different; empty if there are none."""
        doubts = {**self.unknown, **self.unsure}
        if not doubts:
            return ""
        count, (first, why) = len(doubts), next(iter(doubts.items()))
        others = f", and {count - 1:,} more" if count > 1 else ""
        return f"not certain of {self.moment[:19]}: {first}: {why}{others}"

    def close(self) -> None:
        """Close the index, and delete what was made to search."""
        super().close()
        if self._own is not None:
            directory, catalogue = self._own
            catalogue.close()
            directory.cleanup()
            self._own = None

    def __reduce__(self) -> tuple[type[Silo], tuple[str, str]]:
        """Copy it by its path and the moment."""
        return type(self), (self.path, self.moment)

    def __repr__(self) -> str:
        return f"<Silo {self.storage_dir!r} on {self.moment[:19]}>"

    def _repr_html_(self) -> None:
        """Let notebooks show the `repr`: what there was is not counted."""

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Raise `ReadOnlyMoment`: nothing can be changed."""
        if self.moment:
            raise ReadOnlyMoment(self.moment)
        yield

    # -- records ------------------------------------------------------------------------

    def resolve(self, text: str) -> str:
        """See `Silo.resolve`; a record that did not exist is not found.

        Raises:
            RecordNotThen: It was made later, or was removed since.
        """
        try:
            return super().resolve(text)
        except RecordNotFound as error:
            raise self._absent(text, error) from None

    def __getitem__(self, identifier: str) -> HarvestedRecord:
        try:
            return super().__getitem__(identifier)
        except RecordNotFound as error:
            raise self._absent(identifier, error) from None

    def _absent(self, text: str, error: RecordNotFound) -> RecordNotFound:
        """Why there was no such record, if something is known of it."""
        for form in self._candidates(text):
            for one in self.removed_since():
                if one.identifier == form:
                    return RecordNotThen(form, self.moment, f"was {one} on {one.at[:19]}")
            now = self._indexed_place(form).read_manifest()
            if now is not None:
                why = self.unknown.get(form)
                why = f"is there now; {why}" if why else f"was made later, on {made_on(now)}"
                return RecordNotThen(form, self.moment, why)
        return error

    def _place(self, identifier: str) -> RecordPlace:
        return PlaceThen(super()._place(identifier), self.moment, self._note)

    def _note(self, identifier: str, why: str, is_known: bool) -> None:
        (self.unsure if is_known else self.unknown)[identifier] = why

    def _indexed_place(self, identifier: str) -> RecordPlace:
        return super()._place(identifier)

    @property
    def _changed(self) -> frozenset[str]:
        """The records that were changed since, or made since."""
        if self._changed_since is None:
            since = SearchFilters(changed_since=self.moment[:19])
            self._changed_since = frozenset(row.identifier for row in self._now(since, ""))
        return self._changed_since

    def _entry(self, identifier: str) -> Entry | None:
        """What the index would have said of a record; None if it did not exist."""
        place = self._place(identifier)
        manifest = place.read_manifest()
        return None if manifest is None else entry_of(place, manifest)

    def _entries(self, identifiers: Iterable[str]) -> Iterator[Entry]:
        for identifier in identifiers:
            try:
                entry = self._entry(identifier)
            except RecordSiloError as error:
                self.unsure[identifier] = str(error)
                continue
            if entry is not None:
                yield entry

    def removed(self) -> frozenset[str]:
        """Identifiers of the records that had been removed, and had not come back."""
        return frozenset(
            one.identifier
            for one in removals_of(self.path)
            if full(one.at) <= self.moment and not (one.until and full(one.until) <= self.moment)
        )

    def removed_since(self) -> list[Removal]:
        """The records that existed, or may have existed, and were removed since; by identifier.

        What they were is not kept.
        """
        found = {
            one.identifier: one
            for one in reversed(removals_of(self.path))
            if full(one.at) > self.moment and full(one.since) <= self.moment
        }
        return [found[identifier] for identifier in sorted(found)]

    # -- lists --------------------------------------------------------------------------

    def found(self, filters: AnyFilters = None, query: str = "") -> Iterator[Row]:
        """All records that matched, by identifier; see `Silo.found`.

        Raises:
            SearchError, IndexProblem: See `Silo.search`.
        """
        filters, changed = filters_of(filters), self._changed
        if query.strip() or filters != SearchFilters():
            unchanged = self._now(filters, query)
            kept = (row for row in unchanged if row.identifier not in changed)
            rows = heapq.merge(kept, self._searched(filters, query), key=lambda one: one.identifier)
            yield from rows
            return
        for row in self._now(filters, query):
            if row.identifier not in changed:
                yield row
            else:
                yield from (entry.row for entry in self._entries([row.identifier]))

    def _now(self, filters: SearchFilters, query: str) -> Iterator[Row]:
        """What is found now, without anything of this class."""
        found = super()._result_page
        return every_row(lambda after: found(query, filters, (), _BY_IDENTIFIER(after=after)))

    def _searched(self, filters: SearchFilters, query: str) -> Iterator[Row]:
        """Those found among the records that were changed since, as they were."""
        found = self._catalogue_of_changed().search
        return every_row(lambda after: found(query, filters, (), _BY_IDENTIFIER(after=after)))

    def _catalogue_of_changed(self) -> Catalogue:
        if self._own is None:
            directory = tempfile.TemporaryDirectory(prefix="silo-as-of-")
            path = f"{directory.name}/index.sqlite"
            catalogue = Catalogue(
                self.path,
                self._root,
                self._place,
                self._locks,
                self.staging,
                open_index=lambda _is_empty: SqliteIndex(path, lambda: True),
            )
            self._own = directory, catalogue
            for some in batched(self._entries(sorted(self._changed)), _TOGETHER):
                catalogue.after_write(some)
        return self._own[1]

    def _result_page(
        self, query: str, filters: SearchFilters, facets: Sequence[str], page: PageRequest
    ) -> ResultPage:
        """The number of records that matched, and the first of them by identifier.

        Raises:
            ReadOnlyMoment: Of facets, other orders and further pages.
        """
        if facets or page.after is not None or page.sort not in (None, "identifier"):
            raise ReadOnlyMoment(self.moment, "be asked for facets, orders and pages; list it")
        rows, total = [], 0
        for row in self.found(filters, query):
            total += 1
            if total <= page.limit:
                rows.append(row)
        return ResultPage(tuple(rows), total, None, "identifier", {})

    def _pages_of(
        self,
        query: str,
        filters: SearchFilters,
        sort: str,  # noqa: ARG002 - always by identifier
    ) -> AskPage:
        return _RowWalk(partial(self.found, filters, query))

    def rows(self, identifiers: Iterable[str]) -> dict[str, Row]:
        """Records as lists showed them; see `Silo.rows`.

        Args:
            identifiers: See there.
        """
        named = tuple(dict.fromkeys(identifiers))
        now, found = super().rows(named), {}
        for one in named:
            if one in now and now[one].identifier not in self._changed:
                found[one] = now[one]
            else:
                with contextlib.suppress(RecordNotFound):
                    found[one] = self.row(one)
        return found

    def row(self, identifier: str) -> Row:
        """A record as lists showed it.

        Raises:
            RecordNotFound: The Silo had no such record.
        """
        full_identifier = self.resolve(identifier)
        entry = self._entry(full_identifier)
        if entry is None:
            raise RecordNotFound(identifier, self.storage_dir, self.similar)
        return entry.row

    def described(self, identifiers: Sequence[str]) -> dict[str, Described]:
        """The descriptions of records as lists showed them; see `Silo.described`.

        Args:
            identifiers: As in `Row.identifier`.
        """
        changed = [one for one in identifiers if one in self._changed]
        found = super().described([one for one in identifiers if one not in self._changed])
        for entry in self._entries(changed):
            values = {name: some for name, some in entry.facets.items() if name not in FLAGS}
            found[entry.row.identifier] = Described(values, first_doi(entry.text.identifiers))
        return found

    def index_problems(self) -> list[tuple[str, str]]:
        """What cannot be read, is not known (of what was listed), or was removed since."""
        gone = [
            (one.identifier, f"it was in the Silo, and was {one} on {one.at[:19]}")
            for one in self.removed_since()
        ]
        return [*super().index_problems(), *self.unknown.items(), *gone]


class _RowWalk:
    """Gives the pages of rows that can only be listed from the first one on.

    A page that follows the one before goes on there; for any other the list begins again.
    """

    def __init__(self, start: Callable[[], Iterator[Row]]) -> None:
        self._start, self._rows, self._place = start, start(), 0

    def __call__(self, after: str | None) -> ResultPage:
        place = int(after or 0)
        if place != self._place:
            self._rows = islice(self._start(), place, None)
        rows = tuple(islice(self._rows, PAGE))
        self._place = place + len(rows)
        more = str(self._place) if len(rows) == PAGE else None
        return ResultPage(rows, self._place, more, "identifier", {})

    def __reduce__(self) -> tuple[type["_RowWalk"], tuple[Callable[[], Iterator[Row]]]]:
        """A copy begins the list again."""
        return type(self), (self._start,)


def made_on(manifest: Manifest) -> str:
    """The time at which a record was made here, or the first at which it is known to exist."""
    return known_since(manifest)[0][:19]


def _made_at(path: str) -> str:
    """When a Silo was made; empty if that is not known, as of one of an earlier release."""
    try:
        with open(f"{path}/{CREATED_FILE}", encoding="utf-8", opener=regular_fd) as file:
            return full(file.read(100).strip())
    except (OSError, ValueError):
        return ""


def checked_moment(path: str, text: str) -> str:
    """A moment at which a Silo may be looked at, in the 2010 form with microseconds.

    Args:
        text: See `SiloThen`.

    Raises:
        MomentUnknown: See `SiloThen`.
    """
    try:
        bound_of(text, last=False)
        moment = full(date_text(text))
    except ValueError:
        raise MomentUnknown(f"{text!r} is not a date; write YYYY-MM-DD") from None
    if moment > now_text():
        raise MomentUnknown(f"{text} is in the future; write an earlier date")
    if moment < (made := _made_at(path)):
        raise MomentUnknown(f"the Silo did not exist on {text}; it was made on {made[:19]}")
    return moment
