"""OAIPMHScraper: opening, stored state, and requests."""

import errno
import io
import os
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest
from misbehaving import misbehaving

from oaipmhclient.errors import PageUnreadable
from oaipmhprovider.server import SampleServer
from oaipmhscraper.errors import BaseURLConflict, NoBaseURL
from oaipmhscraper.progress import Bars
from oaipmhscraper.receipt import HarvestStopped
from oaipmhscraper.scraper import OAIPMHScraper
from politeweb.addresses import host_of
from politeweb.errors import EndpointUnreachable, RequestRefused
from politeweb.file_pace import FilePace
from recordsilo import Silo, SiloNotWritable
from recordsilo.errors import NotASilo, SiloNotFound

URL = "http://repo.example/oai"
OAI_IDENTIFIER = (
    '<description><oai-identifier xmlns="http://www.openarchives.org/OAI/2.0/oai-identifier">'
    "<scheme>oai</scheme><repositoryIdentifier>repo.example</repositoryIdentifier>"
    "<delimiter>:</delimiter></oai-identifier></description>"
)


def scraper_of(repository, directory, url=URL, *more, **options):
    return OAIPMHScraper(directory, url, *more, transport=repository, **options)


def test_the_state_has_the_shape_of_2010(repository, silo_dir):
    repository.descriptions = '<description><d xmlns="urn:d">text</d></description>'
    with scraper_of(repository, silo_dir) as scraper:
        assert repr(scraper.state).startswith("{'lastidentified': '20")
        found = dict(scraper.state["identify"])
        (description,) = found.pop("descriptions")
        assert description.startswith('<d xmlns="urn:d"')
        assert found == {
            "repositoryName": "Repository of tests",
            "baseURL": URL,
            "protocolVersion": "2.0",
            "adminEmails": ["admin@repo.example"],
            "earliestDatestamp": "0001-01-01 00:00:00",
            "deletedRecord": "persistent",
            "granularity": "YYYY-MM-DD",
            "compression": [],
        }
    assert os.path.exists(os.path.join(silo_dir, "oaipmh_harvester.json"))


def test_the_silo_remembers_where_it_comes_from(repository, silo_dir):
    with scraper_of(repository, silo_dir, URL, "oai:repo.example:") as scraper:
        assert scraper.store.state["base_oai_url"] == URL
        assert scraper.store.state["uri_base"] == URL
        assert scraper.store.state["identifier_uri_prefix"] == "oai:repo.example:"
        assert scraper.store.state["storage_dir"] == silo_dir


def test_the_identifier_prefix_is_what_the_repository_says_of_its_identifiers(
    repository, silo_dir, tmp_path
):
    repository.descriptions = OAI_IDENTIFIER
    with scraper_of(repository, silo_dir) as scraper:
        assert scraper.store.state["identifier_uri_prefix"] == "oai:repo.example:"
    repository.descriptions = ""
    with scraper_of(repository, str(tmp_path / "other")) as scraper:
        assert not scraper.store.state.get("identifier_uri_prefix")


def test_where_nobody_identifies_itself_no_directory_is_left(repository, silo_dir):
    repository.answers.append(lambda _: b"<html>")
    with pytest.raises(PageUnreadable):
        scraper_of(repository, silo_dir)
    assert not os.path.exists(silo_dir)
    with pytest.raises(EndpointUnreachable):
        OAIPMHScraper(silo_dir, "http://127.0.0.1:1/oai")
    assert not os.path.exists(silo_dir)


def test_an_address_that_is_none_is_refused_before_anything(silo_dir):
    with pytest.raises(RequestRefused):
        OAIPMHScraper(silo_dir, "eprints.example.org")
    assert not os.path.exists(silo_dir)


def test_the_directory_alone_is_enough_to_go_on(repository, silo_dir):
    repository.add("oai:x:1")
    scraper_of(repository, silo_dir).close()
    repository.requests.clear()
    with scraper_of(repository, silo_dir, None) as scraper:
        assert scraper.identify()["repositoryName"] == "Repository of tests"
        assert repository.requests == []
        assert scraper.getRecords("oai_dc").counts.stored == 1


