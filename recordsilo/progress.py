"""Progress of long work on a Silo: a bar in a terminal, occasional lines in a pipe."""

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import TextIO

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_LOG_LINES = 15.0


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
    # slow to import, and only for a terminal
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    from recordsilo.fitting_progress import FittingProgress  # noqa: PLC0415

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


def logging_count(label: str, logger: logging.Logger) -> Callable[[int], None]:
    """A function to call with the number done so far, which logs what takes long as a warning.

    Args:
        label: What is being done, e.g. ``"indexing /srv/repo"``.
        logger: Where to log.
    """
    due = time.monotonic() + SECONDS_BETWEEN_LINES

    def tell(done: int) -> None:
        nonlocal due
        if (now := time.monotonic()) >= due:
            due = now + SECONDS_BETWEEN_LOG_LINES
            logger.warning("%s: %s so far", label, f"{done:,}")

    return tell
