"""What can be wrong with the index of all Silos."""

from recordsilo.errors import RecordSiloError


class IndexUnusable(RecordSiloError):
    """The index of all Silos is missing, damaged or of another release."""

    def __init__(self, path: str, reason: object) -> None:
        self.path, self.reason = path, str(reason)
        super().__init__(
            f"the index of all Silos {path} cannot be used ({self.reason}); "
            "`silo fleet index --rebuild` makes it again"
        )


class IndexNotWritten(RecordSiloError):
    """Feeding failed; the index is as it was after the last commit."""

    def __init__(self, path: str, reason: str, free_bytes: int) -> None:
        self.path = path
        room = f"; its disk has {free_bytes >> 20:,} MiB left" if free_bytes < 1 << 30 else ""
        super().__init__(
            f"the index of all Silos {path} cannot be written ({reason}{room}); it is as it was "
            "after the last commit, and the same command continues"
        )


class FeedingBusy(RecordSiloError):
    """Another process feeds the index."""

    def __init__(self, path: str) -> None:
        super().__init__(f"another process feeds the index of all Silos {path}; wait for its end")


class TooManySilos(RecordSiloError):
    """There are too many Silos to ask each, and no index."""

    def __init__(self, directory: str, number: int) -> None:
        super().__init__(
            f"{number:,} Silos are too many to ask each; make an index of all first: "
            f"silo fleet index {directory}"
        )


class TokenRefused(RecordSiloError):
    """A token for the search of a node cannot be used or kept."""
