"""The numbers of many texts at once, of which most were seen before (pure)."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from usagestats.importing.columns import Array

_WORD = np.dtype("<u8")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
Words: TypeAlias = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
Ask: TypeAlias = Callable[[list[bytes]], Iterable[int]]
PADDING = bytes(192)


class InternTable:
    """Texts → numbers, each asked for once.

    Before a dictionary there is a table in arrays, in which each text has one place, chosen by its
    bytes. A place has the text that was looked for last. So a piece of a log needs a value in
    Python only for those texts that are not in their place, or too long for it.

    Args:
        ask: Returns the numbers of some texts, of which each is there once.
        width: Most bytes of a text in the table, a multiple of 64.
        places: In the table, a power of 2.
    """

    def __init__(self, ask: Ask, width: int, places: int = 1 << 18) -> None:
        self.known: dict[bytes, int] = {}
        self._ask, self._width = ask, width
        self._texts = np.zeros(places, f"V{width}")
        self._lengths = np.full(places, -1)
        self._numbers = np.zeros(places, np.int64)
        self._shift = np.uint64(64 - (places.bit_length() - 1))
        self._factors = np.arange(1, width // 8 + 1, dtype=np.uint64) * _FACTOR | np.uint64(1)
        covered = np.arange(width) < np.arange(width + 1)[:, None]
        self._masks = (covered * np.uint8(255)).view(f"V{width}")[:, 0]

    def __len__(self) -> int:
        return len(self.known)

    def __call__(self, padded: bytes, starts: Array, ends: Array) -> Array:
        """Return the number of each text.

        Args:
            padded: The texts are in it; `PADDING` follows.
            starts: Where they begin; `ends` likewise.
        """
        lengths = ends - starts
        words = self._words(padded, starts, np.minimum(lengths, self._width))
        place = (words @ self._factors >> self._shift).astype(np.int64)
        is_other = self._lengths[place] != lengths
        for some in (self._texts[place].view(_WORD).reshape(words.shape) != words).view(_WORD).T:
            is_other |= some != 0
        found = self._numbers[place]
        new = np.flatnonzero(is_other)
        if len(new):
            pairs = zip(starts[new].tolist(), ends[new].tolist(), strict=True)
            texts = [padded[start:end] for start, end in pairs]
            if unknown := [one for one in dict.fromkeys(texts) if one not in self.known]:
                self.known.update(zip(unknown, self._ask(unknown), strict=True))
            found[new] = np.fromiter(map(self.known.__getitem__, texts), np.int64, len(texts))
            new = new[lengths[new] <= self._width]
            place = place[new]
            self._texts[place] = words[new].view(self._texts.dtype)[:, 0]
            self._lengths[place], self._numbers[place] = lengths[new], found[new]
        return found

    def _words(self, padded: bytes, starts: Array, lengths: Array) -> Words:
        """Return the bytes of each text as words, with zeros after its end."""
        whole = self._texts.dtype
        at_any = np.ndarray((len(padded) - self._width + 1,), whole, padded, strides=(1,))
        words = at_any[starts].view(_WORD).reshape(-1, len(self._factors))
        words &= self._masks[lengths].view(_WORD).reshape(words.shape)
        return words
