"""Errors of the visitor profile."""

from usagestats.errors import UsageError


class DeadLetter(UsageError):
    """An event cannot be processed; the text is the reason, without the event's content."""


class StreamUnusable(UsageError):
    """Kafka or Redis cannot be used; the same command continues later."""
