"""Plain files: a directory for each record, named by its cleaned identifier.

out/
  .silo-export                            marks a directory of this kind
  oai+eprints,example,org+6102/
    oai_dc                                as in the Silo
    oai_dc.xml                            the metadata document itself
    docs/licence.txt
"""

import errno
import hashlib
import os
import secrets
from typing import BinaryIO

from recordsilo.atomic_file import (
    StrictBarrier,
    flush_directory,
    make_directories,
    remove_tree,
    replace_file,
    write_new,
)
from recordsilo.errors import FileNotInVersion
from recordsilo.identifier import clean
from reexport.errors import DepositFailed, TargetUnusable
from reexport.package import CHUNK, Outcome, Package

MARKER = ".silo-export"
_MARKER_TEXT = b"Records exported from a Silo; each directory is one record.\n"
_MAX_NAME = 200
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}


class FilesTarget:
    """A directory that records are exported to as plain files.

    A record's directory is built beside its place and renamed in, so it is whole or
    not there; one that holds the same bytes already is left alone. What was exported
    earlier and is not selected now stays.

    Args:
        directory: New, empty, or one an earlier export made.
    """

    def __init__(self, directory: str) -> None:
        self.directory = os.path.abspath(directory)
        self._shown = directory

    def prepare(self) -> None:
        """See `Target`."""
        if os.path.lexists(self.directory) and not os.path.isdir(self.directory):
            raise TargetUnusable(f"{self._shown} is not a directory; name a new or empty one")
        try:
            os.makedirs(self.directory, exist_ok=True)
            names = os.listdir(self.directory)
            if names and MARKER not in names:
                raise TargetUnusable(
                    f"{self._shown} holds something other than an earlier export; name a new or "
                    "empty directory"
                )
            if MARKER not in names:
                replace_file(f"{self.directory}/{MARKER}", _MARKER_TEXT)
            for name in names:
                if name.startswith(MARKER + "-"):  # left by an export that was killed
                    remove_tree(f"{self.directory}/{name}")
        except OSError as error:
            raise TargetUnusable(f"{self._shown} cannot be written: {error.strerror}") from error

    def has(self, identifier: str) -> bool:
        """See `Target`."""
        return os.path.isdir(self._place(identifier))

    def deposit(self, package: Package) -> Outcome:
        """See `Target`."""
        place = self._place(package.identifier)
        try:
            if os.path.isdir(place):
                if _holds(place, package):
                    return Outcome.UNCHANGED
                self._replace(place, package)
                return Outcome.UPDATED
            self._replace(place, package)
            return Outcome.CREATED
        except FileNotInVersion as error:
            raise DepositFailed(package.identifier, str(error)) from error
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise TargetUnusable(f"{self._shown}: {error.strerror}") from error
            raise DepositFailed(package.identifier, str(error)) from error

    def _place(self, identifier: str) -> str:
        return f"{self.directory}/{directory_name(identifier)}"

    def _replace(self, place: str, package: Package) -> None:
        """Build the record's directory, flush it, and rename it into place."""
        staged = f"{self.directory}/{MARKER}-{os.getpid()}-{secrets.token_hex(4)}"
        os.mkdir(staged)
        try:
            _write(staged, package)
            if os.path.isdir(place):
                os.rename(place, f"{staged}-old")
            os.rename(staged, place)
            flush_directory(self.directory)
        except BaseException:
            if not os.path.isdir(place) and os.path.isdir(f"{staged}-old"):
                os.rename(f"{staged}-old", place)
            remove_tree(staged)
            raise
        remove_tree(f"{staged}-old")


def directory_name(identifier: str) -> str:
    """The record's directory: its cleaned identifier; a long one is cut and ends in a digest."""
    name = clean(identifier)
    if len(name) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:16]
    return f"{name[: _MAX_NAME - 17]}~{digest}"


def _write(directory: str, package: Package) -> None:
    barrier = StrictBarrier()
    barrier.directory_changed(directory)
    for name in package.names:
        path = f"{directory}/{name}"
        if "/" in name:
            make_directories(os.path.dirname(path), directory, barrier)
        with package.open(name) as source:
            write_new(path, iter(lambda: source.read(CHUNK), b""), barrier)
    barrier.flush()


def _holds(directory: str, package: Package) -> bool:
    """Whether a directory holds the package's files, and no others, byte for byte."""
    names = set(package.names)
    if names != set(_files_below(directory)):
        return False
    return all(_is_same(f"{directory}/{name}", package, name) for name in names)


def _files_below(directory: str) -> list[str]:
    return [
        os.path.relpath(os.path.join(below, file), directory)
        for below, _, files in os.walk(directory)
        for file in files
    ]


def _is_same(path: str, package: Package, name: str) -> bool:
    with package.open(name) as ours, open(path, "rb") as theirs:
        return _same_content(ours, theirs)


def _same_content(one: BinaryIO, other: BinaryIO) -> bool:
    while True:
        chunk = one.read(CHUNK)
        if chunk != other.read(CHUNK):
            return False
        if not chunk:
            return True
