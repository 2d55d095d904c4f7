"""What happens to the outcomes of links of records that were removed for good."""

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing

from crawlmatch.kept import KeptCrawl, kept_crawls
from recordsilo.removals import OnRemoval


def _forget(silo_path: str, identifiers: Sequence[str]) -> None:
    """Remove the rows of records from the tables of all crawls; receipts stay as they were.

    Raises:
        sqlite3.Error, StepsError, OSError: A table cannot be changed.
    """
    for crawl in kept_crawls(silo_path):
        _forget_columns(silo_path, crawl, identifiers)
        with closing(sqlite3.connect(crawl.database, timeout=60)) as connection, connection:
            connection.execute(
                "DELETE FROM crawl_result WHERE identifier IN (SELECT value FROM json_each(?))",
                (json.dumps(list(identifiers)),),
            )


def _forget_columns(silo_path: str, crawl: KeptCrawl, identifiers: Sequence[str]) -> None:
    """Write the result's Parquet file again, if the crawl had one of the records."""
    path = crawl.database.removesuffix(".sqlite") + ".parquet"
    with closing(sqlite3.connect(crawl.database, timeout=60)) as connection:
        found = connection.execute(
            "SELECT 1 FROM crawl_result WHERE identifier IN (SELECT value FROM json_each(?))",
            (json.dumps(list(identifiers)),),
        ).fetchone()
    if found is None or not os.path.isfile(path):
        return
    from crawlmatch.shards import opened_engine  # noqa: PLC0415 - loads DuckDB

    staged = f"{path}.{os.getpid()}.new"
    with opened_engine(os.path.join(silo_path, ".silo", "tmp")) as engine:
        engine.run("without_records", file=path, items=list(identifiers), staged=staged)
    os.rename(staged, path)


REMOVAL = OnRemoval("crawls", _forget)
