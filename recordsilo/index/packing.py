"""Texts, numbers and bits of the index's rows in few bytes.

The full text holds words without the texts. These are packed in the rows, in the transaction that
writes the words: what is deleted from the full text is what was written into it. A row's texts are
one raw deflate stream (RFC 1951), which begins as if a *dictionary* came before it: a few thousand
bytes of other records' texts. What they repeat of the row, its title and its identifier, is left
out of them.

A list of numbers is packed as characters in UTF-8: frequent values have small numbers, so most
take one to three bytes, and a list of many rows is read without a loop in Python.
"""

import importlib
import sqlite3
import sys
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from recordsilo.index.schema import TEXT_COLUMNS

WRONG = (ValueError, TypeError, LookupError, OverflowError)
"""What decoding a value raises that this index has not written."""
_WINDOW = -12
"""Raw deflate with 4 kB before each place; a larger window costs more than a text has to gain."""
_LEVEL, _MEMORY = 3, 5
_FAST_LEVEL = 2
_LONG = 1000
"""Bytes of texts from which on ISA-L packs them."""
_DICTIONARY = 4096 - 262
"""Bytes of a dictionary that a stream with this window can refer to (zlib, deflate.h)."""
_SAMPLE = 20
"""Records whose texts are in a dictionary."""
_SECOND_FROM = 1000
"""The row from which on a second dictionary is used: the first is made of the first records."""
_SAME, _OTHER = "\1", "\2"
"""Begin a text that continues what the row has, and one that begins like these marks."""
_BIG = 1 << 20
_BIG_BYTE = b"\xf4"
"""The first byte in UTF-8 of each character from `_BIG` on, and in no other."""
_UTF_32 = f"utf-32-{sys.byteorder[0]}e"


def damaged(error: Exception) -> sqlite3.DatabaseError:
    """The error of a damaged index, for one of `WRONG`."""
    return sqlite3.DatabaseError(f"a row has an impossible value: {error}")


# -- texts --------------------------------------------------------------------------------


