"""One run of an endpoint: its repository is harvested into its Silo, or updated.

A run is a process of its own, forked from a warm one (`silofleet.slots`). It can be killed at
any moment: what it stored is stored, and the next run of the endpoint goes on from there.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from oaipmhclient.client import Client
from oaipmhclient.transport.http_rules import BaseURL, is_same_place
from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhprotocol import OAIError
from oaipmhprotocol.values import Identify
from oaipmhscraper.harvests.archiving import Moved, archive
from oaipmhscraper.harvests.job import MOST_IN_FLIGHT, RECEIPTS, HarvestOptions
from oaipmhscraper.receipt import ListReceipt, Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.silo_cleanup import holds_something
from politeweb.errors import FetchError, RetryLater
from politeweb.pace import Turns
from politeweb.sessions import has_login
from politeweb.settings import HttpSettings
from politeweb.shared_pace import PaceSpec, turns_of
from politeweb.warc.files import warc_names
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from silofleet.orders import RunOrder
from silofleet.run_outcome import of_error, of_receipts, with_size
from silofleet.spread.offers import Offers
from silofleet.spread.values import Unit
from silofleet.values import FILES_STAY, Ended, RunOutcome

EPOCH = "fleet_epoch"
"""Key of a Silo's state: how often it moved to another node; absent before the first move."""
FORESEEN = (FetchError, OAIError, RecordSiloError, OSError)
FIRST_ATTEMPTS = 2
LEAST_TO_ARCHIVE = 64 << 10
LONGEST_PAUSE = 10.0
"""Seconds that a run waits when a repository asks for a pause; a longer one ends the run."""

logger = logging.getLogger("silofleet")


def carry_out(order: RunOrder, told: Callable[[int, int | None], object]) -> Ended:
    """Do what an order says; every foreseen error is an end.

    Args:
        told: Called after every page, with the records listed so far, and promised.

    Raises:
        KeyboardInterrupt: The run was interrupted; it goes on later.
    """
    try:
        if order.only_probe:
            _identify(order)
            return Ended(RunOutcome.WHOLE, "the repository answers", _now())
        ended = _harvested(order, told)
    except FORESEEN as error:
        ended = of_error(error, _now(), _records(order.silo_path), order.silo_path)
        return ended if ended.records is None else ended._replace(epoch=_epoch_of(order.silo_path))
    is_over = ended.outcome is not RunOutcome.CUT
    return _archived(order, ended) if order.wish.warc_store and is_over else ended


def _archived(order: RunOrder, ended: Ended) -> Ended:
    """Move the WARC files of the Silo into their store; whatever fails is said, and tried again.

    Runs that found nothing new leave files of some KB, which wait until there are more of them.
    """
    moved = Moved()
    try:
        if _bytes_here(order.silo_path) >= LEAST_TO_ARCHIVE:
            archive(order.silo_path, order.wish.warc_store, moved)
    except FORESEEN as error:
        moved.faults.append(str(error))
    except KeyboardInterrupt:  # the run has ended; the next one goes on with the files
        return ended
    if not moved.faults:
        return ended
    logger.warning("%s: %s", order.endpoint, moved.faults[0])
    return ended._replace(said=f"{ended.said}; {FILES_STAY}{moved.faults[0]}")


def _bytes_here(silo_path: str) -> int:
    directory = os.path.join(silo_path, RECEIPTS)
    names = map(str, warc_names(directory))
    return sum(os.path.getsize(os.path.join(directory, name)) for name in names)


def answer_of(order: RunOrder) -> tuple[bool, str]:
    """Ask for Identify; return whether the repository answers, with its name or the reason."""
    try:
        name = " ".join(_identify(order).repository_name.split())
    except FORESEEN as error:
        return False, str(error)
    return True, name


def _identify(order: RunOrder) -> Identify:
    transport = HttpTransport(order.wish.url, _settings(order), pace=turns_of(_spec(order)))
    with Client(transport) as client:
        return client.identify()


