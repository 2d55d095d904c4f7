"""A package: what is exported of one record, taken from one version of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from typing import BinaryIO, Protocol

from recordsilo import HarvestedRecord
from reexport.unwrap import unwrap

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Package:
    """One version of one record, ready to be sent.

    Attributes:
        version: Its name.
        documents: Name → content of the metadata unwrapped from its OAI-PMH element,
            as ``<prefix>.xml``; where the version has a file of that name, that stays.
    """

    record: HarvestedRecord
    version: str
    documents: dict[str, bytes]

    @classmethod
    def of(cls, record: HarvestedRecord, version: str | None = None) -> "Package":
        """Package a version, by default the one the cursor stands on.

        Raises:
            FileNotInVersion: A metadata file is gone from the disk, or dangles.
        """
        name = version or record.currentversion
        return cls(record, name, dict(_documents(record, name)))

    @property
    def identifier(self) -> str:
        """The record's identifier."""
        return self.record.item_id

    @property
    def names(self) -> list[str]:
        """Paths of all files of the package: those of the version, then the documents."""
        return [*self.record.paths(self.version), *self.documents]

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """One file of the package, for reading.

        Raises:
            FileNotInVersion: It is gone from the disk, or dangles.
        """
        source: BinaryIO
        if name in self.documents:
            source = BytesIO(self.documents[name])
        else:
            source = self.record.get_stream(name, self.version)
        with source:
            yield source


def _documents(record: HarvestedRecord, version: str) -> Iterator[tuple[str, bytes]]:
    taken = set(record.paths(version))
    for path in record.metadata_files[version]:
        name = f"{path}.xml"
        if path.endswith((".xml", ".about")) or name in taken or path not in taken:
            continue
        with record.get_stream(path, version) as stream:
            document = unwrap(stream.read())
        if document is not None:
            yield name, document


class Outcome(StrEnum):
    """What became of a package."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class PackageTarget(Protocol):
    """A place to export to."""

    def prepare(self) -> None:
        """Check that the target can be used; make what it needs.

        Raises:
            TargetUnusable: It cannot; nothing was written.
        """

    def deposit(self, package: Package) -> Outcome:
        """Put a package there, whole or not at all; one that is there already stays.

        Raises:
            DepositFailed: This one could not be put; the target is as it was.
            TargetUnusable: No further one can be put either.
        """

    def has(self, identifier: str) -> bool:
        """Whether the target holds a package of a record."""