def test_a_directory_that_is_no_silo_is_refused_and_nobody_asked(repository, tmp_path):
    (tmp_path / "file").write_text("x")
    for url in (URL, None):
        with pytest.raises(NotASilo):
            scraper_of(repository, str(tmp_path), url)
    with pytest.raises(SiloNotFound):
        scraper_of(repository, str(tmp_path / "absent"), None)
    assert repository.requests == []


def test_an_empty_directory_becomes_a_silo(repository, tmp_path):
    with scraper_of(repository, str(tmp_path)) as scraper:
        assert len(scraper.store) == 0


@pytest.mark.parametrize(
    "left",
    [
        ["pairtree_root/"],
        ["pairtree_root/", "pairtree_prefix"],
        ["pairtree_root/", "pairtree_prefix", "persisted_state.json.7-4bc780bb.tmp"],
    ],
)
def test_a_silo_whose_making_was_killed_is_made_again(repository, silo_dir, left):
    for name in left:
        os.makedirs(os.path.join(silo_dir, os.path.dirname(name)), exist_ok=True)
        if not name.endswith("/"):
            open(os.path.join(silo_dir, name), "w").close()
    with scraper_of(repository, silo_dir) as scraper:
        assert scraper.getRecords("oai_dc").counts.stored == 0
        assert scraper.store.state["base_oai_url"] == URL


@pytest.mark.parametrize(
    "ask",
    [
        lambda scraper: scraper.getRecords("oai_dc"),
        lambda scraper: scraper.update(),
        lambda scraper: scraper.size_of_lists(["oai_dc"]),
    ],
)
def test_a_silo_that_cannot_be_written_is_named(repository, silo_dir, monkeypatch, ask):
    repository.add("oai:x:1")
    with scraper_of(repository, silo_dir) as scraper:
        scraper.getRecords("oai_dc")

    def refused(path):
        raise OSError(errno.EROFS, "Read-only file system", f"{path}/.silo/harvest.sqlite")

    for module in ("scraper", "harvests.job"):
        monkeypatch.setattr(f"oaipmhscraper.{module}.Journal", refused)
    with (
        scraper_of(repository, silo_dir, None) as scraper,
        pytest.raises(SiloNotWritable, match=f"^the Silo {silo_dir} is read-only; make it"),
    ):
        ask(scraper)


def test_a_silo_of_another_repository_is_refused_with_what_to_do(repository, silo_dir):
    scraper_of(repository, silo_dir).close()
    with pytest.raises(BaseURLConflict, match="silo harvest --moved http://new/oai"):
        scraper_of(repository, silo_dir, "http://new/oai")
    with scraper_of(repository, silo_dir, URL + "?verb=Identify") as scraper:
        assert scraper.store.state["base_oai_url"] == URL


@pytest.mark.parametrize(("first", "again"), [(URL, URL + "/"), (URL + "/", URL)])
def test_a_slash_at_the_end_of_a_base_url_makes_no_other_repository(
    repository, silo_dir, first, again
):
    scraper_of(repository, silo_dir, first).close()
    for location in (again, again + "?verb=Identify", again.replace("://", "://ada:secret@")):
        with scraper_of(repository, silo_dir, location) as scraper:
            assert scraper.getRecords("oai_dc").base_url == first
            assert scraper.store.state["base_oai_url"] == first
    with pytest.raises(BaseURLConflict):
        scraper_of(repository, silo_dir, URL + "/x")


def test_a_repository_that_moved_is_remembered_at_its_new_address(repository, silo_dir):
    with scraper_of(repository, silo_dir) as scraper:
        scraper.moved_to("http://new/oai?verb=Identify")
        assert scraper.store.state["base_oai_url"] == "http://new/oai"
        assert scraper.getRecords("oai_dc").base_url == "http://new/oai"
    scraper_of(repository, silo_dir, "http://new/oai").close()


def test_a_repository_that_does_not_answer_has_not_moved_there(repository, silo_dir):
    with scraper_of(repository, silo_dir) as scraper:
        repository.answers.append(lambda _: b"")
        with pytest.raises(PageUnreadable):
            scraper.moved_to("http://new/oai")
        assert scraper.store.state["base_oai_url"] == URL


