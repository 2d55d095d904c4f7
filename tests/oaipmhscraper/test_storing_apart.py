"""A second process stores what is fetched: the same Silo, receipts and resumption."""

import errno
import logging
import os
import pickle
from itertools import count

import pytest
from fake_repository import FakeRepository, envelope

from oaipmhclient.fetchers import Fetchers, Woken
from oaipmhclient.light_pages import read_well_formed_lightly
from oaipmhclient.mending.repair import read_records_mended
from oaipmhscraper.errors import FetchedPageUnreadable, StoringEnded
from oaipmhscraper.lists import list_harvest
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.lists.storing_apart import Apart
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.progress import beside
from oaipmhscraper.receipt import HarvestInterrupted
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.storing import fetched_pages
from recordsilo import second_process
from recordsilo.errors import DirectoryNotEmpty, ManifestUnreadable

URL = "http://repo.example/oai"
APART = HarvestOptions(apart_from=0)
PAGES = 4
FAILING = (
    "from oaipmhscraper.storing import silo_writer\n"
    "def store(*_): STATEMENT\n"
    "silo_writer.SiloWriter.store = store\n"
)


@pytest.fixture
def repository():
    found = FakeRepository(page_size=3)
    for number in range(3 * PAGES - 1):
        found.add(f"oai:x:{number}", sets=("s",), about=("<a/>",) * (number % 3))
    found.add("oai:x:gone").deleted = True
    return found


@pytest.fixture
def fails(monkeypatch):
    """Let the second process do something else than store its first page."""
    path, main = second_process._PROGRAM.split(";", 2)[:2], second_process._PROGRAM

    def fail(statement, before=FAILING):
        begin = ";".join(path) + "\n" + before.replace("STATEMENT", statement)
        monkeypatch.setattr(second_process, "_PROGRAM", begin + main)

    yield fail
    monkeypatch.undo()


def harvest(directory, repository, options=APART, **how):
    with OAIPMHScraper(directory, URL, transport=repository) as scraper:
        receipt = scraper.harvest(["oai_dc"], options=options, **how)
        return receipt, sorted(scraper.store)


def pages_asked(repository):
    return [one for one in repository.requests if one["verb"] == "ListRecords"]


def left_to_store(directory):
    with Journal(directory) as journal:
        return [page for job in journal.jobs() for row in journal.lists(job)
                for page in journal.fetched(row.id)]  # fmt: skip


def counts_of(receipt):
    return receipt.counts.to_json()


def manifests(directory):
    found = {}
    for place, _, names in os.walk(os.path.join(directory, "pairtree_root")):
        for name in names:
            if "manifest" not in name:  # it has times
                path = os.path.join(place, name)
                with open(path, "rb") as file:
                    found[os.path.relpath(path, directory)] = file.read()
    return found


@pytest.mark.long
def test_two_processes_store_what_one_stores(repository, tmp_path):
    told = []
    two, one = str(tmp_path / "two"), str(tmp_path / "one")
    repository.add("x" * 9000)  # no path is that long
    receipt, names = harvest(two, repository, progress=told.append)
    other, same_names = harvest(one, repository, HarvestOptions())
    assert (counts_of(receipt), names) == (counts_of(other), same_names)
    assert [str(one) for one in receipt.losses] == [str(one) for one in other.losses] != []
    assert manifests(two) == manifests(one)
    assert any("fetched " in beside(each) for each in told), "progress tells both numbers"
    assert not left_to_store(two)
    again, _ = harvest(two, repository)
    assert counts_of(again)["unchanged"] == 3 * PAGES - 1


@pytest.mark.long
def test_an_update_of_two_processes_stores_changes_and_deletions(repository, tmp_path):
    harvest(str(tmp_path / "s"), repository)
    repository.add("oai:x:0", datestamp="2010-12-01", title="New")
    repository.add("oai:x:1", datestamp="2010-12-01").deleted = True
    receipt, _ = harvest(str(tmp_path / "s"), repository, update=True)
    counts = counts_of(receipt)
    assert (receipt.whole, counts["updated"], counts["deleted"]) == (True, 1, 1)


