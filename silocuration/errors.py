"""What can go wrong while curating: one tree, each message one sentence."""


class CurationError(Exception):
    """Base of everything this package raises by itself."""


class NoFields(CurationError):
    """A metadata file is not one whose fields can be edited one by one.

    Attributes:
        reason: Why not, in words.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the metadata file {reason}; edit it as XML")


class UnknownField(NoFields):
    """A metadata format has no field of a name, and a value was to be written into it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        CurationError.__init__(self, reason)


class RuleRefused(CurationError, ValueError):
    """A rule that means nothing; nothing was changed."""


class RuleNotFound(RuleRefused):
    """There is no kept rule of that name."""


class PatternTooSlow(CurationError):
    """A pattern that does not come to an end on a value in the time allowed.

    Attributes:
        pattern: The pattern.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        super().__init__(
            f"the pattern {pattern!r} takes too long; nested repetitions such as (a+)+ do that,"
            " and long patterns on long values"
        )


class RecordTooSlow(CurationError):
    """Rules that do not come to an end on a record in the time allowed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the changes take more than {seconds:g} seconds on one record; use fewer or simpler"
            " patterns"
        )


class TooMuch(CurationError):
    """A record that a rule would make too large; the message says what it would get."""


class JobNotFound(CurationError):
    """There is no job of that id."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"there is no job {job_id!r}")


class JobUnreadable(CurationError):
    """A job's journal cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"the journal {path} cannot be used: {reason}")


class JobBusy(CurationError):
    """Somebody else is at work on the job."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        super().__init__(f"the job {job_id} is being worked on by another process")


class SpreadsheetRefused(CurationError, ValueError):
    """A spreadsheet that cannot be understood; nothing was changed."""


class SheetChanged(CurationError):
    """A file exists where a sheet is to go, and is not the one last exported there."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} is not as this Silo exported it last, and was left as it is; replace it "
            "with --on-conflict overwrite, or choose another name"
        )


class UpstreamRefused(CurationError):
    """A decision about a record that there is nothing to decide about, or not so."""

    def __init__(self, identifier: str, reason: str) -> None:
        self.identifier = identifier
        self.reason = reason
        super().__init__(f"{identifier} {reason}")


class MarkRefused(CurationError, ValueError):
    """A mark that says nothing sensible; nothing was changed."""
