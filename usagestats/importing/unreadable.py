"""Unreadable lines are kept with tokens in place of addresses."""

import re

from recordsilo.disk.atomic_file import append_lines, make_parents
from usagestats.store.keys import Keys, token
from usagestats.store.places import unreadable_path

MOST = 1000
"""Lines that an import keeps."""
_LONGEST = 2000
_TIME = re.compile(rb"(?:\d{4}:)?\d\d?:\d\d(?::\d\d)?(?:\.\d+)?")
_ADDRESS = re.compile(rb"[0-9A-Fa-f:.]*(?:[0-9A-Fa-f]*:){2,}[0-9A-Fa-f:.]*|\d+(?:\.\d+){2,}")


def without_addresses(line: bytes, key: bytes) -> bytes:
    """Replace all that looks like an address, even in part, by a token.

    Args:
        line: As in the log.
        key: Of the day.
    """

    def replaced(found: re.Match[bytes]) -> bytes:
        if _TIME.fullmatch(found[0].strip(b":.")):
            return found[0]
        made = token(key, found[0].decode("latin-1")) & 0xFFFF_FFFF_FFFF_FFFF
        return b"[%016x]" % made

    return _ADDRESS.sub(replaced, line)


def key_name(day: str) -> str:
    """Return the name of the key for the unreadable lines that were imported on a day."""
    return f"{day}-unreadable"


def keep(silo_path: str, keys: Keys, day: str, lines: list[bytes]) -> None:
    """Keep unreadable lines that were imported on a day."""
    if not lines:
        return
    path = unreadable_path(silo_path, day)
    make_parents(path)
    key = keys.key(key_name(day))
    append_lines(path, (without_addresses(line[:_LONGEST], key) for line in lines))
