"""Crawl logs, indexes and lists of seeds, and the blocks of lines they are read in."""

import io
import json
import os
import shutil
from collections.abc import Hashable, Iterable
from contextlib import ExitStack, redirect_stderr
from zlib import crc32

from fuzzing.target import Target

from crawlmatch.errors import CrawlError
from crawlmatch.inputs import kind_of_lines, plain_lines, read_lines
from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.receipts import InputKind, InputReceipt
from crawlmatch.rules import LineRules
from crawlmatch.shards import opened_engine
from crawlmatch.warcs import read_warc
from silosteps.errors import InputUnreadable
from silosteps.lines import blocks

_SHA1 = "sha1:2LFQKN6DQ5GGEUHLGNNGQFGRAPEQNHYA"


class Crawls(Target):
    promise = (
        "No byte of a log is dropped, every line is used or set aside, the receipt sums up, "
        "every seed has one outcome; an input that breaks off is named."
    )
    words = (
        b"2018-01-01T00:00:00.000Z", b"20180101000000000+1", b"99999999999999999+1", b" 200 ",
        b" -2 ", b" - ", b"  ", b"\n", b"\r\n", b"\x00", b"\xff", b"\xc3\xbc", b"\xe2\x80\xa8",
        b'{"url":', b"}", b'"', b"http://a.example/", b"dns:a.example", b"sha1:X", b"warc/revisit",
        b"application/pdf", b"text/html", b"duplicate:digest", b" CDX N b a m s k", b"\t", b"\\",
        b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"WARC/1.0\r\n", b"\r\nContent-Length: ",
        b"WARC-Type: revisit\r\n", b"9999999999999", b"302", b"/b.pdf",
        b"LLLLLLLLLLLLLLLLLLLLLL", b'"status_code": ', b"org,example)/ 20180101000000 ", b"!", b"#",
    )  # fmt: skip
    largest = 32_768
    memory = 4 << 30
    iterations = 5
    seconds = 10.0

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        self._opened = ExitStack()
        self._engine = self._opened.enter_context(opened_engine(scratch))

    def close(self) -> None:
        self._opened.close()

    def seeds(self) -> Iterable[bytes]:
        a, b = "http://a.example/", "http://a.example/b.pdf"
        x = f'{_SHA1} - 3t,duplicate:digest {{"warcFilename":"w.gz","warcFileOffset":77}}'
        lines = [
            f"2018-01-01T00:00:00.000Z 302 0 {a} - - text/html #1 20180101000000000+1 {_SHA1} - x",
            f"2018-01-01T00:00:01.000Z 200 40 {b} R {a} application/pdf #1 20180101000001000+1 {x}",
        ]
        objects = [{
            "timestamp": one.split()[0], "status_code": int(one.split()[1]), "size": 7,
            "url": one.split()[3], "hop_path": "R", "via": a, "mimetype": one.split()[6],
            "start_time_plus_duration": "20180101000001000+1", "content_digest": _SHA1,
            "annotations": "3t", "extra_info": {"warcFilename": "w.warc.gz"},
        } for one in lines]  # fmt: skip
        index = [
            f"k 20180101000000 {a} text/html 302 {_SHA1} /b.pdf - 100 1 w.warc.gz",
            f"k 20180101000001 {b} application/pdf 200 {_SHA1} - - 100 2 w.warc.gz",
        ]
        return [
            "\n".join(lines).encode() + b"\n", "\n".join(map(json.dumps, objects)).encode(),
            "\n".join([" CDX N b a m s k r M S V g", *index]).encode(),
            b'org,x)/ 20180101000000 {"url": "http://a.example/", "status": "200"}\n',
            b"".join(map(_warc_record, (a, b))),
            f"{a} oai:x:1\n{b}\toai:x:2\n\n# no\n".encode(),
        ]  # fmt: skip

    def check(self, data: bytes) -> Hashable:
        for size in (7, 1 << 16):
            found = list(blocks(io.BytesIO(data), size=size))
            assert b"".join(block.data for block in found) == data
        plain = plain_lines(data)
        assert plain.count(b"\n") == data.count(b"\n")
        assert plain.isascii()
        path = os.path.join(self.scratch, "input")
        with open(path, "wb") as file:
            file.write(data)
        with redirect_stderr(io.StringIO()):  # where warcio remarks on records
            return self._met(path, data)

    def _met(self, path: str, data: bytes) -> Hashable:
        try:
            receipt = self._read(path, data)
        except InputUnreadable as error:
            return type(error)
        _check_sums(receipt, data)
        met = receipt.kind, tuple(sorted(receipt.reasons))
        return (met, self._matched(path, data)) if crc32(data) % 16 == 0 else met

    def _read(self, path: str, data: bytes) -> InputReceipt:
        if kind_of_lines(data) is InputKind.WARC:
            return read_warc(self._engine, path, LineRules(), source=1)
        return read_lines(self._engine, path, LineRules(), source=None, set_aside=_nothing)

    def _matched(self, path: str, data: bytes) -> Hashable:
        """What becomes of it as a crawl and as a list of seeds, which takes longer."""
        out = os.path.join(self.scratch, "out")
        os.mkdir(out)
        request = MatchRequest([path], seeds=[path], seed_rows=[("http://a.example/", "a")])
        try:
            receipt = match_into(out, request, tables=False)
        except (InputUnreadable, CrawlError) as error:
            return type(error)
        finally:
            shutil.rmtree(out)
        for one in receipt.inputs:
            _check_sums(one, data)
        assert sum(receipt.outcomes.values()) == receipt.seed_rows
        return tuple(sorted(receipt.outcomes)), *(
            tuple(sorted(one.reasons)) for one in receipt.inputs
        )


def _warc_record(url: str) -> bytes:
    content = b"HTTP/1.1 302 Found\r\nLocation: b.pdf\r\nContent-Type: text/html\r\n\r\nx"
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2018-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def _nothing(reason: str, line: str) -> None:
    """Lines that are set aside are counted, and not kept."""


def _check_sums(one: InputReceipt, data: bytes) -> None:
    is_packed = data[:2] == b"\x1f\x8b" or data[:4] == b"\x28\xb5\x2f\xfd"
    if not is_packed and one.kind != InputKind.WARC:
        assert one.lines == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    assert one.lines == one.used + sum(one.reasons.values())
    assert one.used >= 0