def test_a_silo_made_by_hand_learns_its_repository(repository, silo_dir):
    Silo(silo_dir).close()
    with pytest.raises(NoBaseURL, match="has no repository yet"):
        scraper_of(repository, silo_dir, None)
    scraper_of(repository, silo_dir).close()
    with scraper_of(repository, silo_dir, None) as scraper:
        assert scraper.store.state["base_oai_url"] == URL


def test_credentials_are_stored_nowhere(repository, silo_dir):
    repository.add("oai:x:1")
    with scraper_of(repository, silo_dir, "http://user:secret@repo.example/oai") as scraper:
        scraper.getRecords("oai_dc")
    for directory, _, names in os.walk(silo_dir):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                assert b"secret" not in file.read(), name


def test_identify_asks_again_only_when_told_to(repository, silo_dir):
    with scraper_of(repository, silo_dir) as scraper:
        before = scraper.state["lastidentified"]
        scraper.identify()
        assert len(repository.requests) == 1
        scraper.identify(refresh_cache=True)
        assert len(repository.requests) == 2
        assert scraper.state["lastidentified"] > before


@pytest.mark.parametrize("code", ["noRecordsMatch", "badArgument"])
@pytest.mark.parametrize("update", [False, True])
def test_a_set_that_the_repository_lacks_is_an_error_and_not_remembered(
    repository, silo_dir, page, code, update
):
    repository.add("oai:x:1", sets=("col_1",))
    repository.sets = {"col_1": "Biology"}
    repository.answers.append(
        lambda params: page(f'<error code="{code}"/>') if params.get("set") == "nope" else None
    )
    with scraper_of(repository, silo_dir) as scraper:
        assert scraper.getRecords("oai_dc", set_id="col_1").counts.listed == 1
        marks = scraper.marks
        with pytest.raises(RequestRefused, match="does not have the set nope"):
            scraper.getRecords("oai_dc", set_id="nope", update=update)
        assert scraper.marks == marks
        assert scraper.update().whole


def test_sets_are_given_by_name_and_remembered(repository, silo_dir):
    repository.sets = {"a": "First", "a:b": "Below"}
    with scraper_of(repository, silo_dir) as scraper:
        assert scraper.getSets() == {"a": "First", "a:b": "Below"}
    with scraper_of(repository, silo_dir, None) as scraper:
        assert scraper.state["sets"] == {"a": "First", "a:b": "Below"}
        repository.sets = {}
        assert scraper.getSets() == {}


def test_metadata_prefixes_are_given_with_schema_and_namespace(scraper):
    assert scraper.getMetadataPrefixes() == {
        "oai_dc": (
            "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
            "http://www.openarchives.org/OAI/2.0/oai_dc/",
        )
    }
    assert {name: tuple(one) for name, one in scraper.state["formats"].items()} == (
        scraper.getMetadataPrefixes()
    )


def test_formats_for_forms_are_requested_once_unless_they_are_to_be_refreshed(repository, scraper):
    def asked():
        return [one["verb"] for one in repository.requests].count("ListMetadataFormats")

    scraper.learn_choices()
    scraper.learn_choices()
    assert (asked(), list(scraper.state["formats"])) == (1, ["oai_dc"])
    repository.answers.append(lambda p: b"<html>" if p["verb"] == "ListMetadataFormats" else None)
    scraper.learn_choices(refresh=True)  # a broken list is no failure, and keeps what is known
    assert asked() > 1
    assert list(scraper.state["formats"]) == ["oai_dc"]


def test_identifiers_come_with_dates_deleted_ones_included(repository, scraper, silo):
    repository.add("oai:x:1", "2004-06-24", sets=("a",))
    repository.add("oai:x:2", "2005-06-24").deleted = True
    repository.add("oai:x:3", "0000-00-00", formats={"p": "<p/>"})
    assert list(scraper.getIdentifiers()) == [
        ("oai:x:1", "2004-06-24T00:00:00"),
        ("oai:x:2", "2005-06-24T00:00:00"),
    ]
    assert list(scraper.getIdentifiers(set_id="a")) == [("oai:x:1", "2004-06-24T00:00:00")]
    assert list(scraper.getIdentifiers(metadataPrefix="p")) == [("oai:x:3", "0000-00-00")]
    assert list(scraper.getIdentifiers(metadataPrefix="none")) == []
    assert len(silo) == 0


