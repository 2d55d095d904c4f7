"""A set of identifiers that stays small: 8 bytes for each, whatever their length.

A million take 8 MB. Two identifiers among a million are taken for one with a
probability of 1 in 37 million.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

_RECENT = 65_536


class IdentifierSet:
    """Identifiers, by digests that are the same in every process.

    >>> known = IdentifierSet()
    >>> known.add_all(["oai:x:1", "oai:x:2", "oai:x:1"])
    [True, True, False]
    """

    def __init__(self) -> None:
        self._sorted: npt.NDArray[np.uint64] = np.empty(0, np.uint64)
        self._recent: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted) + len(self._recent)

    def __contains__(self, identifier: object) -> bool:
        if not isinstance(identifier, str):
            return False
        number = int.from_bytes(digest(identifier), "little")
        return number in self._recent or bool(self._among_sorted(np.array([number], np.uint64))[0])

    def add(self, identifier: str) -> bool:
        """Add one identifier; return whether it was not yet there."""
        return self.add_digests(digest(identifier))[0]

    def add_all(self, identifiers: Iterable[str]) -> list[bool]:
        """Add identifiers; return for each, in order, whether it was not yet there."""
        return self.add_digests(b"".join(map(digest, identifiers)))

    def add_digests(self, digests: bytes) -> list[bool]:
        """`add_all`, of digests one after the other."""
        numbers = np.frombuffer(digests, "<u8").astype(np.uint64, copy=False)
        known = self._among_sorted(numbers).tolist()
        recent = self._recent
        found: list[bool] = []
        for number, is_known in zip(numbers.tolist(), known, strict=True):
            is_new = not is_known and number not in recent
            if is_new:
                recent.add(number)
            found.append(is_new)
        if len(recent) > _RECENT:
            self._settle()
        return found

    def add_set(self, other: "IdentifierSet") -> None:
        """Add all identifiers of another set."""
        self._sorted = np.union1d(self._all, other._all)
        self._recent = set()

    def lacking(self, other: "IdentifierSet") -> int:
        """How many identifiers of another set this one does not have."""
        return len(np.setdiff1d(other._all, self._all, assume_unique=True))

    @property
    def _all(self) -> npt.NDArray[np.uint64]:
        recent = np.fromiter(self._recent.copy(), np.uint64)
        return np.concatenate([self._sorted, recent])

    def _among_sorted(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        if not len(self._sorted):
            return np.zeros(len(numbers), np.bool_)
        places = np.searchsorted(self._sorted, numbers)
        places[places == len(self._sorted)] = 0
        return np.asarray(self._sorted[places] == numbers, np.bool_)

    def _settle(self) -> None:
        added = np.fromiter(self._recent, np.uint64, len(self._recent))
        added.sort()
        self._sorted = np.insert(self._sorted, np.searchsorted(self._sorted, added), added)
        self._recent = set()


@lru_cache(maxsize=8192)  # asked for where a page is fetched, and where it is counted
def digest(identifier: str) -> bytes:
    """Eight bytes that stand for an identifier."""
    return blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=8).digest()
