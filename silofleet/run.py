"""One run of an endpoint: its repository is harvested into its Silo, or updated.

A run is a process of its own, forked from a warm one (`silofleet.slots`). It can be killed at
any moment: what it stored is stored, and the next run of the endpoint goes on from there.
"""

import logging
import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from oaipmhclient.client import Client
from oaipmhclient.transport.http_rules import BaseURL, is_same_place
from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhprotocol import OAIError
from oaipmhprotocol.values import Identify
from oaipmhscraper.harvests.archiving import Moved, archive
from oaipmhscraper.harvests.job import RECEIPTS
from oaipmhscraper.lists.list_harvest import Progress
from oaipmhscraper.options import MOST_IN_FLIGHT, HarvestOptions
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.silo_cleanup import holds_something
from politeweb.errors import FetchError, RetryLater
from politeweb.logins import has_login
from politeweb.pace import Turns
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

_GONE = (
    "its Silo is not on this node; if it was deleted, silo fleet remove and silo fleet add"
    " harvest it again"
)

logger = logging.getLogger("silofleet")


def carry_out(order: RunOrder, progress: Progress) -> Ended:
    """Do what an order says; every foreseen error is an end.

    Args:
        progress: Called after every page.

    Raises:
        KeyboardInterrupt: The run was interrupted; it goes on later.
    """
    try:
        if order.only_probe:
            _identify(order)
            return Ended(RunOutcome.WHOLE, "the repository answers", _now())
        ended = _harvested(order, progress)
    except FORESEEN as error:
        ended = _after(error, order)
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


def _harvested(order: RunOrder, progress: Progress) -> Ended:
    is_there = holds_something(order.silo_path)
    if order.epoch and not is_there:
        return Ended(RunOutcome.CUT, _GONE, _now())
    settings, pace = _settings(order), turns_of(_spec(order))
    offers = _offers(order, pace, settings)
    with OAIPMHScraper(
        order.silo_path,
        None if is_there else order.wish.url,
        settings=settings,
        pace=pace,
        around=None if offers is None else offers.transport,
        quiet=True,
        agent="silo fleet",
    ) as scraper:
        misfit = _misfit(scraper.store, order) if is_there else None
        ended = misfit or _updated(scraper, order, progress, is_new=not is_there)
        if offers is not None and offers.said:
            ended = ended._replace(said=f"{ended.said}; {offers.said}")
        return ended


def _misfit(silo: Silo, order: RunOrder) -> Ended | None:
    """Why the order does not fit the Silo here, as the end of its run; None if it does.

    A fleet that knows of no Silo takes the one that is here, whatever its epoch.
    """
    if stale := _stale(silo, order):
        return stale
    known = str(silo.state["base_oai_url"])
    if not order.epoch and not is_same_place(known, BaseURL.parse(order.wish.url).url):
        said = f"the directory {order.endpoint} has a Silo of {known}; use another name"
        return Ended(RunOutcome.FAILED, said, _now())
    return None


def _updated(scraper: OAIPMHScraper, order: RunOrder, progress: Progress, *, is_new: bool) -> Ended:
    """Harvest or update each set, or everything, and judge it by what was known before."""
    wish, marks = order.wish, scraper.marks
    if scraper.store.state["base_oai_url"] != BaseURL.parse(wish.url).url:
        scraper.moved_to(wish.url)
    is_one = bool(order.pace.interval) and not wish.is_spread
    options = HarvestOptions(
        window=wish.window,
        pages_only=wish.depth == "pages",
        max_in_flight=1 if is_one else MOST_IN_FLIGHT,
    )
    receipts = [
        scraper.harvest(wish.formats, set_spec=one, update=True, options=options, progress=progress)
        for one in wish.sets or (None,)
    ]
    if wish.depth == "records" and is_new:
        scraper.learn_choices()
    ended = of_receipts(receipts, order.before, scraper.store.count(), _now())
    ended = ended._replace(epoch=_epoch_of(scraper.store))
    if order.is_counted and ended.outcome is RunOutcome.WHOLE and ended.promised is None:
        living = scraper.store.count(deleted=False)
        try:
            listed = scraper.size_of_lists(wish.formats, wish.sets)
            ended = with_size(ended, order.before, living, listed)
        except RetryLater as asked:  # the harvest was whole all the same
            ended = ended._replace(hold=asked.deadline)
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


def _epoch_of(silo: Silo) -> int:
    return int(silo.state.get(EPOCH) or 1)


def _settings(order: RunOrder) -> HttpSettings:
    return HttpSettings(
        contact=order.contact,
        first_attempts=FIRST_ATTEMPTS,
        longest_pause=LONGEST_PAUSE,
        stays=True,
    )


def _stale(silo: Silo, order: RunOrder) -> Ended | None:
    """The end of a run on a copy of a Silo that is of another epoch than the fleet's."""
    epoch = _epoch_of(silo)
    if not order.epoch or epoch == order.epoch:
        return None
    said = f"this copy of its Silo has the epoch {epoch}, and the fleet {order.epoch}"
    return Ended(RunOutcome.CUT, said, _now())


def _after(error: Exception, order: RunOrder) -> Ended:
    """The end of a run by an error, with the records in the Silo and its epoch, if there is one.

    What is wrong with a copy of another epoch says nothing of the fleet's Silo.
    """
    records, epoch = None, 1
    with suppress(RecordSiloError, OSError):
        if holds_something(order.silo_path):
            with Silo(order.silo_path, create=False) as silo:
                if stale := _stale(silo, order):
                    return stale
                records, epoch = silo.count(), _epoch_of(silo)
    return of_error(error, _now(), records, order.silo_path)._replace(epoch=epoch)


def _now() -> datetime:
    return datetime.now(UTC)
