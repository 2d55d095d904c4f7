"""Errors of the page and their statuses: one table for the page and for the store.

Source: RFC 9110, section 15 (status codes).
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Self

from recordsilo import errors as store
from recordsilo.extras import PackageMissing
from silocuration import errors as curation
from webui.words.sentences import sentence
from webui.words.texts import text as _


class WebError(Exception):
    """An error as an answer: a status, a code for programs, a sentence for people.

    Args:
        message: An English text of the catalogue; shown in the language of the page.
        headers: Of the answer.
        values: Values for the placeholders of the text.
    """

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    code = "internal"
    field = ""
    """The field of a form that is wrong; empty if none is named."""

    def __init__(
        self, message: str, /, headers: Mapping[str, str] | None = None, **values: object
    ) -> None:
        self.message = _(message, **values)
        self.headers = dict(headers or {})
        super().__init__(self.message)

    def at(self, field: str) -> Self:
        """Name the field of the form that is wrong."""
        self.field = field
        return self


class BadRequest(WebError):
    """The request or a value in it is invalid."""

    status = HTTPStatus.BAD_REQUEST
    code = "bad_request"


class ForeignHost(WebError):
    """The Host header does not name this page."""

    status = HTTPStatus.MISDIRECTED_REQUEST
    code = "foreign_host"


class CrossSite(WebError):
    """A change was requested by another site."""

    status = HTTPStatus.FORBIDDEN
    code = "cross_site"


class ReadOnly(WebError):
    """A harvested version cannot be changed."""

    status = HTTPStatus.FORBIDDEN
    code = "read_only"


class NotFound(WebError):
    """The address does not exist."""

    status = HTTPStatus.NOT_FOUND
    code = "not_found"


class MethodNotAllowed(WebError):
    """The address exists, but does not support this method."""

    status = HTTPStatus.METHOD_NOT_ALLOWED
    code = "method_not_allowed"

    def __init__(self, method: str, allowed: tuple[str, ...]) -> None:
        self.allowed = allowed
        names = ", ".join(allowed)
        super().__init__(
            _(
                "This address does not allow {method}; it allows {allowed}.",
                method=method[:20],
                allowed=names,
            ),
            {"Allow": names},
        )


class ChangeConflict(WebError):
    """The change conflicts with the present state."""

    status = HTTPStatus.CONFLICT
    code = "conflict"


class LengthRequired(WebError):
    """A body has no stated length."""

    status = HTTPStatus.LENGTH_REQUIRED
    code = "length_required"


class PreconditionFailed(WebError):
    """The record's revision is not the one that the change was made for."""

    status = HTTPStatus.PRECONDITION_FAILED
    code = "precondition_failed"


class TooLarge(WebError):
    """The body is larger than this address accepts."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    code = "too_large"


class UnsupportedMediaType(WebError):
    """This address does not accept the body's media type."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    code = "unsupported_media_type"


