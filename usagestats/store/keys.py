"""The keys of days, under which addresses and visitors become tokens.

The key of a day is derived from the Silo's secret and from a random salt of that day. Without the
salt the key cannot be derived again, so nobody can tell which address a token stands for; that is
how a day is frozen.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from recordsilo.disk.atomic_file import (
    Barrier,
    StrictBarrier,
    link_new,
    make_parents,
    write_new,
)
from recordsilo.disk.regular_file import regular_fd
from recordsilo.extras import later
from usagestats.store.paths import key_path, secret_path

if TYPE_CHECKING:
    import numpy as np
else:
    np = later("numpy", "silo usage", "usage")

_LENGTH = 32
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
TOKEN = 8
"""Bytes of a token. Among a million visitors of a day, two have the same with odds of 1 to 30
million."""


class Keys:
    """The keys of a Silo; a key is made when it is first asked for.

    Several processes may ask for the same key: they get the same one.

    Args:
        barrier: What makes new keys durable when it is flushed; without one, each is at once.
    """

    def __init__(self, silo_path: str, barrier: Barrier | None = None) -> None:
        self._silo_path, self._barrier = silo_path, barrier
        self._known: dict[str, bytes] = {}

    def key(self, day: str) -> bytes:
        """Return the key of a day (ISO 8601)."""
        if day not in self._known:
            path = secret_path(self._silo_path)
            # Looked for again: another process may have made it, and a key after it, meanwhile.
            if not os.path.exists(path) and self.days() and not os.path.exists(path):
                raise OSError(f"{path} is missing; restore it from a backup")
            secret = self._made_once(path)
            salt = self._made_once(key_path(self._silo_path, day))
            self._known[day] = hmac.digest(secret, day.encode() + salt, "sha256")
        return self._known[day]

    def _made_once(self, path: str) -> bytes:
        """Return the content of a file of random bytes, which is made if it does not exist."""
        try:
            with open(path, "rb", opener=regular_fd) as file:
                found = file.read()
        except FileNotFoundError:
            self._make(path)
            return self._made_once(path)
        if len(found) != _LENGTH:
            raise OSError(f"{path} is damaged; restore it from a backup")
        return found

    def _make(self, path: str) -> None:
        barrier = self._barrier or StrictBarrier()
        make_parents(path, self._silo_path)
        staged = f"{path}.{secrets.token_hex(8)}.new"
        write_new(staged, (secrets.token_bytes(_LENGTH),), barrier, 0o600)
        try:
            if not link_new(staged, path):
                os.rename(staged, path)
        except FileExistsError:
            pass  # another process was first
        finally:
            with suppress(FileNotFoundError):
                os.unlink(staged)
        barrier.directory_changed(os.path.dirname(path))
        if self._barrier is None:
            barrier.flush()

    def has_key(self, day: str) -> bool:
        """Whether the key of a day exists."""
        return os.path.exists(key_path(self._silo_path, day))

    def days(self) -> list[str]:
        """Return the days that have a key, in order."""
        directory = os.path.dirname(key_path(self._silo_path, ""))
        found = os.listdir(directory) if os.path.isdir(directory) else ()
        return sorted(filter(_DAY.fullmatch, found))

    def shred(self, day: str) -> None:
        """Destroy the key of a day: overwrite its salt, then remove it."""
        self._known.pop(day, None)
        path = key_path(self._silo_path, day)
        try:
            with open(path, "r+b") as file:
                file.write(bytes(_LENGTH))
                file.flush()
                os.fsync(file.fileno())
            os.unlink(path)
        except FileNotFoundError:
            return


def token(key: bytes, text: str) -> int:
    """Return the token of a text under a key: 64 bits, signed."""
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hmac.digest(key, data, "sha256")[:TOKEN], "little", signed=True)


def tokens(key: bytes, texts: Iterable[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the tokens of many texts: `token`, with what all have in common done once.

    Source: RFC 2104, section 4, "Implementation Note".
    """
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(one ^ 0x36 for one in padded)).copy
    outer = hashlib.sha256(bytes(one ^ 0x5C for one in padded)).copy
    digests = []
    for text in texts:
        first, second = inner(), outer()
        first.update(text.encode("utf-8", "surrogatepass"))
        second.update(first.digest())
        digests.append(second.digest())
    words = np.frombuffer(b"".join(digests), "<i8").astype(np.int64)
    return words[:: inner().digest_size // TOKEN]


def client_text(address: str) -> str:
    """Return what a client's token is made of: the address."""
    return f"c\0{address}"


def visitor_text(address: str, user: str, agent: str) -> str:
    """Return what a visitor's token is made of: the user name, or else address and user agent.

    Source: COUNTER R5.1, section 7.2.
    """
    return f"u\0{user}" if user else f"v\0{address}\0{agent}"
