"""What a query that finds nothing probably meant."""

import sqlite3
from collections import Counter
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.errors import nearest
from recordsilo.index import SearchFilters
from recordsilo.index.schema import RECENT_TABLE, SCHEMA, TEXT_TABLE
from recordsilo.index.spelling import best_of, near, respelled
from recordsilo.remarks import Wider, wider


@pytest.fixture(scope="module")
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.executescript(TEXT_TABLE + RECENT_TABLE + SCHEMA)
    titles = ("Pollinator decline", "Pollinators of Élan", "Решение задачи", "photo theses")
    for number, title in enumerate(titles, 1):
        made.execute("INSERT INTO text (rowid, title) VALUES (?, ?)", (number, title))
        made.execute("INSERT INTO recent (rowid, words) VALUES (?, ?)", (number, title))
    made.executemany("INSERT INTO word VALUES (?, ?)", [("thesis", 500), ("theses", 20)])
    return made


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("pollinater", "pollinator"),
        ("Polinator year:2016 decline", "pollinator  decline year:2016"),
        ('title:polinator "declne of" -pollinater', 'title:pollinator "decline of" -pollinater'),
        ("title:polinator -pollinater type:A", "title:pollinator -pollinater type:A"),
        ("thesys", "thesis"),
        ("theseis", "thesis"),
        ("решенье", "решение"),
        ("elna", "elan"),
        ("photo*", ""),
        ("pollinator", ""),
        ("poll zzzzzz", ""),
        ("abc 2016 ???", ""),
        ("", ""),
    ],
)
def test_unknown_words_are_spelled_as_the_index_has_them(
    connection: sqlite3.Connection, query: str, meant: str
) -> None:
    assert respelled(connection, query) == meant


def test_near_words_are_one_letter_away() -> None:
    assert {"car", "art", "acrt", "catr", "dart", "card", "chart", "carts"} <= near("cart")
    assert "cart" not in near("cart")
    assert best_of("tree", Counter({"free": 90, "trees": 2, "trek": 3})) == "trek"
    assert best_of("tree", Counter()) == ""


def test_a_search_that_finds_nothing_says_what_would_find_something(
    silo: Silo, harvest: Callable[..., str]
) -> None:
    for number in range(3):
        harvest(silo, f"r{number}", title="Pollinator", sets=(f"s:{number}",))
    there, nowhere = {"set": ["s:1"]}, {"set": ["t"]}
    assert wider(silo, "pollinator", SearchFilters({}, nowhere)) == [Wider("set", "set=t", 3)]
    assert wider(silo, "auk", SearchFilters({}, there)) == [Wider("", "the words", 1)]
    assert wider(silo, "auk", SearchFilters()) == []
    dated = SearchFilters({"deleted": True}, {**there}, "2030-01-01")
    assert wider(silo, "", dated) == []
    asked = ("search", silo.path, "polinator", "set:s")
    told = CliRunner().invoke(silo_command, asked).stderr
    assert told.startswith("silo: did you mean pollinator? It finds 3 records\n")
    assert "without the words, it finds 3 records" in told


def test_two_letters_exchanged_are_one_slip_and_nothing_else_is_offered() -> None:
    assert nearest("yaer", ("after", "until", "year")) == ["year"]
    assert nearest("titel", ("title", "type")) == ["title"]
    assert nearest("afer", ("after", "year"))[0] == "after"
