"""A real Redis; skipped where it is missing, but not in CI."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis
from ports import free_port


@contextmanager
def redis_on(port: int, directory: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A Redis on a port of loopback, which keeps nothing on the disk."""
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
         "--dir", str(directory)],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with redis.Redis(port=port) as client:
            end = time.monotonic() + 20
            while time.monotonic() < end:
                with suppress(redis.RedisError):
                    client.ping()
                    break
                time.sleep(0.05)
        yield process
    finally:
        process.kill()
        process.wait()


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
