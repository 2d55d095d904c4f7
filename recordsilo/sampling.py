"""Select a share of the records, the same for the same seed. Pure."""

import hashlib


def share_of(text: str) -> float:
    """Read a share such as ``10%`` or ``0.1``; more than 0 and at most 1.

    Raises:
        ValueError: The text is malformed, or out of range.
    """
    number = float(text.removesuffix("%"))
    share = number / 100 if text.endswith("%") else number
    if not 0 < share <= 1:
        raise ValueError(f"{text!r} is not a share")
    return share


def is_drawn(seed: str, identifier: str, share: float) -> bool:
    """Whether a record belongs to the share; all have the same probability.

    Args:
        seed: A different seed selects different records.
        share: The fraction of all records to select, 0 to 1.
    """
    if share >= 1:
        return True
    drawn = hashlib.sha256(f"{seed}\0{identifier}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(drawn[:8]) < share * 2**64
