"""Archives and logs as a crawl of ours leaves them, of any size, without a crawl."""

import gzip
import hashlib
import os
import random
from base64 import b32encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

from politeweb.warc.writing import WarcFiles
from recordsilo.disk.atomic_file import append_lines
from silocrawl.crawl_log import CrawlOutcome, line_of
from silocrawl.paths import archives_directory, log_file

AT = datetime(2026, 11, 24, 6, tzinfo=UTC)


def crawled(silo_path: str, number: int, pages: int, size: int, rotate_at: int = 10**9) -> None:
    """Archive and log some pages of random bytes.

    Args:
        silo_path: The Silo.
        number: Of the crawl; each has other addresses and another series of files.
        pages: How many.
        size: Bytes of each.
        rotate_at: Bytes after which the next file begins.
    """
    rng, begin = random.Random(number), AT + timedelta(hours=number)
    series = f"{begin:%Y%m%dT%H%M%S}.000000Z"
    archive = WarcFiles(archives_directory(silo_path), series, {"isPartOf": "crawl"}, rotate_at)
    lines = []
    for page in range(pages):
        at = begin + timedelta(seconds=page % 3600)
        url = f"http://site.example.org/{number}/{page}.pdf"
        body = rng.randbytes(size)
        digest = f"sha1:{b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()}"
        name, offset = archive.append(_records(url, at, digest, body, rng))
        lines.append(line_of(
            CrawlOutcome(f"{at:%Y%m%d%H%M%S}", url, 200, "application/pdf", digest, size,
                    seed=url, warc_filename=name, warc_offset=offset), at, 0.1,
        ).rstrip("\n").encode())  # fmt: skip
    archive.flush()
    archive.close()
    append_lines(log_file(silo_path, f"links/{begin:%Y%m%dT%H%M%SZ}"), lines)


def _records(url: str, at: datetime, digest: str, body: bytes, rng: random.Random) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    block = head.encode() + body
    return b"".join(_record(url, at, digest, block, rng))


def _record(
    url: str, at: datetime, digest: str, block: bytes, rng: random.Random
) -> Iterator[bytes]:
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:uuid:{UUID(bytes=rng.randbytes(16), version=4)}>",
        "WARC-Target-URI": url,
        "WARC-Date": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "WARC-Payload-Digest": digest,
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    head = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    yield gzip.compress(head.encode() + b"\r\n" + block + b"\r\n\r\n", 1)


def warcs_of(silo_path: str) -> dict[str, str]:
    """The SHA-512 of each WARC file of a Silo, by name."""
    directory, found = archives_directory(silo_path), {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            found[name] = hashlib.file_digest(file, "sha512").hexdigest()
    return found
