"""Decide what a rule set changes in a record, from its manifest and its metadata file.

Only working copies are changed: the current version if it is one, else a new copy of it named
``workingcopy``. Harvested versions stay as they are.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from recordsilo.errors import RecordSiloError
from recordsilo.formats import is_metadata
from recordsilo.records.description import metadata_paths
from recordsilo.records.manifest import Manifest, Version
from silocuration.editing.fields import (
    Differing,
    Fields,
    ReadDocument,
    differing,
    read_texts,
    write_fields,
)
from silocuration.editing.identify import identified
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Identify, apply
from silocuration.errors import NoFields, TooMuch

_Parsed = TypeVar("_Parsed")
WORKING_COPY = "workingcopy"

ReadFile = Callable[[str, str], bytes]
"""(version, path) → content."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """New bytes for a file.

    Attributes:
        before: The content now; None if the file does not exist.
        after: The new content; None deletes the file.
    """

    path: str
    before: bytes | None
    after: bytes | None
    metadata: bool | None = None


@dataclass(frozen=True, slots=True)
class RecordChange:
    """The planned change of one record.

    Attributes:
        source: The version whose content is changed.
        target: The version that is written: the source, or a copy of it to be made.
        before: The fields now.
        after: The new fields.
        files: The files to write.
        state: The target's new status; None does not change it.
        write: (content of a file now, new fields) → its new content.
    """

    source: str
    target: str
    before: Fields
    after: Fields
    files: tuple[FileChange, ...]
    state: str | None = None
    write: Callable[[bytes, Fields], bytes] = write_fields
    _differing: list[Differing] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def differing(self) -> Differing:
        """What `fields.differing` returns; it is found once."""
        if not self._differing:
            self._differing.append(differing(self.before, self.after))
        return self._differing[0]

    @property
    def makes_copy(self) -> bool:
        """Whether the target must be created."""
        return self.source != self.target

    @property
    def values(self) -> int:
        """The number of values added, removed or changed."""
        return max(map(len, self.differing))

    @property
    def loses_title(self) -> bool:
        """Whether the record had a title and would have none."""
        before, after = ([f for f in some if f.name == "title" and f.folded]
                         for some in (self.before, self.after))  # fmt: skip
        return bool(before) and not after


class CannotChange(Exception):
    """A record that a change skips; the message says why."""


def plan_record(
    manifest: Manifest, read: ReadFile, rule_set: RuleSet, seen: set[str] | None = None
) -> RecordChange | None:
    """Decide what a rule set changes in a record.

    Args:
        read: Reads its files as they are on the disk.
        seen: Gets the names of the fields that the record has.

    Returns:
        None if nothing changes, or the source deleted the record.

    Raises:
        CannotChange: The record cannot be changed in this way.
        PatternTooSlow, RecordTooSlow, RuleRefused: The rules are invalid or too slow.
    """
    if is_deleted(manifest):
        return None
    source, target = editable_version(manifest)
    state = rule_set.state if rule_set.state != manifest.version(source).state else None
    if not rule_set.rules:
        if rule_set.state is None or (state is None and source == target):
            return None
        return RecordChange(source, target, (), (), (), rule_set.state)
    if isinstance(rule_set.rules[0], Identify):
        return _plan_identifiers(manifest, read, rule_set, state, seen)
    path, document = metadata_document(manifest.version(source), read, rule_set.file)
    if seen is not None:
        seen.update(one.name for one in document.fields)
    try:
        after = apply(rule_set.rules, document.fields)
    except TooMuch as error:
        raise CannotChange(str(error)) from None
    try:
        changed = document.with_fields(after)
    except NoFields as error:
        raise CannotChange(str(error)) from None
    files = (FileChange(path, document.content, changed),) if changed != document.content else ()
    if not files and (state is None or source != target):
        return None
    return RecordChange(source, target, document.fields, after, files, state)


def _plan_identifiers(
    manifest: Manifest,
    read: ReadFile,
    rule_set: RuleSet,
    state: str | None,
    seen: set[str] | None,
) -> RecordChange | None:
    """Decide which identifiers a record gets, in each metadata file that has a place for them.

    Args:
        seen: Gets sentences on values that have another identifier.

    Raises:
        CannotChange: Nothing but such values is left.
    """
    source, target = editable_version(manifest)
    tables = {one.field: one.table for one in rule_set.rules if isinstance(one, Identify)}
    version = manifest.version(source)
    files, before, after, conflicts = [], [], [], []
    for path in _candidates(version):
        if rule_set.file not in {"", path}:
            continue
        content = read(source, path)
        found = identified(content, tables)
        known = (version.digests or {}).get(path)
        is_told = found.after or found.conflicts
        if is_told and known and known.sha256 != hashlib.sha256(content).hexdigest():
            raise CannotChange(f"{path} was edited outside; accept it first")
        conflicts += found.conflicts
        if found.after:
            files.append(FileChange(path, content, found.content))
            before += found.before
            after += found.after
    if conflicts and not files:
        raise CannotChange("; ".join(dict.fromkeys(conflicts)))
    if seen is not None:
        seen.update(f"{manifest.item_id}: {one}" for one in conflicts)
    if not files:
        return None
    return RecordChange(
        source, target, tuple(before), tuple(after), tuple(files), state,
        lambda content, wanted: identified(content, tables, wanted).content,
    )  # fmt: skip


def is_deleted(manifest: Manifest) -> bool:
    """Whether the source deleted the record, and no working copy of it is current."""
    if not manifest.versions:
        return False
    return not manifest.current.is_curated and not manifest.current.paths


def editable_version(manifest: Manifest) -> tuple[str, str]:
    """Return the version to change, and the name of the version to write.

    Raises:
        CannotChange: A working copy exists and is not the current version, or the record has
            no versions.
    """
    if not manifest.versions:
        raise CannotChange("has no version")
    current = manifest.current
    if current.is_curated:
        return current.name, current.name
    if manifest.has(WORKING_COPY):
        raise CannotChange("has a working copy that is not its current version")
    return current.name, WORKING_COPY


def metadata_fields(
    version: Version, read: ReadFile, wanted: str = ""
) -> tuple[str, bytes, Fields]:
    """Return the path, the content and the fields of the file that `metadata_document` finds."""
    path, document = metadata_document(version, read, wanted)
    return path, document.content, document.fields


def metadata_document(
    version: Version, read: ReadFile, wanted: str = ""
) -> tuple[str, ReadDocument]:
    """Return the metadata file whose fields are edited: its path, and the document.

    Args:
        version: The version that has the file.
        read: Reads the version's files.
        wanted: The file's path. If empty: the main metadata file if it has fields, else the
            first file with fields.

    Raises:
        CannotChange: There is no such file, or another program edited it.
    """
    return _file_read(version, read, wanted, ReadDocument)


def metadata_texts(version: Version, read: ReadFile) -> Fields:
    """Return the values of the first metadata file that has some; see `read_texts`.

    Raises:
        CannotChange: See `metadata_document`.
    """
    return _file_read(version, read, "", read_texts)[1]


def _file_read(
    version: Version, read: ReadFile, wanted: str, parse: Callable[[bytes], _Parsed]
) -> tuple[str, _Parsed]:
    """Return the path of the first file that can be parsed, and what was parsed."""
    reasons: list[str] = []
    for path in (wanted,) if wanted else _candidates(version):
        if path not in version.paths:
            reasons.append(f"has no file {path}")
            continue
        try:
            content = read(version.name, path)
            result = parse(content)
        except (NoFields, RecordSiloError, OSError) as error:
            reasons.append(f"{path}: {error}")
            continue
        known = (version.digests or {}).get(path)
        if known is not None and known.sha256 != hashlib.sha256(content).hexdigest():
            raise CannotChange(f"{path} was edited outside; accept it first")
        return path, result
    raise CannotChange("; ".join(reasons) or "has no metadata file")


def _candidates(version: Version) -> list[str]:
    return [path for path in metadata_paths(version) if is_metadata(path)]


def mark_of(version: Version) -> str:
    """Return a digest of a version's files and state; equal versions have equal marks."""
    lines = [
        f"{path}\0{known.sha256 if known else ''}\n"
        for path, known in sorted((version.digests or {}).items())
    ]
    return hashlib.sha256(("".join(lines) + (version.state or "")).encode()).hexdigest()
