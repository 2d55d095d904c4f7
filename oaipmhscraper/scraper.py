"""OAIPMHScraper: the harvester's interface of 2010, with the current engine.

>>> scraper = OAIPMHScraper("myrepo", "https://eprints.example.org/cgi/oai2")
>>> scraper.getRecords("oai_dc")
>>> scraper.getRecords("oai_dc", update=True)
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import Any

from oaipmhclient.client import Client, Moment
from oaipmhclient.pages.requests_and_pages import checked_prefix, list_request
from oaipmhclient.transport.http_rules import BaseURL, is_same_place, spelled_as
from oaipmhclient.transport.http_transport import Transport
from oaipmhclient.walk.endpoint_checks import refuse_unknown_set, size_of_list
from oaipmhclient.walk.values import ListJob
from oaipmhprotocol import (
    BadArgument,
    CannotDisseminateFormat,
    DatestampError,
    NoRecordsMatch,
    NoSetHierarchy,
    OAIError,
    Record,
    Verb,
)
from oaipmhscraper.errors import BaseURLConflict, NoBaseURL, NothingToUpdate, ScraperError
from oaipmhscraper.harvests.access import Access, Around
from oaipmhscraper.harvests.job import JobRun, forget_refused
from oaipmhscraper.harvests.running import (
    LISTS,
    PAGES,
    UPDATE,
    UPDATE_ALL,
    UPDATE_PAGES,
    request_text,
)
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.lists.journal_rows import OpenHarvest, job_id
from oaipmhscraper.lists.list_harvest import Progress
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.progress import display
from oaipmhscraper.progress_marks import Marks, harvested_lists, update_of
from oaipmhscraper.receipt import HarvestStopped, Receipt
from oaipmhscraper.repository_state import HarvesterState, granularity_in, identifier_prefix
from oaipmhscraper.silo_cleanup import holds_something
from oaipmhscraper.storing.silo_writer import date_of_2010
from politeweb.errors import RequestRefused
from politeweb.pace import Turns
from politeweb.settings import HttpSettings
from recordsilo import Silo
from recordsilo.closing import Closing


class OAIPMHScraper(Closing):
    """Harvests one OAI-PMH repository into one Silo.

    With a URL, the constructor first requests Identify and then creates the directory, so a
    failure leaves nothing behind. Without a URL, an earlier harvest is continued, and nothing is
    sent before it is needed.

    Args:
        storage_dir: The Silo's directory, new or not.
        base_oai_url: The repository's base URL. User and password in it are used and never
            stored; without a URL, ``~/.netrc`` is used.
        identifier_uri_prefix: The prefix of the identifiers (``oai:example.org:``); records
            can then be found by the rest alone. By default, for a new Silo, it comes from the
            repository's ``oai-identifier`` description.
        transport: A transport that replaces HTTP.
        settings: How to send requests: contact, time and size limits.
        pace: When requests may be sent, for example shared with other processes that send some
            to the same host; replaces the delay of the settings. By default that of a fleet
            beside the Silo, if there is one, and otherwise of this process alone.
        around: Put around the HTTP transport of each thread that fetches lists, for example so
            that other machines send some of the requests.
        quiet: Show no progress, even in a terminal.
        agent: Who harvests, as noted in each version's origin.

    Raises:
        EndpointError, OAIError: The repository does not answer Identify.
        BaseURLConflict: The Silo was harvested from another repository.
        NoBaseURL: No URL is given, and the Silo has none.
        SiloNotFound, NotASilo: No URL is given, and there is no Silo.

    Attributes:
        store: The `recordsilo.Silo`.
        state: A `recordsilo.PersistentState`: ``lastidentified`` and ``identify``, later
            ``formats`` and ``sets``, and under ``harvested`` how far each list was harvested.
    """

    def __init__(
        self,
        storage_dir: str,
        base_oai_url: str | None = None,
        identifier_uri_prefix: str | None = None,
        *,
        transport: Transport | None = None,
        settings: HttpSettings | None = None,
        pace: Turns | None = None,
        around: Around | None = None,
        quiet: bool = False,
        agent: str = "oaipmhscraper",
    ) -> None:
        self.quiet = quiet
        self._agent = agent
        self._access_to = partial(Access, storage_dir, settings, transport, pace, around)
        given = None if base_oai_url is None else BaseURL.parse(base_oai_url).url
        if given is None or holds_something(storage_dir):
            self.store = Silo(
                storage_dir, create=False, identifier_uri_prefix=identifier_uri_prefix
            )
            base_url = _agreed_base_url(self.store, given)
            location = spelled_as(base_url, base_oai_url or base_url)
            self._access = self._access_to(location=location)
            with self.store.writing():
                identify = self._access.identify(self.store.path) if given else None
            if self.store.state.get("base_oai_url") is None:
                self._note_base_url()
        else:
            self._access = self._access_to(location=base_oai_url or given)
            identify = self._access.identify()
            self.store = Silo(
                storage_dir,
                uri_base=given,
                identifier_uri_prefix=identifier_uri_prefix or identifier_prefix(identify),
                base_oai_url=given,
            )
        self.state = HarvesterState(self.store)
        if identify is not None:
            self.state.remember(identify)

    def before_store(self, record: Record, metadata_prefix: str) -> Record | None:
        """Hook for subclasses: change a record before it is stored.

        Args:
            record: As received.
            metadata_prefix: The format of the list.

        Returns:
            The record to store instead; None to leave it out.
        """
        del metadata_prefix
        return record

    # ------------------------------------------------------------------ requests

    @property
    def client(self) -> Client:
        """Return a client for requests outside a harvest; closed with the scraper."""
        return self._access.client

    def identify(self, refresh_cache: bool = False) -> dict[str, Any]:
        """Return the repository's description of itself; requested once, then stored.

        Returns:
            ``state['identify']``: repositoryName, baseURL, protocolVersion, adminEmails,
            earliestDatestamp, deletedRecord, granularity, compression, descriptions.
        """
        if refresh_cache or "identify" not in self.state:
            self.state.remember(self._access.identify(self.store.path))
        found: dict[str, Any] = self.state["identify"]
        return found

    def getMetadataPrefixes(self) -> dict[str, tuple[str, str]]:
        """Return the repository's formats, and store them as ``state['formats']``.

        Returns:
            {prefix: (schema URL, namespace)}, in the repository's order.
        """
        found = self._access.client.list_metadata_formats()
        formats = {one.prefix: (one.schema, one.namespace) for one in found}
        with self.state.changing():
            self.state["formats"] = {name: list(one) for name, one in formats.items()}
        return formats

    def getSets(self) -> dict[str, str]:
        """Return the repository's sets, {setSpec: setName}, and store them as ``state['sets']``.

        Empty for a repository without sets.
        """
        try:
            sets = {one.spec: one.name for one in self._access.client.list_sets()}
        except NoSetHierarchy:
            sets = {}
        with self.state.changing():
            self.state["sets"] = sets
        return sets

    def learn_choices(self, *, refresh: bool = False) -> None:
        """Store what forms offer: the repository's formats, and the names of its sets.

        Formats are requested if none are stored, sets if records are in sets without a known
        name. The repository need not answer.

        Args:
            refresh: Request the formats even if some are stored.
        """
        with suppress(ScraperError, OAIError):
            if refresh or "formats" not in self.state:
                self.getMetadataPrefixes()
        with suppress(ScraperError, OAIError):
            if set(self.store.set_counts()) - set(self.state.get("sets", {})):
                self.getSets()

    def getIdentifiers(
        self, update: bool = False, set_id: str | None = None, metadataPrefix: str = "oai_dc"
    ) -> Iterator[tuple[str, str]]:
        """Yield identifiers and dates as the repository lists them, including deleted ones.

        Lazy, page by page; nothing is stored.

        Args:
            update: Only changes since the last complete harvest of that format and set.
            set_id: Only members of this set.
            metadataPrefix: Only items that are available in this format.

        Yields:
            (identifier, date), the date in the form of manifests:
            ``2004-06-24T00:00:00``, UTC; unreadable dates as sent.
        """
        job = ListJob(checked_prefix(metadataPrefix), set_id or None)
        job = self._updated(job, HarvestOptions()) if update else job
        headers = self._access.client.list_identifiers(
            metadataPrefix, from_=job.from_, set_spec=job.set_spec
        )
        try:
            for header in headers:
                yield header.identifier, _date_or_text(header.datestamp)
        except NoRecordsMatch:
            return

    def size_of_lists(self, prefixes: Sequence[str], sets: Sequence[str] = ()) -> int | None:
        """Return how many records the repository lists now, all sets together.

        Of several formats, the longest list counts.
        See `oaipmhclient.walk.endpoint_checks.size_of_list`. One request for each list; nothing is
        stored.

        Args:
            prefixes: The metadata formats.
            sets: Only these sets; empty for the whole list.

        Returns:
            None if it does not say it of one of the lists.
        """
        with self.store.writing(), Journal(self.store.path) as journal:
            quirks = journal.quirks(self._access.base_url)
        sizes = []
        for prefix in prefixes:
            each = [size_of_list(self.client, prefix, one, quirks) for one in sets or (None,)]
            if None in each:
                return None
            sizes.append(sum(one or 0 for one in each))
        return max(sizes)

    # ------------------------------------------------------------------ harvesting

    def __repr__(self) -> str:
        return f"OAIPMHScraper({self.store.storage_dir!r}, {self._access.base_url!r})"

    def getRecords(
        self,
        metadataPrefix: str,
        update: bool = False,
        set_id: str | None = None,
        _from: Moment = None,
        _until: Moment = None,
    ) -> Receipt:
        """Harvest one format into the Silo.

        Args:
            metadataPrefix: The format.
            update: Only changes since the last complete harvest of that format and set,
                by the server's clock, with one granule of overlap.
            set_id: Only members of this set.
            _from: Earliest datestamp: text, a date or an aware datetime.
            _until: Latest datestamp, inclusive.

        Returns:
            The receipt. Check its ``whole``.

        Raises:
            RequestRefused: The repository does not have the set.
            HarvestStopped: The list broke off; it has the receipt so far.
            HarvestInterrupted: Ctrl-C (a KeyboardInterrupt).
        """
        return self.harvest(
            [metadataPrefix], set_spec=set_id, from_=_from, until=_until, update=update
        )

    def harvest(
        self,
        metadata_prefixes: Sequence[str],
        *,
        set_spec: str | None = None,
        from_: Moment = None,
        until: Moment = None,
        update: bool = False,
        options: HarvestOptions | None = None,
        progress: Progress | None = None,
    ) -> Receipt:
        """Harvest formats into the Silo, one list after the other.

        The same request resumes an earlier stopped run, also in another process. If a list breaks
        off, the others are harvested all the same, unless the repository cannot be reached at
        all. The receipt is also stored in the Silo, in ``harvests/``, unless the repository does
        not have the set or any of the formats.

        Args:
            metadata_prefixes: The formats; later ones join the versions of the first.
            set_spec: Only members of this set.
            from_: Earliest datestamp.
            until: Latest datestamp.
            update: See `getRecords`; not together with ``from_`` or ``until``.
            options: Windows, requests in flight, and more.
            progress: Called after every page; by default shown if stderr is a terminal.

        Returns:
            The receipt of this run and the runs that it resumed. Check its ``whole``.

        Raises:
            RequestRefused: The arguments are invalid, or the repository does not have one of
                several formats, or the set; nothing was stored.
            HarvestStopped, HarvestInterrupted: See `getRecords`.
            HarvestRunning: Another process is harvesting one of the lists; nothing was requested.
            RetryLater: The repository requested a pause that is not over.
            RecordSiloError, OSError: The store failed; pages before are kept.
        """
        if update and (from_ is not None or until is not None):
            raise RequestRefused("an update chooses its dates itself; leave out from and until")
        options = options or HarvestOptions()
        prefixes = dict.fromkeys(metadata_prefixes)
        request, jobs = self._lists(prefixes, set_spec, (from_, until), options, update=update)
        if update:
            jobs = [self._updated(job, options) for job in jobs]
        before = self.marks
        try:
            receipt = self._run(request, jobs, options, progress)
        except HarvestStopped as stop:
            if isinstance(stop.cause, BadArgument) and not stop.receipt.counts.listed:
                self._refuse_unknown_set(stop.receipt, jobs, options, before)
            if isinstance(stop.cause, CannotDisseminateFormat) and not stop.receipt.counts.listed:
                self._note_formats(stop, prefixes.keys(), before[options.key])
            raise
        if not receipt.counts.listed:
            self._refuse_unknown_set(receipt, jobs, options, before)
        return receipt

    def _note_formats(
        self, stop: HarvestStopped, asked: Set[str], harvested: Iterable[str]
    ) -> None:
        """Note which formats there are; forget a harvest of none that is or was there."""
        with suppress(ScraperError, OAIError):
            stop.formats = list(self.getMetadataPrefixes())
        if stop.formats and not asked & {*stop.formats, *harvested}:
            forget_refused(self.store.path, job_id(stop.receipt.started))

    def _lists(
        self,
        prefixes: Iterable[str],
        set_spec: str | None,
        bounds: tuple[Moment, Moment],
        options: HarvestOptions,
        *,
        update: bool,
    ) -> tuple[str, list[ListJob]]:
        """The lists to harvest, one for each format, and the text of the request for them all."""
        first, last = map(self._access.client.datestamp, bounds)
        set_spec = set_spec or None
        jobs = [ListJob(checked_prefix(prefix), set_spec, first, last) for prefix in prefixes]
        list_request(Verb.LIST_RECORDS, jobs[0].metadata_prefix, from_=first, until=last)
        whole, changes = (PAGES, UPDATE_PAGES) if options.pages_only else (LISTS, UPDATE)
        request = request_text(
            changes if update else whole,
            prefixes=[job.metadata_prefix for job in jobs],
            set=set_spec,
            bounds=[first, last],
        )
        return request, jobs

    def _refuse_unknown_set(
        self,
        receipt: Receipt,
        jobs: Sequence[ListJob],
        options: HarvestOptions,
        before: Mapping[str, Marks],
    ) -> None:
        """Refuse a set without records that the repository lacks; many say that it is empty.

        A set that was harvested before may have become empty. The next update does not request
        a set that was refused, and the harvest is not among those of the Silo.

        Raises:
            RequestRefused: See `refuse_unknown_set`.
        """
        known = before[options.key]
        if any(known.get(job.metadata_prefix, {}).get(job.set_spec or "") for job in jobs):
            return
        try:
            for set_spec in {job.set_spec for job in jobs if job.set_spec}:
                refuse_unknown_set(self._access.client, set_spec)
        except RequestRefused:
            self.put_back(before)
            forget_refused(self.store.path, job_id(receipt.started))
            raise

    def update(
        self, *, options: HarvestOptions | None = None, progress: Progress | None = None
    ) -> Receipt:
        """Update every format and set harvested before, and resume every open harvest.

        Unfinished lists of open harvests are resumed: also formats and sets of which nothing was
        received yet, and lists with ``from_`` or ``until``. Harvests with ``pages_only`` are not
        resumed; with that option, the formats and sets of such harvests are updated instead.

        Args:
            options, progress: See `harvest`.

        Raises:
            NothingToUpdate: Nothing was harvested before.
            HarvestRunning: Another process is harvesting into the Silo; nothing was requested.
        """
        options = options or HarvestOptions()
        lists = harvested_lists(self.marks[options.key])
        jobs = [self._updated(job, options) for job in lists]
        if options.pages_only and not jobs:
            raise NothingToUpdate(self.store.storage_dir)
        kind = UPDATE_PAGES if options.pages_only else UPDATE_ALL
        return self._run(request_text(kind), jobs, options, progress)

    def open_harvests(self) -> list[OpenHarvest]:
        """Return stopped harvests, which the same request resumes."""
        with Journal(self.store.path) as journal:
            return journal.jobs()

    def moved_to(self, base_oai_url: str) -> None:
        """Change the repository's address.

        Raises:
            EndpointError, OAIError: It does not answer Identify there; nothing changes.
        """
        access = self._access_to(location=base_oai_url)
        identify = access.identify()
        self._access.close()
        self._access = access
        self._note_base_url()
        self.state.remember(identify)

    @property
    def marks(self) -> Mapping[str, Marks]:
        """How far each list was harvested; see `HarvesterState.marks`."""
        return self.state.marks

    def put_back(self, marks: Mapping[str, Marks]) -> None:
        """Let the next update start where an earlier one did, because this harvest is doubted.

        Args:
            marks: `marks` before the harvest.
        """
        self.state.put_back(marks)

    def close(self) -> None:
        """Close the connections to the repository, and the Silo."""
        self._access.close()
        self.store.close()

    # ------------------------------------------------------------------ internal

    def _run(
        self,
        request: str,
        jobs: Sequence[ListJob],
        options: HarvestOptions,
        progress: Progress | None,
    ) -> Receipt:
        hook = self.before_store
        is_own = getattr(hook, "__func__", None) is OAIPMHScraper.before_store
        is_quiet = self.quiet or progress is not None
        with display(sys.stderr, quiet=is_quiet, terminal_only=True) as shown:
            return JobRun(
                self.store,
                self.state,
                self._access,
                options,
                agent=self._agent,
                before_store=None if is_own else hook,
                progress=progress or shown,
            ).run(request, jobs)

    def _updated(self, job: ListJob, options: HarvestOptions) -> ListJob:
        marks, granularity = self.marks[options.key], granularity_in(self.identify())
        return update_of(marks, job, granularity, options.overlap)

    def _note_base_url(self) -> None:
        self.store.state["base_oai_url"] = self._access.base_url
        self.store.state.sync()


def _agreed_base_url(silo: Silo, given: str | None) -> str:
    """Return the base URL of the Silo, which must be the given one, if any.

    A slash at its end makes no difference; the Silo's spelling counts.
    """
    remembered = silo.state.get("base_oai_url")
    if remembered is None and given is None:
        raise NoBaseURL(silo.storage_dir)
    if remembered is None or given is None:
        return str(remembered or given)
    known = BaseURL.parse(str(remembered)).url
    if not is_same_place(known, given):
        raise BaseURLConflict(silo.storage_dir, str(remembered), given)
    return known


def _date_or_text(datestamp: str) -> str:
    try:
        return date_of_2010(datestamp)
    except DatestampError:
        return datestamp
