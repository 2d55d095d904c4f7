"""A progress line for narrow terminals; slow to import, and only needed on a terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task
from rich.table import Table

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
