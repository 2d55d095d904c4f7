"""A Silo of a few records with links, its queues, and a site."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import real_heritrix
import real_pywb
from mails_and_hooks import hook, mails
from rabbitmq_server import rabbitmq
from redis_server import broker, redis_url
from site_of_traps import Site, served

from recordsilo import Silo
from silocrawl.paths import queues_file
from silocrawl.rendering import PROGRAMS
from silowork.queues.sqlite import SqliteQueues

__all__ = ["broker", "hook", "mails", "rabbitmq", "redis_url"]


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


@pytest.fixture(scope="module")
def program() -> str:
    """A real pywb."""
    return real_pywb.installed("wayback")


@pytest.fixture(scope="module")
def heritrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real_heritrix.RealHeritrix]:
    """A real Heritrix 3.13.0 that runs; it may be killed and started again."""
    work = tmp_path_factory.mktemp("heritrix") / "work"
    with real_heritrix.running(real_heritrix.NEW, work) as found:
        yield found


@pytest.fixture
def browser() -> str:
    """The browser that shows pages."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        reason = f"no browser: apt-get install {PROGRAMS[0]}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return found
