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
