"""A real Redis; skipped where it is missing, but not in CI."""

from collections.abc import Iterator

import pytest
import redis
from redis_server import redis_in


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis."""
    with redis_in(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def broker(redis_url: str) -> str:
    """The URL of a Redis, emptied."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url
