"""A Silo made from recorded responses equals the harvested one, whatever happened then."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from examples import family
from misbehaving import FunctionTransport, repository_with

from oaipmhscraper.commands.harvest import harvest as harvest_command
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestInterrupted, Outcome
from oaipmhscraper.replay.recorded_lists import ListName, RecordedLists
from oaipmhscraper.replay.replay import REPLAYING, replay
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.warc.reading import StoredResponse, read_warc
from oaipmhscraper.warc.responses import ResponseRecorder
from politeweb.answers import Answer
from politeweb.errors import RequestRefused, WarcUnreadable
from recordsilo import Silo

URL = "http://repo.example/oai"


def tree(directory: Path) -> dict[str, object]:
    """Every file of every record, manifests with their dates among them.

    Names of staged files, which a manifest's ``pending`` may hold, are chosen by chance; when and
    by whom it was written (``changed``, ``history``) is another matter.
    """
    found: dict[str, object] = {}
    for place, _, names in os.walk(directory / "pairtree_root"):
        for name in names:
            path = Path(place, name)
            content = path.read_bytes()
            if name.startswith("__manifest.json"):
                content = json.loads(content)
                for key in ("pending", "checksum", "changed", "history"):
                    content.pop(key, None)
            found[str(path.relative_to(directory))] = content
    assert found
    return found


def state(directory: Path) -> dict:
    found = json.loads((directory / "oaipmh_harvester.json").read_text())
    return {key: found.get(key) for key in ("harvested", "identify")}


def quarantined(directory: Path) -> list[dict[str, str]]:
    """What was set aside, in whichever order, with the places on the pages left out."""
    lists = (directory / "harvests").glob("*-quarantine/list.jsonl")
    entries = [json.loads(line) for path in lists for line in path.read_text().splitlines()]
    kept = ("identifier", "reason", "sha256", "received")
    return sorted(({key: one[key] for key in kept} for one in entries), key=str)


def harvested(directory: Path, transport, *prefixes: str, **more):
    with OAIPMHScraper(str(directory), URL, transport=transport, agent="a test") as scraper:
        return scraper.harvest(prefixes or ["oai_dc"], **more)


@pytest.mark.parametrize(
    "fault",
    family(
        [
            None,
            "token_of_the_third_page_refused",
            "list_ends_early_and_promises_nothing",
            "list_ends_after_two_pages",
            "lists_of_both_verbs_end_early_and_promise_nothing",
            "lists_lose_their_token_once",
            "tokens_expire",
            "pages_in_a_circle",
            "all_identifiers_the_same",
            "duplicates_across_pages",
            "control_characters",
            "crossed_tags_in_a_record",
            "crossed_tags_the_first_time",
            "a_record_cut_short",
            "windows_1252_in_places",
            "datestamps_of_nought",
            "html_now_and_then",
            "errors_beside_records",
            "deleted_records_with_metadata",
        ],
        5,
    ),
)
def test_a_replayed_silo_equals_the_harvested_one(tmp_path, fault):
    transport = FunctionTransport(repository_with(*filter(None, [fault])))
    received = harvested(tmp_path / "one", transport)
    again = replay(str(tmp_path / "two"), [str(tmp_path / "one" / "harvests")])
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    assert state(tmp_path / "two") == state(tmp_path / "one")
    assert again.whole == received.whole
    assert quarantined(tmp_path / "two") == quarantined(tmp_path / "one")
    assert again.counts.distinct == received.counts.distinct
    assert again.counts.stored == received.counts.stored
    with Silo(str(tmp_path / "two")) as silo:
        assert silo.state["base_oai_url"] == URL


def test_several_harvests_are_replayed_in_their_order(tmp_path, repository, page):
    one = tmp_path / "one"
    repository.add("oai:x:1", title="first")
    repository.add("oai:x:2")
    harvested(one, repository)
    repository.add("oai:x:1", "2010-11-21", title="second")
    repository.add("oai:x:2", "2010-11-21", deleted=True)
    repository.date = "2010-11-22T12:00:00Z"
    harvested(one, repository, update=True)
    replay(str(tmp_path / "two"), [str(one / "harvests")])
    assert tree(tmp_path / "two") == tree(one)
    assert state(tmp_path / "two") == state(one)
    with Silo(str(tmp_path / "two")) as silo:
        assert silo["oai:x:1"].versions == ["1", "2"]


def test_formats_join_and_an_update_goes_on_after_a_replay(tmp_path, repository):
    formats = {"oai_dc": "<a xmlns='x'>1</a>", "other": "<b xmlns='y'>2</b>"}
    repository.add("oai:x:1", formats=formats)
    harvested(tmp_path / "one", repository, "oai_dc", "other")
    replay(str(tmp_path / "two"), [str(tmp_path / "one" / "harvests")])
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    repository.requests.clear()
    with OAIPMHScraper(str(tmp_path / "two"), transport=repository) as scraper:
        scraper.update()
    lists = [one for one in repository.requests if one["verb"] == "ListRecords"]
    assert {one["from"] for one in lists} == {"2010-11-19"}


def test_pages_only_makes_no_records_and_a_replay_makes_them_all(tmp_path):
    transport = FunctionTransport(repository_with("crossed_tags_in_a_record"))
    only = harvested(tmp_path / "one", transport, options=HarvestOptions(pages_only=True))
    assert only.counts[Outcome.KEPT] + only.counts[Outcome.DELETED] >= 54
    with Silo(str(tmp_path / "one")) as silo:
        assert len(silo) == 0
    assert not state(tmp_path / "one")["harvested"]
    replay(str(tmp_path / "two"), [str(tmp_path / "one" / "harvests")])
    harvested(tmp_path / "three", FunctionTransport(repository_with("crossed_tags_in_a_record")))
    with Silo(str(tmp_path / "two")) as two, Silo(str(tmp_path / "three")) as three:
        assert list(two) == list(three)
        assert len(two) > 50
    assert state(tmp_path / "two") == state(tmp_path / "three")


def test_a_replay_of_updated_pages_makes_what_updates_make(tmp_path, repository):
    pages = HarvestOptions(pages_only=True)
    for directory, options in (("pages", pages), ("records", HarvestOptions())):
        repository.items, repository.date = [], "2010-11-20T12:00:00Z"
        for number in range(5):
            repository.add(f"oai:x:{number}")
        harvested(tmp_path / directory, repository, update=True, options=options)
        repository.date = "2010-11-25T12:00:00Z"
        repository.items[2] = replace(repository.items[2], datestamp="2010-11-24")
        repository.add("oai:x:5", "2010-11-24")
        receipt = harvested(tmp_path / directory, repository, update=True, options=options)
        assert receipt.counts.listed == 2
    replay(str(tmp_path / "replayed"), [str(tmp_path / "pages" / "harvests")])
    with Silo(str(tmp_path / "replayed")) as one, Silo(str(tmp_path / "records")) as other:
        assert {name: one[name].versions for name in one} == {
            name: other[name].versions for name in other
        }
    assert state(tmp_path / "replayed") == state(tmp_path / "records")


def test_a_page_that_came_twice_is_stored_as_it_came_last(tmp_path, repository):
    for number in range(3):
        repository.add(f"oai:x:{number}")
    repository.page_size = 2
    harvested(tmp_path / "one", repository)
    [path] = (tmp_path / "one" / "harvests").glob("*.warc.gz")
    first, *pages = [one for one in read_warc(str(path)) if isinstance(one, StoredResponse)]
    assert [one.params["verb"] for one in (first, *pages)] == ["Identify", *["ListRecords"] * 2]
    with ResponseRecorder(str(tmp_path / "killed"), first.harvest_id) as recorder:
        for one in (first, pages[0], first, *pages, first, pages[1]):  # killed twice
            later = Answer(one.answer.body, one.answer.url)
            recorder.record(one.params, later, "oai_dc")
    kept = _recorded(tmp_path / "killed")
    assert _superseded(kept) == {1, 4}
    replay(str(tmp_path / "two"), [str(tmp_path / "killed")])
    with Silo(str(tmp_path / "two")) as silo:
        dates = {silo[f"oai:x:{n}"].origin().date for n in (0, 2)}
    assert dates == {
        one.answer.received.strftime("%Y-%m-%dT%H:%M:%S.%f") for one in (kept[3], kept[6])
    }


def _superseded(kept):
    overview = RecordedLists()
    for one in kept:
        overview.add(one)
    return overview.superseded


def test_a_last_page_that_is_asked_for_again_was_stored_before(tmp_path):
    harvested(tmp_path / "one", FunctionTransport(repository_with("lists_lose_their_token_once")))
    pages = _recorded(tmp_path / "one" / "harvests")[1:]
    assert pages[1].params == pages[2].params
    assert _superseded(pages) == set()


def test_a_window_that_was_listed_anew_is_stored_twice():
    overview = RecordedLists()
    body = (
        b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><record><header>'
        b"<identifier>a</identifier><datestamp>2010-01-01</datestamp></header></record>"
        b"<resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
    )
    first = {"verb": "ListRecords", "metadataPrefix": "oai_dc", "set": "s"}
    for params in (first, {"verb": "ListRecords", "resumptionToken": "t"}, first):
        overview.add(StoredResponse(params, Answer(body, URL), "x"))
    assert overview.superseded == set()
    assert list(overview.lists) == [ListName("", "oai_dc", "s")]
    assert overview.asked(1).name == ListName("", "oai_dc", "s")


def test_files_without_our_fields_and_receipts_are_replayed_too(tmp_path, repository):
    for number in range(5):
        repository.add(f"oai:x:{number}")
    repository.page_size = 2
    harvested(tmp_path / "one", repository)
    source = tmp_path / "one" / "harvests"
    for path in source.glob("*-receipt.json"):
        path.unlink()
    receipt = replay(str(tmp_path / "two"), [str(source)])
    assert receipt.whole
    assert tree(tmp_path / "two") == tree(tmp_path / "one")


def test_pages_that_are_not_recorded_make_the_list_not_whole(tmp_path, repository):
    for number in range(5):
        repository.add(f"oai:x:{number}")
    repository.page_size = 2
    (tmp_path / "part").mkdir()
    harvested(tmp_path / "one", repository)
    [path] = (tmp_path / "one" / "harvests").glob("*.warc.gz")
    content = path.read_bytes()
    (tmp_path / "part" / path.name).write_bytes(content[: len(content) - 200])
    receipt = replay(str(tmp_path / "two"), [str(tmp_path / "part")])
    assert not receipt.whole
    assert "1 pages were recorded without the one after them" in receipt.losses[0]
    assert "ends in a half-written record" in receipt.lists[0].remarks[0]
    assert state(tmp_path / "two")["harvested"] == {"oai_dc": {"": None}}


def test_what_comes_after_damage_is_replayed_and_the_damage_told(tmp_path, repository):
    for number in range(40):
        repository.add(f"oai:x:{number:02}")
    repository.page_size = 4
    harvested(tmp_path / "one", repository)
    [path] = (tmp_path / "one" / "harvests").glob("*.warc.gz")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 40] = bytes(40)
    path.write_bytes(content)
    command = [str(tmp_path / "two"), "--replay", str(path)]
    result = CliRunner().invoke(harvest_command, command)
    assert result.exit_code == 1
    assert "damaged" in result.output
    assert "bytes are skipped" in result.output
    with Silo(str(tmp_path / "two"), create=False) as silo:
        assert 32 <= len(silo) <= 36
        assert {"oai:x:00", "oai:x:39"} <= set(silo)


def test_a_replay_into_a_silo_with_records_is_refused(tmp_path, repository):
    repository.add("oai:x:1")
    harvested(tmp_path / "one", repository)
    before = tree(tmp_path / "one")
    with pytest.raises(RequestRefused, match="already has records"):
        replay(str(tmp_path / "one"), [str(tmp_path / "one" / "harvests")])
    assert tree(tmp_path / "one") == before


def test_an_interrupted_replay_is_begun_again(tmp_path, repository):
    for number in range(5):
        repository.add(f"oai:x:{number}")
    repository.page_size = 2
    harvested(tmp_path / "one", repository)
    sources, calls = [str(tmp_path / "one" / "harvests")], []

    def interrupting(_receipt):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(HarvestInterrupted) as stop:
        replay(str(tmp_path / "two"), sources, progress=interrupting)
    assert stop.value.receipt.counts.listed == 4
    assert REPLAYING in json.loads((tmp_path / "two" / "oaipmh_harvester.json").read_text())
    assert replay(str(tmp_path / "two"), sources).whole
    assert tree(tmp_path / "two") == tree(tmp_path / "one")


def test_a_hook_may_leave_records_out(tmp_path, repository):
    repository.add("oai:x:1")
    repository.add("oai:x:2")
    harvested(tmp_path / "one", repository)
    receipt = replay(
        str(tmp_path / "two"),
        [str(tmp_path / "one" / "harvests")],
        before_store=lambda record, _prefix: (
            None if record.header.identifier == "oai:x:1" else record
        ),
    )
    assert receipt.counts.to_json()["left_out"] == 1


def test_files_without_oai_are_refused(tmp_path):
    with ResponseRecorder(str(tmp_path), "20261121T211331.123456Z") as recorder:
        recorder.record({"q": "1"}, Answer(b"x", "http://r.example/"))
    with pytest.raises(WarcUnreadable, match="have no response to an OAI-PMH request"):
        replay(str(tmp_path / "two"), [str(tmp_path)])
    assert not (tmp_path / "two").exists()


# --------------------------------------------------------------------------- the command


def _recorded(directory: Path) -> list[StoredResponse]:
    paths = sorted(directory.glob("*.warc.gz"))
    return [
        one for path in paths for one in read_warc(str(path)) if isinstance(one, StoredResponse)
    ]


def run(*arguments: str):
    return CliRunner().invoke(harvest_command, arguments)


def test_the_command_replays(tmp_path, repository):
    repository.add("oai:x:1")
    harvested(tmp_path / "one", repository)
    done = run("--replay", str(tmp_path / "one" / "harvests"), str(tmp_path / "two"))
    assert done.exit_code == 0, done.output
    assert "Whole: everything listed is in the Silo." in done.output
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    assert run("--replay", str(tmp_path / "one" / "harvests"), str(tmp_path / "two")).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--replay", ".", "a", "b"], "expected DIR"),
        (["--replay", ".", "--update", "a"], "--replay takes no --update: it sends no requests"),
        (["--replay", ".", "--delay", "5", "--no-count", "a"], "takes no --count or --delay"),
        (["--replay", "nowhere", "a"], "does not exist"),
        (["only-one"], "expected URL and DIR"),
    ],
)
def test_a_users_mistake_is_a_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2
    assert sentence in done.output


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (("-p", "oai_cd"), "no list of the format 'oai_cd'; they have oai_dc, uketd_dc; did you"),
        (("--set", "chemistr"), "no list of the set 'chemistr'; they have chemistry; did you mean"),
        (("--identifier-prefix", "oai:x:"), "--replay takes no"),
    ],
)
def test_a_choice_that_was_not_recorded_is_refused(tmp_path, repository, choice, sentence):
    repository.add("oai:x:1", sets=["chemistry"])
    harvested(tmp_path / "one", repository, "oai_dc", "uketd_dc", set_spec="chemistry")
    refused = run("--replay", str(tmp_path / "one" / "harvests"), *choice, str(tmp_path / "two"))
    assert (refused.exit_code, sentence in refused.output) == (2, True), refused.output
    assert not (tmp_path / "two").exists()


def test_a_set_is_refused_if_none_was_recorded(tmp_path, repository):
    repository.add("oai:x:1")
    harvested(tmp_path / "one", repository)
    with pytest.raises(RequestRefused, match="they have no set at all"):
        replay(str(tmp_path / "two"), [str(tmp_path / "one" / "harvests")], set_spec="a")


def test_only_the_chosen_lists_are_replayed(tmp_path, repository):
    formats = {"oai_dc": "<a/>", "uketd_dc": "<a/>"}
    repository.add("oai:x:1", formats=formats, sets=["chemistry"])
    repository.add("oai:x:2", formats=formats, sets=["physics"])
    for name in ("chemistry", "physics"):
        harvested(tmp_path / "one", repository, "oai_dc", "uketd_dc", set_spec=name)
    source = str(tmp_path / "one" / "harvests")
    done = run("--replay", source, "-p", "uketd_dc", "--set", "physics", str(tmp_path / "two"))
    assert done.exit_code == 0, done.output
    with Silo(str(tmp_path / "two")) as silo:
        assert list(silo) == ["oai:x:2"]
        assert silo["oai:x:2"].list_parts() == ["uketd_dc"]
    marks = json.dumps(state(tmp_path / "two")["harvested"])
    assert [one in marks for one in ("uketd_dc", "physics", "oai_dc", "chemistry")] == [
        True, True, False, False
    ]  # fmt: skip
