"""Take in WARC and WACZ files of elsewhere: copies in the archives, with lines in the index.

A copy has its name from its digest, so the same file is taken in once. What was begun and not
ended is taken up by the next import. Files may say anything: no name of theirs is used, nothing
is larger in memory than a piece, and what unpacks to far more than it is is refused.

Source: WACZ 1.1.1; WARC 1.1 (ISO 28500:2017).
"""

import hashlib
import json
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from errno import EINVAL
from typing import IO, Any, BinaryIO
from urllib.parse import urljoin

from crawlmatch.warcs import DAMAGED, Capture, capture_of
from politeweb.warc.files import next_record
from politeweb.warc.records import is_framed, warc_records
from recordsilo.batches import batched
from recordsilo.disk.atomic_file import append_lines, flush_directory, make_within
from recordsilo.disk.locks import Locks
from recordsilo.disk.regular_file import regular_fd
from silocrawl.cdxj import Segments, line_of
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.errors import CrawlingError
from silocrawl.paths import archives_directory, imported_file, index_directory
from silocrawl.quick_captures import Unusual, quick_captures

MOST_TIMES, MOST_PARTS, MOST_DESCRIBED = 100, 10_000, 16 << 20
"""How many times larger than a file its parts may be; how many; bytes of a datapackage.json."""
MOST_RECORD, LONGEST_URL, MOST_DAMAGED = 100_000_000_000, 8_000, 1_000
_PART = re.compile(r"archive/[^/]+\.warc(?:\.gz)?")
_OTHER_PART = re.compile(r"archive/.+\.w?arc(?:\.[a-z0-9]+)?", re.IGNORECASE)
"""An archive that is not read: below another directory, or packed otherwise."""
_DESCRIPTION = "datapackage.json"
_LOCAL_FILE = b"PK\x03\x04"
"""The begin of a ZIP file that has files in it; whether it is one, its end says."""
_GZIP, _PIECE, _TOGETHER = b"\x1f\x8b\x08", 1 << 20, 20_000
_BROKEN_ZIP = zipfile.BadZipFile, zlib.error, struct.error, EOFError, UnicodeDecodeError
"""What `zipfile` raises for damaged files."""
_READ_BY_US, _ENCRYPTED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}, 1

Progress = Callable[[int], object]


class ImportRefused(CrawlingError):
    """A file that cannot be taken in."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A WARC file that was taken in.

    Attributes:
        source: Where from.
        name: Of the copy.
        captures: Lines in the index.
        damaged: Places that cannot be read.
        is_new: Whether it was not there before.
    """

    source: str
    name: str
    captures: int
    damaged: int
    is_new: bool = True


@contextmanager
def importing(silo_path: str) -> Iterator[None]:
    """Import during the block.

    Raises:
        ImportRefused: Another process imports into the Silo.
    """
    with Locks.of_silo(silo_path).hold_name_if_free("crawl-import") as is_free:
        if not is_free:
            raise ImportRefused("another import into this Silo is running; try again later")
        yield


def take_in(silo_path: str, path: str, progress: Progress = lambda _: None) -> Iterator[TakenIn]:
    """Take in a file; called within `importing`.

    Args:
        path: A WARC file, compressed record by record or not at all, or a WACZ.
        progress: Called with the number of captures of a WARC file that were read.

    Yields:
        Each WARC file after it was copied and indexed, durably.

    Raises:
        ImportRefused: It is neither, or not to be trusted; what was yielded stays.
        OSError: It cannot be read, or the disk refused.
    """
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            file.seek(0)
            begin = file.read(len(_LOCAL_FILE))
            if begin == _LOCAL_FILE:
                raise ImportRefused(
                    f"{path} is cut short: it begins as a WACZ, and its end is missing;"
                    " copy or download it again"
                )
            file.seek(0)
            yield _take_in(silo_path, file, path, "", progress)
            return
        try:
            with zipfile.ZipFile(file) as archive:
                for info, digest in _parts(archive, os.fstat(file.fileno()).st_size, path):
                    with archive.open(info) as part:
                        source = f"{path}/{info.filename}"
                        yield _take_in(silo_path, part, source, digest, progress)
        except (*_BROKEN_ZIP, OSError) as error:
            if isinstance(error, OSError) and error.errno != EINVAL:
                raise
            raise ImportRefused(f"{path} is damaged: {error}") from None  # EINVAL: a place below 0


