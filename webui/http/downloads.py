"""How a stored file is sent: its type, and whether it is shown or saved (pure).

The content of records is untrusted. Text and XML are shown in a sandbox that runs nothing;
everything else is saved, with a type that no browser executes.

Source: RFC 6266 (Content-Disposition); the ``nosniff`` and ``sandbox`` headers of `security`.
"""

import posixpath
import re
from datetime import UTC, datetime
from unicodedata import normalize
from urllib.parse import quote

from recordsilo.media_types import TYPES
from webui.http.security import FILE_POLICY

SNIFFED = 4096
"""Number of bytes at the beginning of a file that `content_type` examines."""

TEXT = "text/plain; charset=utf-8"
XML = "application/xml"
UNKNOWN = "application/octet-stream"

_XML_SUFFIXES = frozenset({".xml", ".xsd", ".rdf", ".about"})
_TEXT_SUFFIXES = frozenset((
    ".txt", ".text", ".md", ".rst", ".csv", ".tsv", ".log", ".json", ".bib", ".ris", ".yaml",
    ".yml", ".toml", ".ini", ".n3", ".nt", ".ttl",
))  # fmt: skip
_SAVED = {
    one: TYPES[one]
    for one in (".pdf", ".epub", ".zip", ".gz", ".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff",
                ".webp", ".mp3", ".mp4")
}  # fmt: skip
"""Types that are useful to programs; browsers save them because of Content-Disposition."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that browsers show and that cannot contain scripts; so not SVG."""

_XML_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[?!A-Za-z_]")


def content_type(path: str, beginning: bytes, *, metadata: bool = False) -> str:
    """Return the media type that a file is sent as.

    Args:
        path: Its path in the version.
        beginning: Its first `SNIFFED` bytes, or all of it.
        metadata: Whether it was stored as metadata, that is XML or text, mostly without suffix.
    """
    name = posixpath.basename(path).lower()
    suffix = posixpath.splitext(name)[1]
    if (metadata or suffix in _XML_SUFFIXES) and _XML_START.match(beginning):
        return XML
    if (not suffix or suffix in _XML_SUFFIXES | _TEXT_SUFFIXES) and _is_text(beginning):
        return TEXT
    return _SAVED.get(suffix, UNKNOWN)


def is_shown(kind: str) -> bool:
    """Whether a browser shows the type; other types are saved."""
    return kind in {TEXT, XML}


def headers(path: str, kind: str) -> dict[str, str]:
    """Return the headers for a stored file of that type."""
    disposition = "inline" if is_shown(kind) else "attachment"
    return {
        "Content-Disposition": f"{disposition}; {_filename(posixpath.basename(path))}",
        "Content-Security-Policy": FILE_POLICY,
    }


def saved_as(site: str, suffix: str, *words: str, now: datetime | None = None) -> dict[str, str]:
    """Return the header that gives a download a name: Silo, what it is of, day, kind.

    Args:
        site: The name of the Silo; its first word is in the name.
        suffix: What the file has, and its type: ``bags.zip``.
        words: What the records were searched for, as far as a name has room; may be empty.
        now: The time in UTC, for its day; the present if it is not given.

    For example ``wexcombe-pollinator-2026-11-24-bags.zip``.
    """
    day = f"{now or datetime.now(UTC):%Y-%m-%d}"
    first = _slug(site).partition("-")[0]
    parts = (first, _slug(" ".join(words))[:_WORDS].strip("-"), day, suffix)
    return {"Content-Disposition": f"attachment; {_filename('-'.join(filter(None, parts)))}"}


def name_for(site: str, *words: str) -> str:
    """Return a name for an export that is kept: Silo, and what it is of; in ASCII, no day.

    For example ``wexcombe-pollinator-bags``. Letters of other scripts are left out.
    """
    first, last = _slug(site).partition("-")[0], _slug(words[-1])
    about = _slug(" ".join(words[:-1]))[:_WORDS].strip("-")
    parts = (normalize("NFKD", one).encode("ascii", "ignore").decode().strip("-")
             for one in (first, about, last))  # fmt: skip
    return "-".join(filter(None, parts))


_WORDS = 40


def _slug(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text.casefold()).strip("-")


def _filename(name: str) -> str:
    """Both parameters of RFC 6266: an ASCII name for every client, and the exact name."""
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _is_text(beginning: bytes) -> bool:
    if b"\0" in beginning:
        return False
    try:
        beginning.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character may be cut at the end of the sample.
        return len(beginning) == SNIFFED and error.start >= SNIFFED - 3
    return True
