"""Unannounced deletions, found by comparing lists with the Silo."""

import pytest
from misbehaving import DELETED, FunctionTransport, identifier, repository_with
from misbehaving.repository import Condition, Instead, changed, html

from oaipmhclient.client import Client
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.listed_pages import RECORDS
from oaipmhclient.walk.values import ListJob
from oaipmhclient.walk.whole_lists import whole_list
from oaipmhscraper.storing.silo_writer import SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from oaipmhscraper.storing.sweep import sweep
from oaipmhscraper.sweep_rules import Absence, SweepRefused, absence, most_missing
from recordsilo import Silo

ALL = ListJob("oai_dc")
LIVING = 55 - len(DELETED)


class Swept:
    """A repository, harvested into a Silo, and swept day after day."""

    def __init__(self, directory, *faults, job=ALL):
        self.repository = repository_with(*faults)
        self.client = Client(FunctionTransport(self.repository))
        self.job = job
        self.silo = Silo(str(directory))
        self.harvest()

    def harvest(self):
        writer = SiloWriter(self.silo, Reception("oai_dc", "tests"))
        for listed in whole_list(self.client, RECORDS, self.job, EndpointMemory()):
            writer.store(listed.page)

    def without(self, *numbers):
        self.repository.items = [i for i in self.repository.items if i.number not in numbers]

    def sweep(self, day=1, **settings):
        self.repository.now = self.repository.now.replace(day=day)
        return sweep(self.client, self.silo, [self.job], EndpointMemory(), **settings)

    def mark(self, number):
        return self.silo[identifier(number)].metadata.get("missing_since")


@pytest.fixture
def swept(tmp_path):
    made = Swept(tmp_path / "silo")
    yield made
    made.silo.close()


def test_a_repository_with_everything_is_left_alone(swept):
    found = swept.sweep()
    assert (found.listed, found.compared) == (55, LIVING)
    assert (found.marked, found.deleted, found.returned) == ((), (), 0)
    assert found.date == "2012-06-01T12:00:00Z"


def test_the_first_absence_is_marked_and_the_second_deletes(swept):
    swept.without(3, 40)
    first = swept.sweep(day=1)
    assert set(first.marked) == {identifier(3), identifier(40)}
    assert first.deleted == ()
    assert swept.mark(3) == "2012-06-01T12:00:00Z"
    assert "deleted_at_version" not in swept.silo[identifier(3)].metadata
    second = swept.sweep(day=8)
    assert (set(second.deleted), second.marked) == ({identifier(3), identifier(40)}, ())
    record = swept.silo[identifier(3)]
    assert record.metadata["deleted_at_date"] == "2012-06-08T12:00:00"
    assert record.versions == ["1", "2"]
    assert record.paths("1") == ["oai_dc"]
    assert "GetRecord" in record.origin("2").message
    third = swept.sweep(day=15)
    assert (third.marked, third.deleted, third.compared) == ((), (), LIVING - 2)


def test_a_record_that_is_listed_again_loses_its_mark(swept):
    items = swept.repository.items
    swept.without(3)
    swept.sweep(day=1)
    swept.repository.items = items
    found = swept.sweep(day=2)
    assert (found.returned, found.marked) == (1, ())
    assert swept.mark(3) is None


def test_a_record_that_is_harvested_again_loses_its_mark(swept):
    items = swept.repository.items
    swept.without(3)
    swept.sweep()
    assert swept.mark(3)
    swept.repository.items = items
    swept.harvest()
    assert swept.mark(3) is None


def test_one_sweep_counts_once_however_often_it_is_begun(swept):
    swept.without(3)
    assert swept.sweep(day=1).marked == (identifier(3),)
    again = swept.sweep(day=1)
    assert (again.marked, again.deleted) == ((), ())
    assert swept.mark(3) == "2012-06-01T12:00:00Z"


def test_a_record_that_get_record_still_has_is_not_deleted(swept):
    @changed(swept.repository, "chosen")
    def chosen(step, place):
        return [item for item in step(place) if item.number != 3]

    assert swept.sweep(day=1).marked == (identifier(3),)
    second = swept.sweep(day=2)
    assert (second.unlisted, second.deleted) == ((identifier(3),), ())
    assert swept.mark(3) is None
    assert swept.silo[identifier(3)].versions == ["1"]


@pytest.mark.parametrize("answer", [Instead(html(500)), Condition("badArgument")])
def test_a_record_that_nobody_can_tell_about_keeps_its_mark(swept, answer):
    swept.without(3)
    swept.sweep(day=1)

    @changed(swept.repository, "get_record")
    def get_record(step, asked):
        raise answer

    found = swept.sweep(day=2)
    assert (found.undecided, found.deleted) == ((identifier(3),), ())
    assert swept.mark(3) == "2012-06-01T12:00:00Z"


def test_a_list_that_shrank_by_more_than_its_share_is_not_believed(swept):
    swept.without(*range(1, 20))
    with pytest.raises(SweepRefused, match="more than the limit of 10%"):
        swept.sweep()
    assert swept.mark(1) is None
    believed = swept.sweep(share=0.5)
    assert len(believed.marked) == 18  # number 8 was deleted before


def test_an_empty_list_is_not_believed_whatever_the_share(swept):
    swept.repository.items = []
    with pytest.raises(SweepRefused, match="lists nothing at all"):
        swept.sweep(share=1.0)


def test_a_list_of_identifiers_that_breaks_off_deletes_nothing(swept):
    swept.without(3)

    @changed(swept.repository, "read_token")
    def read_token(step, text, asked):
        raise Instead(html(500))

    @changed(swept.repository, "check_window")
    def check_window(step, place):
        if place.from_ or place.until:
            raise Condition("badArgument")

    with pytest.raises(SweepRefused, match="not complete"):
        swept.sweep()
    assert swept.mark(3) is None


def test_what_was_made_here_is_not_missing(swept):
    record = swept.silo.get_item("local:1")
    record.put_stream("note.txt", b"ours")
    found = swept.sweep()
    assert found.marked == ()
    assert found.compared == LIVING + 1


def test_a_sweep_of_a_set_looks_at_its_records_only(tmp_path):
    swept = Swept(tmp_path / "silo")
    swept.job = ListJob("oai_dc", "physics")
    swept.without(3, 4)  # 4 is of another set
    found = swept.sweep()
    swept.silo.close()
    assert found.marked == (identifier(3),)
    assert found.compared == 28 - len([number for number in DELETED if number % 2])


def test_a_share_lets_at_least_one_record_go():
    assert [most_missing(count, 0.1) for count in (0, 1, 19, 20, 1000)] == [1, 1, 1, 2, 100]


def test_an_absence_counts_by_sweeps():
    assert absence(None, "2012-06-01") is Absence.MARK
    assert absence("2012-06-01", "2012-06-01") is Absence.WAIT
    assert absence("2012-05-01", "2012-06-01") is Absence.ASK


def test_a_sweep_is_told_in_json_and_in_words(swept):
    swept.without(3)
    found = swept.sweep()
    assert found.to_json()["missing_since"] == [identifier(3)]
    assert found.text() == (
        "Sweep: 54 identifiers listed, 50 records compared; 1 missing for the first time,"
        " 0 deleted, 0 returned"
    )
