"""A search over all Silos of a directory, by asking each and by the index of all."""

import csv
import io
import json
import random
import shutil
import threading
from collections.abc import Collection
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from many_silos import RECORDS, folded_plainly, granary_of
from waiting import wait_until

from recordsilo import Granary, Silo
from recordsilo.cli import CommandFailure, silo_command
from recordsilo.errors import SearchError
from recordsilo.index import SearchFilters
from silofleet.fleet import Fleet, make_fleet
from silofleet.search import silos
from silofleet.search.everywhere import Everywhere
from silofleet.search.feeding import feed
from silofleet.search.folding import folded, keys_of
from silofleet.search.silos import search_silos
from silofleet.search.values import AllSearch, HitPlace, Missing, SearchAnswer, SearchHit
from silofleet.values import Endpoint


@pytest.fixture(scope="module", params=["silos", "index"])
def granary(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Granary:
    granary = granary_of(tmp_path_factory.mktemp("many"))
    if request.param == "index":
        feed(granary)
    assert Everywhere(granary).search(AllSearch()).by_index == (request.param == "index")
    return granary


def works(answer: SearchAnswer) -> set[frozenset[str]]:
    """The identifiers of each hit and of those that are the same."""
    return {
        frozenset((hit.place.identifier, *(one.identifier for one in hit.also)))
        for hit in answer.hits
    }


def counts(answer: SearchAnswer, name: str) -> dict[str, int]:
    return {one.value: one.count for one in answer.facets[name]}


def test_records_of_one_work_are_one_hit_by_doi_or_by_title_year_and_creator(
    granary: Granary,
) -> None:
    answer = Everywhere(granary).search(AllSearch("solar"))
    assert works(answer) == {
        frozenset(("a1", "b1", "c1")), frozenset(("a2", "b2")), frozenset(("b3",)),
        frozenset(("c2",)),
    }  # fmt: skip
    assert (answer.total, answer.asked, answer.missing, answer.has_more) == (7, 3, (), False)


def test_the_facets_count_records_of_all_silos(granary: Granary) -> None:
    answer = Everywhere(granary).search(
        AllSearch("solar", facets=("repository", "type", "deleted"))
    )
    assert counts(answer, "repository") == {"ash": 2, "birch": 3, "cedar": 2}
    assert counts(answer, "type") == {"Article": 2, "Thesis": 1, "Book": 1}
    assert counts(answer, "deleted") == {"false": 7}


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "values", "wanted"),
    [
        ("solar -wind", {}, {"a1", "b1"}),
        ('title:"solar cells"', {}, {"a1", "b1", "c1"}),
        ("creator:brown", {"year": ["2002"]}, {"a2", "b2", "c2"}),
        ("elan OR notes", {}, {"a3", "c2"}),
        ("https://doi.org/10.5555/SOLAR.1", {}, {"a1", "b1"}),
        ("", {"repository": ["ash"], "year": ["2000..2001"]}, {"a1"}),
        ("wind", {"repository!": ["ash", "cedar"]}, {"b2", "b3"}),
        ("", {"set": ["physics"]}, {"a1", "b1"}),
        ("", {"type!": ["Thesis"], "language!": ["en"]}, {"a1", "b1", "b2", "c1", "c2"}),
        ("sol*", {"year": ["..2001"]}, {"a1", "c1"}),
        ('"wind and sol*"', {}, set()),
        ("title:wind*", {"creator": ["Brown, A."]}, {"a2", "b3"}),
        ("((((", {"set": ["physics:energy"]}, {"a1"}),
        ("c1 OR identifier:a3", {}, {"a3", "c1"}),
        ("subject:energy", {}, {"c1"}),
    ],
)
def test_words_and_filters_mean_what_they_mean_in_one_silo(
    granary: Granary, words: str, values: dict[str, list[str]], wanted: set[str]
) -> None:
    answer = Everywhere(granary).search(AllSearch(words, SearchFilters(values=values)))
    assert {one for work in works(answer) for one in work} == wanted
    assert answer.total == len(wanted)


