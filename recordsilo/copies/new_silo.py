"""A Silo that is being made of records of others; it is none for any command before it is whole.

``copying.json`` says what is copied there. It is written first, and removed after
``pairtree_version0_1``, which is what makes the directory a Silo, was written. So the same order
continues after a kill, and no other one writes there.
"""

import errno
import fcntl
import json
import os
from collections.abc import Mapping
from typing import Any

from recordsilo.closing import Closing
from recordsilo.copies.errors import CopyRefused
from recordsilo.copies.record_copy import CopiedRecord, copy_record, publish, remove_record
from recordsilo.disk.atomic_file import (
    group_barrier,
    make_directory,
    remove_file,
    remove_left_over,
    remove_tree,
    replace_file,
)
from recordsilo.disk.names import COPYING, STAGED_SUFFIX
from recordsilo.disk.regular_file import open_regular
from recordsilo.disk.walk import walk_records
from recordsilo.errors import VERSION_FILE, SiloNotFound
from recordsilo.records.place import RecordPlace
from recordsilo.silo import CREATED_FILE, VERSION_TEXT

_GROUP, _LARGE = 100, 256 << 20
"""Records, and bytes, that are flushed together."""
Order = Mapping[str, Any]
"""What is copied, as JSON values."""


def check_apart(sources: list[str], target: str) -> None:
    """Check that all directories are different, and none is in another.

    Raises:
        CopyRefused: Two are the same, also by a link, or one is inside of another.
    """
    known: list[tuple[str, str]] = []
    for path in [*sources, target]:
        real = f"{os.path.realpath(path)}/"
        for other, place in known:
            if real == place:
                raise CopyRefused(f"{path} and {other} are the same directory; choose another")
            if real.startswith(place) or place.startswith(real):
                raise CopyRefused(f"{path} and {other} are one inside the other; choose another")
        known.append((path, real))


def is_begun(path: str) -> bool:
    """Whether a directory has a copy that is not finished."""
    return os.path.lexists(os.path.join(path, COPYING))


def check_new(path: str, order: Order) -> None:
    """Check that an order may begin or continue in a directory.

    Raises:
        CopyRefused: Something else is there, or another order is not finished there.
        SiloNotFound: Its parent does not exist.
    """
    try:
        names = os.listdir(path)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
            missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            raise SiloNotFound.uncreated(path, missing) from None
        return
    except NotADirectoryError:
        raise CopyRefused(f"{path} is a file; choose a new directory") from None
    if COPYING in names:
        begun = _read(path)
        if begun != dict(order):
            raise CopyRefused(
                f"{path} has a copy that is not finished: {told(begun)}; finish it by the same "
                "command, or delete the directory"
            )
    elif any(not name.startswith(f"{COPYING}.") for name in names):
        raise CopyRefused(f"{path} exists; choose a new directory")


def told(order: Order) -> str:
    """An order in words, such as ``copy of a, b``."""
    what = order.get("selection") or ""
    return f"{order.get('kind')} of {', '.join(order.get('sources', ()))}" + (what and f" ({what})")


def _read(path: str) -> dict[str, Any]:
    try:
        with open_regular(f"{path}/{COPYING}") as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        raise CopyRefused(f"{path}/{COPYING} cannot be read ({error}); delete {path}") from None
    return found if isinstance(found, dict) else {}


class NewSilo(Closing):
    """A Silo that is being made.

    Args:
        path: A directory for which `check_new` passes.
        order: What is copied; the same as before to continue.

    Attributes:
        records: Number of records that are there.
        there: How many of them were there before.
        size: Bytes that were copied.

    Raises:
        CopyRefused: See `check_new`; or another process works on it.
        SiloNotFound: The directory cannot be made.
    """

    def __init__(self, path: str, order: Order) -> None:
        self.path = os.path.abspath(path)
        check_new(path, order)
        self._barrier = group_barrier(os.path.dirname(self.path))
        self._waiting: list[CopiedRecord] = []
        self.records = self.there = self.size = self._waiting_size = 0
        try:
            make_directory(self.path)
        except OSError as error:
            raise SiloNotFound.uncreated(path, error) from error
        remove_left_over(f"{self.path}/{COPYING}")
        if not os.path.exists(f"{self.path}/{COPYING}"):
            replace_file(f"{self.path}/{COPYING}", json.dumps(order, ensure_ascii=False).encode())
        self._lock = os.open(f"{self.path}/{COPYING}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise CopyRefused(f"another process is copying into {path}; let it finish") from None
        self.is_whole = os.path.exists(f"{self.path}/{VERSION_FILE}")
        self._root = f"{self.path}/pairtree_root"
        make_directory(self._root)
        make_directory(f"{self.path}/.silo")
        self._before = set() if self.is_whole else self._of_earlier_runs()

    def _of_earlier_runs(self) -> set[str]:
        """The records that earlier runs began; removes what they staged of other files."""
        for name in os.listdir(f"{self.path}/.silo"):
            remove_tree(f"{self.path}/.silo/{name}")
        for directory, names, files in os.walk(self.path):
            if directory == self.path:
                names.remove("pairtree_root")
            for name in files:
                if name.endswith(STAGED_SUFFIX):
                    remove_file(f"{directory}/{name}")
        return set(walk_records(self._root, lambda _path, _sentence: None))

    def place(self, identifier: str) -> RecordPlace:
        """Where a record is, or will be."""
        return RecordPlace.below(self._root, identifier)

    def add(self, source: RecordPlace) -> None:
        """Copy a record, unless it is there.

        Args:
            source: Where it is.

        Raises:
            RecordNotCopied, OSError: See `copy_record`.
        """
        self._before.discard(source.identifier)
        copied = copy_record(source, self.place(source.identifier), self._barrier)
        self.records += 1
        if not copied.directory:
            self.there += 1
            return
        self._waiting.append(copied)
        self.size += copied.size
        self._waiting_size += copied.size
        if len(self._waiting) >= _GROUP or self._waiting_size > _LARGE:
            self.flush()

    def leave_out(self, identifier: str) -> None:
        """Remove a copied record that has been removed from the original since."""
        self.flush()
        place = self.place(identifier)
        if identifier not in self._before and place.exists():  # those `finish` removes
            remove_record(place)
            self.records -= 1

    def flush(self) -> None:
        """Make all records that were added exist, durably."""
        if not self._waiting:
            return
        self._barrier.flush()
        for one in self._waiting:
            publish(one, self._barrier)
        self._barrier.flush()
        self._waiting.clear()
        self._waiting_size = 0

    def finish(self, state: Mapping[str, Any], created: str) -> None:
        """Make it a Silo, after all its other files were written.

        Args:
            state: Its settings, as in ``persisted_state.json``.
            created: When the oldest of the originals was made; empty if that is not known.
        """
        self.flush()
        self._barrier.flush()
        for identifier in self._before:  # removed, or not selected any more, since it was killed
            remove_record(self.place(identifier))
        if not self.is_whole:
            prefix = str(state.get("uri_base") or "info:")
            text = json.dumps({**state, "storage_dir": self.path}, ensure_ascii=False, indent=1)
            replace_file(f"{self.path}/pairtree_prefix", prefix.encode())
            replace_file(
                f"{self.path}/persisted_state.json",
                f"{text}\n".encode("utf-8", "backslashreplace"),
            )
            if created:
                replace_file(f"{self.path}/{CREATED_FILE}", created.encode())
            replace_file(f"{self.path}/{VERSION_FILE}", VERSION_TEXT)
        remove_file(f"{self.path}/{COPYING}")

    def close(self) -> None:
        """Let others continue."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
