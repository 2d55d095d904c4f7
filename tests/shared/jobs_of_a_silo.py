"""A separate Silo for each test, and a worker that ends with the test: fixtures for a conftest."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from waiting import wait_until

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from silowork.broker import Broker
from silowork.embedded import EmbeddedWorker
from silowork.service import Jobs

RECORDS = 600


def dublin_core(title: str) -> bytes:
    return (
        '<metadata xmlns="http://www.openarchives.org/OAI/2.0/">'
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>'
        "</oai_dc:dc></metadata>"
    ).encode()


@pytest.fixture
def silo_path(tmp_path: Any) -> str:
    """The directory of a Silo of `RECORDS` records."""
    path = str(tmp_path / "myrepo")
    date = "2004-06-24T00:00:00"
    names = [f"oai:example.org:{number}" for number in range(RECORDS)]
    with Silo(path) as silo, silo.batch(names) as batch:
        for name in names:
            edit = batch.edit(name)
            origin = Origin("harvest", prefixes={"oai_dc": date}, agent="test")
            edit.add_version("1", date=date, origin=origin, log="Harvested")
            edit.put("1", "oai_dc", dublin_core(f"Record {name}"), metadata=True)
    return path


@pytest.fixture
def jobs(silo_path: str) -> Jobs:
    return Jobs.of(silo_path)


@pytest.fixture
def worker(silo_path: str) -> Iterator[EmbeddedWorker]:
    with EmbeddedWorker(Broker(silo_path)) as worker:
        yield worker


@pytest.fixture
def until() -> Callable[..., None]:
    """Wait until something is so."""
    return wait_until
