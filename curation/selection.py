"""Which records are meant: by words, by filters, or by name; the same as `silo search`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as member
from reprlib import repr as shortened
from typing import Any

from curation.errors import RuleRefused
from recordsilo import Silo
from recordsilo.errors import RecordNotFound, SearchError
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.search_values import FACETS, FLAGS

_CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """Records of a Silo.

    Attributes:
        query: Words, as `Silo.search` takes them.
        filters: What else a record needs.
        identifiers: Only these; empty: all that the query and the filters find.
    """

    query: str = ""
    filters: SearchFilters = member(default_factory=SearchFilters)
    identifiers: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        """Whether nothing is asked of a record."""
        return self == Selection()

    def find(self, silo: Silo) -> tuple[str, ...]:
        """The identifiers found now, each once.

        Those named are in the order named, others by identifier. They are taken
        whole before anything is changed, since a change may move a record out of
        what the query finds.

        Raises:
            RecordNotFound: One that is named is not there.
            SearchError, IndexProblem: See `Silo.search`.

        Cost: some 100 bytes a record in memory.
        """
        found = self._found(silo) if self._asks or not self.identifiers else None
        if not self.identifiers:
            return tuple(found or ())
        allowed = None if found is None else frozenset(found)
        named = dict.fromkeys(silo.resolve(one) for one in self.identifiers)
        for identifier in named:
            if identifier not in silo:
                raise RecordNotFound(identifier, silo.storage_dir)
        return tuple(one for one in named if allowed is None or one in allowed)

    @property
    def _asks(self) -> bool:
        return bool(self.query.strip()) or self.filters != SearchFilters()

    def _found(self, silo: Silo) -> Iterator[str]:
        page = PageRequest(limit=_CHUNK, sort="identifier")
        while True:
            result = silo.search(self.query, self.filters, page=page)
            yield from (row.identifier for row in result.rows)
            if result.next_page is None:
                return
            page = replace(page, after=result.next_page)


def selection_table(selection: Selection) -> dict[str, Any]:
    """A selection as a table of TOML or an object of JSON; what asks nothing is left out."""
    filters = selection.filters
    table: dict[str, Any] = {
        "query": selection.query,
        **filters.flags,
        **{name: list(values) for name, values in filters.values.items()},
        "since": filters.since,
        "until": filters.until,
        "identifiers": list(selection.identifiers),
    }
    return {name: value for name, value in table.items() if value not in ("", None, [])}


def selection_from(table: Mapping[str, Any]) -> Selection:
    """Read a selection.

    Raises:
        RuleRefused: A key is no filter, or a value of the wrong kind.
    """
    if not isinstance(table, Mapping):
        raise RuleRefused("records are selected in a table: [select]")
    given = dict(table)
    texts = {name: given.pop(name, None) for name in ("query", "since", "until")}
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise RuleRefused(f"{name} is a text, not {shortened(value)}")
    identifiers = _texts("identifiers", given.pop("identifiers", []))
    flags = {name: given.pop(name) for name in FLAGS if name in given}
    if wrong := [name for name, value in flags.items() if not isinstance(value, bool)]:
        raise RuleRefused(f"{wrong[0]} is true or false, not {shortened(flags[wrong[0]])}")
    if unknown := given.keys() - set(FACETS):
        known = ", ".join(["query", "identifiers", "since", "until", *FLAGS, *FACETS])
        raise RuleRefused(f"{', '.join(sorted(unknown))} selects nothing; what does: {known}")
    values = {name: _texts(name, value) for name, value in given.items()}
    filters = SearchFilters(flags, values, texts["since"], texts["until"])
    return Selection(texts["query"] or "", filters, identifiers)


def check_selection(silo: Silo, selection: Selection) -> None:
    """Ask the index whether it understands a selection.

    Raises:
        RuleRefused: It does not: says why.
    """
    try:
        silo.search(selection.query, selection.filters, page=PageRequest(limit=1))
    except SearchError as error:
        raise RuleRefused(str(error)) from None


def _texts(name: str, value: Any) -> tuple[str, ...]:
    listed: Sequence[Any] = [value] if isinstance(value, str) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise RuleRefused(f"{name} is a text or a list of texts, not {shortened(value)}")
    return tuple(listed)
