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
import re
import tarfile
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import IO, Any, cast

from recordsilo.disk.atomic_file import Barrier
from recordsilo.disk.regular_file import regular_fd
from siloexport.content import checked_chunks
from siloexport.errors import DepositFailed
from siloexport.plan import digest_of
from siloexport.targets.bag_settings import SENDER, BagSettings
from siloexport.targets.directory import DAY, SETTINGS, DirectoryTarget, directory_name, marked
from siloexport.values import Deposit, Difference, ExportedFile, ExportedVersion

_BAGIT = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
_VARIANT = "bag 2"
_MAX_NAME = 250
_MAX_INFO = 1 << 20
_TROUBLE = re.compile(
    "[%\x00-\x1f\x7f\x85\u2028\u2029]|\\s+\\Z|\\^(?=[0-9a-f]{2})|~(?=[0-9a-f]{24}\\Z)"
)
_TROUBLE_OR_NOT_ASCII = re.compile(rf"[^\x00-\x7f]|{_TROUBLE.pattern}")


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
            with tarfile.open(fileobj=hashing, mode="w|", format=tarfile.PAX_FORMAT) as tar:
                write_bag(_to_tar(tar, deposit), deposit, self.given, day)
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
            except (tarfile.TarError, OSError) as error:
                yield deposit.differs("unreadable", path, f"it cannot be unpacked: {error}")
                return
            yield from _faults_of(bag, path, deposit)
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


class _DigestedChunks(io.RawIOBase):
    """A file for `tarfile` that reads chunks and computes their digests."""

    def __init__(self, chunks: Iterator[bytes], algorithms: Iterable[str]) -> None:
        self._chunks, self._left = chunks, b""
        self.digests = {one: hashlib.new(one, usedforsecurity=False) for one in algorithms}

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while len(self._left) < size and (chunk := next(self._chunks, b"")):
            self._left += chunk
        taken, self._left = self._left[:size], self._left[size:]
        for digest in self.digests.values():
            digest.update(taken)
        return taken

    def finish(self) -> None:
        """Read to the end, so that the digest is checked (`checked_chunks`)."""
        for _ in self._chunks:
            pass


Add = Callable[[str, int, IO[bytes]], object]
"""Adds a file to an archive: its name, its size in bytes, its content."""


def write_bag(add: Add, deposit: Deposit, settings: BagSettings, day: str) -> None:
    """Write one bag, each file read once.

    Args:
        add: Gets names that begin with the bag's directory.
        deposit: The record.
        settings: Of the bag.
        day: Its Bagging-Date.

    Raises:
        DepositFailed: A text of the manifest cannot be written.
        SourceChanged, FileNotInVersion: See `checked_chunks`.
    """
    _BagWriter(add, deposit, settings, day).write()


def _to_tar(tar: tarfile.TarFile, deposit: Deposit) -> Add:
    def add(name: str, size: int, source: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = size, _seconds(deposit), 0o644
        tar.addfile(member, source)

    return add


@dataclass(slots=True)
class _BagWriter:
    """Writes the files of one bag."""

    add: Add
    deposit: Deposit
    settings: BagSettings
    day: str
    payload: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    tags: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)

    def write(self) -> None:
        for version in self.deposit.versions:
            for file in version.files:
                self._payload(version, file)
        self._tag("bagit.txt", _BAGIT)
        self._tag("bag-info.txt", "".join(_bag_info(self.deposit, self.settings, self.day)))
        self._tag("silo.json", _about(self.deposit))
        for one in self.settings.manifests:
            self._tag(f"manifest-{one}.txt", _lines(self.payload, one))
        sums = tuple(self.tags)
        for one in self.settings.tag_manifests:
            self._tag(f"tagmanifest-{one}.txt", _lines(sums, one))

    def _payload(self, version: ExportedVersion, file: ExportedFile) -> None:
        name = _in_bag(version.name, file.path)
        with checked_chunks(self.deposit.identifier, version, file) as chunks:
            source = _DigestedChunks(chunks, self.settings.manifests)
            self._add(name, file.size, source)
            source.finish()
        self.payload.append((name, _hexes(source)))

    def _tag(self, name: str, text: str) -> None:
        try:
            content = text.encode()
        except UnicodeEncodeError:
            why = f"half a surrogate pair in the manifest cannot be written into {name}"
            raise DepositFailed(self.deposit.identifier, why) from None
        source = _DigestedChunks(iter([content]), self.settings.tag_manifests)
        self._add(name, len(content), source)
        self.tags.append((name, _hexes(source)))

    def _add(self, name: str, size: int, source: _DigestedChunks) -> None:
        self.add(f"{directory_name(self.deposit.identifier)}/{name}", size, cast(IO[bytes], source))


