"""All results of a search or selected records, sent while they are read: tables and zips."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO

from recordsilo import Row, Silo
from siloexport.targets.bag import write_bag
from siloexport.targets.bag_settings import BagSettings
from siloexport.targets.tables import write_deposits_zip, write_zip
from webui.http.downloads import saved_as
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.http.streams import CSV, JSON_LINES, Piped, csv_cell, csv_line, encoded
from webui.record.rows import RowView, contributed_columns, lines, rows_json
from webui.search.chosen_records import Chosen, from_address
from webui.search.request import MAX_SIZE, SearchRequest
from webui.site import Call, Site

ZIP = "application/zip"
FAILURES = "not-exported.txt"
"""The name of the list of unreadable records, at the end of a zip."""
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
"""Column → the content of its cells; columns that packages contribute follow."""


def as_csv(call: Call) -> Response:
    """Send a row for each record, in the order of the search."""
    return _streamed(call, CSV, "csv", _csv)


def as_json_lines(call: Call) -> Response:
    """Send a line with a JSON object for each record."""
    return _streamed(call, JSON_LINES, "jsonl", _json_lines)


def _streamed(
    call: Call, kind: str, suffix: str, written: Callable[[Site, Iterable[Row]], Iterator[str]]
) -> Response:
    chosen = from_address(call)
    if chosen.select.identifiers:
        rows = chosen.select.rows(call.site.silo)
    else:
        # A sort order is not part of the selection; a saved search has none.
        pairs = [pair for pair in call.request.pairs if pair[0] == "sort"]
        asked = SearchRequest.of_selection(chosen.select).asked
        pages = found_pages(call.site.silo, SearchRequest.of((*asked, *pairs)))
        rows = _rows(next(pages), pages)  # an invalid search is refused before anything is sent
    headers = _saved_as(call, chosen, f"records.{suffix}")
    return Response(200, encoded(written(call.site, rows)), kind, headers)


def _saved_as(call: Call, chosen: Chosen, suffix: str) -> dict[str, str]:
    words = (chosen.select.query, "selected" * bool(chosen.select.identifiers))
    return saved_as(call.site.name, suffix, *words)


def as_files(call: Call) -> Response:
    """Send a zip of the files of each record's current version, a directory for each record."""
    return _zipped(call, "files", partial(write_zip, all_files=True))


def as_bags(call: Call) -> Response:
    """Send a zip with a bag (BagIt) for each record, with the files of its current version."""
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    bag = partial(write_bag, settings=BagSettings(), day=day)
    return _zipped(call, "bags", partial(write_deposits_zip, write=bag))


def _zipped(call: Call, name: str, write: Callable[..., object]) -> Response:
    """Send a zip while it is written, without keeping it in memory or on disk.

    Raises:
        BadRequest: No record is selected.
    """
    chosen, silo = from_address(call), call.site.silo
    if not chosen.count:
        raise BadRequest("No record is selected; nothing to download.")

    def zipped(out: BinaryIO) -> None:
        write(silo, chosen.select, out, failures=FAILURES)

    return Response(200, Piped(zipped), ZIP, _saved_as(call, chosen, f"{name}.zip"))


def found_pages(silo: Silo, request: SearchRequest) -> Iterator[tuple[Row, ...]]:
    """The records found, some hundred at a time; long lists are by date, not by relevance."""
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
    mark = "\ufeff"  # without it, Excel assumes another encoding
    yield mark + csv_line((*CELLS, *contributed))
    for line in lines(site, rows):
        own = (csv_cell(value(line)) for value in CELLS.values())
        yield csv_line((*own, *(csv_cell(line.contributed.get(name, ())) for name in contributed)))


def _json_lines(site: Site, rows: Iterable[Row]) -> Iterator[str]:
    for line in rows_json(site, lines(site, rows)):
        yield json.dumps(line, ensure_ascii=False) + "\n"
