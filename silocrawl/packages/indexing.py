"""The index of a package, of what its WARC files in the store have, for the access nodes.

Three files wait in the store until all nodes have merged them: ``ID.cdxj``, sorted; ``ID.places``,
which says where each WARC file is; and ``ID.sha512``, the digests of both.
"""

import hashlib
import os
import shutil

from recordsilo.batches import batched
from recordsilo.disk.whole_file import whole_file
from silocrawl.cdxj import Segments
from silocrawl.packages.layout import cdx_digests_name, cdx_file, cdx_name, places_name, warc_name
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import FileStore, StoredDiffers
from silocrawl.packages.values import Package, PackagingError, StoredFile
from silocrawl.packages.work import PackageWork
from silocrawl.taking_in import lines_of_warc

_TOGETHER = 20_000


def index(work: PackageWork, _settings: StoreSettings) -> Package:
    """Index the WARC files of a package but the viral ones; done again, it does the same.

    Raises:
        PackagingError: The store does not do its part, or the disk.
    """
    package, store = work.package, work.store
    path = cdx_file(work.silo_path, package.id)
    parts = f"{path}.parts"
    shutil.rmtree(parts, ignore_errors=True)  # of a kill
    segments, places = Segments(parts), ""
    try:
        for one in sorted(package.warcs, key=lambda one: one.name):
            if not one.is_viral:
                name = warc_name(package.id, one.name)
                add_warc(store, segments, one.name, name)
                places += f"{one.name}\t{store.place(name)}\n"
        with whole_file(path) as file:
            file.writelines(line.encode() for line in segments.find("", is_prefix=True))
        shutil.rmtree(parts, ignore_errors=True)
    except OSError as error:
        raise PackagingError(f"{package.id} cannot be indexed: {error}") from error
    store.put(places_name(package.id), places.encode(), replaces=True)
    cdx = _put(work, path)
    digests = digests_text(package.id, cdx.sha512, places)
    store.put(cdx_digests_name(package.id), digests.encode(), replaces=True)
    os.unlink(path)
    return package


def digests_text(package_id: str, cdx: str, places: str) -> str:
    """Return the content of ``ID.sha512``: as ``sha512sum`` has it, and the digest of these lines.

    Args:
        cdx: SHA-512 of its index.
    """
    found = hashlib.sha512(places.encode()).hexdigest()
    text = f"{cdx}  {package_id}.cdxj\n{found}  {package_id}.places\n"
    return f"{text}# {hashlib.sha512(text.encode()).hexdigest()}\n"


def digests_of(text: str) -> tuple[str, str] | None:
    """The digests of an index and of its places in ``ID.sha512``; None if that is damaged."""
    lines = text.split("\n")
    said = "".join(f"{line}\n" for line in lines[:2])
    if lines[2:] != [f"# {hashlib.sha512(said.encode()).hexdigest()}", ""]:
        return None
    return lines[0][:128], lines[1][:128]


def add_warc(store: FileStore, segments: Segments, warc: str, name: str) -> int:
    """Add the lines of a WARC file of a store to an index; return how many there are."""
    count = 0
    with store.open(name) as file:
        for some in batched(lines_of_warc(file, warc, []), _TOGETHER):
            segments.add(some)
            count += len(some)
    return count


def _put(work: PackageWork, path: str) -> StoredFile:
    name = cdx_name(work.package.id)
    try:
        return work.store.put_file(path, name)
    except StoredDiffers:  # of the same package before it was indexed by a later release
        work.store.remove(name)
        return work.store.put_file(path, name)
