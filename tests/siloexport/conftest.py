"""A Silo with a harvested, a curated and a deleted record."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from copies import copy_of

from recordsilo import Origin, Silo

METADATA = (
    b'<metadata xmlns="http://www.openarchives.org/OAI/2.0/" '
    b'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s</dc:title></oai_dc:dc></metadata>'
)


def harvest(silo: Silo, identifier: str, title: str, *sets: str) -> None:
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        origin = Origin("harvest", prefixes={"oai_dc": "2024-05-01T00:00:00"})
        edit.add_version("1", date="2024-05-01T00:00:00", origin=origin)
        edit.put("1", "oai_dc", METADATA % title.encode(), metadata=True)
        edit.set_metadata("setSpec", list(sets))


def delete_at_source(silo: Silo, identifier: str) -> None:
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        cursor = edit.manifest.current
        origin = Origin("harvest")
        edit.add_version(
            "2", date="2024-06-01T00:00:00", origin=origin, move_cursor=not cursor.is_curated
        )
        edit.set_metadata("deleted_at_version", "2")
        edit.set_metadata("deleted_at_date", "2024-06-01T00:00:00")


Change = Callable[..., None]


@pytest.fixture(name="harvest")
def _harvest() -> Change:
    return harvest


@pytest.fixture(name="delete_at_source")
def _delete_at_source() -> Change:
    return delete_at_source


@pytest.fixture(scope="session")
def four_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a Silo with a harvested, a curated and a deleted record; to be copied."""
    path = tmp_path_factory.mktemp("four_records") / "myrepo"
    settings = {"identifier_uri_prefix": "oai:example.org:"}
    with Silo(str(path), "http://example.org/oai", **settings) as opened:
        harvest(opened, "oai:example.org:1", "One", "a")
        harvest(opened, "oai:example.org:2", "Two", "a:b")
        harvest(opened, "oai:example.org:3", "Three", "ab")
        harvest(opened, "oai:example.org:4", "Four")
        curated = opened["oai:example.org:2"]
        curated.clone_version("1", "workingcopy")
        curated.put_stream("docs/licence.txt", "CC BY 4.0")
        delete_at_source(opened, "oai:example.org:4")
    return path


@pytest.fixture
def silo(four_records: Path, tmp_path: Path) -> Iterator[Silo]:
    path = copy_of(four_records, tmp_path / "myrepo")
    with Silo(path, create=False) as opened:
        yield opened
