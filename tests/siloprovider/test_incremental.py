"""A harvest of a Silo into another one, and again after a thousand changes."""

from pathlib import Path

import pytest

from oaipmhprovider import ProviderServer
from oaipmhscraper import OAIPMHScraper
from recordsilo import Silo
from recordsilo.records.manifest import Origin
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity

RECORDS, CHANGED = 3000, 1000
DC = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><d:dc '
    'xmlns:d="http://www.openarchives.org/OAI/2.0/oai_dc/">%s</d:dc></metadata>'
)


@pytest.mark.slow
def test_a_copy_follows_a_thousand_bulk_edits_and_removals(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo")) as silo:
        for numbers in groups(RECORDS):
            with silo.batch([identifier(number) for number in numbers]) as batch:
                for number in numbers:
                    edit = batch.edit(identifier(number))
                    edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
                    edit.put("1", "oai_dc", (DC % number).encode(), metadata=True)
                    edit.set_metadata("setSpec", [f"by:{number % 7}"])
        identity, place = Identity("A Silo", ("a@example.org",)), str(tmp_path / "copy")
        with (
            SiloSource(silo, identity) as source,
            ProviderServer(source) as server,
            OAIPMHScraper(place, server.base_url) as scraper,
        ):
            assert scraper.harvest(["oai_dc"]).whole
            assert same(silo, place) == RECORDS
            for numbers in groups(CHANGED):
                names = [identifier(3 * number) for number in numbers]
                with silo.batch(names) as batch:
                    for name in names:
                        edit = batch.edit(name)
                        edit.add_version("2", date="2020-01-02T00:00:00", origin=Origin("local"))
                        edit.put("2", "oai_dc", (DC % f"new {name}").encode(), metadata=True)
            for number in range(1, RECORDS, 30):
                silo.del_item(identifier(number), remember=True)
            updated = scraper.update()
            assert updated.whole
            assert updated.counts.listed < 1500, "not all again"
            assert same(silo, place) == RECORDS - 100


def same(silo: Silo, place: str) -> int:
    """Compare a Silo with its copy, byte by byte; how many records both have, not deleted."""
    alive = 0
    with Silo(place, create=False) as copy:
        assert set(copy) == {*silo, *silo.removed()}
        for name in copy:
            if "deleted_at_version" in copy[name].state.metadata:
                assert name not in silo
                continue
            alive += 1
            with silo[name].get_stream("oai_dc") as mine, copy[name].get_stream("oai_dc") as other:
                assert mine.read() == other.read()
            sets = [one[name].state.metadata["setSpec"] for one in (silo, copy)]
            assert sets[0] == sets[1]
    return alive


def identifier(number: int) -> str:
    return f"oai:x:{number:04}"


def groups(many: int) -> list[range]:
    return [range(first, first + 100) for first in range(0, many, 100)]
