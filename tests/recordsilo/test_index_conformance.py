"""The index in SQLite, and one in memory, both do what the store needs of an index."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

from index_conformance import IndexConformance

from recordsilo import Filters, Page, Row, Silo
from recordsilo.errors import SearchError
from recordsilo.formats.quality import UNREADABLE
from recordsilo.index import (
    Around,
    Described,
    Entry,
    FacetValue,
    Index,
    ManifestStamp,
    PageRequest,
    ResultPage,
    SearchFilters,
)
from recordsilo.index.asked import bounds_of
from recordsilo.index.changes import Changes
from recordsilo.index.facets import Facet
from recordsilo.index.interface import IndexLost
from recordsilo.index.projection import Unread, entry_of_unread, first_doi, seconds_of
from recordsilo.index.query import Titled
from recordsilo.index.query_syntax import COLUMN_OF_FIELD, Term, parse_query, spaced
from recordsilo.index.rows import Prepared, title_key
from recordsilo.index.search import check
from recordsilo.index.search_values import ASKED, FLAGS, range_of


class TestSqliteIndex(IndexConformance):
    def open_silo(self, path: str) -> Silo:
        return Silo(path)

    def lose(self, path: str) -> None:
        Path(path, ".silo/index.sqlite").write_bytes(b"not a database, " * 1000)
        for suffix in ("-wal", "-shm"):
            Path(path, f".silo/index.sqlite{suffix}").unlink(missing_ok=True)


def tokens(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", spaced(text))
    return re.findall(r"[^\W_]+", "".join(c for c in plain if not unicodedata.combining(c)).lower())


def in_column(words: list[str], term: Term) -> bool:
    wanted = tokens(term.text)
    return any(
        words[at : at + len(wanted)] == wanted
        or (
            term.prefix
            and words[at : at + len(wanted) - 1] == wanted[:-1]
            and words[at + len(wanted) - 1 : at + len(wanted)] > wanted[-1:]
            and words[at + len(wanted) - 1].startswith(wanted[-1])
        )
        for at in range(len(words))
    )


def has(entry: Entry, term: Term) -> bool:
    """Whether a record's text has a term."""
    names = COLUMN_OF_FIELD.get(term.field, "").strip("{}").split() or entry.text.__slots__
    return any(in_column(tokens(getattr(entry.text, name)), term) for name in names)


def flags(entry: Entry) -> dict[str, bool]:
    return {"has_file": entry.has_file, "has_doi": entry.has_doi} | {
        name: getattr(entry.row, name) for name in FLAGS if not name.startswith("has_")
    }


def holds(row: Row, filters: Filters) -> bool:
    """Whether a record passes the filters of a list."""
    spec = filters.set_spec
    return (spec is None or any(f"{one}:".startswith(f"{spec}:") for one in row.sets)) and all(
        getattr(filters, name) in {None, getattr(row, name)}
        for name in ("deleted", "curated", "upstream_newer")
    )


def bound(text: str, *, last: bool) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise SearchError(f"{text!r} is not a date") from None
    if last and len(text) == 10:
        moment += timedelta(seconds=86_399)
    return seconds_of(moment)


def matches(entry: Entry, words: str, filters: SearchFilters) -> bool:
    """Whether a search finds a record."""
    query = parse_query(words)
    return (
        all(any(has(entry, term) for term in group) for group in query.groups)
        and not any(has(entry, term) for term in query.without)
        and all(flags(entry)[name] == wanted for name, wanted in filters.flags.items())
        and (filters.since is None or entry.seconds >= bound(filters.since, last=False))
        and (filters.until is None or entry.seconds <= bound(filters.until, last=True))
        and (
            filters.changed_since is None
            or entry.changed >= bound(filters.changed_since, last=False)
        )
        and all(
            any(
                is_meant(key.rstrip("!"), one, value)
                for one in entry.facets.get(key.rstrip("!"), ())
                for value in values
            )
            != key.endswith("!")
            for key, values in filters.values.items()
            if key.rstrip("!") not in ASKED
        )
        and all(
            any(is_asked(entry, key.rstrip("!"), value) for value in values) != key.endswith("!")
            for key, values in filters.values.items()
            if key.rstrip("!") in ASKED
        )
    )


def is_asked(entry: Entry, name: str, value: str) -> bool:
    """Whether a record was changed in a period, or has a title like a pattern."""
    if name == "changed":
        low, high = bounds_of(value)
        return low <= entry.changed <= high
    if value.startswith("/"):
        return re.search(value[1:-1], entry.row.title, re.IGNORECASE) is not None
    key, wanted = title_key(entry.row.title), title_key(value.removesuffix("*"))
    return key.startswith(wanted) if value.endswith("*") else key == wanted


