"""Errors of an export: a class for each cause, with one sentence for the operator."""


class ExportError(Exception):
    """Base class of the errors of an export."""


class TargetUnusable(ExportError):
    """The target cannot be used, or no longer; the run stops and can be resumed."""


class CredentialsRefused(TargetUnusable):
    """The target refuses the credentials."""


class TargetFull(TargetUnusable):
    """The target has no space left; earlier deposits are kept."""


class DepositFailed(ExportError):
    """One record could not be exported; the run continues with the others."""

    def __init__(self, identifier: str, reason: str) -> None:
        self.identifier, self.reason = identifier, reason
        super().__init__(f"record {identifier} was not exported: {reason}")


class SourceChanged(DepositFailed):
    """A file differs from its digest in the manifest: it is damaged or being edited."""

    def __init__(self, identifier: str, version: str, path: str) -> None:
        self.version, self.path = version, path
        super().__init__(
            identifier,
            f"{path} of version {version} differs from its entry in the manifest; run `silo check`",
        )


class RetryLater(DepositFailed):
    """A whole new attempt may succeed later: a lock, a lost connection, a busy server.

    Attributes:
        after: How many seconds the target asked to wait; None if it did not say.
    """

    def __init__(self, identifier: str, reason: str, after: float | None = None) -> None:
        self.after = after
        super().__init__(identifier, reason)


class Conflict(DepositFailed):
    """The record in the target is not as this export left it."""


class FileChanged(ExportError):
    """The file to write exists and differs from what was exported there last, if anything was."""

    def __init__(self, path: str, *, was_exported: bool) -> None:
        self.path = path
        changed = "has changed since this Silo exported it"
        why = changed if was_exported else "was not exported by this Silo"
        super().__init__(
            f"{path} {why}, and was left as it is; overwrite it, or choose another name"
        )


class FileOfOtherKind(ExportError):
    """The file to write was exported there last, as another kind."""

    def __init__(self, path: str, held: str, form: str) -> None:
        self.path = path
        super().__init__(
            f"{path} holds an export as {held}, and was left as it is; choose another name for "
            f"{form}, or overwrite it"
        )


class HoldsNewer(ExportError):
    """Records as they were are to be exported where newer ones are."""

    def __init__(self, target: str, as_of: str, latest: str) -> None:
        self.target = target
        when = f"of {latest}" if latest else "of a time that the ledger does not know"
        super().__init__(
            f"{target} holds records {when}, and an export as of {as_of} would replace them by "
            "older ones; export to another place"
        )


class CannotTakeBack(ExportError):
    """An object that a run created was changed since, and is kept."""


class StillUsed(CannotTakeBack):
    """What several records share is still used by others, and is kept for them."""


class RunNotFound(ExportError):
    """The ledger has no such run."""


class LedgerUnreadable(ExportError):
    """The file is not a ledger, or is corrupt."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(
            f"the ledger {path} cannot be read ({reason}); move it away and rebuild it with "
            "`silo export … reconcile`"
        )


class LedgerInUse(ExportError):
    """Another run to the same target has not ended."""
