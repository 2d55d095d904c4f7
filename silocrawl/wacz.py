"""Write captures as a web archive of one file (WACZ), which others can replay and check.

Source: WACZ 1.1.1 (specs.webrecorder.net/wacz/1.1.1); CDXJ Index Format, "compressed index".
"""

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any, BinaryIO

from crawlmatch.warcs import DAMAGED
from politeweb.settings import own_name
from politeweb.warc.files import packed
from politeweb.warc.pairs import packed_warcinfo
from politeweb.warc.records import warc_records
from recordsilo.batches import batched
from recordsilo.extras import PackageMissing
from silocrawl.cdxj import key_of
from silocrawl.chosen import REVISIT, ChosenCaptures, IndexLine
from silocrawl.places import Places, PlacesInvalid
from silocrawl.taking_in import capture_at

WARC, INDEX = "data.warc.gz", "index.cdx.gz"
_CAPTURES = frozenset({"response", "revisit", "resource"})
_PAGES = frozenset({"text/html", "application/xhtml+xml", "application/pdf"})
_LINES_TOGETHER, _PIECE, _PROGRESS = 3_000, 1 << 20, 100


@dataclass(slots=True)
class Packed:
    """What was written.

    Attributes:
        captures, pages: How many.
        lost: Address → why it is missing; the first hundred.
        losses: How many are missing.
    """

    captures: int = 0
    pages: int = 0
    lost: dict[str, str] = field(default_factory=dict)
    losses: int = 0

    def lose(self, url: str, reason: str) -> None:
        """Note a capture that is missing."""
        self.losses += 1
        if len(self.lost) < 100:
            self.lost.setdefault(url, reason)


def write_wacz(
    chosen: ChosenCaptures,
    archives: Places,
    file: BinaryIO,
    title: str,
    progress: Callable[[int], object] = lambda _done: None,
) -> Packed:
    """Write captures, with the requests and with the captures that revisits refer to.

    Args:
        archives: Where their WARC files are.
        file: Where to.
        title: Of the archive.
        progress: Called with the number of captures written.

    Raises:
        OSError: The file cannot be written.
    """
    done = Packed()
    with zipfile.ZipFile(file, "w") as archive:
        package = _Package(archive)
        with package.entry(f"archive/{WARC}") as out:
            out.write(packed_warcinfo(WARC, {"isPartOf": title}))
            _write_records(_Archives(archives), chosen, out, done, progress)
        with package.entry(f"indexes/{INDEX}") as out:
            blocks = list(_write_index(chosen, out))
        with package.entry("indexes/index.idx") as out:
            out.write("".join(blocks).encode())
        with package.entry("pages/pages.jsonl") as out:
            done.pages = _write_pages(chosen, out)
        package.end(title)
    return done


# --------------------------------------------------------------------------- records


def _write_records(
    source: "_Archives",
    chosen: ChosenCaptures,
    out: "_Entry",
    done: Packed,
    progress: Callable[[int], object],
) -> None:
    with source:
        for line in chosen.pending():
            place = out.size
            try:
                refers = source.copy(line, out)
            except _Lost as error:
                done.lose(line.fields["url"], str(error))
                chosen.written(line, -1, 0)
                continue
            chosen.written(line, place, out.size - place)
            source.copy_request(line, out)
            if line.fields["mime"] == REVISIT:
                if (origin := chosen.origin_of(line, *refers)) is not None:
                    chosen.add(origin)
                else:
                    done.lose(line.fields["url"], "the capture that it repeats is not in the index")
            done.captures += 1
            if done.captures % _PROGRESS == 0:
                progress(done.captures)


class _Lost(Exception):
    """A record that is not where the index says."""


