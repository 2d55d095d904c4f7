"""Ctrl-C and SIGTERM between two steps, never within one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupt_deferred() -> Iterator[None]:
    """Hold back SIGINT and SIGTERM while the block runs; what they would have done happens after.

    In threads other than the main one, and for a signal that no function in Python handles,
    nothing changes.
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
