"""What the archives of our own crawls hold, found by the index and read within limits."""

import hashlib
import json
from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from crawlmatch.attach import MAX_SIZE
from crawlmatch.warcs import DAMAGED
from politeweb.codings import CodingBroken, decoded
from politeweb.errors import ResponseTooLarge
from politeweb.warc.records import warc_records
from recordsilo import Silo
from recordsilo.disk.atomic_file import Staged, StrictBarrier, write_new
from recordsilo.extras import PackageMissing
from silocrawl.cdxj import Segments, key_of
from silocrawl.errors import CrawlingError
from silocrawl.paths import index_directory
from silocrawl.places import Places, PlacesInvalid
from silocrawl.scope import without_session

_CHUNK, _MOST_REDIRECTS = 1 << 20, 10
_EVER = "9" * 14
_MOST_LINES = 10_000
"""Of the index that are looked at for an address."""


class CaptureUnreadable(CrawlingError):
    """What the index says is archived cannot be read there."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url} cannot be read from the archive: {reason}")


@dataclass(frozen=True, slots=True)
class ReplayedCapture:
    """A line of the index.

    Attributes:
        timestamp: 14 digits.
        digest: Of the body as sent; SHA-1 in base 32.
        filename, offset: Where its record is.
        redirect: Where it leads to; empty if nowhere.
    """

    url: str
    timestamp: str
    mimetype: str
    status: str
    digest: str
    filename: str
    offset: int
    redirect: str = ""

    @classmethod
    def of(cls, line: str) -> "ReplayedCapture":
        """Read a line of ours."""
        _, timestamp, rest = line.split(" ", 2)
        one: dict[str, str] = json.loads(rest)
        return cls(
            one["url"], timestamp, one["mime"], one["status"], one["digest"], one["filename"],
            int(one["offset"]), one.get("redirect", ""),
        )  # fmt: skip

    @property
    def place(self) -> str:
        """Its archive and its place in it, separated by a colon."""
        return f"{self.filename}:{self.offset}"

    @property
    def is_revisit(self) -> bool:
        """Whether its record has no body, as an earlier one has it."""
        return self.mimetype == "warc/revisit"


@dataclass(frozen=True, slots=True)
class ArchivedAnswer:
    """The begin of an archived answer.

    Attributes:
        headers: Names in lower case; values of one name are joined by commas.
        content: Without its content coding.
    """

    headers: Mapping[str, str]
    content: bytes


class Captures:
    """The captures of a Silo's own crawls."""

    def __init__(self, silo_path: str) -> None:
        self._segments = Segments(index_directory(silo_path))
        self._archives = Places.of_silo(silo_path)

    def of(self, url: str) -> list[ReplayedCapture]:
        """Return the captures of an address, the oldest first; ids of sessions do not count."""
        own = without_session(url)
        lines = self._segments.find(key_of(own), is_prefix=own != url)
        found = sorted(
            map(ReplayedCapture.of, islice(lines, _MOST_LINES)), key=lambda one: one.timestamp
        )
        return [one for one in found if without_session(one.url) == own]

    def where_it_leads(self, url: str, until: str = _EVER) -> ReplayedCapture | None:
        """Return what an address led to, after its redirects; a revisit is what it refers to.

        Args:
            until: The time; the latest captures up to it count, later ones if there are none.
        """
        seen: set[str] = set()
        while url not in seen and len(seen) <= _MOST_REDIRECTS:
            seen.add(url)
            one = latest(self.of(url), until)
            if one is None or not one.redirect:
                return one
            url = one.redirect
        return None

    def with_body(self, url: str, digest: str) -> ReplayedCapture:
        """Return the first capture of an address that has a body of this digest.

        Raises:
            CaptureUnreadable: The index has none.
        """
        for one in self.of(url):
            if not one.is_revisit and one.digest == digest:
                return one
        raise CaptureUnreadable(url, "the index has no such capture")

    def begin(self, one: ReplayedCapture, most: int) -> ArchivedAnswer:
        """Read the headers and the begin of a body.

        Raises:
            CaptureUnreadable: It is not where the index says.
        """
        headers, pieces = self._opened(one)
        content = bytearray()
        with suppress(CodingBroken, ResponseTooLarge):
            for piece in decoded(pieces, headers.get("content-encoding", ""), most, one.url):
                content += piece
        pieces.close()
        return ArchivedAnswer(headers, bytes(content))

    def staged(self, silo: Silo, one: ReplayedCapture) -> "StagedBody":
        """Copy a body, without its content coding, into the staging directory of a Silo.

        Raises:
            CaptureUnreadable: It is not where the index says, or has another digest.
            OSError: The disk refused.
        """
        headers, pieces = self._opened(one)
        sha1 = hashlib.sha1(usedforsecurity=False)

        def hashed() -> Iterator[bytes]:
            for piece in pieces:
                sha1.update(piece)
                yield piece

        body, path = hashed(), silo.staging.new_path()
        try:
            content = decoded(body, headers.get("content-encoding", ""), MAX_SIZE, one.url)
            digest = write_new(path, content, StrictBarrier())
            for _ in body:
                pass
        except (CodingBroken, ResponseTooLarge) as error:
            raise CaptureUnreadable(one.url, str(error)) from None
        found = StagedBody(silo, Staged(path, digest), headers)
        if b32encode(sha1.digest()).decode() != one.digest:
            found.discard()
            raise CaptureUnreadable(one.url, "its digest is not that of the index")
        return found

    def _opened(self, one: ReplayedCapture) -> tuple[dict[str, str], "_Pieces"]:
        with ExitStack() as stack:
            try:
                file = stack.enter_context(self._archives.open(one.filename))
                file.seek(one.offset)
                record = next(iter(warc_records(file)))
            except FileNotFoundError:
                raise CaptureUnreadable(one.url, f"there is no {one.filename}") from None
            except OSError as error:  # a pipe, or a file that may not be read; no path for a page
                reason = error.strerror or "it cannot be read"
                raise CaptureUnreadable(one.url, reason) from None
            except (*DAMAGED, StopIteration, PlacesInvalid, PackageMissing) as error:
                raise CaptureUnreadable(one.url, str(error) or "no record") from None
            if record.rec_headers.get_header("WARC-Target-URI") != one.url:
                raise CaptureUnreadable(one.url, "another record is there")
            headers = _headers(record)
            pieces = _Pieces(one.url, record.raw_stream, stack.pop_all())
        return headers, pieces


