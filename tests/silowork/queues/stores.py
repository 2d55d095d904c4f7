"""The stores of queues that pass the suite, each opened as often as a test likes."""

from collections.abc import Callable

from silowork.queues.opening import open_queues
from silowork.queues.values import Queues

Opened = Callable[..., Queues]


def store_at(address: str, *, lease: float = 60.0, most_tries: int = 5) -> Queues:
    """Open the store at an address once more."""
    path, broker = ("", address) if "://" in address else (address, "")
    return open_queues(path, broker, lease=lease, most_tries=most_tries)
