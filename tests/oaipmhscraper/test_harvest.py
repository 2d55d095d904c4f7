"""Lists followed to their end, or as far as possible; start dates, updates and receipts."""

import json
import os
import signal
from datetime import UTC, datetime

import pytest

from oaipmhclient.errors import PageUnreadable
from oaipmhprotocol.queries import with_short_tokens
from oaipmhscraper.errors import NothingToUpdate
from oaipmhscraper.interrupts import interrupt_deferred
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestInterrupted, HarvestStopped
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.errors import EndpointUnreachable, RequestRefused


def fill(repository, count, **more):
    for number in range(count):
        repository.add(f"oai:x:{number}", **more)


def receipts(silo):
    directory = os.path.join(silo.path, "harvests")
    names = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    names = [name for name in names if name.endswith("-receipt.json")]
    found = []
    for name in names:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            found.append(json.load(file))
    return found


def lists_sent(repository):
    return [r for r in repository.requests if r["verb"] == "ListRecords"]


# --- whole harvests


def test_a_harvest_over_several_pages_is_whole(repository, scraper, silo):
    fill(repository, 7)
    repository.page_size = 3
    receipt = scraper.getRecords("oai_dc")
    counts = receipt.counts.to_json()
    assert receipt.whole
    assert (counts["promised"], counts["listed"], counts["stored"]) == (7, 7, 7)
    assert len(silo) == 7
    assert receipt.text().endswith("Whole: everything listed is in the Silo.")


def test_a_second_harvest_says_that_nothing_changed(repository, scraper):
    fill(repository, 3)
    scraper.getRecords("oai_dc")
    assert scraper.getRecords("oai_dc").text().splitlines()[-1].startswith("Nothing changed")


def test_every_record_listed_has_one_outcome(repository, scraper):
    fill(repository, 5)
    repository.add("oai:x:gone").deleted = True
    repository.add("x" * 9000)
    counts = scraper.getRecords("oai_dc").counts.to_json()
    outcomes = ("new", "updated", "unchanged", "deleted", "duplicates", "quarantined", "left_out")
    assert counts["listed"] == 7 == sum(counts[name] for name in outcomes)
    again = scraper.getRecords("oai_dc").counts.to_json()
    assert (counts["deleted"], again["deleted"], again["deleted_before"]) == (1, 0, 1)


def test_an_empty_repository_is_a_whole_harvest_of_nothing_and_makes_no_mark(scraper, silo):
    receipt = scraper.getRecords("oai_dc")
    assert "harvested" not in scraper.state
    assert receipt.whole
    assert receipt.counts.listed == 0
    assert len(silo) == 0


def no_identifiers(repository, page):
    """ListIdentifiers is of no use in this repository."""
    repository.answers.append(
        lambda p: page('<error code="badVerb"/>') if p["verb"] == "ListIdentifiers" else None
    )


def test_a_wrong_promise_is_settled_by_listing_the_identifiers_in_windows(repository, scraper):
    for number in range(5):
        repository.add(f"oai:x:{number}", f"2010-01-0{number + 1}")
    repository.page_size, repository.promise = 3, 9
    receipt = scraper.getRecords("oai_dc")
    assert receipt.whole
    assert (receipt.counts.promised, receipt.lists[0].settled, receipt.counts.listed) == (9, 5, 5)
    assert any(r["verb"] == "ListIdentifiers" for r in repository.requests)
    assert receipt.remarks[0] == (
        "oai_dc: the number of records was checked with a list of all identifiers "
        "(end of a list whose completeListSize is not a count)"
    )


def test_a_promise_that_no_other_window_can_prove_wrong_is_not_kept(repository, scraper):
    fill(repository, 5)  # all of one day
    repository.page_size, repository.promise = 3, 9
    receipt = scraper.getRecords("oai_dc")
    assert not receipt.whole
    assert receipt.losses == [
        "oai_dc: the repository promised 9 records and listed 5; 4 are missing"
    ]


@pytest.mark.parametrize("selection", [{"set_id": "a"}, {"_from": "2010-01-02"}])
def test_a_promise_of_a_wider_list_is_none_of_this_list(selection, repository, scraper):
    fill(repository, 5, datestamp="2010-01-05", sets=("a",))
    for number in range(5, 9):
        repository.add(f"oai:x:{number}", "2010-01-01", sets=("b",))
    repository.items.sort(key=lambda item: item.datestamp)
    repository.page_size, repository.promise = 3, 9
    receipt = scraper.getRecords("oai_dc", **selection)
    assert (receipt.whole, receipt.counts.listed, receipt.lists[0].settled) == (True, 5, 5)
    assert receipt.repairs["completeListSize is that of a wider list"] == 1


