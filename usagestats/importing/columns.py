"""The fields of many log lines at once, in arrays (pure).

Only lines that are plain in every respect are taken here: two or six quotes, no backslash, a valid
time, a status and a size in their places. All others are left to a `Reader`, line by line. So both
ways give the same for every line, which tests compare.
"""

import functools
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from usagestats.lines.moments import LATEST, clf_moment

Array: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Mask: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]
Bytes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint8]]

_LF, _CR, _SPACE, _QUOTE, _BACKSLASH = b'\n\r "\\'
_TIME = 26
"""Length of ``12/Oct/2026:10:00:01 +0000``."""
_AROUND = _TIME + 6
"""A time, and what is around it: four bytes before it, ``[`` included, and ``]`` and a space."""
_NEVER = LATEST
_LONGEST_SIZE = 18


def _word(data: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(data, "little"))


_DAY_AND_ZONE = np.array([_word(b"\0\0" + b"\xff" * 6), _word(b"\xff" * 8), _word(b"\xff" * 8)])
_ZERO_O_CLOCK, _SIX = _word(b"00:00:00"), _word(b"\6\6\0\6\6\0\6\6")
_NOT_DIGITS = _word(b"\xf0\xf0\xff\xf0\xf0\xff\xf0\xf0")
_DIGITS = tuple((np.uint64(one), np.uint64(one + 8)) for one in (0, 24, 48))
_TEN, _FIFTEEN = np.uint64(10), np.uint64(15)


@dataclass(frozen=True, slots=True)
class LineColumns:
    """Plain lines of a block, and where the others are.

    The fields are offsets into the block: where a field begins, and where it ends.

    Attributes:
        moment: Seconds since 1970, of each plain line; so are the other columns.
        head: What is before the time: address, identity and user.
        is_get: Whether the request begins with ``GET /``.
        agent: Empty columns in a log without user agents.
        other: The lines that are not plain.
    """

    moment: Array
    status: Array
    head: tuple[Array, Array]
    request: tuple[Array, Array]
    is_get: Mask
    agent: tuple[Array, Array]
    other: tuple[Array, Array]


def columns_of(data: bytes, *, has_agent: bool) -> LineColumns:
    """Find the fields of the plain lines of a block in the common or combined format."""
    text = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero((text == _LF) | (text == _QUOTE))
    is_end = text[marks] == _LF
    ends, quotes = marks[is_end], marks[~is_end]
    before = np.flatnonzero(is_end) - np.arange(len(ends))  # quotes before the end of each line
    if not data.endswith(b"\n"):
        ends, before = np.append(ends, len(data)), np.append(before, len(quotes))
    starts = np.concatenate(([0], ends[:-1] + 1))
    needed = 6 if has_agent else 2
    first = np.concatenate(([0], before[:-1]))
    plain = before - first == needed
    if b"\\" in data:
        escapes = np.flatnonzero(text == _BACKSLASH)
        plain &= np.searchsorted(escapes, starts) == np.searchsorted(escapes, ends)
    all_starts, all_ends = starts, ends
    row = np.flatnonzero(plain)
    starts, ends = starts[row], ends[row]
    if len(row):
        ends = ends - (text[ends - 1] == _CR)
    quote = quotes[first[row][:, None] + np.arange(needed)]
    # Nothing below reads outside of the block, even where a line is too short.
    padded = np.concatenate((text, np.zeros(64, np.uint8)))
    good = quote[:, 0] - starts >= _TIME + 9
    at = np.where(good, quote[:, 0] - 2 - _TIME, 4)
    moment, is_time = _moments(padded, at)
    good &= is_time
    after = quote[:, 1]
    last = quote[:, 2] - 1 if has_agent else ends
    status, is_status = _statuses(padded, after)
    good &= is_status & _sizes(padded, after + 6, last)
    empty = np.zeros(0, np.int64)
    agent = (empty, empty)
    if has_agent:
        good &= padded[last] == _SPACE
        good &= (quote[:, 4] == quote[:, 3] + 2) & (padded[quote[:, 3] + 1] == _SPACE)
        rest = quote[:, 5] + 1
        good &= (rest == ends) | (padded[rest] == _SPACE)
        agent = (quote[good, 4] + 1, quote[good, 5])
    plain[row[~good]] = False
    return LineColumns(
        moment[good],
        status[good],
        (starts[good], at[good] - 2),
        (quote[good, 0] + 1, quote[good, 1]),
        _begins(padded, quote[good, 0] + 1, b"GET /"),
        agent,
        (all_starts[~plain], all_ends[~plain]),
    )


