"""The fields of many log lines at once, in arrays (pure).

Only lines that are plain in every respect are taken here: two or six quotes, no backslash, a valid
time, a status and a size in their places. All others are left to a `Reader`, line by line. So both
ways give the same for every line, which tests compare.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from usagestats.lines.moments import LATEST, MONTHS

Array: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]
Mask: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]
Bytes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint8]]

_LF, _CR, _SPACE, _QUOTE, _BACKSLASH = b'\n\r "\\'
_TIME = 26
"""Length of ``12/Oct/2026:10:00:01 +0000``."""
_MONTHS = np.array([int.from_bytes(one.encode()) for one in MONTHS])
_PUNCTUATION = {2: b"/", 6: b"/", 11: b":", 14: b":", 17: b":", 20: b" "}
_LONGEST_SIZE = 18
_LONGEST_ADDRESS = 45


@dataclass(frozen=True, slots=True)
class Columns:
    """Plain lines of a block, and where the others are.

    The fields are offsets into the block: where a field begins, and where it ends.

    Attributes:
        moment: Seconds since 1970, of each plain line; so are the other columns.
        head: What is before the time: address, identity and user.
        is_plain_head: Whether the head is certainly one: a word, and `` - -``.
        is_get: Whether the request begins with ``GET /``.
        agent: Empty columns in a log without user agents.
        other: The lines that are not plain.
    """

    moment: Array
    status: Array
    head: tuple[Array, Array]
    is_plain_head: Mask
    request: tuple[Array, Array]
    is_get: Mask
    agent: tuple[Array, Array]
    other: tuple[Array, Array]


def columns_of(data: bytes, *, has_agent: bool) -> Columns:
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
    at = np.where(good, quote[:, 0] - 2 - _TIME, 0)
    moment, is_time = _moments(padded, at)
    good &= is_time & (padded[at - 2] == _SPACE) & (padded[at - 1] == ord("["))
    good &= (padded[at + _TIME] == ord("]")) & (padded[at + _TIME + 1] == _SPACE)
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
    return Columns(
        moment[good],
        status[good],
        (starts[good], at[good] - 2),
        _plain_heads(padded, starts[good], at[good] - 2),
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


def _plain_heads(text: Bytes, start: Array, end: Array) -> Mask:
    """Whether each head is a word of printable ASCII and `` - -``."""
    length = end - start - 4
    good = (length > 0) & (length <= _LONGEST_ADDRESS) & _begins(text, end - 4, b" - -")
    longest = int(length[good].max()) if good.any() else 0
    for place in range(longest):
        letter = text[np.where(good, start + place, 0)]
        good &= (place >= length) | ((letter > _SPACE) & (letter < 127))
    return good


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
    good = np.ones(len(at), np.bool_)
    for place, sign in _PUNCTUATION.items():
        good &= text[at + place] == sign[0]
    numbers = []
    for place, length in ((0, 2), (7, 4), (12, 2), (15, 2), (18, 2), (22, 2), (24, 2)):
        value, is_number = _digits(text, at + place, length)
        good &= is_number
        numbers.append(value)
    day, year, hour, minute, second, ahead_hours, ahead_minutes = numbers
    name = text[at + 3].astype(np.int64) << 16 | text[at + 4].astype(np.int64) << 8 | text[at + 5]
    is_month = name[:, None] == _MONTHS
    good &= is_month.any(axis=1)
    month = is_month.argmax(axis=1)
    plus_or_minus = text[at + 21]
    good &= (plus_or_minus == ord("+")) | (plus_or_minus == ord("-"))
    good &= (hour < 24) & (minute < 60) & (second < 60) & (ahead_minutes < 60)
    good &= (day > 0) & (year >= 1970)
    months = np.where(good, (year - 1970) * 12 + month, 0)
    begins = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
    follows = (months + 1).astype("M8[M]").astype("M8[D]").astype(np.int64)
    good &= day <= follows - begins
    ahead = (ahead_hours * 60 + ahead_minutes) * 60
    seconds = (begins + day - 1) * 86_400 + hour * 3600 + minute * 60 + second
    moment = seconds - np.where(plus_or_minus == ord("+"), ahead, -ahead)
    return moment, good & (moment >= 0) & (moment < LATEST)


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
