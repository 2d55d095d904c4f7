"""Run a harvest as a resumable job: its lists in order, and a receipt at the end."""

import json
import os
import threading
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from oaipmhclient.client import Client
from oaipmhclient.concurrency import Concurrency
from oaipmhclient.fetchers import Fetchers, Lane
from oaipmhclient.light_pages import read_lightly
from oaipmhclient.mending.repair import read_records_to_store
from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhclient.transport.http_transport import Transport
from oaipmhclient.walk.values import ListJob
from oaipmhclient.walk.windows import span
from oaipmhprotocol import (
    BadArgument,
    CannotDisseminateFormat,
    DatestampError,
    Granularity,
    NoSetHierarchy,
)
from oaipmhscraper.errors import HarvestRunning
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.lists.journal_rows import ListRow, OpenHarvest, job_id
from oaipmhscraper.lists.list_harvest import (
    MOST_AGAIN,
    HarvestedEndpoint,
    ListEnd,
    ListHarvest,
    Progress,
)
from oaipmhscraper.lists.list_state import ListState
from oaipmhscraper.lists.storing_apart import Apart
from oaipmhscraper.lists.window_changes import WindowsPlace
from oaipmhscraper.receipt import ListReceipt, Receipt
from oaipmhscraper.storing.fetched_pages import Storing
from oaipmhscraper.storing.quarantine import Quarantine, QuarantineOrigin
from oaipmhscraper.storing.silo_writer import PageStore
from oaipmhscraper.storing.storing_rules import Reception
from oaipmhscraper.storing.sweep import sweep
from oaipmhscraper.sweep_rules import SHARE, SweepReceipt, SweepRefused
from oaipmhscraper.warc.responses import RecordingTransport, ResponseRecorder
from politeweb.answers import Traffic
from politeweb.errors import EndpointUnreachable, RetryLater
from politeweb.warc.files import warc_names
from recordsilo import Silo
from recordsilo.disk.atomic_file import make_in_silo, replace_file
from recordsilo.disk.regular_file import regular_fd
from recordsilo.second_process import cores

RECEIPTS = "harvests"
MOST_IN_FLIGHT = 6
APART_FROM = 2_000
"""The commands' and jobs' `HarvestOptions.apart_from`: a second process starts in 0.4 s."""

ENDS_ALL = (KeyboardInterrupt, EndpointUnreachable, RetryLater)
"""After these errors, the other lists would fail too."""
_FINAL = (CannotDisseminateFormat, BadArgument, NoSetHierarchy)
"""After these errors, the job cannot be resumed."""


@dataclass(frozen=True, slots=True)
class HarvestOptions:
    """Options of a harvest.

    Attributes:
        window: The length of windows; by default it depends on the list's size.
        max_in_flight: Maximum number of parallel requests; starts with one.
        restore_removed: Restore records that were removed from the Silo.
        warc: Store responses as received, in WARC files below ``harvests/``.
        pages_only: Store the responses, but no records.
        anew: Start again, even if an earlier run of the same harvest was stopped.
        overlap: How far before the last harvest an update begins, at least one granule.
        count: List all identifiers if a list may be incomplete.
        again: Most records of a list to request again by GetRecord, if they were set aside
            or not available.
        identifiers_first: Begin with ListIdentifiers and GetRecord, for repositories whose
            ListRecords is of no use.
        sweep: Then compare a full list of identifiers with the Silo, to find deletions that
            are not announced.
        sweep_share: The share of the Silo that may be missing; a sweep with more is ignored.
        apart_from: Number of listed records from which on a second process stores the pages of a
            list, if responses are stored, there are two processors, and the repository takes long
            enough for its pages; 0 for at once, None for never.
    """

    window: timedelta | None = None
    max_in_flight: int = MOST_IN_FLIGHT
    restore_removed: bool = False
    warc: bool = True
    pages_only: bool = False
    anew: bool = False
    overlap: timedelta = timedelta(0)
    count: bool = True
    again: int = MOST_AGAIN
    identifiers_first: bool = False
    sweep: bool = False
    sweep_share: float = SHARE
    apart_from: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """The repository in the form that a job needs.

    Attributes:
        base_url: Without credentials.
        open_transport: Opens a transport for one thread.
        granularity: The finest granularity that it accepts.
        earliest: earliestDatestamp as sent; may be any text.
        most: Maximum number of transports.
    """

    base_url: str
    open_transport: Callable[[Lane], Transport]
    granularity: Granularity
    earliest: str = ""
    most: int = MOST_IN_FLIGHT


