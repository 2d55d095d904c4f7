"""Pictures made in processes with limits, as of pages of PDFs, cached in ``.silo/pictures``."""

import contextlib
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

from recordsilo.disk.atomic_file import make_parents, make_within, replace_file
from recordsilo.disk.regular_file import open_regular
from recordsilo.extras import lacking
from silocrawl.pdf_pages import first_pages, picture_of
from webui.http.downloads import IMAGES

PDF = "application/pdf"
TEXTS = frozenset({"text/plain"})
SEEN = IMAGES | TEXTS | {PDF}
"""Media types of files that a page shows."""
LARGEST = 256 << 20
"""Bytes of a PDF that is drawn."""
MOST_PIXELS = 100_000_000
"""Of an image that is given to a browser to show."""
MOST_KEPT = 2_000
_BLOCK = 1 << 20
_COPY, _OLD = "picture-", 3600.0
"""Beginning of the names of copies, and seconds after which none is being drawn from."""
_AT_ONCE = threading.BoundedSemaphore(2)
_SECONDS = 90.0


def can_draw() -> bool:
    """Whether the package is installed that draws pages."""
    return lacking("pypdfium2", "pictures of PDFs", "crawl") is None


def page_of(silo_path: str, stream: BinaryIO, page: int, width: int) -> bytes:
    """Return a page of a PDF as a PNG; empty if it cannot be drawn.

    Args:
        stream: The file, at its beginning.
        page: From 0.
        width: Pixels.

    Raises:
        PackageMissing: pypdfium2 is not installed.
        OSError: The disk refused.
    """
    what = f"{_told(stream)}-{page}-{width}.png"

    def drawn() -> bytes | None:
        return _with_copy(silo_path, stream, lambda copy: picture_of(copy, width, page))

    return made_once(silo_path, what, drawn)


def pages_of(silo_path: str, stream: BinaryIO) -> int:
    """Return how many pages a PDF has; 0 if it cannot be read.

    Raises:
        PackageMissing, OSError: See `page_of`.
    """

    def counted() -> bytes | None:
        return _with_copy(silo_path, stream, number_of)

    def number_of(copy: str) -> bytes | None:
        found = first_pages(copy)
        return b"%d" % found.pages if found.is_final else None

    number = made_once(silo_path, f"{_told(stream)}-pages", counted)
    return int(number) if number.isdigit() else 0


def made_once(silo_path: str, what: str, make: Callable[[], bytes | None]) -> bytes:
    """Return what was kept, or make it and keep it.

    Args:
        what: Names the picture and the very file that it is of.
        make: Makes it; empty if that is not possible, which is kept, too, and None if
            another attempt may succeed.
    """
    digest = hashlib.sha256(what.encode()).hexdigest()
    path = os.path.join(silo_path, ".silo", "pictures", digest)
    with contextlib.suppress(OSError), open_regular(path, follow=False) as kept:
        return kept.read()
    made = make()
    if made is not None:
        _keep(silo_path, path, made)
    return made or b""


def _with_copy(
    silo_path: str, stream: BinaryIO, draw: Callable[[str], bytes | None]
) -> bytes | None:
    """Draw a copy of the file, which nobody can exchange meanwhile; see `made_once`."""
    if os.fstat(stream.fileno()).st_size > LARGEST:
        return b""
    if not _AT_ONCE.acquire(timeout=_SECONDS):
        return None
    try:
        directory = os.path.join(silo_path, ".silo")
        make_within(silo_path, directory)
        _tidy(directory)
        with tempfile.NamedTemporaryFile(dir=directory, prefix=_COPY) as copy:
            while block := stream.read(_BLOCK):
                copy.write(block)
            copy.flush()
            return draw(copy.name)
    finally:
        _AT_ONCE.release()


def _tidy(directory: str) -> None:
    """Remove the copies that a process left when it was killed."""
    oldest = time.time() - _OLD
    with os.scandir(directory) as entries:
        for one in entries:
            if one.name.startswith(_COPY):
                with contextlib.suppress(OSError):  # another process removed it
                    if one.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(one.path)


def _told(stream: BinaryIO) -> str:
    """Which file this is, in the state that it has now."""
    status = os.fstat(stream.fileno())
    return f"{status.st_dev}-{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"


def _keep(silo_path: str, path: str, content: bytes) -> None:
    """Keep a picture; what cannot be drawn is kept, too, as an empty one."""
    directory = os.path.dirname(path)
    try:
        make_parents(path, silo_path)
        kept = os.listdir(directory)
        if len(kept) >= MOST_KEPT:
            for name in sorted(kept)[: MOST_KEPT // 2]:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(directory, name))
        replace_file(path, content)
    except OSError:
        return  # a Silo that is read-only, or a full disk: it is drawn again


# --------------------------------------------------------------------------- images (pure)


def size_of_image(beginning: bytes) -> tuple[int, int] | None:
    """Return width and height that the head of a PNG, GIF, JPEG or WebP file states; else None.

    Args:
        beginning: 64 KiB at least, or all.

    Source: ISO/IEC 15948, 11.2.2; GIF89a, 18; ITU-T T.81, B.2.2; WebP container, RFC 9649.
    """
    if beginning.startswith(b"\x89PNG\r\n\x1a\n") and beginning[12:16] == b"IHDR":
        return int.from_bytes(beginning[16:20]), int.from_bytes(beginning[20:24])
    if beginning[:6] in {b"GIF87a", b"GIF89a"}:
        low = beginning[6:10]
        return int.from_bytes(low[:2], "little"), int.from_bytes(low[2:4], "little")
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return _size_of_webp(beginning)
    return _size_of_jpeg(beginning) if beginning[:2] == b"\xff\xd8" else None


def _size_of_webp(beginning: bytes) -> tuple[int, int] | None:
    kind, body = beginning[12:16], beginning[20:]
    if kind == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = (int.from_bytes(body[n : n + 2], "little") for n in (6, 8))
        return width & 0x3FFF, height & 0x3FFF
    return None


def _size_of_jpeg(beginning: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(beginning) and beginning[place] == 0xFF:
        marker = beginning[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height = int.from_bytes(beginning[place + 5 : place + 7])
            return int.from_bytes(beginning[place + 7 : place + 9]), height
        place += 2 + int.from_bytes(beginning[place + 2 : place + 4])
    return None


def may_be_shown(beginning: bytes) -> bool:
    """Whether an image may be given to a browser: a small file can have 10^10 pixels."""
    size = size_of_image(beginning)
    return size is not None and 0 < size[0] * size[1] <= MOST_PIXELS
