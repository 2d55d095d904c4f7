"""Records that are directories, written file by file: what such forms of a record share."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import IO, BinaryIO, cast

from infopackages.containers import BROKEN_TAR
from infopackages.files import Add, DigestedChunks, chunks_of
from recordsilo.disk.atomic_file import Barrier, digest_of, make_directories, write_new
from recordsilo.disk.digest import Digest
from siloexport.content import checked_chunks
from siloexport.targets.directory import read_tree, tree_differences, tree_digest
from siloexport.values import Deposit, Difference, ExportedFile, ExportedVersion


class TreeForm(ABC):
    """See `siloexport.targets.directory.RecordForm`: a directory, whose files `files` writes."""

    name = ""
    suffix = ""
    settings = ""

    @abstractmethod
    def files(self, add: Add, deposit: Deposit, day: str) -> None:
        """Write the files of a record, each read once.

        Args:
            add: Gets paths below the record's directory.
            deposit: What is exported.
            day: From `day`.

        Raises:
            SourceChanged, FileNotInVersion: See `siloexport.content.checked_chunks`.
        """

    def day(self, path: str, deposit: Deposit) -> str:  # noqa: ARG002 - most have no day
        """See `RecordForm`."""
        return ""

    def version_of(self, name: str, deposit: Deposit) -> str:  # noqa: ARG002 - one version
        """Return the version that a file of the record is in; ``""`` for none."""
        return ""

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:
        """See `RecordForm`."""
        written: dict[str, Digest] = {}
        os.mkdir(path)
        barrier.directory_changed(path)

        def add(name: str, _size: int, source: IO[bytes]) -> None:
            place = f"{path}/{name}"
            if "/" in name:
                make_directories(os.path.dirname(place), path, barrier)
            written[name] = write_new(place, chunks_of(source), barrier)

        self.files(add, deposit, day)
        return tree_digest(written)

    def digest(self, path: str) -> str:
        """See `RecordForm`."""
        is_directory = os.path.isdir(path) and not os.path.islink(path)
        return tree_digest(read_tree(path)) if is_directory else ""

    def expected(self, deposit: Deposit) -> str | None:  # noqa: ARG002 - descriptions are made while writing
        """See `RecordForm`."""
        return None

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        """See `RecordForm`: against the record as it would be written on the day that it names."""
        try:
            found = self.files_in(path)
        except (*BROKEN_TAR, OSError) as error:
            yield deposit.differs("unreadable", path, f"it cannot be read: {error}")
            return
        expected = self.digests(path, deposit)
        yield from tree_differences(
            path, deposit, expected, found, lambda name: self.version_of(name, deposit)
        )

    def files_in(self, path: str) -> Mapping[str, Digest]:
        """Return path → digest of the files of an existing record.

        Raises:
            BROKEN_TAR, OSError: It cannot be read.
        """
        return read_tree(path)

    def digests(self, path: str, deposit: Deposit) -> Mapping[str, Digest]:
        """Return path → digest of the files that would be written on the day that a record names.

        Args:
            path: Of the record.
            deposit: What is exported.
        """
        expected: dict[str, Digest] = {}

        def add(name: str, _size: int, source: IO[bytes]) -> None:
            expected[name] = digest_of(cast(BinaryIO, source))

        self.files(add, deposit, self.day_in(path, deposit))
        return expected

    def day_in(self, path: str, deposit: Deposit) -> str:
        """Return the day that an existing record names, or a new one."""
        return self.day(path, replace(deposit, noted={}))


class KnownTreeForm(TreeForm):
    """A form whose digests are known before anything is written, so that no file is read."""

    @abstractmethod
    def digests(self, path: str, deposit: Deposit) -> Mapping[str, Digest]:
        """See `TreeForm`; the path does not matter."""

    def expected(self, deposit: Deposit) -> str | None:
        """See `RecordForm`."""
        return tree_digest(self.digests("", deposit))

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        """See `RecordForm`."""
        expected, found = self.digests(path, deposit), self.files_in(path)
        return tree_differences(
            path, deposit, expected, found, lambda name: self.version_of(name, deposit)
        )


def add_file(
    add: Add, deposit: Deposit, version: ExportedVersion, file: ExportedFile, path: str
) -> None:
    """Add a file of a version under a path, and compare its digest with the Silo's.

    Raises:
        SourceChanged, FileNotInVersion: See `siloexport.content.checked_chunks`.
    """
    with checked_chunks(deposit.identifier, version, file) as chunks:
        source = DigestedChunks(chunks, ())
        add(path, file.size, cast(IO[bytes], source))
        source.finish()
