"""The package of a deposit: a zip, plain or with METS, and what was in one that comes back.

The same deposit gives the same bytes. ``silo.json`` names the record, its versions and the
digests of all files, so that a later run knows what a server holds without a ledger.

Source: SWORD 2.0 Profile, section 7 (SimpleZip, METSDSpaceSIP).
"""

import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, cast

from infopackages.containers import BROKEN_ZIP
from recordsilo.disk.digest import Digest
from siloexport.content import checked_chunks
from siloexport.errors import DepositFailed
from siloexport.targets.remote.about import ABOUT, about_of, deposited_files
from siloexport.targets.sword.mets import METS, mets_document
from siloexport.values import Deposit

SIMPLE_ZIP = "http://purl.org/net/sword/package/SimpleZip"
METS_SIP = "http://purl.org/net/sword/package/METSDSpaceSIP"
PACKAGINGS = {"simple": SIMPLE_ZIP, "mets": METS_SIP}
_ABOUT_BYTES = 8 << 20
_MOST_FILES = 100_000
_PIECE = 1 << 20
_BEGIN = (1980, 1, 1, 0, 0, 0)
"""The earliest time in a zip."""


@dataclass(frozen=True, slots=True)
class ZipPackage:
    """A zip on the disk, at its beginning."""

    file: BinaryIO
    size: int
    md5: str


@contextmanager
def packed(deposit: Deposit, packaging: str, mods: bytes, described: str) -> Iterator[ZipPackage]:
    """Write the package of a deposit to a file that is deleted at the end.

    Args:
        packaging: `SIMPLE_ZIP` or `METS_SIP`.
        mods: Its description, for METS.
        described: Digest of its terms.

    Raises:
        SourceChanged, FileNotInVersion, DepositFailed: It cannot be made.
    """
    with tempfile.TemporaryFile(prefix="silo-sword-") as file:
        with zipfile.ZipFile(file, "w", allowZip64=True) as zipped:
            _write(zipped, deposit, packaging, mods, described)
        size = file.tell()
        file.seek(0)
        md5 = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        file.seek(0)
        yield ZipPackage(cast(BinaryIO, file), size, md5)


def _write(
    zipped: zipfile.ZipFile, deposit: Deposit, packaging: str, mods: bytes, described: str
) -> None:
    listed = list(deposited_files(deposit))
    digests = {name: [one.size, one.sha256] for name, _, one in listed}
    own = {ABOUT: about_of(deposit, digests, described=described)}
    if packaging == METS_SIP:
        names = [(name, one) for name, _, one in listed]
        own[METS] = mets_document(deposit, names, own, mods)
    taken = {name for name, _, _ in listed} & own.keys()
    if taken:
        why = f"its file {min(taken)} has the name of one that every package has"
        raise DepositFailed(deposit.identifier, why)
    for name in sorted(own, reverse=True):
        with zipped.open(zipfile.ZipInfo(name, _BEGIN), "w") as into:
            into.write(own[name])
    for name, version, file in listed:
        with (
            zipped.open(zipfile.ZipInfo(name, _BEGIN), "w", force_zip64=True) as into,
            checked_chunks(deposit.identifier, version, file) as chunks,
        ):
            for chunk in chunks:
                into.write(chunk)


@dataclass(frozen=True, slots=True)
class PackageContent:
    """What was in a package that came back from a server.

    Attributes:
        files: Name → digest, without those that every package has.
        about: ``silo.json``; empty if there is none.
    """

    files: Mapping[str, Digest]
    about: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The key in it; or ``""``."""
        return str(self.about.get("key", ""))

    @property
    def version(self) -> str:
        """The version in it; or ``""``."""
        return str(self.about.get("version", ""))

    @property
    def is_untouched(self) -> bool:
        """Whether the files are those that ``silo.json`` lists."""
        listed = self.about.get("files")
        if not isinstance(listed, dict):
            return False
        return listed == {name: [one.size, one.sha256] for name, one in self.files.items()}


def unpacked(file: BinaryIO, most: int) -> PackageContent:
    """Read a package from a server; nothing is written.

    Args:
        file: The zip.
        most: Bytes of all its files that are read.

    Raises:
        ValueError: It is no zip, is damaged, or has more.
    """
    try:
        with zipfile.ZipFile(file) as zipped:
            return _unpacked(zipped, most)
    except (*BROKEN_ZIP, OSError) as error:
        raise ValueError(f"the content that came back is not a valid zip: {error}") from None


def _unpacked(zipped: zipfile.ZipFile, most: int) -> PackageContent:
    members = [one for one in zipped.infolist() if not one.is_dir()]
    if len(members) > _MOST_FILES:
        raise ValueError(f"the content that came back has {len(members):,} files")
    files: dict[str, Digest] = {}
    about: Mapping[str, Any] = {}
    for member in members:
        with zipped.open(member) as source:
            if member.filename == ABOUT:
                about = _read_about(source)
                continue
            digest = _digest(source, most)
        most -= digest.size
        if member.filename != METS:
            files[member.filename] = digest
    return PackageContent(files, about)


def _read_about(source: IO[bytes]) -> Mapping[str, Any]:
    try:
        found = json.loads(source.read(_ABOUT_BYTES))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(source: IO[bytes], most: int) -> Digest:
    sha256, size = hashlib.sha256(), 0
    while chunk := source.read(_PIECE):
        size += len(chunk)
        if size > most:
            raise ValueError("the content that came back is larger than what was exported")
        sha256.update(chunk)
    return Digest(sha256.hexdigest(), size)
