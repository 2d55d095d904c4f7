"""A cache of the records with nothing left to fetch; it may be deleted at any time."""

import os

from oaipmhscraper.errors import JournalUnreadable
from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import make_in_silo
from silowork.ledger_file import LedgerFile, LedgerKind

FILE = "files.sqlite"
_KIND = LedgerKind(
    "CREATE TABLE IF NOT EXISTS done (choice TEXT, identifier TEXT, revision INTEGER,"
    " PRIMARY KEY (choice, identifier)) WITHOUT ROWID",
    JournalUnreadable,
    synchronous="OFF",
)


class FetchJournal(Closing):
    """Stores that a record is done at a revision, for one choice of links.

    The records are authoritative; without this file each of them is read again.

    Args:
        directory: The Silo's ``.silo``.
        choice: A digest of the choice; another choice begins again.
    """

    def __init__(self, directory: str, choice: str) -> None:
        make_in_silo(os.path.dirname(directory), directory)
        self._choice = choice
        self._file = LedgerFile(os.path.join(directory, FILE), _KIND)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def is_done(self, identifier: str, revision: int) -> bool:
        """Whether the record has nothing left to fetch at this revision."""
        found = self._file.rows(
            "SELECT revision FROM done WHERE choice = ? AND identifier = ?",
            (self._choice, identifier),
        )
        return found == [(revision,)]

    def note(self, identifier: str, revision: int) -> None:
        """Note that the record has nothing left to fetch at this revision."""
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO done VALUES (?, ?, ?)",
                (self._choice, identifier, revision),
            )
