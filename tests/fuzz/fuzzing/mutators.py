"""Inputs made of other inputs: changed bytes, and changed places in a JSON value (pure)."""

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = (
    0, 1, -1, 255, 256, 65535, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64,
    -(2**63) - 1, 10**30, 10**400,
)  # fmt: skip
TEXTS = (
    "", " ", ".", "..", "../x", "/", "a/b", "\0", "\x1b[31m", "\x85", "\u2028", "\u202e", "\ud800",
    "\udc80", "\U0001f600", "e\u0301", "ﬁ", "x" * 255, "x" * 5000, "0", "1e999", "NaN", "null",
    "9999-12-31T23:59:59Z", "0001-01-01", "99999-99-99", "%00", "%ff", "%2e%2e%2f", "'", '"',
)  # fmt: skip
_ODD = tuple(text.encode("utf-8", "surrogatepass") for text in TEXTS)
_BYTES = (
    b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\x1f\x8b", b"\r\n", b"\n", b"\r", b"\t", b"\\", b"&", b"<", b">", b"[", b"{", b"(", b"%",
)  # fmt: skip
_NUMBER = re.compile(rb"\d+")

Mutator = Callable[[Random, bytes, Sequence[bytes]], bytes]
"""Takes an input and the target's words; gives another input."""


def changed(
    random: Random, pool: Sequence[bytes], words: Sequence[bytes], *, largest: int
) -> bytes:
    """One of the pool with one to eight changes, or two of it put together.

    Args:
        words: What the format at hand is made of.
        largest: Bytes of the result at most.
    """
    data = random.choice(pool)
    if len(pool) > 1 and random.random() < 0.1:
        data = _spliced(random, data, random.choice(pool))
    for _ in range(1 << random.randrange(4)):
        data = random.choice(_MUTATORS)(random, data, words)
    return data[:largest]


def _span(random: Random, data: bytes) -> tuple[int, int]:
    """A place in the data, and one at or behind it: near it as a rule."""
    begin = random.randrange(len(data) + 1)
    length = random.randrange(1 << random.randrange(1, 10))
    return begin, min(len(data), begin + length)


def _spliced(random: Random, one: bytes, other: bytes) -> bytes:
    return one[: random.randrange(len(one) + 1)] + other[random.randrange(len(other) + 1) :]


def _bit_flipped(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _put_in(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + _piece(random, words) + data[at:]


def _put_over(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    begin, end = _span(random, data)
    return data[:begin] + _piece(random, words) + data[end:]


def _piece(random: Random, words: Sequence[bytes]) -> bytes:
    kind = random.randrange(6)
    if kind < 3 and words:
        return random.choice(words)
    if kind == 3:
        return random.choice(_ODD)
    if kind == 4:
        return random.randbytes(random.randrange(1, 9))
    return random.choice(_BYTES)


def _taken_out(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    begin, end = _span(random, data)
    return data[:begin] + data[end:]


def _doubled(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    begin, end = _span(random, data)
    at = random.randrange(len(data) + 1)
    return data[:at] + data[begin:end] + data[at:]


def _cut(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _repeated(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    """A piece, many times over: nesting, long lists, long values."""
    piece = _piece(random, words)
    at = random.randrange(len(data) + 1)
    return data[:at] + piece * (1 << random.randrange(1, 12)) + data[at:]


def _other_number(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _put_in(random, data, words)
    begin, end = random.choice(found).span()
    return data[:begin] + str(random.choice(NUMBERS)).encode() + data[end:]


def _lines_moved(random: Random, data: bytes, words: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


_MUTATORS: tuple[Mutator, ...] = (
    _bit_flipped, _put_in, _put_in, _put_over, _put_over, _taken_out, _doubled, _cut, _repeated,
    _other_number, _lines_moved,
)  # fmt: skip


# --------------------------------------------------------------------------- JSON


def changed_json(random: Random, content: bytes, names: Sequence[str] = ()) -> bytes:
    """A JSON text with one to four of its places changed; of other content, some bytes.

    Args:
        names: Keys and texts that mean something in this place.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return changed(
            random,
            [content],
            [name.encode("utf-8", "surrogatepass") for name in names],
            largest=1 << 20,
        )
    for _ in range(random.randrange(1, 5)):
        value = _changed_value(random, value, names)
    return json.dumps(value, ensure_ascii=random.random() < 0.5).encode("utf-8", "surrogatepass")


def _changed_value(random: Random, value: Any, names: Sequence[str]) -> Any:
    """A copy with one place changed, somewhere within."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return _other_value(random, value, names)
    if isinstance(value, list):
        at = random.randrange(len(value))
        match random.randrange(6):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, value[at]]
        return [*value[:at], _changed_value(random, value[at], names), *value[at + 1 :]]
    key = random.choice(list(value))
    match random.randrange(6):
        case 0:
            return {one: inner for one, inner in value.items() if one != key}
        case 1:
            return value | {_name(random, names): value[key]}
    return value | {key: _changed_value(random, value[key], names)}


def _other_value(random: Random, value: Any, names: Sequence[str]) -> Any:
    match random.randrange(9):
        case 0:
            return random.choice(NUMBERS)
        case 1:
            return random.choice((None, True, False, 0.5, -0.0, 1e308, [], {}))
        case 2:
            return [value]
        case 3:
            return {_name(random, names): value}
        case 4 if isinstance(value, str):
            return value + random.choice(TEXTS)
        case 5:
            return _nested(value, 1 << random.randrange(1, 9))
        case 6 if isinstance(value, str) and value:
            at = random.randrange(len(value))
            return value[:at] + random.choice(TEXTS) + value[at + 1 :]
    return _name(random, names)


def _name(random: Random, names: Sequence[str]) -> str:
    return random.choice(names if names and random.random() < 0.7 else TEXTS)


def _nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value
