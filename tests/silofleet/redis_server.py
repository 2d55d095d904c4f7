"""A real Redis on loopback."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import redis


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
