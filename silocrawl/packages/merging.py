"""Brings packages to an access node: a directory with an index and places, which pywb shows.

A node has no Silo. Only packages that were verified, and whose embargo is over, are merged. Places
first, then the index, a line here, and last the mark in the store: after a kill, what is there is
not done twice. Nothing of the store is trusted: names are checked, and places are computed here.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from politeweb.warc.files import next_record
from recordsilo.disk.atomic_file import append_lines, replace_file
from recordsilo.disk.json_lines import read_lines
from recordsilo.disk.locks import Locks
from silocrawl.cdxj import Segments
from silocrawl.chosen import IndexLine
from silocrawl.errors import CrawlingError
from silocrawl.packages.indexing import add_warc, digests_of
from silocrawl.packages.layout import (
    MERGED,
    RECEIPTS,
    bag_name,
    cdx_digests_name,
    cdx_name,
    merged_name,
    places_name,
)
from silocrawl.packages.receipts import PackageReceipt, receipt_of
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import FileStore
from silocrawl.packages.values import (
    Package,
    PackageLater,
    PackagingError,
    check_node,
    check_package_id,
)
from silocrawl.packages.verifying import digests_to_verify, stored_receipt, verified_mark
from silocrawl.packages.work import PackageWork
from silocrawl.places import merge_places, read_places
from silocrawl.taking_in import lines_of_warc

SECONDS_UNTIL_NEXT_LOOK = 3_600.0
_PIECE, _LONGEST_LINE, _TAIL = 1 << 20, 1 << 20, 1 << 20
_MOMENT = re.compile(r"[0-9]{14}")
_CONFIGURATION = """\
# Written once by silo crawl merge; change what you like. Start pywb here: wayback -b 127.0.0.1
collections:
  crawls:
    index_paths: ./index
    archive_paths: ./places.tsv
"""


class NodeInvalid(CrawlingError):
    """The list of what a node has cannot be read."""

    def __init__(self, path: str, number: int, reason: str) -> None:
        super().__init__(f"line {number} of {path} cannot be read: {reason}; restore the file")


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a package on a node, or what was found of it there.

    Attributes:
        package: Its name; empty for a file of the store that belongs to none.
        captures: Lines of its index that are merged; -1 if it waits.
        why: Why it waits, or what is wrong, in words; empty if neither.
        is_fault: Whether something is wrong.
    """

    package: str
    captures: int = -1
    why: str = ""
    is_fault: bool = False


class AccessNode:
    """An access node; the directory is made by the first merge.

    Args:
        directory: Of the node.
        name: Of the node, as it is in the settings of the Silos.

    Raises:
        PackageInvalid: It is no name of a node.
    """

    def __init__(self, directory: str, name: str) -> None:
        self.directory, self.name = os.path.abspath(directory), check_node(name)
        self._segments = Segments(os.path.join(self.directory, "index"))
        self._places = os.path.join(self.directory, "places.tsv")
        self._list = os.path.join(self.directory, "merged.jsonl")

    def merge(self, store: FileStore, now: datetime) -> Iterator[Merged]:
        """Merge the packages of a store that this node has not yet.

        Yields:
            Each of them after it was merged and marked, those that wait, and those of which
            something is damaged; first the files among the receipts and marks that can be none.

        Raises:
            CrawlingError: Another process merges, or a file of the node is damaged.
            PackagingError: The store does not do its part.
        """
        with self._alone():
            config = os.path.join(self.directory, "config.yaml")
            if not os.path.exists(config):
                replace_file(config, _CONFIGURATION.encode())
            refused: list[str] = []
            known, marks = self.merged(), set(store.names(MERGED, refused.append))
            receipts = store.names(RECEIPTS, refused.append)
            for why in refused:
                yield Merged("", why=f"{why}; it is passed over", is_fault=True)
            for name in receipts:
                package_id = name.rpartition("/")[2].removesuffix(".json")
                if known.get(package_id) != store.address:
                    try:
                        found = self._merge(store, package_id, now)
                    except PackagingError as error:
                        found = Merged(package_id, why=str(error), is_fault=True)
                    yield found
                    if found.why:
                        continue
                if (mark := merged_name(package_id, self.name)) not in marks:
                    content = f"{now:%Y-%m-%dT%H:%M:%SZ}\n".encode()
                    store.put(mark, content, replaces=True)

    def merged(self) -> dict[str, str]:
        """The packages that this node has, each with the address of its store.

        Raises:
            NodeInvalid: The list is damaged.
        """
        return dict(read_lines(self._list, _row, NodeInvalid))

    def _merge(self, store: FileStore, package_id: str, now: datetime) -> Merged:
        check_package_id(package_id)
        content, mark = stored_receipt(store, package_id), verified_mark(store, package_id)
        if content is None or mark is None:
            return Merged(package_id, why="it was not verified yet")
        receipt = receipt_of(content, package_id)
        if receipt.shown_from > f"{now:%Y-%m-%dT%H:%M:%SZ}":
            return Merged(package_id, why=f"it is under embargo until {receipt.shown_from[:10]}")
        said, shown = digests_to_verify(store, package_id, content), _shown(store, receipt)
        has_index = store.size(cdx_digests_name(package_id)) is not None
        if mark != said and (has_index or mark["receipt"] != said["receipt"]):
            raise PackagingError("its receipt or its index is not what was verified")
        if has_index:
            sizes = {warc: receipt.files[receipt.warcs[warc]].size for warc in shown}
            captures = self._add_index(store, package_id, shown, sizes)
        else:  # the other nodes had merged it before this one was there
            self._note_places(shown)
            captures = sum(
                add_warc(store, self._segments, warc, bag_name(package_id, receipt.warcs[warc]))
                for warc in shown
            )
        row = {"package": package_id, "ark": receipt.ark, "store": store.address,
               "captures": captures, "merged": f"{now:%Y-%m-%dT%H:%M:%SZ}"}  # fmt: skip
        append_lines(self._list, [json.dumps(row).encode()])
        return Merged(package_id, captures)

    def _add_index(
        self, store: FileStore, package_id: str, shown: Mapping[str, str], sizes: Mapping[str, int]
    ) -> int:
        with _fetched(store, package_id, self.directory) as file:
            first, captures = _checked(file, sizes)
            self._note_places(shown)
            if first and first not in self._segments.find(IndexLine.read(first).key):
                self._segments.add_sorted(line.decode() for line in file)
        return captures

    def _note_places(self, shown: Mapping[str, str]) -> None:
        merge_places(self._places, {warc: [place] for warc, place in shown.items()})

    def check(self, package_id: str, store: FileStore) -> Merged:
        """Look whether this node finds the first and the last record of each WARC file.

        Args:
            package_id: A package that it has merged.
            store: That of the package.

        Raises:
            PackagingError: The store does not do its part.
        """
        receipt = receipt_of(stored_receipt(store, package_id) or b"", package_id)
        places, sizes = read_places(self._places), receipt.files
        found = 0
        for warc, place in _shown(store, receipt).items():
            name = bag_name(package_id, receipt.warcs[warc])
            why = ""
            if places.get(warc) != (place,):
                why = f"places.tsv has not {warc} at {place}"
            elif store.size(name) != sizes[receipt.warcs[warc]].size:
                why = f"{place} is missing, or has another size"
            else:
                with store.open(name) as file:
                    for line in _ends(file, warc):
                        found += 1
                        if line not in self._segments.find(IndexLine.read(line).key):
                            why = (
                                f"the index has not {warc} at byte {IndexLine.read(line).place[1]}"
                            )
            if why:
                return Merged(package_id, why=why, is_fault=True)
        return Merged(package_id, found)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            os.makedirs(self.directory, exist_ok=True)
            locks = Locks(os.path.join(self.directory, ".locks"))
        except OSError as error:
            raise CrawlingError(f"{self.directory} cannot be written: {error.strerror}") from error
        with locks.hold_name_if_free("merge") as is_free:
            if not is_free:
                raise CrawlingError(f"another process is merging into {self.directory}")
            yield


