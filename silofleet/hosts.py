"""The pace of a host, shared by all processes of a machine: ``fleet/hosts.sqlite``.

Times are those of the machine's clock since the epoch. If it is set back, nobody waits for more
than a few turns, or the longest pause. The file may be deleted.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from recordsilo.disk.locks import Locks
from silofleet.errors import LedgerUnreadable
from silowork.ledger_file import LedgerFile, LedgerKind

LONGEST_PAUSE = 86_400.0
MOST_WAITING = 64
"""Nobody waits for more turns of a host than this, even if the clock was set back."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS host (
    name TEXT PRIMARY KEY,
    next REAL NOT NULL DEFAULT 0,
    held REAL NOT NULL DEFAULT 0
) WITHOUT ROWID
"""
KIND = LedgerKind(_SCHEMA, LedgerUnreadable, version=1, synchronous="OFF", has_log=True)


@dataclass(frozen=True, slots=True)
class PaceSpec:
    """How a run gets the pace of its host; a value that can be sent to another process.

    Attributes:
        interval: Least seconds between the starts of two requests; 0 for no pace.
        host: The host.
        place: A directory with ``hosts.sqlite``, or the URL of a Redis; empty if no other process
            requests the host.
        nodes: How many nodes share the host, for when the Redis cannot be reached.
        turns: How many turns may be given ahead; after so many intervals, all of them are over.
    """

    interval: float = 0.0
    host: str = ""
    place: str = ""
    nodes: int = 1
    turns: int = 1


class FilePace:
    """The pace of a host, in a file that the processes of a machine share.

    Args:
        directory: Where the file is.
        host: The host.
        interval: Least seconds between the starts of two requests.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, directory: str, host: str, interval: float, *, clock: Callable[[], float] = time.time
    ) -> None:
        self._file = LedgerFile(os.path.join(directory, "hosts.sqlite"), KIND)
        self._host, self.interval, self._clock = host, interval, clock

    def reserve(self) -> float:
        """Reserve the next turn; return the seconds until then."""
        try:
            return self._reserve()
        except LedgerUnreadable:
            self._begin_again()
            return max(self._reserve(), self.interval)

    def _begin_again(self) -> None:
        """Delete the file, which a power cut may have destroyed, if it is still unreadable."""
        self._file.close()
        path = self._file.path
        with Locks(os.path.join(os.path.dirname(path), "locks")).hold_name("hosts"):
            try:
                self._file.open()
            except LedgerUnreadable:
                for suffix in ("-wal", "-shm", ""):
                    with suppress(FileNotFoundError):
                        os.unlink(path + suffix)

    def _reserve(self) -> float:
        with self._file.transaction() as connection:
            row = connection.execute(
                "SELECT next, held FROM host WHERE name = ?", (self._host,)
            ).fetchone()
            now = self._clock()
            after, held = row or (0.0, 0.0)
            due = max(
                now, min(after, now + MOST_WAITING * self.interval), min(held, now + LONGEST_PAUSE)
            )
            connection.execute(
                "INSERT INTO host VALUES (?, ?, ?) ON CONFLICT (name)"
                " DO UPDATE SET next = excluded.next",
                (self._host, due + self.interval, held),
            )
            return due - now

    def hold(self, seconds: float) -> None:
        """Give no turns for some seconds; longer pauses stay."""
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT INTO host VALUES (?, 0, ?) ON CONFLICT (name)"
                " DO UPDATE SET held = max(held, excluded.held)",
                (self._host, self._clock() + min(seconds, LONGEST_PAUSE)),
            )
