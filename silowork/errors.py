"""Errors of jobs and queues; each message is one sentence."""

from recordsilo.errors import RecordSiloError


class JobsError(Exception):
    """Base of the errors of this package."""


class NoSuchJob(JobsError):
    """There is no job of that id."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"there is no job {job_id!r}")


class JobRefused(JobsError, ValueError):
    """A job that cannot be started in this way, or an action that its state does not allow.

    Attributes:
        field: The field of a form that is wrong; empty if none is named.
    """

    def __init__(self, sentence: str, field: str = "") -> None:
        self.field = field
        super().__init__(sentence)


class LedgerUnreadable(JobsError):
    """The ledger of jobs cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"the ledger of jobs {path} cannot be used: {reason}")


def without_login(url: str) -> str:
    """Return an address of a broker to show to people, without user and password."""
    scheme, _, rest = url.rpartition("//")
    return f"{scheme}//{rest.rpartition('@')[2]}"


class QueueUnreachable(JobsError, RecordSiloError):
    """A broker cannot be reached; jobs and messages wait."""

    def __init__(self, broker: str, reason: str) -> None:
        self.broker = broker
        super().__init__(f"the queue {broker} cannot be reached ({reason})")


class Interrupted(JobsError):
    """The job was interrupted; what it has done is stored."""


class QueuesUnreadable(JobsError, RecordSiloError):
    """A file of queues cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"the queues {path} cannot be used: {reason}")
