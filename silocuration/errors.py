"""Errors of curation: one tree, each message one sentence."""


class CurationError(Exception):
    """Base of the errors of this package."""


class NoFields(CurationError):
    """The fields of a metadata file cannot be edited individually.

    Attributes:
        reason: Why not, for people.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the metadata file {reason}; edit it as XML")


class UnknownField(NoFields):
    """A value was to be written to a field that the metadata format does not have."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        CurationError.__init__(self, reason)


class RuleRefused(CurationError, ValueError):
    """An invalid rule; nothing was changed.

    Attributes:
        reason: What is wrong.
        change: The number of the change that is wrong, from 1; 0 if it is not known.
        part: The key of a rule file that is wrong, such as ``pattern``; may be empty.
    """

    def __init__(self, reason: str, *, change: int = 0, part: str = "") -> None:
        self.reason, self.change, self.part = reason, change, part
        super().__init__(f"change {change}: {reason}" if change else reason)


class RuleNotFound(RuleRefused):
    """There is no stored rule with that name."""


class PatternTooSlow(CurationError):
    """A pattern exceeds the time limit on a value."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        super().__init__(
            f"the pattern {pattern!r} takes too long; the usual cause is nested"
            " repetitions such as (a+)+, or a long pattern on long values"
        )


class RecordTooSlow(CurationError):
    """Rules exceed the time limit on a record."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the changes take more than {seconds:g} seconds on one record; use fewer or simpler"
            " patterns"
        )


class TooMuch(CurationError):
    """A rule would make a record too large; the message says how."""


class JobNotFound(CurationError):
    """There is no job with that id."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"there is no job {job_id!r}")


class JobUnreadable(CurationError):
    """A job's journal cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"the journal {path} cannot be used: {reason}")


class JobBusy(CurationError):
    """Another process is working on the job."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"the job {job_id} is being worked on by another process")


class SpreadsheetRefused(CurationError, ValueError):
    """An invalid spreadsheet; nothing was changed."""


class SheetChanged(CurationError):
    """The file at the path of an export is not the one last exported there."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} has changed since this Silo exported it, and was left as it is; replace it "
            "with --on-conflict overwrite, or choose another name"
        )


class UpstreamRefused(CurationError):
    """A decision that is not possible for this record."""

    def __init__(self, identifier: str, reason: str) -> None:
        self.identifier = identifier
        self.reason = reason
        super().__init__(f"{identifier} {reason}")


class MarkRefused(CurationError, ValueError):
    """An invalid mark; nothing was changed."""
