"""Verifies a submitted package, and marks it in the store as one that nodes may have."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime

from silocrawl.packages.checking import CheckedPackage, check_package
from silocrawl.packages.kept import keep_package
from silocrawl.packages.layout import cdx_digests_name, receipt_name, verified_name
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import FileStore, open_store
from silocrawl.packages.submitting import MOST_RECEIPT, kept_receipt
from silocrawl.packages.values import Package, PackageState, PackagingError
from silocrawl.packages.work import PackageWork

_MOST_DIGESTS = 1 << 16


class NotVerified(PackagingError):
    """Not all that is said of a package is so.

    Attributes:
        checked: What was found.
    """

    def __init__(self, checked: CheckedPackage) -> None:
        self.checked = checked
        super().__init__(checked.sentence(""))


def verify(work: PackageWork, _settings: StoreSettings) -> Package:
    """Check a package in its store, and mark it as verified there; the nodes wait for that.

    Raises:
        NotVerified: Something is wrong; it is not marked.
        PackagingError: The store does not do its part.
    """
    package = work.package
    kept = kept_receipt(work.silo_path, package.id)
    if kept is None:
        raise PackagingError(f"{package.id} is not submitted yet: there is no receipt of it here")
    found = check_package(work.store, package.id, kept=kept, package=package, told=work.told)
    if found.faults:
        raise NotVerified(found)
    _mark(work.store, package.id, kept)
    return package


def changes_of(package: Package, checked: CheckedPackage) -> Package | None:
    """The package with what a later verification found; None if that is what is noted (pure).

    What another step noted of a failure stays.
    """
    is_known = package.has(PackageState.VERIFIED) and (not package.error or package.is_unwell)
    said = checked.sentence("") if checked.faults else ""
    return replace(package, error=said) if is_known and said != package.error else None


def verify_again(silo_path: str, package: Package) -> Package:
    """Note that a package that was not well is so again; the caller works alone.

    Raises:
        NotVerified: It is not.
        PackagingError: The store does not do its part.
    """
    kept = kept_receipt(silo_path, package.id)
    found = check_package(open_store(package.store), package.id, kept=kept, package=package)
    if found.faults:
        raise NotVerified(found)
    return keep_package(silo_path, changes_of(package, found) or package)


def verified_mark(store: FileStore, package_id: str) -> dict[str, str] | None:
    """What the mark of a package says: digests of what was verified; None without one.

    Raises:
        PackagingError: It is damaged.
    """
    content = store.read(verified_name(package_id), _MOST_DIGESTS)
    if content is None:
        return None
    try:
        table = json.loads(content)
        return {name: str(table[name]) for name in ("package", "receipt", "index")}
    except (ValueError, LookupError, TypeError, RecursionError):
        raise PackagingError(
            f"{store.place(verified_name(package_id))} is damaged; verify the package again"
        ) from None


def digests_to_verify(store: FileStore, package_id: str, receipt: bytes) -> dict[str, str]:
    """What a mark of a package has to say, for a receipt and for what is in the store."""
    index = store.read(cdx_digests_name(package_id), _MOST_DIGESTS) or b""
    return {
        "package": package_id,
        "receipt": hashlib.sha512(receipt).hexdigest(),
        "index": hashlib.sha512(index).hexdigest(),
    }


def _mark(store: FileStore, package_id: str, receipt: bytes) -> None:
    said = digests_to_verify(store, package_id, receipt)
    try:
        is_marked = verified_mark(store, package_id) == said
    except PackagingError:
        is_marked = False
    if not is_marked:
        at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        content = json.dumps(said | {"verified": at}, indent=1).encode() + b"\n"
        store.put(verified_name(package_id), content, replaces=True)


def stored_receipt(store: FileStore, package_id: str) -> bytes | None:
    """The receipt of a package as the store has it; None if it has none."""
    return store.read(receipt_name(package_id), MOST_RECEIPT)
