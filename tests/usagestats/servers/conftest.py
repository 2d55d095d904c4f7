"""A real Redis and a real Kafka; skipped where they are missing, but not in CI."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import real_kafka
import redis
from redis_server import redis_in


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis that stores nothing on the disk."""
    with redis_in(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def database(redis_url: str) -> Iterator[Any]:
    """A client of the Redis, emptied."""
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        client.flushall()
        yield client


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker."""
    files = os.environ.get("KAFKA_FILES")
    lacking = real_kafka.lacks(Path(files)) if files else "no KAFKA_FILES"
    if lacking:
        reason = f"no real Kafka: {lacking} (see tests/usagestats/real_kafka.py)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with real_kafka.running(Path(files or ""), tmp_path_factory.mktemp("kafka") / "work") as found:
        yield found
