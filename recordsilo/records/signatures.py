"""Lines of a version's log, which say when, who and why: ``text [2026-03-01T… ann: why]``. Pure."""

import re
from typing import NamedTuple

_SIGNED = re.compile(r" \[(\d{4}-\d\d-\d\dT[\d:.]+) ([^:\]]*)(?:: (.*))?\]$", re.DOTALL)
_STATE = re.compile(r"State set to (in work|ready|withheld|none) \[")


class Signature(NamedTuple):
    """When, who and why."""

    at: str
    agent: str
    message: str


def signed_in(line: str) -> Signature | None:
    """The signature of a line; None if it has none."""
    found = _SIGNED.search(line)
    return None if found is None else Signature(found[1], found[2], found[3] or "")


def state_told(line: str) -> tuple[str | None] | None:
    """The state that a line says was set; None if it says nothing of a state."""
    found = _STATE.match(line)
    if found is None:
        return None
    return (None if found[1] == "none" else found[1],)
