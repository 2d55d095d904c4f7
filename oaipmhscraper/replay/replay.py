"""Make a Silo from recorded responses, with the same records and dates, without the repository.

The files are read twice: to find out which responses belong together, and to store the pages that
the harvest stored.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.repair import (
    read_headers_mended,
    read_mended,
    read_record_mended,
    read_records_to_store,
)
from oaipmhclient.mending.undated import dated
from oaipmhclient.pages.requests_and_pages import ListPage, SetAside, checked_prefix, read_identify
from oaipmhclient.walk.page_facts import are_outside, headers_of, share_one_identifier
from oaipmhclient.walk.values import ListJob
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import Identify, OAIError, Record, Verb
from oaipmhprotocol.queries import query_string
from oaipmhscraper.harvests.job import RECEIPTS, keep_receipt
from oaipmhscraper.interrupts import interrupt_deferred
from oaipmhscraper.lists.listed_identifiers import ListedIdentifiers
from oaipmhscraper.progress_marks import HARVESTED, with_begun, with_receipt
from oaipmhscraper.receipt import Counts, HarvestInterrupted, ListReceipt, Outcome, Receipt
from oaipmhscraper.replay.recorded_lists import ListAndWindow, ListName, RecordedList, RecordedLists
from oaipmhscraper.replay.recorded_singles import ReplayedRecords, Singles
from oaipmhscraper.repository_state import identifier_prefix, state_of
from oaipmhscraper.storing.quarantine import Quarantine, QuarantineOrigin, quarantine_of
from oaipmhscraper.storing.silo_writer import BeforeStore, SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from oaipmhscraper.warc.elsewhere import read_elsewhere
from oaipmhscraper.warc.reading import StoredResponse, read_warc
from politeweb.addresses import without_credentials
from politeweb.errors import RequestRefused, WarcUnreadable
from politeweb.settings import MAX_RESPONSE
from politeweb.warc.reading import About, Damaged, warc_paths
from recordsilo import PersistentState, Silo
from recordsilo.disk.regular_file import regular_fd
from recordsilo.errors import did_you_mean
from recordsilo.repository import STATE_FILE

REPLAYING = "replaying"
"""State key that exists while a replay is not finished and may be started again."""
REPLAYED = "replayed"
"""Replaces an unknown harvest id."""

_NAMED = 10
"""Most damaged places that are named; others are counted."""

Progress = Callable[[ListReceipt], None]


def replay(
    directory: str,
    sources: Sequence[str],
    *,
    before_store: BeforeStore | None = None,
    progress: Progress | None = None,
    max_response: int = MAX_RESPONSE,
    prefixes: Collection[str] = (),
    set_spec: str | None = None,
) -> Receipt:
    """Make a Silo from recorded responses.

    The records of a harvest are stored again, with the same dates, agent and message. The receipt
    counts the content of the files. For files written by this program, the harvest's receipt says
    whether a list was whole; in other files a list is whole if every promised page is there. The
    marks from which updates start are stored in the same way.

    Args:
        directory: A new Silo, or one that an interrupted replay began.
        sources: WARC files, or directories of them, the oldest first. Those in an object store
            are fetched, twice each.
        before_store: May change a record, or leave it out.
        progress: Called after every page.
        max_response: See `HttpSettings`; larger responses are reported as damaged.
        prefixes: Replay only lists in these formats; by default all.
        set_spec: Replay only lists that were requested with this set; by default all.

    Raises:
        WarcUnreadable: A file cannot be read, or has no response to an OAI-PMH request.
        StoreFailed: A file is in an object store, and cannot be fetched from there.
        RequestRefused: The directory already has records, or no recorded list has one of
            the formats or the set; nothing was stored.
        HarvestInterrupted: Ctrl-C; the same call resumes.
        RecordSiloError, OSError: The store failed.
    """
    started = datetime.now(UTC)
    paths = warc_paths(sources, read_elsewhere)
    scene = _survey(paths, max_response)
    scene.choose(prefixes, set_spec)
    with _opened(directory, scene) as silo:
        state = PersistentState(silo.path, STATE_FILE, create=False)
        if len(silo) and not state.get(REPLAYING):
            raise RequestRefused(f"{directory} already has records; replay into a new directory")
        _keep(state, {REPLAYING: True})
        run = _Replaying(silo, scene, before_store, progress or (lambda _: None))
        interrupted = False
        try:
            run.store(paths)
        except KeyboardInterrupt:
            interrupted = True
        return _ended(started, state, run, interrupted=interrupted)


def _ended(
    started: datetime, state: PersistentState, run: "_Replaying", *, interrupted: bool
) -> Receipt:
    """Keep the marks and the receipt; an interrupted replay goes on later."""
    scene = run.scene
    receipts = {n: run.receipt(n) for n in scene.overview.lists if scene.is_chosen(n)}
    lists = tuple(receipts.values())
    receipt = Receipt(scene.base_url, started, datetime.now(UTC), lists, interrupted=interrupted)
    if interrupted:
        raise HarvestInterrupted(receipt)
    _note_marks(state, receipts)
    _finish(state, scene)
    keep_receipt(run.silo.path, receipt)
    return receipt


# --------------------------------------------------------------------------- reading


@dataclass(slots=True)
class _Scene:
    """The data of all files, read before anything is stored.

    Attributes:
        limit: Most bytes of one response.
        overview: The list of each response.
        about: The ``warcinfo`` of the first file.
        receipts: The lists in the receipts next to the files.
        identify: The last recorded Identify, if any, and when it was received.
        damaged: The first damaged places of the files.
        places: The number of damaged places.
        skipped: Number of bytes skipped.
        prefixes: The formats to replay; empty for all.
        set_spec: The set whose lists are replayed; None for all lists.
    """

    limit: int
    overview: RecordedLists = field(default_factory=RecordedLists)
    about: dict[str, str] = field(default_factory=dict)
    receipts: dict[ListName, dict[str, Any]] = field(default_factory=dict)
    identify: Identify | None = None
    identified: datetime | None = None
    damaged: list[Damaged] = field(default_factory=list)
    places: int = 0
    skipped: int = 0
    first_url: str = ""
    prefixes: Collection[str] = ()
    set_spec: str | None = None

    @property
    def base_url(self) -> str:
        return self.about.get("base-url") or self.first_url.partition("?")[0]

    def choose(self, prefixes: Collection[str], set_spec: str | None) -> None:
        """Choose the lists to replay.

        Raises:
            RequestRefused: Nothing was recorded of one of the formats, or of the set.
        """
        lists = self.overview.lists
        for prefix in prefixes:
            _check_recorded("format", prefix, (name.metadata_prefix for name in lists))
        if set_spec is not None:
            _check_recorded("set", set_spec, (name.set_spec or "" for name in lists))
        self.prefixes, self.set_spec = prefixes, set_spec

    def is_chosen(self, name: ListName) -> bool:
        """Whether a list is replayed."""
        is_format = not self.prefixes or name.metadata_prefix in self.prefixes
        return is_format and self.set_spec in (None, name.set_spec)


def _check_recorded(kind: str, wanted: str, recorded: Iterable[str]) -> None:
    there = sorted(filter(None, set(recorded)))
    if wanted not in there:
        found = f"they have {', '.join(there)}" if there else f"they have no {kind} at all"
        raise RequestRefused(
            f"the recorded responses have no list of the {kind} {wanted!r}; {found}"
            f"{did_you_mean(wanted, there)}"
        )


def _survey(paths: Sequence[str], limit: int) -> _Scene:
    scene = _Scene(limit)
    for path in paths:
        for found in read_warc(path, limit):
            if isinstance(found, About):
                scene.about = scene.about or dict(found.fields)
            elif isinstance(found, Damaged):
                _note_damage(scene, found)
            else:
                scene.first_url = scene.first_url or without_credentials(found.answer.url)
                scene.overview.add(found)
                _look_at_identify(scene, found)
    if not scene.first_url:
        raise WarcUnreadable(" ".join(paths), "have no response to an OAI-PMH request")
    for directory in dict.fromkeys(os.path.dirname(path) for path in paths):
        scene.receipts |= _receipts_in(directory)
    return scene


def _note_damage(scene: _Scene, found: Damaged) -> None:
    scene.places += not found.is_end
    scene.skipped += found.skipped
    if found.is_end or scene.places <= _NAMED:
        scene.damaged.append(found)


def _look_at_identify(scene: _Scene, found: StoredResponse) -> None:
    if found.params.get("verb") == Verb.IDENTIFY:
        try:
            scene.identify, _ = read_mended(found.answer.body, read_identify)
        except (PageUnreadable, OAIError):
            return
        scene.identified = found.answer.received


def _receipts_in(directory: str) -> dict[ListName, dict[str, Any]]:
    """Return the lists in the receipts of a directory; other files are ignored."""
    found: dict[ListName, dict[str, Any]] = {}
    for name in sorted(os.listdir(directory or ".")):
        if not name.endswith("-receipt.json"):
            continue
        try:
            with open(os.path.join(directory, name), encoding="utf-8", opener=regular_fd) as file:
                lists = json.load(file)["lists"]
            for one in lists:
                key = ListName(
                    name.removesuffix("-receipt.json"), one["metadata_prefix"], one["set"]
                )
                found[key] = one
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return found


def _opened(directory: str, scene: _Scene) -> Silo:
    known = scene.identify
    prefix = scene.about.get("identifier-uri-prefix") or (known and identifier_prefix(known))
    return Silo(
        directory,
        uri_base=scene.base_url,
        identifier_uri_prefix=prefix or None,
        base_oai_url=scene.base_url,
    )


# --------------------------------------------------------------------------- storing


class _Replaying:
    """Stores recorded pages, and counts."""

    def __init__(
        self, silo: Silo, scene: _Scene, before_store: BeforeStore | None, progress: Progress
    ) -> None:
        self.silo = silo
        self.scene = scene
        self._before_store = before_store
        self._progress = progress
        self._listed: dict[ListName, ListedIdentifiers] = {}
        self._counts: dict[ListName, Counts] = {}
        self._repairs: dict[ListName, dict[str, int]] = {}
        self._singles: dict[ListName, Singles] = {}
        self._quarantines: dict[str, Quarantine] = {}
        self._about: dict[str, str] = {}

    def store(self, paths: Sequence[str]) -> None:
        for number, recorded in enumerate(self._recorded(paths)):
            asked = self.scene.overview.asked(number)
            if number in self.scene.overview.superseded or not asked.name.metadata_prefix:
                continue
            for name, batch in self._batches(recorded, asked):
                if self.scene.is_chosen(name):
                    self._take(name, batch)
        for name, singles in self._singles.items():
            for batch in singles.rest() if self.scene.is_chosen(name) else ():
                self._take(name, batch)

    def _recorded(self, paths: Sequence[str]) -> Iterator[StoredResponse]:
        for path in paths:
            self._about = {}
            for found in read_warc(path, self.scene.limit):
                if isinstance(found, About):
                    self._about = dict(found.fields)
                elif isinstance(found, StoredResponse):
                    yield found

    def _batches(
        self, recorded: StoredResponse, asked: ListAndWindow
    ) -> Iterator[tuple[ListName, ReplayedRecords]]:
        """Yield the records to store after a response, with their list."""
        name = replace(asked.name, set_spec=self._set_of(asked))
        singles = self._singles.setdefault(name, Singles(self.silo.__contains__))
        body = recorded.answer.body
        found: Iterator[ReplayedRecords] = iter(())
        with suppress(PageUnreadable):
            match recorded.params.get("verb"):
                case Verb.LIST_RECORDS:
                    page = read_records_to_store(body)
                    kept = (
                        () if self._was_refused(page, asked) else (ReplayedRecords(page, recorded),)
                    )
                    found = chain(singles.rest(), kept)
                case Verb.GET_RECORD:
                    found = singles.got(recorded, read_record_mended(body))
                case Verb.LIST_IDENTIFIERS:
                    found = singles.listed(recorded, read_headers_mended(body).items)
        for batch in found:
            yield name, batch

    def _was_refused(self, page: ListPage[Record], asked: ListAndWindow) -> bool:
        """Whether the harvest refused the page (see `page_judgement`)."""
        if share_one_identifier(page):
            return True
        known = self.scene.overview.lists[asked.name]
        if (asked.from_, asked.until) == self._bounds(asked.name, known):
            return False
        return are_outside(headers_of(page), Window(asked.from_, asked.until))

    def _take(self, name: ListName, batch: ReplayedRecords) -> None:
        if batch.page.items or batch.page.set_aside:
            with interrupt_deferred():
                self._store(name, batch)

    def _store(self, name: ListName, batch: ReplayedRecords) -> None:
        recorded = batch.recorded
        page = dated(batch.page, batch.received)
        self.scene.overview.lists.setdefault(name, RecordedList(None, None))
        outcome = self._writer(name).store(page, batch.received)
        self._set_aside(recorded, name, (*page.set_aside, *outcome.quarantined))
        where = f"{recorded.where}, {{}}"
        named = replace(
            page,
            set_aside=tuple(replace(one, where=where.format(one.where)) for one in page.set_aside),
        )
        tally = self._listed.setdefault(name, ListedIdentifiers()).count(
            named, outcome, relists=True
        )
        counts = self._counts.get(name, Counts())
        self._counts[name] = counts.plus(tally.outcomes, outcome.written)
        repairs = self._repairs.setdefault(name, {})
        for kind, times in page.repairs.items():
            repairs[kind] = repairs.get(kind, 0) + times
        self._progress(self.receipt(name, ended=False))

    def _set_aside(
        self, recorded: StoredResponse, name: ListName, lost: Sequence[SetAside]
    ) -> None:
        """Store the bytes of unusable records, as the harvest did."""
        directory = quarantine_of(
            os.path.join(self.silo.path, RECEIPTS), name.harvest_id or REPLAYED
        )
        quarantine = self._quarantines.setdefault(directory, Quarantine(directory))
        request = query_string(recorded.params)
        quarantine.keep(
            lost, QuarantineOrigin(request, name.metadata_prefix, recorded.answer.received)
        )

    def _set_of(self, asked: ListAndWindow) -> str | None:
        """Return the set of a record; one got individually has the set of its list."""
        lists = self.scene.overview.lists
        if asked.name in lists:
            return asked.name.set_spec
        same = (asked.name.harvest_id, asked.name.metadata_prefix)
        sets = [one.set_spec for one in lists if (one.harvest_id, one.metadata_prefix) == same]
        return sets[0] if sets else None

    def _writer(self, name: ListName) -> SiloWriter:
        base_url = self._about.get("base-url", self.scene.base_url)
        listing = Reception(
            name.metadata_prefix,
            self._about.get("agent", "silo harvest"),
            self._about.get("message", f"harvested from {base_url}"),
        )
        return SiloWriter(self.silo, listing, before_store=self._before_store)

    # ------------------------------------------------------------------ reporting

    def receipt(self, name: ListName, *, ended: bool = True) -> ListReceipt:
        """Return the receipt of a list, so far if ``ended`` is False."""
        known = self.scene.overview.lists[name]
        from_, until = self._bounds(name, known)
        listed = self._listed.get(name, ListedIdentifiers())
        told = self.scene.receipts.get(name)
        promised = known.promised if told is None else told["counts"]["promised"]
        counts = replace(self._counts.get(name, Counts()), promised=promised)
        stopped = self._stopped(name, known, counts) if ended else ""
        return ListReceipt(
            name.metadata_prefix,
            name.set_spec,
            from_,
            until,
            counts=counts,
            response_date=known.response_date,
            ended=ended and not stopped,
            stopped=stopped,
            quarantined=_lost(listed, Outcome.QUARANTINED),
            settled=None if told is None else told.get("settled"),
            doubt=str(told.get("doubt") or "") if told is not None else "",
            repairs=self._repairs.get(name, {}),
            remarks=tuple(str(one) for one in self.scene.damaged if one.is_end),
        )

    def _bounds(self, name: ListName, known: RecordedList) -> tuple[str | None, str | None]:
        told = self.scene.receipts.get(name)
        return (known.from_, known.until) if told is None else (told["from"], told["until"])

    def _stopped(self, name: ListName, known: RecordedList, counts: Counts) -> str:
        """Return why a list is incomplete; empty if it is complete."""
        damaged = [str(one) for one in self.scene.damaged if not one.is_end]
        if damaged:
            count = self.scene.places
            places = f" in {count:,} places" if count > 1 else ""
            skipped = self.scene.skipped
            unread = f", {skipped:,} bytes were skipped" if skipped and count > 1 else ""
            return f"the recorded responses are damaged{places}{unread}: {'; '.join(damaged)}"
        told = self.scene.receipts.get(name)
        if told is not None:
            return str(told.get("stopped") or "")
        if known.promised is not None and counts.distinct >= known.promised:
            return ""
        if known.unfollowed:
            return f"{len(known.unfollowed)} pages were recorded without the one after them"
        return ""


def _lost(listed: ListedIdentifiers, kind: Outcome) -> tuple[SetAside, ...]:
    return tuple(loss.what for loss in listed.losses if loss.kind is kind)


# --------------------------------------------------------------------------- the state


def _note_marks(state: PersistentState, receipts: Mapping[ListName, ListReceipt]) -> None:
    """Store the marks for updates, as the harvests did."""
    for name, receipt in receipts.items():
        if not name.metadata_prefix:
            continue
        job = ListJob(
            checked_prefix(name.metadata_prefix), name.set_spec, receipt.from_, receipt.until
        )
        if receipt.counts.listed:
            state[HARVESTED] = with_begun(state.get(HARVESTED, {}), job)
        marks = state.get(HARVESTED, {})
        state[HARVESTED] = with_receipt(marks, job, receipt) or marks


def _finish(state: PersistentState, scene: _Scene) -> None:
    known: dict[str, Any] = {}
    if scene.identify is not None:
        known["identify"] = state_of(scene.identify)
    if scene.identified is not None:
        known["lastidentified"] = scene.identified.replace(tzinfo=None).isoformat()
    del state[REPLAYING]
    _keep(state, known)


def _keep(state: PersistentState, values: dict[str, Any]) -> None:
    for key, value in values.items():
        state[key] = value
    state.sync()
