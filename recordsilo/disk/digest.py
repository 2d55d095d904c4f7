"""Size and checksum of a file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Digest:
    """A file's SHA-256 in lower-case hex, and its size in bytes."""

    sha256: str
    size: int
