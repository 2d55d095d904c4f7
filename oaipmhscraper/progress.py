"""What a harvest shows while it runs: a bar at a terminal, a line now and then in a pipe."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from oaipmhscraper.receipt import ListReceipt

SECONDS_BETWEEN_LINES = 5.0


class Display(Protocol):
    """Something that is told how far a list has got, between entering and leaving it."""

    def __call__(self, receipt: ListReceipt) -> None:
        """Show how far the list is."""

    def __enter__(self) -> "Display":
        """Begin to show."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""


class Silence:
    """Shows nothing."""

    def __call__(self, receipt: ListReceipt) -> None:
        """Nothing."""

    def __enter__(self) -> "Silence":
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing."""


class Bar:
    """One bar for each list, with what is promised as its end, where that is known."""

    def __init__(self, stream: TextIO) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(file=stream),
        )
        self._tasks: dict[str, TaskID] = {}
        self._began: dict[str, float] = {}

    def __call__(self, receipt: ListReceipt) -> None:
        """Move the list's bar."""
        name, counts = receipt.name, receipt.counts
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=None, rate="")
            self._began[name] = time.monotonic()
        seconds = time.monotonic() - self._began[name]
        self._progress.update(
            self._tasks[name],
            completed=counts.listed,
            total=counts.listed if receipt.ended else counts.promised,
            rate=f"{counts.listed / seconds:,.0f}/s" if seconds > 0.5 else "",
        )

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._progress.stop()


class Lines:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last = clock()

    def __call__(self, receipt: ListReceipt) -> None:
        """Write a line, if the last one was long enough ago."""
        if self._clock() - self._last < SECONDS_BETWEEN_LINES or receipt.ended:
            return
        self._last = self._clock()
        promised = receipt.counts.promised
        of = "" if promised is None else f" of {promised:,}"
        print(f"{receipt.name}: {receipt.counts.listed:,}{of} records", file=self._stream)

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stream.flush()


def display(stream: TextIO, *, quiet: bool = False, terminal_only: bool = False) -> Display:
    """What suits a stream: a bar where a person looks, else lines, or nothing.

    Args:
        stream: Where to show, usually stderr.
        quiet: Nothing at all.
        terminal_only: Nothing unless the stream is a terminal.
    """
    if quiet:
        return Silence()
    if stream.isatty():
        return Bar(stream)
    return Silence() if terminal_only else Lines(stream)
