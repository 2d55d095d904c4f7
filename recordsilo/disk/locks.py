"""Locks between writers: ``flock`` on a fixed set of files, the stripes.

The kernel releases a lock when its holder dies, so no stale locks remain. Readers take
no locks.
"""

import contextlib
import fcntl
import os
import threading
import zlib
from collections.abc import Iterable, Iterator
from typing import Self

from recordsilo.disk import atomic_file

STRIPES = 256
_here = threading.local()


class Locks:
    """The record locks of one Silo.

    Records of the same stripe share a lock. Locks of several records are taken in the
    order of their stripes, so two batches cannot deadlock.

    Args:
        directory: Where the files are; made when it is needed.
        below: See `atomic_file.make_parents`.
        in_silo: Whether ``below`` is one Silo; see `atomic_file.make_in_silo`.
    """

    def __init__(self, directory: str, below: str = "", *, in_silo: bool = False) -> None:
        self._directory, self._below, self._in_silo = directory, below, in_silo
        self._place = os.path.realpath(directory)

    @classmethod
    def of_silo(cls, silo_path: str, *, in_silo: bool = False) -> Self:
        """The locks of a Silo, or of a directory of Silos unless ``in_silo``."""
        return cls(os.path.join(silo_path, ".silo", "locks"), silo_path, in_silo=in_silo)

    @contextlib.contextmanager
    def hold(self, identifiers: Iterable[str]) -> Iterator[None]:
        """Hold the locks of the given records; waits for other writers.

        Raises:
            RuntimeError: This thread is already in a batch of this Silo, through this
                object or another. It could wait for ever for itself, or for another batch
                that waits for this one.
        """
        stripes = sorted({_stripe(identifier) for identifier in identifiers})
        held = self._held_here()
        if held:
            raise RuntimeError("this thread is in a batch of this Silo already; write through it")
        locked: list[int] = []
        try:
            for stripe in stripes:
                # One by one, so that those already locked are released if the next one fails.
                locked.append(self._lock_waiting(f"{stripe:02x}"))  # noqa: PERF401 (see above)
            held.update(stripes)
            yield
        finally:
            held.difference_update(stripes)
            _close_all(locked)

    @contextlib.contextmanager
    def hold_if_free(self, identifier: str) -> Iterator[bool]:
        """Hold a record's lock if it is free, without waiting; yields whether it was."""
        stripe = _stripe(identifier)
        held = self._held_here()
        fd = None if stripe in held else self._lock(f"{stripe:02x}", wait=False)
        if fd is None:
            yield False
            return
        held.add(stripe)
        try:
            yield True
        finally:
            held.discard(stripe)
            os.close(fd)

    @contextlib.contextmanager
    def hold_name(self, name: str) -> Iterator[None]:
        """Hold the lock of a name; waits for it. Two hex digits name a stripe of the records."""
        fd = self._lock_waiting(name)
        try:
            yield
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def hold_name_if_free(self, name: str) -> Iterator[bool]:
        """Hold the lock of a name if it is free, without waiting; yields whether it was."""
        fd = self._lock(name, wait=False)
        try:
            yield fd is not None
        finally:
            if fd is not None:
                os.close(fd)

    def _held_here(self) -> set[int]:
        """The stripes of this directory that the current thread holds."""
        everywhere: dict[str, set[int]] = vars(_here).setdefault("held", {})
        return everywhere.setdefault(self._place, set())

    def _lock_waiting(self, name: str) -> int:
        fd = self._lock(name, wait=True)
        assert fd is not None
        return fd

    def _lock(self, name: str, *, wait: bool) -> int | None:
        """A descriptor that holds the lock; None if it is taken and ``wait`` is false."""
        path = f"{self._directory}/{name}"
        while True:
            fd = atomic_file.open_lock_file(path, self._below, in_silo=self._in_silo)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                if _is_at(fd, path):  # otherwise the directory was deleted meanwhile
                    return fd
            except BlockingIOError:
                os.close(fd)
                return None
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)


def _close_all(descriptors: list[int]) -> None:
    """Close all descriptors, even if one fails."""
    try:
        while descriptors:
            os.close(descriptors.pop())
    finally:
        if descriptors:
            _close_all(descriptors)


def _stripe(identifier: str) -> int:
    return zlib.crc32(identifier.encode("utf-8", "surrogatepass")) % STRIPES


def _is_at(fd: int, path: str) -> bool:
    try:
        mine, there = os.fstat(fd), os.stat(path)
        return (mine.st_ino, mine.st_dev) == (there.st_ino, there.st_dev)
    except FileNotFoundError:
        return False
