"""A directory of Silos as one repository."""

import itertools
import logging
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from provided_silo import MODS, Clock, dc, given, harvest, headers
from provider_asker import Asker, validator

from oaipmhprovider import Settings
from recordsilo import Granary, Silo
from recordsilo.cli import silo_command
from siloprovider import granary_source, shared_items
from siloprovider.providing import provided_directory
from siloprovider.settings import ProviderSettings


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(granary_source, "_UNTIL_NEXT_LOOK", 0.0)
    return Clock(monkeypatch)


@pytest.fixture
def granary(tmp_path: Path, clock: Clock) -> Granary:
    granary = Granary(str(tmp_path / "silos"))
    for name, numbers in (("ora", range(0, 6, 2)), ("white rose", range(1, 6, 2))):
        with granary.get_silo(name) as silo:
            for number in numbers:
                clock.seconds = number
                harvest(silo, f"oai:x:{number}", sets=("a:b",), oai_dc=dc(f"T{number}"))
    clock.tick()
    return granary


@pytest.fixture
def asked(granary: Granary, clock: Clock) -> Iterator[Any]:
    opened: list[Any] = []

    def ask(settings: ProviderSettings | None = None) -> Asker:
        settings = settings or ProviderSettings()
        opened.append(provided_directory(granary, settings, clock.now))
        one = opened[-1].__enter__()
        own = Settings("http://127.0.0.1:1/oai", page_size=2, token_key=one.settings.token_key)
        return Asker(validator(), one.source, own)

    yield ask
    for one in opened:
        one.__exit__(None, None, None)


def silo(granary: Granary, name: str) -> Silo:
    return granary.get_silo(name, create=False)


def names(found: list[tuple[str, str, bool]]) -> list[str]:
    return [one[0].rpartition(":")[2] + ("-" if one[2] else "") for one in found]


def title(ask: Asker, identifier: str) -> str:
    return str(given(ask, identifier).xpath("string(//*[local-name()='title'])"))


def test_one_list_has_all_in_the_order_of_datestamps(asked: Any) -> None:
    ask = asked()
    assert names(headers(ask)) == ["0", "1", "2", "3", "4", "5"]
    assert title(ask, "oai:x:3") == "T3"
    listed = [
        one.findtext(".//{*}header/{*}identifier")
        for page in ask.pages("ListRecords", metadataPrefix="oai_dc")
        for one in page.iter("{*}record")
    ]
    assert listed == [f"oai:x:{number}" for number in range(6)]


def test_each_silo_is_a_set_above_its_own(asked: Any) -> None:
    ask = asked()
    sets = [one.text for one in ask(verb="ListSets").iter("{*}setSpec")]
    assert sets == ["ora", "ora:a", "ora:a:b", "white~20rose", "white~20rose:a", "white~20rose:a:b"]
    assert names(headers(ask, set="ora")) == names(headers(ask, set="ora:a")) == ["0", "2", "4"]
    (spec,) = given(ask, "oai:x:1").iter("{*}setSpec")
    assert spec.text == "white~20rose:a:b"


def test_changes_and_deletions_in_any_silo_are_followed(
    granary: Granary, asked: Any, clock: Clock
) -> None:
    ask = asked()
    assert len(headers(ask)) == 6
    then = clock.tick(10)
    with silo(granary, "ora") as one:
        one["oai:x:2"].clone_version("1", "mine")
        one["oai:x:2"].put_stream("oai_dc", dc("Better"))
        one.del_item("oai:x:4")
        harvest(one, "oai:x:new", mods=MODS.format("In MODS"))
    with silo(granary, "white rose") as one:
        one["oai:x:5"].set_version_state("1", "withheld")
    found = headers(ask, **{"from": then})
    assert sorted(names(found)) == ["2", "4-", "5-", "new"]
    assert title(ask, "oai:x:2") == "Better"
    assert names(headers(ask, metadataPrefix="mods")) == ["new"]
    formats = {
        one.findtext("{*}metadataPrefix"): one.findtext("{*}metadataNamespace")
        for one in ask(verb="ListMetadataFormats").iter("{*}metadataFormat")
    }
    assert formats["mods"] == "http://www.loc.gov/mods/v3"
    assert b"In MODS" in (ask.source.record("oai:x:new", "mods").metadata or b"")


def test_an_identifier_in_two_silos_is_that_of_the_first(
    granary: Granary, asked: Any, clock: Clock
) -> None:
    ask = asked()
    assert title(ask, "oai:x:1") == "T1"
    then = clock.tick(10)
    with silo(granary, "ora") as one:
        harvest(one, "oai:x:1", oai_dc=dc("Of ora"))
    assert title(ask, "oai:x:1") == "Of ora"
    assert headers(ask, **{"from": then}) == [("oai:x:1", then, False)]
    assert names(headers(ask, set="white~20rose")) == ["3", "5"]
    # what the other one changes meanwhile is not seen
    clock.tick(10)
    with silo(granary, "white rose") as one:
        one["oai:x:1"].set_version_state("1", "in work")
    assert headers(ask)[-1] == ("oai:x:1", then, False)
    later = clock.tick(10)
    with silo(granary, "ora") as one:
        one["oai:x:1"].set_version_state("1", "withheld")
    assert headers(ask, **{"from": later}) == [("oai:x:1", later, False)]
    assert title(ask, "oai:x:1") == "T1"
    gone = clock.tick(10)
    with silo(granary, "white rose") as one:
        one.del_item("oai:x:1")
    assert headers(ask, **{"from": gone}) == [("oai:x:1", gone, True)]