class ServerBusy(WebError):
    """The server does as many of these as it can at the same time."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    code = "busy"


STORE_ERRORS: tuple[tuple[type[store.RecordSiloError], HTTPStatus, str], ...] = (
    (store.SiloGone, HTTPStatus.SERVICE_UNAVAILABLE, "silo_gone"),
    (store.RevisionConflict, HTTPStatus.PRECONDITION_FAILED, "precondition_failed"),
    (store.RecordRemoved, HTTPStatus.GONE, "record_removed"),
    (store.RecordNotFound, HTTPStatus.NOT_FOUND, "record_not_found"),
    (store.VersionNotFound, HTTPStatus.NOT_FOUND, "version_not_found"),
    (store.DanglingLink, HTTPStatus.NOT_FOUND, "dangling_link"),
    (store.FileNotInVersion, HTTPStatus.NOT_FOUND, "file_not_found"),
    (store.VersionFrozen, HTTPStatus.FORBIDDEN, "read_only"),
    (store.FormatTooNew, HTTPStatus.FORBIDDEN, "format_too_new"),
    (store.VersionExists, HTTPStatus.CONFLICT, "version_exists"),
    (store.LastVersion, HTTPStatus.CONFLICT, "last_version"),
    (store.FileInTheWay, HTTPStatus.CONFLICT, "file_exists"),
    (store.DirectoryNotEmpty, HTTPStatus.CONFLICT, "directory_not_empty"),
    (store.MetadataConflict, HTTPStatus.CONFLICT, "metadata_conflict"),
    (store.IdentifierError, HTTPStatus.BAD_REQUEST, "bad_identifier"),
    (store.VersionNameError, HTTPStatus.BAD_REQUEST, "bad_version_name"),
    (store.VersionStateError, HTTPStatus.BAD_REQUEST, "bad_state"),
    (store.PathNameError, HTTPStatus.BAD_REQUEST, "bad_file_name"),
    (store.MetadataMalformed, HTTPStatus.BAD_REQUEST, "malformed_metadata"),
    (store.SearchError, HTTPStatus.BAD_REQUEST, "bad_search"),
    (store.FileUnreadable, HTTPStatus.SERVICE_UNAVAILABLE, "file_unreadable"),
    (store.StateUnreadable, HTTPStatus.SERVICE_UNAVAILABLE, "state_unreadable"),
    (store.SourceFailed, HTTPStatus.BAD_REQUEST, "upload_broken_off"),
)
"""Store error → status and code; the first match counts. Other errors are the machine's."""
_FIELDS: Mapping[type[store.RecordSiloError], str] = {
    store.VersionExists: "name",
    store.VersionNameError: "name",
    store.IdentifierError: "id",
    store.PathNameError: "path",
}
"""The field whose value an error is about."""

HEADINGS: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "Something in this request is wrong",
    HTTPStatus.UNAUTHORIZED: "Not signed in",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.NOT_FOUND: "Page not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "Not possible at this address",
    HTTPStatus.CONFLICT: "Not possible now",
    HTTPStatus.GONE: "Deleted",
    HTTPStatus.LENGTH_REQUIRED: "Something in this request is wrong",
    HTTPStatus.PRECONDITION_FAILED: "Changed in the meantime",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Too large",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "Something in this request is wrong",
    HTTPStatus.MISDIRECTED_REQUEST: "Another address is meant",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many attempts",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available at the moment",
    HTTPStatus.INSUFFICIENT_STORAGE: "The disk is full",
}
"""Of the pages of errors, by status; English texts of the catalogue."""
HEADINGS_OF_CODES: Mapping[str, str] = {
    "silo_gone": "This Silo is not there",
    "record_not_found": "Record not found",
    "version_not_found": "Version not found",
    "file_not_found": "File not found",
    "job_not_found": "Job not found",
}
"""Of those that say more than their status."""
FAULT = "Something went wrong on the server"


def heading_of(error: WebError) -> str:
    """What stands above the message on the page of an error."""
    known = HEADINGS_OF_CODES.get(error.code) or HEADINGS.get(error.status)
    return _(known or FAULT)


UNFORESEEN = "An unexpected error occurred. Nothing was changed; see the log of the server."
UNREADABLE = (
    "This record cannot be read, because its manifest is damaged: {path}. The record stays in "
    "all lists, and its files are left as they are. Restore this file from a backup, or run "
    "silo repair on the server; the record can be read again at once."
)


def from_store(error: store.RecordSiloError, silo_path: str) -> WebError:
    """Return the answer to an error of the store, with the store's message.

    The Silo's path is removed. Errors of the machine, which concern its disk, are only logged.
    """
    for kind, status, code in STORE_ERRORS:
        if isinstance(error, kind):
            return refusal(status, code, _words(error, silo_path)).at(_FIELDS.get(kind, ""))
    if isinstance(error, store.ManifestUnreadable):
        path = os.path.relpath(error.path, silo_path)
        message = _(UNREADABLE, path=path)
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "manifest_unreadable", message)
    if isinstance(error, PackageMissing):
        message = _(
            "This needs the package {package}, which is not installed on the server. The log of "
            "the server has the command that installs it.",
            package=error.package,
        )
        return refusal(HTTPStatus.SERVICE_UNAVAILABLE, "package_missing", message)
    return refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "store_failed", UNFORESEEN)


