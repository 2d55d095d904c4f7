"""Orders that take in what changed are those that would be made anew."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo import Row, Silo
from recordsilo.index import Entry, ManifestStamp, SqliteIndex, columns
from recordsilo.index.catalogue import Catalogue
from recordsilo.index.columns import STORED_ORDERS, Columns
from recordsilo.index.projection import Text
from recordsilo.index.rows import title_key

STAMP = ManifestStamp(0, 0, 0)
changes = st.lists(
    st.dictionaries(
        st.integers(0, 9),
        st.tuples(st.sampled_from(["", "a", "Á", "b", "-c"]), st.booleans(), st.integers(1, 4))
        | st.none(),
        min_size=1,
    ),
    min_size=1,
    max_size=6,
)
"""Number of a record → its title, whether it is curated, and when it was changed; or it goes."""


def entry(number: int, title: str, *, curated: bool, at: int) -> tuple[Entry, ManifestStamp]:
    row = Row(f"r:{number}", "2020-01-01", title, (), False, curated, False, "1", 1, 1)
    return Entry(row, Text(title), at, {}, changed=at, has_file=False), STAMP


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteIndex]:
    monkeypatch.setattr(Catalogue, "_catch_up", lambda _self, _rows: False)
    monkeypatch.setattr(columns, "_CHANGED", 1)
    with Silo(str(tmp_path / "silo")) as silo:
        yield silo._catalogue._index


def ordered(index: SqliteIndex) -> dict[str, list[int]]:
    """The records of each order that are there, those sorted apart among them."""
    with index.reading() as connection:
        kept = index.columns(connection, large=False)
        sql = "SELECT id, name, seconds, title, changed FROM entry"
        keys = {
            number: {
                "identifier": name,
                "seconds": seconds,
                "title": title_key(title),
                "changed": at,
            }
            for number, name, seconds, title, at in connection.execute(sql)
        }
        found = {}
        for name in STORED_ORDERS:
            order = kept.order(connection, name)
            among, apart = order.among(kept.alive)
            in_order = [number for number in order.ids if number in among]
            assert len(apart) <= 1 or name in ("seconds", "changed")
            assert in_order == sorted(in_order, key=lambda one: (keys[one][name], one))
            found[name] = sorted([*in_order, *apart], key=lambda one: (keys[one][name], one))
        return found


@settings(
    deadline=None,
    max_examples=examples(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(changes)
def test_orders_in_step_are_those_made_anew(
    index: SqliteIndex, done: list[Mapping[int, tuple[str, bool, int] | None]]
) -> None:
    for some in done:
        index.settle(
            [entry(n, one[0], curated=one[1], at=one[2]) for n, one in some.items() if one],
            gone=[f"r:{n}" for n, one in some.items() if one is None],
        )
        found = ordered(index)
        with index.reading() as connection:
            anew = Columns(connection, large=False)
            assert found == {name: [*anew.order(connection, name).ids] for name in STORED_ORDERS}
            kept = index.columns(connection, large=False)
            rows = connection.execute("SELECT id, changed FROM entry").fetchall()
            for low, high in ((0, 2), (2, 2), (3, 9)):
                within = kept.changed_within(connection, low, high) & kept.alive
                assert sorted(within) == sorted(n for n, at in rows if low <= at <= high)
