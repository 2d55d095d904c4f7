"""``silo provide`` as a process, harvested whole by two other harvesters."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import oaipmh_scythe
import pytest
import sickle
from click.testing import CliRunner

from oaipmhprovider import SampleServer
from oaipmhscraper import OAIPMHScraper
from recordsilo import Silo
from recordsilo.cli import silo_command


@pytest.fixture(scope="module")
def harvested(tmp_path_factory: pytest.TempPathFactory) -> str:
    directory = str(tmp_path_factory.mktemp("provided") / "silo")
    with SampleServer(size=150) as server, OAIPMHScraper(directory, server.base_url) as scraper:
        scraper.getMetadataPrefixes()
        scraper.harvest(["oai_dc", "uketd_dc"])
    with Silo(directory, create=False) as silo:
        names = sorted(silo)
        for name in names[:30]:
            silo[name].set_version_state("1", "withheld" if name in names[:9] else "ready")
        silo.del_item(names[40], remember=True)
    return directory


@pytest.fixture(scope="module")
def base_url(harvested: str) -> Iterator[str]:
    silo = str(Path(sys.executable).with_name("silo"))
    command = [silo, "provide", harvested, "--port", "0"]
    with subprocess.Popen([*command, "--page-size", "40"], stdout=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        line = it.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/oai", line)
        yield line
        it.send_signal(signal.SIGINT)
        assert it.wait(60) == 0


@pytest.mark.long
@pytest.mark.parametrize("prefix", ["oai_dc", "uketd_dc"])
def test_others_harvest_it_whole(harvested: str, base_url: str, prefix: str) -> None:
    headers = [
        (one.header.identifier, one.header.datestamp, one.header.deleted)
        for one in sickle.Sickle(base_url).ListRecords(metadataPrefix=prefix)
    ]
    with oaipmh_scythe.Scythe(base_url) as client:
        assert headers == [
            (one.header.identifier, one.header.datestamp, one.header.deleted)
            for one in client.list_records(metadata_prefix=prefix)
        ]
    assert headers == sorted(headers, key=lambda one: (one[1], one[0]))
    assert len({one[0] for one in headers}) == len(headers)
    with Silo(harvested, create=False) as silo:
        held = {one for one in silo if any(prefix in v.paths for v in silo[one].state.versions)}
    given = {one[0] for one in headers}
    assert held == given if prefix != "oai_dc" else held <= given


@pytest.mark.long
def test_our_own_probe_finds_nothing_wrong(base_url: str) -> None:
    result = CliRunner().invoke(silo_command, ["probe", base_url, "--delay", "0", "--json"])
    report = json.loads(result.output)
    found = [one for one in report["findings"] if one["severity"] != "ok"]
    assert (result.exit_code, found, report["not_checked"]) == (0, [], [])


@pytest.mark.long
def test_the_verbs_of_others(harvested: str, base_url: str) -> None:
    client = sickle.Sickle(base_url)
    formats = {one.metadataPrefix: one.metadataNamespace for one in client.ListMetadataFormats()}
    assert formats["uketd_dc"] == "http://naca.central.cranfield.ac.uk/ethos-oai/2.0/"
    with Silo(harvested, create=False) as silo:
        assert {*silo.set_counts()} <= {one.setSpec for one in client.ListSets()}


def test_a_wrong_directory_is_refused_in_a_sentence(tmp_path: Path) -> None:
    result = CliRunner().invoke(silo_command, ["provide", str(tmp_path / "nope")])
    assert result.exit_code != 0
    assert "nope" in str(result.exception)
    assert not (tmp_path / "nope").exists()


def test_what_is_no_silo_and_has_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "prov.log").write_text("")
    (tmp_path / "empty").mkdir()
    for name in ("prov.log", "empty"):
        result = CliRunner().invoke(silo_command, ["provide", str(tmp_path / name)])
        assert result.exit_code != 0
        said = result.output + str(result.exception)
        assert f"{name} is neither a Silo nor a directory of Silos; name a Silo's" in said


def test_an_address_of_mail_with_a_comma_is_refused(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo")) as silo:
        result = CliRunner().invoke(silo_command, ["provide", silo.path, "--email", "a@b.org,"])
    assert result.exit_code != 0
    assert "'a@b.org,' is not an address of mail" in result.output + str(result.exception)