def test_identifiers_of_an_update_are_those_since_the_last_harvest(repository, scraper):
    repository.add("oai:x:1", "2004-06-24")
    scraper.getRecords("oai_dc")
    repository.add("oai:x:2", "2010-11-20")
    assert [identifier for identifier, _ in scraper.getIdentifiers(update=True)] == ["oai:x:2"]


def test_marks_set_at_the_same_time_are_all_kept(repository, silo_dir, dc):
    prefixes = [f"p{number}" for number in range(8)]
    repository.add("oai:x:1", formats=dict.fromkeys(prefixes, dc("T")))
    scraper_of(repository, silo_dir).close()

    def run(prefix):
        with scraper_of(repository, silo_dir, None) as scraper:
            scraper.getRecords(prefix)

    with ThreadPoolExecutor(len(prefixes)) as pool:
        list(pool.map(run, prefixes))
    with scraper_of(repository, silo_dir, None) as scraper:
        assert set(scraper.state["harvested"]) == set(prefixes)
        assert sorted(scraper.store["oai:x:1"].files) == prefixes


def test_what_other_processes_wrote_into_the_state_stays(repository, silo_dir):
    repository.add("oai:x:1", formats={"oai_dc": "<a/>", "p": "<p/>"})
    repository.sets = {"a": "First"}
    with (
        scraper_of(repository, silo_dir) as one,
        scraper_of(repository, silo_dir, None) as other,
    ):
        one.getRecords("oai_dc")
        other.getRecords("p")
        one.getSets()
        assert set(one.state["harvested"]) == {"oai_dc", "p"}


class _CountedTurns:
    """A pace whose turns are counted, and whose pauses are noted."""

    interval = 0.0

    def __init__(self):
        self.turns, self.pauses = 0, []

    def reserve(self):
        self.turns += 1
        return 0.0

    def hold(self, seconds):
        self.pauses.append(seconds)


def test_every_request_takes_a_turn_of_the_pace_that_was_given(silo_dir):
    turns = _CountedTurns()
    with (
        misbehaving("busy_now_and_then") as server,
        OAIPMHScraper(silo_dir, server.base_url, pace=turns) as scraper,
    ):
        assert scraper.getRecords("oai_dc").whole
        asked = len(server.repository.asked)
        scraper.moved_to(server.base_url)
        assert len(server.repository.asked) == asked + 1
    assert turns.turns == asked + 1
    assert 0.0 in turns.pauses


def test_a_silo_of_a_fleet_is_harvested_by_hand_at_the_pace_of_the_fleet(tmp_path):
    (tmp_path / "fleet").mkdir()
    with SampleServer(port=0) as server:
        fleet = FilePace(str(tmp_path / "fleet"), host_of(server.base_url), 0.5)
        fleet.reserve()
        begin = time.monotonic()
        with OAIPMHScraper(str(tmp_path / "one"), server.base_url) as scraper:
            scraper.getSets()
        assert time.monotonic() - begin >= 1
        assert fleet.reserve() > 0


def test_a_scraper_shows_its_silo_and_its_repository(repository, silo_dir):
    with scraper_of(repository, silo_dir) as scraper:
        assert repr(scraper) == f"OAIPMHScraper({silo_dir!r}, {URL!r})"


def test_a_format_that_there_is_not_is_told_without_the_frames_of_threads(silo_dir):
    with (
        SampleServer(port=0) as server,
        OAIPMHScraper(silo_dir, server.base_url) as scraper,
        pytest.raises(HarvestStopped) as told,
    ):
        scraper.getRecords("nope")
    shown = "".join(traceback.format_exception(told.value))
    assert "direct cause" not in shown
    assert "fetchers.py" not in shown


def test_a_bar_without_a_list_prints_nothing():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    with Bars(terminal):
        pass
    assert terminal.getvalue() == ""
