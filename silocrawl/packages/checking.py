"""Whether all that is said of a package in a store is so, without a Silo and without trust.

Each file is read once. What its bytes are is compared with the receipt, the manifests, METS and
PREMIS; a file that is damaged is named, and not asked about the others. Then what the logs and the
index say is compared with the records.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from crawlmatch.warcs import DAMAGED, plain
from filestores.errors import StoreFailed
from infopackages.containers import BROKEN_ZIP
from infopackages.mets import described_files
from infopackages.premis import described_objects
from recordsilo.wording import counted
from silocrawl.crawl_log import as_word, place_of
from silocrawl.packages.indexing import digests_of
from silocrawl.packages.layout import (
    ARKS,
    CRAWL_LOGS,
    DOCUMENTATION,
    LOGS,
    bag_name,
    cdx_digests_name,
    cdx_name,
    merged_name,
    payload_path,
    places_name,
    receipt_name,
    sip_name,
)
from silocrawl.packages.receipts import (
    MANIFEST,
    TAG_MANIFEST,
    PackageReceipt,
    ReceiptInvalid,
    receipt_of,
)
from silocrawl.packages.record_heads import HeadReader, WantedHeads, iterate
from silocrawl.packages.side_by_side import side_by_side
from silocrawl.packages.store import FileStore
from silocrawl.packages.values import NOT_WELL, Package, PackagingError, StoredFile, Told
from silocrawl.taking_in import line_at

MOST_SMALL = 256 << 20
"""Bytes of a receipt, a manifest or the places, which are read as a whole."""
_LONGEST_LINE = 1 << 20
_MOST_TOLD = 3
_LINE = re.compile(r"([0-9a-f]{128}) [ *](.+)")
_OTHER_THAN_DIGITS = re.compile("[^0-9]+")
_INDEX, _LOG, _UNINDEXED = 0, 1, 2
_PREMIS = re.compile(r"metadata/(?:[^/]+/)*premis[^/]*\.xml")


@dataclass(slots=True)
class CheckedPackage:
    """What was found.

    Attributes:
        package: Its name.
        receipt: Of the store; None if there is none that can be read.
        faults: Sentences, each of which names a file.
        captures: Lines of its index; -1 if all nodes have merged them.
        archived: Lines of its logs whose records were looked for.
        nodes: The access nodes that have it.
    """

    package: str
    receipt: PackageReceipt | None = None
    faults: list[str] = field(default_factory=list)
    captures: int = -1
    archived: int = 0
    nodes: tuple[str, ...] = ()

    def sentence(self, now: str) -> str:
        """One sentence on the package.

        Args:
            now: In ISO 8601, UTC.
        """
        if self.faults:
            more = f"; and {len(self.faults) - _MOST_TOLD:,} more" * (len(self.faults) > _MOST_TOLD)
            return f"{self.package} {NOT_WELL}: {'; '.join(self.faults[:_MOST_TOLD])}{more}"
        assert self.receipt is not None
        size = f"{counted(len(self.receipt.files), 'file')}, {self.receipt.size:,} bytes"
        captures = f", {counted(self.captures, 'capture')}" if self.captures >= 0 else ""
        shown = self.receipt.shown_from
        embargo = f"; under embargo until {shown[:10]}" if shown > now else ""
        nodes = f"; on {', '.join(self.nodes)}" if self.nodes else ""
        return f"{self.package} is well: {size}{captures}{nodes}{embargo}"


def check_package(
    store: FileStore,
    package_id: str,
    *,
    kept: bytes | None = None,
    package: Package | None = None,
    told: Told = lambda _: None,
) -> CheckedPackage:
    """Check a package in a store.

    Args:
        kept: Its receipt, as it was given when it was submitted.
        package: What is known of it in the Silo.
        told: Gets the number of bytes read since the last call.
    """
    found = CheckedPackage(package_id)
    with WantedHeads() as wanted:
        check = _StoreCheck(store, found, package, wanted, told)
        try:
            check.receipt(kept)
            check.files()
            check.descriptions()
            check.index()
            check.logs()
            check.warcs()
        except (PackagingError, StoreFailed, OSError) as error:
            found.faults.append(str(error))
    return found


class _StoreCheck:
    def __init__(
        self,
        store: FileStore,
        found: CheckedPackage,
        package: Package | None,
        wanted: WantedHeads,
        told: Told,
    ) -> None:
        self._store, self._found, self._package = store, found, package
        self._wanted, self._told = wanted, told
        self._id = found.package
        self._expected: Mapping[str, StoredFile] = {}
        self._sound: set[str] = set()
        """Paths in the bag of files that have what the receipt says."""
        self._warcs: dict[str, str] = {}

    def _fault(self, text: str) -> None:
        if text not in self._found.faults:
            self._found.faults.append(text)

    def _name(self, path: str) -> str:
        return bag_name(self._id, path)

    # -- the receipt, and whether the bytes are what it says -------------------------------

    def receipt(self, kept: bytes | None) -> None:
        """Read the receipt; if it is damaged, the kept one is asked.

        Raises:
            PackagingError: There is none that can be read.
        """
        name = receipt_name(self._id)
        content = self._store.read(name, MOST_SMALL)
        if content is None:
            raise PackagingError(
                f"{name} is missing: the package is not complete, or not yet; the step that submits"
                " it goes on where it ended"
            )
        if kept is not None and content != kept:
            self._fault(f"{name} is another one than was given when the package was submitted")
        try:
            found = receipt_of(content if kept is None else kept, self._id)
        except ReceiptInvalid as error:
            raise ReceiptInvalid(f"{name}: {error}") from None
        self._found.receipt, self._expected, self._warcs = found, found.files, found.warcs
        self._found.nodes = tuple(
            one.rpartition("/")[2] for one in self._store.names(merged_name(self._id))
        )
        if self._package is not None:
            said = {one.name: one.ark for one in self._package.warcs}
            for warc, ark in (said | {self._id: self._package.ark}).items():
                if found.arks.get(warc) != ark:
                    self._fault(f"{name} has not the ARK {ark} of {warc}")

    def files(self) -> None:
        """Compare all files but the WARC files, which are read with their records later."""
        bag = self._name("")
        there = {one.removeprefix(f"{bag}/") for one in self._store.names(bag)}
        for path in sorted(there.difference(self._expected)):
            self._fault(f"{self._name(path)} is not of this package")
        warcs = set(self._warcs.values())
        for path in sorted(self._expected):
            if path not in there:
                self._fault(f"{self._name(path)} is missing")
            elif path not in warcs:
                self._compare(path, self._store.stored(self._name(path), self._told))
        sip, name = self._found.receipt and self._found.receipt.sip, sip_name(self._id)
        if sip and (one := self._store.stored(name, self._told)) != sip:
            self._fault(f"{name} is {'missing' if one is None else 'damaged'}")

    def _compare(self, path: str, found: StoredFile | None) -> None:
        wanted = self._expected[path]
        if found == wanted:
            self._sound.add(path)
        elif found is None:
            self._fault(f"{self._name(path)} is missing")
        elif found.size != wanted.size:
            self._fault(
                f"{self._name(path)} is damaged: it has {found.size:,} bytes instead of"
                f" {wanted.size:,}"
            )
        else:
            self._fault(f"{self._name(path)} is damaged: its SHA-512 is not that of the receipt")

    # -- whether what describes the files says the same -------------------------------------

    def descriptions(self) -> None:
        """Compare manifests, METS, PREMIS and the list of ARKs with the receipt."""
        payload = {path for path in self._expected if path.startswith("data/")}
        self._manifest(MANIFEST, payload)
        self._manifest(TAG_MANIFEST, set(self._expected) - payload - {TAG_MANIFEST})
        root = payload_path(self._id) + "/"
        described, preserved = {f"{root}METS.xml"}, set[str]()
        mets = {path for path in payload if path.endswith("/METS.xml")} | described
        for path in sorted(payload & self._sound):
            if path in mets:
                described |= self._mets(path)
            elif _PREMIS.search(path):
                preserved |= self._premis(path)
        if mets <= self._sound:
            for path in sorted(payload - described):
                self._fault(f"{self._name(path)} is described by no METS")
        if {path for path in payload if _PREMIS.search(path)} <= self._sound:
            for warc in sorted(set(self._warcs) - preserved):
                self._fault(f"{self._name(self._warcs[warc])} is described by no PREMIS")
        self._arks(f"{root}{DOCUMENTATION}/{ARKS}")

    def _manifest(self, path: str, files: set[str]) -> None:
        if path not in self._sound:
            return
        content = (self._store.read(self._name(path), MOST_SMALL) or b"").decode("utf-8", "replace")
        lines = [_LINE.fullmatch(line) for line in content.splitlines()]
        said = {line[2]: line[1] for line in lines if line is not None}
        if None in lines or set(said) != files:
            self._fault(f"{self._name(path)} does not list the files of the bag")
        for one in sorted(files & set(said)):
            if said[one] != self._expected[one].sha512:
                self._fault(f"{self._name(path)} says another SHA-512 of {one} than the receipt")

    @contextmanager
    def _opened(self, path: str) -> Iterator[io.BufferedReader]:
        with self._store.open(self._name(path)) as file, self._readable(path):
            yield file  # type: ignore[misc]

    @contextmanager
    def _readable(self, path: str) -> Iterator[None]:
        """What cannot be read of a file is a fault of it."""
        try:
            yield
        except (*BROKEN_ZIP, ValueError) as error:
            self._fault(f"{self._name(path)} cannot be read: {' '.join(str(error).split())}")

    def _mets(self, path: str) -> set[str]:
        found: set[str] = set()
        above = path.rpartition("/")[0]
        with self._opened(path) as file:
            for one in described_files(file):
                place = f"{above}/{one.path}"
                found.add(place)
                if self._expected.get(place) != StoredFile(one.size, one.sha512):
                    self._fault(f"{self._name(path)} says another thing of {one.path} than is so")
        return found

    def _premis(self, path: str) -> set[str]:
        receipt, found = self._found.receipt, set[str]()
        assert receipt is not None
        with self._opened(path) as file:
            for one in described_objects(file):
                warc = self._warcs.get(one.name)
                if warc is None:
                    continue
                found.add(one.name)
                said = StoredFile(
                    -1 if one.size is None else one.size, one.digests.get("SHA-512", "")
                )
                arks = {given.value for given in one.ids if given.type == "ARK"}
                if said != self._expected[warc] or arks != {receipt.arks[one.name]}:
                    self._fault(f"{self._name(path)} says another thing of {one.name} than is so")
        return found

    def _arks(self, path: str) -> None:
        receipt = self._found.receipt
        if path not in self._sound or receipt is None:
            return
        text = (self._store.read(self._name(path), MOST_SMALL) or b"").decode("utf-8", "replace")
        rows = [set(line.split()) for line in text.splitlines()]
        for warc in self._warcs:
            if {warc, receipt.arks[warc]} not in rows:
                self._fault(f"{self._name(path)} has not the ARK of {warc}")

    # -- whether the index and the logs open their records ----------------------------------

    def index(self) -> None:
        """Compare the index with its digest, and note which records its lines name."""
        digests = self._store.read(cdx_digests_name(self._id), _LONGEST_LINE)
        places = self._store.read(places_name(self._id), MOST_SMALL)
        found = self._store.stored(cdx_name(self._id), self._told)
        if digests is None and places is None and found is None and self._found.nodes:
            return  # merged by all nodes
        names = (cdx_digests_name(self._id), places_name(self._id), cdx_name(self._id))
        for name, one in zip(names, (digests, places, found), strict=True):
            if one is None:
                self._fault(f"{name} is missing")
        if found is None or places is None or digests is None:
            return
        said = digests_of(digests.decode("utf-8", "replace"))
        if said is None:
            self._fault(f"{cdx_digests_name(self._id)} is damaged")
        elif said[0] != found.sha512:
            self._fault(f"{cdx_name(self._id)} is damaged: its SHA-512 is another one")
        else:
            self._lines()
        if said and said[1] != hashlib.sha512(places).hexdigest():
            self._fault(f"{places_name(self._id)} is damaged: its SHA-512 is another one")

    def _lines(self) -> None:
        name, self._found.captures = cdx_name(self._id), 0
        viral = set(self._found.receipt.viral) if self._found.receipt else set()
        with self._store.open(name) as file:
            last = b""
            while line := file.readline(_LONGEST_LINE):
                try:
                    key, moment, text = line.decode().split(" ", 2)
                    table = json.loads(text)
                    warc, offset = table["filename"], int(table["offset"])
                    wanted = hash((table["url"], moment, table["digest"]))
                    if line < last or not key or not 0 <= offset < 1 << 60:
                        raise ValueError
                except (ValueError, LookupError, TypeError, RecursionError):
                    self._fault(f"{name} has a line that is none, or is not sorted")
                    return
                if warc not in self._warcs or warc in viral:
                    self._fault(f"{name} names {str(warc)[:80]!r}, which is not a file to be shown")
                    return
                self._wanted.add(warc, offset, _INDEX, wanted)
                self._found.captures, last = self._found.captures + 1, line

    def logs(self) -> None:
        """Note which records the lines of the crawl logs name."""
        path = payload_path(self._id, f"{DOCUMENTATION}/{LOGS}")
        if path not in self._sound:
            if path not in self._expected:
                self._fault(f"{self._name(path)} is missing")
            return
        with self._opened(path) as file, zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                if info.filename.startswith(CRAWL_LOGS):
                    with archive.open(info) as log:
                        while line := log.readline(_LONGEST_LINE):
                            self._log_line(path, line.decode("utf-8", "replace"))

    def _log_line(self, path: str, line: str) -> None:
        receipt, one = self._found.receipt, place_of(line)
        if one is None or one.offset < 0:
            return
        self._found.archived += 1
        warc = str(one.filename)
        if warc in self._warcs and one.offset < 1 << 60:
            self._wanted.add(warc, one.offset, _LOG, hash(one.url))
        elif receipt is not None and warc not in receipt.elsewhere:
            self._fault(f"{self._name(path)} names {warc[:80]!r}, which is in no package")

    def warcs(self) -> None:
        """Read the WARC files: their bytes, and the records that index and logs name."""
        there = [
            warc for warc, path in sorted(self._warcs.items())
            if f"{self._name(path)} is missing" not in self._found.faults
        ]  # fmt: skip
        found = side_by_side(self._read, there, self._store.threads, self._told)
        for warc, (stored, wrong) in zip(there, found, strict=True):
            self._compare(path := self._warcs[warc], stored)
            if path in self._sound:
                for kind, offset in wrong.items():
                    self._fault(self._wrong(self._name(path), kind, offset))

    def _wrong(self, name: str, kind: int, offset: int) -> str:
        cdx = cdx_name(self._id)
        if kind == _UNINDEXED:
            return f"{cdx} has not the record at byte {offset:,} of {name} that {LOGS} names"
        of = cdx if kind == _INDEX else LOGS
        return f"{name} has not the record at byte {offset:,} that {of} names"

    def _read(self, warc: str, told: Told) -> tuple[StoredFile, dict[int, int]]:
        """What a WARC file contains; the first place of each kind without the wanted record."""
        wrong: dict[int, int] = {}
        name, indexed = self._name(self._warcs[warc]), -1
        receipt = self._found.receipt
        is_shown = receipt is not None and warc not in receipt.viral and self._found.captures >= 0
        with self._store.open(name) as file, self._store.open(name) as beside:
            reader = HeadReader(file, told)
            for offset, kind, wanted, fields in iterate(reader, self._wanted.of(warc)):
                url = plain(fields.get("warc-target-uri", "").strip("<>"))
                if kind == _LOG:
                    is_right = wanted == hash(as_word(url))
                else:
                    is_right, indexed = wanted == hash((url, *_time_and_digest(fields))), offset
                if not is_right:
                    wrong.setdefault(kind, offset)
                elif (
                    is_shown and indexed != offset and _UNINDEXED not in wrong
                    and _has_line(beside, warc, offset)
                ):  # fmt: skip
                    wrong[_UNINDEXED] = offset
            return reader.finish(), wrong


def _has_line(file: BinaryIO, warc: str, offset: int) -> bool:
    """Whether the index is to have a line of a record; a damaged one has none."""
    try:
        return line_at(file, warc, offset) is not None
    except DAMAGED:
        return False


def _time_and_digest(fields: Mapping[str, str]) -> tuple[str, str]:
    moment = _OTHER_THAN_DIGITS.sub("", fields.get("warc-date", ""))[:14]
    digest = plain(fields.get("warc-payload-digest", "")).removeprefix("sha1:")
    return moment, digest or "-"
