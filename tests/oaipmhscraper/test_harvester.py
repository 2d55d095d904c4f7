"""`recordsilo.harvest`, `recordsilo.open` and `Silo.update`: one line each at the prompt."""

import os
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import recordsilo
from oaipmhprovider.server import SampleServer
from oaipmhscraper import EndpointError, HarvestStopped, OAIPMHScraper, Receipt
from oaipmhscraper.errors import NoBaseURL
from politeweb.errors import RequestRefused
from recordsilo import SiloNotFound
from recordsilo.errors import ArgumentUnknown, NoHarvester, NotASilo, ReadOnlyMoment
from recordsilo.facts import facts_of
from recordsilo.harvesting import GROUP
from recordsilo.records.manifest import now_text
from recordsilo.silo_then import SiloThen


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with SampleServer(size=30) as server:
        yield server.base_url


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_repository_is_harvested_and_updated_in_a_line_each(url: str) -> None:
    receipt = recordsilo.harvest(url, "myrepo", ["oai_dc", "uketd_dc"])
    assert isinstance(receipt, Receipt)
    assert receipt.whole
    with recordsilo.open("myrepo", agent="ann") as silo:
        assert (len(silo), silo.agent) == (30, "ann")
        again = silo.update()
        assert again.whole
        assert again.to_json()["metadata_prefix"] == ["oai_dc", "uketd_dc"]
        told = facts_of(silo)["harvests"]
    assert [line.split("  ")[1] for line in told.lines] == [
        "whole: oai_dc, uketd_dc; nothing new",
        "whole: oai_dc, uketd_dc; 33 listed, 33 stored",
    ]
    assert told.brief.startswith("harvested 2")
    assert told.data["newest"][1]["counts"]["listed"] == 33


@pytest.mark.long
def test_all_formats_are_harvested(url: str) -> None:
    receipt = recordsilo.harvest(url, "myrepo", "all", quiet=True)
    assert receipt.to_json()["metadata_prefix"] == ["oai_dc", "uketd_dc", "pmc_fm"]


def test_a_wrong_format_is_refused_with_those_that_there_are(url: str) -> None:
    with pytest.raises(RequestRefused, match="its formats: oai_dc, uketd_dc, pmc_fm; did") as told:
        recordsilo.harvest(url, "myrepo", "oai_cd")
    assert len(traceback.extract_tb(told.value.__traceback__)) == 2
    assert told.value.__suppress_context__
    assert not os.path.exists("myrepo")


def test_the_interface_of_2010_names_the_formats_too(url: str) -> None:
    with OAIPMHScraper("myrepo", url) as scraper, pytest.raises(HarvestStopped) as told:
        scraper.getRecords("oai_cd")
    assert str(told.value).endswith("; its formats: oai_dc, uketd_dc, pmc_fm")
    shown = told.value._render_traceback_()
    assert (len(shown), shown[-1][:15]) == (2, "HarvestStopped:")


def test_an_address_that_does_not_answer_is_an_error_of_two_frames() -> None:
    with pytest.raises(EndpointError, match="the connection was refused") as told:
        recordsilo.harvest("http://127.0.0.1:1/oai", "myrepo")
    assert len(traceback.extract_tb(told.value.__traceback__)) == 2
    assert not os.path.exists("myrepo")


def test_an_unknown_argument_is_refused_before_anything_is_made() -> None:
    url = "http://127.0.0.1:1/oai"
    for given, meant in {"set": "set_spec", "form": "from_", "qiet": "quiet"}.items():
        told = f"harvest has no argument '{given}'; did you mean '{meant}'"
        with pytest.raises(ArgumentUnknown, match=told):
            recordsilo.harvest(url, "myrepo", **{given: "Dataset"})
    with pytest.raises(TypeError, match="'zzz'; there are from_, metadata_prefixes, options, p"):
        recordsilo.harvest(url, "myrepo", zzz=1)
    assert not os.listdir()
    with recordsilo.Silo("made") as silo, pytest.raises(ArgumentUnknown, match="mean 'quiet'"):
        silo.update(quite=True)


def test_a_silo_that_was_not_harvested_has_nothing_to_update() -> None:
    with recordsilo.Silo("made") as silo, pytest.raises(NoBaseURL):
        silo.update()


def test_a_silo_as_it_was_is_not_updated() -> None:
    recordsilo.Silo("made").close()
    with SiloThen("made", now_text()) as then, pytest.raises(ReadOnlyMoment):
        then.update()


def test_opening_never_makes_a_silo_by_a_typing_mistake() -> None:
    recordsilo.Silo("my-repo").close()
    os.mkdir("my-rep")
    for name in ("my-repoo", "./my-repoo/", os.path.abspath("my-repoo")):
        with pytest.raises(SiloNotFound, match=r"did you mean '.*my-repo'\?$"):
            recordsilo.open(name)
    with pytest.raises(SiloNotFound, match=r"there is no Silo at other$"):
        recordsilo.open("other")
    with pytest.raises(NotASilo):
        recordsilo.open(Path("my-rep"))
    assert sorted(os.listdir()) == ["my-rep", "my-repo"]


def test_without_a_harvester_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordsilo.harvesting.points", lambda group: {} if group == GROUP else 1)
    with pytest.raises(NoHarvester, match="no harvester is installed"):
        recordsilo.harvest("http://127.0.0.1:1/oai", "myrepo")


def test_the_package_has_a_version() -> None:
    assert recordsilo.__version__[0].isdigit()
