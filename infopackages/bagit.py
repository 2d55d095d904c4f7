"""Bags: payload and tag files with their manifests, written file by file.

Source: BagIt 1.0 (RFC 8493).
"""

import hashlib
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import IO, cast

from infopackages.files import Add, DigestedChunks, PackagedFile

DECLARATION = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
INFO = "bag-info.txt"
PROFILE = "BagIt-Profile-Identifier"
_SPOOL = 4 << 20
_MAX_NAME = 250
_TROUBLE = re.compile(
    "[%\x00-\x1f\x7f\x85\u2028\u2029]|\\s+\\Z|\\^(?=[0-9a-f]{2})|~(?=[0-9a-f]{24}\\Z)"
)
_TROUBLE_OR_NOT_ASCII = re.compile(rf"[^\x00-\x7f]|{_TROUBLE.pattern}")


class BagWriter:
    """Writes the files of one bag; the lines of long manifests are on the disk, not in memory.

    Close it: it is a context manager.

    Args:
        add: Gets paths below the bag's directory. Names are written into manifests as they are,
            so they must have no character that has to be encoded (`safe_path`).
        manifests: Algorithms of the payload's manifests.
        tag_manifests: Those of the tag files' manifests.
    """

    def __init__(
        self,
        add: Add,
        manifests: tuple[str, ...] = ("sha512",),
        tag_manifests: tuple[str, ...] = ("sha512",),
    ) -> None:
        self._add, self._tag_manifests = add, tag_manifests
        self._lines = {
            one: tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 - closed by `close`
            for one in manifests
        }
        self._tags: list[tuple[str, Mapping[str, str]]] = []
        self.count = self.size = 0

    def payload(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        """Add a file of the payload, whose name begins with ``data/``; it is read once."""
        source = DigestedChunks(chunks, self._lines)
        self._add(name, size, cast(IO[bytes], source))
        source.finish()
        self._list(name, size, source.hexes)

    def known(self, file: PackagedFile) -> None:
        """List a file of the payload that was added by others; only its SHA-512 is known."""
        self._list(file.path, file.size, {"sha512": file.sha512})

    def tag(self, name: str, text: str) -> None:
        """Add a tag file.

        Raises:
            UnicodeEncodeError: The text has half a surrogate pair.
        """
        content = text.encode()
        self._tag(name, len(content), [content])

    def finish(self) -> None:
        """Add the manifests: first those of the payload, then those of the tag files."""
        for one, lines in self._lines.items():
            size = lines.tell()
            lines.seek(0)
            self._tag(f"manifest-{one}.txt", size, lines)
        tags = tuple(self._tags)
        for one in self._tag_manifests:
            self.tag(
                f"tagmanifest-{one}.txt", "".join(_line(hexes[one], name) for name, hexes in tags)
            )

    def close(self) -> None:
        """Remove the temporary files."""
        for lines in self._lines.values():
            lines.close()

    def __enter__(self) -> "BagWriter":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _list(self, name: str, size: int, hexes: Mapping[str, str]) -> None:
        for one, lines in self._lines.items():
            lines.write(_line(hexes[one], name).encode())
        self.count, self.size = self.count + 1, self.size + size

    def _tag(self, name: str, size: int, chunks: Iterable[bytes]) -> None:
        source = DigestedChunks(chunks, self._tag_manifests)
        self._add(name, size, cast(IO[bytes], source))
        self._tags.append((name, source.hexes))


def _line(digest: str, name: str) -> str:
    return f"{digest}  {name}\n"  # RFC 8493, section 2.1.3


def info_text(fields: Iterable[tuple[str, str]]) -> str:
    """Return the content of ``bag-info.txt``: labels and values, one per line, in order."""
    return "".join(f"{label}: {one_line(value)}\n" for label, value in fields)


def size_fields(size: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield the fields that say how large the payload is (RFC 8493, section 2.2.2)."""
    yield "Bag-Size", shown_size(size)
    yield "Payload-Oxum", f"{size}.{count}"


def one_line(text: str) -> str:
    """Return a text in one line, with single spaces."""
    return " ".join(text.split())


def shown_size(octets: float) -> str:
    """Return a size for people."""
    if octets < 1000:
        return f"{octets} B"
    for unit in ("KB", "MB", "GB"):
        octets /= 1000
        if octets < 999.95:
            return f"{octets:.1f} {unit}"
    return f"{octets / 1000:.1f} TB"


def safe_path(*names: str) -> str:
    """Return a path in a form that every reader of manifests accepts.

    ``^hh`` replaces characters that some cannot read: bagit 1.9.0 does not decode ``%25``, ends
    lines at U+2028 and strips spaces at their ends. Long names are cut and end in a digest.

    Args:
        names: Its parts; slashes in them divide it, too.
    """
    return "/".join(_plain(name) for part in names for name in part.split("/"))


def _plain(name: str) -> str:
    is_composed = unicodedata.is_normalized("NFC", name)
    plain = (_TROUBLE if is_composed else _TROUBLE_OR_NOT_ASCII).sub(_hex, name)
    if len(plain.encode()) <= _MAX_NAME:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:24]
    return f"{plain.encode()[: _MAX_NAME - 25].decode(errors='ignore')}~{digest}"


def _hex(match: re.Match[str]) -> str:
    return "".join(f"^{octet:02x}" for octet in match[0].encode())
