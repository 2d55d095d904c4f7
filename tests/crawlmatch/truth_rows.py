"""The rows of a `crawl_result.sqlite`."""

import sqlite3
from pathlib import Path
from typing import Any


def rows_of(database: Path) -> list[Any]:
    with sqlite3.connect(database) as connection:
        connection.row_factory = sqlite3.Row
        found = connection.execute(
            "SELECT * FROM crawl_result ORDER BY initial_url, identifier, terminal, final_url"
        ).fetchall()
    connection.close()
    return [dict(row) for row in found]
