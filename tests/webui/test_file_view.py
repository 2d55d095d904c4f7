"""Files are seen without being downloaded, and hostile ones do no harm."""

import os
import re
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from recordsilo import Silo
from webui.record.pictures import may_be_shown, size_of_image

PLAIN = "oai:example.org:1"
OF = "/records/oai+example,org+1/versions/workingcopy"
ATTACK = b"<script>alert(1)</script>"


def pdf(*pages: bytes, more: bytes = b"") -> bytes:
    """A PDF with a page for each content stream; readers find its objects without a table."""
    kids = b" ".join(b"%d 0 R" % (10 + 2 * n) for n in range(len(pages)))
    objects = [
        b"1 0 obj <</Type/Catalog/Pages 2 0 R " + more + b">> endobj",
        b"2 0 obj <</Type/Pages/Kids[" + kids + b"]/Count %d>> endobj" % len(pages),
    ]
    for n, content in enumerate(pages):
        objects += [
            b"%d 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents %d 0 R>> endobj"
            % (10 + 2 * n, 11 + 2 * n),
            b"%d 0 obj <</Length %d>> stream\n" % (11 + 2 * n, len(content))
            + content + b"\nendstream endobj",
        ]  # fmt: skip
    return b"%PDF-1.4\n" + b"\n".join(objects) + b"\ntrailer <</Root 1 0 R>>\n%%EOF\n"


