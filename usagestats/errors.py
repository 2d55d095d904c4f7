"""Errors of this package: a class for each cause, with one sentence."""


class UsageError(Exception):
    """Base class; the text is for the operator."""


class CountsUnreadable(UsageError):
    """A file of counts cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be read: {reason}")
