"""Each fault of real repositories, harvested into a Silo: its content, and the receipt.

Every record that can be had is in the Silo, with the content that the repository meant;
what cannot be had is named; the repository is not asked without end.
"""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from examples import family
from lxml import etree
from misbehaving import (
    DELETED,
    FAULTS,
    SIZE,
    Fault,
    MisbehavingServer,
    Repository,
    identifier,
    repository_with,
)
from misbehaving import misbehaving as served_with
from misbehaving.faults import POISONED, no_list_size
from misbehaving.faults_of_http import closed_for_a_day
from misbehaving.repository import NOW, changed, many_items

from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestStopped, Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.errors import RequestRefused, RetryLater
from politeweb.settings import HttpSettings
from recordsilo import Silo
from recordsilo.cli import silo_command

HASTE = HttpSettings(first_pause=0.01, longest_pause=5.0, read_timeout=4.0)
MOST_REQUESTS = 150
"""Far more than any of these needs, far less than a harvest that runs in circles sends."""

TITLE = "{http://purl.org/dc/elements/1.1/}title"
DELETED_IDENTIFIERS = frozenset(map(identifier, DELETED))


@dataclass
class Harvest:
    """What became of a harvest."""

    receipt: Receipt
    titles: dict[str, str | None]  # of what is in the Silo; None: deleted
    requests: int

    @property
    def named(self) -> set[str]:
        """The identifiers of records that the receipt says are not there."""
        told = self.receipt.to_json()
        lost = [*told["quarantined"], *told["unreachable"]]
        return {one if isinstance(one, str) else one["identifier"] for one in lost}


def harvest(
    server: MisbehavingServer,
    directory: str,
    fault: Fault | None = None,
    options: HarvestOptions | None = None,
) -> Harvest:
    query = fault.query if fault else ""
    arguments = dict(fault.arguments) if fault else {}
    with OAIPMHScraper(directory, server.base_url + query, settings=HASTE) as scraper:
        try:
            receipt = scraper.harvest(["oai_dc"], options=options, **arguments)
        except HarvestStopped as stop:
            receipt = stop.receipt
        return Harvest(receipt, titles_in(scraper.store), len(server.repository.asked))


def titles_in(silo: Silo) -> dict[str, str | None]:
    return {name: _title(record) for name, record in silo.items()}


def _title(record) -> str | None:
    if "deleted_at_version" in record.metadata:
        return None
    with record.get_stream("oai_dc") as stream:
        return etree.parse(stream, etree.XMLParser(huge_tree=True)).findtext(f".//{TITLE}")


def meant(*faults: str) -> dict[str, str | None]:
    """The titles of all records that can be had in spite of some faults together."""
    attainable = frozenset.intersection(*(FAULTS[name].attainable for name in faults))
    titles = {item.identifier: item.title for item in repository_with(*faults).items}
    for name in faults:
        titles |= FAULTS[name].titles
    return {one: None if one in DELETED_IDENTIFIERS else titles[one] for one in attainable}


HARVESTED = {name: one for name, one in FAULTS.items() if name != "a_set_that_is_gone"}
"""The faults that let a harvest begin: a set that the repository does not list is refused."""


@pytest.mark.parametrize("name", family(HARVESTED, 8))
def test_everything_that_can_be_had_is_in_the_silo_and_the_rest_is_told(name, tmp_path):
    fault = FAULTS[name]
    with served_with(name) as server:
        found = harvest(server, str(tmp_path / "silo"), fault)
    assert found.titles == meant(name)
    assert found.named == fault.lost_by_name
    assert found.receipt.whole is not (bool(fault.lost_by_name) or fault.doubted)
    assert found.requests <= MOST_REQUESTS