def check_merged(work: PackageWork, settings: StoreSettings) -> Package:
    """Delete what waits for the access nodes, once all of them have merged a package.

    Raises:
        PackageLater: A node has not merged it yet.
        PackagingError: The store does not do its part.
    """
    package, store = work.package, work.store
    there = {name.rpartition("/")[2] for name in store.names(merged_name(package.id))}
    if waiting := [node for node in settings.nodes if node not in there]:
        raise PackageLater(SECONDS_UNTIL_NEXT_LOOK, f"waits for {', '.join(waiting)} to merge it")
    if settings.nodes:
        for name in (cdx_name, places_name, cdx_digests_name):
            store.remove(name(package.id))
    return package


def _shown(store: FileStore, receipt: PackageReceipt) -> dict[str, str]:
    """The WARC files that may be shown: name → place."""
    return {
        warc: store.place(bag_name(receipt.package, path))
        for warc, path in receipt.warcs.items()
        if warc not in receipt.viral
    }


@contextmanager
def _fetched(store: FileStore, package_id: str, directory: str) -> Iterator[BinaryIO]:
    """The index of a package, copied here and compared with its digest."""
    name = cdx_name(package_id)
    digests = digests_of((store.read(cdx_digests_name(package_id)) or b"").decode("latin-1"))
    with tempfile.TemporaryFile(dir=directory) as copy:
        with store.open(name) as file:
            shutil.copyfileobj(file, copy, _PIECE)
        copy.seek(0)
        digest = hashlib.file_digest(copy, "sha512").hexdigest()
        if digests is None or digest != digests[0]:
            raise PackagingError(f"{store.place(name)} is damaged: its SHA-512 is another one")
        copy.seek(0)
        yield copy


def _checked(file: BinaryIO, sizes: Mapping[str, int]) -> tuple[str, int]:
    """Check the lines of an index; return the first one, and how many there are.

    Args:
        file: The index.
        sizes: Bytes of the WARC files that may be shown, by name.

    Raises:
        PackagingError: One is none, or names a file or a place that may not be shown.
    """
    first, last, count = "", b"", 0
    while line := file.readline(_LONGEST_LINE):
        try:
            key, moment, text = line.decode().split(" ", 2)
            table = json.loads(text)
            is_right = (
                bool(key) and key.isprintable() and _MOMENT.fullmatch(moment) is not None
                and 0 <= int(table["offset"]) < sizes[table["filename"]]
                and line.endswith(b"\n") and line >= last
            )  # fmt: skip
        except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
            is_right = False
        if not is_right:
            raise PackagingError(f"line {count + 1:,} of its index is none")
        first, last, count = first or line.decode(), line, count + 1
    file.seek(0)
    return first, count


def _ends(file: BinaryIO, warc: str) -> Iterator[str]:
    """The lines of the first and the last capture of a WARC file; none if it has none."""
    first = next(lines_of_warc(file, warc, []), None)
    if first is None:
        return
    yield first
    size, window = file.seek(0, os.SEEK_END), _TAIL
    while True:
        begin = next_record(file, size - window) if window < size else 0
        last = None
        for last in lines_of_warc(file, warc, [], begin or 0):  # noqa: B007  # the last one counts
            pass
        if last is not None or window >= size:
            yield last or first
            return
        window *= 16


def _row(line: Any) -> tuple[str, str]:
    return check_package_id(line["package"]), str(line["store"])
