"""The stores of queues that pass the suite, each opened as often as a test likes."""

from collections.abc import Callable

from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Queues

Opened = Callable[..., Queues]


def store_at(address: str, *, lease: float = 60.0, most_tries: int = 5) -> Queues:
    """Open the store at an address once more."""
    return SqliteQueues(address, lease=lease, most_tries=most_tries)