def _seconds(deposit: Deposit) -> int:
    """Return when the newest version was made; 0 if the release of 2010 did not note it."""
    newest = max(version.origin.date for version in deposit.versions)
    try:
        moment = datetime.fromisoformat(newest)
    except ValueError:
        return 0
    return max(0, int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()))


def _hexes(source: _DigestedChunks) -> dict[str, str]:
    return {name: digest.hexdigest() for name, digest in source.digests.items()}


def _lines(digests: Iterable[tuple[str, Mapping[str, str]]], algorithm: str) -> str:
    """Return a manifest (RFC 8493, section 2.1.3); no name has a character to be encoded."""
    return "".join(f"{found[algorithm]}  {name}\n" for name, found in digests)


def _in_bag(version: str, path: str) -> str:
    """Return a file's path in the bag, in a form that every reader of manifests accepts.

    ``^hh`` replaces characters that some cannot read: bagit 1.9.0 does not decode ``%25``, ends
    lines at U+2028 and strips spaces at their ends. Long names are cut and end in a digest.
    """
    return "/".join(["data", *map(_plain, [version, *path.split("/")])])


def _plain(name: str) -> str:
    is_composed = unicodedata.is_normalized("NFC", name)
    plain = (_TROUBLE if is_composed else _TROUBLE_OR_NOT_ASCII).sub(_hex, name)
    if len(plain.encode()) <= _MAX_NAME:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:24]
    return f"{plain.encode()[: _MAX_NAME - 25].decode(errors='ignore')}~{digest}"


def _hex(match: re.Match[str]) -> str:
    return "".join(f"^{octet:02x}" for octet in match[0].encode())


def _bag_info(deposit: Deposit, settings: BagSettings, day: str) -> Iterator[str]:
    """Yield the fields of RFC 8493, section 2.2.2, then those of the Silo."""
    files = [file for version in deposit.versions for file in version.files]
    octets = sum(file.size for file in files)
    yield from (f"{label}: {value}\n" for label, value in settings.info)
    yield f"External-Identifier: {_one_line(deposit.identifier)}\n"
    labels = {label.casefold() for label, _ in settings.info}
    if deposit.source and SENDER.casefold() not in labels:
        yield f"{SENDER}: harvested from {_one_line(deposit.source)}\n"
    yield f"Bagging-Date: {day}\n"
    yield f"Bag-Size: {_shown_size(octets)}\n"
    yield f"Payload-Oxum: {octets}.{len(files)}\n"
    for version in deposit.versions:
        made = _one_line(version.origin.date) or "undated"
        yield f"Silo-Version: {_one_line(version.name)} {made} sha256 {version.digest}\n"
    yield f"Silo-Current-Version: {_one_line(deposit.version.name)}\n"
    yield f"Silo-Key: {deposit.key}\n"


def _shown_size(octets: float) -> str:
    if octets < 1000:
        return f"{octets} B"
    for unit in ("KB", "MB", "GB"):
        octets /= 1000
        if octets < 999.95:
            return f"{octets:.1f} {unit}"
    return f"{octets / 1000:.1f} TB"


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
    except (OSError, tarfile.TarError, StopIteration, ValueError, KeyError):
        return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


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

    Raises:
        tarfile.TarError, OSError: The tar file is invalid, or has unsafe members.
    """
    with tarfile.open(path, "r:") as tar:
        tar.extractall(below, filter="data")
    names = os.listdir(below)
    if len(names) != 1:
        raise tarfile.ReadError(f"it holds {len(names)} directories, not one")
    return os.path.join(below, names[0])


def _faults_of(bag: str, path: str, deposit: Deposit) -> Iterator[Difference]:
    """Yield what bagit, the reader of the Library of Congress, finds."""
    import bagit  # noqa: PLC0415 - slow to load, and needed only here

    with _quiet(bagit.LOGGER):
        try:
            bagit.Bag(bag).validate()
        except bagit.BagValidationError as error:
            for detail in error.details or [error]:
                name = getattr(detail, "path", "")
                yield deposit.differs("file", path, str(detail), _version_of(name, deposit))
        except (bagit.BagError, OSError, ValueError) as error:
            yield deposit.differs("unreadable", path, str(error))


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
