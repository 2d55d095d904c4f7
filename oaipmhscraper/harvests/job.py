"""Run a harvest as a resumable job: its lists in order, and a receipt at the end."""

import json
import os
import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from oaipmhclient.client import Client
from oaipmhclient.concurrency import Concurrency
from oaipmhclient.fetchers import Fetchers, Lane
from oaipmhclient.pages.requests_and_pages import identify_request
from oaipmhclient.walk.endpoint_checks import refuse_unknown_formats
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.values import ListJob
from oaipmhclient.walk.windows import span
from oaipmhprotocol import (
    BadArgument,
    CannotDisseminateFormat,
    DatestampError,
    Granularity,
    NoSetHierarchy,
    OAIError,
)
from oaipmhscraper.errors import HarvestRunning, NothingToUpdate
from oaipmhscraper.harvests.access import Access
from oaipmhscraper.harvests.running import (
    PAGES,
    UPDATE_ALL,
    UPDATE_PAGES,
    refuse_running,
    request_text,
)
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.lists.journal_rows import ListRow, OpenHarvest, job_id
from oaipmhscraper.lists.list_harvest import ListEnd, ListHarvest, Progress
from oaipmhscraper.lists.list_state import ListState
from oaipmhscraper.lists.storing_apart import Apart
from oaipmhscraper.lists.window_changes import WindowsPlace
from oaipmhscraper.options import MOST_IN_FLIGHT, HarvestOptions
from oaipmhscraper.progress_marks import HARVESTED, KEPT_AS_PAGES, harvested_lists
from oaipmhscraper.receipt import HarvestInterrupted, HarvestStopped, ListReceipt, Receipt
from oaipmhscraper.repository_state import HarvesterState, granularity_in
from oaipmhscraper.storing.fetched_pages import Storing
from oaipmhscraper.storing.pages_only import PageCounter
from oaipmhscraper.storing.quarantine import Quarantine, quarantine_of
from oaipmhscraper.storing.silo_writer import BeforeStore, PageStore, SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from oaipmhscraper.storing.sweep import sweep
from oaipmhscraper.sweep_rules import SweepReceipt, SweepRefused
from oaipmhscraper.warc.responses import RecordingTransport, ResponseRecorder
from politeweb.answers import Traffic
from politeweb.errors import EndpointError, EndpointUnreachable, RetryLater
from politeweb.warc.files import warc_names
from recordsilo import Silo
from recordsilo.disk.atomic_file import make_in_silo, replace_file
from recordsilo.disk.regular_file import regular_fd
from recordsilo.second_process import cores

RECEIPTS = "harvests"
ENDS_ALL = (KeyboardInterrupt, EndpointUnreachable, RetryLater)
"""After these errors, the other lists would fail too."""
_FINAL = (CannotDisseminateFormat, BadArgument, NoSetHierarchy)
"""After these errors, the job cannot be resumed."""


