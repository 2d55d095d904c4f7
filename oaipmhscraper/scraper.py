"""OAIPMHScraper: the harvester's interface of 2010 over the engine of today.

>>> scraper = OAIPMHScraper("myrepo", "https://eprints.example.org/cgi/oai2")
>>> scraper.getRecords("oai_dc")
>>> scraper.getRecords("oai_dc", update=True)
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from oaipmhprotocol import DatestampError, Identify, NoRecordsMatch, NoSetHierarchy, Record
from oaipmhscraper.client import Client, Moment
from oaipmhscraper.errors import (
    BaseURLConflict,
    EndpointUnreachable,
    HarvestInterrupted,
    HarvestStopped,
    NoBaseURL,
    NothingToUpdate,
    RequestRefused,
    RetryLater,
)
from oaipmhscraper.harvest import ListEnd, Progress, harvest_list
from oaipmhscraper.http_rules import BaseURL
from oaipmhscraper.http_transport import HttpSettings, HttpTransport, Transport
from oaipmhscraper.identified import granularity_in, identifier_prefix, state_of
from oaipmhscraper.marks import (
    HARVESTED,
    ListJob,
    harvested_lists,
    update_of,
    with_begun,
    with_receipt,
)
from oaipmhscraper.progress import Silence, display
from oaipmhscraper.receipt import ListReceipt, Receipt
from oaipmhscraper.requests_and_pages import checked_prefix
from oaipmhscraper.silo_writer import SiloWriter, date_of_2010
from oaipmhscraper.storing_rules import Listing
from recordsilo import PersistentState, Silo
from recordsilo.atomic_file import replace_file
from recordsilo.locks import Locks
from recordsilo.manifest import now_text

STATE_FILE = "oaipmh_harvester.json"
RECEIPTS = "harvests"


class OAIPMHScraper:
    """Harvests one OAI-PMH repository into one Silo.

    Constructing with a URL identifies the repository first and makes the directory
    then: where nobody answers, nothing is left behind. The directory alone is
    enough to go on with an earlier harvest; nothing is sent then until needed.

    Args:
        storage_dir: The Silo's directory, new or not.
        base_oai_url: The repository's base URL. User and password in it are used
            and never stored; ``~/.netrc`` serves where the URL is not given again.
        identifier_uri_prefix: What the identifiers begin with (``oai:example.org:``);
            records are then found by the rest alone. For a new Silo it is taken from
            the repository's ``oai-identifier`` description, if it is not given.
        transport: The way to the repository, in place of HTTP.
        settings: How to send requests: contact, time and size limits.
        quiet: Show no progress, also at a terminal.
        agent: Who harvests, as noted in each version's origin.

    Raises:
        EndpointError, OAIError: The repository does not identify itself.
        BaseURLConflict: The Silo was harvested from another one.
        NoBaseURL: No URL is given, and the Silo remembers none.
        SiloNotFound, NotASilo: No URL is given, and there is no Silo.

    Attributes:
        store: The `recordsilo.Silo`.
        state: A `recordsilo.PersistentState`: ``lastidentified`` and ``identify``, later
            ``sets``, and under ``harvested`` how far each list was harvested.
    """

    def __init__(
        self,
        storage_dir: str,
        base_oai_url: str | None = None,
        identifier_uri_prefix: str | None = None,
        *,
        transport: Transport | None = None,
        settings: HttpSettings | None = None,
        quiet: bool = False,
        agent: str = "oaipmhscraper",
    ) -> None:
        self.quiet = quiet
        self._agent = agent
        self._settings = settings
        self._transport = transport
        given = None if base_oai_url is None else BaseURL.parse(base_oai_url).url
        if given is None or _holds_something(storage_dir):
            self.store = Silo(
                storage_dir, create=False, identifier_uri_prefix=identifier_uri_prefix
            )
            self._base_url = _agreed_base_url(self.store, given)
            self._client = self._new_client(base_oai_url or self._base_url)
            identify = self._client.identify() if given else None
            if self.store.state.get("base_oai_url") is None:
                self._set_base_url(self._base_url)
        else:
            self._base_url = given
            self._client = self._new_client(base_oai_url or given)
            identify = self._client.identify()
            self.store = Silo(
                storage_dir,
                uri_base=given,
                identifier_uri_prefix=identifier_uri_prefix or identifier_prefix(identify),
                base_oai_url=given,
            )
        self.state = PersistentState(self.store.path, STATE_FILE, create=False)
        if identify is not None:
            self._remember(identify)

    def before_store(self, record: Record, metadata_prefix: str) -> Record | None:
        """Hook for subclasses: change a record before it is stored.

        Args:
            record: As received.
            metadata_prefix: The format of the list.

        Returns:
            What to store in its place; None leaves it out.
        """
        del metadata_prefix
        return record

    # ------------------------------------------------------------------ asking

    def identify(self, refresh_cache: bool = False) -> dict[str, Any]:
        """What the repository says of itself; asked for once, then remembered.

        Returns:
            ``state['identify']``: repositoryName, baseURL, protocolVersion, adminEmails,
            earliestDatestamp, deletedRecord, granularity, compression, descriptions.
        """
        if refresh_cache or "identify" not in self.state:
            self._remember(self._client.identify())
        found: dict[str, Any] = self.state["identify"]
        return found

    def getMetadataPrefixes(self) -> dict[str, tuple[str, str]]:
        """The repository's formats: {prefix: (schema URL, namespace)}."""
        return {
            one.prefix: (one.schema, one.namespace) for one in self._client.list_metadata_formats()
        }

    def getSets(self) -> dict[str, str]:
        """The repository's sets, {setSpec: setName}, remembered as ``state['sets']``.

        Empty for a repository without sets.
        """
        try:
            sets = {one.spec: one.name for one in self._client.list_sets()}
        except NoSetHierarchy:
            sets = {}
        self._keep_in_state("sets", lambda: sets)
        return sets

    def getIdentifiers(
        self, update: bool = False, set_id: str | None = None, metadataPrefix: str = "oai_dc"
    ) -> Iterator[tuple[str, str]]:
        """Identifiers and dates as the repository lists them, deleted ones included.

        Lazy, page by page; nothing is stored.

        Args:
            update: Only what changed since the last complete harvest of that format and set.
            set_id: Only members of this set.
            metadataPrefix: Only items that can be had in this format.

        Yields:
            (identifier, date), the date in the form of manifests:
            ``2004-06-24T00:00:00``, UTC; one that cannot be read, as sent.
        """
        job = ListJob(checked_prefix(metadataPrefix), set_id or None)
        job = self._updated(job) if update else job
        headers = self._client.list_identifiers(
            metadataPrefix, from_=job.from_, set_spec=job.set_spec
        )
        try:
            for header in headers:
                yield header.identifier, _date_or_text(header.datestamp)
        except NoRecordsMatch:
            return

    # ------------------------------------------------------------------ harvesting

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
            update: Only what changed since the last complete harvest of that format and
                set, by the server's clock, with one granule of overlap.
            set_id: Only members of this set.
            _from: Earliest datestamp: a text, a date or an aware datetime.
            _until: Latest datestamp, inclusive.

        Returns:
            What was got. Look at ``whole``.

        Raises:
            HarvestStopped: The list broke off; its receipt says what came before.
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
        restore_removed: bool = False,
        progress: Progress | None = None,
    ) -> Receipt:
        """Harvest formats into the Silo, one list after the other.

        A list that breaks off does not keep the others from being harvested, unless
        the repository cannot be reached at all. The receipt is also kept in the
        Silo, in ``harvests/``.

        Args:
            metadata_prefixes: Those other than the first join the versions of the first.
            set_spec: Only members of this set.
            from_: Earliest datestamp.
            until: Latest datestamp.
            update: See `getRecords`; not together with ``from_`` or ``until``.
            restore_removed: Bring records back that were removed from the Silo.
            progress: Told after every page; by default shown where stderr is a terminal.

        Raises:
            RequestRefused: Arguments that make no request; nothing was sent.
            HarvestStopped, HarvestInterrupted: See `getRecords`.
            RecordSiloError, OSError: The store failed; pages before are kept.
        """
        if update and (from_ is not None or until is not None):
            raise RequestRefused("an update goes on by itself; leave out from and until")
        first, last = self._client.datestamp(from_), self._client.datestamp(until)
        jobs = [
            ListJob(checked_prefix(prefix), set_spec or None, first, last)
            for prefix in dict.fromkeys(metadata_prefixes)
        ]
        if update:
            jobs = [self._updated(job) for job in jobs]
        return self._run(jobs, restore_removed, progress)

    def update(self, *, restore_removed: bool = False, progress: Progress | None = None) -> Receipt:
        """Go on with every format and set that was harvested before.

        Raises:
            NothingToUpdate: There are none.
        """
        jobs = [self._updated(job) for job in harvested_lists(self.state)]
        if not jobs:
            raise NothingToUpdate(self.store.storage_dir)
        return self._run(jobs, restore_removed, progress)

    def moved_to(self, base_oai_url: str) -> None:
        """The repository has another address from now on.

        Raises:
            EndpointError, OAIError: It does not identify itself there; nothing changes.
        """
        base_url = BaseURL.parse(base_oai_url).url
        client = self._new_client(base_oai_url)
        identify = client.identify()
        self._client.close()
        self._client = client
        self._set_base_url(base_url)
        self._remember(identify)

    def close(self) -> None:
        """Close the connections to the repository, and the Silo."""
        self._client.close()
        self.store.close()

    def __enter__(self) -> "OAIPMHScraper":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # ------------------------------------------------------------------ within

    def _run(
        self, jobs: Iterable[ListJob], restore_removed: bool, progress: Progress | None
    ) -> Receipt:
        started = datetime.now(UTC)
        ends: list[ListEnd] = []
        shown = display(sys.stderr, quiet=self.quiet, terminal_only=True)
        with shown if progress is None else Silence():
            for job in jobs:
                ends.append(self._run_list(job, restore_removed, progress or shown))
                if isinstance(ends[-1].failure, _ENDS_ALL):
                    break
        receipt = Receipt(
            self._base_url,
            started,
            datetime.now(UTC),
            tuple(end.receipt for end in ends),
            self._client.traffic,
            interrupted=any(isinstance(end.failure, KeyboardInterrupt) for end in ends),
        )
        self._keep_receipt(receipt)
        _raise_failure(receipt, ends)
        return receipt

    def _run_list(self, job: ListJob, restore_removed: bool, progress: Progress) -> ListEnd:
        writer = SiloWriter(
            self.store,
            Listing(job.metadata_prefix, self._agent, f"harvested from {self._base_url}"),
            before_store=self.before_store,
            restore_removed=restore_removed,
        )
        begun = False

        def on_page(receipt: ListReceipt) -> None:
            nonlocal begun
            if receipt.counts.listed and not begun:
                begun = True
                self._keep_in_state(HARVESTED, lambda: with_begun(self.state, job))
            progress(receipt)

        end = harvest_list(self._client, writer, job, on_page)
        self._keep_in_state(HARVESTED, lambda: with_receipt(self.state, job, end.receipt))
        return end

    def _updated(self, job: ListJob) -> ListJob:
        return update_of(self.state, job, granularity_in(self.identify()))

    def _new_client(self, base_url: str) -> Client:
        return Client(self._transport or HttpTransport(base_url, self._settings))

    def _set_base_url(self, base_url: str) -> None:
        self._base_url = base_url
        self.store.state["base_oai_url"] = base_url
        self.store.state.sync()

    def _remember(self, identify: Identify) -> None:
        self._keep_in_state("lastidentified", now_text)
        self._keep_in_state("identify", lambda: state_of(identify))

    def _keep_in_state(self, key: str, value: Callable[[], Any]) -> None:
        """Set a key on top of what other processes wrote meanwhile; None changes nothing."""
        with Locks(os.path.join(self.store.path, ".silo", "locks")).hold_name("harvester"):
            self.state.revert()
            new = value()
            if new is not None:
                self.state[key] = new
                self.state.sync()

    def _keep_receipt(self, receipt: Receipt) -> None:
        directory = os.path.join(self.store.path, RECEIPTS)
        os.makedirs(directory, exist_ok=True)
        name = f"{receipt.started:%Y%m%dT%H%M%S.%fZ}-receipt.json"
        text = json.dumps(receipt.to_json(), ensure_ascii=False, indent=1) + "\n"
        replace_file(os.path.join(directory, name), text.encode("utf-8", "surrogatepass"))


_ENDS_ALL = (KeyboardInterrupt, EndpointUnreachable, RetryLater)
"""After these, the lists that are left would fare no better."""


def _raise_failure(receipt: Receipt, ends: Iterable[ListEnd]) -> None:
    if receipt.interrupted:
        raise HarvestInterrupted(receipt)
    for end in ends:
        if isinstance(end.failure, Exception):
            raise HarvestStopped(str(end.request), end.failure, receipt) from end.failure


def _holds_something(storage_dir: str) -> bool:
    try:
        return bool(os.listdir(storage_dir))
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True


def _agreed_base_url(silo: Silo, given: str | None) -> str:
    """The base URL that the Silo remembers and the caller, if at all, gives."""
    remembered = silo.state.get("base_oai_url")
    if remembered is None and given is None:
        raise NoBaseURL(silo.storage_dir)
    if remembered is None or given is None:
        return str(remembered or given)
    if BaseURL.parse(str(remembered)).url != given:
        raise BaseURLConflict(silo.storage_dir, str(remembered), given)
    return given


def _date_or_text(datestamp: str) -> str:
    try:
        return date_of_2010(datestamp)
    except DatestampError:
        return datestamp