def test_the_newest_and_the_oldest_come_first_over_all_silos(granary: Granary) -> None:
    def stamps(sort: str) -> list[str]:
        found = Everywhere(granary).search(AllSearch(sort=sort)).hits
        return [hit.datestamp for hit in found]

    assert stamps("newest") == sorted(stamps("newest"), reverse=True)
    assert stamps("oldest") == sorted(stamps("oldest"))
    assert Everywhere(granary).search(AllSearch()).sort == "newest"


def test_flags_and_times_limit_what_is_found(granary: Granary) -> None:
    def found(**given: Any) -> set[str]:
        answer = Everywhere(granary).search(AllSearch(filters=SearchFilters(**given)))
        return {one for work in works(answer) for one in work}

    assert found(flags={"deleted": True}) == set()
    assert found(since="2020-03-02", until="2020-03-02") == {"c2"}
    assert found(until="2020-01-02T00:00:00") == {"a1", "a2"}
    assert found(since="2021-01-01", until="2020-01-01") == set()
    assert len(found(flags={"curated": False})) == 8


def test_a_facet_is_counted_without_its_own_filter(granary: Granary) -> None:
    filters = SearchFilters(values={"type": ["Thesis"], "repository": ["ash"]})
    answer = Everywhere(granary).search(AllSearch("", filters, facets=("repository", "type")))
    assert answer.total == 2
    assert counts(answer, "type") == {"Thesis": 2, "Article": 1}
    assert counts(answer, "repository") == {"ash": 2}


def test_pages_follow_each_other(granary: Granary) -> None:
    whole = Everywhere(granary).search(AllSearch("solar")).hits
    pages = [Everywhere(granary).search(AllSearch("solar", limit=1, offset=n)) for n in range(4)]
    assert tuple(hit for page in pages for hit in page.hits) == whole
    assert [page.has_more for page in pages] == [True, True, True, False]


def test_folding_agrees_with_comparing_each_with_each() -> None:
    draw = random.Random(7)
    for _ in range(200):
        hits = [
            SearchHit(
                HitPlace(draw.choice("xyz"), str(number)),
                title=draw.choice(["Solar cells", "solar, CELLS!", "Wind power", "Notes"]),
                creators=draw.choice([("Brown, A.",), ("Alice Brown",), ()]),
                year=draw.choice(["2001", "2002", ""]),
                doi=draw.choice(["", "", "10.5555/1", "10.5555/2"]),
            )
            for number in range(draw.randrange(12))
        ]
        plainly = [[hit.place for hit in work] for work in folded_plainly(hits)]
        ours = [(hit.place, hit.also) for hit in folded(hits)]
        assert ours == [(first, tuple(sorted(others))) for first, *others in plainly]


def test_short_titles_and_titles_alone_tell_no_works_apart() -> None:
    assert keys_of(SearchHit(HitPlace("x", "1"), title="Notes", year="2001"))[1] == ""
    assert keys_of(SearchHit(HitPlace("x", "1"), title="A long enough title"))[1] == ""


def test_a_silo_that_cannot_be_searched_is_named(tmp_path: Path) -> None:
    granary = granary_of(tmp_path)
    shutil.rmtree(tmp_path / "birch/pairtree_root")
    shutil.rmtree(tmp_path / "birch/.silo")
    answer = Everywhere(granary).search(AllSearch("solar"))
    assert [one.name for one in answer.missing] == ["birch"]
    assert counts(answer, "repository") == {"ash": 2, "cedar": 2}
    result = run("search", str(tmp_path), "solar")
    assert result.return_value == 1
    assert "birch did not answer" in result.stderr


def test_a_silo_that_takes_too_long_is_named(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, open_silo = threading.Event(), granary.get_silo

    def slowly(name: str, **settings: Any) -> Silo:
        if name == "birch":
            answered.wait(60)
        return open_silo(name, **settings)

    def until_two_answered(asked: Collection[Future[Any]], patience: float) -> Any:
        assert patience == 0.4
        wait_until(lambda: sum(one.done() for one in asked) == 2)
        return wait(asked, 0)

    monkeypatch.setattr(granary, "get_silo", slowly)
    monkeypatch.setattr(silos, "wait", until_two_answered)
    answer = search_silos(granary, AllSearch("solar"), patience=0.4)
    answered.set()
    assert answer.missing == (Missing("birch", "no answer in 0.4 s"),)
    assert counts(answer, "repository") == {"ash": 2, "cedar": 2}


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (lambda: AllSearch(filters=SearchFilters(values={"yaer": ["2001"]})), "'yaer'"),
        (lambda: AllSearch(filters=SearchFilters(values={"year": ["abc"]})), "not a number"),
        (lambda: AllSearch(facets=("silo",)), "no facet 'silo'"),
        (lambda: AllSearch(sort="title"), "no order 'title'"),
        (lambda: AllSearch(limit=25, offset=990), "first 1,000"),
    ],
)
def test_wrong_searches_are_refused(search, said: str) -> None:
    with pytest.raises(SearchError, match=said):
        search()


