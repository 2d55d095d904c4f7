"""Errors of the disk, the operating system or a database, as answers of the page.

Source: RFC 9110, section 15.6.4 (503); RFC 4918, section 11.5 (507).
"""

import errno
import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from recordsilo.errors import IndexProblem, RecordSiloError, SiloNotWritable
from silocuration.errors import CurationError
from webui.http.errors import UNFORESEEN, WebError, as_web_error


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: HTTPStatus
    code: str
    message: str


DISK_FULL = "The disk is full, so nothing was changed. Ask the administrator to free some space."
NOT_WRITABLE = (
    "This Silo is read-only at the moment. Nothing was changed; see the log of the server."
)
FILE_UNREADABLE = "A file of this Silo cannot be read; the log of the server names it."
BUSY = (
    "The server cannot access its files at the moment. Try again soon; if the problem "
    "persists, see the log of the server."
)
_FULL = _Refusal(HTTPStatus.INSUFFICIENT_STORAGE, "disk_full", DISK_FULL)
_READ_ONLY = _Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "not_writable", NOT_WRITABLE)
_UNREADABLE = _Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "file_unreadable", FILE_UNREADABLE)
_BUSY = _Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", BUSY)
_OF_THE_SYSTEM: Mapping[int, _Refusal] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
    errno.EIO: _UNREADABLE,
    errno.EISDIR: _UNREADABLE,
    errno.ELOOP: _UNREADABLE,
    errno.EMFILE: _BUSY,
    errno.ENFILE: _BUSY,
    errno.ENOMEM: _BUSY,
    errno.EAGAIN: _BUSY,
    errno.EBUSY: _BUSY,
}
_OF_SQLITE: tuple[tuple[str, _Refusal], ...] = (
    ("SQLITE_FULL", _FULL),
    ("SQLITE_READONLY", _READ_ONLY),
    ("SQLITE_PERM", _READ_ONLY),
    ("SQLITE_IOERR_READ", _UNREADABLE),
    ("SQLITE_IOERR_SHM", _FULL),  # the memory shared beside a log cannot grow
    ("SQLITE_IOERR", _BUSY),
    ("SQLITE_BUSY", _BUSY),
    ("SQLITE_LOCKED", _BUSY),
    ("SQLITE_NOMEM", _BUSY),
    ("SQLITE_CANTOPEN", _BUSY),
)
"""Prefixes of SQLite's error names; the first match counts."""


def from_machine(error: OSError | sqlite3.Error | IndexProblem) -> WebError:
    """Return the answer to an error of the machine; status 500 if the error is unknown."""
    refusal = _refusal(error)
    if refusal is None:
        return WebError(UNFORESEEN)
    found = WebError(refusal.message)
    found.status, found.code = refusal.status, refusal.code
    return found


def refusal_of(error: Exception, path: str) -> WebError:
    """Return the answer to any error; without details if nobody foresaw it.

    Args:
        error: What was raised.
        path: The directory of the site, which no message names.
    """
    if isinstance(error, (IndexProblem, SiloNotWritable)):
        return from_machine(error)
    if isinstance(error, (WebError, CurationError, RecordSiloError)):
        return as_web_error(error, path)
    if isinstance(error, (OSError, sqlite3.Error)):
        return from_machine(error)
    return WebError(UNFORESEEN)


def _refusal(error: BaseException | None) -> _Refusal | None:
    if isinstance(error, IndexProblem):
        return _refusal(error.__cause__) or _BUSY
    if isinstance(error, OSError):
        refusal = _OF_THE_SYSTEM.get(error.errno or 0)
        return _UNREADABLE if refusal is _READ_ONLY and _is_unreadable(error) else refusal
    name = getattr(error, "sqlite_errorname", "")
    return next((refusal for begin, refusal in _OF_SQLITE if name.startswith(begin)), None)


def _is_unreadable(error: OSError) -> bool:
    """Whether the error is that a file cannot be read, not that one cannot be written."""
    path = error.filename
    return isinstance(path, str) and os.path.isfile(path) and not os.access(path, os.R_OK)
