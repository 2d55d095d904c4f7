"""Show the progress of a harvest: a bar in a terminal, lines in a pipe."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

from oaipmhscraper.receipt import ListReceipt, Outcome
from recordsilo.html_tables import Bar, table
from recordsilo.notebook import LiveOutput, in_notebook

if TYPE_CHECKING:
    from rich.progress import TaskID

SECONDS_BETWEEN_LINES = 5.0


class Display(Protocol):
    """A display that is called with the progress of lists, used as a context manager."""

    def __call__(self, receipt: ListReceipt) -> None:
        """Show the progress of the list."""

    def __enter__(self) -> "Display":
        """Begin the display."""

    def __exit__(self, *_exception: object) -> None:
        """Restore the terminal."""


class NoProgress:
    """Shows nothing."""

    def __call__(self, receipt: ListReceipt) -> None:
        """Nothing."""

    def __enter__(self) -> "NoProgress":
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing."""


class Bars:
    """One bar for each list, with what is promised as its end, where that is known."""

    def __init__(self, stream: TextIO) -> None:
        # a tenth of the start of a harvest, which only a terminal needs
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import (  # noqa: PLC0415
            BarColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        from recordsilo.fitting_progress import FittingProgress  # noqa: PLC0415

        name, count = (TextColumn(text) for text in ("{task.description}", "{task.fields[count]}"))
        drawn, rate = BarColumn(bar_width=30), TextColumn("{task.fields[rate]}")
        elapsed, left = TimeElapsedColumn(), TimeRemainingColumn()
        others = TextColumn("{task.fields[beside]}")
        self._progress = FittingProgress(
            (name, drawn, count, rate, elapsed, left, others),
            dispensable=(drawn, rate, others, left, elapsed),
            console=Console(file=stream),
        )
        self._tasks: dict[str, TaskID] = {}
        self._began: dict[str, tuple[float, int]] = {}

    def __call__(self, receipt: ListReceipt) -> None:
        """Update the list's bar."""
        name, counts = receipt.name, receipt.counts
        self._progress.start()  # only now: a bar without a list is an empty line
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(
                name, total=None, count="", rate="", beside=""
            )
            self._began[name] = (time.monotonic(), counts.distinct)
        began, before = self._began[name]
        seconds = time.monotonic() - began
        self._progress.update(
            self._tasks[name],
            completed=counts.distinct,
            total=counts.distinct if receipt.ended else receipt.expected,
            count=_count(receipt),
            rate=f"{(counts.distinct - before) / seconds:,.0f}/s" if seconds > 0.5 else "",
            beside="" if receipt.ended else beside(receipt),
        )

    def __enter__(self) -> "Bars":
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._tasks:
            self._progress.stop()


class NotebookBars:
    """A table in the output of a notebook's cell, with a bar for each list."""

    def __init__(self) -> None:
        self._output = LiveOutput()
        self._lists: dict[str, ListReceipt] = {}

    def __call__(self, receipt: ListReceipt) -> None:
        """Update the list's bar."""
        self._lists[receipt.name] = receipt
        self._show(last=receipt.ended)

    def _show(self, *, last: bool) -> None:
        rows = [
            (
                one.name,
                Bar(one.counts.distinct, one.counts.distinct if one.ended else one.expected),
                _count(one),
                "" if one.ended else beside(one),
            )
            for one in self._lists.values()
        ]
        told = "\n".join(f"{one.name}: {_count(one)}" for one in self._lists.values())
        self._output.show(table(rows), told, last=last)

    def __enter__(self) -> "NotebookBars":
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._lists:
            self._show(last=True)


class Lines:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last = clock()
        self._began: dict[str, tuple[float, int]] = {}

    def __call__(self, receipt: ListReceipt) -> None:
        """Write a line, if enough time has passed since the last one."""
        now, listed = self._clock(), receipt.counts.distinct
        began, before = self._began.setdefault(receipt.name, (now, listed))
        if now - self._last < SECONDS_BETWEEN_LINES or receipt.ended:
            return
        self._last = now
        expected = receipt.expected
        rate = (listed - before) / (now - began) if now > began else 0.0
        parts = [f"{rate:,.0f}/s" if rate else "", _left(listed, expected, rate), beside(receipt)]
        more = "".join(f", {part}" for part in parts if part)
        print(f"{receipt.name}: {_count(receipt)}{more}", file=self._stream)

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stream.flush()


def _count(receipt: ListReceipt) -> str:
    of = "" if receipt.expected is None else f" of {receipt.expected:,}"
    return f"{receipt.counts.distinct:,}{of} records"


def beside(receipt: ListReceipt) -> str:
    """Return other numbers of interest, if they are not zero."""
    numbers = {
        "parts at a time": receipt.open_windows if receipt.open_windows > 1 else 0,
        "retries": receipt.retried,
        "set aside": receipt.counts[Outcome.QUARANTINED],
        "unreachable": receipt.counts[Outcome.UNREACHABLE],
    }
    said = [f"{number:,} {name}" for name, number in numbers.items() if number]
    if receipt.to_store:
        stored = receipt.counts.distinct
        said.insert(0, f"fetched {stored + receipt.to_store:,}, stored {stored:,}")
    return ", ".join(said)


def _left(listed: int, expected: int | None, rate: float) -> str:
    """Return the remaining time, if it can be estimated."""
    if expected is None or expected <= listed or rate <= 0:
        return ""
    minutes, seconds = divmod(round((expected - listed) / rate), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02} to go"


def display(stream: TextIO, *, quiet: bool = False, terminal_only: bool = False) -> Display:
    """Return the display for a stream: a bar for a terminal or a notebook, lines, or nothing.

    Args:
        stream: The stream, usually stderr.
        quiet: Show nothing.
        terminal_only: Show nothing unless the stream is a terminal, or this is a notebook.
    """
    if quiet:
        return NoProgress()
    if stream.isatty():
        return Bars(stream)
    if in_notebook():
        return NotebookBars()
    return NoProgress() if terminal_only else Lines(stream)
