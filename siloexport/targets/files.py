"""Plain files: a directory for each record, named by its cleaned identifier.

out/oai+eprints,example,org+6102/
  oai_dc                                as in the Silo
  oai_dc.xml                            the metadata document, unwrapped
  docs/licence.txt

If several versions are exported, each has its own directory (``1/oai_dc``).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from recordsilo.disk.atomic_file import Barrier, make_directories, write_new
from recordsilo.disk.digest import Digest
from siloexport.content import checked_chunks
from siloexport.plan import Versions
from siloexport.targets.directory import (
    DirectoryTarget,
    directory_name,
    read_tree,
    tree_differences,
    tree_digest,
)
from siloexport.values import Deposit, Difference, ExportedFile, ExportedVersion

__all__ = ["FilesTarget", "directory_name"]


class FilesTarget(DirectoryTarget):
    """A directory that records are exported to as plain files.

    Args:
        directory: A new or empty directory, or one from an earlier export of files.
        versions: Which versions are exported; if more than the current one, each has its own
            directory.
    """

    def __init__(self, directory: str, versions: Versions = Versions.CURRENT) -> None:
        super().__init__(directory, _Files(by_version=versions is not Versions.CURRENT))


@dataclass(frozen=True, slots=True)
class _Files:
    """See `siloexport.targets.directory.RecordForm`."""

    by_version: bool
    name: str = "files"
    suffix: str = ""

    @property
    def variant(self) -> str:
        return "files by version" if self.by_version else "files"

    @property
    def settings(self) -> str:
        return ""

    def day(self, path: str, deposit: Deposit) -> str:  # noqa: ARG002 - plain files have no day
        return ""

    def write(self, path: str, deposit: Deposit, day: str, barrier: Barrier) -> str:  # noqa: ARG002 - see `day`
        os.mkdir(path)
        barrier.directory_changed(path)
        written = {}
        for name, version, file in self._listed(deposit):
            if "/" in name:
                make_directories(os.path.dirname(f"{path}/{name}"), path, barrier)
            with checked_chunks(deposit.identifier, version, file) as chunks:
                written[name] = write_new(f"{path}/{name}", chunks, barrier)
        return tree_digest(written)

    def digest(self, path: str) -> str:
        is_directory = os.path.isdir(path) and not os.path.islink(path)
        return tree_digest(read_tree(path)) if is_directory else ""

    def expected(self, deposit: Deposit) -> str | None:
        return tree_digest(self._digests(deposit))

    def differences(self, path: str, deposit: Deposit) -> Iterator[Difference]:
        return tree_differences(
            path, deposit, self._digests(deposit), read_tree(path), self._version
        )

    def _version(self, name: str) -> str:
        return name.partition("/")[0] if self.by_version else ""

    def _listed(self, deposit: Deposit) -> Iterator[tuple[str, ExportedVersion, ExportedFile]]:
        for version in deposit.versions:
            below = f"{version.name}/" if self.by_version else ""
            for file in version.files:
                yield below + file.path, version, file

    def _digests(self, deposit: Deposit) -> dict[str, Digest]:
        return {name: Digest(file.sha256, file.size) for name, _, file in self._listed(deposit)}
