"""What rows are packed into is what was packed, and the full text has the words of their texts."""

import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo import Row, Silo
from recordsilo.audit.search_check import search_faults
from recordsilo.index import Entry, ManifestStamp, PageRequest, SearchFilters, SqliteIndex
from recordsilo.index import packing as packing_of
from recordsilo.index.packing import (
    Packer,
    Unpacker,
    bits_in,
    numbers_in,
    numbers_of,
    pack_bits,
    pack_numbers,
)
from recordsilo.index.projection import Text
from recordsilo.index.query import dated
from recordsilo.index.rows import Prepared, prepare
from recordsilo.index.schema import RECENT_TABLE, SCHEMA, TEXT_TABLE

STAMP = ManifestStamp(0, 0, 0)
texts = st.text(st.characters(exclude_characters="\0"), max_size=30) | st.sampled_from(
    ["\1", "\2", "\1a", "a", "ab", "a\2", "ä月"]
)
WITHOUT_ISAL = mock.patch.dict(sys.modules, {"isal.isal_zlib": None})
"""As on a machine for which there is no ISA-L."""


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(":memory:")) as made:
        made.executescript(TEXT_TABLE + RECENT_TABLE + SCHEMA)
        yield made


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(st.tuples(*[texts] * 6), max_size=4), texts, texts, st.booleans(), st.booleans())
def test_packed_texts_are_the_same_with_any_dictionary(
    connection: sqlite3.Connection,
    some: list[tuple[str, ...]],
    title: str,
    identifier: str,
    later: bool,
    has_isal: bool,
) -> None:
    connection.execute("DELETE FROM dictionary")
    packer, packed = Packer(), list[tuple[bytes, tuple[str, ...]]]()
    with mock.patch("recordsilo.index.packing._LONG", 0) if has_isal else WITHOUT_ISAL:
        for number, one in enumerate(some):
            packer.prepare(connection, 999 + number + later, some)
            packed.append((packer.pack(connection, one, title, identifier), one))
    read = Unpacker(connection).texts
    for packed_texts, one in packed:
        assert read(packed_texts, title, identifier) == one
        for wrong in (packed_texts[:-1], packed_texts + b"x", b"\x09" + packed_texts[1:]):
            with pytest.raises(sqlite3.DatabaseError, match="impossible value"):
                read(wrong, title, identifier)


@pytest.mark.parametrize("packs", [contextlib.nullcontext(), WITHOUT_ISAL], ids=["isal", "zlib"])
def test_text_that_repeats_what_is_beyond_the_window_is_read_by_zlib(
    connection: sqlite3.Connection, packs: contextlib.AbstractContextManager[object]
) -> None:
    dice = random.Random(3)
    once = "".join(dice.choices("abcdefghijklmnopqrstuvwxyz ", k=20_000))
    long = (once, "", "", once * 3, "", once[:4000] * 9)
    with packs:
        packed = Packer().pack(connection, long, "", "")
    assert len(packed) < len("".join(long))
    assert Unpacker(connection).texts(packed, "", "") == long


numbers = st.integers(0, 200) | st.integers(0, 2**31 - 1) | st.sampled_from(
    [0xD7FF, 0xD800, 0xDFFF, 0xFFFFF, 0x100000, 0x10FFFF, 0x110000]
)  # fmt: skip


@settings(deadline=None, max_examples=examples(200))
@given(st.lists(st.lists(numbers, max_size=5), max_size=4), st.binary(max_size=20))
def test_packed_numbers_are_the_same(lists: list[list[int]], bits: bytes) -> None:
    packed = [*map(pack_numbers, lists)]
    lengths, found = numbers_of(packed)
    assert (lengths, [*found]) == ([*map(len, lists)], [one for some in lists for one in some])
    assert [*numbers_in(b"".join(packed))] == [*found]
    assert bits_in(pack_bits(bits)) == bits


@pytest.mark.parametrize("wrong", [b"\xff", b"\xe1", b"\xf4\x80\x80\x81"])
def test_what_is_no_list_of_numbers_is_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match=r"invalid|end of data|part of a number"):
        numbers_in(wrong)


def test_usual_datestamps_are_kept_as_seconds_alone(tmp_path: Path) -> None:
    assert dated(63_000_000_000) == "1997-05-23T16:00:00"
    with Silo(str(tmp_path / "silo")) as silo:
        for name, date in (("a", dated(63_000_000_000)), ("b", "1997-05-23"), ("c", "")):
            row = Row(name, date, "", (), False, False, False, "1", 1, 1)
            seconds = 0 if name == "c" else 63_000_000_000
            silo._catalogue._index.settle([(Entry(row, Text(), seconds, {}, False), STAMP)])
        with silo._catalogue._index.reading() as connection:
            kept = connection.execute("SELECT datestamp FROM record ORDER BY identifier").fetchall()
        found = silo._catalogue._index.rows(["a", "b", "c"])
    assert kept == [(None,), ("1997-05-23",), ("",)]
    assert [found[one].datestamp for one in "abc"] == [dated(63_000_000_000), "1997-05-23", ""]


# -- the words in step with the texts -----------------------------------------------------


def entry(number: int, words: Sequence[str]) -> tuple[Entry, ManifestStamp]:
    title, *rest = words
    row = Row(f"r:{number}", "2020-01-01", title, ("s",), False, False, False, "1", 1, 1)
    text = Text(title, *rest[:4], identifiers=f"r:{number}") if len(rest) < 4 else Text(*words)
    return Entry(row, text, 0, {"set": row.sets, "subject": tuple(rest)}, False), STAMP


