"""A directory of Silos as the record source of `oaipmhprovider`: one list over all of them."""

import logging
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from threading import Lock

from oaipmhprotocol import MetadataFormat, Record, Set
from recordsilo import Granary
from recordsilo.disk.atomic_file import make_directory
from recordsilo.disk.full_disk import is_full_disk
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordSiloError
from recordsilo.repository import Repository
from siloprovider.errors import ItemsUnreadable
from siloprovider.item_table import Item, Turn
from siloprovider.open_sources import OpenSources
from siloprovider.set_names import spec_of_name
from siloprovider.shared_items import SharedItems, stamp_of_silo
from siloprovider.table_source import Identity, TableSource, available, header_of, utc_now

_UNTIL_NEXT_LOOK = 1.0
"""Seconds for which the directory is not looked at again."""
logger = logging.getLogger("siloprovider")


class GranarySource(TableSource[SharedItems]):
    """See `oaipmhprovider.source.RecordSource`. Usable as a context manager.

    Args:
        identity: See `Identity`.
        only_ready: See `SiloSource`.
    """

    def __init__(
        self,
        granary: Granary,
        identity: Identity,
        *,
        only_ready: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(identity)
        self._granary = granary
        self._path = os.path.abspath(granary.dir_of_silos)
        place = os.path.join(self._path, ".silo")
        make_directory(place)
        name = "provider-ready.sqlite" if only_ready else "provider.sqlite"
        self.items = SharedItems(os.path.join(place, name), now)
        self._sources = OpenSources(granary, only_ready=only_ready, now=now)
        self._feeding, self._name, self._looked = Lock(), name, float("-inf")
        self._formats: dict[str, MetadataFormat] = {}
        self._sets: list[Set] | None = None
        self._faults: dict[str, str] = {}

    def close(self) -> None:
        """Close its file, and the Silos."""
        self._sources.close()
        super().close()

    # ------------------------------------------------------------------ kept in step

    def catch_up(self, progress: Callable[[int], object] | None = None) -> None:
        """Take over what changed in any Silo. A Silo that cannot be read stays as it was.

        Args:
            progress: See `Items.catch_up`.

        Raises:
            ItemsUnreadable, OSError: The file cannot be used.

        Cost: the times of three files of each Silo, at most once in a second.
        """
        if time.monotonic() - self._looked < _UNTIL_NEXT_LOOK:
            return
        with self._feeding, Locks.of_silo(self._path).hold_name(self._name):
            known, names = self.items.known(), self._granary.silos
            turn, done, has_changed = self.items.begin(), 0, False
            for name in sorted(known.keys() - set(names)):
                self.items.forget(turn, name)
                has_changed = True
            for name in names:
                stamp = stamp_of_silo(os.path.join(self._path, name))
                if stamp and name in known and known[name].stamp == stamp:
                    continue
                has_changed = True
                try:
                    done += self._take_over(turn, name, stamp, progress, done)
                    self._faults.pop(name, None)
                except (RecordSiloError, ItemsUnreadable, OSError) as error:
                    if is_full_disk(error):
                        raise
                    self._tell(name, f"the records of {name} stay as they are: {_reason(error)}")
            if has_changed:
                self._sets = None
                self.items.end(turn)
            self._looked = time.monotonic()

    def _tell(self, silo: str, fault: str) -> None:
        """Log a fault of a Silo, once: it is met again with each request."""
        if self._faults.get(silo) != fault:
            self._faults[silo] = fault
            logger.warning("%s", fault)

    def _take_over(
        self,
        turn: Turn,
        name: str,
        stamp: str,
        progress: Callable[[int], object] | None,
        done: int,
    ) -> int:
        with self._sources.using(name) as source:
            source.items.catch_up(progress and (lambda count: progress(done + count)))
            if source.items.has_unread():
                stamp = ""  # it is looked at again, although nothing may have changed
            return self.items.take_over(turn, name, source.items, stamp)

    def awaits_all(self) -> bool:
        """Whether Silos are to be read that nobody has provided here."""
        return not self.items.known()

    # ------------------------------------------------------------------ the repository

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        item = self._item(identifier)
        silo = self.items.silos_of([identifier])[identifier]
        with suppress(RecordSiloError, OSError), self._sources.using(silo) as source:
            return source.formats_of(identifier)
        return [self._format(prefix) for prefix in self.items.prefixes_of(item)]

    def _format(self, prefix: str) -> MetadataFormat:
        """As the Silo of some record has it that is given in it."""
        for item in () if prefix in self._formats else self.items.some(prefix):
            silo = self.items.silos_of([item.identifier])[item.identifier]
            with suppress(RecordSiloError, OSError), self._sources.using(silo) as source:
                found = [one for one in source.formats() if one.prefix == prefix]
                self._formats.update((prefix, one) for one in found)
                break
        return self._formats.get(prefix) or MetadataFormat(prefix, "", "")

    def sets(self) -> Sequence[Set]:
        """Each Silo, and its own sets below it; names are read again when records change."""
        found = self._sets
        if found is None:
            with available():
                found = self._sets = self._named(self.items.specs())
        return found

    def _named(self, specs: Sequence[str]) -> list[Set]:
        names: dict[str, str] = {}
        for silo in self._granary.silos:
            spec = spec_of_name(silo)
            repository = Repository(os.path.join(self._path, silo))
            names[spec] = repository.name or silo
            own = repository.set_names.items()
            names.update((f"{spec}:{one}", str(name or one)) for one, name in own)
        return [Set(spec, names.get(spec) or spec.partition(":")[2] or spec) for spec in specs]

    # ------------------------------------------------------------------ records

    def read(self, items: Sequence[Item], prefix: str) -> Sequence[Record]:
        """Those of the items that can be read, in their order; each Silo is opened once."""
        silos = self.items.silos_of([item.identifier for item in items])
        found: dict[str, Record] = {}
        for silo in dict.fromkeys(silos.values()):
            some = [one for one in items if silos[one.identifier] == silo]
            live = [one for one in some if one.version]
            found |= {one.identifier: Record(header_of(one)) for one in some if not one.version}
            if not live:  # the Silo may be gone
                continue
            try:
                with self._sources.using(silo) as source:
                    read = source.read(live, prefix)
                    found |= {record.header.identifier: record for record in read}
            except (RecordSiloError, OSError) as error:
                self._tell(silo, f"records of {silo} are left out: {_reason(error)}")
        return [found[one.identifier] for one in items if one.identifier in found]


def _reason(error: Exception) -> str:
    """An error in words; one of the operating system without its number."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
