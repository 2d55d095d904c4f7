"""Move the WARC files of ended harvests into an object store, check them, and bring them back.

For each file: it is sent, unless the store has it; read back and compared; a durable line says
where it is (`oaipmhscraper.warc.elsewhere`); only then it is deleted here. After a kill at any
step, the same call goes on.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import quote

from filestores.errors import ObjectDiffers
from filestores.object_store import ObjectStore, Told
from filestores.schemes import check_address
from oaipmhscraper.errors import ArchiveRunning
from oaipmhscraper.harvests.job import RECEIPTS
from oaipmhscraper.harvests.past_harvests import files_to_store, harvests_of
from oaipmhscraper.warc.elsewhere import Elsewhere, note_elsewhere, read_elsewhere
from politeweb.warc.files import warc_names
from recordsilo.disk.atomic_file import (
    StrictBarrier,
    digest_of,
    flush_directory,
    remove_file,
    write_new,
)
from recordsilo.disk.locks import Locks


@dataclass(slots=True)
class Moved:
    """What was moved, or found intact.

    Attributes:
        files: Number of WARC files.
        bytes: Their size.
        left: WARC files that stay here because their harvests have not ended, or pages of them
            are not stored yet.
        faults: Sentences on files that could not be moved, and are where they were; or that are
            not intact.
    """

    files: int = 0
    bytes: int = 0
    left: int = 0
    faults: list[str] = field(default_factory=list)


def archive(silo_path: str, address: str, moved: Moved, told: Told = int) -> None:
    """Move the WARC files of ended harvests of a Silo into an object store.

    Args:
        silo_path: The Silo's directory.
        address: Of the store; the files are put below the name of the Silo.
        moved: Gets what was moved, also if an error ends the call.
        told: Called with the bytes that were sent or read back since the last call.

    Raises:
        RequestRefused: Not a valid address.
        StoreFailed, StoreUnreachable: The store does not do its part.
        ArchiveRunning: Another process does the same.
        JournalUnreadable, ElsewhereUnreadable: The Silo's own lists are damaged.
        OSError: The disk refuses.
    """
    directory = os.path.join(silo_path, RECEIPTS)
    silo_name = os.fsencode(os.path.basename(os.path.realpath(silo_path)))
    place = f"{check_address(address)}/{quote(silo_name)}"
    with _alone(silo_path):
        closed = _closed(silo_path)
        moved.left += len(warc_names(directory)) - len(closed)
        if not closed:
            return
        store, known = ObjectStore(place), read_elsewhere(directory)
        for name in closed:
            with _unused(os.path.join(directory, name)) as file:
                if file is None:
                    moved.left += 1
                    continue
                found = Elsewhere(name, f"{place}/{name}", digest_of(file))
                try:
                    _send(store, file.name, found, told)
                except ObjectDiffers as error:
                    moved.faults.append(f"{error}; {file.name} stays here")
                    continue
                if known.get(name) != found:
                    note_elsewhere(directory, found)
                remove_file(file.name)
                moved.files += 1
                moved.bytes += found.digest.size


def bring_back(silo_path: str, moved: Moved, told: Told = int) -> None:
    """Bring back all WARC files of a Silo that are in an object store; they stay there, too.

    Args:
        silo_path: The Silo's directory.
        moved: Gets what was moved, also if an error ends the call.
        told: Called with the bytes that were read since the last call.

    Raises:
        StoreFailed, StoreUnreachable, ArchiveRunning, ElsewhereUnreadable, OSError: See `archive`.
    """
    directory = os.path.join(silo_path, RECEIPTS)
    with _alone(silo_path):
        for one in read_elsewhere(directory).values():
            path = os.path.join(directory, one.file)
            if os.path.lexists(path):
                continue
            try:
                _fetch(one, path, told)
            except ObjectDiffers as error:
                moved.faults.append(f"{path} cannot be brought back: {error}")
                continue
            moved.files += 1
            moved.bytes += one.digest.size


def verify(silo_path: str, moved: Moved, told: Told = int) -> None:
    """Read all WARC files of a Silo that are in an object store, and compare them.

    Nothing is written or deleted, here or there. A file that is on this disk, too, is also read
    in the store.

    Args:
        silo_path: The Silo's directory.
        moved: Gets the files that are intact, and faults of the others, also if an error ends
            the call.
        told: Called with the bytes that were read since the last call.

    Raises:
        StoreFailed, StoreUnreachable, ElsewhereUnreadable, OSError: See `archive`.
    """
    for one in read_elsewhere(os.path.join(silo_path, RECEIPTS)).values():
        try:
            ObjectStore(one.url).check(one.url, one.digest, told)
        except ObjectDiffers as error:
            moved.faults.append(str(error))
            continue
        moved.files += 1
        moved.bytes += one.digest.size


def _closed(silo_path: str) -> list[str]:
    """The names of the WARC files here whose harvests have ended, the oldest first.

    An update takes over the lists of an open harvest, which ends it, with pages that are still to
    be stored from its files.
    """
    closed: list[str] = []
    for one in harvests_of(silo_path):
        if one.receipt and not one.is_open:
            away = {found.file for found in one.elsewhere}
            closed += [name for name in one.files if name not in away]
    needed = files_to_store(silo_path)  # looked up last: a harvest that ended needs no more files
    return [name for name in closed if name not in needed]


def _send(store: ObjectStore, path: str, wanted: Elsewhere, told: Told) -> None:
    if not store.has(wanted.url):
        store.put(path, wanted.url, told)
    store.check(wanted.url, wanted.digest, told)


def _fetch(one: Elsewhere, path: str, told: Told) -> None:
    """Write a file under another name until it is compared and on the medium."""
    staged = f"{path}.tmp"
    if os.path.lexists(staged):  # of a kill
        os.unlink(staged)

    def pieces() -> Iterator[bytes]:
        for piece in ObjectStore(one.url).compared(one.url, one.digest):
            told(len(piece))
            yield piece

    try:
        write_new(staged, pieces(), StrictBarrier())
    except OSError as error:  # of a write, which does not name its file
        raise OSError(error.errno, error.strerror, staged) from error
    os.rename(staged, path)
    flush_directory(os.path.dirname(path))


@contextmanager
def _unused(path: str) -> Iterator[BinaryIO | None]:
    """Open a file and keep others from adding to it; None if somebody does."""
    with open(path, "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file


@contextmanager
def _alone(silo_path: str) -> Iterator[None]:
    """No other process moves the files of this Silo, for the time of the block."""
    with Locks.of_silo(silo_path).hold_name_if_free("archive") as is_free:
        if not is_free:
            raise ArchiveRunning(silo_path)
        yield
