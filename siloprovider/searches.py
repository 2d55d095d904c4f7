"""A Silo whose saved searches are sets (docs/adr/0057)."""

import logging
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from oaipmhprotocol import Header, Identify, MetadataFormat, Record, Set
from oaipmhprovider import answers
from oaipmhprovider.source import Position, RecordSource, Selection, SourceUnavailable, Written
from recordsilo import Silo
from recordsilo.disk.stamps import stamp_of
from recordsilo.errors import IndexProblem, SearchError
from recordsilo.formats import Description, Value
from recordsilo.index import SearchFilters
from silocuration.collections import collection_of
from silocuration.errors import CurationError
from silocuration.searches import SavedSearch, load_search, search_names, search_path
from siloprovider.dublin_core import oai_dc_of
from siloprovider.errors import ItemsUnreadable, SettingInvalid
from siloprovider.items import Items
from siloprovider.members import Looked, known_searches, looked_at, take_over
from siloprovider.set_names import spec_of_search
from siloprovider.settings import ProviderSettings

SECONDS_UNTIL_AGAIN = 600.0
"""After which a search is looked at again although no record changed: it may ask for dates."""
_SHARE = 20
"""A search is looked at for at most this part of the time, while records change."""
_NO_XML = re.compile("[^\\t\\n\\r -\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
logger = logging.getLogger("siloprovider")


class SearchedSource:
    """See `oaipmhprovider.source.RecordSource`; the source below, with saved searches as sets.

    Args:
        source: That of the Silo.
        silo: The Silo; this does not close it.
        items: Its table.
        settings: Which searches are sets.
    """

    def __init__(
        self,
        source: RecordSource,
        silo: Silo,
        items: Items,
        settings: ProviderSettings,
    ) -> None:
        self._source, self._silo, self._items = source, silo, items
        self._settings, self._refreshing = settings, Lock()

    def _names(self) -> Sequence[str]:
        return names_of(self._silo, self._settings)

    # ------------------------------------------------------------------ kept in step

    def refresh(self) -> None:
        """Look at the searches again where something may have changed.

        Raises:
            IndexProblem, ItemsUnreadable, OSError: See `Items.catch_up`.
        """
        with self._refreshing:
            self._items.catch_up()
            mark, datestamp = self._items.round()
            for name in self._names():
                with _reported(name):
                    self._look(name, mark, datestamp)

    def _look(self, name: str, mark: str, datestamp: str) -> None:
        spec, began = spec_of_search(name), time.time()
        stamped = stamp_of(search_path(self._silo.path, name))
        # a file that was written just now may be written again with the same time
        stamp = f"{mark} {stamped}" if stamped else ""
        before = looked_at(self._items.file, spec)
        if before is not None:
            since = began - before.at
            is_same = stamp == before.stamp != "" and 0 <= since < SECONDS_UNTIL_AGAIN
            if is_same or 0 <= since < before.took * _SHARE:
                return
        search = load_search(self._silo.path, name)
        found = list(_found(self._silo, search))
        looked = Looked(stamp, began, time.time() - began)
        take_over(self._items.file, spec, found, looked, datestamp, is_new=before is None)

    # ------------------------------------------------------------------ the source

    def identify(self) -> Identify:
        return self._source.identify()

    def formats(self) -> Sequence[MetadataFormat]:
        return self._source.formats()

    def formats_of(self, identifier: str) -> Sequence[MetadataFormat]:
        return self._source.formats_of(identifier)

    def sets(self) -> Sequence[Set]:
        own = []
        for name in self._names():
            with _reported(name):
                own.append(_set(self._silo.path, name))
        return [*self._source.sets(), *own]

    def record(self, identifier: str, prefix: str) -> Record:
        self._refreshed()
        found = self._source.record(identifier, prefix)
        return _with_header(found, _shown(found.header, self._hidden()))

    def headers(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Header]:
        hidden, own = self._hidden(), self._own()
        if selection.set_spec in hidden:
            return []
        found = self._source.headers(selection, after, limit)
        if not hidden and not own:
            return found
        return [_shown(_of_set(one, selection, own), hidden) for one in found]

    def records(self, selection: Selection, after: Position | None, limit: int) -> Sequence[Record]:
        hidden, own = self._hidden(), self._own()
        if selection.set_spec in hidden:
            return []
        found = self._source.records(selection, after, limit)
        if not hidden and not own:
            return found
        return [
            _with_header(one, _shown(_of_set(one.header, selection, own), hidden)) for one in found
        ]

    def written(
        self, selection: Selection, after: Position | None, limit: int
    ) -> Sequence[Written]:
        """See `oaipmhprovider.source.WritingSource`."""
        if not self._hidden() and not self._own():
            return answers.written_by(self._source, selection, after, limit)
        return [answers.written(record) for record in self.records(selection, after, limit)]

    def count(self, selection: Selection) -> int:
        self._refreshed()
        return 0 if selection.set_spec in self._hidden() else self._source.count(selection)

    def _refreshed(self) -> None:
        if not self._names():
            return  # the source below takes over what changed
        try:
            self.refresh()
        except (IndexProblem, ItemsUnreadable, OSError) as error:
            raise SourceUnavailable(str(error)) from error

    def _own(self) -> frozenset[str]:
        return frozenset(map(spec_of_search, self._names()))

    def _hidden(self) -> frozenset[str]:
        """Searches that were sets once, or are for another process."""
        return known_searches(self._items.file) - self._own()


def _shown(header: Header, hidden: frozenset[str]) -> Header:
    """The header without sets that are hidden."""
    if hidden.isdisjoint(header.set_specs):
        return header
    return replace(header, set_specs=tuple(one for one in header.set_specs if one not in hidden))


def _with_header(record: Record, header: Header) -> Record:
    if header.deleted and not record.header.deleted:
        return Record(header)
    return record if header is record.header else replace(record, header=header)


def names_of(silo: Silo, settings: ProviderSettings) -> Sequence[str]:
    """The saved searches that settings make sets."""
    return search_names(silo.path) if settings.all_searches else settings.searches


def check_searches(silo: Silo, settings: ProviderSettings) -> None:
    """Check that saved searches can be sets.

    Raises:
        SettingInvalid: A search that is named does not exist or cannot be read, or one has the name
            of a set of the source.
        IndexProblem: See `Silo.set_counts`.

    Cost: that of `Silo.set_counts`, if there are any.
    """
    for name in settings.searches:
        try:
            load_search(silo.path, name)
        except CurationError as error:
            there = ", ".join(search_names(silo.path)) or "none"
            sentence = f"{error}; saved searches that are there: {there}"
            raise SettingInvalid(sentence, "searches") from None
    wanted = {spec_of_search(name) for name in names_of(silo, settings)}
    if wanted and (clashes := sorted(wanted & set(silo.set_counts()))):
        raise SettingInvalid(
            f"the source has a set {clashes[0]} too; save the search under another name",
            "searches",
        )


def _set(silo_path: str, name: str) -> Set:
    stamp = stamp_of(search_path(silo_path, name))
    return _kept_set(silo_path, name, str(stamp) if stamp else time.monotonic())


@lru_cache(maxsize=1000)
def _kept_set(silo_path: str, name: str, _stamp: object) -> Set:
    """The set of a search, whose list of identifiers may be long; with the text of a collection."""
    search = load_search(silo_path, name)
    collection = collection_of(search)
    spec = spec_of_search(name)
    text = _NO_XML.sub("", collection.text) if collection else ""
    said = oai_dc_of(Description(descriptions=(Value(text),))) if text else None
    return Set(spec, search.title, said)


def _of_set(header: Header, selection: Selection, own: frozenset[str]) -> Header:
    """The header in the list of a set: one that has left the search is given as deleted."""
    spec = selection.set_spec
    if spec not in own or spec in header.set_specs:
        return header
    return replace(header, set_specs=(spec,), deleted=True)


def _found(silo: Silo, search: SavedSearch) -> Iterator[str]:
    """The identifiers that a search finds; of a list, those that are listed."""
    select = search.select
    if not select.identifiers:
        yield from (row.identifier for row in silo.found(select.filters, select.query))
        return
    named = frozenset(select.identifiers)
    if not select.query and select.filters == SearchFilters():
        yield from named
        return
    rows = silo.found(select.filters, select.query)
    yield from (row.identifier for row in rows if row.identifier in named)


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """A search that cannot be read or asked keeps its records; the log says why."""
    try:
        yield
    except (CurationError, SearchError) as error:
        logger.warning("the set of the saved search %s stays as it is: %s", name, error)
