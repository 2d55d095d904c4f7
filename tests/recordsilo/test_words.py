"""Words as bitmaps: the same results as FTS5, also after changes."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo import Row, Silo
from recordsilo.index import (
    Entry,
    ManifestStamp,
    PageRequest,
    SearchFilters,
    SqliteIndex,
    columns,
    words,
)
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.projection import Text
from recordsilo.index.query_syntax import parse_query
from recordsilo.index.words import Tokenizer, Words, read_bits, write_bits

STAMP = ManifestStamp(0, 0, 0)
VOCABULARY = ("sun", "sunset", "Sümpfe", "moon", "月", "rare")


def entry(number: int, title: str) -> tuple[Entry, ManifestStamp]:
    row = Row(f"r:{number}", "2020-01-01", title, ("s",), False, False, False, "1", 1, 1)
    return Entry(row, Text(title, identifiers=row.identifier), 0, {"set": row.sets}, False), STAMP


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteIndex]:
    monkeypatch.setattr(Catalogue, "_catch_up", lambda _self, _rows: False)
    monkeypatch.setattr(words, "BLOCK", 64)
    with Silo(str(tmp_path / "silo")) as silo:
        yield silo._catalogue._index


def titles(picks: Sequence[Sequence[int]]) -> list[str]:
    return [" ".join(VOCABULARY[one] for one in some) for some in picks]


def answers(index: SqliteIndex, query: str) -> list[int]:
    """Row ids that a query finds, asked through bitmaps."""
    with index.reading() as connection:
        asked = Words(connection, parse_query(query))
        wanted, excluded = asked.wanted(), asked.excluded()
        alive = index.columns(connection, large=False).alive
        found = alive if wanted is None else alive & wanted
        return sorted(found if excluded is None else found - excluded)


def answers_of_fts5(index: SqliteIndex, query: str) -> list[int]:
    with index.reading() as connection:
        parsed = parse_query(query)
        found = "SELECT rowid FROM text WHERE text MATCH ?"
        wanted = set(connection.execute("SELECT id FROM record").fetchall())
        if parsed.wanted:
            wanted &= set(connection.execute(found, (parsed.wanted,)).fetchall())
        if parsed.excluded:
            wanted -= set(connection.execute(found, (parsed.excluded,)).fetchall())
        return sorted(number for (number,) in wanted)


picked = st.lists(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 5]), max_size=3)
typed = st.lists(
    st.sampled_from(
        ["sun", "s*", "su*", "sunse*", "-moon", "moon", "OR", "SUMPFE", "月", '"sun moon"', "rare",
         "title:sun", "-title:m*", "r", "none", "-r", "½", "sun-moon"]
    ),
    min_size=1,
    max_size=4,
).map(" ".join)  # fmt: skip


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.data())
def test_bitmaps_answer_as_fts5_does_after_any_changes(
    index: SqliteIndex, data: st.DataObject
) -> None:
    size = data.draw(st.sampled_from([3, 70, 140, 200]))
    some = titles(data.draw(st.lists(picked, min_size=5, max_size=12)))
    said = [some[number % len(some)] for number in range(size)]
    index.settle(entry(number, title) for number, title in enumerate(said))
    changed = data.draw(st.dictionaries(st.integers(0, size), picked, max_size=5))
    index.settle(entry(number, titles([pick])[0]) for number, pick in changed.items())
    index.settle([], gone=[f"r:{n}" for n in data.draw(st.lists(st.integers(0, size), max_size=3))])
    for query in data.draw(st.lists(typed, min_size=1, max_size=4)):
        assert answers(index, query) == answers_of_fts5(index, query), query


def test_full_blocks_have_bitmaps_of_frequent_words_and_beginnings_only(index: SqliteIndex) -> None:
    index.settle(entry(n, "Sümpfe rare" if n == 5 else "Sümpfe") for n in range(150))
    with index.reading() as connection:
        expressions = [one for (one,) in connection.execute("SELECT expression FROM frequent")]
        kept = {one: read_bits(connection, one, range(9)) for one in expressions}
    named = {
        (expression, block)
        for expression, blocks in kept.items()
        for block in blocks
        if not expression[1].isdigit()
    }
    assert named == {
        (expression, block)
        for expression in ('"s"*', '"su"*', '"sum"*', '"sumpfe"', '"r"', '"r"*')
        for block in (0, 1)
    }
    assert {len(bits) for blocks in kept.values() for bits in blocks.values()} == {64 // 8}


def test_bitmaps_of_beginnings_have_the_records_of_rare_words(index: SqliteIndex) -> None:
    rare = {3: "s", 7: "su", 11: "solar", 20: "sumac", 30: "sunny", 40: "sunup", 50: "suß"}
    usual = ["sun", "sunset", "moon", "moon"]
    said = [rare.get(n) or usual[n % len(usual)] for n in range(130)]
    index.settle(entry(n, title) for n, title in enumerate(said))
    with index.writing() as connection:  # so that only bitmaps answer
        connection.execute("INSERT INTO text (text) VALUES ('delete-all')")
    for query, beginning in (("s*", "s"), ("su*", "su"), ("sun*", "sun")):
        assert answers(index, query) == [
            number for number, title in enumerate(said, 1) if title.startswith(beginning)
        ]
    assert answers(index, "sum*") == answers(index, "sol*") == []


def test_bitmaps_are_what_answers_where_there_are_some(index: SqliteIndex) -> None:
    index.settle(entry(n, "sun") for n in range(130))
    with index.writing() as connection:
        write_bits(connection, '"sun"', 1, bytes(8))
    assert answers(index, "sun") == [*range(1, 64), *range(128, 131)]
    assert len(answers(index, "title:sun")) == 130


def test_refresh_reads_the_changed_rows_only(index: SqliteIndex) -> None:
    index.settle(entry(n, "sun") for n in range(9))
    answers(index, "sun")
    index.settle([entry(3, "moon")])
    asked: list[str] = []
    with index.reading() as connection:
        connection.set_trace_callback(asked.append)
        index.columns(connection, large=False)
        connection.set_trace_callback(None)
        plans = [
            str(row)
            for sql in asked
            if " FROM record " in sql or " FROM facet_value " in sql
            for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
        ]
    assert plans
    assert not [plan for plan in plans if "SCAN" in plan]


def test_last_block_answers_from_the_table_of_recent_records(index: SqliteIndex) -> None:
    index.settle(entry(n, "sun") for n in range(100))
    index.settle(entry(n, "sunset moon") for n in range(100, 110))
    assert answers(index, "sunse*") == answers(index, "sun* moon") == list(range(101, 111))
    with index.reading() as connection:
        recent = {n for (n,) in connection.execute("SELECT rowid FROM recent ('\"s\"*')")}
        assert recent == set(range(64, 111))
    with index.writing() as connection:
        connection.execute("INSERT INTO recent (recent) VALUES ('delete-all')")
    assert answers(index, "s*") == list(range(1, 64))


def test_ranking_leaves_out_frequent_beginnings(index: SqliteIndex) -> None:
    index.settle(entry(n, "sun rare" if n % 9 == 0 else "moon") for n in range(150))
    with index.reading() as connection:
        assert Words(connection, parse_query("ra* sun")).ranking() == '("sun")'
        assert Words(connection, parse_query("ra*")).ranking() == '("ra"*)'


def test_word_that_became_frequent_later_is_found_everywhere(index: SqliteIndex) -> None:
    said = ["sun" if n == 9 or n > 70 else "moon" for n in range(300)]
    index.settle(entry(n, title) for n, title in enumerate(said))
    assert answers(index, "sun") == answers_of_fts5(index, "sun")
    assert answers(index, "moon OR sun") == list(range(1, 301))


def test_record_with_another_text_gets_another_row_id_and_is_counted_once(
    index: SqliteIndex,
) -> None:
    index.settle([entry(1, "sun"), entry(2, "sun")])
    index.settle([entry(1, "moon")])
    index.settle([entry(2, "sun")])
    with index.reading() as connection:
        rows = connection.execute("SELECT identifier, id FROM record ORDER BY id").fetchall()
        assert rows == [("r:2", 2), ("r:1", 3)]
        assert connection.execute("SELECT id FROM gone").fetchall() == [(1,)]
        assert connection.execute("SELECT value FROM about WHERE key = 'records'").fetchone() == (
            2,
        )
    assert index.set_counts() == {"s": 2}


def test_notes_of_rows_that_are_gone_do_not_pile_up_and_none_is_missed(
    index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "MERGE_AT", 5)
    index.settle([entry(number, "sun") for number in range(4)])
    with contextlib.closing(SqliteIndex(index.path, lambda: False)) as other:
        assert answers(other, "sun") == [1, 2, 3, 4]
        for number in range(200):
            index.settle([entry(number % 4, f"moon {number}")])
        with index.reading() as connection:
            noted = connection.execute("SELECT count(*) FROM gone").fetchone()[0]
        assert 5 < noted < 5 + 1 + words.BLOCK
        assert answers(other, "") == [201, 202, 203, 204]
        assert answers(other, "moon") == answers_of_fts5(index, "moon") == [201, 202, 203, 204]


def test_record_that_is_named_twice_at_once_is_as_it_was_named_last(index: SqliteIndex) -> None:
    index.settle([entry(1, "sun"), entry(2, "moon"), entry(1, "sunset")])
    assert answers(index, "sun") == []
    assert len(answers(index, "sunset")) == 1
    index.settle([entry(1, "moon"), entry(1, "rare")])
    assert len(answers(index, "moon")) == 1
    with index.reading() as connection:
        assert connection.execute("SELECT count(*) FROM text").fetchone() == (2,)
    assert index.complete


def test_ranking_leaves_out_what_nearly_all_have(index: SqliteIndex) -> None:
    index.settle(entry(n, "sun rare" if n % 9 == 0 else "sun") for n in range(150))
    with index.reading() as connection:
        assert Words(connection, parse_query("sun rare")).ranking() == '("rare")'
        assert Words(connection, parse_query("sun")).ranking() == '("sun")'
        assert Words(connection, parse_query("sun OR rare")).ranking() == '("sun" OR "rare")'


@pytest.mark.parametrize(
    ("text", "word"),
    [("Élan", "elan"), ("x-y", None), ("½", None), ("...", None), ("İ", "i"), ("a_b", None)],
)
def test_tokenizer_is_that_of_the_index(text: str, word: str | None) -> None:
    with Tokenizer() as tokenizer:
        found = tokenizer.only_word(text)
        assert found == tokenizer.only_word(text)
    if word is not None:
        assert found == word


def test_pages_by_relevance_and_facets_agree_over_blocks(
    index: SqliteIndex, tmp_path: Path, harvest: Callable[..., str]
) -> None:
    index.settle(entry(n, "sun rare" if n % 9 == 0 else "sun") for n in range(200))
    with Silo(str(tmp_path / "silo")) as silo:
        seen: list[str] = []
        after = None
        while True:
            result = silo.search("sun rare", SearchFilters(), ("set",), PageRequest(7, after))
            seen += [row.identifier for row in result.rows]
            assert (result.sort, result.total) == ("relevance", 23)
            assert [(v.value, v.count) for v in result.facets["set"]] == [("s", 23)]
            after = result.next_page
            if after is None:
                break
    assert sorted(seen) == sorted(f"r:{n}" for n in range(0, 200, 9))
