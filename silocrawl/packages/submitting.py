"""Submits a package: its bag into the store, where its WARC files are already, and the receipt.

What is there whole is not sent again, so that the next run goes on where one was killed. Until the
receipt is there, which is written last, the package is not.
"""

import hashlib
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from infopackages.tar import tar_writer
from recordsilo.disk.atomic_file import replace_file
from recordsilo.disk.whole_file import whole_file
from silocrawl.moments import in_iso
from silocrawl.packages.layout import (
    bag_file,
    bag_name,
    package_directory,
    payload_path,
    receipt_name,
    sip_name,
    warc_path,
)
from silocrawl.packages.receipts import (
    MANIFEST,
    TAG_MANIFEST,
    PackageReceipt,
    differences,
    receipt_bytes,
    receipt_of,
)
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.values import Package, PackagingError, StoredFile, WarcOfPackage
from silocrawl.packages.work import PackageWork

MOST_RECEIPT = 256 << 20
_MOST_TOLD = 5


def kept_receipt_file(silo_path: str, package_id: str) -> str:
    """The receipt of a package, as the store gave it."""
    return os.path.join(package_directory(silo_path, package_id), "receipt.json")


def kept_receipt(silo_path: str, package_id: str) -> bytes | None:
    """The content of that file; None if there is none yet."""
    try:
        with open(kept_receipt_file(silo_path, package_id), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def submit(work: PackageWork, settings: StoreSettings) -> Package:
    """Bring the bag of a package into the store; ask for the receipt, and keep it.

    Raises:
        PackagingError: The store has the package, and something else in it; names it. Or it does
            not do its part.
    """
    package, store = work.package, work.store
    small = _small_files(work)
    content = store.read(receipt_name(package.id), MOST_RECEIPT)
    if content is None:
        receipt = _send(work, settings, small)
        store.put(receipt_name(package.id), receipt_bytes(receipt))
        content = store.read(receipt_name(package.id), MOST_RECEIPT) or b""
        receipt_of(content, package.id)
    else:
        _check_same(work, receipt_of(content, package.id), small)
    replace_file(kept_receipt_file(work.silo_path, package.id), content)
    return package


def _small_files(work: PackageWork) -> dict[str, str]:
    """All files of the bag but the WARC files: path in the bag → where it is here."""
    bag = bag_file(work.silo_path, work.package.id)
    found: dict[str, str] = {}
    for above, _, names in os.walk(bag):
        for name in names:
            path = os.path.join(above, name)
            found[os.path.relpath(path, bag)] = path
    if MANIFEST not in found or TAG_MANIFEST not in found:
        raise PackagingError(f"{work.package.id} is not described yet: it has no manifest")
    return found


def _warcs(package: Package) -> dict[str, WarcOfPackage]:
    """The WARC files: path in the bag → what is noted of it."""
    return {
        payload_path(package.id, warc_path(one.name, is_viral=one.is_viral)): one
        for one in package.warcs
    }


def _send(work: PackageWork, settings: StoreSettings, small: dict[str, str]) -> PackageReceipt:
    package, store = work.package, work.store
    warcs, there = _warcs(package), set(store.names(bag_name(package.id)))
    known = {bag_name(package.id, path): path for path in (*small, *warcs)}
    if others := sorted(there.difference(known)):
        raise PackagingError(
            f"{store.place(others[0])} is in the store, and not of this package; look where it"
            " comes from, and delete it there"
        )
    files = {path: store.put_file(small[path], bag_name(package.id, path)) for path in small}
    for path, one in warcs.items():
        files[path] = StoredFile(one.size, one.sha512)
        name = bag_name(package.id, path)
        if name not in there and store.put_file(one.path, name, work.told) != files[path]:
            raise PackagingError(f"{one.path} has changed since it was packaged")
    return PackageReceipt(
        package.id,
        store.place(bag_name(package.id)),
        in_iso(datetime.now(UTC)),
        in_iso(package.ended + timedelta(days=settings.embargo_days)),
        files,
        {one.name: one.ark for one in package.warcs} | {package.id: package.ark},
        tuple(one.name for one in package.viral),
        tuple(package.elsewhere),
        _sip(work, files) if settings.sips else None,
    )


def _sip(work: PackageWork, files: dict[str, StoredFile]) -> StoredFile:
    """Put the bag into the store as one file, made here of what the store has."""
    package, store = work.package, work.store
    staged = os.path.join(work.directory, "sip.tar.gz")
    seconds = int(package.ended.timestamp())
    with whole_file(staged) as out, tar_writer(out, seconds, compress=True) as add:
        for path, one in sorted(files.items()):
            with store.open(bag_name(package.id, path)) as file:
                add(f"{package.id}/{path}", one.size, file)
    found = store.put_file(staged, sip_name(package.id))
    os.unlink(staged)
    return found


def _check_same(work: PackageWork, receipt: PackageReceipt, small: dict[str, str]) -> None:
    package = work.package
    files = {path: StoredFile(one.size, one.sha512) for path, one in _warcs(package).items()}
    for path, place in small.items():
        with open(place, "rb") as file:
            size, digest = os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha512")
            files[path] = StoredFile(size, digest.hexdigest())
    arks = {one.name: one.ark for one in package.warcs} | {package.id: package.ark}
    if found := differences(receipt, replace(receipt, files=files, arks=arks)):
        more = f", and {len(found) - _MOST_TOLD:,} more" if len(found) > _MOST_TOLD else ""
        raise PackagingError(
            f"{package.id} is in {work.store.address} already, and differs in"
            f" {', '.join(found[:_MOST_TOLD])}{more}; nothing was changed there"
        )
