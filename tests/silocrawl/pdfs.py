"""PDFs with text that is known, as few bytes as a reader accepts."""


def pdf_of(*pages: str) -> bytes:
    """A PDF with these pages; an empty page is drawn, without text, as a scan is."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for number, text in enumerate(pages):
        drawn = _drawn(text) if text else "40 40 500 700 re f"
        about = "/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{about}/Contents {5 + 2 * number} 0 R>>")
        objects.append(f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream")
    content, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(content))
        content += f"{number} 0 obj{one}endobj\n".encode("cp1252")
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(content)}\n%%EOF\n"
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    return content + head.encode() + table + end.encode()


def _drawn(text: str) -> str:
    lines = [one.translate({40: r"\(", 41: r"\)", 92: r"\\"}) for one in text.split("\n")]
    return f"BT /F1 10 Tf 14 TL 40 800 Td {' '.join(f'({one}) Tj T*' for one in lines)} ET"
