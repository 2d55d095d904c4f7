"""WARC and WACZ files of elsewhere, as an import takes them in."""

import gzip
import io
import os
import re
import shutil
import zipfile
from collections.abc import Hashable, Iterable
from contextlib import redirect_stderr

from fuzzing.target import Target

from recordsilo import Silo
from silocrawl.cdx_query import as_text, row_of
from silocrawl.cdxj import Segments
from silocrawl.chosen import ChosenCaptures
from silocrawl.paths import archives_directory, index_directory
from silocrawl.places import Places
from silocrawl.taking_in import ImportRefused, take_in
from silocrawl.wacz import write_wacz

_RECORD = (
    b"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Target-URI: %s\r\n"
    b"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http\r\n"
    b"WARC-Refers-To-Target-URI: http://a.example/\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
)


def _record(kind: bytes, url: bytes, content: bytes) -> bytes:
    return _RECORD % (kind, url, len(content), content)


class Imports(Target):
    promise = (
        "A file is refused in a sentence and leaves nothing, or each line of the index has its"
        " record, 11 words, and goes into a WACZ."
    )
    words = (
        b"WARC/1.1\r\n", b"\r\n\r\n", b"response", b"resource", b"revisit", b"request",
        b"urn:view:",
        b"http://a.example/", b"Location: ", b"//[", b"Content-Length: ", b"99999999999999999999",
        b"-1", b"Transfer-Encoding: chunked\r\n", b"\x1f\x8b\x08", b"PK\x01\x02", b"PK\x03\x04",
        b"PK\x05\x06", b"archive/", b".warc", b".warc.gz", b"datapackage.json", b"\xff\xff\xff\xff",
        b'{"resources": [{"path": "archive/a.warc", "hash": "sha256:00"}]}', b"\x00", b"\xc3\xbc",
    )  # fmt: skip
    iterations = 60

    def seeds(self) -> Iterable[bytes]:
        head = b"HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Type: text/html\r\n\r\nbody"
        records = [
            _record(b"response", b"http://a.example/", head),
            _record(b"request", b"http://a.example/", b"GET / HTTP/1.1\r\n\r\n"),
            _record(b"revisit", b"http://a.example/", head[:-4]),
            _record(b"resource", b"urn:view:http://a.example/", b"PNG"),
        ]
        plain = b"".join(records)
        packed = b"".join(gzip.compress(one, mtime=0) for one in records)
        return [plain, packed, self._zip({"archive/a.warc": plain, "archive/b.warc.gz": packed})]

    @staticmethod
    def _zip(parts: dict[str, bytes]) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in parts.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        return file.getvalue()

    def check(self, data: bytes) -> Hashable:
        path, silo = os.path.join(self.scratch, "x"), os.path.join(self.scratch, "silo")
        with open(path, "wb") as file:
            file.write(data)
        shutil.rmtree(silo, ignore_errors=True)
        Silo(silo, "info:", identifier_uri_prefix="oai:example.org:").close()
        with redirect_stderr(io.StringIO()):  # where warcio remarks on records
            return self._taken(silo, path)

    def _taken(self, silo: str, path: str) -> Hashable:
        met, said = [], ""
        try:
            for one in take_in(silo, path):
                met.append((min(one.captures, 3), min(one.damaged, 3)))
        except ImportRefused as error:
            said = re.sub(r"\d+", "", str(error).replace(path, ""))[:60]
        archives, index = archives_directory(silo), Segments(index_directory(silo))
        names = os.listdir(archives) if os.path.isdir(archives) else []
        assert len(names) <= len(met), "what was refused is still there"
        lines = list(index.find("", is_prefix=True))
        for line in lines:
            assert len(as_text(row_of(line)).split(" ")) == 11
        with ChosenCaptures(index) as chosen, open(os.path.join(self.scratch, "out"), "wb") as file:
            chosen.add_all()
            done = write_wacz(chosen, Places.of_silo(silo), file, "x")
            assert done.captures == len(lines), done.lost
        return tuple(met[:3]), said
