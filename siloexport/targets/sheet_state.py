"""What a directory of records notes about its table (`siloexport.targets.sheet`)."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from recordsilo.disk.atomic_file import replace_file
from recordsilo.disk.regular_file import regular_fd
from siloexport.targets.directory import NOTES

_STATE = "table.json"
_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class SheetState:
    """What the directory notes about its table.

    Attributes:
        known: The SHA-256 of the table written last, and of one that may replace it.
        is_current: Whether nothing changed since.
        day: On which it was written.
        settings: With which.
        until: The day on which the first embargo in it ends; or ``""``.
    """

    known: tuple[str, ...] = ()
    is_current: bool = False
    day: str = ""
    settings: str = ""
    until: str = ""

    def holds(self, settings: str, day: str) -> bool:
        """Whether the table is what would be written now."""
        return self.is_current and self.settings == settings and not "" < self.until <= day


def read_state(directory: str) -> SheetState:
    """Return what is noted; nothing if the note is missing or unreadable."""
    try:
        with open(f"{directory}/{NOTES}/{_STATE}", "rb", opener=regular_fd) as file:
            found: dict[str, Any] = json.loads(file.read(_MAX))
        known = tuple(map(str, found["known"]))
        texts = (str(found[one]) for one in ("day", "settings", "until"))
        return SheetState(known, found["is_current"] is True, *texts)
    except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
        return SheetState()


def note_state(directory: str, state: SheetState) -> None:
    """Note it durably."""
    content = f"{json.dumps(asdict(state), indent=1)}\n".encode()
    replace_file(f"{directory}/{NOTES}/{_STATE}", content)
