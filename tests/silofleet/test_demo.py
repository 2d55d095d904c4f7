"""`silo demo --fleet` and `--export`: what they make, and that a second run is harmless."""

import csv
from pathlib import Path

import pytest

from oaipmhprovider.server import SampleServer
from oaipmhscraper import OAIPMHScraper
from recordsilo import Granary, Silo
from siloexport.demo import EXPORT
from silofleet.demo import FLEET


def harvested(directory: Path, sample: SampleServer) -> None:
    with OAIPMHScraper(str(directory), sample.base_url, quiet=True) as scraper:
        scraper.getRecords(metadataPrefix="oai_dc")


@pytest.mark.long
def test_a_fleet_is_made_beside_the_silo_and_follows_the_sample_to_another_port(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for told in ("2 endpoints", "sample-theses: "):
        with SampleServer(0, size=12) as sample:
            with Silo(str(tmp_path / "s")) as silo:
                silo.state["base_oai_url"] = sample.base_url
                silo.state.sync()
            FLEET.run(str(tmp_path / "s"), sample.site_url)
        shown = capsys.readouterr().out
        assert told in shown
        assert "2 whole" in shown
    assert sorted(Granary(str(tmp_path / "s-fleet"), create=False).silos) == [
        "sample-articles",
        "sample-theses",
    ]


def test_exports_are_made_beside_the_silo_and_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SampleServer(0, size=40) as sample:
        harvested(tmp_path / "s", sample)
    for _ in range(2):
        EXPORT.run(str(tmp_path / "s"), "")
    out = tmp_path / "s-export"
    assert {path.name for path in out.iterdir()} >= {"files", "root", "records.csv", "records.db"}
    with (out / "records.csv").open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.reader(file))) > 30
