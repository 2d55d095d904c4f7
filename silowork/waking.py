"""A worker learns at once that a job waits, by a datagram from the process that stored the job.

A message that is lost does no harm, as the worker polls the ledgers, nor does a false one: a ledger
is read in vain. Linux has names of sockets that are no files; elsewhere nothing is told, nor to
another container.
"""

import contextlib
import hashlib
import os
import socket
from collections.abc import Iterator
from multiprocessing.connection import wait

from recordsilo.closing import Closing

LONGEST_NAME = 1024


def wake(silo_path: str) -> None:
    """Tell the workers of a Silo, and of the directory it is in, to look at its ledger now."""
    path = os.path.abspath(silo_path)
    with _socket() as told:
        for place in (path, os.path.dirname(path)):
            with contextlib.suppress(OSError):  # no worker, or one that has not heard a lot yet
                told.sendto(os.fsencode(os.path.basename(path)), _address(place))


class Waking(Closing):
    """Hears of Silos that have jobs; one thread uses it.

    Args:
        path: The Silo, or the directory of Silos, of a worker.
    """

    def __init__(self, path: str) -> None:
        self._socket = _socket()
        with contextlib.suppress(OSError):
            self._socket.bind(_address(path))

    def wait(self, seconds: float) -> set[str]:
        """Wait until something is heard, at most for this time; return the names of the Silos."""
        wait([self._socket], seconds)
        return set(self._heard())

    def _heard(self) -> Iterator[str]:
        with contextlib.suppress(OSError):
            while name := self._socket.recv(LONGEST_NAME):
                yield os.fsdecode(name)

    def close(self) -> None:
        """Hear nothing any more."""
        self._socket.close()


def _socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made


def _address(path: str) -> bytes:
    """Of the worker of a directory: a name in Linux's own space, so no file."""
    place = os.fsencode(os.path.realpath(path))
    return b"\0silo-jobs-" + hashlib.sha256(place).hexdigest()[:32].encode()
