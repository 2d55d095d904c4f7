"""Which records are exported."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from recordsilo import Silo
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.manifest import Manifest

PAGE = 500


@dataclass(frozen=True, slots=True)
class Selection:
    """Records of a Silo; what is left out does not matter.

    Attributes:
        set_spec: Those of a set, or of one below it.
        items: These, by full identifiers; empty means all.
        state: Of them, those whose current version is in this state.
        query: What `Silo.search` finds by these words; not together with ``items``.
    """

    set_spec: str | None = None
    items: tuple[str, ...] = ()
    state: str | None = None
    query: str = ""

    def total(self, silo: Silo) -> int:
        """How many records are selected, at most.

        Raises:
            SearchError, IndexProblem: See `Silo.search`.
        """
        if self.items:
            return len(set(self.items))
        if self._is_plain:
            return silo.count(set_spec=self.set_spec)
        return silo.search(self.query, self._filters(), page=PageRequest(limit=1)).total

    def identifiers(self, silo: Silo) -> Iterator[str]:
        """The records, each once, read from the index page by page: memory stays flat.

        Those named come in the order named, others by identifier. Of those named the
        state is not asked here (`has`).

        Raises:
            SearchError, IndexProblem: See `Silo.search`.
        """
        if self.items:
            yield from dict.fromkeys(self.items)
        elif self._is_plain:
            yield from _listed(silo, self.set_spec)
        else:
            yield from self._searched(silo)

    def has(self, manifest: Manifest) -> bool:
        """Whether the record's current version is in the wanted state, as it is now."""
        return self.state is None or manifest.current.state == self.state

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Selection":
        """The selection that `to_json` gave."""
        return cls(**{**values, "items": tuple(values["items"])})

    def __str__(self) -> str:
        named = {"set": self.set_spec, "state": self.state, "search": self.query}
        return " and ".join(f"{kind} {value}" for kind, value in named.items() if value)

    @property
    def _is_plain(self) -> bool:
        return self.state is None and not self.query.strip()

    def _filters(self) -> SearchFilters:
        wanted = {"state": self.state, "set": self.set_spec}
        return SearchFilters(values={key: [value] for key, value in wanted.items() if value})

    def _searched(self, silo: Silo) -> Iterator[str]:
        page = PageRequest(limit=PAGE, sort="identifier")
        while True:
            result = silo.search(self.query, self._filters(), page=page)
            yield from (row.identifier for row in result.rows)
            if result.next_page is None:
                return
            page = replace(page, after=result.next_page)


def _listed(silo: Silo, set_spec: str | None) -> Iterator[str]:
    page = silo.page(limit=PAGE, set_spec=set_spec)
    while page.rows:
        yield from (row.identifier for row in page.rows)
        if not page.has_next:
            return
        page = silo.page(limit=PAGE, after=page.rows[-1].identifier, set_spec=set_spec)
