"""A list that ends early, or misses records, is never called whole, nor is an update of it."""

from contextlib import suppress
from datetime import timedelta

import pytest
from examples import family
from misbehaving import FunctionTransport
from misbehaving.lists_that_lie import MODES, RANDOM, repository_that_lies
from misbehaving.repository import Condition, Place, changed

from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhscraper.harvests import job
from oaipmhscraper.lists import list_harvest
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestStopped, Outcome, Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.storing.silo_writer import PageOutcome

RUNS = ("harvest", "update", "harvest", "update")
MOST = 12
"""Requests for lists in a run, for each page of the list."""


def _seeds():
    for mode in sorted(MODES.keys() & RANDOM):
        yield from (pytest.param(mode, seed, marks=pytest.mark.slow) for seed in range(1, 20))


class Names:
    """A `PageStore` of identifiers."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def store(self, page, received=None):
        listed = [one.header.identifier for one in page.items]
        became = [(n, Outcome.UNCHANGED if n in self._names else Outcome.NEW) for n in listed]
        self._names.update(listed)
        return PageOutcome(tuple(became), written=len(became))


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Stores identifiers only, in memory: thousands of harvests take minutes."""
    names: set[str] = set()
    monkeypatch.setattr(job, "SiloWriter", lambda *_, **__: Names(names))
    monkeypatch.setattr(
        list_harvest,
        "harvested_records",
        lambda _silo, _jobs, but: [one for one in names if one not in but],
    )
    return names


@pytest.mark.long
@pytest.mark.parametrize(
    "apart", family([timedelta(0), timedelta(hours=8)], 1), ids=["one second", "days"]
)
@pytest.mark.parametrize(("mode", "seed"), [*family([(mode, 0) for mode in MODES], 2), *_seeds()])
def test_what_is_called_whole_is_complete(mode, seed, apart, tmp_path, names):
    size = 3000 if mode.startswith("lost_bytes") else 1000
    repository = repository_that_lies(mode, seed, apart=apart, size=size)
    transport, directory = FunctionTransport(repository), str(tmp_path / "silo")
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        for run in RUNS:
            begun = len(repository.asked)
            try:
                receipt = _run(scraper, run)
            except HarvestStopped as stop:
                receipt = stop.receipt
            asked = repository.asked[begun:]
            has_tokens = any("resumptionToken" in one.params for one in asked)
            if apart or has_tokens:  # one page without a token, all of one second: nothing tells
                assert not receipt.whole or len(names) == size, run
            assert receipt.whole or receipt.losses
            lists = sum(one.lists for one in asked)
            assert lists <= MOST * size / repository.page_size, run


def _run(scraper: OAIPMHScraper, run: str) -> Receipt:
    options = HarvestOptions(warc=False)
    if run == "update":
        return scraper.update(options=options)
    return scraper.harvest(["oai_dc"], options=options)


@pytest.mark.long
@pytest.mark.parametrize(
    ("mode", "size", "end"),
    family([("lost_300_500", 1000, 300), ("lost_bytes", 3000, 250), ("lost_bytes2", 3000, 250)], 1),
)
def test_lists_that_always_end_at_the_same_place_come_home_by_windows(mode, size, end, tmp_path):
    repository = repository_that_lies(mode, 0, apart=timedelta(hours=8), size=size)
    transport = FunctionTransport(repository)
    directory = str(tmp_path / "silo")
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        assert scraper.harvest(["oai_dc"]).whole
        assert len(scraper.store) == size
    pages, windows = size // repository.page_size, 4 * size // (3 * end)
    assert len(repository.asked) <= 4 * (pages + windows)


@pytest.mark.long
def test_a_count_without_records_that_the_repository_has_names_them(tmp_path):
    repository = repository_that_lies("win_gaps", 0, apart=timedelta(hours=8))
    transport = FunctionTransport(repository)
    directory = str(tmp_path / "silo")
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        receipt = scraper.harvest(["oai_dc"])
    missed = {one for one in receipt.remarks[-1].replace(",", "").split() if one.startswith("oai:")}
    place = Place("ListIdentifiers", "oai_dc", from_="2000-01-01T00:00:00Z")
    in_windows = {one.identifier for one in repository.chosen(place)}
    assert missed == {one.identifier for one in repository.items} - in_windows
    assert not receipt.whole


def test_records_that_are_gone_from_the_repository_are_no_doubt(tmp_path):
    repository = repository_that_lies("lost_300_500", 0, apart=timedelta(hours=8), size=250)
    transport = FunctionTransport(repository)
    directory = str(tmp_path / "silo")
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        assert scraper.harvest(["oai_dc"]).whole
        del repository.items[10:40]
        assert scraper.harvest(["oai_dc"]).whole


@pytest.mark.long
@pytest.mark.parametrize("identifiers", ["empty", "refused"])
@pytest.mark.parametrize("kept", [True, False], ids=["there", "gone"])
def test_a_list_without_what_the_silo_holds_is_whole_only_if_that_is_gone(
    identifiers, kept, tmp_path
):
    repository = repository_that_lies("lost_300_500", 0, apart=timedelta(hours=8), size=250)
    transport = FunctionTransport(repository)
    directory = str(tmp_path / "silo")
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        assert scraper.harvest(["oai_dc"]).whole

        @changed(repository, "listing")
        def listing(_step, place):
            is_refused = identifiers == "refused" and place.verb == "ListIdentifiers"
            raise Condition("badArgument" if is_refused else "noRecordsMatch")

        if not kept:

            @changed(repository, "get_record")
            def get_record(_step, _asked):
                raise Condition("idDoesNotExist")

        try:
            receipt = scraper.harvest(["oai_dc"])
        except HarvestStopped as stop:
            receipt = stop.receipt
        assert receipt.whole != kept
        if kept:
            assert "records that the repository still has are in no list" in receipt.losses[0]
            begun = len(repository.asked)
            with suppress(HarvestStopped):
                assert not scraper.update().whole
            lists = [one.params for one in repository.asked[begun:] if one.lists]
            assert not any("from" in one for one in lists)


def test_sets_of_identifiers_are_joined_and_compared():
    one, other = IdentifierSet(), IdentifierSet()
    one.add_all(["a", "b"])
    other.add_all(["b", "c", "d"])
    assert (one.lacking(other), other.lacking(one), one.lacking(one)) == (2, 1, 0)
    one.add_set(other)
    assert (len(one), one.lacking(other), other.lacking(one)) == (4, 0, 1)
