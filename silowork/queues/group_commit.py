"""One transaction for what several threads change at the same time.

To bring a transaction onto the medium takes longer than most changes do, so that threads wait for
each other. Those that wait here are served by the next one that commits.
"""

import sqlite3
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

from silowork.ledger_file import LedgerFile

T = TypeVar("T")
_MOST = 256
"""Most changes of a transaction, so that other processes can write in between."""


class _Change:
    """A change that a thread waits for."""

    __slots__ = ("apply", "error", "is_ended", "result")

    def __init__(self, apply: Callable[[sqlite3.Connection], Any]) -> None:
        self.apply = apply
        self.result: Any = None
        self.error: Exception | None = None
        self.is_ended = False


class GroupCommit:
    """Changes a file for several threads.

    Args:
        file: Used by this process through this object only, or in short transactions.
    """

    def __init__(self, file: LedgerFile) -> None:
        self._file = file
        self._waiting: deque[_Change] = deque()
        self._committing = Lock()

    def change(self, apply: Callable[[sqlite3.Connection], T]) -> T:
        """Apply a change in a transaction, return its result when it is committed.

        Args:
            apply: May be called by another thread, and again after a failure of others.

        Raises:
            Exception: That of the change, or as `LedgerFile`; nothing of the change is kept.
        """
        mine = _Change(apply)
        self._waiting.append(mine)
        with self._committing:
            while not mine.is_ended:
                self._commit_next(mine)
        if mine.error is not None:
            raise mine.error
        result: T = mine.result
        return result

    def _commit_next(self, mine: _Change) -> None:
        some = [self._waiting.popleft() for _ in range(min(_MOST, len(self._waiting)))]
        try:
            self._commit(some)
        except BaseException:  # Ctrl-C ends this thread's change, not those of others
            left = [one for one in some if one is not mine and not one.is_ended]
            self._waiting.extendleft(reversed(left))
            raise

    def _commit(self, changes: list[_Change]) -> None:
        """Commit changes together; if that fails, each alone, so that it gets its own error."""
        try:
            with self._file.transaction() as connection:
                for one in changes:
                    one.result = one.apply(connection)
        except Exception as error:  # noqa: BLE001  # it is raised in the thread of the change
            if len(changes) > 1:
                for one in changes:
                    self._commit([one])
                return
            changes[0].error = error
        for one in changes:
            one.is_ended = True
