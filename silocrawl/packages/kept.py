"""What is noted of packages: ``crawling/packages/ID/package.json``, written whole."""

import os

from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.regular_file import open_regular
from silocrawl.packages.layout import packages_directory, state_file
from silocrawl.packages.values import (
    Package,
    PackageInvalid,
    PackagingError,
    check_package_id,
    package_json,
    package_of,
)


class NoPackage(PackagingError):
    """There is no package of that name."""

    def __init__(self, package_id: str) -> None:
        super().__init__(f"there is no package {package_id}; silo crawl packages lists them")


def has_package(silo_path: str, package_id: str) -> bool:
    """Whether a package was begun."""
    return os.path.isfile(state_file(silo_path, check_package_id(package_id)))


def load_package(silo_path: str, package_id: str) -> Package:
    """Read what is noted of a package.

    Raises:
        NoPackage: There is none of that name.
        PackageInvalid: It is damaged, or that of another package.
        PackagingError: It cannot be read.
    """
    path = state_file(silo_path, check_package_id(package_id))
    try:
        with open_regular(path) as file:
            found = package_of(file.read())
    except FileNotFoundError:
        raise NoPackage(package_id) from None
    except OSError as error:
        raise PackagingError(f"{path} cannot be read: {error.strerror}") from None
    except PackageInvalid as error:
        raise PackageInvalid(f"{path}: {error}") from None
    if found.id != package_id:
        raise PackageInvalid(f"{path} is that of another package, {found.id}")
    return found


def keep_package(silo_path: str, package: Package) -> Package:
    """Note a package, completely or not at all; return it."""
    path = state_file(silo_path, package.id)
    make_parents(path, silo_path)
    replace_file(path, package_json(package))
    return package


def package_ids(silo_path: str) -> list[str]:
    """The names of the packages of a Silo, sorted."""
    directory = packages_directory(silo_path)
    names = os.listdir(directory) if os.path.isdir(directory) else []
    return sorted(
        one for one in names if os.path.isfile(os.path.join(directory, one, "package.json"))
    )


def load_packages(silo_path: str) -> tuple[list[Package], list[PackagingError]]:
    """Read all packages; return them in the order of their checkpoints, and what is damaged."""
    found, damaged = [], list[PackagingError]()
    for name in package_ids(silo_path):
        try:
            found.append(load_package(silo_path, name))
        except PackagingError as error:
            damaged.append(error)
    return sorted(found, key=lambda one: (one.ended, one.id)), damaged
