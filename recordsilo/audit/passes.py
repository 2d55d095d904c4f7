"""How far an audit came, so that the next one can go on: ``.silo/check.json``."""

import contextlib
import json
from dataclasses import asdict, dataclass, fields, replace

from recordsilo.audit.check import Step
from recordsilo.audit.findings import Severity
from recordsilo.disk import atomic_file

FILE = ".silo/check.json"
_TYPES = {"seed": str, "share": float, "place": str | None, "records": int, "hashed": int,
          "bytes_read": int, "warnings": int, "damage": int}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pass:
    """One audit of a whole Silo, in one run or in several.

    Attributes:
        seed: Draws the records whose bytes are read.
        share: How many of them.
        place: The directory up to which all is checked; None before the first.
        records: Checked so far.
        hashed: Those of them whose bytes were read.
        warnings: Found so far, and `damage`.
    """

    seed: str
    share: float = 1.0
    place: str | None = None
    records: int = 0
    hashed: int = 0
    bytes_read: int = 0
    warnings: int = 0
    damage: int = 0

    def after(self, step: Step) -> "Pass":
        """The pass after one more step."""
        damage = sum(finding.severity is Severity.DAMAGE for finding in step.findings)
        return replace(
            self,
            place=self.place if step.place is None else step.place,
            records=self.records + step.records,
            hashed=self.hashed + (step.records if step.hashed else 0),
            bytes_read=self.bytes_read + step.bytes_read,
            warnings=self.warnings + len(step.findings) - damage,
            damage=self.damage + damage,
        )


def load(silo: str) -> Pass | None:
    """The pass that was broken off; None if there is none, or if it cannot be read."""
    try:
        with open(f"{silo}/{FILE}", "rb") as file:
            found = json.load(file)
        known = {one.name: found[one.name] for one in fields(Pass)}
        if any(not isinstance(known[name], kind) for name, kind in _TYPES.items()):
            return None
        return Pass(**known)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def save(silo: str, so_far: Pass) -> bool:
    """Note how far the audit came; False where the Silo cannot be written."""
    try:
        atomic_file.make_parents(f"{silo}/{FILE}")
        atomic_file.replace_file(f"{silo}/{FILE}", json.dumps(asdict(so_far)).encode())
    except OSError:
        return False
    return True


def forget(silo: str) -> None:
    """The pass is over."""
    with contextlib.suppress(OSError):
        atomic_file.remove_tree(f"{silo}/{FILE}")