def png(width: int, height: int) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    rows = zlib.compress(b"\0" * min(height * ((width + 7) // 8 + 1), 1_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


BLACK = b"0 0 0 rg 20 20 100 100 re f"
SCRIPT = b"/OpenAction <</S/JavaScript/JS(app.alert\\(1\\))>>"


@pytest.fixture
def put(working_copy: str, silo: Silo) -> Callable[[str, bytes], None]:
    def store(path: str, content: bytes) -> None:
        silo[working_copy].put_stream(path, content, "workingcopy")

    return store


def test_images_state_their_size() -> None:
    jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08\0\x05\0\x07"
    webp = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x06\0\0\x04\0\0"
    assert size_of_image(png(7, 5)) == (7, 5)
    assert size_of_image(jpeg) == (7, 5)
    assert size_of_image(webp) == (7, 5)
    assert size_of_image(b"GIF89a\x07\0\x05\0") == (7, 5)
    assert [size_of_image(one) for one in (b"", b"\xff\xd8\xff", b"RIFF", ATTACK)] == [None] * 4
    assert not may_be_shown(png(100_000, 100_000))


def test_tables_and_texts_are_text_of_the_page(put: Any, client: Any) -> None:
    put("a.csv", b"name;n\n" + ATTACK + b";1\n" + b"x;2\n" * 300)
    put("a.txt", ATTACK * 20_000)
    page = client.get(f"{OF}/look/a.csv").text
    assert page.count("<tr>") == 200
    assert "<script>alert" not in page
    assert "This is the beginning of the file." in page
    page = client.get(f"{OF}/look/a.txt").text
    assert "<script>alert" not in page
    assert len(page) < 2_000_000


@pytest.mark.parametrize(
    ("path", "content"),
    [("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'>" + ATTACK + b"</svg>"),
     ("a.html", ATTACK), ("a.png", b"<html>" + ATTACK), ("b.png", png(100_000, 100_000)),
     ("a.zip", b"PK\x03\x04"), ("a.gif", b"GIF89a\0\0\0\0" + ATTACK)],
)  # fmt: skip
def test_what_is_no_image_is_not_given_to_the_browser(
    put: Any, client: Any, path: str, content: bytes
) -> None:
    put(path, content)
    page = client.get(f"{OF}/look/{path}").text
    assert '<p class="note">' in page
    assert "<img" not in page.partition("<main")[2]
    sent = client.get(f"{OF}/files/{path}")
    assert sent.headers["Content-Security-Policy"].startswith("sandbox")
    assert sent.headers["X-Content-Type-Options"] == "nosniff"


def test_pages_of_a_pdf_are_pictures(put: Any, client: Any, silo: Silo) -> None:
    put("a.pdf", pdf(BLACK, b"", more=SCRIPT))
    for name, since in (("killed", 7200), ("now", 60)):  # what a killed process left, and another
        left = Path(silo.path, ".silo", f"picture-{name}")
        left.write_bytes(b"%PDF")
        os.utime(left, (time.time() - since,) * 2)
    page = client.get(f"{OF}/look/a.pdf").text
    assert "Page 1 of 2" in page
    assert "Page 2 of 2" in client.get(f"{OF}/look/a.pdf?page=2").text
    first = client.get(f"{OF}/picture/a.pdf?page=1&width=240")
    assert (first.status, first.headers["Content-Type"]) == (200, "image/png")
    assert size_of_image(first.body) == (240, 360)
    assert client.get(f"{OF}/picture/a.pdf?page=1&width=240").body == first.body
    assert client.get(f"{OF}/picture/a.pdf?page=9").status == 404
    assert len([*Path(silo.path, ".silo", "pictures").iterdir()]) == 3
    assert [one.name for one in Path(silo.path, ".silo").glob("picture-*")] == ["picture-now"]
    record = client.get("/records/oai+example,org+1").text
    assert f"{OF}/picture/a.pdf?width=240" in record


def test_a_pdf_is_saved_not_opened_in_the_origin_of_the_page(put: Any, client: Any) -> None:
    put("a.pdf", pdf(BLACK, more=SCRIPT))
    page = client.get(f"{OF}/look/a.pdf").text
    assert "To select or search their text, download the file." in page
    assert f'href="{OF}/files/a.pdf" download' in page
    assert re.search("<(?:i?frame|embed|object)", page) is None
    sent = client.get(f"{OF}/files/a.pdf").headers
    assert sent["Content-Type"] == "application/pdf"
    assert sent["Content-Disposition"].startswith("attachment; ")
    assert sent["Content-Security-Policy"].startswith("sandbox; ")


@pytest.mark.parametrize("content", [b"", b"%PDF-1.4", b"%PDF-1.4\n<html>" + ATTACK, ATTACK])
def test_what_only_calls_itself_a_pdf_is_not_shown(put: Any, client: Any, content: bytes) -> None:
    put("a.pdf", content)
    page = client.get(f"{OF}/look/a.pdf").text
    assert "This PDF cannot be shown" in page
    assert client.get(f"{OF}/picture/a.pdf").status == 404
    assert client.get(f"{OF}/look/none.pdf").status == 404


@pytest.mark.slow
def test_a_pdf_that_would_fill_the_memory_ends_only_its_reader(put: Any, client: Any) -> None:
    bomb = zlib.compress(b"0 0 1 1 re f\n" * 60_000_000, 9)
    body = pdf(b"X").replace(
        b"<</Length 1>> stream\nX\n",
        b"<</Length %d/Filter/FlateDecode>> stream\n" % len(bomb) + bomb + b"\n",
    )
    put("bomb.pdf", body)
    assert client.get(f"{OF}/picture/bomb.pdf").status == 404
    assert client.get("/").status == 200


@pytest.mark.long
@pytest.mark.browser
def test_the_pages_are_seen(put: Any, open_page: Callable[..., Page]) -> None:
    put("a.pdf", pdf(BLACK, b"", more=SCRIPT))
    put("a.csv", b"a,b\n1,2\n")
    page = open_page(f"{OF}/look/a.pdf")
    assert page.evaluate("document.querySelector('.seen img').naturalWidth") == 1000
    page.get_by_role("link", name="Next page").click()
    assert Axe().run(page).response["violations"] == []
    page.goto(f"{OF}/look/a.csv")
    assert Axe().run(page).response["violations"] == []
