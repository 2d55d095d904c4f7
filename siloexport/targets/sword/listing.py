"""The list of a collection, by which deposits are found without a ledger."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace

from siloexport.targets.directory import directory_name
from siloexport.targets.remote.errors import NotOfThisKind, NotSupported
from siloexport.targets.sword.client import SwordClient, There
from siloexport.targets.sword.documents import DepositReceipt

_MOST_LOOKED_AT = 64 << 20
"""Bytes of the content of a deposit that is looked at only to find what it is."""
_MOST_UNNAMED = 1000
"""Deposits of a list without identifiers that are looked at one by one."""


def slug_of(identifier: str) -> str:
    """Return the Slug of a record: its cleaned identifier, ASCII, at most 200 bytes."""
    return directory_name(identifier)


class DepositListing:
    """Finds deposits by the Slug or the identifier of their record. Threads may share it.

    The list is read once, when it is needed first.

    Args:
        client: To the server.
        collection: Address of the collection.
    """

    def __init__(self, client: SwordClient, collection: str) -> None:
        self._client, self._collection = client, collection
        self._lock = threading.Lock()
        self._found: dict[str, list[DepositReceipt]] | None = None

    def look_up(self, identifier: str) -> There | None:
        """Return the deposit of a record; None if there is none.

        One that is listed without an address has the Edit-IRI ``""``.

        Raises:
            NotSupported: The server does not list its deposits, or without what they are.
        """
        listed = self._list()
        found = listed.get(identifier) or listed.get(slug_of(identifier)) or []
        for receipt in found:
            if not receipt.edit:
                continue
            there = self._client.read(receipt.edit, next(iter(receipt.statements), ""))
            if there is not None:
                return there
        without = [one for one in found if not one.edit]
        return There("", without[0]) if without else None

    def read_again(self) -> None:
        """Let the next look read the list again."""
        with self._lock:
            self._found = None

    def note(self, identifier: str, there: There) -> None:
        """Note a deposit that was made since the list was read."""
        with self._lock:
            if self._found is not None:
                known = DepositReceipt(edit=there.edit, statements=there.receipt.statements)
                self._found.setdefault(identifier, []).append(known)

    def forget(self, identifier: str) -> None:
        """Note that the deposit of a record was deleted."""
        with self._lock:
            if self._found is not None:
                self._found.pop(identifier, None)
                self._found.pop(slug_of(identifier), None)

    def _list(self) -> dict[str, list[DepositReceipt]]:
        with self._lock:
            if self._found is None:
                found: dict[str, list[DepositReceipt]] = {}
                for name, one in self._named(self._client.listed(self._collection)):
                    found.setdefault(name, []).append(one)
                self._found = found
            return self._found

    def _named(self, listed: Iterable[DepositReceipt]) -> Iterator[tuple[str, DepositReceipt]]:
        """Yield (identifier or Slug, deposit) of listed deposits.

        Those that the list does not name are looked at, up to a number: their receipts, then
        their content.

        Raises:
            NotSupported: There are too many of them, or one remains without a name.
        """
        unnamed = 0
        for one in listed:
            found, names = one, _names(one)
            if one.edit and not names:
                unnamed += 1
                there = self._client.read(one.edit) if unnamed <= _MOST_UNNAMED else None
                if there is not None:
                    found = replace(there.receipt, edit=one.edit)
                    names = _names(found) or self._named_in_content(there)
                if not names:
                    raise NotSupported(0, self._collection, "it lists deposits without names")
            yield from ((name, found) for name in names)

    def _named_in_content(self, there: There) -> list[str]:
        try:
            content = self._client.held(there, _MOST_LOOKED_AT)
        except NotOfThisKind:  # it is larger
            return []
        name = content.about.get("identifier") if content is not None else None
        return [str(name)] if name else []


def _names(receipt: DepositReceipt) -> list[str]:
    """Return the names by which a listed deposit may be found."""
    told = (text for name, text in receipt.terms if name == "identifier")
    return list(dict.fromkeys([*receipt.external, *told]))
