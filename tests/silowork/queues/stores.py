"""The stores of queues that pass the suite, each opened as often as a test likes."""

from collections.abc import Callable

import redis

from silowork.errors import QueueUnreachable
from silowork.queues.redis_streams import RedisKind, RedisQueues
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Queues

Opened = Callable[..., Queues]
KIND = RedisKind(lambda error: QueueUnreachable("redis", str(error)))


def store_at(address: str, *, lease: float = 60.0, most_tries: int = 5) -> Queues:
    """Open the store at an address once more."""
    if "://" in address:
        client = redis.Redis.from_url(address)
        return RedisQueues(client, KIND, lease=lease, most_tries=most_tries)
    return SqliteQueues(address, lease=lease, most_tries=most_tries)
