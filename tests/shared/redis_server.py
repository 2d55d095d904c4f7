"""A real Redis on loopback."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from ports import free_port
from waiting import wait_until


@contextmanager
def redis_in(directory: Path) -> Iterator[str]:
    """The URL of a Redis; skipped where it is not installed, but not in CI."""
    if not shutil.which("redis-server"):
        reason = "redis-server is not installed"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    port = free_port()
    with redis_on(port, directory):
        yield f"redis://127.0.0.1:{port}/0"


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
            wait_until(lambda: process.poll() is not None or _answers(client))
        assert process.poll() is None, f"redis-server ended; is the port {port} taken?"
        yield process
    finally:
        process.kill()
        process.wait()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Redis; for a conftest."""
    with redis_in(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def broker(redis_url: str) -> str:
    """The URL of a Redis, emptied; for a conftest."""
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url
