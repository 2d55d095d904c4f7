"""A new store for each test, and as many users of it as the test opens."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import redis
from clocks import Clock
from redis_server import redis_in
from stores import Opened, store_at

from silowork.queues import sqlite
from silowork.queues.values import Queues


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis for these tests."""
    with redis_in(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of queues in a file."""
    found = Clock()
    monkeypatch.setattr(sqlite, "time", found.module)
    return found


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """The store of a test."""
    return str(request.param)


@pytest.fixture
def address(store: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is that holds nothing yet."""
    if store == "sqlite":
        return str(tmp_path / "queues.sqlite")
    url = str(request.getfixturevalue("redis_url"))
    with redis.Redis.from_url(url) as client:
        client.flushall()
    return url


@pytest.fixture
def opened(address: str) -> Iterator[Opened]:
    """Opens the store: ``opened(lease=60.0, most_tries=5)``."""
    with ExitStack() as stack:
        opening = partial(store_at, address)
        yield lambda **named: stack.enter_context(opening(**named))


@pytest.fixture
def queues(opened: Opened) -> Queues:
    """One user of the store."""
    return opened()
