"""Determine a file's type from its first bytes, check it, and choose a name (pure).

A server that requires a login answers with a web page and status 200, so the content itself is
checked, not only the media type that the server sends.
"""

import os
import re
import unicodedata
from collections.abc import Container, Iterable
from fnmatch import fnmatchcase
from urllib.parse import unquote

from politeweb.addresses import parts_of

SNIFFED = 1024
"""Number of bytes that `sniff` needs."""

_MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"PK\x05\x06", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (257, b"ustar", "application/x-tar"),
    (0, b"%!PS", "application/postscript"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (0, b"{\\rtf", "application/rtf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (4, b"jP  ", "image/jp2"),
    (4, b"ftyp", "video/mp4"),
    (0, b"ID3", "audio/mpeg"),
    (8, b"WAVE", "audio/wav"),
    (8, b"AVI ", "video/x-msvideo"),
    (0, b"CDF", "application/x-netcdf"),
    (0, b"\x89HDF\r\n\x1a\n", "application/x-hdf5"),
)
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|script|meta|title)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_CONTAINERS = {
    "application/zip": re.compile(
        r"application/(?:epub\+zip|java-archive|x-zip.*|vnd\.(?:openxmlformats|oasis|ms-).*)"
    ),
    "application/x-ole-storage": re.compile(
        r"application/(?:msword|vnd\.(?:ms-|visio|openxml).*|x-msi)"
    ),
    "application/gzip": re.compile(r"application/(?:x-gzip|x-gtar|x-compressed-tar|x-tar)"),
    "application/x-hdf5": re.compile(r"application/(?:x-netcdf|x-hdf)"),
    "video/mp4": re.compile(r"(?:video|audio)/(?:mp4|quicktime|3gpp|x-m4[av])|image/(?:heic|avif)"),
    "image/tiff": re.compile(r"image/.*"),
}
_UNSPECIFIC = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/x-download",
        "application/force-download",
        "application/unknown",
    }
)
_PDF_WITHIN = 1024
_TEXTUAL = ("text/", "application/json", "application/x-tex", "image/svg+xml")


def sniff(beginning: bytes) -> str:
    """Return the media type shown by the first `SNIFFED` bytes, or ``""``.

    Office and EPUB files are ``application/zip``, old Office files
    ``application/x-ole-storage``.
    """
    if b"%PDF-" in beginning[:_PDF_WITHIN]:
        return "application/pdf"
    for offset, magic, found in _MAGIC:
        if beginning.startswith(magic, offset):
            return found
    return "text/html" if _HTML.match(beginning) else ""


def objection(expected: Iterable[str], served: str, sniffed: str) -> str:
    """Return why a file does not have an expected type, as a predicate; ``""`` if it has.

    Args:
        expected: The allowed types, with ``image/*`` for all of a kind; if empty, any type
            except web pages.
        served: The type that the server sent.
        sniffed: The type shown by its first bytes.
    """
    wanted = list(expected)
    if not wanted:
        is_page = sniffed == "text/html" or (not sniffed and served in _HTML_TYPES)
        return "is a web page, not a file" if is_page else ""
    names = " or ".join(wanted)
    if sniffed:
        if any(_fits(sniffed, one) for one in wanted):
            return ""
        what = "a web page (perhaps for login)" if sniffed == "text/html" else sniffed
        return f"is {what}, not {names}"
    if any(fnmatchcase(served, one) for one in wanted):
        return _missing_magic(wanted)
    if served in _UNSPECIFIC or (served.startswith("text/") and any(map(_is_text, wanted))):
        return _missing_magic(wanted)
    return f"has the type {served} by the server, not {names}"


def _missing_magic(wanted: Iterable[str]) -> str:
    """Check for the first bytes of a type that always has the same ones."""
    shown = {kind for _, _, kind in _MAGIC} - {"audio/mpeg", "application/x-tar"}
    names = list(wanted)
    if all(one == "application/pdf" or one in shown for one in names):
        return f"does not begin like {' or '.join(names)}"
    return ""


def _is_text(kind: str) -> bool:
    return kind.startswith(_TEXTUAL)


def _fits(sniffed: str, wanted: str) -> bool:
    if fnmatchcase(sniffed, wanted) or (sniffed == "text/html" and wanted in _HTML_TYPES):
        return True
    container = _CONTAINERS.get(sniffed)
    return container is not None and container.fullmatch(wanted) is not None


# --------------------------------------------------------------------------- names

_DISPOSITION = re.compile(
    r"filename\*\s*=\s*(?:utf-8|iso-8859-1)'[^']*'(?P<coded>[^;\s]+)"
    r"|filename\s*=\s*(?:\"(?P<quoted>(?:\\.|[^\"\\])*)\"|(?P<plain>[^;\s]+))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\\([\"\\])")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")
_LONGEST = 120


def file_name(url: str, disposition: str, taken: Container[str]) -> str:
    """Return a safe, unused name for a file.

    Args:
        url: Its last path segment is used if the server does not name the file.
        disposition: The Content-Disposition header.
        taken: Names in use; a number is added before the extension.
    """
    name = _safe(_named(disposition)) or _safe(unquote(parts_of(url).path).rpartition("/")[2])
    name = name or "file"
    stem, extension = os.path.splitext(name)
    number = 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}{extension}"
    return name


def _named(disposition: str) -> str:
    found = {
        match.lastgroup: match[match.lastgroup or ""]
        for match in _DISPOSITION.finditer(disposition)
    }
    if coded := found.get("coded"):
        return unquote(coded)
    return _QUOTED.sub(r"\1", found.get("quoted") or "") or found.get("plain") or ""


def _safe(name: str) -> str:
    """Return a name that is valid in every file system and version, or ``""``."""
    name = name.encode("utf-8", "ignore").decode()
    name = unicodedata.normalize("NFC", name.replace("\\", "/").rpartition("/")[2])
    name = _UNSAFE.sub("_", name).strip(" .")
    stem, extension = os.path.splitext(name)
    extension = extension if len(extension.encode()) <= 12 else ""
    room = _LONGEST - len(extension.encode())
    stem = (stem if extension else name).encode()[:room].decode("utf-8", "ignore")
    return f"{stem}{extension}".strip(" .")