def words_in(index: SqliteIndex) -> list[tuple[object, ...]]:
    """The full text's words with their counts; a fault of it is an error."""
    with index.reading() as connection:
        assert [*map(str, _faults(connection))] == []
    with index.writing() as connection:
        connection.execute("INSERT INTO text (text) VALUES ('integrity-check')")
        connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, text, col)")
        found = connection.execute("SELECT * FROM vocabulary ORDER BY 1, 2").fetchall()
        connection.execute("DROP TABLE temp.vocabulary")
        return found


def _faults(connection: sqlite3.Connection) -> list[object]:
    connection.execute("ROLLBACK")
    try:
        return [*search_faults(connection)]
    finally:
        connection.execute("BEGIN")


class Undone(Exception):
    pass


word = st.sampled_from(["sun", "moon", "sun moon", "Sümpfe", "月", "", "x-y sun", "rare"])
edits = st.lists(
    st.tuples(st.integers(0, 5), st.lists(word, min_size=1, max_size=6), st.integers(0, 5)),
    max_size=25,
)


@pytest.mark.long
@settings(deadline=None, max_examples=examples(12), suppress_health_check=list(HealthCheck))
@given(edits, st.sampled_from([1, 3, 1000]))
def test_words_are_those_of_the_texts_after_any_edits(
    tmp_path_factory: pytest.TempPathFactory,
    made: list[tuple[int, list[str], int]],
    second_from: int,
) -> None:
    directory = tmp_path_factory.mktemp("edits")
    now: dict[int, list[str]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing_of, "_SECOND_FROM", second_from)
        edited = SqliteIndex(str(directory / "edited.sqlite"), lambda: True)
        plain = SqliteIndex(str(directory / "plain.sqlite"), lambda: True)
        with contextlib.closing(edited), contextlib.closing(plain):
            for number, said, kind in made:
                if kind == 0:
                    edited.settle([], gone=[f"r:{number}"])
                    now.pop(number, None)
                elif kind == 1:  # rolled back
                    with contextlib.suppress(Undone), edited.writing() as connection:
                        edited._write(connection, [_prepared(number, said)])
                        raise Undone
                else:
                    edited.settle([entry(number, said), entry(number + 10, said)])
                    now |= {number: said, number + 10: said}
            plain.settle(entry(*one) for one in now.items())
            assert words_in(edited) == words_in(plain)
            for asked in ("sun", '"sun moon"', "rare"):
                assert _found(edited, asked) == _found(plain, asked)


@pytest.mark.parametrize("title", ["sun", "moon"])
def test_a_row_that_keeps_its_texts_is_read_as_before(tmp_path: Path, title: str) -> None:
    found, stamp = entry(1, ["sun rises", "b", "c", "d", "e", "f"])
    found = replace(found, row=replace(found.row, title="sun"))
    with contextlib.closing(SqliteIndex(str(tmp_path / "index.sqlite"), lambda: True)) as index:
        index.settle([(found, stamp)])
        with index.writing() as connection:
            (before,) = connection.execute("SELECT packed FROM record").fetchall()
        index.settle([(replace(found, row=replace(found.row, title=title, revision=9)), stamp)])
        with index.writing() as connection:
            rows = connection.execute("SELECT packed, title, identifier FROM record").fetchall()
            assert [Unpacker(connection).texts(*row) for row in rows] == [found.text.columns]
            assert (rows[0][:1] == before) == (title == "sun")
            assert _faults(connection) == []


def _prepared(number: int, said: Sequence[str]) -> Prepared:
    return prepare(*entry(number, said))


def _found(index: SqliteIndex, words: str) -> list[str]:
    page = index.search(words, SearchFilters(), (), PageRequest(limit=100, sort="identifier"))
    return [row.identifier for row in page.rows]


_EDITS = """
import random, sys
sys.path[:0] = sys.argv[3:]
from test_packing import entry, SqliteIndex
index = SqliteIndex(sys.argv[1], lambda: True)
chance = random.Random(int(sys.argv[2]))
words = ["sun", "moon", "rare", "Sümpfe", "月"] + [f"w{n}" for n in range(300)]
index.settle([entry(0, words[:6])])
print("ready", flush=True)
while True:
    some = [chance.randrange(400) for _ in range(chance.choice([1, 1, 40]))]
    if chance.random() < 0.2:
        index.settle([], gone=[f"r:{n}" for n in some])
    else:
        made = {n: [" ".join(chance.choices(words, k=9)) for _ in range(6)] for n in some}
        index.settle(entry(*one) for one in made.items())
"""


@pytest.mark.long
def test_words_are_those_of_the_texts_after_kills(tmp_path: Path) -> None:
    chance, path = random.Random(4), str(tmp_path / "index.sqlite")
    for seed in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", _EDITS, path, str(seed), str(Path(__file__).parent), *sys.path],
            stdout=subprocess.PIPE,
        ) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(0.1 + 0.5 * chance.random())
            child.send_signal(signal.SIGKILL)
        with contextlib.closing(SqliteIndex(path, lambda: True)) as index:
            assert words_in(index)
            with index.reading() as connection:
                rows = connection.execute("SELECT packed, title, identifier FROM record").fetchall()
                read = Unpacker(connection).texts
                texts = {one[2]: read(*one) for one in rows}
            wanted = sorted(one for one, said in texts.items() if "sun" in " ".join(said).split())
            found = index.search("sun", SearchFilters(), (), PageRequest(limit=1000))
            assert sorted(row.identifier for row in found.rows) == wanted
            assert found.total == len(wanted)
