"""What can go wrong with jobs: each message one sentence."""


class JobsError(Exception):
    """Base of what this room raises."""


class NoSuchJob(JobsError):
    """There is no job of that id."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"there is no job {job_id!r}")


class JobRefused(JobsError, ValueError):
    """A job that cannot be begun so, or an action that its state does not allow."""


class LedgerUnreadable(JobsError):
    """The ledger of jobs cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"the ledger of jobs {path} cannot be used: {reason}")


class QueueUnreachable(JobsError):
    """Nobody could be told that there is a job to do; it waits."""

    def __init__(self, broker: str, reason: str) -> None:
        self.broker = broker
        super().__init__(f"the queue {broker} cannot be reached ({reason})")


class Interrupted(JobsError):
    """The job was asked to end before its time; what it did is kept."""
