"""An answer that is recorded, and the records of a WARC file."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from warcio.archiveiterator import ArchiveIterator

from politeweb.answers import Answer

HARVEST = "20261121T211331.123456Z"
URL = "https://repo.example/oai?verb=ListRecords&resumptionToken=a%2Bb%20c%7Cd"
BODY = b"<OAI-PMH>" + b"<record>some text</record>" * 200 + b"</OAI-PMH>"
RECEIVED = datetime(2026, 11, 21, 21, 13, 31, 123456, tzinfo=UTC)


def answer(**more) -> Answer:
    return Answer(**{"body": BODY, "url": URL, "received": RECEIVED} | more)


def read(path: Path) -> Iterator[tuple[SimpleNamespace, bytes]]:
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            content = record.raw_stream.read()
            field = record.rec_headers.get_header
            yield (
                SimpleNamespace(kind=record.rec_type, field=field, http=record.http_headers),
                content,
            )


def only_file(directory: Path) -> Path:
    [path] = directory.glob("*.warc.gz")
    return path