PAIRS = [
    ("tokens_expire", "bare_ampersands"),
    ("tokens_expire", "in_no_order"),
    ("prefix_wanted_with_the_token", "token_zero_begins_again"),  # as pycsw is
    ("encoded_tokens_wanted_verbatim", "token_to_no_records_match"),
    ("errors_inside_http_errors", "token_to_no_records_match"),
    ("list_ends_after_two_pages", "windows_refused"),
    ("list_ends_after_two_pages", "in_no_order"),
    ("deep_paging_fails", "days_only"),
    ("a_poisoned_record", "html_now_and_then"),
    ("a_record_that_poisons_its_page", "control_characters"),
    ("windows_1252_in_places", "html_entities"),
    ("crossed_tags_in_a_record", "no_namespace"),
    ("bare_ampersands", "prefixed_elements"),
    ("cut_short_without_a_length", "gzip_not_announced"),
    ("busy_now_and_then", "connections_reset"),
    ("duplicates_across_pages", "size_of_the_page"),
    ("list_shifts_while_paging", "one_request_at_a_time"),
]


@pytest.mark.parametrize("faults", family(map(list, PAIRS), 4), ids="+".join)
def test_two_faults_at_once_are_got_over_as_well(faults, tmp_path):
    lost = frozenset().union(*(FAULTS[name].lost_by_name for name in faults))
    with served_with(*faults) as server:
        found = harvest(server, str(tmp_path / "silo"))
    assert found.titles == meant(*faults)
    assert found.named == lost
    assert found.receipt.whole is not bool(lost)
    assert found.requests <= MOST_REQUESTS


IN_WINDOWS = [
    name
    for name, fault in HARVESTED.items()
    if fault.line in {7, 8, 16, 18, 21, 53, 54, 57} or 58 <= fault.line <= 69
]


@pytest.mark.usefixtures("windows_that_end_on_one_day")
@pytest.mark.parametrize("name", family(IN_WINDOWS, 3))
def test_faults_of_dates_and_lists_are_got_over_in_windows_as_well(name, tmp_path):
    fault = FAULTS[name]
    sixty_days = HarvestOptions(window=timedelta(days=60))
    with served_with(name) as server:
        found = harvest(server, str(tmp_path / "silo"), fault, sixty_days)
    assert found.titles == meant(name)
    assert found.named == fault.lost_by_name
    assert found.receipt.whole is not (bool(fault.lost_by_name) or fault.doubted)
    assert found.requests <= 2 * MOST_REQUESTS


@pytest.mark.long
def test_where_windows_hide_that_dates_are_others_all_comes_and_a_doubt_is_told(
    windows_end_on, tmp_path
):
    windows_end_on(datetime(2026, 11, 28, tzinfo=UTC))  # of the first windows, none has a record
    fault = FAULTS["windows_of_another_date"]
    with served_with(fault.name) as server:
        options = HarvestOptions(window=timedelta(days=60))
        found = harvest(server, str(tmp_path / "silo"), fault, options)
    assert found.titles == meant(fault.name)
    assert not found.receipt.whole
    assert "nothing shows that" in str(found.receipt)
    assert found.requests <= MOST_REQUESTS


ALL = frozenset(range(1, SIZE + 1))


@pytest.mark.parametrize(
    ("faults", "had"),
    family(
        [
            (("deep_paging_fails", "windows_refused"), range(1, 21)),
            (("third_page_leads_to_itself", "windows_ignored"), range(1, 31)),
            (("a_record_that_poisons_its_page", "identifiers_fail"), ALL - {POISONED}),
            (("lists_end_after_a_page", "days_only"), ALL - {31, 32, 33, 34}),  # all of one day
            (("lists_end_after_a_page", "days_only", "size_of_everything"), ALL - {31, 32, 33, 34}),
            (("lists_end_after_a_page", "windows_ignored", "size_of_everything"), range(1, 11)),
        ],
        3,
    ),
)
@pytest.mark.long
def test_where_there_is_no_way_to_the_rest_the_receipt_says_how_much_is_missing(
    faults, had, tmp_path
):
    with served_with(*faults) as server:
        found = harvest(server, str(tmp_path / "silo"))
    assert set(found.titles) == set(map(identifier, had))
    counts = found.receipt.counts
    assert (found.receipt.whole, counts.promised, counts.listed) == (False, SIZE, len(had))
    assert found.receipt.losses
    assert found.requests <= 2 * MOST_REQUESTS


