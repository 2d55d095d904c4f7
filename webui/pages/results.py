"""All that a search finds, as CSV or as JSON lines, sent while it is being read."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from recordsilo import Row, Silo
from webui.http.messages import Response
from webui.http.streams import CSV, JSON_LINES, csv_cell, csv_line, encoded
from webui.record.rows import RowView, contributed_columns, lines, rows_json
from webui.search.request import MAX_SIZE, SearchRequest
from webui.site import Call, Site

CELLS: Mapping[str, Callable[[RowView], object]] = {
    "identifier": lambda line: line.row.identifier,
    "title": lambda line: line.row.title,
    "creators": lambda line: line.described.creators,
    "year": lambda line: line.described.year,
    "types": lambda line: line.described.values.get("type", ()),
    "publishers": lambda line: line.described.values.get("publisher", ()),
    "doi": lambda line: line.described.doi,
    "sets": lambda line: tuple(one.name for one in line.sets),
    "datestamp": lambda line: line.row.datestamp,
    "deleted": lambda line: line.row.deleted,
    "curated": lambda line: line.row.curated,
    "upstream_newer": lambda line: line.row.upstream_newer,
    "current_version": lambda line: line.row.current_version,
    "versions": lambda line: line.row.versions,
}
"""Column → what is in a cell of it; the columns that packages contribute stand behind these."""


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


def _csv(site: Site, rows: Iterable[Row]) -> Iterator[str]:
    contributed = [facet.name for facet in contributed_columns()]
    mark = "\ufeff"  # without it, Excel takes the file for another coding
    yield mark + csv_line((*CELLS, *contributed))
    for line in lines(site, rows):
        own = (csv_cell(value(line)) for value in CELLS.values())
        yield csv_line((*own, *(csv_cell(line.contributed.get(name, ())) for name in contributed)))


def _json_lines(site: Site, rows: Iterable[Row]) -> Iterator[str]:
    for line in rows_json(site, lines(site, rows)):
        yield json.dumps(line, ensure_ascii=False) + "\n"
