"""What the list of a directory of Silos says of each; read again only if its files changed."""

import logging
import os
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from oaipmhscraper.errors import ScraperError
from oaipmhscraper.harvests.past_harvests import PastHarvest, harvests_of
from oaipmhscraper.lists.journal import journal_path
from recordsilo import Granary
from recordsilo.disk.stamps import stamp_of
from recordsilo.errors import RecordSiloError
from recordsilo.index import PageRequest
from recordsilo.repository import STATE_FILE, Repository
from webui.harvest_lines import HarvestLine, line_of

_FILES = (".silo/index.sqlite", ".silo/index.sqlite-wal", "harvests", STATE_FILE)
"""What changes with the records of a Silo, its harvests and the name of its repository."""
logger = logging.getLogger("webui")


@dataclass(frozen=True, slots=True)
class SiloLine:
    """A Silo in the list.

    Attributes:
        title: Empty if another Silo of the same page of the list has it.
        records: None if the Silo cannot be read.
        years: Year → number of records.
        harvest: The last one; None if there was none.
    """

    name: str
    title: str
    records: int | None = None
    years: dict[str, int] = field(default_factory=dict)
    harvest: PastHarvest | None = None

    @property
    def last_harvest(self) -> HarvestLine | None:
        """The last harvest in words, which are in the language of the page that asks."""
        return line_of(self.harvest) if self.harvest is not None else None

    def to_json(self, url: str) -> dict[str, Any]:
        """Return the line as JSON values."""
        harvest = self.last_harvest and self.last_harvest.to_json()
        return {
            "name": self.name,
            "title": self.title,
            "url": url,
            "records": self.records,
            "years": self.years,
            "last_harvest": harvest,
        }


class SiloLines:
    """The Silos of a directory, for a list; any thread may use it."""

    def __init__(self, granary: Granary) -> None:
        self._granary = granary
        self._names: list[str] = []
        self._others: list[str] = []
        self._seen: object = None
        self._lines: dict[str, tuple[object, SiloLine]] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the names of the Silos, sorted.

        Cost: a ``stat`` of the directory, and of each entry that is not a Silo; all entries are
        looked at only if some were added or removed.
        """
        with self._lock:
            stamp = stamp_of(self._granary.dir_of_silos)
            entries = self._others
            known: set[str] = set(self._names)
            if stamp is None or stamp != self._seen:
                self._seen = stamp
                entries = os.listdir(self._granary.dir_of_silos)
                known &= set(entries)
                self._lines = {name: at for name, at in self._lines.items() if name in known}
            found = {one for one in entries if one in known or self._granary.issilo(one)}
            self._others = [one for one in entries if one not in found]
            if (known | found) != set(self._names):
                self._names = sorted(known | found)
            return self._names

    def lines(self, names: Sequence[str]) -> list[SiloLine]:
        """Return the lines of some Silos, each with a unique title."""
        lines = [self._line(name) for name in names]
        titles = Counter(line.title for line in lines)
        return [replace(line, title="") if titles[line.title] > 1 else line for line in lines]

    def _line(self, name: str) -> SiloLine:
        path = os.path.join(self._granary.dir_of_silos, name)
        said = self._granary.description_of(name)
        title = str(said.get("title") or said.get("description") or "")
        journal = journal_path(path)
        own = (os.path.join(path, one) for one in _FILES)
        stamp = stamp_of(*own, journal, journal + "-wal")
        known = self._lines.get(name)
        if known is not None and stamp is not None and known[0] == (stamp, title):
            return known[1]
        try:
            line = self._read(name, path, title)
        except (RecordSiloError, ScraperError, OSError):
            logger.exception("the Silo %s cannot be read", name)
            return SiloLine(name, title)
        self._lines[name] = (stamp, title), line
        return line

    def _read(self, name: str, path: str, title: str) -> SiloLine:
        with self._granary.get_silo(name, create=False) as silo:
            page = PageRequest(limit=1, whole_facets=("year",))
            years = silo.search("", None, ["year"], page=page).facets["year"]
            return SiloLine(
                name,
                title or Repository(path).name,
                len(silo),
                {one.value: one.count for one in years},
                next(iter(harvests_of(path, newest=1)), None),
            )