def test_the_receipt_counts_what_came_and_what_was_mended(tmp_path):
    with served_with("bare_ampersands", "duplicates_across_pages") as server:
        told = harvest(server, str(tmp_path / "silo")).receipt.to_json()
    counts = told["counts"]
    assert (counts["promised"], counts["duplicates"], counts["deleted"]) == (SIZE, 5, len(DELETED))
    assert counts["stored"] == counts["new"] == SIZE - len(DELETED)
    assert told["repairs"]["bare ampersand escaped"] >= SIZE - len(DELETED)


def test_a_repository_that_closes_for_a_day_is_left_alone_and_gone_on_with_later(tmp_path):
    directory = str(tmp_path / "silo")
    repository = Repository()
    closed_for_a_day(repository)
    with MisbehavingServer(repository) as server:
        found = harvest(server, directory)
        assert not found.receipt.whole
        assert set(found.titles) == {identifier(n) for n in range(1, 31)}
        asked = found.requests
        with pytest.raises((HarvestStopped, RetryLater)):
            OAIPMHScraper(directory, server.base_url, settings=HASTE).harvest(["oai_dc"])
        assert len([one for one in repository.asked[asked:] if one.lists]) == 0


# --------------------------------------------------------------------------- the command


# --------------------------------------------------------------------------- long lists


@pytest.mark.long
def test_a_list_of_many_pages_whose_tokens_are_all_the_same_comes_home(tmp_path):
    repository = repository_with("tokens_name_a_session")
    repository.items, repository.page_size = many_items(600, apart=timedelta(hours=8)), 5
    with MisbehavingServer(repository) as server:
        found = harvest(server, str(tmp_path / "silo"))
    assert (len(found.titles), found.receipt.whole) == (600, True)
    assert found.requests <= 3 * 600 / 5


def broken_once(repository, numbers):
    """Crossed tags in some records, until each is asked for by GetRecord."""

    @changed(repository, "entries")
    def entries(step, page):
        text = step(page)
        for item in page.items if page.place.verb == "ListRecords" else ():
            if item.number in numbers:
                sound = repository.metadata(item)
                text = text.replace(sound, sound.replace("</dc:title>", "</dc:creator>", 1))
        return text


def test_what_was_set_aside_is_asked_for_once_more_and_no_oftener_than_one_says(run):
    repository = Repository()
    broken_once(repository, {3, 23, 24, 40})
    with MisbehavingServer(repository) as server:
        _, receipt = run(server, "--ask-again", "0")
        assert receipt["counts"]["quarantined"] == 4
        assert not any(one.verb == "GetRecord" for one in repository.asked)
        result, receipt = run(server, "--ask-again", "3")
        asked = [one.params["identifier"] for one in repository.asked if one.verb == "GetRecord"]
    assert asked == [identifier(number) for number in (3, 23, 24)]
    assert result.exit_code == 1
    assert [one["identifier"] for one in receipt["quarantined"]] == [identifier(40)]
    assert "records set aside and not requested again: 1" in result.stdout
    assert receipt["counts"]["quarantined"] == 1


def test_a_list_left_after_empty_pages_is_not_whole_and_the_next_run_goes_on(run):
    repository = repository_with("empty_pages_before_the_records")
    no_list_size(repository)
    with MisbehavingServer(repository) as server:
        result, receipt = run(server)
        assert (result.exit_code, receipt["whole"]) == (75, False)
        assert "no record on 101 pages in a row" in result.stderr
        assert len(repository.asked) < 110
        result, receipt = run(server)
    assert (result.exit_code, receipt["counts"]["listed"]) == (1, SIZE)
    assert receipt["lists"][0]["doubt"] == "the repository did not say how many records there are"


