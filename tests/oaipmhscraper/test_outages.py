"""A server that dies during a harvest: one line on stderr, and what the harvest says."""

import logging
from dataclasses import replace
from datetime import timedelta

import pytest
from click.testing import CliRunner
from misbehaving import MisbehavingServer, Repository
from misbehaving.repository import changed, many_items

from oaipmhclient.transport.http_transport import Outage
from oaipmhprotocol.queries import with_short_tokens
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestStopped
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.settings import HttpSettings
from recordsilo.cli import silo_command

HASTE = HttpSettings(first_pause=0.01, attempts=3)
WINDOWS = HarvestOptions(window=timedelta(days=60), max_in_flight=4)
REQUESTS = "OAIPMH Harvester.requests"


@pytest.fixture(autouse=True)
def usual_levels():
    """What other tests left, such as the level of `--quiet`, does not count."""
    loggers = [logging.getLogger(name) for name in ("OAIPMH Harvester", REQUESTS)]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.NOTSET)
    yield
    for one, level in zip(loggers, before, strict=True):
        one.setLevel(level)


@pytest.fixture
def dying():
    """A server that resets every connection after 20 requests."""
    repository = Repository()
    repository.items, repository.page_size = many_items(400, apart=timedelta(days=1)), 5

    @changed(repository, "reply")
    def reply(step, asked):
        return replace(step(asked), reset=asked.number >= 20)

    server = MisbehavingServer(repository)
    yield server
    server.close()


def stopped(server, directory):
    with (
        OAIPMHScraper(directory, server.base_url, settings=HASTE, quiet=True) as scraper,
        pytest.raises(HarvestStopped) as error,
    ):
        scraper.harvest(["oai_dc"], options=WINDOWS)
    return error.value


def test_a_server_that_dies_is_told_of_in_one_line(dying, tmp_path, caplog):
    stopped(dying, str(tmp_path / "silo"))
    told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(told) == 1
    assert told[0].startswith(f"{dying.base_url}: ")
    assert told[0].endswith("trying again in 0 s")


def test_tokens_are_cut_in_what_people_read(dying, tmp_path, caplog):
    caplog.set_level(logging.INFO, REQUESTS)
    stop = stopped(dying, str(tmp_path / "silo"))
    tokens = [one.params.get("resumptionToken") for one in dying.repository.asked]
    shown = [str(stop), *stop.receipt.losses]
    assert not any(token in one for token in tokens if token for one in shown)
    assert any(token in caplog.text for token in tokens if token), "details have them in full"


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.long
def test_details_are_shown_with_v(dying, tmp_path, verbose, caplog):
    more = ["-v"] if verbose else []
    arguments = ["harvest", dying.base_url, str(tmp_path / "silo"), "--attempts", "2", *more]
    result = CliRunner().invoke(silo_command, arguments)
    assert result.exit_code == 75
    assert (len(caplog.records) > 1) is verbose


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("verb=ListRecords&resumptionToken=0123456789abcdef", "0123456789ab…"),
        ("http://h/?resumptionToken=0123456789abcdef gives no", "0123456789ab… gives no"),
        ("resumptionToken=0123456789abcdef&x=1", "0123456789ab…&x=1"),
        ("resumptionToken=0123456789abcdef: no", "0123456789ab…: no"),
        ("resumptionToken=a:b:c:d:e:f:g:h, no", "a:b:c:d:e:f:…, no"),
        ("resumptionToken=0123456789ab: no", "0123456789ab: no"),
    ],
)
def test_a_token_is_cut_to_twelve_characters(text, short):
    assert with_short_tokens(text).endswith(f"resumptionToken={short}")


def test_an_answer_that_was_under_way_does_not_end_an_outage():
    outage = Outage()
    before = outage.number
    assert outage.begins()
    outage.ends(before)
    assert not outage.begins()
    outage.ends(outage.number)
    assert outage.begins()
