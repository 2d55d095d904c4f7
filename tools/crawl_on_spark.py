"""Run the steps of ``steps.sql`` on Apache Spark, for logs on a cluster.

It needs ``pip install pyspark sqlglot``.

The SQL is the same; sqlglot translates it at run time. On one machine this takes many times the
CPU time of DuckDB.

    >>> spark = SparkSession.builder.getOrCreate()
    >>> rows = match_on_spark(spark, ["hdfs://…/crawl.log.gz"], [("http://…", "oai:…")])
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlglot
from sqlglot import exp

from crawlmatch.inputs import escaped
from crawlmatch.plan import cdx_places, keep_events, make_tables, match, merge
from crawlmatch.rules import LineRules
from crawlmatch.seeds import COLUMNS, forms
from crawlmatch.uris import redirect_target
from silosteps.step_file import steps_of

FIELDS = "NbamskrMSVg"
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_PARAMETER = re.compile(r"\$([a-z_]+)\b(?!\.)")
_TYPES = {"VARCHAR": "STRING", "INTEGER": "INT"}


def match_on_spark(
    spark: Any,
    logs: Sequence[str],
    seeds: Iterable[tuple[str, str]],
    *,
    indexes: Sequence[str] = (),
    rules: LineRules | None = None,
) -> Any:
    """Match crawl logs and seeds on a Spark session.

    Args:
        spark: A `SparkSession`.
        logs: Paths of Heritrix logs, which may be compressed in a form that Spark reads.
        seeds: (address, identifier) rows.
        indexes: Paths of CDX files with eleven fields.
        rules: What counts as a full text.

    Returns:
        The table `crawl_result` as a data frame.
    """
    found = rules or LineRules()
    spark.conf.set("spark.sql.ansi.enabled", "false")  # a missing field is NULL
    steps = SparkSteps(spark)
    make_tables(steps)
    for names, step, source in ((logs, "read_log", 0), (indexes, "read_cdx", 1)):
        for name in names:
            steps.lines(name)
            if source:
                steps.run(step, **cdx_places(FIELDS)).run("cdx_captures", fields="", source=source)
            else:
                steps.run(step)
            keep_events(steps, found, source)
            located = [
                (url, target)
                for url, location in steps.run("redirects").all()
                if (target := redirect_target(url, location)) is not None and target != url
            ]
            steps.table("located", ("url", "target"), located)
            steps.run("add_locations")
    given = [(url, identifier, *forms(url)) for url, identifier in seeds]
    steps.table("seed_given", COLUMNS, given)
    steps.run("add_seeds")
    merge(steps, found)
    match(steps, found)
    return spark.table("result")


class SparkSteps:
    """Runs steps on Spark; a table is a temporary view of cached rows."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._steps = steps_of("crawlmatch")
        self._result: Any = None

    def run(self, step: str, **values: Any) -> "SparkSteps":
        """Run a step with its parameters."""
        tree = sqlglot.parse_one(filled(self._steps[step], values), read="duckdb")
        if isinstance(tree, exp.Insert):
            name = tree.this.name
            self._keep(name, self._spark.table(name).union(self._select(tree.expression)))
        elif isinstance(tree, exp.Delete):
            kept = exp.select("*").from_(tree.this).where(exp.not_(tree.args["where"].this))
            self._keep(tree.this.name, self._select(kept))
        elif isinstance(tree, exp.Create) and tree.expression is None:
            self._keep(tree.this.this.name, self._empty(tree))
        elif isinstance(tree, exp.Create):
            self._keep(tree.this.name, self._select(tree.expression))
        else:
            self._result = self._select(tree)
        return self

    def all(self) -> list[tuple[Any, ...]]:
        """Return the rows of the last step."""
        return [tuple(row) for row in self._result.collect()]

    def drop(self, names: list[str]) -> None:
        """Drop tables."""
        for name in names:
            self._spark.catalog.dropTempView(name)

    def table(self, name: str, columns: Sequence[str], rows: list[Any]) -> None:
        """Create a table of texts."""
        schema = ", ".join(f"{column} STRING" for column in columns)
        self._keep(name, self._spark.createDataFrame(rows, schema))

    def lines(self, path: str) -> None:
        """Create the table ``line`` from a file's lines, in the form of `plain_lines`."""
        from pyspark.sql import functions  # noqa: PLC0415 - loaded where there is a session

        plain = functions.udf(lambda line: escaped(bytes(line)).decode("ascii"))
        text = functions.col("value")
        read = self._spark.read.text(path, lineSep="\n").select(
            functions.when(text.rlike(r"^[\t\r -~]*$"), text)
            .otherwise(plain(text.cast("binary")))
            .alias("value")
        )
        self._keep(
            "line",
            read.select(
                functions.regexp_replace(
                    functions.regexp_replace("value", r"^ +|\r$", ""), " +", " "
                ).alias("line")
            ),
        )

    def _keep(self, name: str, frame: Any) -> None:
        frame.localCheckpoint().createOrReplaceTempView(name)

    def _select(self, tree: Any) -> Any:
        return self._spark.sql(translated(tree))

    def _empty(self, tree: Any) -> Any:
        columns = [
            f"{one.name} {_TYPES.get(one.kind.sql('duckdb'), one.kind.sql('duckdb'))}"
            for one in tree.this.expressions
        ]
        schema = re.sub(r"\bTEXT\b", "STRING", ", ".join(columns))
        return self._spark.createDataFrame([], schema)


def translated(tree: Any) -> str:
    """Translate a query from DuckDB's dialect to Spark SQL."""
    return str(tree.copy().transform(_named).sql("spark"))


def _named(node: Any) -> Any:
    """Translate the functions that sqlglot leaves unchanged."""
    name = node.name.upper() if isinstance(node, exp.Anonymous) else type(node).__name__.upper()
    if name in {"JSON_VALID", "JSONVALID"}:
        (text,) = node.expressions or (node.this,)
        test = f"GET_JSON_OBJECT({text.sql('spark')}, '$') IS NOT NULL"
        return exp.Paren(this=sqlglot.parse_one(test, read="spark"))
    if name == "LIST_SLICE":
        values, begin, _ = (one.sql("spark") for one in node.expressions)
        rest = f"GREATEST(SIZE({values}) - {begin} + 1, 0)"
        return sqlglot.parse_one(f"SLICE({values}, {begin}, {rest})", read="spark")
    return node


def filled(sql: str, values: Mapping[str, Any]) -> str:
    """Insert the parameters into a step before it is parsed, which rewrites list indexes."""
    bare = _COMMENT.sub("", sql)
    return _PARAMETER.sub(lambda match: exp.convert(values[match[1]]).sql("duckdb"), bare)
