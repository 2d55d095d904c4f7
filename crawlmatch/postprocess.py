"""Import statuses of full texts, by digest, into ``crawl_result``; and dump the table."""

import base64
import binascii
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from crawlmatch.errors import CrawlError
from crawlmatch.results import COLUMNS, TABLE
from silosteps.inputs import open_input
from silosteps.lines import blocks


@dataclass(frozen=True, slots=True)
class PostprocessReceipt:
    """Numbers of lines, rows, digests not found, and skipped lines."""

    lines_parsed: int
    rows_updated: int
    sha1_not_found: int
    skip_bad_sha1: int
    skip_raw_line: int

    def to_json(self) -> dict[str, int]:
        """Return the receipt as JSON values, with arabesque's names."""
        return {
            "lines-parsed": self.lines_parsed,
            "rows-updated": self.rows_updated,
            "sha1-not-found": self.sha1_not_found,
            "skip-bad-sha1": self.skip_bad_sha1,
            "skip-raw-line": self.skip_raw_line,
        }


def postprocess(statuses: str, database: str) -> PostprocessReceipt:
    """Write the status of each digest into the rows of its full text, all or none.

    Args:
        statuses: A file of lines ``SHA1 TAB STATUS``; the digest in base32 or in hex,
            with or without ``sha1:``. ``-`` is standard input.
        database: A `crawl_result.sqlite`.

    Raises:
        InputUnreadable: The file cannot be read.
        CrawlError: The database is not a `crawl_result.sqlite`.
    """
    lines = updated = missing = bad = raw = 0
    with _opened(database) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for line in _lines(statuses):
            parts = line.split("\t")
            lines += 1
            if len(parts) < 2 or not parts[1].strip():
                raw += 1
                continue
            sha1 = base32_of(parts[0])
            if sha1 is None:
                bad += 1
                continue
            changed = connection.execute(
                f"UPDATE {TABLE} SET postproc_status = ? WHERE final_sha1 = ?",  # noqa: S608  # our own name
                (parts[1].strip(), sha1),
            ).rowcount
            updated += changed
            missing += not changed
        connection.execute("COMMIT")
    return PostprocessReceipt(lines, updated, missing, bad, raw)


def base32_of(text: str) -> str | None:
    """Return a SHA-1 as 32 letters of base32; None if it is malformed."""
    bare = text.strip().removeprefix("sha1:").upper()
    try:
        if len(bare) == 40:
            return base64.b32encode(binascii.unhexlify(bare)).decode()
        return bare if len(bare) == 32 and len(base64.b32decode(bare)) == 20 else None
    except (binascii.Error, ValueError):
        return None


def dumped(
    database: str,
    *,
    only_identifier_hits: bool = False,
    only_direct_breadcrumbs: bool = False,
    max_per_identifier: int | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``crawl_result`` as objects, ordered by identifier.

    Args:
        only_identifier_hits: Only rows of full texts that have an identifier.
        only_direct_breadcrumbs: Only rows reached without following a link, directly or by
            redirects. Rows that were never attempted are not included.
        max_per_identifier: Most rows of each identifier, full texts first.

    Raises:
        CrawlError: The database is not a `crawl_result.sqlite`.
    """
    tests = ["1"]
    if only_identifier_hits:
        tests.append("hit = 1 AND identifier IS NOT NULL")
    if only_direct_breadcrumbs:
        tests.append("breadcrumbs IS NOT NULL AND trim(breadcrumbs, '0123456789+R-') = ''")
    order = "identifier IS NULL, identifier, hit DESC, initial_url, terminal, final_url"
    count = 0
    last: str | None = None
    with _opened(database) as connection:
        connection.row_factory = sqlite3.Row
        for row in connection.execute(
            f"SELECT * FROM {TABLE} WHERE {' AND '.join(tests)} ORDER BY {order}"  # noqa: S608  # our own texts
        ):
            count = count + 1 if row["identifier"] == last and last is not None else 1
            last = row["identifier"]
            if max_per_identifier is None or last is None or count <= max_per_identifier:
                yield dict(row)


def as_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False, sort_keys=True) for row in rows)


@contextmanager
def _opened(database: str) -> Iterator[sqlite3.Connection]:
    if not os.path.isfile(database):
        raise CrawlError(f"{database} is not a file; name a crawl_result.sqlite")
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        try:
            found = {row[1] for row in connection.execute(f"PRAGMA table_info({TABLE})")}
        except sqlite3.DatabaseError as error:
            raise CrawlError(f"{database} cannot be read: {error}") from None
        if not COLUMNS.keys() <= found:
            raise CrawlError(f"{database} does not have a table {TABLE} with the expected columns")
        yield connection
    finally:
        connection.close()


def _lines(name: str) -> Iterator[str]:
    with open_input(name) as stream:
        for block in blocks(stream):
            for line in block.split():
                yield line.decode("utf-8", "replace").rstrip("\r")
