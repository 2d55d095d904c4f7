"""Read exchanges from WARC files, in the order in which they were recorded.

The content of every record is checked against its digest.

Source: WARC 1.1 (ISO 28500:2017), sections 5 and 6.
"""

import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO

from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed

from politeweb.answers import Answer, number_of
from politeweb.codings import CodingBroken, unpack
from politeweb.errors import ResponseTooLarge, WarcUnreadable, shortened
from politeweb.settings import MAX_RESPONSE
from politeweb.warc.files import ends_within_record, next_record
from politeweb.warc.pairs import CUT
from politeweb.warc.records import MAX_HEAD, is_framed, warc_records

Said = Callable[[str], str | None]
"""Name of a record's field → its value; case-insensitive."""
Unpack = Callable[[bytes, str, int, str], bytes]
"""See `politeweb.codings.unpack`."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded response.

    Attributes:
        where: File and place of the record, for messages.
        said: The fields of its record.
    """

    answer: Answer
    where: str
    said: Said


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged part of a file.

    Attributes:
        where: File and place.
        reason: What is wrong.
        is_end: Whether the file is only truncated, as after a kill.
        skipped: Number of bytes skipped.
    """

    where: str
    reason: str
    is_end: bool = False
    skipped: int = 0

    def __str__(self) -> str:
        return f"{self.where} {self.reason}"


@dataclass(frozen=True, slots=True)
class About:
    """The fields of a file's ``warcinfo``, names in lower case."""

    fields: Mapping[str, str] = field(default_factory=dict)


def _none(_directory: str) -> Collection[str]:
    return ()


def warc_paths(
    sources: Iterable[str], elsewhere: Callable[[str], Collection[str]] = _none
) -> list[str]:
    """Return the WARC files of paths of files and directories; those of a directory by name.

    The names of files written here sort in the order of writing.

    Args:
        elsewhere: Directory → names of files that can be read as if they were in it.

    Raises:
        WarcUnreadable: A path does not exist, or a directory has no such files.
    """
    found: list[str] = []
    for source in sources:
        is_directory = os.path.isdir(source)
        directory = source if is_directory else os.path.dirname(source)
        away = elsewhere(directory)
        if is_directory:
            names = {*os.listdir(source), *away}
            inside = sorted(name for name in names if name.endswith((".warc", ".warc.gz")))
            if not inside:
                raise WarcUnreadable(source, "has no .warc or .warc.gz file")
        else:
            inside = [os.path.basename(source)]
        for name in inside:
            path = os.path.join(directory, name)
            if name not in away and not os.path.isfile(path):
                raise WarcUnreadable(path, "does not exist")
            found.append(path)
    return found


def read_exchanges(
    path: str, wanted: Callable[[Said], bool], limit: int = MAX_RESPONSE, unpack: Unpack = unpack
) -> Iterator[Recorded | Damaged | About]:
    """Read one file.

    Args:
        path: A file, compressed record by record or not at all.
        wanted: Whether to read a response, called before its content is read.
        limit: Most bytes of one response.
        unpack: Decodes content codings.

    Yields:
        Each response after its content was read completely, and damaged parts in order.
        Reading continues with the next record that can be found.

    Raises:
        WarcUnreadable: The file cannot be opened, or is not a WARC file.
    """
    name = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            yield from _records(file, name, _WarcReading(wanted, limit, unpack))
    except OSError as error:
        raise WarcUnreadable(path, f"cannot be read: {error.strerror or error}") from error


def read_exchange_at(
    path: str, place: int, limit: int = MAX_RESPONSE, unpack: Unpack = unpack
) -> Answer:
    """Read the first response from a place on, which `WarcFiles.append` returned.

    Raises:
        WarcUnreadable: There is none, or it is damaged.
    """
    how = _WarcReading(lambda _: True, limit, unpack)
    where = f"the record at byte {place:,}"
    try:
        with open(path, "rb") as file:
            file.seek(place)
            records = warc_records(file, check_digests=True)
            for record in records:
                found = _read(record, where, how)
                records.read_to_end()
                if isinstance(found, Damaged) or not is_framed(record, records):
                    raise WarcUnreadable(path, f"is damaged: {found or where}")
                if isinstance(found, Recorded):
                    return found.answer
    except OSError as error:
        raise WarcUnreadable(path, f"cannot be read: {error.strerror or error}") from error
    except _MALFORMED as error:
        raise WarcUnreadable(path, f"is damaged at byte {place:,}: {_in_words(error)}") from error
    raise WarcUnreadable(path, f"has no response from byte {place:,} on")


