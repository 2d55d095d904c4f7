"""Check one record's directory: its manifest, the files beside it, its versions."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from recordsilo.audit.agreement import disagreements
from recordsilo.audit.findings import Code, Finding, shown
from recordsilo.audit.manifest_check import Statement, read_statement
from recordsilo.audit.reading import UnreadableError, entries, look, read_whole
from recordsilo.audit.versions_check import FilesCheck, Undone
from recordsilo.disk.identifier import check_identifier, ppath, unclean
from recordsilo.disk.names import (
    DELETED_MANIFEST,
    MANIFEST_NAME,
    PREVIOUS_MANIFEST,
    STAGED_MANIFEST,
    is_own,
    is_staged,
    version_dirname,
)
from recordsilo.errors import IdentifierError, ManifestUnreadable
from recordsilo.records.manifest import Manifest
from recordsilo.records.manifest_json import from_json

_MANIFESTS = (MANIFEST_NAME, STAGED_MANIFEST, DELETED_MANIFEST, PREVIOUS_MANIFEST)


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking one record's directory.

    Attributes:
        identifier: From its path; empty if the path belongs to no identifier.
        is_record: Whether there is a manifest.
        manifest: As the store reads it; None if it cannot, or if it is another record's.
        bytes_read: The number of bytes hashed.
    """

    findings: tuple[Finding, ...]
    identifier: str
    is_record: bool
    manifest: Manifest | None = None
    bytes_read: int = 0


