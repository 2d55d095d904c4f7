"""A file, seen without being downloaded: pages of a PDF, an image, text, a table.

No byte of the file is interpreted by the browser except images of a few types: a PDF is drawn to
pictures by a process with limits, and text and tables are text of the page.
"""

import csv
import io
from typing import Any, BinaryIO

from recordsilo.errors import PathNameError
from webui import urls
from webui.http import downloads
from webui.http.errors import NotFound
from webui.http.messages import Response, whole_number
from webui.record.pictures import (
    PDF,
    SEEN,
    TEXTS,
    can_draw,
    may_be_shown,
    page_of,
    pages_of,
)
from webui.rendering import View
from webui.site import Call
from webui.words.texts import text as _

TEXT_BYTES = 200_000
"""Bytes of a text or a table that are shown."""
ROWS, COLUMNS, CELL = 200, 50, 500
"""Rows and columns of a table, and characters of a cell."""
_HEAD = 64 << 10
_WIDE, _WIDTHS = 1000, (240, 1000, 2000)
_TABLES = {".csv": ",", ".tsv": "\t"}


def show(call: Call) -> View:
    """Show a file; a PDF page by page (``page``), an image as large as it is with ``zoom``.

    Raises:
        NotFound: There is no such file.
    """
    path, version = call.params["path"], call.version
    record = call.record
    with _stream(call) as stream:
        beginning = stream.read(_HEAD)
        metadata = path in record.metadata_files.get(version, ())
        kind = downloads.content_type(path, beginning[: downloads.SNIFFED], metadata=metadata)
        kind = kind.partition(";")[0]
        about = _about(call, kind, stream, beginning)
    url = urls.look(record.item_id, version, path)
    data = {
        "path": path,
        "record_url": urls.version(record.item_id, version) + "#files",
        "file_url": urls.file(record.item_id, version, path),
        "kind": kind,
        "url": url,
        "page": 1,
        "pages": 0,
        "picture": "",
        "is_zoomed": bool(call.request.query.get("zoom")),
        "text": None,
        "rows": (),
        "is_cut": False,
        "note": "",
    } | about
    twin = {"path": path, "kind": kind, "pages": data["pages"], "cut": data["is_cut"]}
    return View("file_view.mako", data, twin, url)


def _about(call: Call, kind: str, stream: BinaryIO, beginning: bytes) -> dict[str, Any]:
    path, version, identifier = call.params["path"], call.version, call.identifier
    if kind == PDF:
        return _pdf(call, stream)
    if kind in downloads.IMAGES:
        if not may_be_shown(beginning):
            return {"note": _("This image is damaged, or too large to be shown.")}
        return {"picture": urls.file(identifier, version, path)}
    if kind not in SEEN | TEXTS:
        return {"note": _("Files of this type are not shown.")}
    content = beginning + stream.read(TEXT_BYTES - len(beginning))
    is_cut = bool(stream.read(1))
    text = content.decode("utf-8", "replace")
    separator = next((one for end, one in _TABLES.items() if path.lower().endswith(end)), "")
    if separator:
        rows, is_cut_too = _table(text, separator)
        if rows:
            return {"rows": rows, "is_cut": is_cut or is_cut_too}
    return {"text": text, "is_cut": is_cut}


def _pdf(call: Call, stream: BinaryIO) -> dict[str, Any]:
    if not can_draw():
        return {"note": _("PDFs are shown where the extra crawl is installed.")}
    stream.seek(0)
    pages = pages_of(call.site.silo.path, stream)
    if not pages:
        return {"note": _("This PDF cannot be shown: it is damaged, encrypted or too large.")}
    page = whole_number(call.request.query.get("page") or "1", 1, pages) or 1
    path, version = call.params["path"], call.version
    address = urls.picture(call.identifier, version, path, page=page, width=_WIDE)
    return {"pages": pages, "page": page, "picture": address}


def _table(text: str, separator: str) -> tuple[list[list[str]], bool]:
    """The first rows of a table, and whether there is more; none if it is no table."""
    head = text.partition("\n")[0]
    if separator == "," and head.count(";") > head.count(","):
        separator = ";"
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            if len(rows) == ROWS:
                return rows, True
            rows.append([cell[:CELL] for cell in row[:COLUMNS]])
    except csv.Error:
        return rows, True
    return rows, any(len(row) == COLUMNS for row in rows)


def picture(call: Call) -> Response:
    """Send a page of a PDF (``page``, from 1) as a PNG of a ``width``.

    Raises:
        NotFound: There is no such file, or it cannot be drawn.
    """
    query = call.request.query
    width = whole_number(query.get("width") or f"{_WIDE}", 1, 10_000) or _WIDE
    width = min(_WIDTHS, key=lambda one: abs(one - width))
    page = whole_number(query.get("page") or "1", 1, 1_000_000)
    with _stream(call) as stream:
        is_pdf = b"%PDF-" in stream.read(1024)
        stream.seek(0)
        drawn = b""
        if is_pdf and page and can_draw():
            drawn = page_of(call.site.silo.path, stream, page - 1, width)
    if not drawn:
        raise NotFound("There is no picture of this file.")
    return Response(200, drawn, "image/png")


def _stream(call: Call) -> BinaryIO:
    try:
        return call.record.get_stream(call.params["path"], call.version)
    except PathNameError as error:
        raise NotFound("There is no such file: {reason}.", reason=error) from None