@dataclass(frozen=True, slots=True)
class _WarcReading:
    wanted: Callable[[Said], bool]
    limit: int
    unpack: Unpack


_MALFORMED = (
    ArchiveLoadFailed, EOFError, ValueError, AttributeError, TypeError, OverflowError, zlib.error,
)  # fmt: skip
"""Errors of warcio 1.8 for a malformed record: AttributeError without a target URI, TypeError for
a digest of an unknown algorithm, OverflowError for a length beyond 2**63."""


class _Incomplete(ValueError):
    """A record has a wrong length, or none."""


def _records(file: BinaryIO, name: str, how: _WarcReading) -> Iterator[Recorded | Damaged | About]:
    number, size = 0, os.fstat(file.fileno()).st_size
    begin: int | None = 0
    while begin is not None:
        start = file.seek(begin)
        records = warc_records(file, check_digests=True)
        try:
            for record in records:
                found = _read(record, f"record {number + 1} of {name}", how)
                records.read_to_end()
                is_whole = is_framed(record, records)
                is_told = is_whole or record.digest_checker.passed is not None
                if found is not None and is_told:
                    yield found
                if not is_whole:
                    raise _Incomplete("it is incomplete")
                number += 1
                start = records.offset
            if start < size:
                raise _Incomplete("it is incomplete")
            begin = None
        except _MALFORMED as error:
            begin = next_record(file, start + 1)
            is_last = begin is None and isinstance(error, _Incomplete) and not records.err_count
            if is_last and ends_within_record(file, start):
                yield Damaged(name, "ends in a half-written record", is_end=True)
                return
            if begin is None and number == 0:
                raise WarcUnreadable(file.name, "is not a WARC file") from error
            skipped = (size if begin is None else begin) - start
            reason = f"cannot be read ({_in_words(error)}); {skipped:,} bytes are skipped"
            yield Damaged(f"what follows record {number} of {name}", reason, skipped=skipped)
    if size == 0:
        yield Damaged(name, "is empty", is_end=True)


def _in_words(error: Exception) -> str:
    return shortened(" ".join(str(error).split()))


def _read(record: Any, where: str, how: _WarcReading) -> Recorded | Damaged | About | None:
    """Read one record; None if it is not relevant."""
    if record.rec_type == "warcinfo":
        return About(_fields(record.raw_stream.read(MAX_HEAD)))
    if record.rec_type != "response" or record.http_headers is None:
        return None
    said = record.rec_headers.get_header
    if not how.wanted(said):
        return None
    limit = how.limit
    raw = _content(record, limit)
    if len(raw) > limit:
        return Damaged(where, f"is longer than {limit:,} bytes")
    if record.digest_checker.passed is False:
        return Damaged(where, "has another digest than the recorded one")
    try:
        answer = _answer(record, raw, how)
    except ResponseTooLarge as error:
        what = "more" if error.memory is None else "content that takes more memory"
        return Damaged(where, f"decodes to {what} than {limit:,} bytes allow")
    return Recorded(answer, where, said)


def _fields(content: bytes) -> dict[str, str]:
    lines = content.decode("utf-8", "replace").splitlines()
    parts = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, colon, value in parts if colon}


def _content(record: Any, limit: int) -> bytes:
    """Return the content as sent, up to just beyond the limit; stored chunks are joined."""
    coding = record.http_headers.get_header("transfer-encoding") or ""
    chunked = coding.lower() == "chunked"
    stream = ChunkedDataReader(record.raw_stream) if chunked else record.raw_stream
    pieces = []
    size = 0
    while size <= limit and (piece := stream.read(1 << 20)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _answer(record: Any, raw: bytes, how: _WarcReading) -> Answer:
    said = record.rec_headers.get_header
    headers: dict[str, str] = {}
    for name, value in record.http_headers.headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    url, cut = said("WARC-Target-URI") or "", said(CUT) or ""
    try:
        body = how.unpack(raw, headers.get("content-encoding", ""), how.limit, url)
    except CodingBroken as broken:
        body, cut = broken.got, cut or str(broken)
    packed = None if body is raw else raw
    status = record.http_headers.get_statuscode()
    return Answer(
        body,
        url,
        number_of(status) or 200,
        headers,
        packed,
        _moment(said("WARC-Date")),
        cut,
    )


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
