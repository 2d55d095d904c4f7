"""Errors of crawls: a class for each cause, with one sentence."""

from recordsilo.errors import RecordSiloError


class CrawlingError(RecordSiloError):
    """Base class; the text is for the operator."""


class TargetRefused(CrawlingError, ValueError):
    """A target that cannot be crawled as it is wished."""


class TargetNotFound(TargetRefused):
    """There is no target of that name."""

    def __init__(self, name: str, there: list[str]) -> None:
        self.name = name
        known = ", ".join(there[:20]) or "none"
        super().__init__(f"there is no target {name!r}; those here: {known}")


class MessageInvalid(CrawlingError, ValueError):
    """The body of a message that is not in the form of its queue."""
