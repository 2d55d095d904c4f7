"""Saved searches as sets: who is in them, and how harvesters hear of who enters and leaves."""

import itertools
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given as for_all
from hypothesis import strategies as st
from provided_silo import DC, Clock, dc, given, harvest, headers
from provider_asker import Asker, validator

from oaipmhprovider import ProviderServer, Settings
from oaipmhscraper import OAIPMHScraper
from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.index import SearchFilters
from recordsilo.selection import Selection
from silocuration.searches import (
    SavedSearch,
    SearchNotFound,
    delete_search,
    save_search,
    search_path,
)
from siloprovider import searches
from siloprovider.errors import SettingInvalid
from siloprovider.providing import provided
from siloprovider.searches import check_searches
from siloprovider.set_names import spec_of_name, spec_of_search
from siloprovider.settings import ProviderSettings

SOLAR = "search.solar"
TIMES = itertools.count()
ALL = ProviderSettings(all_searches=True, page_size=2)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(searches, "_SHARE", 0)
    return Clock(monkeypatch)


@pytest.fixture
def silo(tmp_path: Path, clock: Clock) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as silo:
        for number in range(6):
            clock.tick()
            subject = "Solar" if number % 2 else "Wind"
            harvest(silo, f"oai:x:{number}", sets=("a:b",), oai_dc=on(subject))
        save(silo, SavedSearch("solar", "About the sun", about("Solar")))
        yield silo


@pytest.fixture
def asked(silo: Silo, clock: Clock) -> Iterator[Any]:
    opened: list[Any] = []

    def ask(settings: ProviderSettings = ALL) -> Asker:
        opened.append(provided(silo, settings, clock.now))
        one = opened[-1].__enter__()
        return Asker(validator(), one.source, Settings("http://127.0.0.1:1/oai", page_size=2))

    yield ask
    for one in opened:
        one.__exit__(None, None, None)


def about(subject: str) -> Selection:
    """The search for the records with a subject."""
    return Selection(filters=SearchFilters(values={"subject": [subject]}))


def save(silo: Silo, search: SavedSearch) -> None:
    """Save a search in the place of one of that name, at a time of its own."""
    with suppress(SearchNotFound):
        delete_search(silo.path, search.name)
    save_search(silo.path, search)
    os.utime(search_path(silo.path, search.name), (0, next(TIMES)))


def on(subject: str) -> str:
    """A record with a subject."""
    return DC.format(f"<dc:title>T</dc:title><dc:subject>{subject}</dc:subject>")


def change(silo: Silo, identifier: str, subject: str) -> None:
    record = silo[identifier]
    if "mine" not in record.versions:
        record.clone_version("1", "mine")
    record.put_stream("oai_dc", on(subject))


def names(found: list[tuple[str, str, bool]]) -> list[str]:
    return [one[0][-1] + ("-" if one[2] else "") for one in found]


def specs(ask: Asker, identifier: str) -> list[str]:
    return [one.text or "" for one in given(ask, identifier).iter("{*}setSpec")]


def test_a_saved_search_is_a_set_of_what_it_finds(silo: Silo, asked: Any) -> None:
    ask = asked()
    assert names(headers(ask, set=SOLAR)) == ["1", "3", "5"]
    assert headers(ask, set=SOLAR) == headers(ask)[1::2], "dates are those of before"
    sets = {
        one.findtext("{*}setSpec"): one.findtext("{*}setName")
        for one in ask(verb="ListSets").iter("{*}set")
    }
    assert sets == {"a": "a", "a:b": "a:b", SOLAR: "About the sun"}
    assert specs(ask, "oai:x:1") == ["a:b", SOLAR]
    assert specs(ask, "oai:x:2") == ["a:b"]
    records = ask(verb="ListRecords", metadataPrefix="oai_dc", set=SOLAR)
    assert len([*records.iter("{*}metadata")]) == 2


def test_the_text_of_a_collection_describes_its_set(silo: Silo, asked: Any) -> None:
    table = {"text": "Heat & <light>\x01"}
    save(silo, SavedSearch("solar", "About the sun", about("Solar"), collection=table))
    (one,) = asked()(verb="ListSets").iter("{*}setDescription")
    assert one.findtext("{*}dc/{*}description") == "Heat & <light>"


