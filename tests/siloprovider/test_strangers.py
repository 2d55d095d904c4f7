"""A Silo, harvested whole by programs of others, who all get what it holds.

sickle, oaipmh-scythe, the client of pyoai (in an environment of its own, made by
``real_servers/install.py``), metha by its rules, and our own harvest.
"""

import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import oaipmh_scythe
import pytest
import sickle
from lxml import etree
from provider_asker import Validate, validator
from real_servers.running import ENVIRONMENTS
from strangers import metha

from oaipmhprovider import ProviderServer, SampleServer, Settings
from oaipmhscraper import OAIPMHScraper
from recordsilo import Silo
from siloprovider.embedding import embedded
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity

pytestmark = pytest.mark.long

HERE = Path(__file__).parent
FORMATS = ("oai_dc", "uketd_dc", "pmc_fm")
FIRST = datetime(2026, 1, 25, 23, 59, 0)  # noqa: DTZ001 - UTC is meant
STEP = timedelta(hours=9, minutes=0, seconds=1)


@dataclass(frozen=True, slots=True)
class Given:
    """A record as somebody got it; the document in canonical form, without what is around it."""

    identifier: str
    datestamp: str
    document: str | None


@dataclass(slots=True)
class Provided:
    silo: Silo
    base_url: str
    now: datetime


class Clock:
    """The time at which records are written: each later than the one before, over a month."""

    def __init__(self) -> None:
        self.now = FIRST

    def text(self) -> str:
        self.now += STEP
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.000000"


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provided]:
    directory = str(tmp_path_factory.mktemp("strangers") / "silo")
    clock, patch = Clock(), pytest.MonkeyPatch()
    patch.setattr("recordsilo.records.edit.now_text", clock.text)
    patch.setattr("recordsilo.removals.now_text", clock.text)
    try:
        with SampleServer(size=90) as server, OAIPMHScraper(directory, server.base_url) as scraper:
            scraper.harvest(FORMATS)
        with Silo(directory, create=False) as silo:
            changed(silo)
            identity, end = Identity("A Silo", ("a@example.org",)), clock.now + timedelta(days=3)
            with (
                SiloSource(silo, identity) as source,
                ProviderServer(
                    source, settings=Settings(page_size=7), clock=lambda: end.replace(tzinfo=UTC)
                ) as server,
            ):
                yield Provided(silo, server.base_url, end)
    finally:
        patch.undo()


def changed(silo: Silo) -> None:
    """Correct some records, withhold and remove others."""
    names = sorted(silo)
    for name in names[::9]:
        record = silo[name]
        with record.get_stream("oai_dc") as stream:
            document = embedded(stream.read()).content
        record.clone_version(record.currentversion, "mine")
        record.put_stream("oai_dc", document.replace(b"<dc:title", b"<!-- better --><dc:title", 1))
    for name in names[1::11]:
        silo[name].set_version_state(silo[name].currentversion, "withheld")
    for name in names[2::13]:
        silo.del_item(name, remember=True)


def held(silo: Silo, prefix: str) -> list[Given]:
    """What a list has to have, from the files; deleted records without what they were."""
    found = []
    with SiloSource(silo, Identity("", ())) as source:
        source.items.catch_up()
        for item in map(source.items.item, [*silo, *silo.removed()]):
            if item is None or prefix not in source.items.prefixes_of(item):
                continue
            document = None
            if item.version:
                with silo[item.identifier].get_stream(prefix, item.version) as stream:
                    document = canonical(etree.fromstring(embedded(stream.read()).content))
            found.append(Given(item.identifier, item.datestamp, document))
    return sorted(found, key=lambda one: (one.datestamp, one.identifier))


def canonical(element: etree._Element) -> str:
    return etree.tostring(element, method="c14n", exclusive=True, with_tail=False).decode()


def spaceless(one: Given) -> Given:
    return replace(one, document=one.document and re.sub(r">\s+<", "><", one.document))


def given_in(record: etree._Element) -> Given:
    """A record element of a response."""
    document = record.find("{*}metadata/*")
    assert (document is None) == (record.find("{*}header").get("status") == "deleted")
    return Given(
        record.findtext("{*}header/{*}identifier"),
        record.findtext("{*}header/{*}datestamp"),
        None if document is None else canonical(document),
    )


def test_the_silo_has_what_the_others_have_to_get(provided: Provided) -> None:
    found = {prefix: held(provided.silo, prefix) for prefix in FORMATS}
    assert len(found["oai_dc"]) > 80
    assert {one.datestamp[:7] for one in found["oai_dc"]} >= {"2026-01", "2026-02"}
    for given in found.values():
        assert {one.document is None for one in given} == {True, False}


