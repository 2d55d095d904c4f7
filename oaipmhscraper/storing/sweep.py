"""Find deletions that a repository does not announce, by comparing a full list with the Silo.

Source: OAI-PMH 2.0, sections 2.5.1 and 4.3.
"""

import logging
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from oaipmhclient.mending.repair import read_record_mended
from oaipmhclient.pages.requests_and_pages import ListPage, get_record_request
from oaipmhclient.walk.by_identifier import listed_headers
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhclient.walk.values import ListJob, WindowBroken
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import Granularity, Header, OAIError, Record
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhscraper.storing.silo_writer import SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from oaipmhscraper.sweep_rules import (
    MISSING_SINCE,
    SHARE,
    Absence,
    Knowledge,
    SweepReceipt,
    SweepRefused,
    absence,
    knowledge_from,
    most_missing,
)
from politeweb.errors import EndpointError, RetryLater, shortened
from recordsilo import PersistentState, Silo
from recordsilo.batches import batched
from recordsilo.errors import ManifestUnreadable
from recordsilo.wording import counted

if TYPE_CHECKING:
    from oaipmhclient.client import Client

logger = logging.getLogger("OAIPMH Harvester")

MARKS_FILE = "oaipmh_sweep.json"
"""File with a copy of the records' marks: {"missing_since": {identifier: date}}."""
_AT_ONCE = 100


def sweep(
    client: "Client",
    silo: Silo,
    jobs: Sequence[ListJob],
    quirks: EndpointMemory,
    *,
    share: float = SHARE,
    listing: Reception | None = None,
) -> SweepReceipt:
    """Compare all records that a repository lists with the Silo; mark and delete missing ones.

    A record is missing if none of the jobs' formats lists it. Records that were not harvested in
    one of these formats are ignored. A deletion makes the same version as a harvested deletion;
    no data is removed.

    Args:
        client: The repository.
        silo: The Silo harvested from it.
        jobs: All harvested formats and sets; bounds are not used.
        quirks: The endpoint's known habits; updated.
        share: The share of the Silo that may be missing, 0 to 1; if more is, nothing is done.
        listing: Agent and message, as noted in the origins of deletions.

    Raises:
        SweepRefused: The list is incomplete, or too much is missing; nothing is done.
        EndpointError: The endpoint does not answer, or requires a long pause; nothing is done.
        RecordSiloError, OSError: The store failed.

    Cost: a request for each page of identifiers, and one for each record that is
    missing for the second time; 8 bytes of memory per identifier.
    """
    found = _listed(client, jobs, quirks)
    missing, compared = _missing(silo, found.identifiers, jobs, share)
    work = _Sweep(client, silo, jobs, found.date, listing or Reception(""))
    with_marks = PersistentState(silo.path, MARKS_FILE, create=False)
    marks: dict[str, str] = dict(with_marks.get(MISSING_SINCE, {}))
    returned = [one for one in marks if one in found.identifiers]
    work.unmark(returned)
    for some in batched(missing, _AT_ONCE):
        work.take(some)
    with_marks[MISSING_SINCE] = _marks_after(marks, work, returned, found.date)
    with_marks.sync()
    return SweepReceipt(
        found.date,
        len(found.identifiers),
        compared,
        tuple(work.marked),
        tuple(work.deleted),
        tuple(work.unlisted),
        tuple(work.undecided),
        len(returned),
    )


def _marks_after(
    marks: dict[str, str], work: "_Sweep", returned: Iterable[str], date: str
) -> dict[str, str]:
    done = {*returned, *work.deleted, *work.unlisted}
    kept = {one: since for one, since in marks.items() if one not in done}
    return {**kept, **dict.fromkeys(work.marked, date)}


# --------------------------------------------------------------------------- comparing


@dataclass(slots=True)
class _ListedIdentifiers:
    """The identifiers that the repository lists."""

    date: str = ""
    identifiers: IdentifierSet = field(default_factory=IdentifierSet)


def _listed(
    client: "Client", jobs: Sequence[ListJob], quirks: EndpointMemory
) -> _ListedIdentifiers:
    """Return all identifiers listed in any of the formats; refuse an incomplete list."""
    found = _ListedIdentifiers()
    for job in jobs:
        unbounded = ListJob(job.metadata_prefix, job.set_spec)
        try:
            for listed in listed_headers(client, unbounded, Window(), quirks):
                found.date = found.date or _date(listed.page.response_date)
                found.identifiers.add_all(one.identifier for one in listed.page.items)
                if listed.doubt is not None or listed.page.set_aside:
                    reason = listed.doubt or "some of them cannot be read"
                    raise SweepRefused(f"the list of identifiers is not complete: {reason}")
        except WindowBroken as broken:
            raise SweepRefused(f"the list of identifiers is not complete: {broken}") from broken
    if not len(found.identifiers):
        raise SweepRefused("the repository lists nothing at all")
    return found


def _date(moment: datetime | None) -> str:
    return format_datestamp(moment or datetime.now(UTC), Granularity.SECOND)


def _missing(
    silo: Silo, listed: IdentifierSet, jobs: Sequence[ListJob], share: float
) -> tuple[list[str], int]:
    """Return existing records that are not listed, and the number compared."""
    prefixes = {job.metadata_prefix for job in jobs}
    missing: list[str] = []
    compared = 0
    most = most_missing(silo.count(deleted=False), share)
    for identifier in _living(silo, jobs):
        compared += 1
        if identifier not in listed and _is_harvested(silo, identifier, prefixes):
            missing.append(identifier)
            if len(missing) > most:
                raise SweepRefused(
                    f"more than {most:,} of the Silo's records are no longer listed, which is more"
                    f" than the limit of {share:.0%}; raise --sweep-limit if this is true",
                    len(missing),
                )
    if len(missing) > most_missing(compared, share):
        raise SweepRefused(
            f"{len(missing):,} of {counted(compared, 'record')} are no longer listed, which is"
            f" more than the limit of {share:.0%}; raise --sweep-limit if this is true",
            len(missing),
        )
    return missing, compared