def _harvested(order: RunOrder, told: Callable[[int, int | None], object]) -> Ended:
    is_there = holds_something(order.silo_path)
    epoch, known = _known_of(order.silo_path) if is_there else (0, None)
    if stale := _stale(order, epoch):
        return Ended(RunOutcome.CUT, stale, _now())
    url = BaseURL.parse(order.wish.url).url
    known = known if is_there else url
    if known is not None and not is_same_place(known, url) and not order.epoch:
        said = f"the directory {order.endpoint} has a Silo of {known}; use another name"
        return Ended(RunOutcome.FAILED, said, _now())
    is_one = bool(order.pace.interval) and not order.wish.is_spread
    settings, pace = _settings(order), turns_of(_spec(order))
    offers = _offers(order, pace, settings)
    options = HarvestOptions(
        window=order.wish.window,
        pages_only=order.wish.depth == "pages",
        max_in_flight=1 if is_one else MOST_IN_FLIGHT,
    )
    with OAIPMHScraper(
        order.silo_path,
        None if is_there else order.wish.url,
        settings=settings,
        pace=pace,
        around=None if offers is None else offers.transport,
        quiet=True,
        agent="silo fleet",
    ) as scraper:
        if known != url:
            scraper.moved_to(order.wish.url)
        marks = scraper.marks
        receipts = [_list(scraper, order, one, options, told) for one in order.wish.sets or (None,)]
        if order.wish.depth == "records" and not is_there:
            scraper.learn_choices()
        ended = of_receipts(receipts, order.before, scraper.store.count(), _now())
        ended = ended._replace(epoch=epoch or 1)
        if order.is_counted and ended.outcome is RunOutcome.WHOLE and ended.promised is None:
            living = scraper.store.count(deleted=False)
            try:
                ended = with_size(ended, order.before, living, _size(scraper, order))
            except RetryLater as asked:  # the harvest was whole all the same
                ended = ended._replace(hold=asked.deadline)
        if offers is not None and offers.said:
            ended = ended._replace(said=f"{ended.said}; {offers.said}")
        if ended.outcome is RunOutcome.SUSPICIOUS:  # so that the next run asks for all of it again
            scraper.put_back(marks)
        return ended


def _spec(order: RunOrder) -> PaceSpec:
    """The pace of the host; each request in flight may have been given a turn ahead."""
    return replace(order.pace, turns=MOST_IN_FLIGHT + 1) if order.wish.is_spread else order.pace


def _offers(order: RunOrder, pace: Turns, settings: HttpSettings) -> Offers | None:
    """The units of a run that others may take; None if it sends all requests itself.

    A repository for which this node has a login is requested by this node alone.
    """
    spec = _spec(order)
    if not order.wish.is_spread or "://" not in spec.place or has_login(order.wish.url):
        return None
    plan = Unit("", order.run, order.wish.url, {}, spec.interval, spec.turns, order.contact)
    return Offers(spec.place, plan, pace, settings)


def _list(
    scraper: OAIPMHScraper,
    order: RunOrder,
    set_spec: str | None,
    options: HarvestOptions,
    told: Callable[[int, int | None], object],
) -> Receipt:
    """Harvest or update one set, or everything.

    Raises:
        RequestRefused: The repository has no such set; many answer as if it were empty.
    """
    return scraper.harvest(
        order.wish.formats,
        set_spec=set_spec,
        update=True,
        options=options,
        progress=lambda receipt: _tell(receipt, told),
    )


def _size(scraper: OAIPMHScraper, order: RunOrder) -> int | None:
    """How many records the repository lists now: all sets together, of the longest format."""
    sizes = []
    for prefix in order.wish.formats:
        each = [scraper.size_of_list(prefix, one) for one in order.wish.sets or (None,)]
        if None in each:
            return None
        sizes.append(sum(one or 0 for one in each))
    return max(sizes)


def _tell(receipt: ListReceipt, told: Callable[[int, int | None], object]) -> None:
    told(receipt.counts.distinct, receipt.expected)


def _stale(order: RunOrder, epoch: int) -> str:
    """Why the order does not fit the Silo here; empty if it does.

    A fleet that knows of no Silo takes the one that is here, whatever its epoch.
    """
    if not order.epoch or epoch == order.epoch:
        return ""
    if not epoch:
        return (
            "its Silo is not on this node; if it was deleted, silo fleet remove and silo fleet add"
            " harvest it again"
        )
    return f"this copy of its Silo has the epoch {epoch}, and the fleet {order.epoch}"


def _epoch_of(silo_path: str) -> int:
    return _known_of(silo_path)[0]


def _known_of(silo_path: str) -> tuple[int, str | None]:
    """The epoch of a Silo, and the address from which it was harvested so far."""
    with Silo(silo_path, create=False) as silo:
        found = silo.state.get("base_oai_url")
        return int(silo.state.get(EPOCH) or 1), None if found is None else str(found)


def _settings(order: RunOrder) -> HttpSettings:
    return HttpSettings(
        contact=order.contact,
        first_attempts=FIRST_ATTEMPTS,
        longest_pause=LONGEST_PAUSE,
        stays=True,
    )


def _records(silo_path: str) -> int | None:
    """The number of records in the Silo; None if there is none, or it cannot be read."""
    try:
        if not holds_something(silo_path):
            return None
        with Silo(silo_path, create=False) as silo:
            return silo.count()
    except (RecordSiloError, OSError):
        return None


def _now() -> datetime:
    return datetime.now(UTC)
