"""The facet columns of an index in this process: loaded when needed, and kept in a file."""

import logging
import secrets
import sqlite3
from collections.abc import Iterable

from recordsilo.index import columns_file
from recordsilo.index.beside import Database
from recordsilo.index.columns import Columns
from recordsilo.index.interface import IndexLost
from recordsilo.index.packing import WRONG, damaged

logger = logging.getLogger("RecordSilo")
LEAST = 20_000
"""The number of records from which a file is worth its writing."""


class KeptColumns:
    """The facet columns of one index."""

    def __init__(self, index: Database) -> None:
        self._index = index
        self._columns: Columns | None = None

    def get(
        self, connection: sqlite3.Connection, *, large: bool, beside: Iterable[str] = ()
    ) -> Columns:
        """The columns, in step with an open snapshot.

        Args:
            large: Whether subjects and creators are needed.
            beside: The names of the contributed facets that are needed.

        Raises:
            sqlite3.DatabaseError: The index is damaged.
        """
        try:
            if self._columns is None or (large and not self._columns.large):
                stored = columns_file.load(connection, self._index.path, large=large)
                self._columns = stored or Columns(connection, large=large)
            self._columns.refresh(connection)
            self._columns.take_in(connection, beside)
        except WRONG as error:
            raise damaged(error) from error
        return self._columns

    def load(self) -> None:
        """Load all columns, also those of subjects and creators, and keep them in the file."""
        with self._index.asking() as connection:
            self.get(connection, large=True)
        self.store()

    def load_if_many(self, records: int) -> None:
        """Load them after a rebuild of so many records, if a file is worth its writing."""
        if records >= LEAST:
            self.load()

    def prepare(self) -> None:
        """Prepare the loaded columns for counting."""
        if (columns := self._columns) is not None:
            columns.prepare()

    def forget(self) -> None:
        """Forget the columns, because the file of the index was closed."""
        self._columns = None

    def store(self) -> None:
        """Write columns that were loaded from the rows into their file, once.

        The token is stored durably, and so are all changes before it. Therefore an index
        with this token has the rows that the columns were made of, also after a power cut.
        """
        columns, token = self._columns, secrets.randbits(62)
        if columns is None or not columns.is_from_rows:
            return
        columns.is_from_rows = False
        if len(columns.alive) < LEAST:
            return
        index = self._index
        try:
            if index.is_private:
                return
            with index.reading() as connection:
                base = columns.base(connection)
            if base is None:  # records changed meanwhile
                columns.is_from_rows = True
                return
            with index.unless_busy(), index.writing(durable=True) as connection:
                if self._columns is not columns:  # the file was replaced meanwhile
                    return
                connection.execute("INSERT OR REPLACE INTO about VALUES ('columns', ?)", (token,))
            columns_file.store(index.path, token, base, large=columns.large)
        except (sqlite3.Error, OSError, IndexLost) as error:
            logger.info("the facet columns of %s were not stored: %s", index.path, error)