class Packer:
    """Packs texts with the dictionaries of one open file."""

    def __init__(self) -> None:
        self._number = -1
        self._begin: Callable[[], Any]
        self._begin_long: Callable[[], Any]

    def forget(self) -> None:
        """Forget the dictionary, after the transaction that made it was rolled back."""
        self._number = -1

    def prepare(
        self, connection: sqlite3.Connection, highest: int, texts: Sequence[Sequence[str]]
    ) -> None:
        """Make a dictionary if it is time for one.

        Args:
            connection: A connection to the index in a write transaction.
            highest: The highest row id that was used.
            texts: Those of new records.
        """
        self._load(connection)
        if self._number >= 2 or (self._number and highest < _SECOND_FROM) or not texts:
            return
        last = connection.execute(_LAST, (max(0, _SAMPLE - len(texts)),)).fetchall()
        read = Unpacker(connection).texts
        some = [read(*one) for one in last] + [*texts[-_SAMPLE:]]
        found = b"\0".join(_joined(one)[: 2 * _DICTIONARY // _SAMPLE] for one in some)
        connection.execute(
            "INSERT INTO dictionary VALUES (?, ?)", (self._number + 1, found[-_DICTIONARY:])
        )
        self._number = -1
        self._load(connection)

    def pack(
        self, connection: sqlite3.Connection, texts: Sequence[str], title: str, identifier: str
    ) -> bytes:
        """Pack the texts of a row.

        Args:
            connection: A connection to the index in a write transaction.
            texts: In the order of `TEXT_COLUMNS`.
            title, identifier: What the row has beside them.
        """
        self._load(connection)
        first, creators, subjects, abstract, identifiers, harvested = texts
        fields = (
            _shortened(first, title), creators, subjects, abstract,
            _shortened(identifiers, identifier), harvested,
        )  # fmt: skip
        joined = _joined(fields)
        one = self._begin() if len(joined) < _LONG else self._begin_long()
        packed: bytes = one.compress(joined) + one.flush()
        return bytes((self._number,)) + packed

    def _load(self, connection: sqlite3.Connection) -> None:
        if self._number >= 0:
            return
        found = connection.execute("SELECT * FROM dictionary ORDER BY id DESC LIMIT 1").fetchone()
        self._number, dictionary = (0, b"") if found is None else found
        packer = zlib.compressobj(_LEVEL, wbits=_WINDOW, memLevel=_MEMORY, zdict=dictionary)
        self._begin = packer.copy
        self._begin_long = _fast_packers(dictionary) or packer.copy


def _fast_packers(dictionary: bytes) -> Callable[[], Any] | None:
    """What returns an object of ISA-L that packs one text; None if the machine has no ISA-L.

    For long texts it takes a third of zlib's time and 5 % more bytes; for short ones half of the
    time and 7 % more. What it writes is read by zlib.
    """
    try:
        module = importlib.import_module("isal.isal_zlib")
    except ImportError:
        return None
    return partial(module.compressobj, _FAST_LEVEL, wbits=_WINDOW, zdict=dictionary)


_LAST = "SELECT packed, title, identifier FROM record ORDER BY id DESC LIMIT ?"


class Unpacker:
    """Reads packed texts, in one snapshot of the index or several."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._empty = {0: zlib.decompressobj(_WINDOW)}

    def texts(self, packed: bytes, title: str, identifier: str) -> tuple[str, ...]:
        """The texts of a row, in the order of `TEXT_COLUMNS`.

        Args:
            packed: By `Packer.pack`.
            title, identifier: What the row has beside them.

        Raises:
            sqlite3.DatabaseError: They are not as they were written.
        """
        try:
            one = self._of(packed[0]).copy()
            fields = one.decompress(packed[1:]).decode("utf-8", "surrogatepass").split("\0")
            if not one.eof or one.unused_data or len(fields) != len(TEXT_COLUMNS):
                raise ValueError("other texts")
            return (
                _whole(fields[0], title), *fields[1:4], _whole(fields[4], identifier), fields[5],
            )  # fmt: skip
        except (*WRONG, zlib.error) as error:
            raise damaged(error) from error

    def identifiers(self, packed: bytes, title: str, identifier: str) -> str:
        """The text of identifiers; see `texts`."""
        return self.texts(packed, title, identifier)[4]

    def _of(self, number: int) -> "zlib._Decompress":
        found = self._empty.get(number)
        if found is None:
            sql = "SELECT bytes FROM dictionary WHERE id = ?"
            (dictionary,) = self._connection.execute(sql, (number,)).fetchone()
            found = self._empty[number] = zlib.decompressobj(_WINDOW, dictionary)
        return found


def _joined(texts: Sequence[str]) -> bytes:
    return "\0".join(texts).encode("utf-8", "surrogatepass")


def _shortened(text: str, known: str) -> str:
    """A text without what it begins with, if the row has that."""
    if known and text.startswith(known):
        return _SAME + text[len(known) :]
    return _OTHER + text if text.startswith((_SAME, _OTHER)) else text


def _whole(text: str, known: str) -> str:
    if text.startswith(_SAME):
        return known + text[1:]
    return text[1:] if text.startswith(_OTHER) else text


# -- numbers ------------------------------------------------------------------------------


def pack_numbers(numbers: Iterable[int]) -> bytes:
    """Pack a list of numbers, 0 to 2**31 - 1; what two lists are packed into may be joined."""
    return "".join(map(_character, numbers)).encode("utf-8", "surrogatepass")


def numbers_in(packed: bytes) -> "array[int]":
    """The numbers of one list.

    Raises:
        ValueError: It is no list of numbers.
    """
    return numbers_of([packed])[1]


def numbers_of(lists: Sequence[bytes]) -> tuple[list[int], "array[int]"]:
    """How many numbers each list has, and the numbers of all of them.

    Raises:
        ValueError: One is no list of numbers.
        TypeError: One is not even bytes.
    """
    texts = [str(one, "utf-8", "surrogatepass") for one in lists]
    numbers = array("i", "".join(texts).encode(_UTF_32, "surrogatepass"))
    lengths = [*map(len, texts)]
    if any(_BIG_BYTE in one for one in lists):
        many = [[*_with_big(text)] for text in texts]
        return [*map(len, many)], array("i", [number for some in many for number in some])
    return lengths, numbers


def _character(number: int) -> str:
    return chr(number) if number < _BIG else chr(_BIG + (number >> 20)) + chr(number % _BIG)


def _with_big(text: str) -> Iterable[int]:
    above = 0
    for code in map(ord, text):
        if code >= _BIG and not above:
            above = code - _BIG << 20
        else:
            yield above + code
            above = 0
    if above:
        raise ValueError("a part of a number")


# -- bits ---------------------------------------------------------------------------------


def pack_bits(bits: bytes) -> bytes:
    """Pack the bits of a block."""
    return zlib.compress(bits, 6)


def bits_in(packed: bytes) -> bytes:
    """The bits of a block.

    Raises:
        sqlite3.DatabaseError: They are not as they were written.
    """
    try:
        return zlib.decompress(packed)
    except (*WRONG, zlib.error) as error:
        raise damaged(error) from error
