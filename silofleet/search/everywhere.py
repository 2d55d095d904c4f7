"""The search over all Silos that commands and the page call."""

import contextlib
import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from recordsilo import Granary
from recordsilo.errors import RecordSiloError, SearchError, did_you_mean
from recordsilo.extras import PackageMissing
from silofleet.search.errors import IndexUnusable, TooManySilos
from silofleet.search.index import Opened, place_of
from silofleet.search.nodes import VALUES_OF_NODES, OtherNodes, answered, merged
from silofleet.search.silos import ASKED_AT_MOST, search_silos
from silofleet.search.values import REPOSITORY, AllSearch, Missing, SearchAnswer

_NAMES_HOLD = 5.0
_MOST_NAMED = 100
_SPELLED_BY = 20
"""Silos whose spelling is asked for."""
_SPELLINGS = 3


class Everywhere:
    """Searches over a directory of Silos, by the index of all if there is one, else each Silo.

    Threads may share it; the index stays open between searches.
    """

    def __init__(self, granary: Granary) -> None:
        self._granary = granary
        self._path = place_of(granary.dir_of_silos)
        self._opened: tuple[object, Opened] | None = None
        self._listed: tuple[float, list[str]] | None = None
        self._lock = threading.Lock()
        self._nodes = OtherNodes(granary.dir_of_silos)

    @property
    def nodes(self) -> Mapping[str, str]:
        """Other nodes and the addresses of their pages."""
        return self._nodes.addresses()

    def search(self, search: AllSearch, *, only_here: bool = False) -> SearchAnswer:
        """Search every Silo, also those of other nodes.

        Args:
            only_here: Whether to leave out the other nodes, because one of them asks.

        Raises:
            WishesInvalid: The file that names the nodes cannot be read.
            SearchError, TooManySilos, IndexUnusable: See `search_here`.
        """
        addresses = {} if only_here else self.nodes
        if not addresses:
            return self.search_here(search, are_all=not only_here)
        first = search.first(VALUES_OF_NODES)
        asked = self._nodes.ask(addresses, first)
        return answered(asked, search, self.search_here(first, are_all=False))

    def search_here(self, search: AllSearch, *, are_all: bool = True) -> SearchAnswer:
        """Search every Silo of this directory.

        Args:
            are_all: Whether a Silo that is not here does not exist.

        Raises:
            SearchError: The search is wrong, or a filter names a Silo that does not exist.
            TooManySilos: There are more than `ASKED_AT_MOST`, and no index.
            IndexUnusable: The same, and the index is damaged.
        """
        wanted = search.filters.named(REPOSITORY)
        names = self._names()
        if not {*wanted} <= {*names}:
            names = self._names(anew=True)
        if are_all and wanted and (unknown := sorted({*wanted} - {*names})):
            raise SearchError(f"there is no Silo {unknown[0]!r}{did_you_mean(unknown[0], names)}")
        asked = [name for name in names if search.has_silo(name)]
        try:
            opened = self._index()
            if opened is not None:
                return self._by_index(opened, search, names, asked)
        except (IndexUnusable, PackageMissing):
            if len(asked) > ASKED_AT_MOST:
                raise
        if len(asked) > ASKED_AT_MOST:
            raise TooManySilos(self._granary.dir_of_silos, len(asked))
        return search_silos(self._granary, search)

    def meant(self, search: AllSearch) -> tuple[str, int] | None:
        """What the words of a search that found nothing probably mean, as Silos here spell them.

        Returns:
            The words, and the number of records that they find here; None if they find none.

        Cost: opens at most 20 Silos; at most three searches.
        """
        said: Counter[str] = Counter()
        names = (name for name in self._names() if search.has_silo(name))
        for name in islice(names, _SPELLED_BY if search.words else 0):
            with (
                contextlib.suppress(RecordSiloError, OSError),
                self._granary.get_silo(name, create=False) as silo,
            ):
                said[silo.respelled(search.words)] += 1
        del said[""]
        found = {}
        for words, _silos in said.most_common(_SPELLINGS):
            one = replace(search, words=words, offset=0, limit=1, facets=())
            found[words] = self.search_here(one, are_all=False).total
        best = max(found, key=lambda words: found[words], default="")
        return (best, found[best]) if best and found[best] else None

    def _by_index(
        self, opened: Opened, search: AllSearch, names: list[str], asked: list[str]
    ) -> SearchAnswer:
        """The answer of the index, with those of the Silos that were not fed to it yet."""
        others = sorted({*names} ^ {*opened.marks})  # not fed to the end, or not here any more
        unfed = [name for name in asked if name not in opened.marks]
        if not unfed or len(unfed) > ASKED_AT_MOST:
            why = "it is not in the index of all Silos yet; `silo fleet index` feeds it"
            missing = tuple(Missing(name, why) for name in unfed[:_MOST_NAMED])
            if more := len(unfed) - len(missing):
                missing += (
                    Missing(f"{more:,} more Silos", "they are not in the index of all Silos yet"),
                )
            return replace(opened.search(search, others), asked=len(asked), missing=missing)
        first = search.first(VALUES_OF_NODES)
        fed = replace(opened.search(first, others), asked=len(asked) - len(unfed))
        return merged([fed, search_silos(self._granary, first, only=unfed)], (), search)

    def _names(self, *, anew: bool = False) -> list[str]:
        """The Silos, looked up every `_NAMES_HOLD` seconds; that takes 10 ms for a thousand."""
        if anew or self._listed is None or time.monotonic() - self._listed[0] > _NAMES_HOLD:
            self._listed = time.monotonic(), self._granary.silos
        return self._listed[1]

    def _index(self) -> Opened | None:
        """The index after its last commit; None if there is none."""
        try:
            found = os.stat(f"{self._path}/meta.json")
        except OSError:
            return None
        stamp = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
        with self._lock:
            if self._opened is None or self._opened[0] != stamp:
                self._opened = stamp, Opened(self._path)
            return self._opened[1]