class JobRun:
    """A run of a harvest: of its lists, one after another, to the receipt.

    Args:
        silo: Gets the records.
        state: What the Silo stores about the repository.
        access: The repository.
        options: Windows, requests in flight, and more.
        agent: Who harvests, as noted in each version's origin.
        before_store: See `SiloWriter`. A second process lacks it, so none is started then.
        progress: Called after every page.

    Attributes:
        traffic: What was sent and received in all runs of the job.
    """

    _journal: Journal
    _job: OpenHarvest
    _recorder: ResponseRecorder | None
    _quarantine: Quarantine
    _quirks: EndpointMemory
    _concurrency: Concurrency
    traffic: Traffic

    def __init__(
        self,
        silo: Silo,
        state: HarvesterState,
        access: Access,
        options: HarvestOptions,
        *,
        agent: str,
        before_store: BeforeStore | None,
        progress: Progress,
    ) -> None:
        self._silo = silo
        self._state = state
        self._access = access
        none = options.pages_only  # no record is stored, so none can be lacking
        self._options = replace(options, count=False, again=0) if none else options
        self._agent = agent
        self._before_store = before_store
        self._progress = progress
        self._warc_directory = os.path.join(silo.path, RECEIPTS)
        self._swept: SweepReceipt | None = None
        self._sweep_refused = ""
        self._moved_to = ""

    def run(self, request: str, lists: Sequence[ListJob]) -> Receipt:
        """Begin the job of a request, or resume it, and harvest the rest of every list.

        A list at its end sends no more list requests, but its identifiers are counted and its mark
        is stored if a killed run did not do so.

        Args:
            request: See `request_text`.
            lists: The lists of a new job.

        Raises:
            HarvestStopped, HarvestInterrupted, HarvestRunning, RetryLater, RequestRefused
            NothingToUpdate: It is an update of everything, and has no list.
            RecordSiloError, OSError: The store failed; pages before are kept.
        """
        ends: list[ListEnd] = []
        with ExitStack() as stack:
            self._open(stack, request, lists)
            with self._recorder or nullcontext():
                for row in sorted(self._journal.lists(self._job), key=lambda row: not row.job.owed):
                    ends.append(self._run_list(row))
                    self._journal.note_traffic(
                        self._job, (self.traffic.sent, self.traffic.retried, self.traffic.received)
                    )
                    if isinstance(failure := ends[-1].failure, RetryLater):
                        self._access.keep_rest(self._journal, failure)
                    if isinstance(failure, ENDS_ALL):
                        break
                if self._options.sweep and all(end.failure is None for end in ends):
                    self._sweep()
            receipt = self.receipt(ends)
            keep_receipt(self._silo.path, receipt)
            self._close(ends)
        _raise_failure(receipt, ends)
        return receipt

    # ------------------------------------------------------------------ the job

    def _open(self, stack: ExitStack, request: str, lists: Sequence[ListJob]) -> None:
        """Lock the request until the stack is closed, and open its job and all that it needs."""
        stack.enter_context(self._silo.writing())
        journal = self._journal = stack.enter_context(Journal(self._silo.path))
        access, options = self._access, self._options
        with journal.beginning():
            stack.enter_context(journal.held(request))
            refuse_running(journal, request, lists)
        access.await_rest(journal)
        if len(lists) > 1 and not any(one.update for one in lists):
            refuse_unknown_formats(access.client, [one.metadata_prefix for one in lists])
        with journal.beginning():  # another one may have begun meanwhile
            refuse_running(journal, request, lists)
            job = self._job = self._begun(request, lists)
        if not options.pages_only:
            journal.add_owed(job)
        keeps = options.warc or options.pages_only
        asks = keeps or access.settings.first_attempts or "identify" not in self._state
        if asks and access.identified is None:
            self._state.remember(access.identify(self._silo.path, has_rested=True))
        self._recorder = self._opened_recorder() if keeps else None
        self._quarantine = Quarantine(quarantine_of(self._warc_directory, job.id))
        self._quirks = journal.quirks(access.base_url)
        most = 1 if access.is_lent else min(options.max_in_flight, MOST_IN_FLIGHT)
        self._concurrency = Concurrency(max(1, most))
        self.traffic = Traffic(*job.traffic)

    def _begun(self, request: str, lists: Sequence[ListJob]) -> OpenHarvest:
        """Return the open job of a request, or a new one."""
        journal, base_url, anew = self._journal, self._access.base_url, self._options.anew
        if request == request_text(UPDATE_ALL):
            update = update_job(journal, base_url, lists, anew=anew)
            if not journal.lists(update):
                journal.forget(update)
                has_pages = bool(self._state.marks[KEPT_AS_PAGES])
                raise NothingToUpdate(self._silo.storage_dir, has_pages=has_pages)
            return update
        job = journal.job_of(request)
        if job is not None and anew:
            journal.forget(job)
            job = None
        return job or journal.begin(request, base_url, lists, datetime.now(UTC))

    def _opened_recorder(self) -> ResponseRecorder:
        """Return the recorder of the job's responses; a new file begins with Identify."""
        about = {
            "base-url": self._access.base_url,
            "agent": self._agent,
            "message": self._message,
            "identifier-uri-prefix": str(self._silo.state.get("identifier_uri_prefix") or ""),
        }
        recorder = ResponseRecorder(
            self._warc_directory, self._job.id, about=about, settings=self._access.settings
        )
        if self._access.identified is not None:
            recorder.record(identify_request().params, self._access.identified)
        return recorder

    @property
    def _message(self) -> str:
        return f"harvested from {self._access.base_url}"

    def _close(self, ends: Sequence[ListEnd]) -> None:
        """Remove the job if it is finished, else note why it is not.

        Called after the receipt is stored, so a harvest killed before resumes and writes it.
        """
        failures = [end.failure for end in ends if end.failure is not None]
        if all(isinstance(failure, _FINAL) for failure in failures):
            self._journal.forget(self._job)
        else:
            self._journal.note_stop(self._job, ends[-1].receipt.stopped or str(failures[0]))

    def receipt(self, ends: Sequence[ListEnd]) -> Receipt:
        """Return the receipt of all runs of the job so far."""
        return Receipt(
            self._access.base_url,
            self._job.started,
            datetime.now(UTC),
            tuple(end.receipt for end in ends),
            self.traffic,
            interrupted=any(isinstance(end.failure, KeyboardInterrupt) for end in ends),
            sweep=self._swept,
            sweep_refused=self._sweep_refused,
            moved_to=self._moved_to,
        )

    # ------------------------------------------------------------------ its lists

    def _run_list(self, row: ListRow) -> ListEnd:
        options, job, key = self._options, row.job, self._options.key
        state = ListState(self._journal, row, self._access.base_url, self._quirks)
        begun: list[ListJob] = []

        def on_page(receipt: ListReceipt) -> None:
            if receipt.counts.listed and not begun:
                begun.append(job)
                self._state.note_begun(key, job)
            self._progress(receipt)

        asked = set(state.lost_by_name(options.again))
        store, apart = self._store_of(job)
        with Fetchers(lambda lane: self._client(lane, job)) as fetchers:
            harvest = ListHarvest(
                state,
                options,
                silo=self._silo,
                store=store,
                quarantine=self._quarantine,
                apart=apart,
                fetchers=fetchers,
                concurrency=self._concurrency,
                place=self._place(job),
                progress=on_page,
            )
            try:
                end = harvest.run()
            finally:
                self._concurrency = harvest.concurrency
                self.traffic = _sum(self.traffic, fetchers.traffic)
                self._moved_to = fetchers.moved_to or self._moved_to
        if end.receipt.ended and not options.pages_only:
            self._note_owed(job, state, end.receipt, asked)
        if not job.owed:
            self._state.note_end(key, job, end.receipt)
        return end

    def _store_of(self, job: ListJob) -> tuple[PageStore, Apart]:
        """Return what stores the pages of a list, and when a second process does."""
        options, recorder = self._options, self._recorder
        if options.pages_only and recorder is not None:
            return PageCounter(recorder.flush), Apart()
        listing = Reception(job.metadata_prefix, self._agent, self._message)
        store = SiloWriter(
            self._silo,
            listing,
            before_store=self._before_store,
            restore_removed=options.restore_removed,
        )
        how = Storing(
            self._silo.path,
            self._warc_directory,
            listing,
            options.restore_removed,
            self._access.settings.max_response,
        )
        if recorder is None or self._before_store is not None or cores() < 2:
            return store, Apart(how)
        return store, Apart(how, options.apart_from, recorder.flush)

    def _client(self, lane: Lane, job: ListJob) -> Client:
        transport = self._access.open_transport(lane)
        if self._recorder is not None:
            transport = RecordingTransport(transport, self._recorder, job.metadata_prefix)
        return Client(transport)

    def _place(self, job: ListJob) -> WindowsPlace:
        known = self._state["identify"]
        first, last = span(str(known["earliestDatestamp"]), datetime.now(UTC))
        granularity = _granularity_of(job) or granularity_in(known)
        return WindowsPlace(job, granularity, first, last, self._options.window)

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

    def _sweep(self) -> None:
        """Find deletions that are not announced; the receipt has the result.

        Raises:
            EndpointError, RecordSiloError, OSError: Nothing was deleted.
        """
        listing = Reception("", self._agent, f"swept against {self._access.base_url}")
        lists = list(harvested_lists(self._state.marks[HARVESTED]))
        with self._client(Lane(threading.Event()), ListJob("")) as client:
            try:
                self._swept = sweep(
                    client,
                    self._silo,
                    lists,
                    self._quirks,
                    share=self._options.sweep_share,
                    listing=listing,
                )
            except SweepRefused as refused:
                self._sweep_refused = str(refused)
            self.traffic = _sum(self.traffic, client.traffic)


def _raise_failure(receipt: Receipt, ends: Iterable[ListEnd]) -> None:
    if receipt.interrupted:
        raise HarvestInterrupted(receipt)
    for end in ends:
        if isinstance(end.failure, Exception):
            stopped = HarvestStopped(str(end.request or ""), end.failure, receipt)
            if isinstance(end.failure, (OAIError, EndpointError)):  # of the repository, no bug:
                raise stopped from None  # the frames of the thread that fetched say nothing more
            raise stopped from end.failure


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
