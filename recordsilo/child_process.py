"""A process of ours that ends with its parent, the process that started it.

A killed parent cannot end its children, so each child watches it, in a thread: a pipe between
them is closed when one of them ends, however it ends.
"""

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

SECONDS_TO_END = 10.0
"""How long a child that was interrupted may take to end."""
Handler = Callable[[int, FrameType | None], object] | signal.Handlers


def end_with_parent(
    gone: Callable[[], object], handler: Handler, seconds: float = SECONDS_TO_END
) -> None:
    """Let this process end with its parent. Called once, by its main thread.

    The handler is set before the parent is watched, which may be gone already.

    Args:
        gone: Returns, or raises EOFError or OSError, when the parent has ended, or wants this
            process to end; called in a thread.
        handler: Of SIGINT and SIGTERM, whether sent by others or because of the parent.
        seconds: How long the process may go on after the SIGINT that it is sent then; with 0 it
            ends at once, without one.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    threading.Thread(target=_end, args=(gone, seconds), daemon=True).start()


def _end(gone: Callable[[], object], seconds: float) -> None:
    try:
        with suppress(EOFError, OSError):
            gone()
        if seconds:
            interrupt()
            time.sleep(seconds)
    finally:
        os._exit(os.EX_TEMPFAIL)


def interrupt() -> None:
    """Send SIGINT to the main thread, which interrupts a system call there; from any thread."""
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def wait_for_end_of(descriptor: int) -> None:
    """Wait until the stream of a pipe ends, because its writer has ended or closed it."""
    while os.read(descriptor, 1024):
        pass


def wait_for_reader_of(descriptor: int) -> None:
    """Wait until nobody can read what would be written to a pipe."""
    poll = select.poll()
    poll.register(descriptor, 0)  # errors and hang-ups alone
    poll.poll()
