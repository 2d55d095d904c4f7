"""What the steps of packages work with."""

from dataclasses import dataclass

from silocrawl.packages.layout import package_directory
from silocrawl.packages.store import FileStore
from silocrawl.packages.values import Package, Told


@dataclass(frozen=True, slots=True)
class PackageWork:
    """What a step works on: it is a function ``(Work, StoreSettings) -> Package``.

    It raises `PackagingError` if it fails, and `PackageLater` if it waits for others. It may be
    done again after it was killed at any point. It returns the package with what it has found; its
    state is noted by the caller.

    Attributes:
        silo_path: The Silo.
        package: The package as it is noted.
        store: Its store.
        told: Gets the number of bytes worked on since the last call.
    """

    silo_path: str
    package: Package
    store: FileStore
    told: Told = lambda _: None

    @property
    def directory(self) -> str:
        """The working directory of the package."""
        return package_directory(self.silo_path, self.package.id)
