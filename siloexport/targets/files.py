"""Plain files: a directory for each record, named by its cleaned identifier.

out/oai+eprints,example,org+6102/
  oai_dc                                as in the Silo
  oai_dc.xml                            the metadata document, unwrapped
  docs/licence.txt

If several versions are exported, each has its own directory (``1/oai_dc``).
"""

from collections.abc import Iterator

from infopackages.files import Add
from recordsilo.disk.digest import Digest
from siloexport.plan import Versions
from siloexport.targets.directory import DirectoryTarget, directory_name
from siloexport.targets.trees import KnownTreeForm, add_file
from siloexport.values import Deposit, ExportedFile, ExportedVersion

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


class _Files(KnownTreeForm):
    """See `siloexport.targets.trees.TreeForm`."""

    name = "files"

    def __init__(self, *, by_version: bool) -> None:
        self._by_version = by_version
        self.variant = "files by version" if by_version else "files"

    def files(self, add: Add, deposit: Deposit, day: str) -> None:  # noqa: ARG002 - plain files have no day
        for name, version, file in self._listed(deposit):
            add_file(add, deposit, version, file, name)

    def version_of(self, name: str, deposit: Deposit) -> str:  # noqa: ARG002 - its directory says it
        return name.partition("/")[0] if self._by_version else ""

    def digests(self, path: str, deposit: Deposit) -> dict[str, Digest]:  # noqa: ARG002 - the Silo knows them
        return {name: Digest(file.sha256, file.size) for name, _, file in self._listed(deposit)}

    def _listed(self, deposit: Deposit) -> Iterator[tuple[str, ExportedVersion, ExportedFile]]:
        for version in deposit.versions:
            below = f"{version.name}/" if self._by_version else ""
            for file in version.files:
                yield below + file.path, version, file