@pytest.mark.long
def test_a_list_that_breaks_off_again_and_again_is_left_and_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setattr("oaipmhscraper.lists.list_harvest.MOST_IN_VAIN", 2)
    monkeypatch.setattr("oaipmhscraper.lists.list_harvest.VAIN_EACH", 0)
    directory = str(tmp_path / "silo")
    with served_with("a_record_that_poisons_its_page", "identifiers_fail") as server:
        left = harvest(server, directory).receipt
        monkeypatch.undo()
        went_on = harvest(server, directory).receipt
    assert "the list broke off 3 times, and " in left.losses[0]
    assert " windows of dates are left" in left.losses[0]
    assert 0 < left.counts.distinct < went_on.counts.distinct == SIZE - 1


@pytest.mark.parametrize("verb", ["ListRecords", "ListIdentifiers"])
def test_what_never_ends_is_left(verb, run):
    """New tokens, and nothing new: the same records in another order, and empty pages."""
    repository = repository_with()
    no_list_size(repository)

    @changed(repository, "listing")
    def listing(step, place):
        if place.verb != verb or place.begin < 20:
            return step(place)
        serial = repository.next_serial()
        items = [] if serial % 2 else [repository.items[i] for i in (serial % 20, serial % 7)]
        entry = repository.record if verb == "ListRecords" else repository.header
        token = repository.write_token(replace(place, mark=serial))
        entries = "".join(map(entry, items))
        return repository.element(verb, f"{entries}<resumptionToken>{token}</resumptionToken>")

    with MisbehavingServer(repository) as server:
        run(server)
    assert len(repository.asked) < MOST_REQUESTS


@pytest.fixture
def run(tmp_path: Path):
    """`silo harvest` of a server; gives the result and the receipt, if there is one."""

    def harvested(server: MisbehavingServer, *options: str):
        file = tmp_path / "receipt.json"
        arguments = ["harvest", server.base_url, str(tmp_path / "silo"), "--receipt", str(file)]
        result = CliRunner().invoke(silo_command, [*arguments, "--attempts", "2", *options])
        return result, json.loads(file.read_text()) if file.exists() else None

    return harvested


@pytest.mark.parametrize(
    "name", ["tokens_expire", "windows_refused", "bare_ampersands", "list_shifts_while_paging"]
)
def test_the_command_ends_with_0_where_everything_was_got(run, name):
    with served_with(name) as server:
        result, receipt = run(server)
    assert (result.exit_code, receipt["whole"]) == (0, True)
    assert "Whole" in result.stdout


@pytest.mark.parametrize("name", ["crossed_tags_in_a_record", "a_record_without_the_format"])
def test_the_command_ends_with_1_where_a_record_is_lost_and_names_it(run, name):
    with served_with(name) as server:
        result, receipt = run(server)
    assert (result.exit_code, receipt["whole"]) == (1, False)
    lost = [one["identifier"] for one in [*receipt["quarantined"], *receipt["unreachable"]]]
    assert lost == [identifier(23)]
    assert identifier(23) in result.stdout
    assert receipt["counts"]["stored"] == SIZE - len(DELETED) - 1


def test_the_command_ends_with_2_for_a_format_that_is_not_there(run):
    with served_with() as server:
        result, _ = run(server, "-p", "marc21")
    assert result.exit_code == 2


def test_the_command_ends_with_3_where_nothing_is_an_answer(run):
    repository = Repository()
    repository.path = "/elsewhere"
    with MisbehavingServer(repository) as server:
        result, _ = run(server)
    assert result.exit_code == 3
    assert "404" in result.stderr


def test_the_command_ends_with_75_where_it_is_told_to_come_back(run):
    repository = Repository()
    closed_for_a_day(repository)
    with MisbehavingServer(repository) as server:
        result, receipt = run(server)
    assert (result.exit_code, receipt["whole"]) == (75, False)


