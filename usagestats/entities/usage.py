"""Questions about the usage of a Silo: what was used most, and how one thing was used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.extras import later
from usagestats.entities.bundles import Bundles, read_bundles
from usagestats.entities.catalogue import EntityCatalogue
from usagestats.entities.mapping import KEY, key_of
from usagestats.errors import EntityUnknown
from usagestats.store import queries
from usagestats.store.consistency import check_counts
from usagestats.store.counts import Period, UsageCounts
from usagestats.values import Figures

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = later("numpy", "silo usage", "usage")

MEASURES = {
    "all": "total_investigations",
    "downloads": "total_requests",
    "views": "views",
}
"""Name of an order → the figure that it compares."""
MEASURES_2010 = {
    "all": "uses_2010",
    "downloads": "downloads_2010",
    "views": "views_2010",
}
"""Likewise by the rule of 2010, for tables with the columns of 2010."""
NOTHING = Figures()
RECORD = "record"
"""The kind of a record, beside those of entities."""


@dataclass(frozen=True, slots=True)
class Used:
    """A record or an entity with its figures.

    Attributes:
        key: Of the entity or its bundle; the identifier of a record.
        kind: Of the entity; `RECORD`.
        label: May be empty.
        items: The records, in order.
    """

    key: str
    kind: str
    label: str
    figures: Figures = NOTHING
    items: tuple[str, ...] = ()
    records: int = 1


class Usage:
    """The usage of a Silo; reads only, and records that changed into its own cache.

    Raises (every method):
        UsageError: The counts, the settings or the bundles cannot be read.
    """

    def __init__(self, silo: Silo) -> None:
        self.silo = silo
        self.counts = UsageCounts(silo.path)
        self.catalogue = EntityCatalogue(silo, self.counts)
        self._bundles: Bundles | None = None

    def __enter__(self) -> Usage:
        check_counts(self.silo.path)
        self.catalogue.refresh()
        return self

    def __exit__(self, *exception: object) -> None:
        self.catalogue.close()
        self.counts.close()

    @property
    def bundles(self) -> Bundles:
        """The bundles, read once."""
        if self._bundles is None:
            self._bundles = read_bundles(self.silo.path)
        return self._bundles

    # ------------------------------------------------------------------ what was used most

    def sums(self, period: Period, *, machine: bool = False) -> queries.Sums:
        """Return the figures of every record in a period; repeated questions cost nothing."""
        return _sums(self.silo.path, self.counts.stamp(), period, machine)

    def top_items(self, period: Period, by: str = MEASURES["all"], number: int = 10) -> list[Used]:
        """Return the most used records of a period.

        Args:
            period: Which days.
            by: A figure in `MEASURES` or `MEASURES_2010`.
        """
        sums = self.sums(period)
        first = _most(sums.by(by), number)
        numbers = [int(sums.items[one]) for one in first]
        names, titles = queries.names_of(self.counts, numbers), self.catalogue.titles(numbers)
        return [
            Used(names[item], RECORD, titles.get(item, ""), Figures(*sums.figures[one].tolist()))
            for one, item in zip(first, numbers, strict=True)
        ]

    def top_entities(
        self, kind: str, period: Period, by: str = MEASURES["all"], number: int = 10
    ) -> list[Used]:
        """Return the most used entities of a kind, with bundles as one; as `top_items`."""
        sums = self.sums(period)
        links = _links(self.silo, self.catalogue, self.bundles, kind)
        rows = np.zeros(int(max(links.items.max(initial=0), sums.items.max(initial=0))) + 1, int)
        rows[sums.items] = np.arange(1, len(sums.items) + 1)
        figures = np.vstack((np.zeros((1, sums.figures.shape[1]), np.int64), sums.figures))
        found = np.zeros((len(links.keys), sums.figures.shape[1]), np.int64)
        np.add.at(found, links.entities, figures[rows[links.items]])
        first = _most(queries.measured(found, by), number)
        sizes = np.bincount(links.entities, minlength=len(links.keys))
        return [
            Used(key, kind, self.label(key), Figures(*found[one].tolist()), (), int(sizes[one]))
            for one in first
            for key in (links.keys[one],)
        ]

    def used_items(
        self, items: Collection[str], period: Period, number: int, by: str = MEASURES["all"]
    ) -> list[Used]:
        """Return some records with their figures, the most used first; `by` as `top_items`."""
        sums, names = self.sums(period), queries.numbers_of(self.counts, items)
        rows = np.flatnonzero(np.isin(sums.items, list(names)))
        order = np.argsort(-sums.by(by)[rows], kind="stable")[:number]
        first = rows[order].tolist()
        titles = self.catalogue.titles(sums.items[first].tolist())
        return [
            Used(names[item], RECORD, titles.get(item, ""), Figures(*sums.figures[row].tolist()))
            for row in first
            for item in (int(sums.items[row]),)
        ]

    # ------------------------------------------------------------------ one record or entity

    def keys_of_values(self, kind: str, values: Collection[str]) -> list[str]:
        """Return the keys of the entities of a kind with these labels, each once.

        Args:
            kind: Such as ``creator``.
            values: As they are in the records.
        """
        mapping = self.catalogue.mapping
        found = mapping.kind(kind)
        if found is None:
            return []
        if not mapping.by_record:
            return [key_of(found.prefix, value) for value in dict.fromkeys(values)]
        entities = (one for value in values for one in self.catalogue.labelled(value))
        return [one.key for one in entities if one.kind == kind and one.label in values]

    def label(self, key: str) -> str:
        """Return the label of an entity; of a bundle, that of its first entity."""
        for one in self.bundles.members.get(key, (key,)):
            if (found := self.catalogue.entity(one)) is not None:
                return found.label
        return ""

    def find(self, text: str) -> Used:
        """Return the record or the entity that a text names, without figures.

        Args:
            text: An identifier in any form, a key, ``kind=label``, or a label that one
                entity has.

        Raises:
            EntityUnknown: Nothing has that name, or several entities have.
        """
        kind, _, label = text.partition("=")
        is_entity = KEY.fullmatch(text) or (label and self.catalogue.mapping.kind(kind))
        if not is_entity and (item := self.item(text)) is not None:
            numbers = self.counts.rows("SELECT id FROM item WHERE name = ?", (item,))
            titles = self.catalogue.titles(number for (number,) in numbers)
            title = next(iter(titles.values()), "") or self.catalogue.title_of(item)
            return Used(item, RECORD, title, items=(item,))
        return self.entity(self.key(text))

    def key(self, text: str) -> str:
        """Return the key of the entity that a text names, as `find`."""
        if KEY.fullmatch(text):
            return text
        kind, _, label = text.partition("=")
        if self.catalogue.mapping.kind(kind) and label:
            found = [one for one in self.catalogue.labelled(label) if one.kind == kind]
        else:
            found = self.catalogue.labelled(text)
        if not found:
            raise EntityUnknown(f"no record that was used has the identifier or the value {text!r}")
        if len(found) > 1:
            keys = ", ".join(f"{one.kind} {one.key}" for one in found[:10])
            raise EntityUnknown(f"{text!r} is the name of several; choose one by its key: {keys}")
        return found[0].key

    def item(self, text: str) -> str | None:
        """Return the identifier of a record of the Silo, or of one that was only used."""
        try:
            return self.silo.resolve(text)
        except RecordSiloError:
            rows = self.counts.rows("SELECT name FROM item WHERE name = ?", (text,))
            return rows[0][0] if rows else None

    def entity(self, key: str) -> Used:
        """Return the entity of a key, or the bundle that has it, with its records.

        Raises:
            EntityUnknown: No record that was used has it.
        """
        keys = self.bundles.whole(key)
        entity = next(filter(None, map(self.catalogue.entity, (key, *keys))), None)
        if entity is None:
            raise EntityUnknown(f"no record that was used has an entity with the key {key}")
        items = tuple(self.catalogue.items_of(keys))
        whole = self.bundles.bundle_of.get(key, key)
        label = self.label(whole) if whole != key else entity.label
        return Used(whole, entity.kind, label or entity.label, items=items, records=len(items))


@dataclass(frozen=True, slots=True, eq=False)
class _Links:
    """The entities of a kind and their records, by number."""

    keys: list[str]
    entities: NDArray[np.int64]
    items: NDArray[np.int64]


@lru_cache(maxsize=32)
def _sums(path: str, _stamp: str, period: Period, machine: bool) -> queries.Sums:
    with UsageCounts(path) as counts:
        return queries.sums_of_items(counts, period, machine=machine)


_known_links: OrderedDict[tuple[str, str], tuple[str, Bundles, _Links]] = OrderedDict()
_MOST_KNOWN = 32
"""Kinds of entities of all Silos of the process; a page may show thousands of Silos."""


def _links(silo: Silo, catalogue: EntityCatalogue, bundles: Bundles, kind: str) -> _Links:
    stamp, place = catalogue.stamp(), (silo.path, kind)
    known = _known_links.get(place)
    if known is not None and known[0] == stamp and known[1] == bundles:
        return known[2]
    numbers: dict[str, int] = {}
    pairs = {
        (numbers.setdefault(bundles.bundle_of.get(key, key), len(numbers)), item)
        for key, item in catalogue.pairs(kind)
    }
    found = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    links = _Links(list(numbers), found[:, 0], found[:, 1])
    _known_links[place] = (stamp, bundles, links)
    if len(_known_links) > _MOST_KNOWN:
        _known_links.popitem(last=False)
    return links


def _most(column: NDArray[np.int64], number: int) -> list[int]:
    """The places of the largest numbers above 0, the largest first; of equals, the first."""
    order = np.argsort(-column, kind="stable")[:number]
    return [int(one) for one in order if column[one] > 0]