def test_who_enters_gets_the_date_at_which_that_was_seen(
    silo: Silo, asked: Any, clock: Clock
) -> None:
    ask = asked()
    assert len(headers(ask, set=SOLAR)) == 3
    then = clock.tick(10)
    change(silo, "oai:x:2", "Solar")
    assert headers(ask, set=SOLAR, **{"from": then}) == [("oai:x:2", then, False)]
    # the record did not change, the search did
    save(silo, SavedSearch("solar", "About the sun", about("Wind")))
    then = clock.tick(10)
    assert names(headers(ask, set=SOLAR, **{"from": then})) == ["0", "1-", "2-", "3-", "4", "5-"]
    assert headers(ask, **{"from": then}) == [
        (f"oai:x:{number}", then, False) for number in range(6)
    ], "in the whole list nobody is deleted, and all that changed a set is there"


def test_who_left_is_deleted_in_the_list_of_the_set_alone(
    silo: Silo, asked: Any, clock: Clock
) -> None:
    ask = asked()
    assert len(headers(ask, set=SOLAR)) == 3
    left = clock.tick(10)
    change(silo, "oai:x:1", "Coal")
    assert headers(ask, set=SOLAR, **{"from": left}) == [("oai:x:1", left, True)]
    assert headers(ask, set="a", **{"from": left}) == [("oai:x:1", left, False)]
    record = given(ask, "oai:x:1")
    assert record.find(".//{*}metadata") is not None
    assert specs(ask, "oai:x:1") == ["a:b"]
    listed = ask(verb="ListRecords", metadataPrefix="oai_dc", set=SOLAR, from_=left)
    (one,) = listed.iter("{*}record")
    assert (one.find("{*}metadata"), one.findtext(".//{*}setSpec")) == (None, SOLAR)
    # later changes of it concern the search no more
    clock.tick(10)
    change(silo, "oai:x:1", "Gas")
    assert headers(ask, set=SOLAR)[-1] == ("oai:x:1", left, True)
    assert names(headers(ask, set=SOLAR)) == ["3", "5", "1-"]
    back = clock.tick(10)
    change(silo, "oai:x:1", "Solar")
    assert headers(ask, set=SOLAR)[-1] == ("oai:x:1", back, False)
    assert names(headers(ask, set=SOLAR)) == ["3", "5", "1"], "it is there once"


def test_what_is_withheld_or_removed_is_deleted_everywhere(
    silo: Silo, asked: Any, clock: Clock
) -> None:
    ask = asked()
    assert len(headers(ask, set=SOLAR)) == 3
    clock.tick(10)
    silo["oai:x:1"].set_version_state("1", "withheld")
    silo.del_item("oai:x:3")
    assert names(headers(ask, set=SOLAR)) == ["5", "1-", "3-"]
    assert names(headers(ask))[-2:] == ["1-", "3-"]
    clock.tick(10)
    silo["oai:x:1"].set_version_state("1", None)
    assert names(headers(ask, set=SOLAR)) == ["5", "3-", "1"]


