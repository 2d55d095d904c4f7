"""The worker process that `silo serve` starts, and restarts if it dies."""

import errno
import logging
import os
import subprocess
import threading
from typing import IO, Self

from recordsilo.child_process import SECONDS_TO_END
from recordsilo.closing import Closing
from recordsilo.disk.atomic_file import make_in_silo, make_within
from recordsilo.errors import VERSION_FILE
from silowork.broker import Broker
from silowork.children import Child, ask_to_end, ended, started

LOG = "worker.log"
_LONGEST_LOG = 1024 * 1024
_FIRST_REST, _LONGEST_REST = 0.5, 30.0

logger = logging.getLogger("silowork")


class EmbeddedWorker(Closing):
    """Runs a worker process during a ``with`` block, and restarts it if it dies.

    Attributes:
        broker: Of the Silo, or of the directory of Silos, that it works for.
    """

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        is_silo = os.path.lexists(os.path.join(broker.silo_path, VERSION_FILE))
        self._make = make_in_silo if is_silo else make_within
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._process: Child | None = None
        self._thread = threading.Thread(target=self._keep, name="worker", daemon=True)

    @property
    def pid(self) -> int | None:
        """The id of the running process; None while none runs."""
        with self._lock:
            return self._process.pid if self._process else None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """End the worker and its jobs' processes; the next worker continues the jobs."""
        self._ending.set()
        with self._lock:
            if self._process:
                ask_to_end(self._process)
                self._process.terminate()  # it does not read the pipe before it is loaded
        self._thread.join()

    def _keep(self) -> None:
        rest = _FIRST_REST
        while not self._ending.is_set():
            try:
                how = f"the worker ended with {self._run_one()}; starting another"
            except OSError as error:
                if error.errno == errno.EROFS:  # the page can be read, and nothing is to be done
                    logger.info("the Silo is read-only, so no jobs run")
                    return
                how = f"no worker can be started, so jobs wait: {error}"
            if not self._ending.is_set():
                logger.error(how)
                self._ending.wait(rest)
                rest = min(2 * rest, _LONGEST_REST)

    def _run_one(self) -> int:
        self._make(self.broker.silo_path, self.broker.folder)
        with open(_log_path(self.broker), "ab") as log:
            process = self._start(log)
        try:
            while True:
                try:
                    return process.wait(0.5)
                except subprocess.TimeoutExpired:
                    if self._ending.is_set():
                        return ended(process, SECONDS_TO_END + 8.0)
        finally:
            with self._lock:
                self._process = None
                ask_to_end(process)

    def _start(self, log: IO[bytes]) -> Child:
        with self._lock:
            self._process = started("work", self.broker.silo_path, log=log)
            if self._ending.is_set():
                ask_to_end(self._process)
            return self._process


def _log_path(broker: Broker) -> str:
    """The path of the worker's log; a long log is renamed to `.old` first."""
    path = os.path.join(broker.folder, LOG)
    if os.path.exists(path) and os.path.getsize(path) > _LONGEST_LOG:
        os.replace(path, path + ".old")
    return path
