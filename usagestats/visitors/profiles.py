"""The profiles in Redis; a script changes one atomically."""

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from usagestats.packages import needed, redis_client, redis_problem
from usagestats.visitors.errors import StreamUnusable
from usagestats.visitors.events import Visit
from usagestats.visitors.settings import Keeping

_MS_PER_DAY = 86_400_000


class Profiles:
    """The profiles of one consumer group.

    Args:
        url: Such as ``redis://127.0.0.1:6379/0``.
        group: The consumer group: an offset means something only within it.
        keeping: Names and expiry of keys.

    Raises:
        PackageMissing: The package redis is not installed.
        AddressInvalid: Not a valid address.
    """

    def __init__(self, url: str, group: str, keeping: Keeping) -> None:
        redis = needed("redis", "kafka")
        self._error: type[Exception] = redis.RedisError
        self._group, self._keeping = group, keeping
        self._client: Any = redis_client(url, "kafka", decode_responses=True)
        script = files("usagestats.visitors").joinpath("profile.lua").read_text("utf-8")
        self._script = self._client.register_script(script)

    def after(self, visits: Sequence[tuple[str, int, int, Visit]]) -> list[Mapping[str, str]]:
        """Process events in order, in one round trip; return the profile after each.

        Args:
            visits: Topic, partition and offset of the event, and what it says.

        Raises:
            StreamUnusable: Redis cannot be reached or refuses.
        """
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for topic, partition, offset, visit in visits:
                    self._script(
                        keys=[self.key(visit.user), *self._partition_keys(topic, partition)],
                        args=[
                            visit.user, visit.session, int(visit.page is not None),
                            visit.page or "", visit.time, offset,
                            self._keeping.days * _MS_PER_DAY,
                        ],
                        client=pipeline,
                    )  # fmt: skip
                return [json.loads(told) for told in pipeline.execute()]
        except self._error as error:
            raise _unusable(error) from None

    def committed(self, events: Iterable[tuple[str, int, int]]) -> None:
        """Forget the answers of events whose transaction is committed.

        The answers of later events stay: another process may have got so far before it died.
        """
        offsets: dict[tuple[str, int], list[int]] = {}
        for topic, partition, offset in events:
            offsets.setdefault((topic, partition), []).append(offset)
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for place, some in offsets.items():
                    pipeline.hdel(self._partition_keys(*place)[0], *some)
                pipeline.execute()
        except self._error as error:
            raise _unusable(error) from None

    def key(self, user: str) -> str:
        """Return the key of a visitor's profile."""
        return f"{self._keeping.prefix}:{user}"

    def _partition_keys(self, topic: str, partition: int) -> tuple[str, str]:
        place = f"{self._group}:{topic}:{partition}"
        return (f"{self._keeping.prefix}.answers:{place}", f"{self._keeping.prefix}.mark:{place}")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _unusable(error: Exception) -> StreamUnusable:
    return StreamUnusable(redis_problem(error))
