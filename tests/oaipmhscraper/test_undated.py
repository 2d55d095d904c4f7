"""Records without a usable datestamp."""

from datetime import UTC, datetime

import pytest

from oaipmhclient.mending.undated import dated
from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import Header, Record
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.silo_writer import SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from recordsilo import Silo

ANSWERED = datetime(2012, 5, 31, 8, 30, 1, tzinfo=UTC)
LATER = datetime(2012, 6, 30, 8, 30, 1, tzinfo=UTC)
KIND = "datestamp of the answer taken"


def page(*datestamps, moment=ANSWERED, deleted=False, **more):
    items = tuple(
        Record(Header(f"oai:x:{number}", datestamp, deleted=deleted), None if deleted else b"<a/>")
        for number, datestamp in enumerate(datestamps)
    )
    return ListPage(items, moment, **more)


@pytest.fixture
def silo(tmp_path):
    with Silo(str(tmp_path / "s")) as made:
        yield made


def stored(silo, listed, prefix="oai_dc"):
    writer = SiloWriter(silo, Reception(prefix))
    return writer.store(dated(listed, LATER), LATER)


@pytest.mark.parametrize("datestamp", ["", "0000-00-00", "yesterday", "2010-13-45"])
def test_a_datestamp_nobody_can_read_gives_way_to_the_answers(datestamp):
    found = dated(page("2010-01-01", datestamp))
    assert [one.header.datestamp for one in found.items] == ["2010-01-01", "2012-05-31T08:30:01Z"]
    assert found.repairs == {KIND: 1}
    assert found.mended == {1: (KIND,)}


@pytest.mark.parametrize(
    "datestamp", ["2010-01-01T01:02:03.456+02:00", " 2010-01-01 ", "2010-01-01"]
)
def test_a_datestamp_that_can_be_read_stays_as_sent(datestamp):
    listed = page(datestamp)
    assert dated(listed) is listed


def test_other_repairs_of_the_record_stay_noted():
    found = dated(page("", mended={0: ("a",)}, repairs={"a": 3}))
    assert (found.mended, found.repairs) == ({0: ("a", KIND)}, {"a": 3, KIND: 1})


def test_the_answers_arrival_dates_where_it_tells_no_date_of_its_own():
    found = dated(page("", moment=None), LATER)
    assert found.items[0].header.datestamp == "2012-06-30T08:30:01Z"
    assert dated(page("", moment=None)).items[0].header.datestamp == ""


def test_an_undated_record_is_stored_and_no_news_as_long_as_its_content_stays(silo):
    assert stored(silo, page("")).outcomes == {Outcome.NEW: 1}
    before = silo["oai:x:0"].manifest
    again = stored(silo, page("", moment=LATER))
    assert (again.outcomes, again.written) == ({Outcome.UNCHANGED: 1}, 0)
    assert silo["oai:x:0"].manifest == before
    assert silo["oai:x:0"].origin("1").prefixes == {"oai_dc": "2012-05-31T08:30:01"}
    assert KIND in silo["oai:x:0"].origin("1").message


def test_a_second_format_of_an_undated_record_joins_its_version(silo):
    stored(silo, page(""))
    stored(silo, page("", moment=LATER), "marc")
    assert list(silo["oai:x:0"].versions) == ["1"]


def test_an_undated_deletion_makes_one_tombstone(silo):
    stored(silo, page(""))
    assert stored(silo, page("", moment=LATER, deleted=True)).outcomes == {Outcome.DELETED: 1}
    before = silo["oai:x:0"].manifest
    last = datetime(2013, 1, 1, tzinfo=UTC)
    again = stored(silo, page("", moment=last, deleted=True))
    assert (again.outcomes, again.written) == ({Outcome.DELETED_BEFORE: 1}, 0)
    assert silo["oai:x:0"].manifest == before


def test_a_record_that_nothing_dates_is_quarantined(silo):
    found = SiloWriter(silo, Reception("oai_dc")).store(page("", moment=None))
    assert [one.reason for one in found.quarantined] == ["has no valid datestamp ('')"]
