"""The process that reads a PDF: ``pdf_child.py MEMORY SECONDS text|picture PATH [WIDTH PAGE]``.

It imports nothing of ours, as it is started for each document (see `silocrawl.pdf_pages`).
"""

import json
import resource
import sys
import zlib

MOST_PAGES, MOST_CHARACTERS = 3, 20_000
"""Pages whose text is read, and characters of each."""
WIDEST = 2_000
"""Pixels of a picture, in each direction."""


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
        fault = "encrypted" if "password" in str(error).lower() else "damaged"
        return json.dumps(["", 0, fault]).encode()


def _picture(path: str, width: int, number: int) -> bytes:
    import pypdfium2  # noqa: PLC0415  # only in the process with limits

    page = pypdfium2.PdfDocument(path)[number]
    wide, high = (max(one, 1.0) for one in page.get_size())
    scale = min(width / wide, WIDEST / high)
    drawn = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=False)
    return _png(drawn.width, drawn.height, drawn.stride, drawn.n_channels, bytes(drawn.buffer))


def _png(width: int, height: int, stride: int, channels: int, pixels: bytes) -> bytes:
    """Return a PNG (ISO/IEC 15948) of 8 bits a channel."""
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
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    said = _text(path) if what == "text" else _picture(path, *map(int, rest))
    sys.stdout.buffer.write(said)


if __name__ == "__main__":
    _main(*sys.argv[1:])