def _begins(text: Bytes, at: Array, word: bytes) -> Mask:
    """Whether this is at each place."""
    same = np.ones(len(at), np.bool_)
    for place, letter in enumerate(word):
        same &= text[at + place] == letter
    return same


def _digits(text: Bytes, at: Array, number: int) -> tuple[Array, Mask]:
    """Return the number at each place, and whether all its characters are digits."""
    value = np.zeros(len(at), np.int64)
    good = np.ones(len(at), np.bool_)
    for place in range(number):
        digit = text[at + place] - np.uint8(48)
        good &= digit < 10
        value = value * 10 + digit
    return value, good


def _moments(text: Bytes, at: Array) -> tuple[Array, Mask]:
    """Return the moment of the time at each place, and whether it is one.

    Args:
        text: The block.
        at: Where the times begin.
    """
    whole = np.ndarray((len(text) - _AROUND + 1,), f"V{_AROUND}", text, strides=(1,))
    words = whole[at - 4].view("<u8").reshape(-1, _AROUND // 8)
    # All but the time of day and the two bytes before the space; both repeat in most lines.
    around = words[:, [0, 1, 3]] & _DAY_AND_ZONE
    is_new = np.append(True, (around[1:] != around[:-1]).any(axis=1))[: len(at)]
    days = [_midnight(text[one - 2 : one + _TIME + 2].tobytes()) for one in at[is_new].tolist()]
    midnight = np.array([*days, _NEVER], np.int64)[np.cumsum(is_new) - 1]
    clock = words[:, 2] ^ _ZERO_O_CLOCK
    good = (clock | clock + _SIX) & _NOT_DIGITS == 0
    hour, minute, second = (
        ((clock >> tens & _FIFTEEN) * _TEN + (clock >> ones & _FIFTEEN)).astype(np.int64)
        for tens, ones in _DIGITS
    )
    good &= (hour < 24) & (minute < 60) & (second < 60)
    moment = midnight + hour * 3600 + minute * 60 + second
    return moment, good & (moment < LATEST)


@functools.lru_cache(10_000)
def _midnight(around: bytes) -> int:
    """Return the moment at which the day of a time begins; `_NEVER` if there is no time.

    Args:
        around: As ``[12/Oct/2026:10:00:01 +0000]``, with the spaces around it.
    """
    parts = around[:2], around[2:13], around[13:14], around[-8:-2], around[-2:]
    before, date, colon, zone, after = (one.decode("latin-1") for one in parts)
    found = clf_moment(f"{date}:00:00:00{zone}")
    return found if (before, colon, after) == (" [", ":", "] ") and found is not None else _NEVER


def _statuses(text: Bytes, quote: Array) -> tuple[Array, Mask]:
    """Return the status after each closing quote, and whether one is there."""
    status, good = _digits(text, quote + 2, 3)
    return status, good & (text[quote + 1] == _SPACE) & (text[quote + 5] == _SPACE)


def _sizes(text: Bytes, start: Array, end: Array) -> Mask:
    """Whether there is a size, digits or a hyphen, from each start to its end."""
    length = end - start
    good: Mask = (length >= 1) & (length <= _LONGEST_SIZE)
    is_hyphen: Mask = (length == 1) & (text[start] == ord("-"))
    longest = int(length[good].max()) if good.any() else 0
    for place in range(longest):
        digit = text[np.where(good, start + place, 0)] - np.uint8(48)
        good &= (place >= length) | (digit < 10)
    good |= is_hyphen
    return good
