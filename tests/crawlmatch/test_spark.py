"""The steps give the same rows on Apache Spark as on DuckDB."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from known_truth import CASES, crawls
from truth_rows import rows_of

from crawlmatch.matching import MatchRequest, match_into

pytest.importorskip("pyspark", reason="PySpark is not installed")

from crawl_on_spark import match_on_spark
from pyspark.sql import SparkSession

KINDS = tuple(kind for kind in CASES if kind not in {"deep_hop_path", "endless_redirects"})
"""Each round of a walk is a job on Spark: those with forty rounds and more are left out."""


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.default.parallelism", "1")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.local.dir", str(tmp_path / "spark"))
        .config("spark.sql.warehouse.dir", str(tmp_path / "warehouse"))
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_spark_and_duckdb_agree(spark: Any, tmp_path: Path) -> None:
    crawl = crawls(len(KINDS), kinds=KINDS)
    log, index = tmp_path / "crawl.log", tmp_path / "crawl.cdx"
    log.write_bytes(
        "".join(f"{line}\r\n" for line in crawl.lines).encode() + b"\xff \x00 broken line\n"
    )
    index.write_text("".join(f"{line}\n" for line in crawl.cdx))
    os.mkdir(tmp_path / "out")
    request = MatchRequest([str(log), str(index)], seed_rows=crawl.seeds)
    match_into(str(tmp_path / "out"), request, tables=False)
    expected = rows_of(tmp_path / "out" / "crawl_result.sqlite")
    frame = match_on_spark(spark, [str(log)], crawl.seeds, indexes=[str(index)])
    found = [row.asDict() for row in frame.collect()]

    def in_order(rows: list[Any]) -> list[Any]:
        return sorted(rows, key=lambda row: [str(value) for value in row.values()])

    assert in_order(found) == in_order(expected)