# -- the command ----------------------------------------------------------------------------


def run(*words: str):
    return CliRunner().invoke(silo_command, ["fleet", *words], standalone_mode=False)


def test_silos_on_a_node_that_is_not_asked_are_named(tmp_path: Path) -> None:
    many = granary_of(tmp_path).dir_of_silos
    make_fleet(many)
    with Fleet(many) as fleet:
        for name, node in (("ash", "n1"), ("far", "n2"), ("farther", "n2"), ("new", "n3")):
            fleet.add([Endpoint(name, f"http://{name}.example.org/oai")])
            whole = None if node == "n3" else datetime.now(UTC)
            fleet.ledger.change(name, lambda one: one._replace(node=node, whole=whole))  # noqa: B023
    found = run("search", many, "solar")
    said = "silo: not searched: Silos on the node n2 (2); name its page in fleet/endpoints.toml:"
    assert found.stderr.endswith(f"\n{said} [nodes.n2] search\n")


def test_the_command_prints_lines_json_and_csv(granary: Granary) -> None:
    directory = granary.dir_of_silos
    lines = run("search", directory, "solar cells", "--filter", "repository=ash").stdout
    assert lines.splitlines()[0] == "ash\ta1\t2001\tSolar cells in winter"
    assert "\n\n" not in lines  # facets are counted if they are asked for
    assert "\n\ntype\n" in run("search", directory, "solar", "--facet", "type").stdout
    found = json.loads(run("search", directory, "solar", "--json").stdout)
    assert found["total"] == 7
    (work,) = [one for one in found["hits"] if one["year"] == "2002" and len(one["also_in"]) == 1]
    assert {work["repository"], work["also_in"][0]["repository"]} == {"ash", "birch"}
    table = csv.DictReader(io.StringIO(run("search", directory, "winter", "--csv").stdout))
    (row,) = table
    assert row["also_in"].count("||") == 1
    assert row["doi"] == "10.5555/Solar.1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--filter", "repository=asch"), "there is no Silo 'asch'; did you mean 'ash'"),
        (("--filter", "yaer=2001"), "there is no filter 'yaer'"),
        (("--facet", "x"), "there is no facet 'x'"),
        (("--json", "--csv"), "choose --json or --csv"),
    ],
)
def test_the_command_says_what_is_wrong(
    granary: Granary, words: tuple[str, ...], said: str
) -> None:
    result = run("search", granary.dir_of_silos, "solar", *words)
    assert isinstance(result.exception, click.ClickException)
    assert result.exception.exit_code == 2
    assert said in result.exception.message


def test_the_command_needs_a_directory_of_silos(tmp_path: Path) -> None:
    result = run("search", str(tmp_path), "solar")
    assert isinstance(result.exception, CommandFailure)
    assert "is not a directory of Silos" in result.exception.message
    with Silo(str(tmp_path / "one")):
        pass
    for path, said in ((tmp_path / "one", "silo search"), (tmp_path / "many", "no Silos here yet")):
        if path.name == "many":
            make_fleet(str(path))
        refused = run("search", str(path), "solar").exception
        assert isinstance(refused, CommandFailure)
        assert said in refused.message


def test_the_command_says_what_was_read_as_text(granary: Granary) -> None:
    assert "'titel'" in run("search", granary.dir_of_silos, "titel:solar").stderr


def test_the_records_of_these_tests_have_names_of_their_own() -> None:
    names = [one for some in RECORDS.values() for one in some]
    assert len(names) == len(set(names))
