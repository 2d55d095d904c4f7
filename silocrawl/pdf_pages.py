"""The first pages of a PDF as text, or one as a picture, read in a process with limits.

What strangers send may end PDFium or fill all memory; then only that process ends. It costs 0.1 s.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from enum import StrEnum

from recordsilo.extras import needed
from silocrawl import pdf_child
from silocrawl.pdf_child import WIDEST

_MEMORY, _SECONDS_OF_CPU, _SECONDS = 1 << 30, 20, 60.0


class PdfFault(StrEnum):
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
    fault: PdfFault | None = None


def check_documents() -> None:
    """Check that the packages are installed with which documents are read and compared.

    Raises:
        PackageMissing: One is not.
    """
    for package in ("pypdfium2", "rapidfuzz"):
        needed(package, "reading documents", "crawl")


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
        return FirstPages(str(text), int(pages), PdfFault(fault) if fault else None)
    except (ValueError, TypeError):
        return FirstPages(fault=PdfFault.LIMITS)


def picture_of(path: str, width: int = 800, page: int = 0) -> bytes:
    """Draw a page of a PDF, as a PNG; empty if that is not possible.

    Args:
        path: The file.
        width: Pixels; the height follows, and is `WIDEST` at most.
        page: From 0.

    Raises:
        PackageMissing: pypdfium2 is not installed.
        OSError: No process can be started.
    """
    return _run("picture", path, str(min(max(width, 16), WIDEST)), str(max(page, 0)))


def _run(*arguments: str) -> bytes:
    """Run the other process; empty if it ended otherwise than with 0."""
    needed("pypdfium2", "reading PDFs", "crawl")
    try:
        done = subprocess.run(  # noqa: S603  # our own file
            [
                sys.executable,
                "-P",
                pdf_child.__file__,
                str(_MEMORY),
                str(_SECONDS_OF_CPU),
                *arguments,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return b""
    return done.stdout if done.returncode == 0 else b""
