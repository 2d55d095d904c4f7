"""Bags: a tar file for each record, which holds one bag with all chosen versions.

oai+eprints,example,org+6102.tar
  oai+eprints,example,org+6102/
    data/1/oai_dc                       version 1
    data/workingcopy/oai_dc             …
    bagit.txt  bag-info.txt  manifest-sha512.txt  tagmanifest-sha512.txt
    silo.json                           the versions, as in the manifest

The same deposit on the same day gives the same bytes: nothing else in a bag depends on the
time or the machine, and a bag that is made again keeps its day. It is written as a stream;
each file is read once.

Source: BagIt 1.0 (RFC 8493); the tar format of POSIX.1-2001 (pax).
"""

import contextlib
import hashlib
import io
import json
import logging
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import IO, Any, cast

from infopackages.bagit import (
    DECLARATION,
    INFO,
    BagWriter,
    info_text,
    one_line,
    safe_path,
    size_fields,
)
from infopackages.containers import BROKEN_TAR
from infopackages.files import Add, adding_below
from infopackages.tar import tar_writer
from recordsilo.disk.atomic_file import Barrier
from recordsilo.disk.regular_file import regular_fd
from siloexport.content import checked_chunks
from siloexport.errors import DepositFailed
from siloexport.plan import digest_of
from siloexport.targets.bag_settings import SENDER, BagSettings
from siloexport.targets.directory import DAY, SETTINGS, DirectoryTarget, directory_name, marked
from siloexport.values import Deposit, Difference

_VARIANT = "bag 2"
_MAX_INFO = 1 << 20


