"""Select records by words, by filters, or by identifier.

Every command, job, rule and page uses the same value, and `Silo.search` defines its meaning.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field as member
from reprlib import repr as shortened
from typing import Any

from recordsilo.batches import batched
from recordsilo.errors import SearchError
from recordsilo.index import PageRequest, Row, SearchFilters
from recordsilo.index.facets import facet_called
from recordsilo.index.query_syntax import query_from
from recordsilo.index.search_values import (
    FLAGS,
    bound_of,
    facet_of,
    filters_of,
    texts_of,
)
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.silo import Silo
from recordsilo.silo_then import SiloThen
from recordsilo.wording import counted

CHUNK = 1000
"""Listed records that are looked up at a time."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Records of a Silo.

    Attributes:
        query: Words, as `Silo.search` takes them.
        filters: Conditions on fields.
        identifiers: Only these; if empty, all that the query and the filters find.
        as_of: The records as they were at this moment (ISO 8601, UTC), in a `SiloThen`.
    """

    query: str = ""
    filters: SearchFilters = member(default_factory=SearchFilters)
    identifiers: tuple[str, ...] = ()
    as_of: str = ""

    def __str__(self) -> str:
        """In words, such as ``set a:b and search solar``; empty if all records are selected."""
        return self.said()

    def said(self, set_name: Callable[[str], str] = str) -> str:
        """In words; sets are called what ``set_name`` returns for their setSpec."""
        values = {
            name: tuple(map(set_name, some)) if facet_of(name) == "set" else some
            for name, some in self.filters.values.items()
        }
        said = [
            *(_said(name, some) for name, some in values.items()),
            *(f"{name} {wanted}".lower() for name, wanted in self.filters.flags.items()),
            f"since {self.filters.since}" if self.filters.since else "",
            f"until {self.filters.until}" if self.filters.until else "",
            f"changed since {self.filters.changed_since}" if self.filters.changed_since else "",
            f"search {self.query}" if self.query else "",
            counted(len(self.identifiers), "identifier") if self.identifiers else "",
            f"as of {self.as_of}" if self.as_of else "",
        ]
        return " and ".join(filter(None, said))

    @contextmanager
    def at(self, silo: Silo) -> Iterator[Silo]:
        """Give the Silo in which the records are selected: as it is, or as it was.

        Args:
            silo: As it is; or as it was, then it is given unchanged.

        Raises:
            MomentUnknown: See `SiloThen`.
        """
        if not self.as_of or isinstance(silo, SiloThen):
            yield silo
            return
        with SiloThen(silo.storage_dir, self.as_of) as then:
            yield then

    def _check_time(self, silo: Silo) -> None:
        if self.as_of and not isinstance(silo, SiloThen):
            raise SearchError(
                f"records as they were ({self.as_of}) can only be listed and exported"
            )

    @property
    def is_everything(self) -> bool:
        """Whether it selects all records."""
        return self == Selection()

    def iterate(self, silo: Silo) -> Iterator[str]:
        """The identifiers found, each once, read from the index page by page.

        Listed identifiers keep their order; otherwise they are sorted. Records that change
        meanwhile may or may not be found.

        Raises:
            RecordNotFound: A listed record does not exist; nothing was yielded.
            SearchError, IndexProblem: See `Silo.search`.

        Cost: memory for one page; with both identifiers and a search, for all found.
        """
        self._check_time(silo)
        yield from silo.selected(self.query, self.filters, self.identifiers)

    def rows(self, silo: Silo) -> Iterator[Row]:
        """What `iterate` yields as lists show it, looked up `CHUNK` at a time.

        Records that are deleted meanwhile are omitted.
        """
        self._check_time(silo)
        if not self.identifiers:
            yield from silo.found(self.filters, self.query)
            return
        for some in batched(self.iterate(silo), CHUNK):
            yield from silo.rows(some).values()

    def records(self, silo: Silo) -> Iterator[HarvestedRecord]:
        """The records that `iterate` yields; see `Silo.records`."""
        self._check_time(silo)
        return silo.records(self.query, self.filters, ids=self.identifiers or None)

    def find(self, silo: Silo) -> tuple[str, ...]:
        """What `iterate` yields, collected before anything is changed.

        A change may make a record no longer match the query.

        Cost: about 100 bytes of memory per record.
        """
        return tuple(self.iterate(silo))

    def total(self, silo: Silo) -> int:
        """The number of records found; for identifiers alone, the number listed."""
        self._check_time(silo)
        if not self.identifiers and not self._asks and not isinstance(silo, SiloThen):
            return silo.count()
        if not self.identifiers:
            return silo.search(self.query, self.filters, page=PageRequest(limit=1)).total
        return len(self.find(silo)) if self._asks else len(dict.fromkeys(self.identifiers))

    def unsure(self, silo: Silo) -> list[tuple[str, str]]:
        """What it may select, too, but `iterate` cannot tell because it was never read.

        Returns:
            (identifier or path, why it cannot be read) pairs; none if records are listed. With
            conditions, without the records that were removed since; see `untold`.
        """
        if self.identifiers:
            return []
        unread = {one.path: one for one in silo.unread()}
        gone = set()
        if self._asks and isinstance(silo, SiloThen):
            gone = {one.identifier for one in silo.removed_since()}
        return [
            (unread[path].identifier if path in unread else path, sentence)
            for path, sentence in silo.index_problems()
            if path not in gone and (path not in unread or not unread[path].was_read)
        ]

    def untold(self, silo: Silo) -> str:
        """Say of how many removed records nobody can tell whether they met the conditions.

        Args:
            silo: As it is, or as it was.

        Returns:
            A sentence; empty if there are none, or no conditions.
        """
        if self.identifiers or not self._asks or not isinstance(silo, SiloThen):
            return ""
        count = len(silo.removed_since())
        if not count:
            return ""
        were, their, they = ("was", "its", "it") if count == 1 else ("were", "their", "they")
        return (
            f"{counted(count, 'record')} {were} removed since; {their} metadata is not kept, so "
            f"{they} cannot be selected"
        )

    def check(self, silo: Silo) -> None:
        """Check that the index accepts the selection.

        Raises:
            SearchError: The index rejects it, or the query has nothing to search for;
                the message says why.
        """
        self._check_time(silo)
        if self.query:
            query_from(self.query)
        silo.search(self.query, self.filters, page=PageRequest(limit=1))

    @property
    def _asks(self) -> bool:
        return bool(self.query.strip()) or self.filters != SearchFilters()


def _said(key: str, values: Sequence[str]) -> str:
    without = "without " if key != facet_of(key) else ""
    return f"{without}{facet_of(key)} {' or '.join(values)}"


def selection_table(selection: Selection) -> dict[str, Any]:
    """A selection as a TOML table or a JSON object, without empty conditions."""
    filters = selection.filters
    table: dict[str, Any] = {
        "query": selection.query,
        **filters.flags,
        **{name: list(values) for name, values in filters.values.items()},
        "since": filters.since,
        "until": filters.until,
        "changed_since": filters.changed_since,
        "identifiers": list(selection.identifiers),
        "as_of": selection.as_of,
    }
    return {name: value for name, value in table.items() if value not in ("", None, [])}


def selection_from(table: Mapping[str, Any]) -> Selection:
    """Read a selection.

    Raises:
        SearchError: An unknown key, a value of the wrong kind, an empty list, or a query
            with nothing to search for.
    """
    if not isinstance(table, Mapping):
        raise SearchError("records are selected in a table: [select]")
    given = dict(table)
    words = given.pop("query", None)
    if words is not None and not isinstance(words, str):
        raise SearchError(f"query is a text, not {shortened(words)}")
    query = query_from(words) if words is not None else ""
    identifiers: tuple[str, ...] = ()
    if "identifiers" in given:
        identifiers = texts_of("identifiers", given.pop("identifiers"))
    as_of = given.pop("as_of", "")
    if not isinstance(as_of, str) or (as_of and bound_of(as_of, last=False) < 0):
        raise SearchError(f"as_of is a date, not {shortened(as_of)}")
    filters = filters_of(given, ("query", "identifiers", "as_of"))
    return Selection(query, filters, identifiers, as_of)


def filters_from(
    texts: Sequence[str] = (),
    *,
    set_spec: str | None = None,
    state: str | None = None,
    since: str | None = None,
    until: str | None = None,
    changed_since: str | None = None,
) -> SearchFilters:
    """Make filters from options of the command line.

    Args:
        texts: Each ``FIELD=VALUE``, or ``FIELD!=VALUE`` for records without it; a repeated
            field means any of its values.
        set_spec, state: The same as ``set=SPEC`` and ``state=STATE``.
        since, until: The earliest and the latest datestamp.
        changed_since: The earliest time of a change here.

    Raises:
        SearchError: A text without ``=``, or a flag that is neither true nor false.
        UnicodeEncodeError: A text that is not valid Unicode.
    """
    "".join((*texts, set_spec or "", since or "", until or "", changed_since or "")).encode()
    flags: dict[str, bool] = {}
    values: dict[str, list[str]] = {}
    for name, given in (("set", set_spec), ("state", state)):
        if given is not None:
            values[name] = [given]
    for text in texts:
        name, equals, value = text.partition("=")
        name = facet_called(name)
        if not equals:
            raise SearchError(f"{text!r} is not a filter; write FIELD=VALUE, such as year=2019")
        if name not in FLAGS:
            values.setdefault(name, []).append(value)
        elif value in {"true", "false"}:
            flags[name] = value == "true"
        else:
            raise SearchError(f"{name} is true or false, not {shortened(value)}")
    return SearchFilters(flags, values, since, until, changed_since)
