"""The first pages of a PDF as text, or one as a picture, read in a process with limits.

What strangers send may end PDFium or fill all memory; then only that process ends. It costs 0.1 s.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum

from recordsilo.extras import needed

MOST_PAGES, MOST_CHARACTERS = 3, 20_000
"""Pages whose text is read, and characters of each."""
WIDEST = 2_000
"""Pixels of a picture, in each direction."""
_MEMORY, _SECONDS_OF_CPU, _SECONDS = 1 << 30, 20, 60.0


class Fault(StrEnum):
    """Why a document has no pages that can be read."""

    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    LIMITS = "limits"
    """Its reader ended, or took too long or too much memory."""


@dataclass(frozen=True, slots=True)
class FirstPages:
    """What the beginning of a PDF says.

    Attributes:
        text: Of its first pages, in the order of the file.
        pages: How many it has in all.
        fault: Why it cannot be read; None if it can.
    """

    text: str = ""
    pages: int = 0
    fault: Fault | None = None


def first_pages(path: str) -> FirstPages:
    """Read the text of the first pages of a PDF.

    Args:
        path: The file.

    Raises:
        PackageMissing: pypdfium2 is not installed.
        OSError: No process can be started.
    """
    answer = _run("text", path)
    try:
        text, pages, fault = json.loads(answer or b"null")
        return FirstPages(str(text), int(pages), Fault(fault) if fault else None)
    except (ValueError, TypeError):
        return FirstPages(fault=Fault.LIMITS)


def picture_of(path: str, width: int = 800) -> bytes:
    """Draw the first page of a PDF, as a PNG; empty if that is not possible.

    Args:
        path: The file.
        width: Pixels; the height follows, and is `WIDEST` at most.

    Raises:
        PackageMissing: pypdfium2 is not installed.
        OSError: No process can be started.
    """
    return _run("picture", path, str(min(max(width, 16), WIDEST)))


def _run(*arguments: str) -> bytes:
    """Run the other process; empty if it ended otherwise than with 0."""
    needed("pypdfium2", "reading PDFs", "crawl")
    try:
        done = subprocess.run(  # noqa: S603  # our own module
            [sys.executable, "-P", "-m", __name__, str(_MEMORY), str(_SECONDS_OF_CPU), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return b""
    return done.stdout if done.returncode == 0 else b""


# --------------------------------------------------------------------------- in the process


def _text(path: str) -> bytes:
    import pypdfium2  # noqa: PLC0415  # only in the process with limits

    try:
        document = pypdfium2.PdfDocument(path)
        texts = []
        for number in range(min(len(document), MOST_PAGES)):
            page = document[number].get_textpage()
            texts.append(page.get_text_range(0, min(page.count_chars(), MOST_CHARACTERS)))
        return json.dumps(["\n".join(texts), len(document), ""]).encode()
    except pypdfium2.PdfiumError as error:
        fault = Fault.ENCRYPTED if "password" in str(error).lower() else Fault.DAMAGED
        return json.dumps(["", 0, fault]).encode()


def _picture(path: str, width: int) -> bytes:
    import pypdfium2  # noqa: PLC0415  # only in the process with limits

    page = pypdfium2.PdfDocument(path)[0]
    wide, high = (max(one, 1.0) for one in page.get_size())
    scale = min(width / wide, WIDEST / high)
    drawn = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=False)
    return _png(drawn.width, drawn.height, drawn.stride, drawn.n_channels, bytes(drawn.buffer))


def _png(width: int, height: int, stride: int, channels: int, pixels: bytes) -> bytes:
    """Return a PNG (ISO/IEC 15948) of 8 bits a channel."""
    import zlib  # noqa: PLC0415  # only in the process with limits

    used = width * channels
    rows = (b"\0" + pixels[row * stride : row * stride + used] for row in range(height))
    colour = {1: 0, 3: 2, 4: 6}[channels]

    def chunk(name: bytes, content: bytes) -> bytes:
        check = zlib.crc32(name + content).to_bytes(4, "big")
        return len(content).to_bytes(4, "big") + name + content + check

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, colour, 0, 0, 0))
    drawn = zlib.compress(b"".join(rows), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", drawn) + chunk(b"IEND", b"")


def _main(memory: str, seconds: str, what: str, path: str, *rest: str) -> None:
    import resource  # noqa: PLC0415  # not on every system, as these limits

    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    said = _text(path) if what == "text" else _picture(path, int(rest[0]))
    sys.stdout.buffer.write(said)


if __name__ == "__main__":
    _main(*sys.argv[1:])
