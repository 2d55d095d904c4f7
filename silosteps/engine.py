"""DuckDB, loaded only here and only when it is used.

It reads and writes what it is told to, and nothing from the network: extensions are
neither fetched nor loaded.
"""

import contextlib
import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from silosteps.errors import PackageMissing, StepsError


class Engine:
    """One DuckDB in memory, with the steps that it can run.

    Args:
        steps: Name → SQL (`silosteps.step_file.read_steps`).
        scratch: A directory for what does not fit into memory; made when needed.
        memory: How much DuckDB may keep, e.g. ``"512MB"``. It governs buffers, so the
            process may need a third more.
        threads: How many; by default as many as there are cores.

    Raises:
        PackageMissing: DuckDB is not installed.
    """

    def __init__(
        self,
        steps: Mapping[str, str],
        scratch: str,
        *,
        memory: str = "512MB",
        threads: int | None = None,
    ) -> None:
        try:
            duckdb = importlib.import_module("duckdb")
        except ImportError:
            raise PackageMissing("this command", "duckdb") from None
        self._steps = steps
        self._error: type[Exception] = duckdb.Error
        self._connection: Any = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": memory,
                "temp_directory": scratch,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "preserve_insertion_order": "false",
                **({"threads": str(threads)} if threads else {}),
            },
        )

    def run(self, step: str, **values: Any) -> "Engine":
        """Run a step; `rows` and `all` have what it gives.

        Args:
            step: Its name.
            values: Its ``$name`` parameters, no others; names of files too.

        Raises:
            StepsError: DuckDB refused it: no memory left, no room on the disk.
            KeyError: There is no such step.
        """
        sql = self._steps[step]
        try:
            self._connection.execute(sql, values or None)
        except self._error as error:
            raise StepsError(f"step {step}: {error}") from error
        return self

    def rows(self, size: int = 50_000) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of the step run last, some at a time."""
        while rows := self._connection.fetchmany(size):
            yield rows

    def all(self) -> list[tuple[Any, ...]]:
        """The rows of the step run last, all at once."""
        found: list[tuple[Any, ...]] = self._connection.fetchall()
        return found

    def table_of_lines(self, name: str, lines: bytes) -> None:
        """Make a table of one column, ``line``, of some lines; the last LF may be missing.

        Each byte is one letter (Latin-1), so that any line can be kept: nothing is
        dropped, split or joined. Source: read_csv loses lines that are not UTF-8.
        """
        text = lines.removesuffix(b"\n").decode("latin-1")
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE {_identifier(name)} AS "
            "SELECT unnest(string_split($1, chr(10))) AS line",
            [text],
        )

    def table(self, name: str, columns: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Make a table of columns of equal length.

        Texts and bytes are in arrays of objects; None in them is NULL.
        """
        self._connection.register("_given", dict(columns))
        try:
            self._connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {_identifier(name)} AS SELECT * FROM _given"  # noqa: S608  # checked: a name
            )
        finally:
            self._connection.unregister("_given")

    def drop(self, names: Iterable[str]) -> None:
        """Forget tables that steps made."""
        for name in names:
            self._connection.execute(f"DROP TABLE IF EXISTS {_identifier(name)}")

    def close(self) -> None:
        """Free its memory."""
        self._connection.close()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(self._error):
            self.close()


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name for a table")
    return name
