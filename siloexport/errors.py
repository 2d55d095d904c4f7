"""What can go wrong in a re-export: one class for each cause; one sentence for the operator."""


class ExportError(Exception):
    """Anything the export refuses or cannot do."""


class TargetUnusable(ExportError):
    """The target as a whole cannot be used, or cannot any more; a run stops, and can go on."""


class CredentialsRefused(TargetUnusable):
    """The target wants other credentials."""


class TargetFull(TargetUnusable):
    """The target has no room left; what was deposited is there."""


class DepositFailed(ExportError):
    """One record could not be exported; the others go on."""

    def __init__(self, identifier: str, reason: str) -> None:
        self.identifier, self.reason = identifier, reason
        super().__init__(f"record {identifier} was not exported: {reason}")


class SourceChanged(DepositFailed):
    """A file's bytes are not those the manifest lists: it is damaged, or being edited now."""

    def __init__(self, identifier: str, version: str, path: str) -> None:
        self.version, self.path = version, path
        super().__init__(
            identifier,
            f"{path} of version {version} is not what the manifest lists; see `silo check`",
        )


class RetryLater(DepositFailed):
    """It may work in a moment, as a whole and anew: a lock, a lost connection, a busy server.

    Attributes:
        after: Seconds the target asked to wait; None where it did not say.
    """

    def __init__(self, identifier: str, reason: str, after: float | None = None) -> None:
        self.after = after
        super().__init__(identifier, reason)


class Conflict(DepositFailed):
    """The target holds something other than this export left there."""


class FileChanged(ExportError):
    """A file is in the way that is not what was exported there last."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(
            f"{path} is not as this Silo exported it last, and was left as it is; replace it "
            "with --on-conflict overwrite, or choose another name"
        )


class CannotTakeBack(ExportError):
    """Something a run created is not as the run left it, and stays."""


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
    """Another run to the same target is at work."""
