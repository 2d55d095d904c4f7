"""Write PDF files with text in any language, from which programs can read it again.

Latin text is set in Helvetica; other text in a font that is not embedded, with a table that says
which characters it shows. Source: ISO 32000-1, sections 7.5, 9.7 and 9.10.
"""

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

_WIDTH, _LINES, _SIZE = 84, 48, 11
_LATIN = "/Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding"
_OTHER = (
    "/Type /Font /Subtype /Type0 /BaseFont /Sample /Encoding /Identity-H"
    " /DescendantFonts [5 0 R] /ToUnicode 7 0 R"
)
_GLYPHS = (
    "/Type /Font /Subtype /CIDFontType2 /BaseFont /Sample /DW 600 /FontDescriptor 6 0 R"
    " /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
)
_DESCRIPTOR = (
    "/Type /FontDescriptor /FontName /Sample /Flags 4 /FontBBox [0 -200 1000 800]"
    " /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80"
)


def pdf_of(*pages: str, title: str = "") -> bytes:
    """Return a PDF file.

    Args:
        pages: The text of each; lines are filled, and what does not fit goes to further pages.
            An empty one has no text, as a scan has none.
        title: For its metadata.
    """
    sheets = [sheet for text in pages for sheet in _sheets(text)]
    characters = sorted({one for sheet in sheets for line in sheet for one in _units(line)})
    first = 9  # the numbers before it are of what all pages share
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(sheets)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(sheets)} >>".encode(),
        f"<< {_LATIN} >>".encode(),
        f"<< {_OTHER} >>".encode(),
        f"<< {_GLYPHS} >>".encode(),
        f"<< {_DESCRIPTOR} >>".encode(),
        _stream(_character_map(characters)),
        f"<< /Title <feff{title.encode('utf-16-be').hex()}> >>".encode(),
    ]
    for number, sheet in enumerate(sheets):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (first + 2 * number + 1)
        )
        objects.append(_stream(_content(sheet)))
    return _file(objects)


def _sheets(text: str) -> list[list[str]]:
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, _WIDTH) or [""]]
    return [lines[at : at + _LINES] for at in range(0, len(lines), _LINES)]


def _content(lines: Sequence[str]) -> bytes:
    shown = [f"BT /F1 {_SIZE} Tf 60 780 Td {_SIZE + 4} TL".encode()]
    for line in lines:
        latin = _latin(line)
        if latin is not None:
            shown.append(b"/F1 %d Tf (%s) Tj T*" % (_SIZE, latin))
        else:
            codes = _from_left(line).encode("utf-16-be").hex()
            shown.append(b"/F2 %d Tf <%s> Tj T*" % (_SIZE, codes.encode()))
    return b"\n".join([*shown, b"ET"])


def _latin(line: str) -> bytes | None:
    """A line in the encoding of the first font; None if that does not have it."""
    try:
        found = line.encode("cp1252")
    except UnicodeEncodeError:
        return None
    return found.replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")


def _from_left(line: str) -> str:
    """A line as it is shown, from left to right."""
    is_from_right = any(unicodedata.bidirectional(one) in {"R", "AL"} for one in line)
    return line[::-1] if is_from_right else line


def _units(line: str) -> Iterable[str]:
    return () if _latin(line) is not None else line


def _character_map(characters: Sequence[str]) -> bytes:
    """Which characters the numbers of the second font show: those of their code points."""
    codes = [f"<{one.encode('utf-16-be').hex()}>" for one in characters]
    blocks = [codes[at : at + 100] for at in range(0, len(codes), 100)]
    return "\n".join(
        [
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap",
            "/CMapName /Sample def /CMapType 2 def",
            "1 begincodespacerange <0000> <ffff> endcodespacerange",
            *(
                f"{len(block)} beginbfchar\n{' '.join(f'{one} {one}' for one in block)}\nendbfchar"
                for block in blocks
            ),
            "endcmap end end",
        ]
    ).encode()


def _stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def _file(objects: Sequence[bytes]) -> bytes:
    found = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, one in enumerate(objects, 1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = len(found)
    found += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        found += b"%010d 00000 n \n" % place
    found += b"trailer\n<< /Size %d /Root 1 0 R /Info 8 0 R >>\n" % (len(objects) + 1)
    return bytes(found) + b"startxref\n%d\n%%%%EOF\n" % table
