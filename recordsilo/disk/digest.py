"""What a file's bytes are known by."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Digest:
    """SHA-256 in lower-case hex, and the size in bytes."""

    sha256: str
    size: int