def test_a_list_of_one_promise_kept_asks_for_no_identifiers(repository, scraper):
    fill(repository, 5)
    repository.page_size = 3
    assert scraper.getRecords("oai_dc").whole
    assert not any(r["verb"] == "ListIdentifiers" for r in repository.requests)


def test_records_that_only_the_identifiers_tell_of_are_fetched_one_by_one(
    repository, scraper, silo, page
):
    fill(repository, 5)
    first = "".join(item.xml("oai_dc") for item in repository.items[:3])
    repository.answers.append(
        lambda p: (
            page(f"<ListRecords>{first}</ListRecords>") if p["verb"] == "ListRecords" else None
        )
    )
    repository.answers.append(
        lambda p: (
            page(
                f"<GetRecord>{repository.items[int(p['identifier'][-1])].xml('oai_dc')}</GetRecord>"
            )
            if p["verb"] == "GetRecord"
            else None
        )
    )
    receipt = scraper.getRecords("oai_dc")
    doubt = "identifiers counted in lists that ended on weak grounds"  # all have one date
    assert (receipt.whole, receipt.lists[0].doubt, receipt.lists[0].missing) == (False, doubt, 0)
    assert (receipt.counts.listed, len(silo)) == (5, 5)
    assert len([r for r in repository.requests if r["verb"] == "GetRecord"]) == 2


def test_a_listed_record_that_cannot_be_had_is_named_unreachable(repository, scraper, silo, page):
    fill(repository, 2)
    one = repository.items[0].xml("oai_dc")
    answers = {
        "ListRecords": f"<ListRecords>{one}</ListRecords>",
        "GetRecord": '<error code="idDoesNotExist"/>',
    }
    repository.answers.append(lambda p: page(answers[p["verb"]]) if p["verb"] in answers else None)
    receipt = scraper.getRecords("oai_dc")
    assert not receipt.whole
    assert [lost.identifier for lost in receipt.lists[0].unreachable] == ["oai:x:1"]
    assert receipt.to_json()["unreachable"][0]["identifier"] == "oai:x:1"
    assert receipt.counts.to_json()["unreachable"] == 1


def test_fewer_records_than_promised_are_not_whole(repository, scraper, page):
    fill(repository, 5)
    repository.page_size, repository.promise = 3, 9
    no_identifiers(repository, page)
    receipt = scraper.getRecords("oai_dc")
    assert not receipt.whole
    assert receipt.losses == [
        "oai_dc: the repository promised 9 records and listed 5; 4 are missing"
    ]


def test_a_list_that_ends_in_no_records_match_is_whole_only_with_all_that_was_promised(
    repository, scraper, page
):
    fill(repository, 5)
    repository.page_size = 3
    repository.answers.append(
        lambda p: page('<error code="noRecordsMatch"/>') if "resumptionToken" in p else None
    )
    with pytest.raises(HarvestStopped):
        scraper.getRecords("oai_dc")
    repository.promise = 3
    assert scraper.harvest(["oai_dc"], options=HarvestOptions(anew=True)).whole


def test_more_records_than_promised_are_whole(repository, scraper):
    fill(repository, 5)
    repository.page_size, repository.promise = 3, 2
    assert scraper.getRecords("oai_dc").whole


def test_the_hook_changes_records_and_leaves_them_out(repository, silo_dir):
    class Choosy(OAIPMHScraper):
        def before_store(self, record, metadata_prefix):
            if record.header.identifier == "oai:x:0":
                return None
            return type(record)(record.header, record.metadata.replace(b"A title", b"Mine"))

    fill(repository, 2)
    with Choosy(silo_dir, "http://repo.example/oai", transport=repository) as scraper:
        counts = scraper.getRecords("oai_dc").counts.to_json()
        assert (counts["left_out"], counts["new"]) == (1, 1)
        with scraper.store["oai:x:1"].get_stream("oai_dc") as stream:
            assert b"Mine" in stream.read()


# --- what breaks off


