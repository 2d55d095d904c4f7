"""Run steps in DuckDB, which is loaded only here and when it is needed.

It does not use the network: extensions are neither downloaded nor loaded.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from recordsilo.extras import later, needed
from silosteps.errors import DirectoryUnusable, DiskFull, StepsError

if TYPE_CHECKING:
    import numpy as np
else:
    np = later("numpy", "this command", "crawl")

_PIECE = 1 << 20
"""Bytes of lines that DuckDB gets as one text."""


class Engine:
    """An in-memory DuckDB, with the steps that it can run.

    Args:
        steps: Name → SQL (`silosteps.step_file.read_steps`).
        scratch: A directory for data that does not fit into memory; created when needed.
        memory: Most memory of DuckDB, such as ``"512MB"``. The limit applies to its buffers,
            so the process may need a third more.
        threads: By default one per core.
        watch: Called with the name of each step before it runs; may raise to end the work.

    Raises:
        PackageMissing: DuckDB is not installed.
        DirectoryUnusable: The name of the directory is not UTF-8.
    """

    def __init__(
        self,
        steps: Mapping[str, str],
        scratch: str,
        *,
        memory: str = "512MB",
        threads: int | None = None,
        watch: Callable[[str], None] | None = None,
    ) -> None:
        duckdb = _duckdb()
        try:
            scratch.encode()
        except UnicodeEncodeError:
            raise DirectoryUnusable(scratch) from None
        self._scratch = scratch
        self._steps, self._watch = steps, watch
        self._given: set[str] = set()
        self._error: type[Exception] = duckdb.Error
        self._connection: Any = duckdb.connect(
            ":memory:",
            config={
                "memory_limit": memory,
                "temp_directory": scratch,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "preserve_insertion_order": "false",
                # Beyond some size, DuckDB compresses tables in memory at each checkpoint. That
                # costs more CPU than reading a row; what does not fit goes to the scratch files.
                "checkpoint_threshold": "1TB",
                **({"threads": str(threads)} if threads else {}),
            },
        )
        # In an interactive Python, and in `python -c`, it would be printed amid the output.
        self._connection.execute("SET enable_progress_bar = false")

    def run(self, step: str, **values: Any) -> Engine:
        """Run a step; `rows` and `all` return its result.

        Args:
            step: Its name.
            values: Its ``$name`` parameters, also for names of files.

        Raises:
            StepsError: DuckDB failed, for example because memory or disk space ran out.
            KeyError: There is no such step.
        """
        sql = self._steps[step]
        if self._watch:
            self._watch(step)
        try:
            with _interruptible():
                self._connection.execute(sql, values or None)
        except self._error as error:
            raise self._as_ours(step, str(error)) from error
        return self

    def _as_ours(self, step: str, error: str) -> StepsError:
        """What went wrong in a step; of DuckDB's text, the first line suffices."""
        if "No space left on device" in error:
            return DiskFull(self._scratch, step)
        return StepsError(f"step {step}: {error.partition(chr(10))[0]}")

    def rows(self, size: int = 50_000) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of the last step in batches."""
        while rows := self._next_rows(size):
            yield rows

    def _next_rows(self, size: int) -> list[tuple[Any, ...]]:
        with _interruptible():
            found: list[tuple[Any, ...]] = self._connection.fetchmany(size)
        return found

    def all(self) -> list[tuple[Any, ...]]:
        """Return all rows of the last step."""
        with _interruptible():
            found: list[tuple[Any, ...]] = self._connection.fetchall()
        return found

    def columns(self) -> list[np.ndarray[Any, Any]]:
        """Return the columns of the last step, which have no NULL."""
        with _interruptible():
            return list(self._connection.fetchnumpy().values())

    def table_of_lines(self, name: str, lines: bytes) -> None:
        """Create a table of lines with one column, ``line``; the last LF may be missing.

        Each byte becomes one character (Latin-1), so that no line is dropped, split or
        joined; DuckDB's read_csv loses lines that are not UTF-8. It splits lines anew each time
        they are read, which takes a quarter of what a Python string for each would.
        """
        given = np.array([str(piece, "latin-1") for piece in _pieces(lines)], dtype=object)
        self._leave_result()
        self._connection.register(f"_{name}_pieces", {"piece": given})
        self._connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {_identifier(name)} AS"  # noqa: S608  # checked: a name
            f" SELECT unnest(string_split(piece, chr(10))) AS line FROM _{name}_pieces"
        )
        self._given.add(name)

    def table(self, name: str, columns: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Create a table from columns of equal length.

        Texts and bytes are in arrays of objects, in which None is NULL.
        """
        self._leave_result()
        self._connection.register("_given", dict(columns))
        try:
            with _interruptible():
                self._connection.execute(
                    f"CREATE OR REPLACE TEMP TABLE {_identifier(name)} AS SELECT * FROM _given"  # noqa: S608  # checked: a name
                )
        finally:
            self._connection.unregister("_given")

    def drop(self, names: Iterable[str]) -> None:
        """Drop tables that steps created, and tables of lines."""
        for name in names:
            if name in self._given:
                self._given.remove(name)
                self._leave_result()
                self._connection.execute(f"DROP VIEW {_identifier(name)}")
                self._connection.unregister(f"_{name}_pieces")
            else:
                self._connection.execute(f"DROP TABLE IF EXISTS {_identifier(name)}")

    def _leave_result(self) -> None:
        """Give up rows of the last step that were not read; DuckDB registers nothing before."""
        self._connection.execute("SELECT 1").fetchall()

    def close(self) -> None:
        """Close the database and free its memory."""
        self._connection.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(self._error):
            self.close()


def _duckdb() -> Any:
    """Return the compiled module of DuckDB: the package around it takes 80 ms of CPU to load.

    Raises:
        PackageMissing: It is not installed.
    """
    try:
        return importlib.import_module("_duckdb")
    except ImportError:
        return needed("duckdb", "this command")


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C be KeyboardInterrupt; DuckDB makes a RuntimeError of it during a query."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None


def _pieces(lines: bytes) -> Iterator[memoryview]:
    """Cut lines into pieces at LF, which belongs to none; the last LF may be missing."""
    view, begin, last = memoryview(lines), 0, len(lines) - lines.endswith(b"\n")
    while (end := lines.find(b"\n", begin + _PIECE, last)) >= 0:
        yield view[begin:end]
        begin = end + 1
    yield view[begin:last]


def _identifier(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not a valid table name")
    return name