def harvested_records(
    silo: Silo, jobs: Sequence[ListJob], without: Container[str] = ()
) -> Iterator[str]:
    """Yield the existing records of a Silo that were harvested in these lists, without given ones.

    Cost: a query for each thousand records, and the manifest of each record that is yielded.
    """
    prefixes = {job.metadata_prefix for job in jobs}
    for identifier in _living(silo, jobs):
        if identifier not in without and _is_harvested(silo, identifier, prefixes):
            yield identifier


def _living(silo: Silo, jobs: Sequence[ListJob]) -> Iterator[str]:
    """Yield identifiers of existing records, in one of the sets if all jobs have one."""
    sets = {job.set_spec for job in jobs}
    for row in silo.found({"deleted": False}):
        if None in sets or any(_is_within(spec, sets) for spec in row.sets):
            yield row.identifier


def _is_within(spec: str, sets: Iterable[str | None]) -> bool:
    return any(f"{spec}:".startswith(f"{one}:") for one in sets)


def _is_harvested(silo: Silo, identifier: str, prefixes: set[str]) -> bool:
    """Whether a record was harvested in one of the formats; unreadable ones are left alone."""
    try:
        record = silo[identifier]
    except ManifestUnreadable:
        return False
    origins = (record.origin(version) for version in record.versions)
    return any(one.kind == "harvest" and prefixes & set(one.prefixes) for one in origins)


# --------------------------------------------------------------------------- doing


class _Sweep:
    """Marks and deletes missing records, and counts them."""

    def __init__(
        self,
        client: "Client",
        silo: Silo,
        jobs: Sequence[ListJob],
        date: str,
        listing: Reception,
    ) -> None:
        self._client = client
        self._silo = silo
        self._prefixes = [job.metadata_prefix for job in jobs]
        self._date = date
        self._listing = listing
        self.marked: list[str] = []
        self.deleted: list[str] = []
        self.unlisted: list[str] = []
        self.undecided: list[str] = []

    def unmark(self, identifiers: Iterable[str]) -> None:
        """Remove the mark of records that are listed again."""
        for some in batched([one for one in identifiers if one in self._silo], _AT_ONCE):
            with self._silo.batch(some, agent=self._listing.agent) as batch:
                for identifier in some:
                    edit = batch.edit(identifier)
                    if MISSING_SINCE in edit.manifest.metadata:
                        edit.del_metadata(MISSING_SINCE)

    def take(self, identifiers: Sequence[str]) -> None:
        """Mark records missing for the first time; request, and delete, those missing again."""
        absences = {one: self._absence(one) for one in identifiers}
        to_mark = [one for one, what in absences.items() if what is Absence.MARK]
        self._mark(to_mark)
        self.marked += to_mark
        to_ask = [one for one, what in absences.items() if what is Absence.ASK]
        known = {one: self._ask(one) for one in to_ask}
        gone = [one for one, what in known.items() if what is Knowledge.GONE]
        alive = [one for one, what in known.items() if what is Knowledge.ALIVE]
        self._delete(gone)
        self.unmark(alive)
        self.deleted += gone
        self.unlisted += alive
        self.undecided += [one for one, what in known.items() if what is Knowledge.UNKNOWN]

    def _absence(self, identifier: str) -> Absence:
        return absence(self._silo[identifier].metadata.get(MISSING_SINCE), self._date)

    def _mark(self, identifiers: Sequence[str]) -> None:
        if not identifiers:
            return
        with self._silo.batch(list(identifiers), agent=self._listing.agent) as batch:
            for identifier in identifiers:
                edit = batch.edit(identifier)
                if edit.manifest.versions:
                    edit.set_metadata(MISSING_SINCE, self._date)

    def _delete(self, identifiers: Sequence[str]) -> None:
        """Store the deletions as if they had been listed, each in the record's format."""
        for prefix in self._prefixes:
            of_prefix = [one for one in identifiers if self._format_of(one) == prefix]
            if of_prefix:
                headers = [Header(one, self._date, deleted=True) for one in of_prefix]
                listing = Reception(prefix, self._listing.agent, self._message)
                page = ListPage(tuple(map(Record, headers)))
                SiloWriter(self._silo, listing).store(page)

    @property
    def _message(self) -> str:
        said = f"not listed any more, and unknown to GetRecord, {self._date}"
        return f"{self._listing.message}; {said}" if self._listing.message else said

    def _format_of(self, identifier: str) -> str:
        """Return the first of the jobs' formats in which the record was harvested."""
        record = self._silo[identifier]
        came: dict[str, Any] = {}
        for version in record.versions:
            came.update(record.origin(version).prefixes)
        return next((prefix for prefix in self._prefixes if prefix in came), self._prefixes[0])

    def _ask(self, identifier: str) -> Knowledge:
        request = get_record_request(identifier, self._format_of(identifier))
        try:
            page, _ = self._client.exchange(request, read_record_mended)
            page.raise_errors()
        except RetryLater:
            raise
        except OAIError as error:
            return knowledge_from(error)
        except EndpointError as error:
            logger.warning("%s cannot be requested: %s", shortened(identifier), error)
            return Knowledge.UNKNOWN
        deleted = [one for one in page.items if one.header.deleted]
        if not page.items:
            return Knowledge.UNKNOWN
        return Knowledge.GONE if deleted else Knowledge.ALIVE
