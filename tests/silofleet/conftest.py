"""A real Redis; skipped where it is missing, but not in CI."""

import os
import shutil
from collections.abc import Iterator

import pytest
import redis
from ports import free_port
from redis_server import redis_on


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis."""
    if not shutil.which("redis-server"):
        reason = "redis-server is not installed"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    port = free_port()
    with redis_on(port, tmp_path_factory.mktemp("redis")):
        yield f"redis://127.0.0.1:{port}/0"


@pytest.fixture
def broker(redis_url: str) -> str:
    """The URL of a Redis, emptied."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url