@dataclass(slots=True)
class Hooks:
    """Callbacks of a job.

    Attributes:
        open_store: Returns the store for a list's pages.
        progress: Called after every page.
        on_begun: Called when the first page of a list is stored.
        held: Returns the existing records of a list in the Silo, without given ones.
        storing: Returns how a list's pages are stored from WARC files.
    """

    open_store: Callable[[ListJob], PageStore]
    progress: Progress
    on_begun: Callable[[ListJob], None] = field(default=lambda _: None)
    on_end: Callable[[ListJob, ListReceipt], None] = field(default=lambda _job, _receipt: None)
    held: Callable[[ListJob, Container[str]], Iterable[str]] = field(default=lambda _job, _but: ())
    storing: Callable[[ListJob], Storing | None] = field(default=lambda _: None)


LISTS, UPDATE, UPDATE_ALL = "lists", "update", "update all"
PAGES, UPDATE_PAGES = "pages", "update pages"
"""Kinds of jobs, in `request_text`; the last two store no records."""


def request_text(what: str, **arguments: Any) -> str:
    """Return a request as canonical text, which identifies its job."""
    return json.dumps({"harvest": what, **arguments}, sort_keys=True, ensure_ascii=False)


class JobRun:
    """A run of a job, from its state in the journal.

    Args:
        journal: Has the job.
        job: The job, locked for this run.
        source: The repository.
        recorder: Stores responses; None to not store them.
        quarantine: Stores the bytes of unusable records; None to not store them.
    """

    def __init__(
        self,
        journal: Journal,
        job: OpenHarvest,
        source: Source,
        options: HarvestOptions,
        recorder: ResponseRecorder | None = None,
        *,
        quarantine: Quarantine | None = None,
    ) -> None:
        self._journal = journal
        self._job = job
        self._source = source
        self._options = options
        self._recorder = recorder
        self._quarantine = quarantine
        self._quirks = journal.quirks(source.base_url)
        self._concurrency = Concurrency(max(1, min(options.max_in_flight, source.most)))
        self._swept: SweepReceipt | None = None
        self._sweep_refused = ""
        self._moved_to = ""
        self.traffic = Traffic(*job.traffic)

    def run(self, hooks: Hooks) -> list[ListEnd]:
        """Harvest the rest of every list; return their ends, in order.

        A list at its end sends no more list requests, but its identifiers are counted and its mark
        is stored if a killed run did not do so.

        Raises:
            RecordSiloError, OSError: The store failed; pages before are kept.
        """
        ends: list[ListEnd] = []
        with self._recorder or nullcontext():
            for row in sorted(self._journal.lists(self._job), key=lambda row: not row.job.owed):
                ends.append(self._run_list(row, hooks))
                self._journal.note_traffic(
                    self._job, (self.traffic.sent, self.traffic.retried, self.traffic.received)
                )
                if isinstance(ends[-1].failure, ENDS_ALL):
                    break
        self._note_rest(ends)
        return ends

    def sweep(self, silo: Silo, jobs: Sequence[ListJob], agent: str) -> None:
        """Find deletions that are not announced; the receipt has the result.

        Raises:
            EndpointError, RecordSiloError, OSError: Nothing was deleted.
        """
        listing = Reception("", agent, f"swept against {self._source.base_url}")
        with (
            self._recorder or nullcontext(),
            self._client(Lane(threading.Event()), ListJob("")) as client,
        ):
            try:
                self._swept = sweep(
                    client,
                    silo,
                    jobs,
                    self._quirks,
                    share=self._options.sweep_share,
                    listing=listing,
                )
            except SweepRefused as refused:
                self._sweep_refused = str(refused)
            self.traffic = _sum(self.traffic, client.traffic)

    def receipt(self, ends: Sequence[ListEnd]) -> Receipt:
        """Return the receipt of all runs of the job so far."""
        return Receipt(
            self._source.base_url,
            self._job.started,
            datetime.now(UTC),
            tuple(end.receipt for end in ends),
            self.traffic,
            interrupted=any(isinstance(end.failure, KeyboardInterrupt) for end in ends),
            sweep=self._swept,
            sweep_refused=self._sweep_refused,
            moved_to=self._moved_to,
        )

    # ------------------------------------------------------------------ one list

    def _run_list(self, row: ListRow, hooks: Hooks) -> ListEnd:
        state = ListState(self._journal, row, self._source.base_url, self._quirks)
        begun: list[ListJob] = []

        def on_page(receipt: ListReceipt) -> None:
            if receipt.counts.listed and not begun:
                begun.append(row.job)
                hooks.on_begun(row.job)
            hooks.progress(receipt)

        asked = set(state.lost_by_name(self._options.again))
        store = hooks.open_store(row.job)
        with Fetchers(lambda lane: self._client(lane, row.job)) as fetchers:
            endpoint = HarvestedEndpoint(fetchers, self._quirks, self._concurrency)
            try:
                end = ListHarvest(
                    state,
                    store,
                    endpoint,
                    self._place(row.job),
                    on_page,
                    read=read_lightly if self._options.pages_only else read_records_to_store,
                    count=self._options.count and not self._options.pages_only,
                    again=0 if self._options.pages_only else self._options.again,
                    identifiers_first=self._options.identifiers_first,
                    keep_aside=self._keep_aside,
                    held=lambda without: hooks.held(row.job, without),
                    apart=self._apart(hooks.storing(row.job)),
                ).run()
            finally:
                self._concurrency = endpoint.concurrency
                self.traffic = _sum(self.traffic, fetchers.traffic)
                self._moved_to = fetchers.moved_to or self._moved_to
        if end.receipt.ended and not self._options.pages_only:
            self._note_owed(row.job, state, end.receipt, asked)
        if not row.job.owed:
            hooks.on_end(row.job, end.receipt)
        return end

    def _apart(self, how: Storing | None) -> Apart:
        if self._recorder is None or self._options.pages_only or cores() < 2:
            return Apart(how)
        return Apart(how, self._options.apart_from, self._recorder.flush)

    def _note_owed(
        self, job: ListJob, state: ListState, receipt: ListReceipt, asked: Container[str]
    ) -> None:
        """Store the owed records for the next update; those just requested come last."""
        owed = [loss for loss in state.listed.losses if loss.what.identifier]
        owed.sort(key=lambda loss: loss.what.identifier in asked)
        if not job.owed and not (job.is_all and receipt.complete):
            known = state.listed.known
            owed = [
                one for one in self._journal.owed(job) if one.what.identifier not in known
            ] + owed
        self._journal.put_owed(job, owed)

    def _keep_aside(self, set_aside: Sequence[SetAside], origin: QuarantineOrigin) -> None:
        if self._quarantine is not None:
            self._quarantine.keep(set_aside, origin)

    def _client(self, lane: Lane, job: ListJob) -> Client:
        transport = self._source.open_transport(lane)
        if self._recorder is not None:
            transport = RecordingTransport(transport, self._recorder, job.metadata_prefix)
        return Client(transport)

    def _place(self, job: ListJob) -> WindowsPlace:
        first, last = span(self._source.earliest, datetime.now(UTC))
        granularity = _granularity_of(job) or self._source.granularity
        return WindowsPlace(job, granularity, first, last, self._options.window)

    # ------------------------------------------------------------------ the end

    def _note_rest(self, ends: Sequence[ListEnd]) -> None:
        now = datetime.now(UTC)
        for end in ends:
            if isinstance(end.failure, RetryLater):
                with self._journal.changing():
                    self._journal.put_rest(
                        self._source.base_url, end.failure.deadline, end.failure.status, now
                    )

    def close(self, ends: Sequence[ListEnd]) -> None:
        """Remove the job if it is finished, else note why it is not.

        Called after the receipt is stored, so a harvest killed before resumes and writes it.
        """
        failures = [end.failure for end in ends if end.failure is not None]
        if all(isinstance(failure, _FINAL) for failure in failures):
            self._journal.forget(self._job)
        else:
            self._journal.note_stop(self._job, ends[-1].receipt.stopped or str(failures[0]))