def test_an_unreadable_page_stops_the_harvest_and_keeps_the_pages_before(repository, scraper, silo):
    fill(repository, 7)
    repository.page_size = 3
    repository.answers.append(
        lambda p: b"<html>" if p.get("resumptionToken", "").endswith("|6") else None
    )
    with pytest.raises(HarvestStopped) as stopped:
        scraper.getRecords("oai_dc")
    stop = stopped.value
    assert isinstance(stop.cause, PageUnreadable)
    assert "&resumptionToken=oai_dc" in stop.request
    assert stop.request.endswith("%7C6")
    assert with_short_tokens(stop.request) in str(stop)
    assert "HTML" in str(stop)
    assert (len(silo), stop.receipt.counts.stored, stop.receipt.whole) == (6, 6, False)
    assert receipts(silo)[-1]["whole"] is False
    assert "HTML" in receipts(silo)[-1]["lists"][0]["stopped"]


def test_a_second_run_goes_on_without_storing_anything_twice(repository, scraper, silo):
    fill(repository, 7)
    repository.page_size = 3
    repository.answers.append(
        lambda p: b"" if p.get("resumptionToken", "").endswith("|6") else None
    )
    with pytest.raises(HarvestStopped):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    repository.requests.clear()
    receipt = scraper.getRecords("oai_dc")
    counts = receipt.counts.to_json()
    assert receipt.whole
    assert (counts["listed"], counts["new"], counts["written"]) == (7, 7, 7)
    assert all(silo[identifier].versions == ["1"] for identifier in silo)


@pytest.mark.parametrize(
    "body",
    [
        '<error code="badResumptionToken"/>',
        "<ListRecords>{}<resumptionToken>oai_dc|||3</resumptionToken></ListRecords>",
    ],
)
def test_a_refused_token_and_a_circle_are_not_the_end_of_the_list(repository, scraper, page, body):
    fill(repository, 7)
    repository.page_size = 3
    body = body.format(repository.items[3].xml("oai_dc"))
    repository.answers.append(lambda p: page(body) if "resumptionToken" in p else None)
    try:
        receipt = scraper.getRecords("oai_dc")
    except HarvestStopped as stopped:
        receipt = stopped.receipt
    assert not receipt.whole
    assert receipt.counts.listed in {3, 4}
    assert not scraper.state["harvested"]["oai_dc"][""]


def test_a_format_that_breaks_off_does_not_keep_the_others(repository, scraper, silo, page, dc):
    repository.add("oai:x:1", formats={"oai_dc": dc("T"), "p": "<p/>"})
    repository.answers.append(
        lambda p: (
            page('<error code="cannotDisseminateFormat"/>')
            if p.get("metadataPrefix") == "oai_dc"
            else None
        )
    )
    with pytest.raises(HarvestStopped, match="cannotDisseminateFormat") as stopped:
        scraper.harvest(["oai_dc", "p"])
    assert [one.whole for one in stopped.value.receipt.lists] == [False, True]
    assert silo["oai:x:1"].files == ["p"]


def test_an_unreachable_repository_ends_the_whole_harvest(repository, scraper):
    def gone(params):
        raise EndpointUnreachable("http://repo.example/oai", "the connection was refused")

    repository.answers.append(gone)
    with pytest.raises(HarvestStopped) as stopped:
        scraper.harvest(["oai_dc", "p"])
    assert len(stopped.value.receipt.lists) == 1
    assert "the harvest stopped at verb=ListRecords&metadataPrefix=oai_dc: " in str(stopped.value)


# --- Ctrl-C


def test_an_interrupt_while_a_page_is_stored_finishes_the_page(repository, scraper, silo):
    fill(repository, 7)
    repository.page_size = 3

    def interrupt(receipt):
        if receipt.counts.listed == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(HarvestInterrupted) as stopped:
        scraper.harvest(["oai_dc"], progress=interrupt)
    assert isinstance(stopped.value, KeyboardInterrupt)
    assert (len(silo), stopped.value.receipt.counts.stored) == (3, 3)
    assert not stopped.value.receipt.whole
    assert len(lists_sent(repository)) == 1
    assert receipts(silo)[-1]["counts"]["stored"] == 3


def test_an_interrupt_while_a_page_is_fetched_is_taken_at_once(repository, scraper, silo):
    fill(repository, 7)
    repository.page_size = 3

    def interrupt(params):
        if "resumptionToken" in params:
            raise KeyboardInterrupt

    repository.answers.append(interrupt)
    with pytest.raises(HarvestInterrupted):
        scraper.getRecords("oai_dc")
    assert len(silo) == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_deferred_interrupt_comes_after_the_block_and_the_handler_is_put_back(number):
    before = signal.signal(number, signal.default_int_handler)
    done = []
    try:
        with pytest.raises(KeyboardInterrupt), interrupt_deferred():  # noqa: PT012 - it is the case
            os.kill(os.getpid(), number)
            done.append(True)
        assert done == [True]
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)


