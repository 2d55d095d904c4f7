"""Request bodies: checked for size before they are read, streamed if they may be large.

A body must state its length: a chunked one is refused, because the server would hold a
whole chunk in memory before its size could be checked.

Source: RFC 9112, section 6; RFC 9110, sections 8.6 and 15.5.14.
"""

import io
import json
from collections.abc import Mapping
from typing import BinaryIO

from webui.http.errors import BadRequest, LengthRequired, TooLarge, UnsupportedMediaType
from webui.http.messages import JSON, Request, parse_fields
from webui.http.multipart import MAX_PARTS, MULTIPART, Form, FormLimits, boundary_of, read_multipart
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

FORM_LIMIT = 64 * 1024
LIST_LIMIT = 4 * 1024 * 1024
"""Maximum bytes of a form, which may have a long list of identifiers or all values of a record."""
SOME_FIELDS = 100
MANY_FIELDS = 10_000
URLENCODED = "application/x-www-form-urlencoded"
FORMS = (URLENCODED, MULTIPART, JSON)
"""The media types that every address with form fields accepts."""


class BodyBrokeOff(OSError):
    """The client disconnected before it had sent the announced length."""


class RequestBody(io.RawIOBase):
    """The announced bytes of a body, and an error instead of an early end.

    Raises on reading:
        BodyBrokeOff: Fewer bytes arrived than announced.
    """

    def __init__(self, source: BinaryIO, length: int) -> None:
        super().__init__()
        self._source = source
        self.left = length

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read up to `size` bytes, or all that is left; ``b""`` only at the announced end.

        Raises:
            BodyBrokeOff: Fewer bytes arrived than announced.
        """
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        block = self._source.read(wanted) if wanted else b""
        self.left -= len(block)
        if wanted and not block:
            raise BodyBrokeOff(f"the upload broke off {self.left} bytes before its end")
        return block

    def readall(self) -> bytes:
        """Read all that is left."""
        return b"".join(iter(self.read, b""))


def content_length(headers: Mapping[str, str]) -> int:
    """The announced length of the body; 0 if there is no body.

    Raises:
        LengthRequired: The body is chunked.
        BadRequest: The length is not a number of bytes.
    """
    if "transfer-encoding" in headers:
        raise LengthRequired("Send the body with its length (Content-Length), not in chunks.")
    length = headers.get("content-length", "0").strip()
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise BadRequest("The Content-Length of this request is not a number of bytes.")
    return int(length)


def open_body(request: Request, limit: int) -> RequestBody:
    """Return the body of a request, if it is not larger than `limit` bytes.

    Raises:
        TooLarge: It announces more; nothing was read.
    """
    length = content_length(request.headers)
    if length > limit:
        raise TooLarge(
            "The request is too large: {came}; the limit is {size}.",
            size=human_size(limit),
            came=human_size(length),
        )
    return RequestBody(request.body, length)


def read_form(
    request: Request,
    limit: int = FORM_LIMIT,
    spool_dir: str | None = None,
    *,
    fields_limit: int = FORM_LIMIT,
) -> Form:
    """Read the fields of a change: urlencoded, a JSON object of texts, or multipart.

    Args:
        request: Its body is read to the end.
        limit: Maximum number of bytes.
        spool_dir: Directory for unnamed temporary files of a multipart form; created if missing.
            None: the form accepts no files.
        fields_limit: Maximum total bytes of the fields.

    Raises:
        TooLarge, LengthRequired, BadRequest, UnsupportedMediaType: See there. A text with
            an unpaired surrogate, which UTF-8 cannot encode, is a BadRequest.
    """
    body = open_body(request, limit)
    if body.left == 0:
        return Form()
    try:
        form = _read(request, body, spool_dir, fields_limit)
    except BodyBrokeOff as error:
        raise BadRequest("Nothing was changed: {reason}.", reason=error) from None
    try:
        "".join(form.texts()).encode()
    except UnicodeEncodeError:
        form.close()
        raise BadRequest("A field of this form has half of a surrogate pair.") from None
    return form


def _read(request: Request, body: RequestBody, spool_dir: str | None, fields_limit: int) -> Form:
    content_type = request.headers.get("content-type", "")
    most = MANY_FIELDS if fields_limit > FORM_LIMIT else SOME_FIELDS
    if boundary := boundary_of(content_type):
        limits = FormLimits(MAX_PARTS if spool_dir else most, fields_limit)
        return read_multipart(body, boundary, spool_dir, limits)  # type: ignore[arg-type]  # it only reads
    kind = content_type.partition(";")[0].strip().lower()
    if kind == URLENCODED:
        return Form(parse_fields(_text(_small(body, fields_limit)), most))
    if kind == JSON:
        return Form(_json_fields(_small(body, fields_limit)))
    known = ", ".join(FORMS)
    raise UnsupportedMediaType("This address accepts only {known}.", known=known)


def _small(body: RequestBody, limit: int) -> bytes:
    """Read a body of fields completely; the limit for uploads does not apply."""
    if body.left > limit:
        raise TooLarge("The fields of this form are larger than {size}.", size=human_size(limit))
    return body.readall()


def _text(content: bytes) -> str:
    try:
        return content.decode("ascii")
    except UnicodeDecodeError:
        raise BadRequest("The fields of this form are not percent-encoded.") from None


def _json_fields(content: bytes) -> dict[str, str]:
    try:
        members = json.loads(content)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(members, dict) or not all(isinstance(v, str) for v in members.values()):
        raise BadRequest("The body is not a JSON object whose values are texts.")
    return members


def human_size(size: int) -> str:
    """A size for people: ``0 bytes``, ``1 byte``, ``64.5 KiB``; ``2 GiB`` if it is that exactly."""
    if size < 1024:
        return counted("{n} byte", "{n} bytes", size)
    amount = float(size)
    for unit in UNITS:
        amount /= 1024
        if amount < 1024 or unit == UNITS[-1]:
            break
    said = numeral(int(amount)) if amount.is_integer() else numeral(amount, decimals=1)
    return f"{said} {_(unit)}"


UNITS = ("KiB", "MiB", "GiB", "TiB")
"""Of sizes; English texts of the catalogue."""