# --------------------------------------------------------------------------- a second harvest


def test_a_second_harvest_of_the_same_faults_changes_nothing(tmp_path):
    directory = str(tmp_path / "silo")
    with served_with("tokens_expire", "bare_ampersands", "windows_1252_in_places") as server:
        harvest(server, directory)
        again = harvest(server, directory).receipt
    assert (again.whole, again.counts.written) == (True, 0)


def test_a_change_that_appears_late_with_an_older_stamp_comes_with_an_update_that_overlaps(
    tmp_path,
):
    repository = Repository()
    late = replace(
        repository.items[0], identifier=identifier(99), datestamp=NOW - timedelta(minutes=3)
    )
    with MisbehavingServer(repository) as server:
        directory = str(tmp_path / "silo")
        harvest(server, directory)
        repository.items.append(late)
        with OAIPMHScraper(directory, settings=HASTE) as scraper:
            assert scraper.update().counts.listed == 0
            receipt = scraper.update(options=HarvestOptions(overlap=timedelta(days=1)))
            assert late.identifier in scraper.store
    assert (receipt.whole, receipt.counts.written) == (True, 1)


def test_a_record_that_vanishes_is_marked_and_after_a_second_absence_deleted(tmp_path):
    repository, gone, back = Repository(), identifier(23), identifier(30)
    directory = str(tmp_path / "silo")
    with MisbehavingServer(repository) as server:
        harvest(server, directory)
        every_item = repository.items
        repository.items = [one for one in every_item if one.identifier not in {gone, back}]
        assert _marks_after_a_sweep(server, directory) == {gone, back}
        repository.items = [one for one in every_item if one.identifier != gone]
        assert _marks_after_a_sweep(server, directory) == set()
        with Silo(directory, create=False) as silo:
            assert titles_in(silo)[gone] is None
            assert titles_in(silo)[back] is not None
            assert silo[gone].versions == ["1", "2"]


def _marks_after_a_sweep(server: MisbehavingServer, directory: str) -> set[str]:
    """The records marked as missing, once a day later everything was compared."""
    server.repository.now += timedelta(days=1)
    with OAIPMHScraper(directory, server.base_url, settings=HASTE) as scraper:
        assert scraper.harvest(["oai_dc"], options=HarvestOptions(sweep=True)).whole
        return {name for name, one in scraper.store.items() if "missing_since" in one.metadata}


def test_a_set_that_the_repository_does_not_list_is_refused_in_python(tmp_path):
    with served_with() as server:
        directory = str(tmp_path / "silo")
        with OAIPMHScraper(directory, server.base_url, settings=HASTE) as scraper:
            for _ in range(2):
                assert scraper.getRecords("oai_dc", set_id="empty").whole
                with pytest.raises(RequestRefused, match="does not have the set alchemy"):
                    scraper.getRecords("oai_dc", set_id="alchemy")


def test_an_update_tells_of_a_set_that_the_repository_lists_no_longer(tmp_path):
    repository, directory = repository_with("a_set_that_is_gone"), str(tmp_path / "silo")
    with MisbehavingServer(repository) as server:
        with OAIPMHScraper(directory, server.base_url, settings=HASTE) as scraper:
            with pytest.raises(RequestRefused, match="does not have the set gone"):
                scraper.getRecords("oai_dc", set_id="gone")
            assert scraper.getRecords("oai_dc", set_id="history:modern").whole
        there = repository.sets()

        @changed(repository, "sets")
        def sets(step):
            return there.replace("history:modern", "history:old")

        repository.items = [one for one in repository.items if "history" not in one.sets]
        with OAIPMHScraper(directory, server.base_url, settings=HASTE) as scraper:
            receipt = scraper.getRecords("oai_dc", set_id="history:modern")
    assert (receipt.whole, receipt.counts.listed) == (True, 0)
    assert "set is not listed" in receipt.to_json()["repairs"]
    assert "does not have the set history:modern any more" in receipt.text()
