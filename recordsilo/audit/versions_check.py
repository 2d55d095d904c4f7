"""Compare a record's versions on disk with its manifest."""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from recordsilo.audit.findings import Code, shown
from recordsilo.audit.manifest_check import StatedVersion, Statement
from recordsilo.audit.reading import UnreadableError, kind_of, look, sha256_of, tree
from recordsilo.disk.names import is_staged, is_tag, version_dirname


@dataclass(frozen=True, slots=True)
class VersionFault:
    """A finding at a path relative to the record's directory."""

    code: Code
    path: str
    expected: str
    found: str


class Undone:
    """The part of a manifest's pending list that is not done yet, judged by the disk.

    Attributes:
        moves: (from, to) pairs whose source still exists.
        leaving: Paths that must still be removed.
    """

    def __init__(self, statement: Statement, directory: str) -> None:
        self.moves = [pair for pair in statement.renames if look(f"{directory}/{pair[0]}")]
        names = {version_dirname(version.name) for version in statement.versions}
        self.leaving = {
            path
            for path, size, mtime in statement.unlinks
            if path not in names and _is_still(directory, path, size, mtime)
        }

    def __bool__(self) -> bool:
        return bool(self.moves or self.leaving)

    def place_of(self, path: str) -> str:
        """Where a path of the record is now."""
        for source, target in self.moves:
            if path == target or path.startswith(target + "/"):
                return source + path.removeprefix(target)
        return path

    def explains(self, path: str) -> bool:
        """Whether an entry exists only because pending work is not done yet."""
        return path in self.leaving or any(path in pair for pair in self.moves)


def _is_still(directory: str, path: str, size: int, mtime: int) -> bool:
    """Whether the file to be removed still exists and was not replaced since."""
    in_version, path = "/" in path, f"{directory}/{path}"
    found = look(path)
    if found is None:
        return False
    if kind_of(found.st_mode) != "directory":
        return (found.st_size, found.st_mtime_ns) == (size, mtime)
    return size == -1 and not (in_version and any(e.kind != "directory" for e in tree(path)))


