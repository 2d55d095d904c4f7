"""ARKs, minted here: a number is taken and noted with what it names in one transaction.

The name is the number in the 29 characters of NOID, after the shoulder, with a check character at
its end that finds a wrong character and two that were swapped. Source: NOID ("Nice Opaque
Identifiers", J. Kunze), "Check digit algorithm"; ARK, "draft-kunze-ark".
"""

import os
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import make_within
from silocrawl.packages.kept import package_ids
from silocrawl.packages.layout import arks_file, packages_directory
from silocrawl.packages.values import PackagingError
from silowork.ledger_file import LedgerFile, LedgerKind, Mode

CHARACTERS = "0123456789bcdfghjkmnpqrstvwxz"
_BASE, _LEAST = len(CHARACTERS), 4
_SCHEMA = """
CREATE TABLE IF NOT EXISTS ark (
  number INTEGER PRIMARY KEY AUTOINCREMENT, ark TEXT NOT NULL UNIQUE, package TEXT NOT NULL,
  name TEXT NOT NULL, minted TEXT NOT NULL, UNIQUE (package, name))
"""


class ArksUnreadable(PackagingError):
    """The file of ARKs cannot be used."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} cannot be used: {reason}; bring it back from the newest backup, as without it"
            " ARKs would be given twice"
        )


KIND = LedgerKind(_SCHEMA, ArksUnreadable, version=1)


def check_character(name: str) -> str:
    """Return the check character of an ARK.

    Args:
        name: NAAN, slash, shoulder and name.
    """
    total = sum(place * max(0, CHARACTERS.find(one)) for place, one in enumerate(name, 1))
    return CHARACTERS[total % _BASE]


def is_right(ark: str) -> bool:
    """Whether the check character of an ARK is that of the rest of it."""
    name = ark.removeprefix("ark:/")
    return bool(name) and check_character(name[:-1]) == name[-1]


def ark_of(number: int, naan: str, shoulder: str) -> str:
    """Return the ARK of a number."""
    digits = ""
    while number or len(digits) < _LEAST:
        number, digit = divmod(number, _BASE)
        digits = CHARACTERS[digit] + digits
    name = f"{naan}/{shoulder}{digits}"
    return f"ark:/{name}{check_character(name)}"


class Arks(Closing):
    """The ARKs of a Silo.

    Args:
        naan, shoulder: Of those that are minted; see `StoreSettings`.
        mode: See `LedgerFile`.

    Raises (every method):
        ArksUnreadable: The file is damaged; or it is gone, empty or an old copy although there are
            packages that it does not know.
        OSError: The disk refused.
    """

    def __init__(
        self, silo_path: str, naan: str = "", shoulder: str = "", mode: Mode = "create"
    ) -> None:
        self._naan, self._shoulder, self._packages = naan, shoulder, packages_directory(silo_path)
        self._silo_path = silo_path
        self._path = arks_file(silo_path)
        self._file = LedgerFile(self._path, KIND, mode)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def mint(self, package: str, names: Sequence[str]) -> Mapping[str, str]:
        """Return the ARKs of what has these names in a package; each keeps the one that it has.

        Args:
            package: Its name.
            names: Of its WARC files, or empty for the package itself.
        """
        if not os.path.exists(self._path):
            self._check_new()
        at = datetime.now(UTC).isoformat(timespec="seconds")
        with self._file.transaction() as connection:
            self._check_newest(connection)
            return {name: self._minted(connection, package, name, at) for name in names}

    def _check_new(self) -> None:
        """Refuse to begin again with the first number."""
        if os.path.isdir(self._packages) and os.listdir(self._packages):
            raise ArksUnreadable(self._path, "it is not there, but packages are")
        make_within(self._silo_path, os.path.dirname(self._path))

    def _check_newest(self, connection: sqlite3.Connection) -> None:
        """Refuse to go on with a file from before packages that are here, such as an old copy.

        A package is noted after its ARKs, so that each one that is noted is known to the file.
        """
        known = {one for (one,) in connection.execute("SELECT DISTINCT package FROM ark")}
        if unknown := set(package_ids(self._silo_path)) - known:
            raise ArksUnreadable(
                self._path, f"it is older than the package {min(unknown)}, which it does not know"
            )

    def _minted(self, connection: sqlite3.Connection, package: str, name: str, at: str) -> str:
        query = "SELECT ark FROM ark WHERE package = ? AND name = ?"
        known = connection.execute(query, (package, name)).fetchone()
        if known is None:
            (last,) = connection.execute(
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'ark'"
            ).fetchone()
            known = (ark_of(last + 1, self._naan, self._shoulder),)
            connection.execute(
                "INSERT INTO ark (number, ark, package, name, minted) VALUES (?, ?, ?, ?, ?)",
                (last + 1, *known, package, name, at),
            )
        return str(known[0])

    def of(self, package: str) -> Mapping[str, str]:
        """Return the ARKs of a package, by name; its own one has the name ``""``."""
        rows = self._file.rows("SELECT name, ark FROM ark WHERE package = ?", (package,))
        return dict(rows)