def _parts(archive: zipfile.ZipFile, size: int, path: str) -> list[tuple[zipfile.ZipInfo, str]]:
    """The WARC files in a WACZ, each with its SHA-256 as the file says it; else empty."""
    found = [info for info in archive.infolist() if _PART.fullmatch(info.filename)]
    if not found:
        raise ImportRefused(f"{path} is not a WACZ: it has no WARC file in archive/")
    for name in archive.namelist():
        if _OTHER_PART.fullmatch(name) and not _PART.fullmatch(name):
            raise ImportRefused(
                f"{path} has {name}, and only .warc and .warc.gz directly in archive/ are read; "
                "nothing of it was taken in"
            )
    if len(found) > MOST_PARTS or sum(one.file_size for one in found) > MOST_TIMES * size:
        raise ImportRefused(
            f"{path} would unpack to more than {MOST_PARTS:,} files, or to more than"
            f" {MOST_TIMES} times its size; it was not read"
        )
    for one in (*found, *(one for one in archive.infolist() if one.filename == _DESCRIPTION)):
        if one.compress_type not in _READ_BY_US or one.flag_bits & _ENCRYPTED:
            raise ImportRefused(f"{path} is encrypted, or compressed otherwise than by deflate")
    digests = _digests(archive, path)
    return [(one, digests.get(one.filename, "")) for one in found]


def _digests(archive: zipfile.ZipFile, path: str) -> dict[str, str]:
    try:
        with archive.open(_DESCRIPTION) as file:
            table = json.loads(file.read(MOST_DESCRIBED))
        said = {str(one["path"]): str(one["hash"]) for one in table["resources"]}
    except KeyError:
        return {}
    except (ValueError, TypeError, RecursionError):
        raise ImportRefused(f"{path} has a datapackage.json that cannot be read") from None
    return {name: one[7:] for name, one in said.items() if one.startswith("sha256:")}


# --------------------------------------------------------------------------- one WARC file


def _take_in(
    silo_path: str, file: IO[bytes], source: str, expected: str, progress: Progress
) -> TakenIn:
    directory = archives_directory(silo_path)
    make_within(silo_path, directory)
    staged = os.path.join(directory, "import.tmp")
    try:
        digest, begin = _copy(file, staged)
        ending = _ending(begin, source)
        if expected and digest != expected:
            raise ImportRefused(f"{source} is damaged: its SHA-256 is not that of datapackage.json")
        name = f"imported-{digest[:32]}{ending}"
        target, known = os.path.join(directory, name), _known(silo_path).get(digest)
        if known is not None and os.path.exists(target):
            return TakenIn(source, name, known["captures"], known["damaged"], is_new=False)
        _check_members(staged, source)
        os.rename(staged, target)
        flush_directory(directory)
    finally:
        if os.path.exists(staged):
            os.unlink(staged)
    captures, damaged = _index(silo_path, target, progress)
    done = TakenIn(source, name, captures, damaged)
    row = {
        "sha256": digest,
        "file": name,
        "from": source,
        "captures": captures,
        "damaged": damaged,
        "imported": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    append_lines(imported_file(silo_path), [json.dumps(row).encode()], silo_path)
    return done


def _copy(file: IO[bytes], path: str) -> tuple[str, bytes]:
    """Copy a file durably; return its SHA-256 and its first bytes."""
    digest, begin = hashlib.sha256(), b""
    with open(path, "wb") as copy:
        while piece := file.read(_PIECE):
            begin = begin or piece[:8]
            digest.update(piece)
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())
    return digest.hexdigest(), begin


def _ending(begin: bytes, source: str) -> str:
    if not begin:
        raise ImportRefused(f"{source} is empty")
    if begin.startswith(b"WARC/1."):
        return ".warc"
    if begin.startswith(_GZIP):
        return ".warc.gz"
    raise ImportRefused(f"{source} is neither a WARC file (plain or under gzip) nor a WACZ")


def _check_members(path: str, source: str) -> None:
    """Refuse a file whose first record cannot be read, or is compressed with others."""
    with open(path, "rb") as file:
        records = warc_records(file)
        try:
            first: Any = next(records, None)
            is_packed = records.reader is not None and records.reader.decompressor is not None
            records.read_to_end()
            is_one = is_packed and bool(records.next_line)
        except DAMAGED:
            first, is_one = None, False
    if first is None:
        raise ImportRefused(f"{source} is not a WARC file: its first record cannot be read")
    if is_one:
        raise ImportRefused(
            f"{source} is compressed as a whole, so no record of it can be found;"
            " import what warcio recompress makes of it"
        )


def _known(silo_path: str) -> dict[str, dict[str, Any]]:
    """What was taken in, by its SHA-256; a line that a crash cut off is ignored.

    Raises:
        ImportRefused: The file has something else.
    """
    path = imported_file(silo_path)
    try:
        with open(path, encoding="utf-8", opener=regular_fd) as file:
            rows = [json.loads(line) for line in file if line.endswith("\n")]
        return {row["sha256"]: _checked(row) for row in rows}
    except FileNotFoundError:
        return {}
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ImportRefused(
            f"{path} is damaged; remove it, and import again what is to be taken in:"
            " what is here already is not copied twice"
        ) from None


