"""The receipt of a store: what it has of a package, as read back (pure; docs/format-crawls.md).

It is written last, so that a package with a receipt is complete; a copy is kept in the Silo. It has
a digest of itself and is in one form only, so that any changed byte is found.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from silocrawl.packages.store import check_name
from silocrawl.packages.values import (
    ARK,
    SHA512,
    PackagingError,
    StoredFile,
    check_package_id,
    check_warc_name,
)

MANIFEST, TAG_MANIFEST = "manifest-sha512.txt", "tagmanifest-sha512.txt"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


class ReceiptInvalid(PackagingError):
    """A receipt is damaged, or was changed."""


@dataclass(frozen=True, slots=True)
class PackageReceipt:
    """What a store has of a package.

    Attributes:
        package: Its name.
        place: Where its bag is.
        written, shown_from: When the receipt was written; from when on access nodes may show what
            was crawled; in ISO 8601, UTC.
        files: Path in the bag → what it contains.
        arks: Name of a WARC file, or of the package → its ARK.
        viral: The WARC files in which something harmful was found; nobody indexes these.
        elsewhere: WARC files that the logs name and that are in other packages.
        sip: The bag as one file; None if there is none.
    """

    package: str
    place: str
    written: str
    shown_from: str
    files: Mapping[str, StoredFile]
    arks: Mapping[str, str]
    viral: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    sip: StoredFile | None = None

    @property
    def ark(self) -> str:
        """The identifier of the package."""
        return self.arks[self.package]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(one.size for one in self.files.values())

    @property
    def warcs(self) -> dict[str, str]:
        """The WARC files: name → path in the bag."""
        paths = {path.rpartition("/")[2]: path for path in self.files if "/data/" in path}
        return {name: paths[name] for name in self.arks if name in paths}


def receipt_bytes(receipt: PackageReceipt) -> bytes:
    """Return a receipt as the content of its file."""
    table = {
        "format": 1,
        "package": receipt.package,
        "ark": receipt.ark,
        "place": receipt.place,
        "written": receipt.written,
        "shown_from": receipt.shown_from,
        "manifest": receipt.files[MANIFEST].sha512,
        "files": {path: list(one) for path, one in sorted(receipt.files.items())},
        "arks": dict(sorted(receipt.arks.items())),
        "viral": sorted(receipt.viral),
        "elsewhere": sorted(receipt.elsewhere),
        "sip": receipt.sip and list(receipt.sip),
    }
    text = json.dumps(table, indent=1)
    digest = hashlib.sha512(text.encode()).hexdigest()
    return f'{text[:-2]},\n "sha512": "{digest}"\n}}\n'.encode()


def receipt_of(content: bytes, package_id: str) -> PackageReceipt:
    """Read a receipt, which anybody may have written.

    Raises:
        ReceiptInvalid: It is damaged, or that of another package.
    """
    try:
        table = json.loads(content)
        package = check_package_id(table["package"])
        found = PackageReceipt(
            package,
            str(table["place"]),
            str(table["written"]),
            str(table["shown_from"]),
            files={check_name(path): _stored(one) for path, one in table["files"].items()},
            arks={_warc_or(package, name): _ark(one) for name, one in table["arks"].items()},
            viral=tuple(check_warc_name(one) for one in table["viral"]),
            elsewhere=tuple(check_warc_name(one) for one in table["elsewhere"]),
            sip=table["sip"] and _stored(table["sip"]),
        )
        if package != package_id or content != receipt_bytes(found):
            raise ValueError("it was changed")
        if not all(_TIME.fullmatch(one) for one in (found.written, found.shown_from)):
            raise ValueError("it has no times")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, PackagingError):
        raise ReceiptInvalid(f"the receipt of {package_id} is damaged, or was changed") from None
    return found


def differences(one: PackageReceipt, other: PackageReceipt) -> list[str]:
    """The paths and names about which two receipts say something different, sorted."""
    found = {f"ARK of {name}" for name, _ in one.arks.items() ^ other.arks.items()}
    found |= {path for path, _ in one.files.items() ^ other.files.items()}
    return sorted(found)


def _stored(row: Any) -> StoredFile:
    size, digest = row
    if type(size) is not int or size < 0 or not SHA512.fullmatch(digest):
        raise ValueError("no size and digest")
    return StoredFile(size, digest)


def _ark(text: Any) -> str:
    if not ARK.fullmatch(text):
        raise ValueError("no ARK")
    return str(text)


def _warc_or(package: str, name: str) -> str:
    return name if name == package else check_warc_name(name)
