"""What a queue holds (pure)."""

from dataclasses import dataclass, field

from silowork.queues.values import Queued


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """Some lines that were put into the queue at once.

    Attributes:
        entry_id: The same whenever the entry is delivered; ``""`` is never delivered again.
        lines: Without their LF.
        format: `Reader.spec` of the log; ``""`` if it is not known.
        message: How it is in the queue; None without one.
    """

    entry_id: str
    lines: tuple[bytes, ...]
    format: str = ""
    message: Queued | None = field(default=None, compare=False)