def is_meant(name: str, one: str, value: str) -> bool:
    """Whether a value of a record is what a filter asks for."""
    if name == "set" and one.startswith(f"{value}:"):
        return True
    if (bounds := range_of(name, value)) is not None:
        return bounds[0] <= float(one) <= bounds[1]
    return one == value


def without(filters: SearchFilters, name: str) -> SearchFilters:
    """The filters of the other facets."""
    return replace(
        filters,
        values={key: values for key, values in filters.values.items() if key.rstrip("!") != name},
        flags={key: wanted for key, wanted in filters.flags.items() if key != name},
    )


ORDERS: Mapping[str, Callable[[Entry, str], tuple[object, str]]] = {
    "identifier": lambda one, _words: (0, one.row.identifier),
    "oldest": lambda one, _words: (one.seconds, one.row.identifier),
    "newest": lambda one, _words: (-one.seconds, one.row.identifier),
    "title": lambda one, _words: (title_key(one.row.title), one.row.identifier),
    "type": lambda one, _words: (
        min(map(title_key, one.facets.get("type", ())), default="\U0010ffff"),
        one.row.identifier,
    ),
    "relevance": lambda one, words: (
        -sum(has(one, Term(t.text, field="title")) for g in parse_query(words).groups for t in g),
        one.row.identifier,
    ),
}


def by_number(sort: str) -> Callable[[Entry, str], tuple[object, str]]:
    """The order by a contributed facet, ``-`` for the greatest first."""
    name, sign = sort.removeprefix("-"), -1 if sort.startswith("-") else 1

    def key(one: Entry, _words: str) -> tuple[object, str]:
        numbers = [sign * float(value) for value in one.facets.get(name, ())]
        return (min(numbers, default=float("inf")), one.row.identifier)

    return key


