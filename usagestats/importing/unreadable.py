"""Unreadable lines are kept with tokens in place of addresses."""

import re

from recordsilo.disk.atomic_file import append_lines, make_parents
from usagestats.store.keys import Keys, token
from usagestats.store.paths import unreadable_path

MOST = 1000
"""Lines that an import keeps."""
LONGEST = 2000
"""Bytes that are kept of a line."""
_TIME = re.compile(rb"(?:\d{4}:)?\d\d?:\d\d(?::\d\d)?(?:\.\d+)?")
_RUN = re.compile(rb"[0-9A-Fa-f:.]{3,}")
_DOTTED = re.compile(rb"(?<![0-9])[0-9]+(?:\.[0-9]+){2,}")
_NAME = re.compile(rb"\S{2,}|[^\s-]")
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]|\xc2[\x80-\x9f]")
"""These take time in proportion to a line's length, whatever is in it."""


def without_addresses(line: bytes, key: bytes) -> bytes:
    """Replace all that looks like an address, even in part, by a token.

    So are all names before the first ``[``, where Apache writes hosts and users.

    Args:
        line: As in the log.
        key: Of the day.
    """

    def marked(found: re.Match[bytes]) -> bytes:
        made = token(key, found[0].decode("latin-1")) & 0xFFFF_FFFF_FFFF_FFFF
        return b"[%016x]" % made

    def replaced(found: re.Match[bytes]) -> bytes:
        if _TIME.fullmatch(found[0].strip(b":.")):
            return found[0]
        return marked(found) if found[0].count(b":") > 1 else _DOTTED.sub(marked, found[0])

    names, bracket, rest = line.partition(b" [")
    if not bracket:
        return _RUN.sub(replaced, line)
    return _NAME.sub(marked, names) + bracket + _RUN.sub(replaced, rest)


def escaped(line: bytes) -> bytes:
    r"""Escape control characters, which terminals would obey, as web servers do: ``\x1b``."""
    return _CONTROLS.sub(lambda found: b"".join(b"\\x%02x" % one for one in found[0]), line)


def key_name(day: str) -> str:
    """Return the name of the key for the unreadable lines that were imported on a day."""
    return f"{day}-unreadable"


def keep(silo_path: str, keys: Keys, day: str, lines: list[bytes]) -> None:
    """Keep unreadable lines that were imported on a day."""
    if not lines:
        return
    path = unreadable_path(silo_path, day)
    make_parents(path, silo_path)
    key = keys.key(key_name(day))
    kept = (escaped(without_addresses(line[:LONGEST], key)) for line in lines)
    append_lines(path, kept, silo_path)
