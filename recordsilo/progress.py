"""Progress of long work on a Silo: a bar in a terminal, occasional lines in a pipe."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

SECONDS_BETWEEN_LINES = 5.0
_WIDE = 10_000
"""More columns than any terminal has."""


class FittingProgress(Progress):
    """A progress line that leaves whole columns out of a narrow terminal, and never cuts a number.

    Args:
        columns: From left to right.
        dispensable: Those that may be left out, the first first.
        console: Where it is shown.
    """

    def __init__(
        self,
        columns: Sequence[ProgressColumn],
        dispensable: Sequence[ProgressColumn],
        console: Console,
    ) -> None:
        self._all, self._dispensable = tuple(columns), tuple(dispensable)
        self._console = console
        super().__init__(*columns, console=console)

    def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
        """Make the table of as many columns as fit."""
        shown, wide = list(tasks), self._console.options.update(max_width=_WIDE)
        for number in range(len(self._dispensable) + 1):
            without = self._dispensable[:number]
            self.columns = tuple(one for one in self._all if one not in without)
            table = super().make_tasks_table(shown)
            if self._console.measure(table, options=wide).maximum <= self._console.width:
                break
        return table


@contextlib.contextmanager
def counting(
    label: str, total: int | None = None, *, stream: TextIO | None = None, quiet: bool = False
) -> Iterator[Callable[[int], None]]:
    """Show a growing count; yields a function to call with the number done so far.

    Args:
        label: What is being done, e.g. ``"indexing"``.
        total: The final count, if known.
        stream: Where to show; by default stderr.
        quiet: Show nothing.
    """
    out = sys.stderr if stream is None else stream
    if quiet:
        yield lambda _done: None
    elif out.isatty():
        with _bar(label, total, out) as show:
            yield show
    else:
        yield _lines(label, total, out)


@contextlib.contextmanager
def _bar(label: str, total: int | None, out: TextIO) -> Iterator[Callable[[int], None]]:
    drawn, elapsed = BarColumn(bar_width=30), TimeElapsedColumn()
    columns = (TextColumn("{task.description}"), drawn, MofNCompleteColumn(), elapsed)
    with FittingProgress(columns, (drawn, elapsed), Console(file=out)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(label: str, total: int | None, out: TextIO) -> Callable[[int], None]:
    last, told = time.monotonic(), -1

    def show(done: int) -> None:
        nonlocal last, told
        if done != told and time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last, told = time.monotonic(), done
            of = "" if total is None else f" of {total:,}"
            print(f"{label}: {done:,}{of}", file=out, flush=True)

    return show