@pytest.mark.long
def test_the_second_process_ends_and_the_next_run_stores_without_fetching(
    repository, tmp_path, fails
):
    directory = str(tmp_path / "s")
    fails("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(StoringEnded, match="killed by signal 9; the same command continues"):
        harvest(directory, repository)
    waiting, asked = left_to_store(directory), pages_asked(repository)
    assert waiting, "the pages that are fetched are still to be stored"
    fails("", before="")
    receipt, names = harvest(directory, repository)
    assert receipt.whole
    assert len(names) == 3 * PAGES == counts_of(receipt)["listed"]
    more = pages_asked(repository)[len(asked) :]
    assert len(more) == PAGES - len(waiting), "no page twice"


def test_one_process_stores_what_two_have_fetched(repository, tmp_path, fails):
    directory = str(tmp_path / "s")
    fails("raise SystemExit(3)")
    with pytest.raises(StoringEnded, match="exit code 3"):
        harvest(directory, repository)
    receipt, names = harvest(directory, repository, HarvestOptions())
    assert (receipt.whole, len(names)) == (True, 3 * PAGES)
    assert len(pages_asked(repository)) == PAGES


def test_an_error_of_the_second_process_ends_the_harvest_with_its_sentence(
    repository, tmp_path, fails
):
    fails(f"raise OSError({errno.ENOSPC}, 'No space left on device', '/silo/x')")
    with pytest.raises(OSError, match="No space left on device: '/silo/x'") as caught:
        harvest(str(tmp_path / "s"), repository)
    assert caught.value.errno == errno.ENOSPC


def test_a_second_process_that_cannot_open_the_silo_says_so_in_a_sentence(
    repository, tmp_path, fails
):
    fails(
        "raise fetched_pages.FetchedPageUnreadable('no Silo')",
        "from oaipmhscraper.storing import fetched_pages\n"
        "def opened(*_, **__): STATEMENT\n"
        "fetched_pages.Silo = opened\n",
    )
    with pytest.raises(FetchedPageUnreadable, match="no Silo"):
        harvest(str(tmp_path / "s"), repository)
    assert left_to_store(str(tmp_path / "s"))


@pytest.mark.long
def test_what_the_second_process_logs_is_logged_here(repository, tmp_path, caplog):
    with caplog.at_level(logging.INFO, "OAIPMH Harvester"):
        harvest(str(tmp_path / "s"), repository)
    said = [one.getMessage() for one in caplog.records if "object: oai:x:" in one.getMessage()]
    assert len(said) == 3 * PAGES
    assert {one.process for one in caplog.records if one.getMessage() in said} != {os.getpid()}
    caplog.clear()
    harvest(str(tmp_path / "quiet"), repository)
    assert not caplog.records


@pytest.mark.parametrize(
    "error",
    [
        FetchedPageUnreadable("x.warc.gz is missing"),
        StoringEnded(-9),
        ManifestUnreadable("/x", "it is empty"),
        DirectoryNotEmpty("x:1", "1", "a/b"),
        OSError(errno.ENOSPC, "No space left on device", "/x"),
        UnicodeDecodeError("ascii", b"x", 0, 1, "no"),
    ],
)
def test_an_error_arrives_from_the_second_process_as_it_was(error):
    found = pickle.loads(pickle.dumps(fetched_pages.Failed(error))).error
    assert (type(found), str(found)) == (type(error), str(error))
    assert vars(found) == vars(error)


@pytest.mark.long
def test_a_missing_warc_file_is_told_and_the_list_can_be_fetched_again(repository, tmp_path, fails):
    directory = str(tmp_path / "s")
    fails("raise SystemExit(3)")
    with pytest.raises(StoringEnded):
        harvest(directory, repository)
    for page in left_to_store(directory):
        path = os.path.join(directory, "harvests", page.file)
        if os.path.exists(path):
            os.unlink(path)
    with pytest.raises(FetchedPageUnreadable, match="fetch the list again with --again"):
        harvest(directory, repository, HarvestOptions())
    receipt, names = harvest(directory, repository, HarvestOptions(anew=True))
    assert (receipt.whole, len(names)) == (True, 3 * PAGES)


@pytest.mark.long
def test_an_interrupted_harvest_of_two_processes_goes_on(repository, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    directory = str(tmp_path / "s")
    with pytest.raises(HarvestInterrupted) as caught:
        harvest(directory, repository, progress=interrupt)
    assert not caught.value.receipt.whole
    receipt, names = harvest(directory, repository)
    assert (receipt.whole, len(names)) == (True, 3 * PAGES)
    assert len(pages_asked(repository)) == PAGES


@pytest.mark.long
def test_ctrl_c_between_an_answer_and_its_count_loses_no_count(repository, tmp_path, monkeypatch):
    directory, answers = str(tmp_path / "s"), count(1)
    take = Fetchers.next

    def interrupted(fetchers):
        found = take(fetchers)
        if isinstance(found, Woken) and next(answers) == 1:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(Fetchers, "next", interrupted)
    with pytest.raises(HarvestInterrupted):
        harvest(directory, repository)
    receipt, names = harvest(directory, repository)
    assert (receipt.whole, len(names)) == (True, 3 * PAGES)
    counts = counts_of(receipt)
    assert (counts["listed"], counts["new"]) == (3 * PAGES, 3 * PAGES - 1)
    assert counts["duplicates"] == 0


@pytest.mark.long
def test_an_update_of_everything_stores_what_is_fetched(repository, tmp_path, fails):
    directory = str(tmp_path / "s")
    repository.page_size = 100
    fails("raise SystemExit(3)")
    with pytest.raises(StoringEnded):
        harvest(directory, repository)
    with OAIPMHScraper(directory, URL, transport=repository) as scraper:
        assert scraper.update().whole
        assert len(scraper.store) == 3 * PAGES
    assert len(pages_asked(repository)) == 1


@pytest.mark.long
def test_fetching_waits_if_it_is_too_far_ahead(repository, tmp_path, monkeypatch):
    monkeypatch.setattr(list_harvest, "MOST_AHEAD", 1)
    told = []
    receipt, _ = harvest(str(tmp_path / "s"), repository, progress=told.append)
    assert receipt.whole
    assert max(each.to_store for each in told) == 3


def test_a_subclass_that_changes_records_stores_in_one_process(repository, tmp_path, fails):
    class Changing(OAIPMHScraper):
        def before_store(self, record, metadata_prefix):
            return record if record.header.deleted else None

    fails("raise SystemExit(3)")
    with Changing(str(tmp_path / "s"), URL, transport=repository) as scraper:
        scraper.harvest(["oai_dc"], options=APART)
        assert list(scraper.store) == ["oai:x:gone"]


def test_records_that_only_the_second_process_finds_unreadable_are_set_aside(
    repository, tmp_path, monkeypatch
):
    monkeypatch.setattr(list_harvest, "read_well_formed_lightly", fetched_pages.read_lightly)
    repository.items[4].formats["oai_dc"] = "<a><b>" + chr(1) + "</c></a>"
    receipt, names = harvest(str(tmp_path / "s"), repository)
    assert [one.identifier for one in receipt.lists[0].quarantined] == ["oai:x:4"]
    assert len(names) == 3 * PAGES - 1


@pytest.mark.parametrize("inside", ["<a>&b;</a>", "<x:a/>", "<a>" + chr(11) + "</a>", "<a></b>"])
def test_a_malformed_page_is_never_read_lightly(inside):
    record = (
        "<record><header><identifier>i</identifier><datestamp>2010-01-01</datestamp></header>"
        f"<metadata>{inside}</metadata></record>"
    )
    body = envelope(f"<ListRecords>{record}</ListRecords>")
    assert read_well_formed_lightly(body) == read_records_mended(body)
    sound = read_well_formed_lightly(body.replace(inside.encode(), b"<a/>"))
    assert [one.metadata for one in sound.items] == [None]


def test_a_second_process_pays_where_the_repository_takes_its_time():
    long = Apart(None, 2_000)
    assert long.pays(2_000, 0.25, 1.0)
    assert not long.pays(2_000, 0.24, 1.0), "no latency"
    assert not long.pays(1_999, 9.0, 1.0), "a short list"
    assert Apart(None, 0).pays(1, 0.0, 1.0), "as asked for"
    assert not Apart(None, None).pays(10**6, 9.0, 1.0)
