"""What can go wrong in a re-export; each message is one sentence for the operator."""


class ExportError(Exception):
    """Anything the export refuses or cannot do."""


class TargetUnusable(ExportError):
    """The target as a whole cannot be used; nothing was written to it."""


class DepositFailed(ExportError):
    """One record could not be exported; the others go on."""

    def __init__(self, identifier: str, reason: str) -> None:
        self.identifier, self.reason = identifier, reason
        super().__init__(f"record {identifier} was not exported: {reason}")
