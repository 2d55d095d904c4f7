"""A new store for each test, and as many users of it as the test opens."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from stores import Opened, store_at

from silowork.queues.values import Queues


@pytest.fixture(params=["sqlite"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is that holds nothing yet."""
    return str(tmp_path / "queues.sqlite")


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
