"""Selecting records: the same by a Selection and by the options of a command."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.commands.options import check_not_empty, selecting
from recordsilo.errors import RecordNotFound, SearchError
from recordsilo.index import SearchFilters
from recordsilo.index.query_syntax import parse_query
from recordsilo.index.search_values import FACETS, FLAGS
from recordsilo.index.typed_filters import filters_within
from recordsilo.remarks import LOOKED_UP, remarks_on
from recordsilo.selection import (
    Selection,
    filters_from,
    selection_from,
    selection_table,
)

Harvest = Callable[..., str]


@pytest.fixture
def terns(silo: Silo, harvest: Harvest) -> Silo:
    for number in range(5):
        harvest(silo, f"r{number}", title="Tern" if number % 2 else "Auk", sets=(f"s:{number}",))
    return silo


def test_nothing_asked_is_everything(terns: Silo) -> None:
    assert Selection().is_everything
    assert Selection().find(terns) == ("r0", "r1", "r2", "r3", "r4")
    assert Selection().total(terns) == 5


def test_words_filters_and_names_all_have_to_hold(terns: Silo) -> None:
    words = Selection("tern")
    assert words.find(terns) == ("r1", "r3")
    in_set = Selection("", SearchFilters(values={"set": ["s:3", "s:4"]}))
    assert in_set.find(terns) == ("r3", "r4")
    both = Selection("tern", in_set.filters, ("r4", "r3", "r3"))
    assert both.find(terns) == ("r3",)
    assert (words.total(terns), both.total(terns)) == (2, 1)


def test_values_are_excluded_and_ranges_named_in_one_spelling(terns: Silo) -> None:
    filters = filters_from(["set!=s:3", "set!=s:4", "year=2010..2016"])
    assert filters == SearchFilters(values={"set!": ["s:3", "s:4"], "year": ["2010..2016"]})
    selection = Selection(filters=filters)
    assert str(selection) == "without set s:3 or s:4 and year 2010..2016"
    assert selection_from(selection_table(selection)) == Selection(
        filters=SearchFilters(values={"set!": ("s:3", "s:4"), "year": ("2010..2016",)})
    )
    assert Selection(filters=filters_from(["set!=s:3"])).find(terns) == ("r0", "r1", "r2", "r4")
    asked = ["search", terns.path, "--filter", "set!=s:3", "--json"]
    assert json.loads(CliRunner().invoke(silo_command, asked).output)["total"] == 4
    for wrong in ("deleted!=true", "tpye!=x", "year=2016..2010"):
        with pytest.raises(SearchError):
            Selection(filters=filters_from([wrong])).check(terns)


def test_names_keep_their_order_and_a_missing_one_yields_nothing(terns: Silo) -> None:
    assert Selection(identifiers=("r4", "r1", "r4")).find(terns) == ("r4", "r1")
    with pytest.raises(RecordNotFound):
        next(Selection(identifiers=("r1", "nope")).iterate(terns))


names = st.sampled_from([name + mark for name in FACETS if name not in FLAGS for mark in ("", "!")])
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
queries = texts.filter(lambda text: bool(parse_query(text).groups or parse_query(text).without))
selections = st.builds(
    Selection,
    queries | st.just(""),
    st.builds(
        SearchFilters,
        st.dictionaries(st.sampled_from(FLAGS), st.booleans()),
        st.dictionaries(names, st.lists(texts, min_size=1).map(tuple)),
        texts | st.none(),
        texts | st.none(),
    ),
    st.lists(texts).map(tuple),
)


@given(selections)
def test_a_table_says_the_same(selection: Selection) -> None:
    assert selection_from(json.loads(json.dumps(selection_table(selection)))) == selection


@pytest.mark.parametrize(
    "table",
    [{"shoe": "x"}, {"query": 1}, {"curated": "yes"}, {"identifiers": 7}, {"year": [2016]}, []],
)
def test_a_table_that_means_nothing_is_refused(table: object) -> None:
    with pytest.raises(SearchError):
        selection_from(table)  # type: ignore[arg-type]


NO_WORDS = ["", " ", '""', "((((", "-", "*", "\udcff", "tern \udcff"]


@pytest.mark.parametrize("query", NO_WORDS)
def test_a_query_without_words_selects_nothing_by_accident(terns: Silo, query: str) -> None:
    with pytest.raises(SearchError, match="the query"):
        selection_from({"query": query})
    if query:
        with pytest.raises(SearchError, match="the query"):
            Selection(query).check(terns)
    for command in (
        ["attach", terns.storage_dir, __file__], ["ls", terns.storage_dir],
        ["crawl", "seeds", terns.storage_dir], ["export", "csv", terns.storage_dir, "out.csv"],
    ):  # fmt: skip
        result = CliRunner().invoke(silo_command, [*command, "--search", query])
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("silo: the query ")
    assert terns.search("").total == terns.search("((((").total == 5


@pytest.mark.parametrize("name", ["identifiers", "year"])
def test_an_empty_list_in_a_table_does_not_mean_all_records(name: str) -> None:
    with pytest.raises(SearchError, match=f"{name} lists no "):
        selection_from({name: []})
    with pytest.raises(SearchError, match="until is empty"):
        selection_from({"until": ""})


def test_an_unknown_key_is_refused_with_each_name_once_and_the_nearest() -> None:
    with pytest.raises(SearchError, match=r"did you mean 'year'\?$") as refused:
        selection_from({"yaer": "1"})
    assert all(str(refused.value).count(f" {name}") == 1 for name in FLAGS)


@pytest.mark.parametrize("text", ["year", "curated=yes"])
def test_a_malformed_filter_is_refused(text: str) -> None:
    with pytest.raises(SearchError):
        filters_from([text])


# -- options ------------------------------------------------------------------------------


def selected(*arguments: str, stdin: str = "") -> tuple[Selection | None, str]:
    """What a command with the options takes, and what it prints."""
    got: list[Selection] = []

    @click.command()
    @selecting
    def command(*, select: Selection) -> None:
        got.append(select)

    result = CliRunner().invoke(command, arguments, input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return (got[0] if got else None), result.output


def test_the_options_are_one_selection(tmp_path: Path) -> None:
    file = tmp_path / "ids.txt"
    file.write_text("\ufeffr2\n\n  r3 \nr1\n", encoding="utf-8")
    found, _ = selected(
        "--search", "tern", "--filter", "year=2016", "--filter", "year=2017", "--filter",
        "curated=true", "--set", "a:b", "--state", "ready", "--since", "2020-01-01", "--until",
        "2021-01-01", "--item", "r1", "--ids", str(file),
    )  # fmt: skip
    values = {"set": ["a:b"], "state": ["ready"], "year": ["2016", "2017"]}
    filters = SearchFilters({"curated": True}, values, "2020-01-01", "2021-01-01")
    assert found == Selection("tern", filters, ("r1", "r2", "r3"))
    assert selected("--ids", "-", stdin="r9\n")[0] == Selection(identifiers=("r9",))


@pytest.mark.parametrize(("given", "ago"), [("90m", 5_400), ("12h", 43_200), ("1d", 86_400)])
def test_changed_since_takes_how_long_ago(given: str, ago: int) -> None:
    found, _ = selected("--changed-since", given)
    assert found is not None
    assert found.filters.changed_since is not None
    then = datetime.fromisoformat(found.filters.changed_since).replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - then).total_seconds() - ago) < 60
    dated, _ = selected("--changed-since", "2026-01-31")
    assert dated == Selection(filters=SearchFilters(changed_since="2026-01-31"))
    assert selection_from(selection_table(found)) == found
    assert str(dated) == "changed since 2026-01-31"


def test_a_list_without_identifiers_does_not_mean_all_records() -> None:
    found, said = selected("--ids", "-", stdin="\n \n")
    assert found is None
    assert "the list of --ids is empty" in said


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"oai:x:caf\xe9\n", "is not UTF-8; save it as UTF-8 text"),
        ("r1\n".encode("utf-16"), "is not UTF-8; save it as UTF-8 text"),
        (b"r1\n\0r2\n", "has null characters"),
        (b"r1\n" * (5 << 18), "is larger than 1 MiB"),
    ],
)
def test_a_file_that_is_no_list_of_identifiers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, why: str
) -> None:
    monkeypatch.setattr("recordsilo.commands.options.MAX_IDS_BYTES", 1 << 20, raising=False)
    file = tmp_path / "ids.txt"
    file.write_bytes(content)
    assert_refused(str(file), f"{file} {why}")


def test_a_missing_list_of_identifiers_and_a_directory_are_refused(tmp_path: Path) -> None:
    assert_refused(str(tmp_path / "no.txt"), f"{tmp_path / 'no.txt'}: No such file or directory")
    assert_refused(str(tmp_path), f"{tmp_path}: Is a directory")


def assert_refused(ids: str, sentence: str) -> None:
    for command in (["ls", "demo"], ["sheet", "export", "demo", "out.csv"], ["attach", "demo"]):
        result = CliRunner().invoke(silo_command, [*command, "--ids", ids])
        assert result.exit_code == 2
        assert result.stderr.startswith(f"silo: {sentence}")
        assert result.stderr.count("\n") == 1


def test_ls_takes_the_options(terns: Silo, tmp_path: Path) -> None:
    terns["r3"].clone_version("1", "wc")

    def ls(*options: str) -> list[str]:
        context = ["ls", terns.storage_dir, *options]
        said = CliRunner().invoke(silo_command, context).stdout
        return [line.partition("\t")[0] for line in said.splitlines()]

    assert ls("--search", "tern") == ["r1", "r3"]
    assert ls("--search", "tern", "--curated") == ["r3"]
    assert ls("--item", "r4", "--item", "r1") == ["r4", "r1"]
    assert ls("--item", "r4", "--item", "r1", "--from", "r2") == ["r4"]
    assert ls("--set", "s", "-n", "2") == ["r0", "r1"]
    assert ls("--item", "r1", "--deleted") == []


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("title:", ["title: has no word behind its colon; write both together, as in title:solar"]),
        ("-subject: terns", ["subject: has no word behind its colon; .*subject:solar"]),
        (
            "titel:x",
            ["no field 'titel', so titel:x was .*; did you mean 'title'"],
        ),
        ("year:2016", ["no record has the year '2016'"]),
        ("-year:2016", []),
        ("terns NOT year:2016 author:ada", []),
        ("terns OR year:2016", ["searched as text; year is a filter: year=2016"]),
        ("terns -date:May", ["searched as text; year is a filter: year:2016 or year:2016..2018"]),
        ("year:2016-05", ["year is a filter: year:2016 or year:2016..2018$"]),
        ("terns has_file:maybe", ["has_file is a filter: has_file:true or has_file:false$"]),
        (
            "changed:soon",
            ["changed is a filter: changed:2026-11 or changed:2026-11-01..2026-11-15$"],
        ),
        ("author:", ["author: has no word"]),
        ('Type:"A b" title:', ["no field 'Type'.*did you mean 'type'", "title: has no word"]),
        (
            "\U0001f600",
            ["the query '\U0001f600' has no word to search for"],
        ),
        ("title:(", ["has no word to search for"]),
        (" ", []),
        ('title:solar "colour: x" oai:a.org:1 doi:10.5/1 https://a.org 10:30', []),
    ],
)
def test_what_looks_like_a_field_and_is_none_is_remarked_on(
    terns: Silo, query: str, told: list[str]
) -> None:
    found = [*remarks_on(terns, query, SearchFilters(), offers=False)]
    assert len(found) == len(told)
    assert all(re.search(pattern, one) for pattern, one in zip(told, found, strict=True))


def test_a_value_that_no_record_has_is_remarked_on(terns: Silo) -> None:
    def remarks(**values: list[str]) -> list[str]:
        return [*remarks_on(terns, "nothing", SearchFilters(values=values))]

    assert remarks(set=["s:4x"]) == ["no record has the set 's:4x'; did you mean 's:4'?"]
    assert remarks(set=["s", "s:4"], year=["2050.."], **{"set!": ["x"]}) == []
    assert len(remarks(type=[str(number) for number in range(9)])) == LOOKED_UP
    result = CliRunner().invoke(silo_command, ("ls", terns.path, "--filter", "type=x"))
    assert (result.exit_code, result.stderr) == (0, "silo: no record has the type 'x'\n")


def test_a_period_that_ends_before_it_begins_is_remarked_on(terns: Silo) -> None:
    def remarks(since: str, until: str) -> list[str]:
        return [*remarks_on(terns, "", SearchFilters(since=since, until=until), offers=False)]

    assert remarks("2016-02-01", "2016-01-31") == [
        "the period ends (2016-01-31) before it begins (2016-02-01)"
    ]
    assert remarks("2016-01-31", "2016-01-31") == []
    asked = ("search", terns.path, "tern", "--since", "2016-02-01", "--until", "2016-01-31")
    assert "before it begins" in CliRunner().invoke(silo_command, asked).stderr


def test_a_list_of_identifiers_names_all_that_are_missing_and_ignores_comments(
    terns: Silo, tmp_path: Path
) -> None:
    there = next(iter(terns))
    file = tmp_path / "ids"
    file.write_text(f"# asked for by mail\n\n{there}\nnope\n  # more\nnor this\n")
    refused = CliRunner().invoke(silo_command, ("ls", terns.path, "--ids", str(file)))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "'nope'" in refused.stderr
    assert "'nor this'" in refused.stderr
    assert "--missing skip" in refused.stderr
    done = CliRunner().invoke(
        silo_command, ("ls", terns.path, "--ids", str(file), "--missing", "skip")
    )
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert done.stdout.startswith(there)
    assert "'nope'" in done.stderr
    assert "'nor this'" in done.stderr
    none = CliRunner().invoke(
        silo_command, ("ls", terns.path, "--item", "nope", "--missing", "skip")
    )
    assert (none.exit_code, none.stdout) == (2, "")


@pytest.mark.parametrize("word", ["-titel:x", "-wind", "-nano", "-w"])
@pytest.mark.parametrize("command", ["search", "fleet search"])
def test_a_word_with_a_minus_that_is_no_option_says_how_to_write_it(
    terns: Silo, command: str, word: str
) -> None:
    refused = CliRunner().invoke(silo_command, (*command.split(), terns.path, "terns", word))
    assert refused.exit_code == 2
    assert re.search(rf" write -- before .*{command} DIR -- {word}\n", refused.stderr)
    for mistake in (("-n", "x"), ("--facte", "year"), ("--sort",)):
        plain = CliRunner().invoke(silo_command, (*command.split(), terns.path, "terns", *mistake))
        assert (plain.exit_code, "write --" in plain.stderr) == (2, False)


@pytest.mark.parametrize(
    ("query", "words", "filters"),
    [
        ("has_file:false", "", SearchFilters({"has_file": False})),
        ("-has_file:false", "", SearchFilters({"has_file": True})),
        ('tern type:"In Proceedings" NOT year:..2010 -"a b"', 'tern   -"a b"',
         SearchFilters({}, {"type": ["In Proceedings"], "year!": ["..2010"]})),
        ("title:tern creator:ada subject:x", "title:tern creator:ada subject:x", SearchFilters()),
        ('"on year:2016 and" doi:10.5/1 colour:red', '"on year:2016 and" doi:10.5/1 colour:red',
         SearchFilters()),
        ('tern title:/^on/ -title:"/a b/" creator:/x/ changed:2026-11..', "tern   creator:/x/",
         SearchFilters({}, {"title": ["/^on/"], "title!": ["/a b/"], "changed": ["2026-11.."]})),
        ("tern OR year:2016", "tern OR year:2016", SearchFilters()),
        ("tern genre:Thesis -date:2016.. author:ada year:maybe has_file:2",
         "tern   author:ada year:maybe has_file:2",
         SearchFilters({}, {"type": ["Thesis"], "year!": ["2016.."]})),
        ('type:""', 'type:""', SearchFilters()),
        ("year:2016-2018 year:>2020 -year:<=1999", "",
         SearchFilters({}, {"year": ["2016..2018", "2021.."], "year!": ["..1999"]})),
    ],
)  # fmt: skip
def test_filters_may_stand_among_the_words(query: str, words: str, filters: SearchFilters) -> None:
    assert filters_within(query, SearchFilters()) == (words, filters)


def test_filters_among_the_words_select_as_those_of_the_option_do(terns: Silo) -> None:
    def ls(*options: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(silo_command, ("ls", terns.path, *options))
        return result.exit_code, result.stdout, result.stderr

    assert ls("--search", "curated:true tern")[:2] == ls("--search", "tern", "--curated")[:2]
    for wrong in ("year:abc", "has_file:maybe"):
        assert ls("--search", f"tern {wrong}")[0] == 2
    assert ls("--search", "collection:s") == ls("--filter", "collection=s") == ls("--set", "s")
    assert ls("--search", "set:s -curated:true") == ls("--set", "s", "--not-curated")
    assert ls("--search", "set:s", "--set", "t") == ls("--set", "s", "--filter", "set=t")
    code, out, told = ls("--search", "has_file:maybe")
    assert (code, out) == (2, "")
    assert "has_file is true or false, not 'maybe'" in told


@pytest.mark.parametrize("query", ["-titel:solar", "-doi:*"])
def test_an_unknown_field_is_named_although_records_are_found(terns: Silo, query: str) -> None:
    table = f"{terns.path}.csv"
    for command in (
        ("search", terns.path, "--", query),
        ("ls", terns.path, "--search", query),
        ("export", "csv", terns.path, table, "--search", query),
    ):
        result = CliRunner().invoke(silo_command, command)
        assert result.exit_code == 0
        assert f"{query[1:]} was searched as text" in result.stderr
        assert "searched as text" not in result.stdout


def test_a_search_prints_nothing_but_records_and_all_of_them_with_0(
    terns: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordsilo.commands.records.MOST_ROWS", 2)
    listed = CliRunner().invoke(silo_command, ("ls", terns.path, "-n", "0")).stdout
    assert len(listed.splitlines()) == len(terns) > 4
    found = CliRunner().invoke(silo_command, ("search", terns.path, "-n", "0"))
    assert (found.stdout, found.stderr) == (listed, f"{len(terns)} found\n")
    some = CliRunner().invoke(silo_command, ("search", terns.path, "-n", "1"))
    assert some.stdout == listed.splitlines(keepends=True)[0]
    assert some.stderr == f"{len(terns)} found, 1 shown\n"
    whole = json.loads(
        CliRunner().invoke(silo_command, ("search", terns.path, "-n", "0", "--json")).stdout
    )
    assert (len(whole["records"]), whole["next"]) == (len(terns), None)


def test_commands_that_find_nothing_say_why(
    terns: Silo, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (("search", terns.path, "titel:x"), ("ls", terns.path, "--search", "titel:x")):
        result = CliRunner().invoke(silo_command, command)
        assert (result.exit_code, "there is no field 'titel'" in result.stderr) == (0, True)
    result = CliRunner().invoke(silo_command, ("search", terns.path, "nothing"))
    assert (result.stdout, result.stderr) == ("", "0 found\n")
    with click.Context(silo_command), pytest.raises(click.exceptions.Exit) as ended:
        check_not_empty(terns, Selection("titel:x"))
    assert ended.value.exit_code == 0
    said = capsys.readouterr().err
    assert "is selected by search titel:x; there is no field 'titel'" in said