class FilesCheck:
    """The check of one record's files.

    Args:
        root: The ``pairtree_root``; links must not lead out of it.
        statement: What its manifest states.
        left: Paths within the record that an interrupted change left; reported elsewhere.
        hashing: Whether every byte is read.

    Attributes:
        bytes_read: The number of bytes read.
    """

    def __init__(
        self,
        root: str,
        directory: str,
        statement: Statement,
        left: Collection[str],
        *,
        hashing: bool,
    ) -> None:
        self._root, self._directory, self._left = root, directory, left
        self._statement, self._hashing = statement, hashing
        self.undone = Undone(statement, directory)
        self.bytes_read = 0

    def faults(self) -> Iterator[VersionFault]:
        """The faults, version by version."""
        if self.undone:
            open_ends = [f"{a} → {b}" for a, b in self.undone.moves]
            found = ", ".join((*open_ends, *sorted(self.undone.leaving)))
            yield VersionFault(Code.PENDING_UNDONE, "", "nothing left to do", shown(found))
        for version in self._statement.versions:
            yield from self._version(version)

    def _version(self, version: StatedVersion) -> Iterator[VersionFault]:
        name = version_dirname(version.name)
        place = self.undone.place_of(name)
        try:
            found = look(f"{self._directory}/{place}")
        except UnreadableError as error:
            yield VersionFault(Code.DIRECTORY_UNREADABLE, place, "a directory", str(error))
            return
        if found is None:
            if version.files:
                expected = f"a directory with {', '.join(version.files)}"
                yield VersionFault(Code.VERSION_MISSING, name, shown(expected), "nothing")
            elif version.digests is not None:
                yield VersionFault(
                    Code.EMPTY_VERSION_MISSING, name, "an empty directory", "nothing"
                )
            return
        if (kind := kind_of(found.st_mode)) != "directory":
            yield VersionFault(Code.VERSION_NOT_A_DIRECTORY, place, "a directory", f"a {kind}")
            return
        for path in self._listed(version):
            yield from self._file(version, path)
        try:
            yield from self._surplus(version, place)
        except UnreadableError as error:
            yield VersionFault(Code.DIRECTORY_UNREADABLE, place, "a directory", str(error))

    @staticmethod
    def _listed(version: StatedVersion) -> list[str]:
        if version.digests is not None:
            return list(version.digests)
        return [name for name in version.files if name not in version.subdir]

    # -- what is listed -------------------------------------------------------------------

    def _file(self, version: StatedVersion, path: str) -> Iterator[VersionFault]:
        place = self.undone.place_of(f"{version_dirname(version.name)}/{path}")
        digest = (version.digests or {}).get(path)
        expected = _as_text(digest)
        absolute = f"{self._directory}/{place}"
        try:
            found = look(absolute)
            if found is not None and _leads_elsewhere(absolute, path, found):
                yield from self._link(version, place, digest)
                return
            if found is None:
                if digest or not self._is_unwritten_rdf(path):
                    yield VersionFault(Code.FILE_MISSING, place, expected, "nothing")
            elif (kind := kind_of(found.st_mode)) == "directory":
                yield VersionFault(Code.NOT_A_FILE, place, expected, "a directory")
            elif kind == "special":
                yield VersionFault(Code.SPECIAL_FILE, place, expected, "a pipe, socket or device")
            else:
                yield from self._content(version, place, absolute, digest, found)
        except UnreadableError as error:
            yield VersionFault(Code.FILE_UNREADABLE, place, expected, str(error))

    def _is_unwritten_rdf(self, path: str) -> bool:
        """Whether it is the RDF manifest, which 2010 listed before writing it."""
        return path == self._statement.members.get("rdffilename")

    def _link(
        self, version: StatedVersion, place: str, digest: tuple[str, int] | None
    ) -> Iterator[VersionFault]:
        """Check a link of a delta clone of 2010; links out of the Silo are not followed."""
        real = os.path.realpath(f"{self._directory}/{place}")
        is_inside = real.startswith(os.path.realpath(self._root) + "/")
        if is_inside and os.path.isfile(real):
            yield from self._content(version, place, real, digest, look(real))
            return
        leads_out = os.path.exists(real) and not is_inside
        codes = {
            (True, True): Code.LINK_LEADS_OUT,
            (True, False): Code.LINK_DANGLING,
            (False, True): Code.OLD_LINK_LEADS_OUT,
            (False, False): Code.OLD_LINK_DANGLING,
        }
        found = f"a link to {real}" + ("" if leads_out else ", where there is no file")
        yield VersionFault(codes[digest is not None, leads_out], place, _as_text(digest), found)

    def _content(
        self,
        version: StatedVersion,
        place: str,
        absolute: str,
        digest: tuple[str, int] | None,
        found: os.stat_result | None,
    ) -> Iterator[VersionFault]:
        if digest is None:  # 2010 recorded none: there is nothing to compare with
            return
        size = found.st_size if found else 0
        if size != digest[1]:
            yield VersionFault(_changed(version, size < digest[1]), place, _as_text(digest),
                        f"{size:,} bytes")  # fmt: skip
        elif self._hashing:
            read = sha256_of(absolute)
            self.bytes_read += read[1]
            if read != digest:
                yield VersionFault(
                    _changed(version, False), place, _as_text(digest), _as_text(read)
                )

    # -- what is not listed ---------------------------------------------------------------

    def _surplus(self, version: StatedVersion, place: str) -> Iterator[VersionFault]:
        name = version_dirname(version.name)
        known = {self.undone.place_of(f"{name}/{p}") for p in self._listed(version)}
        directories = version.directories
        seen = set()
        for entry in tree(f"{self._directory}/{place}"):
            path = f"{place}/{entry.name}"
            seen.add(entry.name)
            if path in known or path in self._left or self.undone.explains(path):
                continue
            if entry.kind == "special":
                yield VersionFault(Code.SPECIAL_FILE, path, "nothing", "a pipe, socket or device")
            elif entry.kind == "directory":
                yield from self._surplus_directory(version, path, entry.name)
            elif is_staged(entry.name.rpartition("/")[2]):
                yield VersionFault(Code.STAGED_FILE, path, "nothing", "a file of the store's own")
            elif not _is_known_to_2010(version, entry.name) and entry.name not in directories:
                code = Code.ADDED_OUTSIDE if version.is_curated else Code.UNLISTED_FILE
                yield VersionFault(code, path, "nothing", f"a {entry.kind}")
        for directory in sorted(set(version.subdir) - seen):
            if not any(path.startswith(directory + "/") for path in self._listed(version)):
                path = f"{place}/{directory}"
                yield VersionFault(Code.DIRECTORY_MISSING, path, "a directory", "nothing")

    def _surplus_directory(
        self, version: StatedVersion, path: str, name: str
    ) -> Iterator[VersionFault]:
        """Report an unlisted directory only if it is empty: else its files are reported."""
        top = name.partition("/")[0]
        if top in version.subdir or name in version.directories or version.digests is None:
            return
        if next(tree(f"{self._directory}/{path}"), None) is None:
            yield VersionFault(Code.UNLISTED_DIRECTORY, path, "nothing", "an empty directory")


def _leads_elsewhere(absolute: str, path: str, found: os.stat_result) -> bool:
    """Whether the file, or a directory between the version and it, is a link."""
    return stat.S_ISLNK(found.st_mode) or any(
        os.path.islink(absolute[: len(absolute) - len(path) + end])
        for end, letter in enumerate(path)
        if letter == "/"
    )


def _is_known_to_2010(version: StatedVersion, path: str) -> bool:
    """Whether it is a tag of 2010, or a file that the library of 2010 did not list."""
    if is_tag(path):
        return True
    top = path.partition("/")[0]
    return version.digests is None and (top in version.subdir or len(top) <= 2)


def _changed(version: StatedVersion, shorter: bool) -> Code:
    if version.is_curated:
        return Code.EDITED_OUTSIDE
    return Code.FILE_TRUNCATED if shorter else Code.FILE_CHANGED


def _as_text(digest: tuple[str, int] | None) -> str:
    return "a file" if digest is None else f"{digest[1]:,} bytes, sha256 {digest[0]}"
