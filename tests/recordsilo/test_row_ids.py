"""Sets of row ids are the same in every form."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from recordsilo.index.row_ids import bits_of, of_bits, of_rows, of_text


@given(st.sets(st.integers(0, 1 << 17), max_size=50), st.integers(0, 9000))
def test_bits_are_the_row_ids_that_they_were_made_of(some: set[int], many: int) -> None:
    ids = BitMap(some) | BitMap(range(70_000, 70_000 + many))
    assert of_bits(bits_of(ids, 0, (1 << 17) + 1)) == ids


@pytest.mark.parametrize("size", [0, 8, 4096, 4097, 65_536, 65_544])
def test_bits_that_are_all_set(size: int) -> None:
    assert of_bits(b"\xff" * (size // 8)) == BitMap(range(size // 8 * 8))


def test_results_of_sqlite() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER)")
        sql = "SELECT group_concat(id) FROM t"
        assert of_text(connection.execute(sql).fetchone()[0]) == BitMap()
        connection.executemany("INSERT INTO t VALUES (?)", [(7,), (3_000_000_000,), (5,)])
        expected = BitMap([5, 7, 3_000_000_000])
        assert of_text(connection.execute(sql).fetchone()[0]) == expected
        assert of_rows(connection.execute("SELECT id FROM t")) == expected