def update_job(
    journal: Journal, base_url: str, lists: Sequence[ListJob], *, anew: bool = False
) -> OpenHarvest:
    """Return the job of an update: these lists, and every unfinished list of an open harvest.

    Lists of open harvests are taken over with their progress, and those harvests are removed. A
    running harvest keeps its lists, and so does one with ``pages_only``. A stopped update has
    reported its lists, so its finished lists are requested from their new marks on. A killed
    update is resumed as it is.

    Args:
        journal: Has the open harvests.
        base_url: The repository's, without credentials.
        lists: The lists harvested before, from their marks on.
        anew: Start the lists of open harvests again.
    """
    request = request_text(UPDATE_ALL)
    job = journal.job_of(request)
    if job is not None and (job.said or anew):
        journal.rename(job, request_text(UPDATE_ALL, before=job.id))
        job = None
    if job is None:
        job = journal.begin(request, base_url, lists, datetime.now(UTC))
    own = {replace(row.job, update=False): row for row in journal.lists(job)}
    known = {(one.metadata_prefix, one.set_spec) for one in own if not one.owed}
    for one in lists:
        if (one.metadata_prefix, one.set_spec) not in known:
            own[replace(one, update=False)] = journal.add_list(job, one)
    for other in journal.jobs():
        kind = json.loads(other.request)["harvest"]
        if other.id == job.id or kind in {PAGES, UPDATE_PAGES}:
            continue
        with suppress(HarvestRunning), journal.held(other.request):
            is_continued = False
            for found in journal.lists(other):
                what = replace(found.job, update=False)
                mine = own.get(what)
                if mine is not None and mine.facts.begun:
                    continue
                if journal.is_unfinished(found) or (mine is not None and kind != UPDATE_ALL):
                    own[what] = _taken_over(journal, job, found, mine, anew=anew)
                    is_continued = True
            if is_continued:
                note_continued(journal.silo_path, other.id, job.id)
            journal.forget(other)
    return job


