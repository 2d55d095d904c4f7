"""Writes an information package (`siloexport.targets.sip`), each file read once."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from infopackages import csip
from infopackages.bagit import DECLARATION, INFO, BagWriter, info_text, safe_path, size_fields
from infopackages.files import Add, PackagedFile, add_chunks, add_written, adding_below
from infopackages.mets import MetadataFile, MetsAgent
from infopackages.premis import write_premis
from siloexport.content import checked_chunks
from siloexport.targets import sip_history as history
from siloexport.targets.directory import directory_name
from siloexport.values import Deposit, ExportedFile, ExportedVersion

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


DEFAULT = SipSettings()


def package_name(identifier: str) -> str:
    """Return a package's name: as `directory_name`, with dots, for readers that split at commas.

    commons-ip 2.11 takes ``-i a,b`` for two packages. A cleaned name has commas only for dots.
    """
    name = directory_name(identifier).replace(",", ".")
    return f"^2e{name[1:]}" if name.startswith(".") else name


def write_sip(add: Add, deposit: Deposit, settings: SipSettings, day: str) -> None:
    """Write one package, each file read once.

    Args:
        add: Gets paths below the package's directory, or that of its bag.
        settings: Of the package.
        day: On which it is made, and the release of silo that makes it.

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


def below_bag(settings: SipSettings, name: str) -> str:
    """Return where a package is in its bag, with a slash at the end; ``""`` without a bag."""
    return f"data/{name}/" if settings.bag else ""


class _SipWriter:
    """Writes the files of one package."""

    def __init__(self, add: Add, deposit: Deposit, settings: SipSettings, day: str) -> None:
        self._deposit, self._settings = deposit, settings
        self._day, _, self._release = day.partition(" ")
        self._created, self._software = f"{self._day}T00:00:00Z", f"silo {self._release}"
        self._name = package_name(deposit.identifier)
        self.below = below_bag(settings, self._name)
        self._add = adding_below(add, self.below)

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
            csip.InformationPackage(
                self._name,
                self._deposit.identifier,
                "Mixed",
                self._created,
                (MetsAgent.software("silo", self._release), MetsAgent(submitter)),
                (*described, MetadataFile.premis(premis)),
                tuple(representations),
                (about,),
                document=self._deposit.key,
            ),
        )

    def _representation(
        self, version: ExportedVersion
    ) -> tuple[csip.Representation, list[PackagedFile]]:
        name = history.representation_of(version)
        add = adding_below(self._add, f"representations/{name}/")
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
        return csip.Representation(name, label, data, tuple(map(MetadataFile.premis, kept))), [
            *data,
            *kept,
        ]

    def _descriptive(self) -> Iterator[MetadataFile]:
        version = self._deposit.version
        taken = {file.path for file in version.files}
        for file in history.descriptive_files(version):
            is_named = file.path.endswith(".xml") or f"{file.path}.xml" in taken
            path = f"{csip.DESCRIPTIVE}/{safe_path(file.path if is_named else f'{file.path}.xml')}"
            kind, other = history.metadata_type(file.path)
            copied = self._copy(self._add, version, file, path)
            yield MetadataFile(copied, "dmdSec", kind, other)

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
        known = PackagedFile(path, file.size, "", media_type, version.made)
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
