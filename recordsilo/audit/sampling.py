"""A share of the records, drawn alike by whoever knows the seed. Pure."""

import hashlib


def share_of(text: str) -> float:
    """A share from ``10%`` or ``0.1``; more than nothing, at most all.

    Raises:
        ValueError: It is neither.
    """
    number = float(text.removesuffix("%"))
    share = number / 100 if text.endswith("%") else number
    if not 0 < share <= 1:
        raise ValueError(f"{text!r} is not a share")
    return share


def is_drawn(seed: str, identifier: str, share: float) -> bool:
    """Whether a record belongs to the share; each does with the same chance.

    Args:
        seed: Another one draws other records.
        identifier: Of the record.
        share: The part of all records that is drawn, 0 to 1.
    """
    if share >= 1:
        return True
    drawn = hashlib.sha256(f"{seed}\0{identifier}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(drawn[:8]) < share * 2**64
