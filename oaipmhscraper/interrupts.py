"""Handle Ctrl-C and SIGTERM only between two steps."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupt_deferred() -> Iterator[None]:
    """Defer SIGINT and SIGTERM until the block ends.

    Has no effect in other threads than the main one, or for a signal without a Python handler.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handlers = {number: handler for number, handler in found.items() if callable(handler)}
    arrived: list[tuple[int, FrameType | None]] = []
    for number in handlers:
        signal.signal(number, lambda *one: arrived.append(one))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for came, frame in arrived:
        handlers[signal.Signals(came)](came, frame)