@pytest.mark.parametrize("prefix", FORMATS)
def test_sickle_and_scythe(provided: Provided, prefix: str) -> None:
    """They leave out white space between elements."""
    expected = [*map(spaceless, held(provided.silo, prefix))]
    listed = sickle.Sickle(provided.base_url).ListRecords(metadataPrefix=prefix)
    assert [spaceless(given_in(one.xml)) for one in listed] == expected
    with oaipmh_scythe.Scythe(provided.base_url) as client:
        listed = client.list_records(metadata_prefix=prefix)
        assert [spaceless(given_in(one.xml)) for one in listed] == expected


@pytest.mark.parametrize("prefix", FORMATS)
def test_the_client_of_pyoai(provided: Provided, prefix: str) -> None:
    python = ENVIRONMENTS / "pyoai" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"pyoai is not in {ENVIRONMENTS}")
    command = [python, "-W", "ignore", HERE / "strangers" / "pyoai_client.py"]
    done = subprocess.run(
        [*map(str, command), provided.base_url, prefix],
        check=True,
        capture_output=True,
        timeout=120,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [
        Given(one["identifier"], one["datestamp"], one["document"]) for one in found
    ] == held(provided.silo, prefix)  # fmt: skip
    assert all(one["deleted"] == (one["document"] is None) for one in found)


@pytest.mark.parametrize("daily", [False, True])
def test_metha_by_its_rules(provided: Provided, tmp_path: Path, daily: bool) -> None:
    expected = held(provided.silo, "oai_dc")
    middle = FIRST + timedelta(days=12)
    for started in (middle, middle, provided.now):
        metha.sync(provided.base_url, "oai_dc", tmp_path, started, daily=daily)
        assert [given_in(one) for one in metha.records(tmp_path)] == [
            one for one in expected if one.datestamp < started.date().isoformat()
        ]
    saved = b"".join(gzip.decompress(path.read_bytes()) for path in tmp_path.iterdir())
    with SiloSource(provided.silo, Identity("", ())) as source:
        for one in expected:
            if one.document is not None:
                assert (source.record(one.identifier, "oai_dc").metadata or b"?") in saved


def test_our_own_harvest_stores_the_same_bytes(provided: Provided, tmp_path: Path) -> None:
    place = str(tmp_path / "copy")
    with OAIPMHScraper(place, provided.base_url) as scraper:
        assert scraper.harvest(FORMATS).whole
    with Silo(place, create=False) as copy:
        for prefix in FORMATS:
            for one in held(provided.silo, prefix):
                other = copy[one.identifier]
                assert ("deleted_at_version" in other.state.metadata) == (one.document is None)
                if one.document is not None:
                    mine = provided.silo[one.identifier]
                    with mine.get_stream(prefix) as here, other.get_stream(prefix) as there:
                        stored = here.read()
                        assert embedded(there.read()).content == embedded(stored).content


@pytest.fixture(scope="module")
def validate() -> Validate:
    return validator()


ANSWERS = [
    "verb=Identify", "verb=ListSets", "verb=ListMetadataFormats",
    "verb=ListMetadataFormats&identifier={alive}", "verb=ListMetadataFormats&identifier={gone}",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier={alive}",
    "verb=GetRecord&metadataPrefix=uketd_dc&identifier={alive}",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier={gone}",
    *(f"verb={verb}&metadataPrefix={prefix}" for prefix in FORMATS
      for verb in ("ListIdentifiers", "ListRecords")),
    "verb=ListRecords&metadataPrefix=oai_dc&from=2026-02-03&until=2026-02-04",
    "verb=ListIdentifiers&metadataPrefix=oai_dc&set={set}",
    "verb=Nope", "verb=GetRecord", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:x:nope",
    "verb=GetRecord&metadataPrefix=nope&identifier={alive}",
    "verb=ListRecords&metadataPrefix=nope", "verb=ListRecords&resumptionToken=nope",
    "verb=ListRecords&metadataPrefix=oai_dc&set=nope",
    "verb=ListRecords&metadataPrefix=oai_dc&from=2031-01-01",
]  # fmt: skip


@pytest.mark.parametrize("query", ANSWERS)
def test_every_kind_of_answer_is_valid(provided: Provided, validate: Validate, query: str) -> None:
    listed = held(provided.silo, "oai_dc")
    names = {
        "alive": next(one.identifier for one in listed if one.document is not None),
        "gone": next(one.identifier for one in listed if one.document is None),
        "set": next(iter(provided.silo.set_counts())),
    }
    arguments = dict(one.split("=") for one in query.format(**names).split("&"))
    while True:
        body = metha.ask(provided.base_url, **arguments)
        validate(body)
        if not (token := re.search(rb"<resumptionToken[^>]*>([^<]+)</resumptionToken>", body)):
            break
        arguments = {"verb": arguments["verb"], "resumptionToken": token[1].decode()}
