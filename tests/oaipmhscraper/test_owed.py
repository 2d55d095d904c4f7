"""Records that a harvest could not fetch are owed until fetched, deleted, or given up."""

import json

import pytest
from click.testing import CliRunner
from misbehaving import FunctionTransport, Repository, identifier
from misbehaving.repository import Condition, Instead, changed, html

from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo.cli import silo_command

LOST = [7, 9, 11]


class Failing:
    """A repository that gives some records only as headers, until it heals."""

    def __init__(self) -> None:
        self.repository = Repository()
        self.heals = False
        self.error: Exception = Instead(html(403))

        @changed(self.repository, "metadata")
        def metadata(step, item):
            is_broken = item.number in LOST and not self.heals
            return step(item).replace("</dc:title>", "</dc:creator>", is_broken)

        @changed(self.repository, "get_record")
        def get_record(step, asked):
            is_lost = asked.params["identifier"] in map(identifier, LOST)
            if is_lost and not self.heals:
                raise self.error
            return step(asked)

    def asked(self) -> list[str]:
        """The identifiers that GetRecord was asked for since the last call."""
        found = [
            one.params["identifier"] for one in self.repository.asked if one.verb == "GetRecord"
        ]
        self.repository.asked.clear()
        return found


@pytest.fixture
def failing():
    return Failing()


@pytest.fixture
def scraper(failing, tmp_path):
    transport = FunctionTransport(failing.repository)
    directory = str(tmp_path / "silo")
    with OAIPMHScraper(directory, transport.base_url, transport=transport, quiet=True) as scraper:
        scraper.harvest(["oai_dc"])
        failing.asked()
        yield scraper


def owed(receipt):
    return [one.identifier for each in receipt.lists for one in each.quarantined + each.unreachable]


def test_an_update_asks_first_for_what_is_owed_and_names_it_until_it_comes(failing, scraper):
    names = [identifier(number) for number in LOST]
    receipt = scraper.update()
    asked = [one.verb for one in failing.repository.asked if one.verb != "Identify"]
    assert asked[:3] == ["GetRecord"] * 3
    assert not receipt.whole
    assert owed(receipt) == names
    assert receipt.losses[0].startswith(f"oai_dc, owed: {names[0]}")
    failing.heals = True
    receipt = scraper.update()
    assert set(names) <= set(scraper.store)
    assert receipt.whole
    failing.asked()
    assert scraper.update().whole
    assert failing.asked() == []


def test_records_owed_are_asked_for_in_turn_no_more_than_ask_again_says(failing, scraper):
    two = HarvestOptions(again=2)
    asked = []
    for _ in range(3):
        assert len(owed(scraper.update(options=two))) == 3
        asked.append([int(one[-4:]) for one in failing.asked()])
    assert asked == [[7, 9], [11, 7], [9, 11]]
    assert owed(scraper.update(options=HarvestOptions(again=0)))
    assert failing.asked() == []


def test_what_no_longer_exists_is_owed_no_longer(failing, scraper):
    failing.error = Condition("idDoesNotExist")
    receipt = scraper.update()
    assert receipt.whole
    assert scraper.update().whole


def test_a_full_harvest_settles_what_is_owed_too(failing, scraper):
    failing.heals = True
    assert scraper.harvest(["oai_dc"]).whole
    failing.asked()
    assert scraper.update().whole
    assert failing.asked() == []


def test_an_update_that_is_stopped_asks_again_for_what_is_owed(failing, scraper):
    @changed(failing.repository, "reply")
    def reply(step, asked):
        if asked.verb == "GetRecord" and not failing.heals:
            raise KeyboardInterrupt
        return step(asked)

    with pytest.raises(KeyboardInterrupt):
        scraper.update()
    failing.heals = True
    assert scraper.update().whole
    assert len(scraper.store) == len(failing.repository.items)


def test_what_is_owed_is_told_and_can_be_given_up(failing, scraper, tmp_path):
    directory = str(tmp_path / "silo")

    def harvests(*options):
        return CliRunner().invoke(silo_command, ["harvests", directory, *options])

    assert "oai_dc: 3 records owed; silo update requests them again" in harvests().stdout
    assert "2 records owed" in harvests("--give-up", identifier(7)).stdout
    assert owed(scraper.update()) == [identifier(9), identifier(11)]
    assert "owed" not in harvests("--give-up", "all").stdout
    assert scraper.update().whole
    refused = harvests("--give-up", identifier(9))
    assert (refused.exit_code, "no such record is owed" in refused.stderr) == (2, True)
    assert json.loads(harvests("--json").stdout)
