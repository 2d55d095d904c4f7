"""How workers are notified of jobs: by a broker, through Celery.

A message contains only a job's id. A lost or repeated message is harmless, because the
ledger has the jobs. Without a broker, the worker polls the ledger.
Each Silo has its own queue, so that several can share a broker.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from silowork.errors import QueueUnreachable, without_login
from silowork.ledger import JobLedger

if TYPE_CHECKING:
    from celery import Celery

TASK = "silo.job"
WORKER_LOCK = "worker"
"""The lock that a worker on this machine holds: always that of its own Silo or directory, and that
of a Silo in the directory while jobs of it run."""
_SECONDS_TO_REACH = 2.0
_SECONDS_TO_ANSWER = 10.0


@dataclass(frozen=True, slots=True)
class Broker:
    """Where messages are sent.

    Attributes:
        silo_path: The Silo's directory; for a worker also a directory of Silos.
        url: Such as ``redis://127.0.0.1:6379/0``; empty if workers poll the ledger.
    """

    silo_path: str
    url: str = ""

    @property
    def shown(self) -> str:
        """The URL to show to people, without a password."""
        return without_login(self.url)

    @property
    def folder(self) -> str:
        """The directory for the log of the worker that `silo serve` starts."""
        return os.path.join(self.silo_path, ".silo", "queue")

    def queue(self) -> str:
        """Return the name of the Silo's own queue, the same for all its workers.

        The ledger's id distinguishes Silos in directories of the same name on two machines;
        the directory distinguishes a Silo from its copy.

        Raises:
            LedgerUnreadable: The ledger cannot be read or created.
        """
        place = os.path.realpath(self.silo_path).encode("utf-8", "surrogateescape")
        identity = JobLedger(self.silo_path).ledger_id().encode() + place
        return f"silo-{hashlib.sha256(identity).hexdigest()[:32]}"

    def app(self, queue: str = "") -> "Celery":
        """Return the Celery application for this broker; opens nothing.

        It has no tasks, not even Celery's own: whoever writes into the broker could call them.

        Args:
            queue: The queue to send to and receive from; empty for neither.

        Cost: the first call loads Celery, of the extra ``fleet``.
        """
        from celery import Celery  # noqa: PLC0415  # see Cost

        app = Celery("silo", set_as_current=False, broker=self.url)
        app.conf.update(
            accept_content=["json"],
            task_serializer="json",
            task_ignore_result=True,
            task_default_queue=queue,
            task_create_missing_queues=True,
            broker_connection_retry_on_startup=True,
            broker_transport_options={
                "socket_connect_timeout": _SECONDS_TO_REACH,
                "socket_timeout": _SECONDS_TO_ANSWER,  # else nothing ends a wait on a dead line
                "visibility_timeout": 86400,
            },
            worker_enable_remote_control=False,
            worker_hijack_root_logger=False,
            worker_redirect_stdouts=False,
            worker_prefetch_multiplier=1,
            worker_send_task_events=False,
            enable_utc=True,
        )
        for name in list(app.tasks):
            app.tasks.unregister(name)
        return app


class Sender:
    """Notifies workers of jobs."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def send(self, job_id: str) -> None:
        """Notify a worker of a job.

        Raises:
            QueueUnreachable: The broker cannot be reached.
            LedgerUnreadable: See `Broker.queue`.
        """
        with self._connected(self._broker.queue()) as (app, connection):
            app.send_task(TASK, (job_id,), connection=connection, retry=False)

    def reach(self) -> None:
        """Check that the broker can be reached.

        Raises:
            QueueUnreachable: It cannot be reached.
        """
        with self._connected():
            pass

    @contextmanager
    def _connected(self, queue: str = "") -> Iterator[tuple["Celery", Any]]:
        from kombu.exceptions import KombuError  # noqa: PLC0415  # see `Broker.app`

        try:
            app = self._broker.app(queue)
            with app.connection_for_write() as connection:
                connection.ensure_connection(
                    max_retries=1, interval_start=0, timeout=_SECONDS_TO_REACH
                )
                yield app, connection
        except (KombuError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise QueueUnreachable(self._broker.shown, reason) from None
