"""A real Redis and a real Kafka; skipped where they are missing, but not in CI."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import real_kafka
import redis
from ports import free_port


def _missing(reason: str) -> None:
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis that stores nothing on the disk."""
    if not shutil.which("redis-server"):
        _missing("redis-server is not installed")
    port = free_port()
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
         "--dir", str(tmp_path_factory.mktemp("redis"))],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"redis://127.0.0.1:{port}/0"
    try:
        _wait(url)
        yield url
    finally:
        process.kill()
        process.wait()


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
        _missing(f"no real Kafka: {lacking} (see tests/usagestats/real_kafka.py)")
    with real_kafka.running(Path(files or ""), tmp_path_factory.mktemp("kafka") / "work") as found:
        yield found


def _wait(url: str) -> None:
    until = time.monotonic() + 30
    with redis.Redis.from_url(url) as client:
        while True:
            try:
                client.ping()
                return
            except redis.ConnectionError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
