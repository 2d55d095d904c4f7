"""The position of an unfinished audit, so that it can be resumed: ``.silo/check.json``."""

import contextlib
import json
from dataclasses import asdict, dataclass, fields, replace

from recordsilo.audit.check import AuditStep
from recordsilo.audit.findings import Severity
from recordsilo.disk import atomic_file
from recordsilo.disk.regular_file import regular_fd

FILE = ".silo/check.json"
_TYPES = {"seed": str, "share": float, "place": str | None, "records": int, "hashed": int,
          "bytes_read": int, "warnings": int, "damage": int}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pass:
    """One audit of a whole Silo, in one run or in several.

    Attributes:
        seed: Selects the records whose bytes are read.
        share: The share of such records.
        place: The directory up to which everything is checked; None before the first.
        records: Number of records checked so far.
        hashed: Number of those whose bytes were read.
        warnings, damage: Number of findings so far.
    """

    seed: str
    share: float = 1.0
    place: str | None = None
    records: int = 0
    hashed: int = 0
    bytes_read: int = 0
    warnings: int = 0
    damage: int = 0

    def after(self, step: AuditStep) -> "Pass":
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
    """The unfinished pass; None if there is none, or if it cannot be read."""
    try:
        with open(f"{silo}/{FILE}", "rb", opener=regular_fd) as file:
            found = json.load(file)
        known = {one.name: found[one.name] for one in fields(Pass)}
        if any(not isinstance(known[name], kind) for name, kind in _TYPES.items()):
            return None
        return Pass(**known)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def save(silo: str, so_far: Pass) -> bool:
    """Save the position of the audit; False if the Silo is not writable."""
    try:
        atomic_file.make_parents(f"{silo}/{FILE}", silo)
        atomic_file.replace_file(f"{silo}/{FILE}", json.dumps(asdict(so_far)).encode())
    except OSError:
        return False
    return True


def forget(silo: str) -> None:
    """Delete the saved position of a finished pass."""
    with contextlib.suppress(OSError):
        atomic_file.remove_tree(f"{silo}/{FILE}")
