"""Add the full texts in WARCs to curated versions of their records, each once.

A file is staged while it is read, and its digest compared with the one in the crawler's log.
It is added to its record completely, with a note on its origin in the record's metadata under
`NOTES`. After a kill, the next run continues with the next file.
"""

import base64
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, BinaryIO
from urllib.parse import unquote

from crawlmatch.errors import CrawlError
from crawlmatch.inputs import kind_of_file
from crawlmatch.kept import Crawl
from crawlmatch.receipts import InputKind
from crawlmatch.warcs import DAMAGED, capture_of, opened_warc
from politeweb.addresses import parts_of
from politeweb.warc.records import warc_records
from recordsilo import Silo
from recordsilo.disk.atomic_file import Staged, StrictBarrier, write_new
from recordsilo.disk.digest import Digest
from recordsilo.errors import RecordNotFound
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import Json, Manifest

NOTES = "crawled_files"
DIRECTORY = "files"
WORKING_COPY = "workingcopy"
AGENT = "silo crawl attach"
MAX_SIZE = 2 << 30
_EXTENSIONS = {"application/pdf": ".pdf", "application/postscript": ".ps"}
_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|%]+")
_WARCS = (".warc", ".warc.gz", ".warc.zst")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class WantedText:
    """A full text that a record has a link to."""

    identifier: str
    initial_url: str
    final_url: str
    sha1: str
    mimetype: str


