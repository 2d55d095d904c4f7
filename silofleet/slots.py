"""The processes of runs on this machine, each forked from a warm one.

A server process (`multiprocessing`'s forkserver) has loaded the harvester once; each run is a
fork of it, which shares its memory and starts in some milliseconds. A run ends when its pipe is
closed, so none outlives a killed clock or worker.
"""

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from recordsilo.closing import Closing
from recordsilo.garbage import collect_rarely
from silofleet.orders import Order
from silofleet.run import carry_out
from silofleet.values import Ended, Outcome

SECONDS_TO_END = 10.0
SECONDS_BETWEEN_WORDS = 1.0
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["silofleet.run"])

logger = logging.getLogger("silofleet")


def warm() -> None:
    """Start the warm process, if there is none, so that a run need not wait for it.

    It gets no SIGINT, which a terminal sends to all processes, and which would end it while it
    loads the harvester.
    """
    resource_tracker.ensure_running()  # it lets SIGINT in again, so it comes first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Slots(Closing):
    """Runs orders in processes; one thread uses it.

    Args:
        most: Runs at a time.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._working: dict[int, _Working] = {}

    @property
    def free(self) -> int:
        """How many more runs may start."""
        return self.most - len(self._working)

    @property
    def progress(self) -> Mapping[int, tuple[int, int | None]]:
        """Run → records listed so far, and promised."""
        return {number: one.progress for number, one in self._working.items()}

    def start(self, order: Order, node: str = "") -> None:  # noqa: ARG002  # as `clock.Runner`
        """Start a run; there is one node only.

        Raises:
            OSError: No process can be started.
        """
        ours, theirs = _context.Pipe()
        process = _context.Process(target=_work, args=(order, theirs), daemon=False)
        try:
            warm()
            process.start()
        except BaseException as error:
            ours.close()
            if isinstance(error, EOFError):
                raise OSError("the process that runs are forked from has ended") from None
            raise
        finally:
            theirs.close()
        self._working[order.run] = _Working(process, ours)

    def finished(self, timeout: float) -> list[tuple[int, Ended]]:
        """Wait until a run has ended, at most for some seconds; return those that have.

        Args:
            timeout: Seconds.
        """
        by_pipe = {one.pipe: number for number, one in self._working.items()}
        if not by_pipe:
            time.sleep(timeout)
            return []
        ended = []
        for pipe in wait(list(by_pipe), timeout):
            number = by_pipe[pipe]  # type: ignore[index]  # of connections only
            end = self._working[number].heard()
            if end is not None:
                self._working.pop(number).join()
                ended.append((number, end))
        return ended

    def end(self, number: int) -> None:
        """Ask a run to end; `finished` returns it then."""
        if number in self._working:
            self._working[number].ask()

    def close(self) -> None:
        """Ask all runs to end, and wait until they have."""
        for one in self._working.values():
            one.ask()
        end = time.monotonic() + SECONDS_TO_END + 2
        for one in self._working.values():
            one.join(max(0.1, end - time.monotonic()))
        self._working.clear()


class _Working:
    """A process at work."""

    def __init__(self, process: Any, pipe: "Connection[Any, Any]") -> None:
        self._process, self.pipe = process, pipe
        self.progress: tuple[int, int | None] = (0, None)

    def heard(self) -> Ended | None:
        """Read what the process said; its end, if it has ended."""
        try:
            while self.pipe.poll():
                said = self.pipe.recv()
                if isinstance(said, Ended):
                    return said
                self.progress = said
        except (EOFError, OSError):
            self._process.join(SECONDS_TO_END)
            code = self._process.exitcode
            how = f"was killed by signal {-code}" if code and code < 0 else f"ended with {code}"
            return Ended(Outcome.CUT, f"the process of the run {how}", datetime.now(UTC))
        return None

    def ask(self) -> None:
        """Close the pipe to the process, which asks it to end, and this end for good."""
        with contextlib.suppress(OSError):
            self.pipe.send(None)

    def join(self, seconds: float = SECONDS_TO_END) -> None:
        """Wait for the end of the process; kill it if that takes too long."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
        self._process.close()
        self.pipe.close()


# --------------------------------------------------------------------------- in the process


def _work(order: Order, pipe: "Connection[Any, Any]") -> None:
    """The process of a run."""
    collect_rarely()
    interrupts = _Interrupts()
    signal.signal(signal.SIGTERM, interrupts)
    signal.signal(signal.SIGINT, interrupts)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `warm`
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    try:
        with interrupts:
            ended = _carried_out(order, _Tell(pipe))
    except KeyboardInterrupt:
        ended = Ended(Outcome.CUT, "the run was interrupted", datetime.now(UTC))
    with contextlib.suppress(OSError):
        pipe.send(ended)
    os._exit(0)


def _carried_out(order: Order, tell: "_Tell") -> Ended:
    try:
        return carry_out(order, tell)
    except Exception:  # process boundary: details go to the log only
        logger.exception("the run %s of %s", order.run, order.endpoint)
        said = "an unexpected error occurred; the log has the details"
        return Ended(Outcome.FAILED, said, datetime.now(UTC))


class _Interrupts:
    """Handles signals: the first interrupts the block, also if it came before; others nothing."""

    def __init__(self) -> None:
        self._has_come = self._is_within = False

    def __call__(self, _number: int, _frame: object) -> None:
        self._has_come = True
        self._interrupt()

    def __enter__(self) -> None:
        self._is_within = True
        self._interrupt()

    def __exit__(self, *exception: object) -> None:
        self._is_within = False

    def _interrupt(self) -> None:
        if self._has_come and self._is_within:
            self._is_within = False
            raise KeyboardInterrupt


class _Tell:
    """Sends progress now and then."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe, self._last = pipe, 0.0

    def __call__(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._last >= SECONDS_BETWEEN_WORDS:
            self._last = now
            with contextlib.suppress(OSError):
                self._pipe.send((done, total))


def _end_with(pipe: "Connection[Any, Any]") -> None:
    """When asked, or when the other end is closed, interrupt the run; later end the process."""
    with contextlib.suppress(EOFError, OSError):
        pipe.recv()
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    time.sleep(SECONDS_TO_END)
    os._exit(os.EX_TEMPFAIL)