def _taken_over(
    journal: Journal, job: OpenHarvest, found: ListRow, mine: ListRow | None, *, anew: bool
) -> ListRow:
    if anew:
        return mine or journal.add_list(job, found.job)
    journal.adopt(found, mine, job)
    return found


def keep_receipt(silo_path: str, receipt: Receipt) -> str:
    """Write a receipt below the Silo's ``harvests/``, replacing that of earlier runs of the job."""
    make_in_silo(silo_path, os.path.join(silo_path, RECEIPTS))
    path = _receipt_path(silo_path, job_id(receipt.started))
    _put_receipt(path, receipt.to_json())
    return path


def forget_refused(silo_path: str, number: str) -> None:
    """Remove the receipt and the responses of a harvest of what the repository does not have.

    A harvest that can be resumed keeps them.

    Args:
        silo_path: The Silo's directory.
        number: The id of the harvest, which has ended and listed nothing.
    """
    with Journal(silo_path) as journal:
        if any(job.id == number for job in journal.jobs()):
            return
    directory = os.path.join(silo_path, RECEIPTS)
    for name in warc_names(directory, number):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, str(name)))
    with suppress(FileNotFoundError):
        os.unlink(_receipt_path(silo_path, number))


def note_continued(silo_path: str, number: str, by: str) -> None:
    """Note in the receipt of a stopped harvest, if it left one, which harvest continued it."""
    path = _receipt_path(silo_path, number)
    try:
        with open(path, encoding="utf-8", errors="surrogatepass", opener=regular_fd) as file:
            found = json.load(file)
    except (FileNotFoundError, ValueError, RecursionError):
        return
    if isinstance(found, dict):
        _put_receipt(path, {**found, "continued_by": by})


def _receipt_path(silo_path: str, number: str) -> str:
    return os.path.join(silo_path, RECEIPTS, f"{number}-receipt.json")


def _put_receipt(path: str, receipt: Mapping[str, Any]) -> None:
    text = json.dumps(receipt, ensure_ascii=False, indent=1) + "\n"
    replace_file(path, text.encode("utf-8", "surrogatepass"))


def _granularity_of(job: ListJob) -> Granularity | None:
    """Return the granularity of a list's bounds, which its windows use too."""
    for bound in (job.from_, job.until):
        if bound is not None:
            try:
                return Granularity.of(bound)
            except DatestampError:
                continue
    return None


def _sum(one: Traffic, other: Traffic) -> Traffic:
    return replace(
        one,
        sent=one.sent + other.sent,
        retried=one.retried + other.retried,
        received=one.received + other.received,
    )
