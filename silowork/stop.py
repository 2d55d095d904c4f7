"""Ask long work to end early: by a signal, from the page, or from another thread."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Self

_SECONDS_BETWEEN_LOOKS = 1.0
"""A signal that comes just before a wait does not end it; it is handled after this time."""


class Stop:
    """Asks long work to end early: it finishes the current step and starts no other.

    Work checks `asked` between two steps, or calls the object, and waits with `wait`.

    Attributes:
        interrupted: Whether Ctrl-C was pressed (exit code 130, else 75).
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._is_interruptible = False
        self.interrupted = False

    def ask(self, *, interrupted: bool = False) -> None:
        """Ask the work to end; may be called by a signal handler or another thread.

        Args:
            interrupted: See the attribute.
        """
        self.interrupted = self.interrupted or interrupted
        self._asked.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until asked, at most for this time; return whether it was asked."""
        while seconds is None:
            if self._asked.wait(_SECONDS_BETWEEN_LOOKS):
                return True
        return self._asked.wait(seconds)

    @property
    def asked(self) -> bool:
        """Whether the work was asked to end."""
        return self._asked.is_set()

    def __call__(self) -> bool:
        """The same as `asked`, for work that takes a function."""
        return self.asked

    def on_signal(self, number: int, _frame: FrameType | None) -> None:
        """Handle a signal: it asks, and interrupts a block of `interrupting`."""
        self.ask(interrupted=number == signal.SIGINT)
        self._interrupt()

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let a handled signal interrupt the block once, with KeyboardInterrupt.

        A block that begins when the work was already asked is interrupted at once.
        """
        self._is_interruptible = True
        try:
            if self.asked:
                self._interrupt()
            yield
        finally:
            self._is_interruptible = False

    def _interrupt(self) -> None:
        if self._is_interruptible:
            self._is_interruptible = False
            raise KeyboardInterrupt

    @contextmanager
    def on_signals(self, *, second_interrupts: bool = False) -> Iterator[Self]:
        """Let SIGINT (Ctrl-C) and SIGTERM ask while the block runs.

        Does nothing outside the main thread, where signals cannot be handled.

        Args:
            second_interrupts: A second SIGINT raises KeyboardInterrupt at once.
        """

        def ask(number: int, frame: FrameType | None) -> None:
            if number == signal.SIGINT and second_interrupts:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            self.on_signal(number, frame)

        before: dict[int, Any] = {}
        with suppress(ValueError):
            for one in (signal.SIGINT, signal.SIGTERM):
                before[one] = signal.signal(one, ask)
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def working(
    work: Callable[[Stop], object], name: str = "worker", most: float | None = None
) -> Iterator[None]:
    """Work in a thread while the block runs; then ask it to end, and wait for that.

    Args:
        work: Gets what asks it to end.
        name: Of the thread.
        most: Seconds for which its end is waited for; by default until it has ended.
    """
    stop = Stop()
    thread = threading.Thread(target=work, args=(stop,), name=name, daemon=most is not None)
    thread.start()
    try:
        yield
    finally:
        stop.ask()
        thread.join(most)