# --- marks and updates


def test_a_fresh_state_knows_the_repository_only(scraper):
    assert set(scraper.state) == {"lastidentified", "identify"}


def test_an_update_starts_one_granule_before_the_first_response_of_the_last_harvest(
    repository, scraper
):
    fill(repository, 4)
    repository.page_size = 2
    dates = iter(["2010-11-20T12:00:00Z", "2010-11-25T12:00:00Z"])
    repository.answers.append(lambda _: setattr(repository, "date", next(dates)))
    scraper.getRecords("oai_dc")
    repository.answers.clear()
    assert scraper.state["harvested"] == {"oai_dc": {"": "2010-11-20T12:00:00Z"}}
    receipt = scraper.getRecords("oai_dc", update=True)
    assert lists_sent(repository)[-1] == {
        "verb": "ListRecords",
        "metadataPrefix": "oai_dc",
        "from": "2010-11-19",
    }
    assert receipt.whole
    assert receipt.text().splitlines()[-1] == "Nothing new."


def test_an_update_uses_the_repositorys_granularity(repository, silo_dir):
    repository.granularity = "YYYY-MM-DDThh:mm:ssZ"
    fill(repository, 1)
    with OAIPMHScraper(silo_dir, "http://repo.example/oai", transport=repository) as scraper:
        scraper.getRecords("oai_dc")
        scraper.getRecords("oai_dc", update=True)
    assert lists_sent(repository)[-1]["from"] == "2010-11-20T11:59:59Z"


def test_an_update_without_an_earlier_harvest_takes_everything(repository, scraper):
    fill(repository, 2)
    assert scraper.getRecords("oai_dc", update=True).counts.listed == 2
    assert "from" not in lists_sent(repository)[-1]


def test_formats_and_sets_have_marks_of_their_own(repository, scraper):
    repository.add("oai:x:1", sets=("a",))
    scraper.getRecords("oai_dc", set_id="a")
    scraper.getRecords("oai_dc", update=True)
    assert "from" not in lists_sent(repository)[-1]
    scraper.getRecords("oai_dc", update=True, set_id="a")
    assert lists_sent(repository)[-1]["from"] == "2010-11-19"
    assert lists_sent(repository)[-1]["set"] == "a"


@pytest.mark.parametrize(
    ("bounds", "moves"),
    [
        ({}, True),
        ({"_from": "2010-11-20"}, True),
        ({"_from": "2010-11-01"}, True),
        ({"_from": "2010-11-20T12:00:00Z"}, True),
        ({"_from": "2010-11-20T12:00:01Z"}, False),
        ({"_from": "2010-11-21"}, False),
        ({"_until": "2010-12-31"}, False),
        ({"_from": "2010-11-01", "_until": "2010-12-31"}, False),
    ],
)
def test_only_a_run_that_leaves_no_gap_moves_the_mark(repository, scraper, bounds, moves):
    fill(repository, 2, datestamp="2010-11-30")
    scraper.getRecords("oai_dc")
    repository.date = "2010-12-24T00:00:00Z"
    scraper.getRecords("oai_dc", **bounds)
    mark = scraper.state["harvested"]["oai_dc"][""]
    assert mark == ("2010-12-24T00:00:00Z" if moves else "2010-11-20T12:00:00Z")


def test_a_run_with_from_makes_no_first_mark(repository, scraper):
    fill(repository, 2)
    scraper.getRecords("oai_dc", _from="2009-01-01")
    assert scraper.state["harvested"] == {"oai_dc": {"": None}}


def test_a_failed_or_short_harvest_moves_no_mark(repository, scraper, page):
    fill(repository, 5)
    scraper.getRecords("oai_dc")
    repository.date, repository.page_size = "2010-12-24T00:00:00Z", 2
    repository.answers.append(lambda p: b"" if "resumptionToken" in p else None)
    with pytest.raises(HarvestStopped):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    no_identifiers(repository, page)
    repository.promise = 6
    assert not scraper.getRecords("oai_dc").whole
    assert scraper.state["harvested"] == {"oai_dc": {"": "2010-11-20T12:00:00Z"}}


