"""Errors of matching crawls: a class for each cause, with one sentence."""

from recordsilo.errors import RecordSiloError
from recordsilo.extras import needed
from recordsilo.wording import counted

_NEEDED = ("ada_url", "duckdb", "numpy")


class CrawlError(RecordSiloError):
    """Base class; the text is for the operator."""


class BadAddress(CrawlError, ValueError):
    """A text is not an address that a crawler could fetch.

    Attributes:
        reason: Why not, as a clause.
    """

    def __init__(self, address: str, reason: str) -> None:
        self.address, self.reason = address, reason
        super().__init__(f"{address!r} cannot be fetched: {reason}")


class ShardUnusable(CrawlError):
    """A directory cannot be used as a shard."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be used as a shard: {reason}")


class NothingUsed(CrawlError):
    """No line of any input, or of one that is given up, tells of a page."""

    def __init__(self, lines: int, name: str = "") -> None:
        self.lines, self.name = lines, name
        told = f"{name} tells" if name else "the inputs tell"
        super().__init__(
            f"{told} of no page ({counted(lines, 'line')}, 0 used); give crawl logs, indexes, "
            "WARCs or shards. Nothing was stored, and an earlier result stays"
        )


class NoAddresses(CrawlError):
    """A list of seeds has no address, for example identifiers alone."""

    def __init__(self, name: str, seeds: int) -> None:
        self.name, self.seeds = name, seeds
        none = "the seed is not" if seeds == 1 else f"none of the {seeds:,} seeds is"
        super().__init__(
            f"{name}: {none} an address; a line has an address, a tab and an identifier, as"
            " silo crawl seeds writes it. Nothing was stored"
        )


class CrawlNotFound(CrawlError):
    """The Silo has no crawl of that name, or the crawl nothing about an address."""


def check_extra() -> None:
    """Check that the packages of the extra are installed.

    Raises:
        PackageMissing: One is not.
    """
    for package in _NEEDED:
        needed(package, "silo crawl", "crawl")
