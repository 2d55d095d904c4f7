"""Submission information packages by the E-ARK specifications, one for each record.

oai+eprints.example.org+6102/
  METS.xml  schemas/  documentation/README.txt
  metadata/descriptive/oai_dc.xml         of the last version
  metadata/preservation/premis.xml        how each version was made
  representations/1/                      version 1
    METS.xml  metadata/preservation/premis.xml  data/oai_dc …

They are directories; or tar files (``.tar.gz``), or bags, or both. The same deposit on the same
day gives the same bytes.

Source: E-ARK CSIP and SIP 2.2.0; PREMIS 3.0; BagIt 1.0 (RFC 8493).
"""

import hashlib
import json
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from importlib.metadata import version as release
from typing import IO, BinaryIO, cast

from infopackages import csip
from infopackages.bagit import DECLARATION, INFO, BagWriter, info_text, safe_path, size_fields
from infopackages.files import Add, PackagedFile, add_chunks, add_written, chunks_of
from infopackages.mets import Agent, Metadata, header_of
from infopackages.premis import write_premis
from infopackages.tar import tar_writer
from recordsilo.disk.atomic_file import Barrier, digest_of, make_directories, write_new
from recordsilo.disk.digest import Digest
from recordsilo.disk.regular_file import regular_fd
from siloexport.content import checked_chunks
from siloexport.errors import TargetUnusable
from siloexport.plan import digest_of as digest_of_json
from siloexport.targets import sip_history as history
from siloexport.targets.directory import (
    DAY,
    SETTINGS,
    DirectoryTarget,
    directory_name,
    marked,
    read_tree,
    tree_differences,
    tree_digest,
)
from siloexport.values import Deposit, Difference, ExportedFile, ExportedVersion

