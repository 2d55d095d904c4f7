"""What can go wrong when crawls are matched: one class each, one sentence each."""

from recordsilo.errors import RecordSiloError


class CrawlError(RecordSiloError):
    """Anything that cannot be done with a crawl; its text is meant for the operator."""


class BadAddress(CrawlError, ValueError):
    """A text is no address that a crawler could fetch.

    Attributes:
        address: The text.
        reason: Why, in words after "it" or a name.
    """

    def __init__(self, address: str, reason: str) -> None:
        self.address, self.reason = address, reason
        super().__init__(f"{address!r} is no address that can be fetched: {reason}")


class ShardUnusable(CrawlError):
    """A directory cannot be taken as a shard."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be taken as a shard: {reason}")


class CrawlNotFound(CrawlError):
    """The Silo keeps no crawl of that name, or nothing about an address."""
