"""WARC files of recorded answers: read, and replayed into a Silo."""

import gzip
import io
import os
import re
import shutil
from collections.abc import Hashable, Iterable
from contextlib import redirect_stderr
from datetime import UTC, datetime
from zlib import crc32

from fuzzing.target import Target
from misbehaving.faults import repository_with

from oaipmhscraper.replay.replay import replay
from oaipmhscraper.warc.reading import StoredResponse, read_warc
from oaipmhscraper.warc.responses import ResponseRecorder
from politeweb.answers import Answer
from politeweb.errors import RequestRefused, WarcUnreadable
from politeweb.warc.reading import About, Damaged
from recordsilo import Silo

_URL = "https://repo.example/oai"
_RECEIVED = datetime(2026, 11, 21, 21, 13, 31, tzinfo=UTC)
_LIMIT = 1 << 20
_QUERIES = ({"verb": "Identify"}, {"verb": "ListRecords", "metadataPrefix": "oai_dc"})


class Warcs(Target):
    promise = (
        "A WARC is read or named unreadable, damage is told in its place, no answer is longer "
        "than the limit, and a sound record before damage is read as it was; what can be read "
        "can be replayed, or is refused in a sentence."
    )
    words = (
        b"WARC/1.0\r\n", b"WARC/1.1\r\n", b"WARC-Type: response\r\n", b"WARC-Target-URI: ",
        b"Content-Length: ", b"99999999999999999999", b"-1", b"WARC-Block-Digest: sha1:",
        b"WARC-Payload-Digest: nope:AAAA", b"WARC-Date: 2026", b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n",
        b"HTTP/", b"Content-Type: application/http; msgtype=response\r\n", b"\r\n", b"warcinfo",
        b"revisit", b"request", b"conversion", b"Transfer-Encoding: chunked\r\n", b"ffffffff\r\n",
        b"Content-Encoding: gzip\r\n", b"verb=ListRecords", b"\x1f\x8b\x08", b"dns:",
        b"filedesc://",
        b"WARC-Segment-Number: 1\r\n", b"http://[",
    )  # fmt: skip
    largest = 65_536
    iterations = 30
    seconds = 5.0

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        repository = repository_with()
        repository.page_size = 2
        answers = [(one, repository.answer("&".join(f"{k}={v}" for k, v in one.items())).body)
                   for one in _QUERIES]  # fmt: skip
        with ResponseRecorder(os.path.join(scratch, "made"), "20261121T211331Z") as recorder:
            for params, body in answers:
                recorder.record(params, Answer(body, _URL, received=_RECEIVED), "oai_dc")
        [name] = os.listdir(os.path.join(scratch, "made"))
        with open(os.path.join(scratch, "made", name), "rb") as file:
            self._packed = file.read()
        self._sound = gzip.decompress(self._packed)
        self._bodies = [body for _, body in answers]

    def seeds(self) -> Iterable[bytes]:
        # What chance wrote into it goes: the same seed has to give the same inputs.
        plain = re.sub(rb"<urn:uuid:[^>]*>", b"<urn:uuid:1>", self._sound)
        plain = re.sub(rb"WARC-Date: \S+", b"WARC-Date: 2026-11-21T21:13:31Z", plain)
        chunked = b"4\r\n<OAI\r\n0\r\n\r\n"
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        other = (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://repo.example/oai?verb="
        )
        other += (
            b"ListSets\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
        )
        other %= (len(head + chunked), head + chunked)
        members = plain.split(b"WARC/1.1")[1:]
        packed = b"".join(gzip.compress(b"WARC/1.1" + one, mtime=0) for one in members)
        return [plain, other, plain + other, packed]

    def check(self, data: bytes) -> Hashable:
        path = os.path.join(self.scratch, "x.warc.gz" if data[:2] == b"\x1f\x8b" else "x.warc")
        with open(path, "wb") as file:
            file.write(data)
        with redirect_stderr(io.StringIO()):  # where warcio remarks on records
            return self._met(path, data)

    def _met(self, path: str, data: bytes) -> Hashable:
        met = self._read(path)
        with open(path, "wb") as file:
            file.write((self._packed if path.endswith(".gz") else self._sound) + data)
        found = [one.answer.body for one in read_warc(path) if isinstance(one, StoredResponse)]
        assert found[:2] == self._bodies, "a sound record before damage is not read"
        if crc32(data) % 8:
            return met
        return met, self._replayed(path, repeats="Recorded" in str(met))

    @staticmethod
    def _read(path: str) -> Hashable:
        met = []
        try:
            for one in read_warc(path, _LIMIT):
                assert isinstance(one, About | Damaged | StoredResponse)
                if isinstance(one, StoredResponse):
                    assert len(one.answer.body) <= _LIMIT
                    assert "verb" in one.params
                met.append(type(one).__name__)
                if isinstance(one, Damaged):
                    met.append(re.sub(r"\d+", "", str(one))[:40])
        except WarcUnreadable:
            return "unreadable"
        return tuple(met[:8])

    def _replayed(self, path: str, *, repeats: bool) -> Hashable:
        directory = os.path.join(self.scratch, "silo")
        try:
            receipt = replay(directory, [path])
            with Silo(directory, create=False) as silo:
                # a later answer to the same request takes the place of the first
                assert repeats or len(silo) >= 2, "sound records are not in the Silo"
            return tuple(one.stopped[:20] for one in receipt.lists)
        except (WarcUnreadable, RequestRefused) as error:
            return type(error)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
