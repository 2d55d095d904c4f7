"""Records as a table of pandas, Polars or Arrow, made from the index: no record is read."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recordsilo.batches import batched
from recordsilo.extras import needed
from recordsilo.index import Described, Row
from recordsilo.records.description import moment_of

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Describe = Callable[[Sequence[str]], dict[str, Described]]
_TOGETHER = 1000
_NOTHING = Described()


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """A column of the table, named like the property of a record.

    Attributes:
        kind: ``text``, ``texts`` (a list in each row), ``number``, ``time`` (UTC) or ``flag``.
    """

    name: str
    kind: str
    value: Callable[[Row, Described], Any]


def _texts(name: str, facet: str) -> FrameColumn:
    return FrameColumn(name, "texts", lambda _row, said: list(said.values.get(facet, ())))


COLUMNS = (
    FrameColumn("identifier", "text", lambda row, _said: row.identifier),
    FrameColumn("title", "text", lambda row, _said: row.title or None),
    _texts("creators", "creator"),
    FrameColumn("year", "number", lambda _row, said: int(said.year) if said.year else None),
    _texts("types", "type"),
    FrameColumn("doi", "text", lambda _row, said: said.doi or None),
    _texts("subjects", "subject"),
    _texts("publishers", "publisher"),
    _texts("languages", "language"),
    FrameColumn("sets", "texts", lambda row, _said: list(row.sets)),
    FrameColumn("datestamp", "time", lambda row, _said: moment_of(row.datestamp)),
    FrameColumn("is_curated", "flag", lambda row, _said: row.curated),
    FrameColumn("is_deleted", "flag", lambda row, _said: row.deleted),
)
"""The columns, in order. What is not known is None, or an empty list."""


def columns_of(rows: Iterable[Row], describe: Describe) -> dict[str, list[Any]]:
    """Column → its values, one for each row.

    Args:
        rows: From an index.
        describe: `Silo.described`.

    Cost: memory for all values; two queries for every 1,000 rows.
    """
    found: dict[str, list[Any]] = {one.name: [] for one in COLUMNS}
    for some in batched(rows, _TOGETHER):
        described = describe([row.identifier for row in some])
        for row in some:
            said = described.get(row.identifier, _NOTHING)
            for one in COLUMNS:
                found[one.name].append(one.value(row, said))
    return found


def to_pandas(rows: Iterable[Row], describe: Describe) -> "pandas.DataFrame":
    """See `SearchResult.to_pandas`."""
    module = needed("pandas", "a table of pandas")
    kinds = {
        "text": "string",
        "texts": "object",
        "number": "Int64",
        "time": "datetime64[us, UTC]",
        "flag": "bool",
    }
    values = columns_of(rows, describe)
    return module.DataFrame(
        {one.name: module.Series(values[one.name], dtype=kinds[one.kind])
         for one in COLUMNS}
    )  # fmt: skip


def to_polars(rows: Iterable[Row], describe: Describe) -> "polars.DataFrame":
    """See `SearchResult.to_polars`."""
    module = needed("polars", "a table of Polars")
    kinds = {
        "text": module.String,
        "texts": module.List(module.String),
        "number": module.Int32,
        "time": module.Datetime("us", "UTC"),
        "flag": module.Boolean,
    }
    return module.DataFrame(
        columns_of(rows, describe), schema={one.name: kinds[one.kind] for one in COLUMNS}
    )


def to_arrow(rows: Iterable[Row], describe: Describe) -> "pyarrow.Table":
    """See `SearchResult.to_arrow`."""
    module = needed("pyarrow", "a table of Arrow")
    kinds = {
        "text": module.string(),
        "texts": module.list_(module.string()),
        "number": module.int32(),
        "time": module.timestamp("us", "UTC"),
        "flag": module.bool_(),
    }
    schema = module.schema([(one.name, kinds[one.kind]) for one in COLUMNS])
    return module.Table.from_pydict(columns_of(rows, describe), schema=schema)