def test_a_change_before_that_is_seen_later_is_not_missed(
    silo: Silo, asked: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = asked()
    assert len(headers(ask, set=SOLAR)) == 3
    clock.tick(100)
    save(silo, SavedSearch("solar", "Sun", about("Wind")))
    assert len(headers(ask, set=SOLAR)) == 6
    monkeypatch.setattr(
        "recordsilo.records.edit.now_text", lambda: "2026-03-01T00:01:00.000000"
    )  # a slow writer
    change(silo, "oai:x:0", "Wind")
    seen = clock.tick()
    assert headers(ask, **{"from": seen}) == [("oai:x:0", seen, False)]


def test_only_the_searches_that_are_named_are_sets(silo: Silo, asked: Any) -> None:
    save(silo, SavedSearch("wind", "Wind", about("Wind")))
    assert names(headers(asked(), set="search.wind")) == ["0", "2", "4"]
    ask = asked(ProviderSettings(searches=("solar",)))
    assert specs(ask, "oai:x:0") == ["a:b"]
    assert headers(ask, set="search.wind") == []
    assert "search.wind" not in [one.text for one in ask(verb="ListSets").iter("{*}setSpec")]
    plain = asked(ProviderSettings())
    assert specs(plain, "oai:x:1") == ["a:b"]
    assert headers(plain, set=SOLAR) == []


def test_a_search_that_is_gone_or_broken_stops_no_list(
    silo: Silo, asked: Any, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    ask = asked()
    assert len(headers(ask, set=SOLAR)) == 3
    Path(search_path(silo.path, "solar")).write_text("select = 1")
    with caplog.at_level(logging.WARNING):
        assert len(headers(ask, set=SOLAR)) == 3
    assert "the set of the saved search solar stays as it is" in caplog.text
    delete_search(silo.path, "solar")
    assert headers(ask, set=SOLAR) == []
    assert len(headers(ask)) == 6


def test_lists_of_identifiers_are_sets_too(silo: Silo, asked: Any, clock: Clock) -> None:
    listed = ("oai:x:0", "oai:x:1", "oai:x:gone")
    save(silo, SavedSearch("mine", "Mine", Selection(identifiers=listed)))
    both = Selection(filters=SearchFilters(values={"set": ["a:b"]}), identifiers=listed)
    save(silo, SavedSearch("both", "Both", both))
    ask = asked()
    assert names(headers(ask, set="search.mine")) == ["0", "1"]
    assert names(headers(ask, set="search.both")) == ["0", "1"]


def test_unknown_searches_and_clashes_are_refused_in_a_sentence(silo: Silo) -> None:
    with pytest.raises(SettingInvalid, match=r"no saved search 'x'; .* there: solar"):
        check_searches(silo, ProviderSettings(searches=("x",)))
    check_searches(silo, ALL)
    harvest(silo, "oai:x:9", sets=(SOLAR,), oai_dc=dc("T"))
    with pytest.raises(SettingInvalid, match=r"has a set search\.solar too"):
        check_searches(silo, ALL)
    result = CliRunner().invoke(silo_command, ["provide", silo.path, "--saved", "x"])
    assert result.exit_code != 0
    assert "no saved search 'x'" in result.output + str(result.exception)


def test_a_search_is_not_run_again_while_nothing_changed(
    silo: Silo, asked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    found = searches._found

    def counted(*given: Any) -> Any:
        runs.append(1)
        return found(*given)

    monkeypatch.setattr(searches, "_found", counted)
    ask = asked()
    for _ in range(3):
        headers(ask, set=SOLAR)
    headers(asked(), set=SOLAR)
    assert len(runs) == 1
    change(silo, "oai:x:0", "Rain")
    headers(ask)
    assert len(runs) == 2


@pytest.mark.parametrize("killed", range(1, 8))
def test_killed_in_the_middle_the_rest_is_noted_the_next_time(
    silo: Silo, asked: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    monkeypatch.setattr("siloprovider.members._TOGETHER", 1)
    assert len(headers(asked(), set=SOLAR)) == 3
    save(silo, SavedSearch("solar", "Sun", about("Wind")))
    clock.tick(10)
    calls = iter(range(100))

    def kill(*given: Any, _do: Any = searches.take_over.__globals__["_moved"], **more: Any) -> Any:
        if next(calls) == killed:
            raise KeyboardInterrupt
        return _do(*given, **more)

    with monkeypatch.context() as patched:
        patched.setattr("siloprovider.members._moved", kill)
        if killed < 6:
            with pytest.raises(KeyboardInterrupt):
                headers(asked(), set=SOLAR)
    clock.tick(10)
    assert sorted(names(headers(asked(), set=SOLAR))) == ["0", "1-", "2", "3-", "4", "5-"]


@pytest.mark.long
@for_all(st.text(), st.text())
def test_names_are_told_apart_in_set_specs(one: str, other: str) -> None:
    assert (spec_of_name(one) == spec_of_name(other)) == (one == other)
    assert spec_of_search("grüne-energie") == "search.gr~C3~BCne-energie"


@pytest.mark.long
def test_an_incremental_harvest_of_a_search_follows_it(
    silo: Silo, clock: Clock, tmp_path: Path
) -> None:
    with (
        provided(silo, ALL, clock.now) as one,
        ProviderServer(one.source, settings=one.settings, clock=clock.now) as server,
        OAIPMHScraper(str(tmp_path / "copy"), server.base_url) as scraper,
    ):
        clock.tick()
        scraper.harvest(["oai_dc"], set_spec=SOLAR)
        clock.tick(5)
        change(silo, "oai:x:1", "Coal")
        change(silo, "oai:x:0", "Solar")
        clock.tick(5)
        scraper.update()
        copy = scraper.store
        gone = {one for one in copy if copy[one].state.metadata.get("deleted_at_version")}
    assert gone == {"oai:x:1"}
    with Silo(str(tmp_path / "copy"), create=False) as copy:
        assert {*copy} == {"oai:x:0", "oai:x:1", "oai:x:3", "oai:x:5"}
