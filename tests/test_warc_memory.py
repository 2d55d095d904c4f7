"""Malicious WARC files are read within limits of memory."""

import os
import resource
import subprocess
import sys
import zlib
from itertools import product
from pathlib import Path

import pytest
from examples import family

from politeweb.warc.records import warc_records

MIB = 1 << 20
HEAD = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://x.example/?verb=ListSets\r\n"
DATED = HEAD + b"WARC-Date: 2026-01-01T00:00:00Z\r\n"
HTTP = b"Content-Length: 900000000\r\n\r\nHTTP/1.1 200 OK\r\n"
BODY = HTTP + b"Transfer-Encoding: chunked\r\n\r\n"
INFO = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 900000000\r\n\r\n"
MALICIOUS = {
    "a header without an end": (DATED + b"X: ", b"a"),
    "headers without an end": (DATED, b"X: a\r\n"),
    "a continued header without an end": (DATED + b"X: a\r\n", b" a\r\n"),
    "a first line without an end": (b"", b"WARC/1.0"),
    "an HTTP header without an end": (DATED + HTTP + b"X: ", b"a"),
    "HTTP headers without an end": (DATED + HTTP, b"X: a\r\n"),
    "a chunk of 800 MB": (DATED + BODY + b"2faf0800\r\n", b"a"),
    "a warcinfo of 800 MB": (INFO, b"a: b\r\n"),
    "what follows a record": (DATED + b"Content-Length: 0\r\n\r\n", b"a"),
}
BOUNDED = """
import sys
from collections import Counter
from processes import peak_megabytes
{}
read(sys.argv[1])
assert peak_megabytes() < 600
"""
READERS = {
    "replay": """
from politeweb.warc.reading import read_exchanges
from politeweb.errors import WarcUnreadable
def read(name):
    try:
        found = list(read_exchanges(name, lambda said: True))
    except WarcUnreadable as error:
        found = [error]
    assert found and len(str(found)) < 10_000, found
""",
    "crawl": """
from crawlmatch.warcs import DAMAGED, captures, opened_warc
def read(name):
    with opened_warc(name) as file:
        try:
            list(captures(file, Counter()))
        except DAMAGED as error:
            assert len(str(error)) < 10_000
""",
    "attach": """
from crawlmatch.attach import _records
from crawlmatch.warcs import DAMAGED, opened_warc
def read(name):
    with opened_warc(name) as file:
        try:
            for record, _ in _records(file):
                stream = record.content_stream()
                while stream.read(1 << 16):
                    pass
        except DAMAGED as error:
            assert len(str(error)) < 10_000
""",
}


def endless(begin: bytes, repeated: bytes) -> bytes:
    """A gzip member of 800 MiB without an end: each block is compressed alike."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    head = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(repeated * (MIB // len(repeated))) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + 800 * block


@pytest.mark.parametrize(("name", "reader"), family(product(MALICIOUS, READERS), 7))
@pytest.mark.long
def test_no_warc_takes_more_than_600_megabytes(tmp_path: Path, name: str, reader: str) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(endless(*MALICIOUS[name]))
    done = subprocess.run(
        [sys.executable, "-c", BOUNDED.format(READERS[reader]), str(path)],
        capture_output=True, text=True, check=False, timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "benchmarks")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stderr) < 10_000


def test_many_long_headers_are_read(tmp_path: Path) -> None:
    record = DATED + b"X: " + b"a" * 500_000 + b"\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    (tmp_path / "x.warc").write_bytes(record * 20)
    with (tmp_path / "x.warc").open("rb") as file:
        assert len(list(warc_records(file))) == 20