CURATION_ERRORS: tuple[tuple[type[curation.CurationError], HTTPStatus, str], ...] = (
    (curation.JobNotFound, HTTPStatus.NOT_FOUND, "job_not_found"),
    (curation.JobBusy, HTTPStatus.CONFLICT, "job_busy"),
    (curation.JobUnreadable, HTTPStatus.INTERNAL_SERVER_ERROR, "job_unreadable"),
    (curation.UpstreamRefused, HTTPStatus.CONFLICT, "nothing_to_decide"),
    (curation.MarkRefused, HTTPStatus.CONFLICT, "mark_refused"),
    (curation.NoFields, HTTPStatus.CONFLICT, "no_fields"),
    (curation.RuleNotFound, HTTPStatus.NOT_FOUND, "rule_not_found"),
    (curation.CurationError, HTTPStatus.BAD_REQUEST, "bad_rule"),
)
"""Curation's error → status and code; the first match counts."""


def from_curation(error: curation.CurationError, silo_path: str) -> WebError:
    """Return the answer to an error of curation, with its own message."""
    for kind, status, code in CURATION_ERRORS:
        if isinstance(error, kind):
            return refusal(status, code, _as_sentence(str(error), silo_path))
    raise AssertionError(error)  # the last line matches every error


def as_web_error(error: Exception, silo_path: str) -> WebError:
    """Return the answer to an error of curation or of the store; an answer is returned as it is."""
    if isinstance(error, WebError):
        return error
    if isinstance(error, curation.CurationError):
        return from_curation(error, silo_path)
    assert isinstance(error, store.RecordSiloError), error
    return from_store(error, silo_path)


def refusal(status: HTTPStatus, code: str, message: str) -> WebError:
    """Return an error with its own status and code."""
    error = WebError(message)
    error.status, error.code = status, code
    return error


def _words(error: store.RecordSiloError, silo_path: str) -> str:
    """Format a command-line message, which has no capital and no full stop, for the page."""
    if isinstance(error, store.SiloGone):
        return _(
            "This Silo is no longer at its place: it was moved or deleted, or its disk is not "
            "there. Nothing was changed. As soon as it is back, this page shows it again."
        )
    if isinstance(error, store.RecordRemoved):
        return _(
            "Record {identifier} was deleted from this Silo with all its versions.",
            identifier=error.identifier,
        )
    if isinstance(error, store.RecordNotFound):
        return _("There is no record {identifier} in this Silo.", identifier=error.identifier)
    return _as_sentence(str(error), silo_path)


def _as_sentence(words: str, silo_path: str) -> str:
    words = words.replace(silo_path + "/", "").replace(silo_path, "this Silo")
    return as_sentence(words)


@contextmanager
def told_as(*kinds: tuple[type[Exception], type[WebError]], field: str = "") -> Iterator[None]:
    """Convert errors to answers with the same sentence; the first kind that matches counts.

    Args:
        field: Of the form, which is wrong unless the error names one.
    """
    try:
        yield
    except tuple(kind for kind, _answer in kinds) as error:
        answer = next(answer for kind, answer in kinds if isinstance(error, kind))
        raise answer(as_sentence(str(error))).at(getattr(error, "field", "") or field) from None


_INSTALLING = re.compile(r"install it: .+ pip install .*?([^ ]+|'[^']+')$")


def as_sentence(words: str) -> str:
    """Add a capital and a full stop, and translate it if its text is known.

    An identifier or name at the beginning is kept. Where a package has to be installed, the
    place of Python on the server is left out.
    """
    words = _INSTALLING.sub(r"install it on the server: pip install \1", words)
    is_word = words.partition(" ")[0].isalpha()
    begun = words[:1].upper() + words[1:] if is_word else words
    return sentence(begun + ("" if words.endswith((".", "!", "?")) else "."))