def test_a_silo_that_comes_later_and_one_that_goes_are_seen(
    granary: Granary, asked: Any, clock: Clock, tmp_path: Path
) -> None:
    ask = asked()
    assert len(headers(ask)) == 6
    clock.seconds = 3
    with granary.get_silo("beside") as one:
        harvest(one, "oai:x:old", oai_dc=dc("Old"))
    clock.seconds = 50
    then = clock.tick(10)
    assert headers(ask, **{"from": then}) == [("oai:x:old", then, False)]
    Path(granary.dir_of_silos, "ora").rename(tmp_path / "elsewhere")
    gone = clock.tick(10)
    assert names(headers(ask, **{"from": gone})) == ["0-", "2-", "4-"]
    (tmp_path / "elsewhere").rename(Path(granary.dir_of_silos, "ora"))
    back = clock.tick(10)
    assert names(headers(ask, **{"from": back})) == ["0", "2", "4"]


def test_a_table_of_a_silo_that_was_lost_deletes_what_is_gone(
    granary: Granary, asked: Any, clock: Clock
) -> None:
    assert len(headers(asked())) == 6
    place = Path(granary.dir_of_silos, "ora", ".silo")
    for file in place.glob("provider.sqlite*"):
        file.unlink()
    with silo(granary, "ora") as one:
        one.del_item("oai:x:2")
    then = clock.tick(10)
    assert names(headers(asked(), **{"from": then})) == ["2-"]


def test_a_silo_that_cannot_be_read_stays_as_it_was(
    granary: Granary, asked: Any, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(Path(granary.dir_of_silos, "ora"), Path(granary.dir_of_silos, "zbroken"))
    Path(granary.dir_of_silos, "zbroken", "persistence_state.json").write_text("{")
    with caplog.at_level(logging.WARNING):
        ask = asked()
        found = headers(ask)
    assert len(found) == 6
    del ask


def test_half_a_silo_stops_no_other_and_is_named_once(
    granary: Granary, asked: Any, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    ora, half = Path(granary.dir_of_silos, "ora"), Path(granary.dir_of_silos, "half")
    half.mkdir()
    shutil.copy(ora / "pairtree_version0_1", half)
    ask = asked()
    for _ in range(3):
        assert len(headers(ask)) == 6
        assert ask.codes(verb="ListSets") == []
    (line,) = caplog.messages
    assert line.startswith("the records of half stay as they are")
    shutil.rmtree(half)
    shutil.copytree(ora, half)  # the copy is complete now
    with silo(granary, "half") as one:
        harvest(one, "oai:x:more", oai_dc=dc("More"))
    clock.tick()
    assert "more" in names(headers(ask))
    assert title(ask, "oai:x:more") == "More"


def test_a_silo_that_is_gone_is_not_looked_for_in_lists_of_its_deletions(
    granary: Granary, asked: Any, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ask = asked()
    assert len(headers(ask)) == 6
    Path(granary.dir_of_silos, "ora").rename(tmp_path / "elsewhere")
    clock.tick(10)
    assert len([*ask.pages("ListRecords", metadataPrefix="oai_dc")]) == 3
    assert caplog.messages == []


def test_a_list_has_each_record_once_while_silos_change(
    granary: Granary, asked: Any, clock: Clock
) -> None:
    choice, changed = random.Random(3), set[str]()
    ask = asked()
    listed: list[str] = []
    for page in ask.pages("ListIdentifiers", metadataPrefix="oai_dc"):
        listed += [one.text for one in page.iter("{*}identifier")]
        clock.tick()
        number = choice.randrange(6)
        changed.add(f"oai:x:{number}")
        with silo(granary, "white rose" if number % 2 else "ora") as one:
            one[f"oai:x:{number}"].set_version_state("1", choice.choice(["ready", "in work"]))
    still = {f"oai:x:{number}" for number in range(6)} - changed
    assert still <= set(listed)
    assert all(listed.count(one) == 1 for one in still)


@pytest.mark.parametrize("killed", [1, 3, 6])
def test_killed_in_the_middle_the_rest_is_copied_the_next_time(
    granary: Granary, asked: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch, killed: int
) -> None:
    monkeypatch.setattr(shared_items, "_TOGETHER", 1)
    choose, calls = shared_items._choose, itertools.count(1)

    def kill(*given: Any) -> None:
        if next(calls) == killed:
            raise KeyboardInterrupt
        choose(*given)

    with monkeypatch.context() as patched:
        patched.setattr(shared_items, "_choose", kill)
        with pytest.raises(KeyboardInterrupt):
            headers(asked())
    assert headers(asked()) == [
        (f"oai:x:{number}", f"2026-03-01T00:00:0{number}Z", False) for number in range(6)
    ]


def test_own_identifiers_hold_for_a_directory_too(asked: Any) -> None:
    ask = asked(ProviderSettings(identifiers="oai:mine.example.org:"))
    assert headers(ask)[0][0] == "oai:mine.example.org:oai:x:0"
    assert title(ask, "oai:mine.example.org:oai:x:5") == "T5"


def test_saved_searches_are_refused_in_a_sentence(granary: Granary) -> None:
    result = CliRunner().invoke(silo_command, ["provide", granary.dir_of_silos, "--searches"])
    assert result.exit_code != 0
    assert "provide the Silo that has them" in result.output + str(result.exception)
