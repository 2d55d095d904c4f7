"""The processes of runs on this machine, each forked from a warm one that has loaded the harvester.

None outlives a killed clock or worker; see `silowork.warm_children`.
"""

import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from recordsilo.child_process import SECONDS_TO_END
from recordsilo.closing import Closing
from silofleet.orders import RunOrder
from silofleet.values import Ended, RunOutcome
from silowork import warm_children
from silowork.warm_children import ChildEnded, Parent, WarmChild

if TYPE_CHECKING:
    from oaipmhscraper.receipt import ListReceipt

SECONDS_BETWEEN_WORDS = 1.0

logger = logging.getLogger("silofleet")


def warm() -> None:
    """Start the warm process, if there is none, so that a run need not wait for it."""
    warm_children.warm("silofleet.warmed")


class Slots(Closing):
    """Runs orders in processes; one thread uses it.

    Args:
        most: Runs at a time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._working: dict[int, WarmChild] = {}
        self._progress: dict[int, tuple[int, int | None]] = {}

    @property
    def free(self) -> int:
        """How many more runs may start."""
        return self.most - len(self._working)

    @property
    def progress(self) -> Mapping[int, tuple[int, int | None]]:
        """Run → records listed so far, and promised."""
        return {number: self._progress.get(number, (0, None)) for number in self._working}

    def start(self, order: RunOrder, node: str = "") -> None:  # noqa: ARG002  # as `clock.Runner`
        """Start a run; there is one node only.

        Raises:
            OSError: No process can be started.
        """
        warm()
        self._progress.pop(order.run, None)
        self._working[order.run] = WarmChild(_work, order)

    def finished(self, timeout: float) -> list[tuple[int, Ended]]:
        """Wait until a run has ended, at most for some seconds; return those that have.

        Args:
            timeout: Seconds.
        """
        if not self._working:
            time.sleep(timeout)
            return []
        by_pipe = {one.fileno(): number for number, one in self._working.items()}
        ended = []
        for pipe in wait(list(by_pipe), timeout):
            number = by_pipe[pipe]  # type: ignore[index]  # of descriptors only
            end = self._heard(number)
            if end is not None:
                self._working.pop(number).join()
                ended.append((number, end))
        return ended

    def _heard(self, number: int) -> Ended | None:
        """Read what a run said; its end, if it has ended."""
        try:
            for said in self._working[number].heard():
                if isinstance(said, Ended):
                    return said
                self._progress[number] = said
        except ChildEnded as how:
            return Ended(RunOutcome.CUT, f"the process of the run {how}", datetime.now(UTC))
        return None

    def end(self, number: int) -> None:
        """Ask a run to end; `finished` returns it then."""
        if number in self._working:
            self._working[number].ask_to_end()

    def close(self) -> None:
        """Ask all runs to end, and wait until they have."""
        for one in self._working.values():
            one.ask_to_end()
        end = time.monotonic() + SECONDS_TO_END + 2
        for one in self._working.values():
            one.join(max(0.1, end - time.monotonic()))
        self._working.clear()


# --------------------------------------------------------------------------- in the process


def _work(parent: Parent, order: RunOrder) -> None:
    """The process of a run: it sends its progress now and then, and at last its end."""
    from silofleet.run import carry_out  # noqa: PLC0415  # loaded here, and not in the clock

    last = 0.0

    def tell(receipt: "ListReceipt") -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= SECONDS_BETWEEN_WORDS:
            last = now
            parent.say((receipt.counts.distinct, receipt.expected))

    try:
        with parent.stop.interrupting():
            ended = carry_out(order, tell)
    except KeyboardInterrupt:
        ended = Ended(RunOutcome.CUT, "the run was interrupted", datetime.now(UTC))
    except Exception:  # process boundary: details go to the log only
        logger.exception("the run %s of %s", order.run, order.endpoint)
        said = "an unexpected error occurred; the log has the details"
        ended = Ended(RunOutcome.FAILED, said, datetime.now(UTC))
    parent.say(ended)