_VARIANT = "sip 1"
_MEDIA_TYPES = {
    ".xml": "application/xml", ".pdf": "application/pdf", ".txt": "text/plain",
    ".html": "text/html", ".json": "application/json", ".csv": "text/csv",
    ".zip": "application/zip", ".gz": "application/gzip", ".jpg": "image/jpeg",
    ".png": "image/png", ".tif": "image/tiff", ".tiff": "image/tiff",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SipSettings:
    """How packages are made.

    Attributes:
        bag: Whether each is in a bag.
        tar: Whether each is a tar file.
        submitter: Who submits them; ``""`` for the repository that they were harvested from.
    """

    bag: bool = False
    tar: bool = False
    submitter: str = ""


class SipTarget(DirectoryTarget):
    """A directory that records are exported to as information packages.

    Args:
        directory: A new or empty directory, or one from an earlier export of packages.
        settings: What is not given is as in the directory. If the submitter changes, all packages
            are made again; bags and tar files need a directory of their own.
        today: Returns the current day in UTC.
    """

    def __init__(
        self,
        directory: str,
        settings: SipSettings = SipSettings(),
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        super().__init__(directory, _Sips(settings, today))
        self._given = settings

    def _name(self, identifier: str) -> str:
        return package_name(identifier) + self._form.suffix

    def _take_marker(self, marker: bytes) -> None:
        text = marked(marker, SETTINGS)
        if not marker or not isinstance(self._form, _Sips):
            return
        try:
            kept = SipSettings(**(json.loads(text) if text else {}))
        except (ValueError, TypeError):
            why = f"the settings in {self.shown} cannot be read"
            raise TargetUnusable(f"{why}; name another directory") from None
        given = self._given
        if (given.bag or given.tar) and (given.bag, given.tar) != (kept.bag, kept.tar):
            raise TargetUnusable(
                f"{self.shown} holds packages as {_packing(kept)}; name another directory for"
                f" {_packing(given)}"
            )
        submitter = given.submitter or kept.submitter
        self._form = replace(self._form, given=replace(kept, submitter=submitter))


def package_name(identifier: str) -> str:
    """Return a package's name: as `directory_name`, with dots, for readers that split at commas.

    commons-ip 2.11 takes ``-i a,b`` for two packages. A cleaned name has commas only for dots.
    """
    name = directory_name(identifier).replace(",", ".")
    return f"^2e{name[1:]}" if name.startswith(".") else name


def _packing(settings: SipSettings) -> str:
    kind = "tar files" if settings.tar else "directories"
    return f"bags in {kind}" if settings.bag else kind


@dataclass(frozen=True, slots=True)
class _Sips:
    """See `siloexport.targets.directory.RecordForm`."""

    given: SipSettings
    today: Callable[[], date]
    name: str = "sips"

    @property
    def suffix(self) -> str:
        return ".tar.gz" if self.given.tar else ""

    @property
    def variant(self) -> str:
        return f"{_VARIANT} {digest_of_json(self.settings)[:16]}"

    @property
    def settings(self) -> str:
        return json.dumps(asdict(self.given))

    def day(self, path: str, deposit: Deposit) -> str:
        """See `Form`: the day of packaging, kept if the same package was made before."""
        kept = deposit.noted.get(DAY)
        if not kept:
            created, key = self._header(path)
            kept = created[:10] if key == deposit.key else ""
        return kept or f"{self.today()}"

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:
        if not self.given.tar:
            written: dict[str, Digest] = {}
            os.mkdir(path)
            barrier.directory_changed(path)
            write_sip(_to_directory(path, barrier, written), deposit, self.given, day)
            return tree_digest(written)
        with open(path, "xb") as file:
            with tar_writer(file, _seconds(day), compress=True) as add:
                below = _prefixed(add, f"{package_name(deposit.identifier)}/")
                write_sip(below, deposit, self.given, day)
            file.flush()
            barrier.file_written(file.fileno())
        return self.digest(path)

    def digest(self, path: str) -> str:
        if not self.given.tar:
            is_directory = os.path.isdir(path) and not os.path.islink(path)
            return tree_digest(read_tree(path)) if is_directory else ""
        try:
            with open(path, "rb", opener=regular_fd) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except (FileNotFoundError, IsADirectoryError):
            return ""

    def expected(self, deposit: Deposit) -> str | None:  # noqa: ARG002 - METS needs digests of all files
        return None

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        """See `Form`: against the package as it would be written on the day that it names."""
        try:
            found = dict(self._files(path))
        except (OSError, ValueError, tarfile.TarError, EOFError) as error:
            yield deposit.differs("unreadable", path, f"it cannot be read: {error}")
            return
        day = self._header(path)[0][:10] or f"{self.today()}"
        expected: dict[str, Digest] = {}

        def add(name: str, _size: int, source: IO[bytes]) -> None:
            expected[name] = digest_of(cast(BinaryIO, source))

        write_sip(add, deposit, self.given, day)
        places = {history.representation_of(one): one.name for one in deposit.versions}

        def version_of(name: str) -> str:
            _, _, below = name.rpartition("representations/")
            return places.get(below.partition("/")[0], "") if below != name else ""

        yield from tree_differences(path, deposit, expected, found, version_of)

    def _files(self, path: str) -> Iterable[tuple[str, Digest]]:
        if not self.given.tar:
            yield from read_tree(path).items()
            return
        top = os.path.basename(path).removesuffix(self.suffix)
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                file = tar.extractfile(member)
                if file is None or not member.name.startswith(f"{top}/"):
                    raise ValueError(f"{member.name} is no file of {top}")
                yield member.name.removeprefix(f"{top}/"), digest_of(cast(BinaryIO, file))

    def _header(self, path: str) -> tuple[str, str]:
        """Return when an existing package was made, and its key; empty if it does not say."""
        top = os.path.basename(path).removesuffix(self.suffix)
        mets = _below_bag(self.given, top) + csip.METS
        try:
            if not self.given.tar:
                with open(os.path.join(path, mets), "rb", opener=regular_fd) as file:
                    return header_of(file)
            with tarfile.open(path, "r:gz") as tar:
                member = next(one for one in tar if one.name == f"{top}/{mets}" and one.isfile())
                return header_of(cast(IO[bytes], tar.extractfile(member)))
        except (OSError, ValueError, tarfile.TarError, EOFError, StopIteration):
            return "", ""


# -- writing -----------------------------------------------------------------------------


def write_sip(add: Add, deposit: Deposit, settings: SipSettings, day: str) -> None:
    """Write one package, each file read once.

    Args:
        add: Gets paths below the package's directory, or that of its bag.
        deposit: The record.
        settings: Of the package.
        day: On which it is made.

    Raises:
        SourceChanged, FileNotInVersion: See `checked_chunks`.
    """
    writer = _SipWriter(add, deposit, settings, day)
    if not settings.bag:
        for _ in writer.files():
            pass
        return
    with BagWriter(add) as bag:
        for file in writer.files():
            bag.known(file.moved("", writer.below))
        bag.tag("bagit.txt", DECLARATION)
        bag.tag(INFO, info_text(writer.info(bag)))
        bag.finish()


def _prefixed(add: Add, prefix: str) -> Add:
    def add_below(name: str, size: int, source: IO[bytes]) -> None:
        add(f"{prefix}{name}", size, source)

    return add_below


def _to_directory(directory: str, barrier: Barrier, written: dict[str, Digest]) -> Add:
    def add(name: str, _size: int, source: IO[bytes]) -> None:
        place = f"{directory}/{name}"
        make_directories(os.path.dirname(place), directory, barrier)
        written[name] = write_new(place, chunks_of(source), barrier)

    return add


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


def _kept(premis: PackagedFile) -> Metadata:
    return Metadata(premis, "digiprovMD", "PREMIS", version="3.0")


def _below_bag(settings: SipSettings, name: str) -> str:
    return f"data/{name}/" if settings.bag else ""


class _SipWriter:
    """Writes the files of one package."""

    def __init__(self, add: Add, deposit: Deposit, settings: SipSettings, day: str) -> None:
        self._deposit, self._settings, self._day = deposit, settings, day
        self._created, self._software = f"{day}T00:00:00Z", f"silo {release('recordsilo')}"
        self._name = package_name(deposit.identifier)
        self.below = _below_bag(settings, self._name)
        self._add = _prefixed(add, self.below)

    def files(self) -> Iterator[PackagedFile]:
        """Write everything; yield each file, with its path below the package."""
        representations = []
        for version in self._deposit.versions:
            representation, files = self._representation(version)
            representations.append(representation)
            yield from (one.moved("", f"{representation.directory}/") for one in files)
        described = tuple(self._descriptive())
        write = partial(
            write_premis,
            objects=history.objects(self._deposit, self._name),
            events=history.events(self._deposit, self._name, self._created, self._software),
            agents=history.agents(self._deposit, self._software),
        )
        premis = add_written(self._add, csip.PREMIS, write)
        about = self._about()
        yield from (*(one.file for one in described), premis, about)
        submitter = self._settings.submitter or self._deposit.source or "not stated"
        yield from csip.add_descriptions(
            self._add,
            csip.Package(
                self._name,
                self._deposit.identifier,
                "Mixed",
                self._created,
                (Agent.software("silo", release("recordsilo")), Agent(submitter)),
                (*described, _kept(premis)),
                tuple(representations),
                (about,),
                document=self._deposit.key,
            ),
        )

    def _representation(
        self, version: ExportedVersion
    ) -> tuple[csip.Representation, list[PackagedFile]]:
        name = history.representation_of(version)
        add = _prefixed(self._add, f"representations/{name}/")
        files = [
            (file, self._copy(add, version, file, safe_path("data", file.path)))
            for file in version.files
            if not file.document_of
        ]
        data, kept = [packaged for _, packaged in files], []
        if files:  # PREMIS has at least one object
            objects = history.file_objects(version, self._name, files)
            kept = [add_written(add, csip.PREMIS, partial(write_premis, objects=objects))]
        label = f"Version {version.name} of {self._deposit.identifier}"
        return csip.Representation(name, label, data, tuple(map(_kept, kept))), [*data, *kept]

    def _descriptive(self) -> Iterator[Metadata]:
        version = self._deposit.version
        taken = {file.path for file in version.files}
        for file in history.descriptive_files(version):
            is_named = file.path.endswith(".xml") or f"{file.path}.xml" in taken
            path = f"{csip.DESCRIPTIVE}/{safe_path(file.path if is_named else f'{file.path}.xml')}"
            kind, other = history.metadata_type(file.path)
            copied = self._copy(self._add, version, file, path)
            yield Metadata(copied, "dmdSec", kind, other)

    def _about(self) -> PackagedFile:
        content = history.about(self._deposit).encode()
        known = PackagedFile(f"{csip.DOCUMENTATION}/README.txt", len(content), "", "text/plain")
        return add_chunks(self._add, known, [content])

    def _copy(
        self, add: Add, version: ExportedVersion, file: ExportedFile, path: str
    ) -> PackagedFile:
        is_xml = file.is_metadata or file.document_of
        kind = ".xml" if is_xml else os.path.splitext(file.path)[1].lower()
        media_type = _MEDIA_TYPES.get(kind, "application/octet-stream")
        known = PackagedFile(path, file.size, "", media_type, history.made(version))
        with checked_chunks(self._deposit.identifier, version, file) as chunks:
            return add_chunks(add, known, chunks)

    def info(self, bag: BagWriter) -> Iterator[tuple[str, str]]:
        """Yield the fields of ``bag-info.txt`` (RFC 8493, section 2.2.2)."""
        if self._settings.submitter:
            yield "Source-Organization", self._settings.submitter
        yield "External-Identifier", self._deposit.identifier
        yield "Bagging-Date", self._day
        yield from size_fields(bag.size, bag.count)
        yield "Bag-Software-Agent", self._software