def test_an_update_that_finds_nothing_is_whole_and_moves_the_mark(repository, scraper):
    fill(repository, 1)
    scraper.getRecords("oai_dc")
    repository.date = "2010-12-24T00:00:00Z"
    assert scraper.getRecords("oai_dc", update=True).whole
    assert scraper.state["harvested"] == {"oai_dc": {"": "2010-12-24T00:00:00Z"}}


def test_an_answer_without_a_time_moves_no_mark(repository, scraper):
    fill(repository, 1)
    repository.date = "now"
    assert scraper.getRecords("oai_dc").whole
    assert scraper.state["harvested"] == {"oai_dc": {"": None}}


def test_update_goes_on_with_everything_harvested_before(repository, scraper, dc):
    repository.add("oai:x:1", sets=("a",), formats={"oai_dc": dc("T"), "p": "<p/>"})
    scraper.getRecords("oai_dc")
    scraper.getRecords("p", set_id="a")
    repository.requests.clear()
    receipt = scraper.update()
    assert [(one.metadata_prefix, one.set_spec, one.from_) for one in receipt.lists] == [
        ("oai_dc", None, "2010-11-19"),
        ("p", "a", "2010-11-19"),
    ]
    assert receipt.to_json()["set"] is None
    assert receipt.to_json()["from"] == "2010-11-19"


def test_update_begins_again_what_was_never_complete(repository, scraper):
    fill(repository, 4)
    repository.page_size = 2
    repository.answers.append(lambda p: b"" if "resumptionToken" in p else None)
    with pytest.raises(HarvestStopped):
        scraper.getRecords("oai_dc")
    repository.answers.clear()
    assert scraper.update().counts.listed == 4


def test_update_of_nothing_is_an_error(scraper):
    with pytest.raises(NothingToUpdate):
        scraper.update()


def test_update_takes_no_bounds_of_its_own(repository, scraper):
    with pytest.raises(RequestRefused, match="chooses its dates itself"):
        scraper.getRecords("oai_dc", update=True, _from="2010-01-01")


def test_a_window_that_cannot_be_is_refused_and_sends_nothing(repository, scraper):
    repository.requests.clear()
    with pytest.raises(RequestRefused):
        scraper.getRecords("oai_dc", _from="2010-02-01", _until="2010-01-01")
    with pytest.raises(RequestRefused):
        scraper.getRecords("../oai_dc")
    assert repository.requests == []


# --- receipts


def test_every_harvest_leaves_its_receipt_in_the_silo(repository, scraper, silo):
    fill(repository, 2)
    receipt = scraper.harvest(["oai_dc"])
    assert receipts(silo) == [receipt.to_json()]
    found = receipts(silo)[0]
    assert found["base_url"] == "http://repo.example/oai"
    assert found["metadata_prefix"] == ["oai_dc"]
    assert (found["set"], found["from"], found["until"]) == (None, None, None)
    assert found["whole"] is True
    assert found["counts"]["stored"] == 2
    assert datetime.fromisoformat(found["started"]) <= datetime.now(UTC)


def test_the_receipt_names_what_was_set_aside(repository, scraper, silo):
    repository.add("oai:x:0")
    repository.add("oai:x:1", formats={"oai_dc": "<a>"})
    scraper.getRecords("oai_dc")
    (found,) = receipts(silo)
    (one,) = found["quarantined"]
    assert one["identifier"] == "oai:x:1"
    assert one["reason"].startswith("is not well-formed XML: Opening and ending tag mismatch: a")
    assert "record 2 of the page, from byte " in one["where"]


def test_a_record_without_a_sound_datestamp_is_dated_by_the_answer_and_that_is_told(
    repository, scraper, silo
):
    repository.add("oai:x:1", "0000-00-00")
    receipt = scraper.getRecords("oai_dc")
    assert receipt.whole
    assert receipts(silo)[0]["repairs"] == {"datestamp of the answer taken": 1}
    assert silo["oai:x:1"].origin("1").prefixes == {"oai_dc": "2010-11-20T12:00:00"}


def test_progress_is_told_after_every_page_and_at_the_end(repository, scraper):
    fill(repository, 5)
    repository.page_size = 2
    seen = []
    scraper.harvest(
        ["oai_dc"], progress=lambda r: seen.append((r.counts.listed, r.counts.promised, r.ended))
    )
    assert seen == [(2, 5, False), (4, 5, False), (5, 5, False), (5, 5, True)]