class RecordCheck:
    """The check of one directory that holds a manifest or versions.

    Args:
        silo: The Silo's directory, absolute.
        place: The record's directory, relative to ``pairtree_root``.
    """

    def __init__(self, silo: str, place: str) -> None:
        self.silo, self.place = silo, place
        self.root = f"{silo}/pairtree_root"
        self.directory = f"{self.root}/{place}"
        self.identifier = identifier_of(place)
        self._manifest: Manifest | None = None
        self._bytes_read = 0

    def run(self, *, hashing: bool) -> Checked:
        """Run the check; ``hashing`` reads every byte of the record's files."""
        self._manifest, self._bytes_read = None, 0
        try:
            own = {
                entry.name: entry.kind for entry in entries(self.directory) if is_own(entry.name)
            }
        except UnreadableError as error:
            fault = self._at(Code.DIRECTORY_UNREADABLE, "", "a directory", str(error))
            return Checked((fault,), self.identifier, is_record=False)
        is_record, content = MANIFEST_NAME in own, None
        try:
            if own.get(MANIFEST_NAME) == "file":
                content = read_whole(f"{self.directory}/{MANIFEST_NAME}")
                is_record = content is not None  # otherwise it was deleted just now
        except UnreadableError as error:
            fault = self._at(Code.MANIFEST_UNREADABLE, MANIFEST_NAME, "a manifest", str(error))
            return Checked((fault,), self.identifier, is_record)
        found: list[Finding] = []
        try:
            found.extend(self._findings(own, content, hashing))
        except UnreadableError as error:
            found.append(self._at(Code.DIRECTORY_UNREADABLE, "", "a directory", str(error)))
        return Checked(tuple(found), self.identifier, is_record, self._manifest, self._bytes_read)

    def _at(self, code: Code, path: str, expected: str, found: str) -> Finding:
        full = f"pairtree_root/{self.place}" + (f"/{path}" if path else "")
        return Finding(code, full, expected, found, self.identifier)

    def _findings(
        self, own: dict[str, str], content: bytes | None, hashing: bool
    ) -> Iterator[Finding]:
        if not own:
            return
        if not self.identifier:
            yield self._at(Code.NO_IDENTIFIER, "", "the path of an identifier", self.place)
            return
        yield from self._previous(own)
        if MANIFEST_NAME not in own:
            yield from self._without_manifest(own)
        elif content is None:
            kind = own[MANIFEST_NAME]
            if kind != "file":
                yield self._at(Code.MANIFEST_NOT_A_FILE, MANIFEST_NAME, "a file", f"a {kind}")
        else:
            yield from self._with_manifest(own, content, hashing)

    # -- without a manifest -----------------------------------------------------------------

    def _without_manifest(self, own: dict[str, str]) -> Iterator[Finding]:
        rest = ", ".join(sorted(own))
        if DELETED_MANIFEST in own:
            yield self._at(Code.DELETION_UNFINISHED, "", "nothing", shown(rest))
        elif STAGED_MANIFEST in own and self._is_first(self._staged()):
            yield self._at(Code.CREATION_UNFINISHED, "", "nothing", shown(rest))
        else:
            found = f"{rest} and no manifest"
            yield self._at(Code.MANIFEST_MISSING, MANIFEST_NAME, "a manifest", shown(found))

    @staticmethod
    def _is_first(staged: Statement | None) -> bool:
        return staged is None or staged.revision <= 1

    def _staged(self) -> Statement | None:
        content = self._read(STAGED_MANIFEST)
        return None if content is None else read_statement(content).statement

    def _read(self, name: str) -> bytes | None:
        """A manifest's bytes; an unreadable one counts as missing."""
        try:
            return read_whole(f"{self.directory}/{name}")
        except UnreadableError:
            return None

    def _previous(self, own: dict[str, str]) -> Iterator[Finding]:
        if PREVIOUS_MANIFEST in own and self.previous() is None:
            expected = f"a manifest of {self.identifier}"
            yield self._at(Code.PREVIOUS_UNREADABLE, PREVIOUS_MANIFEST, expected, "another thing")

    def previous(self) -> bytes | None:
        """The bytes of the previous manifest's copy; None if it cannot be used to restore it."""
        content = self._read(PREVIOUS_MANIFEST)
        if content is None:
            return None
        reading = read_statement(content)
        statement = reading.statement
        if statement is None or statement.item_id != self.identifier:
            return None
        in_doubt = {Code.CHECKSUM_DIFFERS, Code.NO_CHECKSUM}  # a bit of the key itself may change
        return None if any(fault.code in in_doubt for fault in reading.faults) else content

    # -- with a manifest --------------------------------------------------------------------

    def _with_manifest(
        self, own: dict[str, str], content: bytes, hashing: bool
    ) -> Iterator[Finding]:
        reading = read_statement(content)
        for fault in reading.faults:
            yield self._at(fault.code, MANIFEST_NAME, fault.expected, fault.found)
        statement = reading.statement
        if statement is None:
            return
        if statement.item_id != self.identifier:
            expected, found = shown(self.identifier), shown(statement.item_id)
            yield self._at(Code.OTHER_RECORD, MANIFEST_NAME, expected, found)
            return
        disputed = list(disagreements(statement))
        for fault in disputed:
            yield self._at(fault.code, MANIFEST_NAME, fault.expected, fault.found)
        refusal = self._read_as_the_store(content)
        if refusal and not reading.faults and not disputed:
            yield self._at(Code.STORE_REFUSES, MANIFEST_NAME, "a manifest", refusal)
        left = self.left_of_a_change(statement) if STAGED_MANIFEST in own else []
        check = FilesCheck(self.root, self.directory, statement, left, hashing=hashing)
        for one in check.faults():
            yield self._at(one.code, one.path, one.expected, one.found)
        self._bytes_read = check.bytes_read
        yield from self._beside(own, statement, check.undone, left)

    def _read_as_the_store(self, content: bytes) -> str:
        """Why the store's own reader refuses the manifest; empty if it accepts it."""
        try:
            self._manifest = from_json(content, MANIFEST_NAME)
        except ManifestUnreadable as error:
            return error.reason
        return ""

    def _beside(
        self, own: dict[str, str], statement: Statement, undone: Undone, left: Collection[str]
    ) -> Iterator[Finding]:
        """Check what is in the record's directory besides its manifest and versions."""
        if STAGED_MANIFEST in own:
            found = "the manifest of an uncommitted change"
            yield self._at(Code.WRITE_UNFINISHED, STAGED_MANIFEST, "nothing", found)
        if DELETED_MANIFEST in own:
            yield self._at(Code.DELETION_MARK, DELETED_MANIFEST, "nothing", "a file")
        listed = {version_dirname(version.name) for version in statement.versions}
        explained = listed | set(_MANIFESTS) | set(left)
        for name in sorted(own.keys() - explained):
            if undone.explains(name):
                continue
            if own[name] != "directory":
                code, found = Code.OWN_FILE_UNKNOWN, f"a {own[name]}"
            elif is_staged(name.removeprefix("__")):
                code, found = Code.STAGED_VERSION, "a directory of the store's own"
            else:
                code, found = Code.ORPHAN_VERSION, "a directory"
            yield self._at(code, name, "nothing", found)

    def left_of_a_change(self, statement: Statement) -> list[str]:
        """Paths within the record that an uncommitted change had moved in."""
        staged = self._staged()
        if staged is None or staged.revision != statement.revision + 1:
            return []
        listed = {version.name for version in statement.versions}
        names = [version_dirname(v.name) for v in staged.versions if v.name not in listed]
        names += [source for source, _ in staged.renames if _is_staged_place(source)]
        return [name for name in names if look(f"{self.directory}/{name}")]


def _is_staged_place(path: str) -> bool:
    return is_staged(path.rpartition("/")[2].removeprefix("__"))


def identifier_of(place: str) -> str:
    """The identifier of a path below ``pairtree_root``; empty if it belongs to none."""
    try:
        identifier = check_identifier(unclean(place.replace("/", "")))
    except IdentifierError:
        return ""
    return identifier if ppath(identifier) == place else ""
