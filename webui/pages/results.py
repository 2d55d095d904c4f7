"""All that a search finds, as CSV or as JSON lines, sent while it is being read."""

import csv
import io
import json
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import replace

from recordsilo import Row, Silo
from recordsilo.cells import guarded, joined
from webui import urls
from webui.http.messages import Response
from webui.record.rows import rows_json
from webui.search_request import MAX_SIZE, SearchRequest
from webui.site import Call, Site

CSV = "text/csv; charset=utf-8; header=present"
JSON_LINES = "application/jsonl; charset=utf-8"
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
    body = _encoded(written(call.site, _rows(first, pages)))
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


def _encoded(lines: Iterator[str]) -> Generator[bytes, None, None]:
    """Lines in blocks that are worth sending."""
    block, size = [], 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= 64 * 1024:
            yield "".join(block).encode("utf-8", "replace")
            block, size = [], 0
    yield "".join(block).encode("utf-8", "replace")


def _csv(_site: Site, rows: Iterable[Row]) -> Iterator[str]:
    yield "\ufeff" + _csv_line(COLUMNS)  # Excel takes a file without the mark for another coding
    for row in rows:
        yield _csv_line(csv_cell(getattr(row, name)) for name in COLUMNS)


def _csv_line(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()


def csv_cell(value: object) -> str:
    """A value as a cell that no spreadsheet takes for a formula."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return guarded(joined(value) if isinstance(value, tuple) else str(value))


def _json_lines(site: Site, rows: Iterable[Row]) -> Iterator[str]:
    for line in rows_json(site, rows):
        yield json.dumps(line, ensure_ascii=False) + "\n"


def download_links(request: SearchRequest) -> dict[str, str]:
    """Where all that a search finds is to be had."""
    pairs = (*request.asked, *((("sort", request.sort),) if request.sort else ()))
    return {
        "CSV": urls.search(pairs, "results.csv"),
        "JSON lines": urls.search(pairs, "results.jsonl"),
    }