@dataclass
class MemoryIndex:
    """The index of one Silo as values in memory; every answer looks at every record."""

    is_empty: Callable[[], bool]
    is_private: bool = False  # as good as stored: all who open the Silo share this object
    complete: bool = False
    written: int = 0
    ticket: int = 0
    entries: dict[str, tuple[Entry, ManifestStamp]] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    unreadable: dict[str, str] = field(default_factory=dict)
    unreads: dict[str, Unread] = field(default_factory=dict)
    contributed: dict[str, tuple[str, int, Mapping[str, Sequence[str]]]] = field(
        default_factory=dict
    )
    lost: bool = False

    def __post_init__(self) -> None:
        self.complete = self.is_empty()

    def stamp(self) -> object:
        return self.written, len(self.notes)

    def close(self) -> None:
        """Nothing is open."""

    def take_refuge(self) -> None:
        """It is in memory."""

    def note_unsettled(self, identifiers: Iterable[str], *, durable: bool) -> None:
        self.notes.update(identifiers)

    def settle(
        self, entries: Iterable[tuple[Entry, ManifestStamp] | Prepared], gone: Iterable[str] = ()
    ) -> None:
        self._store(one.entry if isinstance(one, Prepared) else one for one in entries)
        for identifier in gone:
            self.entries.pop(identifier, None)
            self.notes.discard(identifier)
            self.unreads.pop(identifier, None)

    def _store(self, entries: Iterable[tuple[Entry, ManifestStamp]]) -> None:
        self.written += 1
        for entry, stamp in entries:
            self.entries[entry.row.identifier] = entry, stamp
            self.kept.add(entry.row.identifier)
            self.notes.discard(entry.row.identifier)
            self.unreads.pop(entry.row.identifier, None)

    def note_unread(self, found: Iterable[Unread]) -> None:
        self.written += 1
        for one in found:
            name = one.identifier
            before = self.unreads.get(name)
            was_read = before.was_read if before else name in self.entries
            self.unreads[name] = one._replace(was_read=was_read)
            entry = self.entries[name][0] if name in self.entries else entry_of_unread(name)
            codes = dict.fromkeys((*entry.facets.get("finding", ()), UNREADABLE))
            facets = {**entry.facets, "finding": tuple(codes)}
            row = replace(entry.row, deleted=False)
            self.entries[name] = replace(entry, row=row, facets=facets), ManifestStamp(0, 0, -1)
            self.kept.add(name)
            self.notes.discard(name)

    def unread(self, after: str = "", limit: int | None = None) -> list[Unread]:
        return [self.unreads[one] for one in sorted(self.unreads) if one > after][:limit]

    def partial(self, after: str, limit: int) -> list[str]:
        names = sorted(name for name, (entry, _) in self.entries.items() if not entry.is_whole)
        return [one for one in names if one > after][:limit]

    def unsettled(self) -> list[str]:
        if self.lost:
            self.__init__(lambda: False)  # type: ignore[misc]  # as new
            raise IndexLost("memory", "it was lost")
        return sorted(self.notes)

    def _rows(self, filters: Filters) -> list[Row]:
        rows = [self.entries[identifier][0].row for identifier in sorted(self.entries)]
        return [row for row in rows if holds(row, filters)]

    def rows(self, identifiers: Sequence[str]) -> dict[str, Row]:
        return {i: self.entries[i][0].row for i in identifiers if i in self.entries}

    def described(self, identifiers: Sequence[str]) -> dict[str, Described]:
        found = {i: self.entries[i][0] for i in identifiers if i in self.entries}
        return {
            i: Described(
                {k: v for k, v in entry.facets.items() if v}, first_doi(entry.text.identifiers)
            )
            for i, entry in found.items()
        }

    def identified(self, spellings: Sequence[str]) -> list[str]:
        wanted = [f" {spaced(one)} ".casefold() for one in spellings]
        return [
            name
            for name, (entry, _) in self.entries.items()
            if any(one in f" {entry.text.identifiers} ".casefold() for one in wanted)
        ]

    def stamps(self, identifiers: Sequence[str]) -> dict[str, ManifestStamp]:
        readable = [i for i in identifiers if i in self.entries and i not in self.unreads]
        return {i: self.entries[i][1] for i in readable}

    def page(
        self,
        filters: Filters,
        limit: int,
        *,
        after: str | None = None,
        before: str | None = None,
        starting: str | None = None,
    ) -> Page:
        rows = self._rows(filters)
        some = [
            row
            for row in rows
            if (after is None or row.identifier > after)
            and (before is None or row.identifier < before)
            and (starting is None or row.identifier >= starting)
        ]
        shown = some[:limit] if before is None else some[-limit:]
        ends = (
            (shown[0].identifier, shown[-1].identifier) if shown else (after or "", before or "~")
        )
        return Page(
            tuple(shown),
            len(rows),
            has_next=bool(shown or before) and any(row.identifier > ends[1] for row in rows),
            has_previous=any(row.identifier < ends[0] for row in rows),
        )

    def neighbours(self, identifier: str, filters: Filters, limit: int) -> tuple[Row, ...]:
        rows = self._rows(filters)
        before = [row for row in rows if row.identifier < identifier]
        return (*before[-limit:], *[row for row in rows if row.identifier > identifier][:limit])

    def titled(self, after: int, limit: int) -> list[Titled]:
        found = [
            Titled(
                number,
                row.identifier,
                row.title,
                self.described([row.identifier])[row.identifier].doi,
            )
            for number, row in enumerate(self._rows(Filters(deleted=False)), 1)
        ]
        return [one for one in found if one.number > after][:limit]

    def indexed(self) -> list[str]:
        return [row.identifier for row in self._rows(Filters())]

    def count(self, filters: Filters) -> int:
        return len(self._rows(filters))

    def version_count(self) -> int:
        return sum(row.versions for row in self._rows(Filters()))

    def set_counts(self) -> dict[str, int]:
        return dict(sorted(Counter(s for r in self._rows(Filters()) for s in r.sets).items()))

    def set_years(self) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {}
        for entry, _ in self.entries.values():
            for spec, year in product(entry.row.sets, entry.facets.get("year", ())):
                years = counts.setdefault(spec, {})
                years[year] = years.get(year, 0) + 1
        return counts

    def warm(self) -> None:
        """Everything is in memory."""

    def changes_since(self, mark: str) -> Changes:
        return Changes(f"{self.written}", True, ())

    def next_entries(self, changes: Changes) -> Sequence[tuple[int, Entry]]:
        begun, changes.newest = changes.newest, 1
        return [] if begun else [(n, one) for n, (one, _) in enumerate(self.entries.values())]

    def is_in_step(self, facet: Facet, path: str) -> bool:
        noted = self.contributed.get(facet.name)
        return noted is not None and noted[:2] == (facet.stamp(path), self.written)

    def bring_in_step(self, facet: Facet, path: str) -> None:
        stamp = facet.stamp(path)
        values = facet.values(path, sorted(self.entries)) if stamp else {}
        self.contributed[facet.name] = stamp, self.written, values

    def _with_contributed(self, beside: Sequence[str]) -> list[Entry]:
        found = []
        for entry, _ in self.entries.values():
            facets = dict(entry.facets)
            for name in beside:
                field, values = name.partition(".")[0], self.contributed[name][2]
                facets[field] = (*facets.get(field, ()), *values.get(entry.row.identifier, ()))
            found.append(replace(entry, facets=facets))
        return found

    def search(
        self,
        words: str,
        filters: SearchFilters,
        facets: Sequence[str],
        page: PageRequest,
        *,
        beside: Sequence[str] = (),
    ) -> ResultPage:
        check(facets, filters, page)
        hits = [one for one in self._with_contributed(beside) if matches(one, words, filters)]
        sort = page.sort or "relevance"
        if sort == "relevance" and not parse_query(words).groups:
            sort = "identifier"
        hits.sort(key=lambda one: ORDERS.get(sort, by_number(sort))(one, words))
        order, _, start = (page.after or f"{sort} 0").partition(" ")
        if order != sort or not start.isdigit():
            raise SearchError(f"{page.after!r} is not a page of this search")
        end = int(start) + page.limit
        return ResultPage(
            rows=tuple(one.row for one in hits[int(start) : end]),
            total=len(hits),
            next_page=f"{sort} {end}" if end < len(hits) else None,
            sort=sort,
            facets={
                name: tuple(
                    one
                    for place, one in enumerate(self._facet(beside, words, filters, name))
                    if place < page.facet_limit
                    or name in page.whole_facets
                    or one.value in filters.named(name)
                )
                for name in facets
            },
        )

    def around(
        self,
        identifier: str,
        words: str,
        filters: SearchFilters,
        sort: str | None,
        *,
        beside: Sequence[str] = (),
    ) -> Around | None:
        found = self.search(words, filters, (), PageRequest(1000, None, sort), beside=beside)
        names = [None, *(row.identifier for row in found.rows), None]
        if identifier not in names:
            return None
        place = names.index(identifier)
        return Around(names[place - 1], names[place + 1], place, found.total)

    def _facet(
        self, beside: Sequence[str], words: str, filters: SearchFilters, name: str
    ) -> tuple[FacetValue, ...]:
        others = without(filters, name)
        hits = [one for one in self._with_contributed(beside) if matches(one, words, others)]
        counts = Counter(
            value
            for one in hits
            for value in (
                [str(flags(one)[name]).lower()] if name in FLAGS else one.facets.get(name, ())
            )
        )
        ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
        return tuple(FacetValue(value, count) for value, count in ordered)

    def begin_rebuild(self) -> int:
        self.kept.clear()
        self.unreadable.clear()
        self.ticket += 1
        return self.ticket

    def confirm(self, stamps: Mapping[str, ManifestStamp]) -> set[str]:
        known = self.stamps(list(stamps))
        same = {identifier for identifier in known if known[identifier] == stamps[identifier]}
        self.kept |= same
        return same

    def take_in(self, found: Sequence[Prepared]) -> int:
        notes, before = set(self.notes), self.written
        self._store(one.entry for one in found)
        self.notes = notes
        return before

    def changes(self) -> int:
        return self.written

    def end_rebuild(self, ticket: int) -> int | None:
        if ticket != self.ticket:
            return None
        self.entries = {i: self.entries[i] for i in self.entries if i in self.kept}
        self.unreads = {i: self.unreads[i] for i in self.unreads if i in self.kept}
        self.written += 1
        self.complete = True
        return len(self.entries)

    def note_problem(self, path: str, sentence: str) -> None:
        self.unreadable[path] = sentence

    def problems(self) -> list[tuple[str, str]]:
        unread = [(one.path, one.sentence) for one in self.unreads.values()]
        return sorted([*self.unreadable.items(), *unread])


class TestMemoryIndex(IndexConformance):
    def setup_method(self) -> None:
        kept: dict[str, MemoryIndex] = {}

        class MemorySilo(Silo):
            def _open_index(self, is_empty: Callable[[], bool]) -> Index:
                return kept.setdefault(self.path, MemoryIndex(is_empty))

        self.kept, self.type = kept, MemorySilo

    def open_silo(self, path: str) -> Silo:
        return self.type(path)

    def lose(self, path: str) -> None:
        self.kept[path].lost = True
