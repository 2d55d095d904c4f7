"""A Silo of a few records, harvested and not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.records.manifest import Origin

OAI_DC = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc'
    ' xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/">{}</oai_dc:dc></metadata>'
)

Fill = Callable[..., list[str]]


def oai_dc(**fields: str | list[str]) -> bytes:
    """A metadata file with some Dublin Core elements."""
    lines = [
        f"\n  <dc:{name}>{value}</dc:{name}>"
        for name, values in fields.items()
        for value in ([values] if isinstance(values, str) else values)
    ]
    return OAI_DC.format("".join(lines) + "\n").encode()


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo"), uri_base="http://repo.example/oai") as found:
        yield found


@pytest.fixture
def fill(silo: Silo) -> Fill:
    """Put records into the Silo as a harvest does: ``fill(number, **fields of each)``."""

    def put(number: int, **fields: str | list[str]) -> list[str]:
        identifiers = [f"oai:repo.example:{one}" for one in range(number)]
        with silo.batch(identifiers) as batch:
            for place, identifier in enumerate(identifiers):
                edit = batch.edit(identifier)
                date = "2020-01-01T00:00:00"
                origin = Origin("harvest", prefixes={"oai_dc": date}, date=date)
                edit.add_version("1", date=date, origin=origin)
                content = oai_dc(title=f"Record {place}", **fields)
                edit.put("1", "oai_dc", content, metadata=True, allow_frozen=True)
        return identifiers

    return put


@pytest.fixture
def harvest_again(silo: Silo) -> Callable[..., None]:
    """What a later harvest brings: ``harvest_again(identifier, **fields)``; none: deleted."""

    def put(identifier: str, **fields: str | list[str]) -> None:
        with silo.batch([identifier]) as batch:
            edit = batch.edit(identifier)
            harvested = [one for one in edit.manifest.versions if not one.is_curated]
            name = str(len(harvested) + 1)
            date = f"2020-01-0{name}T00:00:00"
            origin = Origin("harvest", prefixes={"oai_dc": date}, date=date)
            curated = edit.manifest.current.is_curated
            edit.add_version(name, date=date, origin=origin, move_cursor=not curated)
            if fields:
                edit.put(name, "oai_dc", oai_dc(**fields), metadata=True, allow_frozen=True)
            else:
                edit.set_metadata("deleted_at_version", name)
                edit.set_metadata("deleted_at_date", date)

    return put