@dataclass(slots=True)
class AttachReceipt:
    """The result of `attach`.

    Attributes:
        attached: Number of files added to records.
        present: Number of links whose file was already in its record.
        absent: (identifier, address) of links whose full text is in none of the WARCs.
        unknown: Identifiers that are not in the Silo.
        refused: (identifier, address, reason) of files that could not be added.
        broken: WARCs that are truncated or have a malformed record.
    """

    attached: int = 0
    present: int = 0
    absent: list[tuple[str, str]] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether each link of a record in the Silo has its file."""
        return not (self.absent or self.refused or self.broken)

    def count(self, one: WantedText, put: "Put") -> None:
        """Note what became of a file."""
        if put is Put.DONE:
            self.attached += 1
        elif put is Put.PRESENT:
            self.present += 1
        elif put is Put.UNKNOWN:
            self.unknown.add(one.identifier)
        else:
            self.refused.append((one.identifier, one.final_url, put.value))

    def to_json(self) -> dict[str, Any]:
        """Return the receipt as JSON values."""
        return {
            "attached": self.attached, "present": self.present,
            "absent": [list(one) for one in self.absent], "unknown": sorted(self.unknown),
            "refused": [list(one) for one in self.refused], "broken": list(self.broken),
        }  # fmt: skip


def attach(
    silo: Silo, crawl: Crawl, warcs: Iterable[str], *, identifiers: Iterable[str] = ()
) -> AttachReceipt:
    """Add the full texts of a crawl to the records that link to them.

    A file is added to the current version if it is a working copy, else to a new copy of it named
    ``workingcopy``.

    Args:
        warcs: WARC files, and directories with such files.
        identifiers: Only these records; if empty, all.

    Raises:
        CrawlError: An input is not a WARC; nothing is added.
        OSError: A WARC cannot be read, or the disk refused; files added before are kept.
    """
    paths = list(_files(warcs))
    for path in paths:
        if os.path.getsize(path) and kind_of_file(path) is not InputKind.WARC:
            raise CrawlError(f"{path} is not a WARC; name WARC files, or directories with such")
    receipt = AttachReceipt()
    left = _wanted(silo, crawl, frozenset(identifiers), receipt)
    for path in paths:
        with opened_warc(path) as file:
            try:
                for record, offset in _records(file):
                    where = f"{os.path.basename(path)}:{offset}"
                    _take(silo, crawl, record, where=where, left=left, receipt=receipt)
            except DAMAGED:
                receipt.broken.append(path)
    receipt.absent = sorted(
        (one.identifier, one.final_url) for wanted in left.values() for one in wanted
    )
    return receipt


def _wanted(
    silo: Silo, crawl: Crawl, only: frozenset[str], receipt: AttachReceipt
) -> dict[str, list[WantedText]]:
    """Return the missing full texts: final address → the links that lead to it."""
    rows = crawl.rows(
        "SELECT identifier, initial_url, final_url, final_sha1, final_mimetype FROM crawl_result"
        " WHERE hit = 1 AND terminal IS NOT NULL AND identifier IS NOT NULL"
        " ORDER BY identifier, initial_url, terminal"
    )
    found: dict[str, list[WantedText]] = defaultdict(list)
    noted: tuple[str, frozenset[str]] = ("", frozenset())
    for row in rows:
        try:
            identifier = silo.resolve(row["identifier"])
        except RecordNotFound:
            receipt.unknown.add(row["identifier"])
            continue
        if only and identifier not in only:
            continue
        if noted[0] != identifier:
            noted = (identifier, _have(silo[identifier].state))
        if row["final_url"] in noted[1]:
            receipt.present += 1
        else:
            found[row["final_url"]].append(
                WantedText(
                    identifier, row["initial_url"], row["final_url"], row["final_sha1"] or "",
                    row["final_mimetype"] or "",
                )
            )  # fmt: skip
    return found


def _have(manifest: Manifest) -> frozenset[str]:
    """Return the addresses whose files are in the record, from here or from `silo fetch-files`."""
    return frozenset(
        str(note.get("final_url") or note.get("url"))
        for key in (NOTES, "fetched_files")
        for note in _notes(manifest.metadata, key)
        if manifest.has(str(note.get("version")))
        and note.get("path") in manifest.version(str(note.get("version"))).paths
    )


def _notes(metadata: Mapping[str, Json], key: str) -> list[dict[str, Json]]:
    found = metadata.get(key)
    return [dict(one) for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _files(warcs: Iterable[str]) -> Iterator[str]:
    for path in warcs:
        if os.path.isdir(path):
            names = sorted(os.listdir(path))
            yield from (f"{path}/{name}" for name in names if name.endswith(_WARCS))
        else:
            yield path


def _records(file: BinaryIO) -> Iterator[tuple[Any, int]]:
    iterator = warc_records(file)
    for record in iterator:
        yield record, iterator.offset  # get_record_offset reads the record to its end


def _take(
    silo: Silo,
    crawl: Crawl,
    record: Any,
    *,
    where: str,
    left: dict[str, list[WantedText]],
    receipt: AttachReceipt,
) -> None:
    """Add the content of a WARC record to each record that links to it."""
    capture = capture_of(record)
    if capture is None or capture.is_revisit or not 200 <= capture.status < 300:
        return
    wanted = [one for one in left.get(capture.url, ()) if not one.sha1 or one.sha1 == capture.sha1]
    if not wanted:
        return
    path = silo.staging.new_path()
    content = _Content(record.content_stream(), MAX_SIZE)
    try:
        staged = Staged(path, write_new(path, content, StrictBarrier()))
    except _TooLarge:
        for one in wanted:
            receipt.refused.append((one.identifier, one.final_url, "it is larger than 2 GiB"))
        _settle(left, wanted)
        return
    try:
        if capture.sha1 and content.comparable and content.sha1 != capture.sha1:
            reason = f"its content in {where} differs from the digest in the crawl log"
            receipt.refused += [(one.identifier, one.final_url, reason) for one in wanted]
        else:
            source = FileSource(crawl.name, capture.ts, capture.sha1, where)
            for one in wanted:
                receipt.count(one, put_file(silo, one, source, staged))
        _settle(left, wanted)
    finally:
        silo.staging.discard(path)


def _settle(left: dict[str, list[WantedText]], done: list[WantedText]) -> None:
    for one in done:
        left[one.final_url].remove(one)


class Put(Enum):
    """What `put_file` did."""

    DONE = "added"
    PRESENT = "it was there"
    UNKNOWN = "there is no such record"
    REFUSED = "its record has a working copy that is not its current version"


@dataclass(frozen=True, slots=True)
class FileSource:
    """Where a file comes from, for the note in its record.

    Attributes:
        crawl: Name of the crawl.
        date: When it was captured; 14 digits.
        sha1: Of its body as the crawler says it, in base 32.
        warc: Name of the archive and place in it, separated by a colon.
        agent: Who adds it.
        more: What else the note says.
    """

    crawl: str
    date: str
    sha1: str
    warc: str
    agent: str = AGENT
    more: Mapping[str, Json] = field(default_factory=dict)


def put_file(silo: Silo, one: WantedText, source: FileSource, staged: Staged) -> Put:
    """Add a file to a record, with a note on its origin, once.

    It is there already if the record has a file from that address, or its current version a file
    of the same content. The staged file stays.

    Raises:
        OSError: The disk refused; the record is unchanged.
    """
    with silo.editing(one.identifier) as edit:
        if not edit.exists:
            return Put.UNKNOWN
        if has_file(edit, one.final_url, staged.digest):
            return Put.PRESENT
        current = edit.manifest.current
        if not current.is_curated and edit.manifest.has(WORKING_COPY):
            return Put.REFUSED
        _make_current_curated(edit, source)
        put_in_current(silo, edit, one, source, staged)
    return Put.DONE


def put_in_current(
    silo: Silo, edit: RecordEdit, one: WantedText, source: FileSource, staged: Staged
) -> None:
    """Add a file to the current version of a record that is being edited; see `put_file`."""
    version = edit.manifest.current.name
    path = f"{DIRECTORY}/{_file_name(one, edit.manifest.version(version).paths)}"
    with open(staged.path, "rb") as file:
        copy = silo.staging.new_path()
        digest = write_new(copy, iter(lambda: file.read(_CHUNK), b""), StrictBarrier())
    edit.put(version, path, Staged(copy, digest), metadata=False)
    edit.log(version, f"Attached {path} from crawl {source.crawl}: {one.final_url}")
    note: dict[str, Json] = {
        "url": one.initial_url, "final_url": one.final_url, "version": version, "path": path,
        "type": one.mimetype, "date": source.date, "sha1": source.sha1, "crawl": source.crawl,
        "warc": source.warc, **source.more,
    }  # fmt: skip
    edit.set_metadata(NOTES, [*_notes(edit.manifest.metadata, NOTES), note])


def take_file_back(silo: Silo, identifier: str, crawl: str, url: str) -> None:
    """Remove from a record the files that `put_file` added from an address, and their notes.

    Nothing happens if they were removed before. A working copy that was made for a file stays.

    Args:
        crawl: The crawl whose files they are.
        url: Their address, behind redirects.

    Raises:
        OSError: The disk refused; the record is unchanged.
    """
    with silo.editing(identifier) as edit:
        if not edit.exists:
            return
        notes = _notes(edit.manifest.metadata, NOTES)
        ours = [one for one in notes if (one.get("crawl"), one.get("final_url")) == (crawl, url)]
        for one in ours:
            version, path = str(one.get("version")), str(one.get("path"))
            if edit.manifest.has(version) and path in edit.manifest.version(version).paths:
                edit.delete(version, path)
                edit.log(version, f"Removed {path} of crawl {crawl}: {url}")
        if ours:
            edit.set_metadata(NOTES, [one for one in notes if one not in ours])


def has_file(edit: RecordEdit, url: str, digest: Digest) -> bool:
    """Whether a record has a file from an address, or its current version one of that content."""
    digests = edit.manifest.current.digests or {}
    return url in _have(edit.manifest) or digest in digests.values()


def _make_current_curated(edit: RecordEdit, source: FileSource) -> None:
    """Make a working copy for the file, unless the current version is one."""
    current = edit.manifest.current
    if current.is_curated:
        return
    message = f"full texts of crawl {source.crawl}"
    edit.derive_version(
        current.name,
        WORKING_COPY,
        date=current.date,
        origin=new_origin("clone", of=current.name, agent=source.agent, message=message),
        log=f"Cloned version {current.name} for the {message}",
    )


def _file_name(one: WantedText, taken: Iterable[str]) -> str:
    """Return a safe, unused file name made from the last part of the address."""
    names = {path.removeprefix(f"{DIRECTORY}/") for path in taken}
    last = unquote(parts_of(one.final_url).path, errors="replace").rpartition("/")[2]
    name = _UNSAFE.sub("_", last).strip(" .") or "fulltext"
    stem, extension = os.path.splitext(name)
    if not extension or len(extension) > 12:
        stem, extension = name, _EXTENSIONS.get(one.mimetype, "")
    stem = stem.encode()[:100].decode("utf-8", "ignore")
    name, number = f"{stem}{extension}", 1
    while name in names:
        number += 1
        name = f"{stem}-{number}{extension}"
    return name


class _TooLarge(Exception):
    """The content is larger than the limit."""


class _Content:
    """A body that is read, with its digest.

    Attributes:
        comparable: Whether the crawler's digest is that of the bytes read. It is not if the
            body was sent compressed or in chunks: the digest is of the bytes sent.
    """

    def __init__(self, stream: Any, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self._digest = hashlib.sha1(usedforsecurity=False)
        self.comparable = type(stream).__name__ in {"LimitReader", "DigestVerifyingReader"}

    @property
    def sha1(self) -> str:
        """Return the digest in base32, as crawlers write it."""
        return base64.b32encode(self._digest.digest()).decode()

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        while piece := self._stream.read(_CHUNK):
            size += len(piece)
            if size > self._limit:
                raise _TooLarge
            self._digest.update(piece)
            yield piece
