"""Opens the queues of a package: in a file, or in a Redis if there is one for many machines."""

import os

from recordsilo.extras import needed
from silowork.errors import QueueUnreachable, without_login
from silowork.queues.redis_streams import RedisKind, RedisQueues
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.values import Queues

_SECONDS_TO_ANSWER = 30.0


def open_queues(
    path: str, broker: str = "", *, prefix: str = "silo", lease: float = 60.0, most_tries: int = 5
) -> Queues:
    """Open queues; a `functools.partial` of this can be given to the children of `run_steps`.

    Args:
        path: Of the file; its directory is made if it does not exist.
        broker: Of a Redis, such as ``redis://127.0.0.1:6379/0``; the file is not used then.
        prefix: Begins the keys in the Redis: other queues have another one.
        lease: Seconds after which a message is taken again; leases are renewed while steps work.
        most_tries: A message that was taken so often is a dead letter when it fails; 0: never.

    Raises:
        PackageMissing: There is a broker, and the package redis is not installed.
        QueueUnreachable: The address of the broker is wrong; it is reached at the first use.
        OSError: The directory cannot be made.
    """
    if not broker:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        return SqliteQueues(path, lease=lease, most_tries=most_tries)
    redis, shown = needed("redis", "a broker", "fleet"), without_login(broker)
    try:
        client = redis.Redis.from_url(broker, socket_timeout=_SECONDS_TO_ANSWER)
    except ValueError as error:
        raise QueueUnreachable(shown, str(error)) from None
    kind = RedisKind(lambda error: QueueUnreachable(shown, str(error)), prefix)
    return RedisQueues(client, kind, lease=lease, most_tries=most_tries)
