"""The process that reads a PDF or a PNG that strangers made, within limits.

``limited_child.py MEMORY SECONDS text PATH``, ``picture PATH WIDTH PAGE`` of a PDF, or ``top WIDTH
HEIGHT`` of a PNG from the standard input. It imports nothing of ours, as it is started for each
document (see `silocrawl.limited_process`).
"""

import json
import resource
import sys
import zlib
from collections.abc import Callable
from io import BytesIO

MOST_PAGES, MOST_CHARACTERS = 3, 20_000
"""Pages whose text is read, and characters of each."""
WIDEST = 2_000
"""Pixels of a picture, in each direction."""


_COLOURS = 128


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


def _picture(path: str, width: str, number: str) -> bytes:
    import pypdfium2  # noqa: PLC0415  # only in the process with limits

    page = pypdfium2.PdfDocument(path)[int(number)]
    wide, high = (max(one, 1.0) for one in page.get_size())
    scale = min(int(width) / wide, WIDEST / high)
    drawn = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=False)
    return _png(drawn.width, drawn.height, drawn.stride, drawn.n_channels, bytes(drawn.buffer))


def _top(width: str, height: str) -> bytes:
    from PIL import Image  # noqa: PLC0415  # only in the process with limits

    with Image.open(BytesIO(sys.stdin.buffer.read()), formats=["PNG"]) as found:
        scale = min(int(width) / found.width, 1.0)
        shown = found.crop((0, 0, found.width, min(found.height, round(int(height) / scale))))
    size = max(1, round(shown.width * scale)), max(1, round(shown.height * scale))
    small = shown.convert("RGB").resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    made = BytesIO()
    small.quantize(_COLOURS).save(made, "PNG", optimize=True)
    return made.getvalue()


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


_DOES: dict[str, Callable[..., bytes]] = {"text": _text, "picture": _picture, "top": _top}


def _main(memory: str, seconds: str, what: str, *rest: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    # At the first, SIGXCPU: it differs from the SIGKILL of a machine that is short of memory.
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.stdout.buffer.write(_DOES[what](*rest))


if __name__ == "__main__":
    _main(*sys.argv[1:])
