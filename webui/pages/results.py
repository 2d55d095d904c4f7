"""All that a search finds, as CSV or as JSON lines, sent while it is being read."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from recordsilo import Row, Silo
from webui.http.messages import Response
from webui.http.streams import CSV, JSON_LINES, csv_cell, csv_line, encoded
from webui.record.rows import rows_json
from webui.search.request import MAX_SIZE, SearchRequest
from webui.site import Call, Site

COLUMNS = (
    "identifier",
    "title",
    "datestamp",
    "sets",
    "deleted",
    "curated",
    "upstream_newer",
    "current_version",
    "versions",
    "revision",
)


def as_csv(call: Call) -> Response:
    """A row for each record, in the order of the search."""
    return _streamed(call, CSV, "csv", _csv)


def as_json_lines(call: Call) -> Response:
    """A JSON object on a line for each record."""
    return _streamed(call, JSON_LINES, "jsonl", _json_lines)


def _streamed(
    call: Call, kind: str, suffix: str, written: Callable[[Site, Iterable[Row]], Iterator[str]]
) -> Response:
    request = SearchRequest.of(call.request.pairs)
    pages = found_pages(call.site.silo, request)
    first = next(pages)  # a search that means nothing is refused before anything is sent
    headers = {"Content-Disposition": f'attachment; filename="records.{suffix}"'}
    body = encoded(written(call.site, _rows(first, pages)))
    return Response(200, body, kind, headers)


def found_pages(silo: Silo, request: SearchRequest) -> Iterator[tuple[Row, ...]]:
    """The records found, some hundred at a time; relevance gives way to newest for a long list."""
    page = replace(request.page, limit=MAX_SIZE)
    while True:
        result = silo.search(request.q, request.filters, (), page)
        yield result.rows
        if result.next_page is None:
            return
        page = replace(page, after=result.next_page, sort=result.sort)


def _rows(first: Iterable[Row], pages: Iterator[tuple[Row, ...]]) -> Iterator[Row]:
    yield from first
    for rows in pages:
        yield from rows


def _csv(_site: Site, rows: Iterable[Row]) -> Iterator[str]:
    yield "\ufeff" + csv_line(COLUMNS)  # Excel takes a file without the mark for another coding
    for row in rows:
        yield csv_line(csv_cell(getattr(row, name)) for name in COLUMNS)


def _json_lines(site: Site, rows: Iterable[Row]) -> Iterator[str]:
    for line in rows_json(site, rows):
        yield json.dumps(line, ensure_ascii=False) + "\n"