class BagTarget(DirectoryTarget):
    """A directory that records are exported to as bags, a tar file each.

    Args:
        directory: A new or empty directory, or one from an earlier export of bags.
        settings: For all bags; None for those of the directory, or the default. If they
            change, all bags are made again.
        today: Returns the current day in UTC.
    """

    def __init__(
        self,
        directory: str,
        settings: BagSettings | None = None,
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        super().__init__(directory, _Bags(settings or BagSettings(), today))
        self._given = settings

    def _take_marker(self, marker: bytes) -> None:
        if self._given is None and isinstance(self._form, _Bags):
            settings = BagSettings.from_json(marked(marker, SETTINGS))
            self._form = replace(self._form, given=settings)


@dataclass(frozen=True, slots=True)
class _Bags:
    """See `siloexport.targets.directory.RecordForm`."""

    given: BagSettings
    today: Callable[[], date]
    name: str = "bags"
    suffix: str = ".tar"

    @property
    def variant(self) -> str:
        usual = self.given == BagSettings()
        return _VARIANT if usual else f"{_VARIANT} {digest_of(self.given.to_json())[:16]}"

    @property
    def settings(self) -> str:
        return self.given.to_json()

    def day(self, path: str, deposit: Deposit) -> str:
        """See `Form`: the day of bagging, kept if the same bag was made before."""
        return deposit.noted.get(DAY) or _day_of(path, deposit.key) or f"{self.today()}"

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:
        with open(path, "xb") as file:
            hashing = _Hashing(file)
            with tar_writer(cast(IO[bytes], hashing), _seconds(deposit)) as add:
                write_bag(add, deposit, self.given, day)
            file.flush()
            barrier.file_written(file.fileno())
        return hashing.sha256.hexdigest()

    def digest(self, path: str) -> str:
        try:
            with open(path, "rb", opener=regular_fd) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (FileNotFoundError, IsADirectoryError):
            return ""

    def expected(self, deposit: Deposit) -> str | None:  # noqa: ARG002 - the tag files need digests of all files
        return None

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        with tempfile.TemporaryDirectory(prefix="silo-bag-") as below:
            try:
                bag = _unpacked(path, below)
            except (*BROKEN_TAR, OSError) as error:
                why = f"it cannot be unpacked: {_said(error, below, path)}"
                yield deposit.differs("unreadable", path, why)
                return
            yield from _faults_of(bag, below, path, deposit)
            yield from _other_payload(bag, path, deposit)


# -- writing -----------------------------------------------------------------------------


class _Hashing(io.RawIOBase):
    """Writes to a file and computes the SHA-256 of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self.sha256.update(content)
        return self._file.write(content)


def write_bag(add: Add, deposit: Deposit, settings: BagSettings, day: str) -> None:
    """Write one bag, each file read once.

    Args:
        add: Gets paths that begin with the bag's directory.
        day: Its Bagging-Date.

    Raises:
        DepositFailed: A text of the manifest cannot be written.
        SourceChanged, FileNotInVersion: See `checked_chunks`.
    """
    below = adding_below(add, f"{directory_name(deposit.identifier)}/")
    with BagWriter(below, settings.manifests, settings.tag_manifests) as bag:
        for version in deposit.versions:
            for file in version.files:
                with checked_chunks(deposit.identifier, version, file) as chunks:
                    bag.payload(_in_bag(version.name, file.path), file.size, chunks)
        _tag(bag, deposit, "bagit.txt", DECLARATION)
        _tag(bag, deposit, INFO, info_text(_bag_info(deposit, settings, day)))
        _tag(bag, deposit, "silo.json", _about(deposit))
        bag.finish()


def _tag(bag: BagWriter, deposit: Deposit, name: str, text: str) -> None:
    try:
        bag.tag(name, text)
    except UnicodeEncodeError:
        why = f"half a surrogate pair in the manifest cannot be written into {name}"
        raise DepositFailed(deposit.identifier, why) from None


def _seconds(deposit: Deposit) -> int:
    """Return when the newest version was made; 0 if the release of 2010 did not note it."""
    newest = max(version.origin.date for version in deposit.versions)
    try:
        moment = datetime.fromisoformat(newest)
    except ValueError:
        return 0
    return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))


def _in_bag(version: str, path: str) -> str:
    """Return a file's path in the bag, in a form that every reader of manifests accepts."""
    return safe_path("data", version, path)


def _bag_info(deposit: Deposit, settings: BagSettings, day: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of RFC 8493, section 2.2.2, then those of the Silo."""
    files = [file for version in deposit.versions for file in version.files]
    yield from settings.info
    yield "External-Identifier", deposit.identifier
    labels = {label.casefold() for label, _ in settings.info}
    if deposit.source and SENDER.casefold() not in labels:
        yield SENDER, f"harvested from {deposit.source}"
    yield "Bagging-Date", day
    yield from size_fields(sum(file.size for file in files), len(files))
    for version in deposit.versions:
        made = one_line(version.origin.date) or "undated"
        yield "Silo-Version", f"{version.name} {made} sha256 {version.digest}"
    yield "Silo-Current-Version", deposit.version.name
    yield "Silo-Key", deposit.key


def _day_of(path: str, key: str) -> str:
    """Return the Bagging-Date of an existing bag with this key; or ``""``."""
    try:
        with tarfile.open(path, "r:") as tar:
            tag = next(one for one in tar if one.name.endswith("/bag-info.txt") and one.isfile()
                       and one.name.count("/") == 1 and one.size <= _MAX_INFO)  # fmt: skip
            info = cast(IO[bytes], tar.extractfile(tag)).read().decode()
        found = dict(line.split(": ", 1) for line in info.splitlines() if ": " in line)
        same = found.get("Silo-Key") == key
        return date.fromisoformat(found["Bagging-Date"]).isoformat() if same else ""
    except (*BROKEN_TAR, OSError, StopIteration, KeyError):
        return ""


def _about(deposit: Deposit) -> str:
    versions = [
        {
            "name": version.name,
            "made": version.origin.date,
            "source_datestamp": version.datestamp,
            "digest": version.digest,
            "origin": {
                "kind": version.origin.kind,
                "of": version.origin.of,
                "agent": version.origin.agent,
                "message": version.origin.message,
            },
            "files": [
                {
                    "path": file.path,
                    **_placed(version.name, file.path),
                    "size": file.size,
                    "sha256": file.sha256,
                    "metadata": file.is_metadata,
                    **({"document_of": file.document_of} if file.document_of else {}),
                }
                for file in version.files
            ],
        }
        for version in deposit.versions
    ]
    about = {"identifier": deposit.identifier, "source": deposit.source, "versions": versions}
    return json.dumps(about, ensure_ascii=False, indent=1) + "\n"


def _placed(version: str, path: str) -> dict[str, str]:
    """Return a file's path in the bag, if it differs from its own."""
    place = _in_bag(version, path)
    return {"in_bag": place} if place != f"data/{version}/{path}" else {}


# -- verifying ---------------------------------------------------------------------------


def _unpacked(path: str, below: str) -> str:
    """Unpack a bag and return its directory.

    Links are refused before anything is unpacked: an export writes none, and the filter of older
    versions of Python can be led out of the directory by them.

    Raises:
        BROKEN_TAR, OSError: The tar file is invalid, or has unsafe members.
    """
    with tarfile.open(path, "r:") as tar:
        for one in tar:
            if not (one.isdir() or one.isreg()) or one.issparse():
                raise tarfile.ReadError(f"{one.name} is not a plain file")
        tar.extractall(below, filter="data")
    names = os.listdir(below)
    if len(names) != 1:
        raise tarfile.ReadError(f"it holds {len(names)} directories, not one")
    return os.path.join(below, names[0])


def _said(error: object, below: str, path: str) -> str:
    """An error, with the tar file in place of the directory that it was unpacked into."""
    return str(error).replace(below, os.path.basename(path))


def _faults_of(bag: str, below: str, path: str, deposit: Deposit) -> Iterator[Difference]:
    """Yield what bagit, the reader of the Library of Congress, finds."""
    import bagit  # noqa: PLC0415 - slow to load, and needed only here

    with _quiet(bagit.LOGGER):
        try:
            bagit.Bag(bag).validate()
        except bagit.BagValidationError as error:
            for detail in error.details or [error]:
                name = getattr(detail, "path", "")
                said = _said(detail, below, path)
                yield deposit.differs("file", path, said, _version_of(name, deposit))
        except (bagit.BagError, OSError, ValueError) as error:
            yield deposit.differs("unreadable", path, _said(error, below, path))


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence the warnings on stderr; bagit raises them as errors too."""
    before = logger.disabled
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = before


def _version_of(name: str, deposit: Deposit) -> str:
    """Return the version that a payload file belongs to; ``""`` for a tag file."""
    below = "/".join(name.split("/")[:2])
    found = (one.name for one in deposit.versions if _in_bag(one.name, "") == f"{below}/")
    return next(found, "")


def _other_payload(bag: str, path: str, deposit: Deposit) -> Iterator[Difference]:
    """Yield how the payload differs from the deposit: a valid bag may hold something else."""
    expected = {
        _in_bag(version.name, file.path): file.sha256
        for version in deposit.versions
        for file in version.files
    }
    found = {
        os.path.relpath(os.path.join(below, name), bag)
        for below, _, names in os.walk(os.path.join(bag, "data"))
        for name in names
    }
    for name in sorted(expected.keys() | found):
        if name not in found:
            yield deposit.differs("file", path, f"{name} is missing", _version_of(name, deposit))
        elif name not in expected:
            yield deposit.differs(
                "extra", path, f"{name} was not exported", _version_of(name, deposit)
            )
        else:
            with open(os.path.join(bag, name), "rb", opener=regular_fd) as file:
                is_same = hashlib.file_digest(file, "sha256").hexdigest() == expected[name]
            if not is_same:
                why = f"the content of {name} differs from the Silo"
                yield deposit.differs("file", path, why, _version_of(name, deposit))
