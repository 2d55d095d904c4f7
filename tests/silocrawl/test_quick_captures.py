"""What is read quickly means the same as what warcio reads, whatever a file has."""

import gzip
import random
import re
from io import BytesIO
from pathlib import Path

import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter
from warcs_of_others import by_others

from silocrawl import quick_captures as module
from silocrawl.taking_in import _captures, _quickly

Answer = tuple[str, dict[str, str], bytes]


def _both(content: bytes) -> tuple[list[object], list[object]]:
    found = []
    for read in (_captures, _quickly):
        damage: list[int] = []
        found.append([*read(BytesIO(content), damage, 0), damage])
    return found[0], found[1]


def _file(
    tmp_path: Path, *answers: tuple[str, dict[str, str], bytes], packed: bool = True
) -> bytes:
    return by_others(tmp_path / "x.warc.gz", *answers, packed=packed).read_bytes()


ODD = [
    ("http://example.org/a", {"Content-Type": "text/html; charset=utf-8"}, b"<p>"),
    ("https://example.org/b?c=d", {"content-type": "TEXT/html", "Location": "/x y"}, b""),
    ("http://example.org/%C3%A4", {"Location": "/ä", "Content-Type": "a b"}, b"x" * 100_000),
    ("http://example.org/c", {"X-Long": "y" * 40_000}, b"z"),
    ("http://example.org/c", {"X-Longer": "y" * 900_000}, b"z"),
    ("http://example.org/d", {"Content-Type": "a\r\n b"}, b"folded"),
    ("http://example.org/e", {"Content-Type": "", "content-Type": "b/c"}, b"1"),
    ("dns:example.org", {}, b"1.2.3.4"),
    ("urn:x", {}, b"1"),
    ("example.org", {}, b"1"),
    ("http://example.org/big", {}, random.Random(1).randbytes(3_000_000)),
]


@pytest.mark.parametrize("answer", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("packed", [True, False])
def test_the_same_captures_as_by_warcio(tmp_path: Path, answer: Answer, *, packed: bool) -> None:
    content = _file(tmp_path, ODD[0], answer, ODD[1], packed=packed)
    slow, quick = _both(content)
    assert quick == slow
    assert len(slow) > 1


@pytest.mark.parametrize("kind", ["response", "revisit", "resource", "conversion", "metadata"])
@pytest.mark.parametrize("status", ["200 OK", "301", "42 x", "9999", "abc", "200\tOK", ""])
def test_the_same_for_other_records(kind: str, status: str) -> None:
    file = BytesIO()
    writer = WARCWriter(file, gzip=True)
    for number in range(2):
        head = StatusAndHeaders(status, [("Content-Type", "a/b")], protocol="HTTP/1.1")
        is_http = kind in {"response", "revisit"}
        writer.write_record(writer.create_warc_record(
            f"http://example.org/{number}", kind, payload=BytesIO(b"abc"), length=3,
            http_headers=head if is_http else None, warc_content_type="c/d",
        ))  # fmt: skip
    slow, quick = _both(file.getvalue())
    assert quick == slow


def test_the_same_of_damaged_files(tmp_path: Path) -> None:
    content = _file(tmp_path, *ODD[:3])
    rand = random.Random(2)
    for _ in range(150):
        at, damaged = rand.randrange(len(content)), bytearray(content)
        damaged[at] ^= 1 << rand.randrange(8)
        for one in (bytes(damaged), content[:at], content[:at] + content[at + 1 :]):
            slow, quick = _both(one)
            assert quick == slow


@pytest.mark.parametrize("bit", range(8))
def test_the_same_of_damaged_heads_of_members(tmp_path: Path, bit: int) -> None:
    content = bytearray(_file(tmp_path, *ODD[:3]))
    begins = [match.start() for match in re.finditer(rb"\x1f\x8b\x08", bytes(content))]
    for begin in begins:
        content[begin + 3] ^= 1 << bit
        slow, quick = _both(bytes(content))
        assert quick == slow
        content[begin + 3] ^= 1 << bit


def test_files_that_are_compressed_otherwise(tmp_path: Path) -> None:
    plain = _file(tmp_path, *ODD[:2], packed=False)
    for content in (b"", gzip.compress(plain), plain, b"\x1f", b"\x1f\x8b", gzip.compress(b"")):
        slow, quick = _both(content)
        assert quick == slow


def test_what_is_usual_needs_no_warcio(tmp_path: Path) -> None:
    content = _file(tmp_path, *ODD[:2], ODD[-1])
    found = module.quick_captures(BytesIO(content), 0, lambda _: pytest.fail("it is unusual"))
    assert [one.url for one in found] == [ODD[0][0], ODD[1][0], ODD[-1][0]]


@pytest.mark.parametrize("content", [b"", b"\r\n", b"x"])
def test_members_without_a_record_are_not_each_read_to_the_next(content: bytes) -> None:
    """5,000 empty members, 100 KB, took hours: from each, all that follow were read."""
    asked: list[int] = []
    with pytest.raises(module.Unusual) as found:
        list(module.quick_captures(BytesIO(gzip.compress(content) * 3), 0, asked.append))
    assert (found.value.offset, asked) == (0, [])
