"""The first pages of a PDF as text, or one as a picture, read in a process with limits.

What strangers send may end PDFium or fill all memory; then only that process ends. It costs 0.1 s.
"""

import json
from dataclasses import dataclass
from enum import StrEnum

from recordsilo.extras import needed
from silocrawl.limited_child import WIDEST
from silocrawl.limited_process import output_of

_PURPOSE = "reading PDFs"


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
        is_final: Whether another attempt would say the same; not if its reader was killed.
    """

    text: str = ""
    pages: int = 0
    fault: PdfFault | None = None
    is_final: bool = True


def check_documents() -> None:
    """Check that the packages are installed with which documents are read and compared.

    Raises:
        PackageMissing: One is not.
    """
    for package in ("pypdfium2", "rapidfuzz"):
        needed(package, "reading documents", "crawl")


def first_pages(path: str) -> FirstPages:
    """Read the text of the first pages of a PDF.

    Raises:
        PackageMissing: pypdfium2 is not installed.
        OSError: No process can be started.
    """
    needed("pypdfium2", _PURPOSE, "crawl")
    answer = output_of("text", path)
    try:
        text, pages, fault = json.loads(answer or b"null")
        return FirstPages(str(text), int(pages), PdfFault(fault) if fault else None)
    except (ValueError, TypeError):
        return FirstPages(fault=PdfFault.LIMITS, is_final=answer is not None)


def picture_of(path: str, width: int = 800, page: int = 0) -> bytes | None:
    """Draw a page of a PDF, as a PNG; empty if that is not possible.

    None if the process that draws was killed or took too long.

    Args:
        width: Pixels; the height follows, and is `WIDEST` at most.
        page: From 0.

    Raises:
        PackageMissing: pypdfium2 is not installed.
        OSError: No process can be started.
    """
    needed("pypdfium2", _PURPOSE, "crawl")
    return output_of("picture", path, str(min(max(width, 16), WIDEST)), str(max(page, 0)))