class _Archives:
    """The WARC files, one of which is open."""

    def __init__(self, places: Places) -> None:
        self._places, self._name = places, ""
        self._stack = ExitStack()
        self._file: BinaryIO

    def __enter__(self) -> "_Archives":
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def copy(self, line: IndexLine, out: "_Entry") -> tuple[str, str]:
        """Copy the record of a line; return address and time (14 digits) that it refers to.

        Raises:
            _Lost: It is not there; nothing was written.
        """
        name, offset = line.place
        try:
            self._open(name)
            said, length = self._head(offset, line.key), self._length(line)
            if self._file.seek(0, os.SEEK_END) < offset + length:
                raise _Lost(f"{name} is truncated")
        except OSError as error:
            raise _Lost(f"{name} cannot be read: {error.strerror or error}") from None
        except (PlacesInvalid, PackageMissing) as error:
            raise _Lost(str(error)) from None
        except DAMAGED:
            raise _Lost(f"{name} is damaged at byte {offset:,}") from None
        self._copy(offset, length, out)
        date = "".join(filter(str.isdigit, said("WARC-Refers-To-Date") or ""))
        return (said("WARC-Refers-To-Target-URI") or "").strip("<>"), date[:14]

    def copy_request(self, line: IndexLine, out: "_Entry") -> None:
        """Copy the request that follows a response, if there is one."""
        offset, length = line.place[1] + self._length(line), 0
        with suppress(*DAMAGED), self._records(offset) as records:
            if _is_about(next(records, None), {"request"}, line.key):
                length = records.get_record_length()
        self._copy(offset, length, out)

    def _open(self, name: str) -> None:
        if name != self._name:
            self._stack.close()
            self._name = ""
            self._file, self._name = self._stack.enter_context(self._places.open(name)), name

    def _length(self, line: IndexLine) -> int:
        """Bytes of a record; of one that was elsewhere when it was indexed, it is read."""
        if line.fields["length"].isdigit():
            return int(line.fields["length"])
        found = capture_at(self._file, line.place[1])
        return found.length if found is not None else 0

    def _head(self, offset: int, key: str) -> Callable[[str], str | None]:
        with self._records(offset) as records:
            record: Any = next(records, None)
            if not _is_about(record, _CAPTURES, key):
                raise _Lost(f"{self._name} has no record of it at byte {offset:,}")
            said: Callable[[str], str | None] = record.rec_headers.get_header
            return said

    @contextmanager
    def _records(self, offset: int) -> Iterator[Any]:
        self._file.seek(offset)
        records = warc_records(self._file)
        try:
            yield records
        finally:
            records.the_iter.close()  # which refers to the records, and would keep their buffers

    def _copy(self, offset: int, length: int, out: "_Entry") -> None:
        self._file.seek(offset)
        is_packed = self._file.read(2) == b"\x1f\x8b"
        self._file.seek(offset)
        pieces = self._pieces(length)
        for piece in pieces if is_packed else packed(pieces):
            out.write(piece)

    def _pieces(self, length: int) -> Iterator[bytes]:
        while length and (piece := self._file.read(min(length, _PIECE))):
            length -= len(piece)
            yield piece


def _is_about(record: Any, kinds: Collection[str], key: str) -> bool:
    if record is None or record.rec_type not in kinds:
        return False
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    return key_of(url.strip("<>")) == key


# --------------------------------------------------------------------------- the other files


def _write_index(chosen: ChosenCaptures, out: "_Entry") -> Iterator[str]:
    """Write the lines in compressed blocks; yield the lines that say where each block is."""
    yield _cdx("!meta 0", {"format": "cdxj-gzip-1.0", "filename": INDEX})
    for some in batched(chosen.lines(WARC), _LINES_TOGETHER):
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
        block = packer.compress("".join(map(str, some)).encode()) + packer.flush()
        digest = f"sha256:{hashlib.sha256(block).hexdigest()}"
        about = {"offset": out.size, "length": len(block), "digest": digest, "filename": INDEX}
        yield _cdx(f"{some[0].key} {some[0].timestamp}", about)
        out.write(block)


def _cdx(begin: str, table: dict[str, Any]) -> str:
    return f"{begin} {json.dumps(table)}\n"


def _write_pages(chosen: ChosenCaptures, out: "_Entry") -> int:
    """Write which captures are pages or documents; return how many."""
    out.write(_json({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}))
    count = 0
    for line in chosen.lines(WARC):
        one = line.fields
        is_page = one["mime"] in _PAGES and one["status"] == "200"
        if is_page and one["url"].startswith("http"):
            known = hashlib.sha256(f"{line.timestamp} {one['url']}".encode()).hexdigest()[:22]
            out.write(_json({"id": known, "url": one["url"], "ts": _date(line.timestamp)}))
            count += 1
    return count


def _date(digits: str) -> str:
    one = digits
    return f"{one[:4]}-{one[4:6]}-{one[6:8]}T{one[8:10]}:{one[10:12]}:{one[12:14]}Z"


def _json(table: dict[str, Any]) -> bytes:
    return json.dumps(table).encode() + b"\n"


class _Package:
    """The zip with the digests of its files."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._now = datetime.now(UTC)
        self._resources: list[dict[str, Any]] = []

    @contextmanager
    def entry(self, path: str) -> Iterator["_Entry"]:
        """A file of the package, stored as it is."""
        info = zipfile.ZipInfo(path, self._now.timetuple()[:6])
        info.external_attr = 0o644 << 16
        with self._archive.open(info, "w", force_zip64=True) as file:
            out = _Entry(file)
            yield out
        name = path.rpartition("/")[2]
        known = {"name": name, "path": path, "hash": out.hash, "bytes": out.size}
        self._resources.append(known)

    def end(self, title: str) -> None:
        """Write what the package contains, and the digest of that."""
        table = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": title,
            "created": f"{self._now:%Y-%m-%dT%H:%M:%SZ}",
            "software": own_name(),
            "resources": [*self._resources],
        }
        with self.entry("datapackage.json") as out:
            out.write(json.dumps(table, indent=2).encode())
        digest = {"path": "datapackage.json", "hash": out.hash}
        with self.entry("datapackage-digest.json") as last:
            last.write(json.dumps(digest, indent=2).encode())


class _Entry:
    """A file of the package, and its digest.

    Attributes:
        size: Bytes written.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._digest = file, hashlib.sha256()
        self.size = 0

    def write(self, content: bytes) -> None:
        """Append."""
        self._file.write(content)
        self._digest.update(content)
        self.size += len(content)

    @property
    def hash(self) -> str:
        """The digest of what was written."""
        return f"sha256:{self._digest.hexdigest()}"
