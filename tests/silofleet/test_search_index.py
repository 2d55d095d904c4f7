"""The index of all Silos: fed with what changed, killed, damaged, made again."""

import os
import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from index_conformance import put
from many_silos import granary_of

from recordsilo import Granary
from recordsilo.cli import CommandFailure, silo_command
from recordsilo.errors import SearchError
from recordsilo.extras import PackageMissing
from recordsilo.index import SearchFilters
from recordsilo.index.facets import GROUP, Facet
from silofleet.search import everywhere, feeding
from silofleet.search.errors import FeedingBusy, IndexUnusable, TooManySilos
from silofleet.search.everywhere import Everywhere
from silofleet.search.feeding import feed
from silofleet.search.index import SCHEMA, Opened, place_of
from silofleet.search.keeping import fed_meanwhile
from silofleet.search.silos import search_silos
from silofleet.search.values import AllSearch, HitPlace, usual_facets


@pytest.fixture
def granary(tmp_path: Path) -> Granary:
    return granary_of(tmp_path / "many")


def in_index(granary: Granary) -> dict[HitPlace, str]:
    """Record → its title, as the index has them."""
    opened = Opened(place_of(granary.dir_of_silos))
    query = opened.queries.of(AllSearch())
    found, total = opened._hits(query, "newest", 10_000)
    hits = {hit.place: hit.title for hit in found}
    assert len(hits) == total
    return hits


def in_silos(granary: Granary) -> dict[HitPlace, str]:
    found = {}
    for name in granary.silos:
        with granary.get_silo(name, create=False) as silo:
            found |= {HitPlace(name, row.identifier): row.title for row in silo.found()}
    return found


def change(granary: Granary, draw: random.Random) -> None:
    """Change, add or delete a record of any Silo."""
    with granary.get_silo(draw.choice(granary.silos), create=False) as silo:
        name = f"x{draw.randrange(9)}"
        if name in silo and draw.random() < 0.4:
            silo.del_item(name)
        else:
            put(silo, name, title=draw.choice(["Wind", "Sun", "Rain"]), subject=[draw.choice("ab")])


def test_only_what_changed_is_fed(granary: Granary) -> None:
    first = feed(granary)
    assert (first.silos, first.changed, first.written) == (3, 3, 8)
    assert feed(granary).changed == 0
    with granary.get_silo("ash") as silo:
        put(silo, "a1", title="Moonlight", creator="Adeyemi, Fiona")
        silo.del_item("a2")
    again = feed(granary)
    assert (again.changed, again.written, again.removed) == (1, 1, 2)  # also the earlier text
    assert in_index(granary) == in_silos(granary)
    assert Everywhere(granary).search(AllSearch("moonlight")).total == 1


def test_a_record_that_is_removed_for_good_leaves_at_once(granary: Granary) -> None:
    feed(granary)
    with granary.get_silo("ash") as silo:
        name = next(iter(silo))
        silo.del_item(name, remember=True)
    assert in_index(granary) == in_silos(granary)
    assert feed(granary).changed == 0


