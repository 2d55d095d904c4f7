"""Feed the index of all Silos now and then while a fleet is at work, if there is one."""

import contextlib
import logging
import os
import threading
from collections.abc import Iterator

from recordsilo import Granary
from recordsilo.errors import RecordSiloError
from silofleet.errors import FleetError
from silofleet.search.feeding import feed
from silofleet.search.index import place_of

SECONDS_BETWEEN = 600.0

logger = logging.getLogger("silofleet")


@contextlib.contextmanager
def fed_meanwhile(directory: str, every: float = SECONDS_BETWEEN) -> Iterator[None]:
    """Feed the index of a directory every few minutes during the block, and at its end.

    Without an index, nothing is done: `silo fleet index` makes one. What goes wrong is logged.

    Args:
        directory: The Granary.
        every: Seconds between two feedings.
    """
    ending = threading.Event()

    def keep() -> None:
        while not ending.wait(every):
            _feed(directory)

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
    _feed(directory)


def _feed(directory: str) -> None:
    if not os.path.isdir(place_of(directory)):
        return
    try:
        feed(Granary(directory, create=False))
    except (FleetError, RecordSiloError, OSError) as error:
        logger.warning("%s", error)
