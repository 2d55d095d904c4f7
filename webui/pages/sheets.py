"""Spreadsheets of records, and files for many records: upload, preview, apply as a job."""

import io
import tempfile
from collections.abc import Callable
from typing import BinaryIO

from recordsilo.errors import PathNameError, RecordSiloError
from silocuration.batch.attach import MAX_BYTES as ATTACHED_BYTES
from silocuration.batch.attach import PREMIS, Attachment
from silocuration.batch.specs import JobSpec, attach_job, sheet_job
from silocuration.batch.spreadsheet import MAX_BYTES, check_rows, read_csv, write_csv
from silocuration.errors import CurationError, SpreadsheetRefused
from webui import urls
from webui.bulk import jobs, staged_uploads
from webui.bulk.previews import look, preview_json
from webui.editing.changes import path_of, uploaded
from webui.http.bodies import human_size
from webui.http.errors import BadRequest, TooLarge, WebError, from_curation, from_store
from webui.http.messages import Response, redirect
from webui.http.streams import FileBody
from webui.rendering import View, json_answer
from webui.search.chosen_records import Chosen, from_address, selected
from webui.site import Call
from webui.words.texts import text as _


def export(call: Call) -> Response:
    """Send the selected records as CSV, to be edited and imported again."""
    chosen = from_address(call)
    identifiers = chosen.select.find(call.site.silo)
    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  # closed by whoever sends it
    try:
        out = io.TextIOWrapper(file, "utf-8-sig", newline="")
        write_csv(call.site.silo, identifiers, out)
        out.flush()
        out.detach()
        size = file.tell()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    headers = {"Content-Disposition": 'attachment; filename="records.csv"'}
    return Response(200, FileBody(b"", file), "text/csv; charset=utf-8", headers, size)


def show(call: Call) -> View:
    """Show the forms to export the selected records and to import a spreadsheet."""
    return _sheet_view(from_address(call))


def _sheet_view(chosen: Chosen, fault: WebError | None = None) -> View:
    data = {"chosen": chosen, "limit": human_size(MAX_BYTES), "most": MAX_BYTES, "fault": fault}
    twin = {"records": chosen.count, "url": urls.sheet_csv(chosen.search)}
    url = urls.with_search(urls.sheet(), chosen.search)
    return View("sheet.mako", data, twin, url, fault.status if fault else 200)


def send(call: Call) -> View | Response:
    """Accept an edited spreadsheet; nothing is changed before it is previewed."""
    return _told(call, _send, _sheet_view)


def _send(call: Call) -> Response:
    content = _content(call, MAX_BYTES)
    rows = read_csv(content)
    check_rows(call.site.silo, rows)
    if not rows:
        raise SpreadsheetRefused(_("the spreadsheet has no record, so there is nothing to change"))
    about = {"kind": "sheet", "title": call.field("title")}
    return _kept(call, about, content, {"rows": len(rows)})


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
    """Accept a file to attach; nothing is changed before it is previewed."""
    return _told(call, _send_attachment, _attach_view)


def _send_attachment(call: Call) -> Response:
    if not selected(call, call.field("search")).count:
        raise BadRequest("No record is selected, so there is nothing to attach a file to.")
    is_premis = bool(call.field("premis"))
    path = call.field("path") or PREMIS if is_premis else path_of(call, uploaded(call))
    content = b"" if is_premis else _content(call, ATTACHED_BYTES)
    Attachment(path, None if is_premis else content)
    about = {
        "kind": "premis" if is_premis else "file",
        "path": path,
        "search": call.field("search"),
    }
    return _kept(call, about, content, {"path": path})


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
        return form(chosen, _as_web_error(error, call.site.silo.path))


def _as_web_error(error: CurationError | RecordSiloError | WebError, path: str) -> WebError:
    if isinstance(error, CurationError):
        return from_curation(error, path)
    return from_store(error, path) if isinstance(error, RecordSiloError) else error


def _content(call: Call, limit: int) -> bytes:
    content = uploaded(call).content
    content.seek(0)
    found = content.read(limit + 1)
    if len(found) > limit:
        raise TooLarge("This file is larger than the limit of {size}.", size=human_size(limit))
    return found


def _kept(call: Call, about: dict[str, str], content: bytes, told: dict[str, object]) -> Response:
    token = staged_uploads.keep(call.site, about, content)
    location = urls.staged(token)
    if call.wants_json:
        return json_answer({**told, "url": location}, 201, {"Location": location})
    return redirect(location)


def show_staged(call: Call) -> View:
    """Show what the uploaded file would change."""
    token = call.params["token"]
    spec, back = _spec(call)
    found = look(call, spec)
    url = urls.staged(token)
    data = {
        "found": found,
        "heading": spec.title,
        "url": url,
        "back": back,
    }
    return View("staged.mako", data, {"title": spec.title, "preview": preview_json(found)}, url)


def apply_staged(call: Call) -> Response:
    """Start a job that applies the previewed changes."""
    return _begun(call, jobs.apply)


def preview_all_staged(call: Call) -> Response:
    """Start a job that previews the file completely."""
    return _begun(call, jobs.look_at_all)


def _begun(call: Call, begin: Callable[[Call, JobSpec], Response]) -> Response:
    spec, _back = _spec(call)
    answer = begin(call, spec)
    staged_uploads.forget(call.site, call.params["token"])
    return answer


def _spec(call: Call) -> tuple[JobSpec, str]:
    about, content = staged_uploads.load(call.site, call.params["token"])
    if about["kind"] == "sheet":
        return sheet_job(read_csv(content), about["title"] or _("Spreadsheet")), urls.sheet()
    if about["kind"] not in {"premis", "file"}:
        raise BadRequest("This file was not uploaded as an attachment.")
    select = selected(call, about["search"]).select
    attachment = Attachment(about["path"], None if about["kind"] == "premis" else content)
    return attach_job(select, attachment), urls.with_search(urls.attach(), about["search"])