def test_deleted_and_new_silos_leave_and_come(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(granary)
    granary.delete_silo("birch")
    answer = Everywhere(granary).search(AllSearch("solar", facets=("repository",)))
    assert {one.value for one in answer.facets["repository"]} == {"ash", "cedar"}
    assert (answer.total, answer.by_index) == (4, True)
    with granary.get_silo("ash") as silo, granary.get_silo("yew") as new:
        put(silo, "a9", title="Moonlight")
        put(new, "y1", title="Moonlight over yews")
    answer = Everywhere(granary).search(AllSearch("moonlight", facets=("repository",)))
    assert [hit.place for hit in answer.hits] == [HitPlace("yew", "y1")]  # not fed yet, but asked
    assert (answer.asked, answer.by_index, answer.missing) == (3, False, ())
    monkeypatch.setattr(everywhere, "ASKED_AT_MOST", 0)
    assert [one.name for one in Everywhere(granary).search(AllSearch("moonlight")).missing] == [
        "yew"
    ]
    feed(granary)
    assert in_index(granary) == in_silos(granary)
    answer = Everywhere(granary).search(AllSearch("moonlight"))
    assert (answer.total, answer.by_index, answer.missing) == (2, True, ())


def test_many_silos_that_were_not_fed_yet_are_counted(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(granary)
    for name in ("fir", "oak", "yew"):
        with granary.get_silo(name):
            pass
    monkeypatch.setattr(everywhere, "ASKED_AT_MOST", 2)
    monkeypatch.setattr(everywhere, "_MOST_NAMED", 1)
    missing = Everywhere(granary).search(AllSearch("solar")).missing
    assert [one.name for one in missing] == ["fir", "2 more Silos"]


def test_a_silo_that_is_fed_in_part_is_asked_itself(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "_COMMIT_AFTER", 2)
    killed_at(5, Opened, "document", lambda: feed(granary))
    answer = Everywhere(granary).search(AllSearch(facets=("repository",)))
    assert (answer.total, answer.asked, answer.missing) == (8, 3, ())
    assert {one.value: one.count for one in answer.facets["repository"]} == {
        "ash": 3, "birch": 3, "cedar": 2,
    }  # fmt: skip


def test_a_silo_made_again_under_its_name_is_fed_whole(granary: Granary) -> None:
    feed(granary)
    granary.delete_silo("birch")
    with granary.get_silo("birch") as silo:
        put(silo, "b7", title="Moonlight")
    feed(granary)
    assert in_index(granary) == in_silos(granary)


@pytest.mark.long
def test_the_index_finds_what_asking_each_silo_finds(granary: Granary) -> None:
    feed(granary)
    for words in ("", "solar", "solar -cells", 'creator:"brown, a"', "élan", "nothing*"):
        for values in ({}, {"year": ["2002"]}, {"type!": ["Article"]}):
            search = AllSearch(words, SearchFilters(values=values), "oldest")
            one, other = Everywhere(granary).search(search), search_silos(granary, search)
            assert one.by_index
            assert not other.by_index
            assert (one.total, one.facets) == (other.total, other.facets)
            assert [(h.place, h.also) for h in one.hits] == [(h.place, h.also) for h in other.hits]


class Loans:
    """A made-up package: how often each record was lent, and to whom."""

    def __init__(self, contribute: Callable[[str, str, Any], None]) -> None:
        self.stamp = "1"
        self.numbers = {"a1": ("10",), "a2": ("9.5", "200"), "b1": ("30",), "c1": ("10", "none")}
        self.readers = {"a1": ("child", "adult"), "b1": ("child",), "b2": ("adult",)}
        for name, title, values, kind in (
            ("loans", "Loans", self.numbers, {"is_order": True, "is_facet": False}),
            ("reader", "Readers", self.readers, {"labels": {"child": "Child", "adult": "Adult"}}),
            ("finding.loans", "Loans", {"a1": ("Q999",)}, {"labels": {"Q999": "lent too often"}}),
        ):
            get = partial(self._some, values)
            contribute(GROUP, name, Facet(name, title, get, lambda _path: self.stamp, **kind))

    @staticmethod
    def _some(
        values: Mapping[str, tuple[str, ...]], _path: str, identifiers: Sequence[str]
    ) -> Mapping[str, Sequence[str]]:
        return {one: values[one] for one in identifiers if one in values}


@pytest.fixture
def loans(contribute: Callable[[str, str, Any], None]) -> Loans:
    return Loans(contribute)


def found(granary: Granary, sort: str = "oldest", **values: Sequence[str]) -> list[str]:
    answer = Everywhere(granary).search(AllSearch("", SearchFilters(values=values), sort))
    return [one.identifier for hit in answer.hits for one in (hit.place, *hit.also)]


@pytest.mark.long
@pytest.mark.parametrize("by_index", [False, True])
def test_what_packages_contribute_filters_counts_and_sorts(
    granary: Granary, loans: Loans, by_index: bool
) -> None:
    if by_index:
        feed(granary)
    assert sorted(found(granary, loans=["10"])) == ["a1", "c1"]
    assert sorted(found(granary, loans=["9.6..30"])) == ["a1", "b1", "c1"]
    assert sorted(found(granary, loans=["40.."])) == ["a2"]
    assert {"a2"}.isdisjoint(found(granary, **{"loans!": ["100..", "9.5"]}))
    assert found(granary, reader=["child"], finding=["Q999"]) == ["a1"]
    assert found(granary, "-loans")[:3] == ["a2", "b2", "b1"]
    assert found(granary, "loans", repository=["ash"]) == ["a2", "a1", "a3"]
    answer = Everywhere(granary).search(AllSearch(facets=usual_facets()))
    assert answer.by_index == by_index
    assert [(one.value, one.count) for one in answer.facets["reader"]] == [
        ("adult", 2), ("child", 2),
    ]  # fmt: skip
    assert "loans" not in answer.facets
    with pytest.raises(SearchError, match="there is no reader 'chlid'"):
        found(granary, reader=["chlid"])
    with pytest.raises(SearchError, match="there is no order 'reader'"):
        found(granary, "reader")


def test_contributed_values_that_changed_are_fed(granary: Granary, loans: Loans) -> None:
    feed(granary)
    loans.numbers |= {"a1": ("11",), "b3": ("12",)}
    assert feed(granary).changed == 0
    loans.stamp = "2"
    again = feed(granary)
    assert (again.changed, again.written) == (2, 2)
    assert sorted(found(granary, loans=["11..12"])) == ["a1", "b3"]
    assert found(granary, loans=["10"]) == ["c1"]
    assert in_index(granary) == in_silos(granary)


def test_an_index_without_the_fields_of_a_new_package_is_made_again(
    granary: Granary, contribute: Callable[[str, str, Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(granary)
    Loans(contribute)
    assert sorted(found(granary, loans=["10"])) == ["a1", "c1"]  # few Silos are asked instead
    assert Everywhere(granary).search(AllSearch(facets=("reader",))).facets == {"reader": ()}
    with monkeypatch.context() as patched:
        patched.setattr(everywhere, "ASKED_AT_MOST", 2)
        with pytest.raises(IndexUnusable, match="no field 'beside_loans' yet"):
            found(granary, loans=["10"])
        with pytest.raises(IndexUnusable):
            found(granary, "-loans")
    assert "no field" in feed(granary).anew
    assert Everywhere(granary).search(AllSearch(sort="-loans")).by_index


def killed_at(step: int, owner: type, name: str, work: Callable[[], object]) -> bool:
    """Do some work in a process that ends itself without warning at the n-th call of a method."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    try:
        real, left = getattr(owner, name), step

        def counted(*given: object) -> object:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(9)
            return real(*given)

        setattr(owner, name, counted)
        work()
    finally:
        os._exit(0)


@pytest.mark.long
@pytest.mark.parametrize("rebuild", [False, True])
def test_a_feeding_killed_at_any_record_is_made_up_for(
    granary: Granary, monkeypatch: pytest.MonkeyPatch, rebuild: bool
) -> None:
    monkeypatch.setattr(feeding, "_COMMIT_AFTER", 2)
    monkeypatch.setattr(feeding, "_MEMORY", 15_000_000)
    draw, kills = random.Random(11), 0
    if rebuild:
        feed(granary)
    for step in (1, 2, 4, 7):
        for _ in range(4):
            change(granary, draw)
        known = in_index(granary) if rebuild else None
        kills += killed_at(step, Opened, "document", lambda: feed(granary, rebuild=rebuild))
        if rebuild:
            assert in_index(granary) == known  # the old one answers until the new one is whole
        if step % 2 == 0:
            feed(granary)
            assert in_index(granary) == in_silos(granary)
    assert kills >= 3


def test_a_kill_between_the_renames_of_a_rebuild_loses_nothing(granary: Granary) -> None:
    feed(granary)
    path = Path(place_of(granary.dir_of_silos))
    path.rename(path.with_name(f"{SCHEMA}.old"))
    path.with_name(f"{SCHEMA}.new").mkdir()
    assert feed(granary).written == 0
    assert os.listdir(path.parent) != []
    assert in_index(granary) == in_silos(granary)


@pytest.mark.long
@pytest.mark.parametrize("ending", ["meta.json", ".store", ".idx", ".managed.json"])
def test_a_half_written_index_is_made_again(granary: Granary, ending: str) -> None:
    feed(granary)
    (damaged, *_) = [
        one for one in Path(place_of(granary.dir_of_silos)).iterdir() if one.name.endswith(ending)
    ]
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    answer = Everywhere(granary).search(AllSearch("solar"))
    assert (answer.total, answer.by_index) == (7, False)  # few Silos are asked instead
    assert feed(granary).anew
    assert Everywhere(granary).search(AllSearch("solar")).by_index
    assert in_index(granary) == in_silos(granary)


def test_the_index_of_another_release_is_made_again(granary: Granary) -> None:
    older = Path(granary.dir_of_silos, "fleet/search/0")
    older.mkdir(parents=True)
    (older / "meta.json").write_text("{}")
    assert feed(granary).written == 8
    assert not older.exists()


def test_one_process_feeds_at_a_time(granary: Granary) -> None:
    feed(granary)
    with feeding.Locks(os.path.dirname(place_of(granary.dir_of_silos))).hold_name("feeding.lock"):
        with pytest.raises(FeedingBusy, match="another process"):
            feed(granary)
        assert Everywhere(granary).search(AllSearch("solar")).by_index


def test_an_open_index_shows_what_was_fed_later(granary: Granary) -> None:
    feed(granary)
    search = Everywhere(granary)
    assert search.search(AllSearch("moonlight")).total == 0
    with granary.get_silo("ash") as silo:
        put(silo, "a9", title="Moonlight")
    feed(granary)
    assert search.search(AllSearch("moonlight")).total == 1
    feed(granary, rebuild=True)
    assert search.search(AllSearch("moonlight")).total == 1


def test_many_silos_need_an_index(granary: Granary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everywhere, "ASKED_AT_MOST", 2)
    with pytest.raises(TooManySilos, match="silo fleet index"):
        Everywhere(granary).search(AllSearch("solar"))
    few = SearchFilters(values={"repository": ["ash", "cedar"]})
    assert Everywhere(granary).search(AllSearch("solar", few)).total == 4
    feed(granary)
    assert Everywhere(granary).search(AllSearch("solar")).total == 7
    Path(place_of(granary.dir_of_silos), "meta.json").write_text("{")
    with pytest.raises(IndexUnusable, match="--rebuild"):
        Everywhere(granary).search(AllSearch("solar"))


def test_a_feeding_without_tantivy_leaves_no_directory(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tantivy", None)
    with pytest.raises(PackageMissing):
        feed(granary)
    assert not os.path.exists(place_of(granary.dir_of_silos))


def test_without_tantivy_few_silos_are_asked(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(granary)
    monkeypatch.setitem(__import__("sys").modules, "tantivy", None)
    assert not Everywhere(granary).search(AllSearch("solar")).by_index
    with pytest.raises(PackageMissing, match=r"needs the package tantivy; install it: "):
        feed(granary)


def test_a_silo_that_cannot_be_read_keeps_its_records(granary: Granary) -> None:
    feed(granary)
    known = in_index(granary)
    with granary.get_silo("ash") as silo:
        put(silo, "a9", title="Moonlight")
    place = Path(granary.dir_of_silos, "birch")
    (place / "pairtree_root").rename(place / "elsewhere")
    (place / ".silo").rename(place / "too")
    fed = feed(granary)
    assert [one.name for one in fed.missing] == ["birch"]
    assert in_index(granary) == {**known, HitPlace("ash", "a9"): "Moonlight"}


def test_an_index_that_cannot_be_written_is_as_it_was(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(granary)
    known = in_index(granary)
    with granary.get_silo("ash") as silo:
        put(silo, "a9", title="Moonlight")

    def full(*_given: object) -> None:
        raise ValueError("No space left on device")

    for words in ((), ("--rebuild",)):
        with monkeypatch.context() as patched:
            patched.setattr(Opened, "document", full)
            command = ["fleet", "index", granary.dir_of_silos, *words]
            result = CliRunner().invoke(silo_command, command, standalone_mode=False)
        assert isinstance(result.exception, CommandFailure)
        assert result.exception.exit_code == 1
        assert "No space left on device" in result.exception.message
        assert in_index(granary) == known
    feed(granary)
    assert in_index(granary) == in_silos(granary)


def test_the_command_says_what_it_did(granary: Granary) -> None:
    def run(*words: str) -> str:
        command = ["fleet", "index", granary.dir_of_silos, *words]
        return CliRunner().invoke(silo_command, command, standalone_mode=False).stdout

    assert run() == "8 records written and 0 removed, of 3 changed Silos of 3\n"
    assert '"changed": 0' in run("--json")
    assert run("--rebuild").startswith("8 records written")


@pytest.mark.long
def test_a_feeding_killed_at_any_time_is_made_up_for(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the middle of a commit, or of merging: the signal comes from another process."""
    monkeypatch.setattr(feeding, "_COMMIT_AFTER", 3)
    draw, kills, turn = random.Random(5), 0, 0
    begun = time.monotonic()
    feed(granary)
    lasts = time.monotonic() - begun
    while turn < 12 or kills < 4:
        for _ in range(6):
            change(granary, draw)
        child = os.fork()
        if not child:
            try:
                feed(granary, rebuild=turn % 4 == 3)
            finally:
                os._exit(0)
        time.sleep(draw.uniform(0.0, lasts))
        os.kill(child, signal.SIGKILL)
        kills += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
        answer = Everywhere(granary).search(AllSearch())
        assert answer.missing == ()
        if turn % 3 == 2:
            feed(granary)
            assert in_index(granary) == in_silos(granary)
        turn += 1


def test_an_index_is_fed_while_a_fleet_is_at_work_but_not_made(granary: Granary) -> None:
    directory = granary.dir_of_silos
    with fed_meanwhile(directory, 0.01):
        time.sleep(0.05)
    assert not os.path.exists(place_of(directory))
    feed(granary)
    with fed_meanwhile(directory, 0.01), granary.get_silo(granary.silos[0]) as silo:
        put(silo, "oai:new:1", title="Wholly unheard of")
    assert Everywhere(granary).search(AllSearch("unheard")).total == 1
