"""A Silo of a few records with links, its queues, and a site."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from site_of_traps import Site, served

from recordsilo import Silo
from silocrawl.paths import queues_file
from silowork.queues.sqlite import SqliteQueues


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo"), "info:", identifier_uri_prefix="oai:example.org:") as made:
        yield made


@pytest.fixture
def queues(silo: Silo) -> Iterator[SqliteQueues]:
    path = Path(queues_file(silo.path))
    path.parent.mkdir(parents=True)
    with SqliteQueues(str(path)) as found:
        yield found


@pytest.fixture
def site() -> Iterator[Site]:
    with served(Site()) as found:
        yield found
