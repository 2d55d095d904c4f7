"""Spreadsheets of records, and files for many records: upload, then preview as a batch edit."""

import io
from collections.abc import Callable
from typing import BinaryIO

from recordsilo.errors import PathNameError
from silocuration.batch.attach import MAX_BYTES as ATTACHED_BYTES
from silocuration.batch.attach import PREMIS, Attachment
from silocuration.batch.specs import attach_job, sheet_job
from silocuration.batch.spreadsheet import MAX_BYTES, read_csv, write_csv
from silocuration.errors import CurationError, SpreadsheetRefused
from webui import urls
from webui.bulk import jobs
from webui.editing.changes import path_of, uploaded
from webui.http.bodies import human_size
from webui.http.downloads import saved_as
from webui.http.errors import BadRequest, TooLarge, WebError, as_web_error
from webui.http.messages import Response
from webui.http.streams import Piped
from webui.rendering import View
from webui.search.chosen_records import Chosen, from_address, selected
from webui.site import Call
from webui.words.texts import text as _


def export(call: Call) -> Response:
    """Send the selected records as CSV, to be edited and imported again, while they are read."""
    silo, select = call.site.silo, from_address(call).select
    identifiers = select.find(silo)
    headers = saved_as(call.site.name, "spreadsheet.csv", select.query)

    def written(out: BinaryIO) -> None:
        text = io.TextIOWrapper(out, "utf-8-sig", newline="")
        try:
            write_csv(silo, identifiers, text)
        finally:
            text.detach()

    # All records are read for the columns, before the first line: its place is taken at once.
    body = Piped(written)
    return Response(200, body, "text/csv; charset=utf-8", headers, is_live=True)


def show(call: Call) -> View:
    """Show the forms to export the selected records and to import a spreadsheet."""
    return _sheet_view(from_address(call))


def _sheet_view(chosen: Chosen, fault: WebError | None = None) -> View:
    data = {"chosen": chosen, "limit": human_size(MAX_BYTES), "most": MAX_BYTES, "fault": fault}
    twin = {"records": chosen.count, "url": urls.sheet_csv(chosen.search)}
    url = urls.with_search(urls.sheet(), chosen.search)
    return View("sheet.mako", data, twin, url, fault.status if fault else 200)


def send(call: Call) -> View | Response:
    """Plan and preview what an edited spreadsheet changes; no record is changed."""
    return _told(call, _send, _sheet_view)


def _send(call: Call) -> Response:
    rows = read_csv(_content(call, MAX_BYTES))
    if not rows:
        raise SpreadsheetRefused(_("the spreadsheet has no record, so there is nothing to change"))
    return jobs.plan(call, sheet_job(rows, call.field("title") or _("Spreadsheet")))


def ask_attach(call: Call) -> View:
    """Show the form to attach a file to each selected record."""
    return _attach_view(from_address(call))


def _attach_view(chosen: Chosen, fault: WebError | None = None) -> View:
    data = {
        "chosen": chosen,
        "limit": human_size(ATTACHED_BYTES),
        "most": ATTACHED_BYTES,
        "premis": PREMIS,
        "fault": fault,
    }
    twin = {"records": chosen.count}
    url = urls.with_search(urls.attach(), chosen.search)
    return View("attach.mako", data, twin, url, fault.status if fault else 200)


def send_attachment(call: Call) -> View | Response:
    """Plan and preview the attachment of a file; no record is changed."""
    return _told(call, _send_attachment, _attach_view)


def _send_attachment(call: Call) -> Response:
    chosen = selected(call, call.field("search"))
    if not chosen.count:
        raise BadRequest("No record is selected, so there is nothing to attach a file to.")
    is_premis = bool(call.field("premis"))
    path = call.field("path") or PREMIS if is_premis else path_of(call, uploaded(call))
    attachment = Attachment(path, None if is_premis else _content(call, ATTACHED_BYTES))
    return jobs.plan(call, attach_job(chosen.select, attachment))


def _told(
    call: Call, act: Callable[[Call], Response], form: Callable[[Chosen, WebError], View]
) -> View | Response:
    """Do it; what is wrong with the file is said in the form."""
    try:
        return act(call)
    except (CurationError, PathNameError, BadRequest, TooLarge) as error:
        if call.wants_json:
            raise
        chosen = selected(call, call.field("search"))
        return form(chosen, as_web_error(error, call.site.silo.path))


def _content(call: Call, limit: int) -> bytes:
    content = uploaded(call).content
    content.seek(0)
    found = content.read(limit + 1)
    if len(found) > limit:
        raise TooLarge("This file is larger than the limit of {size}.", size=human_size(limit))
    return found
