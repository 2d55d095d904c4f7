"""Which processes are running, as /proc tells."""

from contextlib import suppress
from pathlib import Path


def descendants_of(pid: int) -> list[int]:
    """The children of a process, theirs, and so on; those that end meanwhile may be left out."""
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):  # its thread has ended
                for child in map(int, children.read_text(encoding="ascii").split()):
                    found += [child, *descendants_of(child)]
    return found


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended is a zombie until its parent takes note."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
