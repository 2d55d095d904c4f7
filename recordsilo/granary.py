"""Granary: a directory of Silos, each with a description (the 2010 class of that name)."""

import os
import secrets
from typing import TYPE_CHECKING, Any

from recordsilo.disk import atomic_file
from recordsilo.disk.names import STAGED_PREFIX, STAGED_SUFFIX, check_version_name, is_staged
from recordsilo.disk.sizes import size_of
from recordsilo.errors import VERSION_FILE, SiloNotFound, VersionNameError
from recordsilo.silo import Silo
from recordsilo.state import STATE_FILE, PersistentState

if TYPE_CHECKING:
    from recordsilo.rdf.records import RDFSilo


def is_granary(path: str) -> bool:
    """Whether a directory is not a Silo, and contains some or has the state of a `Granary`."""
    if not os.path.isdir(path) or os.path.exists(os.path.join(path, VERSION_FILE)):
        return False
    is_new = os.path.exists(os.path.join(path, STATE_FILE))
    return is_new or bool(Granary(path, create=False).silos)


_OWN_NAMES = frozenset({"accounts", "curation", "fleet", STATE_FILE})
"""Names in a directory of Silos that have another meaning there, or may get one."""
_OWN_SUFFIXES = (".crawls", ".exports")
"""Of directories beside a Silo: its exports, and the inputs of its crawls."""


def fault_of_silo_name(name: str) -> str:
    """Why no new Silo of a directory of Silos can have a name; empty if one can."""
    try:
        check_version_name(name)
    except VersionNameError as error:
        return error.reason
    if name.startswith((".", "-")):
        return "a name may not begin with a dot, as the directory's own ones do, or with a hyphen"
    if name.casefold() in _OWN_NAMES:
        return "the directory's own files or accounts have that name; choose another"
    if name.casefold().endswith(_OWN_SUFFIXES):
        return "files that belong to the Silos beside it have such names; choose another"
    return ""


class Granary:
    """A directory of Silos.

    Args:
        dir_of_silos: The directory; created if its parent exists.
        create: False opens an existing directory only.

    Attributes:
        state: `PersistentState`: Silo name → its description.

    Raises:
        SiloNotFound: The directory does not exist, and is not or cannot be created.
    """

    def __init__(self, dir_of_silos: str = "data", *, create: bool = True) -> None:
        self.dir_of_silos = os.fspath(dir_of_silos)
        self._path = os.path.abspath(self.dir_of_silos)
        if create:
            self._make()
        elif not os.path.isdir(self._path):
            raise SiloNotFound(f"there is no directory {self.dir_of_silos}")
        self.state = PersistentState(self._path, create=create)

    def __repr__(self) -> str:
        return f"<Granary {self.dir_of_silos!r}>"

    def _make(self) -> None:
        try:
            atomic_file.make_directory(self._path)
        except OSError as error:
            raise SiloNotFound.uncreated(self.dir_of_silos, error) from error
        if not os.path.isdir(self._path):
            raise SiloNotFound(f"{self.dir_of_silos} is a file, and no directory of Silos")

    @property
    def silos(self) -> list[str]:
        """The names of the existing Silos, sorted."""
        return sorted(name for name in os.listdir(self._path) if self.issilo(name))

    def issilo(self, name: str) -> bool:
        """Whether there is a Silo of that name."""
        try:
            return os.path.isfile(f"{self._path_of(name)}/{VERSION_FILE}")
        except SiloNotFound:
            return False

    def describe_silo(self, name: str, **description: Any) -> dict[str, Any]:
        """Set the given keys of a Silo's description, in memory until `sync`, and return it.

        Raises:
            SiloNotFound: There is no Silo of that name.
        """
        self._check(name)
        found: dict[str, Any] = self.state.setdefault(name, {})
        found.update(description)
        return found

    def description_of(self, name: str) -> dict[str, Any]:
        """A copy of a Silo's description; empty if it has none."""
        found = self.state.get(name)
        return dict(found) if isinstance(found, dict) else {}

    def sync(self) -> None:
        """Store the descriptions."""
        self.state.sync()

    def get_silo(self, name: str, uri_base: str | None = None, **settings: Any) -> Silo:
        """The Silo of that name, created if it does not exist.

        Raises:
            SiloNotFound: The name is not valid, or of a new Silo that would be in the place of the
                directory's own files.
        """
        return Silo(self._path_for(name, **settings), uri_base, **settings)

    def get_rdf_silo(self, name: str, uri_base: str | None = None, **settings: Any) -> "RDFSilo":
        """The Silo of that name as an `RDFSilo`, created if it does not exist; needs rdflib."""
        from recordsilo.rdf.records import RDFSilo  # noqa: PLC0415 - rdflib is optional

        return RDFSilo(self._path_for(name, **settings), uri_base, **settings)

    def delete_silo(self, name: str) -> None:
        """Delete a Silo with all its records, and its description.

        What is left of deletions that were killed is deleted, too.

        Raises:
            SiloNotFound: There is no Silo of that name.
        """
        self._check(name)
        gone = f"{self._path}/{STAGED_PREFIX}{secrets.token_hex(4)}{STAGED_SUFFIX}"
        atomic_file.move(self._path_of(name), gone, atomic_file.StrictBarrier())
        for one in filter(is_staged, os.listdir(self._path)):
            atomic_file.remove_tree(f"{self._path}/{one}")
        if self.state.pop(name, None) is not None:
            self.sync()

    def disk_usage_silo(self, name: str) -> int:
        """Bytes that a Silo occupies on disk, in whole blocks; links are not followed.

        Raises:
            SiloNotFound: There is no Silo of that name.
        """
        self._check(name)
        return size_of(self._path_of(name))

    def _check(self, name: str) -> None:
        if not self.issilo(name):
            raise SiloNotFound(f"there is no Silo {name!r} in {self.dir_of_silos}")

    def _path_for(self, name: str, *, create: bool = True, **_others: Any) -> str:
        """The path of a Silo that may be created; those of earlier releases keep their names."""
        if create and not self.issilo(name) and (fault := fault_of_silo_name(name)):
            raise SiloNotFound(f"{name!r} is not a valid name for a Silo: {fault}")
        return self._path_of(name)

    def _path_of(self, name: str) -> str:
        if is_staged(name):
            raise SiloNotFound(f"{name!r} is a Silo that was deleted")
        try:
            return os.path.join(self._path, check_version_name(name))
        except VersionNameError as error:
            raise SiloNotFound(f"{name!r} is not a valid name for a Silo") from error