@dataclass(frozen=True, slots=True)
class StagedBody:
    """A body in the staging directory; `discard` it after use.

    Attributes:
        staged: The file.
        headers: See `ArchivedAnswer`; with the fields of its record, such as ``warc-truncated``.
    """

    _silo: Silo
    staged: Staged
    headers: Mapping[str, str]

    def discard(self) -> None:
        """Remove the file."""
        self._silo.staging.discard(self.staged.path)

    def __enter__(self) -> "StagedBody":
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


class _Pieces:
    """The body of a record, piece by piece; its file is closed at the end."""

    def __init__(self, url: str, stream: Any, stack: ExitStack) -> None:
        self._url, self._stream, self._stack = url, stream, stack

    def __iter__(self) -> Iterator[bytes]:
        try:
            while piece := self._stream.read(_CHUNK):
                yield piece
        except DAMAGED as error:
            raise CaptureUnreadable(self._url, str(error)) from None
        finally:
            self.close()

    def close(self) -> None:
        self._stack.close()


def _headers(record: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    lines: Iterable[tuple[str, str]] = record.http_headers.headers if record.http_headers else ()
    for name, value in (*record.rec_headers.headers, *lines):
        known = name.lower()
        found[known] = f"{found[known]}, {value}" if known in found else value
    return found


def latest(found: list[ReplayedCapture], until: str) -> ReplayedCapture | None:
    """The latest capture up to a time, or the first one; of a revisit, what it refers to."""
    if not found:
        return None
    before = [one for one in found if one.timestamp <= until]
    one = before[-1] if before else found[0]
    if not one.is_revisit:
        return one
    return next((two for two in found if not two.is_revisit and two.digest == one.digest), one)