def _checked(row: dict[str, Any]) -> dict[str, Any]:
    """A line of it.

    Raises:
        TypeError, KeyError: It is none.
    """
    if not (isinstance(row["captures"], int) and isinstance(row["damaged"], int)):
        raise TypeError
    return row


def _index(silo_path: str, path: str, progress: Progress) -> tuple[int, int]:
    """Index a file; return how many captures it has, and damaged places."""
    name, count = os.path.basename(path), 0
    damage: list[int] = []
    with open(path, "rb") as file:
        for some in batched(lines_of_warc(file, name, damage), _TOGETHER):
            Segments(index_directory(silo_path), silo_path).add(some)
            count += len(some)
            progress(count)
    return count, len(damage)


def capture_at(file: BinaryIO, offset: int) -> Capture | None:
    """Return the capture whose record begins somewhere in a file; None if it is no capture.

    Raises:
        DAMAGED: It is damaged, incomplete, or there is none.
    """
    file.seek(offset)
    records = warc_records(file)
    record = next(records, None)
    if record is None:
        raise EOFError("no record is there")
    if (record.length or 0) > MOST_RECORD:
        raise ValueError("a record is too long")
    found = capture_of(record)
    records.get_record_offset()  # reads the record to its end
    if not is_framed(record, records):
        raise ValueError("a record is incomplete")
    length = records.get_record_length()
    records.the_iter.close()  # which refers to the records, and would keep their buffers
    return replace(found, offset=offset, length=length) if found is not None else None


def line_at(file: BinaryIO, name: str, offset: int) -> str | None:
    """Return the line of the record at a place for the index; None if the index has none of it.

    Raises:
        DAMAGED: See `capture_at`.
    """
    found = capture_at(file, offset)
    return None if found is None else next(_lines([found], name), None)


def lines_of_warc(file: BinaryIO, name: str, damage: list[int], begin: int = 0) -> Iterator[str]:
    """Yield the lines of a WARC file for the index, in the order of its records.

    Args:
        file: It can seek.
        name: Under which the index has it.
        damage: Gets the places that cannot be read; what follows them is read again.
        begin: Where the first record is.
    """
    return _lines(_quickly(file, damage, begin), name)


def _quickly(file: BinaryIO, damage: list[int], begin: int) -> Iterator[Capture]:
    """The same as `_captures`, of which it reads what is usual in less time."""

    def one_at(offset: int) -> Capture | None:
        try:
            return capture_at(file, offset)
        except DAMAGED:
            raise Unusual(offset) from None

    try:
        yield from quick_captures(file, begin, one_at)
    except Unusual as unusual:
        yield from _captures(file, damage, unusual.offset)


def _captures(file: BinaryIO, damage: list[int], at: int) -> Iterator[Capture]:
    """Yield the captures of a file; go on with the next record after a damaged one."""
    file.seek(0)
    is_packed = file.read(2) == b"\x1f\x8b"
    size = file.seek(0, os.SEEK_END)
    begin: int | None = at
    while begin is not None and len(damage) < MOST_DAMAGED:
        start = file.seek(begin)
        records = warc_records(file)
        try:
            for record in records:
                if is_packed and records.reader.decompressor is None:
                    # warcio takes a first member that it cannot unpack for a plain record
                    raise ValueError("a record cannot be unpacked")
                if (record.length or 0) > MOST_RECORD:
                    raise ValueError("a record is too long")
                found = capture_of(record)
                place = records.get_record_offset()  # reads the record to its end
                if not is_framed(record, records):
                    raise ValueError("a record is incomplete")
                start = max(start, records.offset)
                if found is not None:
                    yield replace(found, offset=place, length=records.get_record_length())
            if start < size:
                damage.append(start)
            begin = None
        except DAMAGED:
            damage.append(start)
            begin = next_record(file, start + 1)


def _lines(captures: Iterable[Capture], name: str) -> Iterator[str]:
    for one in captures:
        if len(one.url) > LONGEST_URL:
            continue
        try:
            redirect = urljoin(one.url, one.redirect) if one.redirect else ""
            yield line_of(outcome_of(one, name, redirect[:LONGEST_URL]), one.length)
        except ValueError:
            continue  # an address that no index can have


def outcome_of(one: Capture, name: str, redirect: str) -> CrawlOutcome:
    """What the index has of a capture.

    Args:
        name: Of its file.
        redirect: Where it leads to.
    """
    return CrawlOutcome(
        timestamp=one.ts,
        url=one.url,
        status_code=one.status,
        mimetype=one.mime or "unknown",
        content_digest=one.sha1,
        warc_filename=name,
        warc_offset=one.offset,
        redirect=redirect,
        annotations=("duplicate:digest",) if one.is_revisit else (),
    )
