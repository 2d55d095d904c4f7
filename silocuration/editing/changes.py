"""What a rule set does to one record: decided from its manifest and its metadata file.

Working copies only are changed: the current version where it is curated, else a copy of
it named ``workingcopy`` that is made for the change. What was harvested stays.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from recordsilo.errors import RecordSiloError
from recordsilo.formats import is_metadata
from recordsilo.index.projection import metadata_paths
from recordsilo.records.manifest import Manifest, Version
from silocuration.editing.fields import Document, Fields, differing
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import apply
from silocuration.errors import NoFields, TooMuch

WORKING_COPY = "workingcopy"

ReadFile = Callable[[str, str], bytes]
"""(version, path) → content."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """New bytes for a file.

    Attributes:
        before: As it is; None where there is none.
        after: As it shall be; None takes it away.
    """

    path: str
    before: bytes | None
    after: bytes | None
    metadata: bool | None = None


@dataclass(frozen=True, slots=True)
class RecordChange:
    """What is to be done to one record.

    Attributes:
        source: The version whose content is changed.
        target: The version that is written: the same, or a copy of it to be made.
        before: The fields as they are.
        after: The fields as they shall be.
        files: The files that are written.
        state: What the target becomes; None leaves that.
    """

    source: str
    target: str
    before: Fields
    after: Fields
    files: tuple[FileChange, ...]
    state: str | None = None

    @property
    def makes_copy(self) -> bool:
        """Whether the target has to be made."""
        return self.source != self.target

    @property
    def values(self) -> int:
        """How many values come, go or change."""
        return max(map(len, differing(self.before, self.after)))


class CannotChange(Exception):
    """A record that a change passes over; the message says why."""


def plan_record(
    manifest: Manifest, read: ReadFile, rule_set: RuleSet, seen: set[str] | None = None
) -> RecordChange | None:
    """Decide what a rule set does to a record.

    Args:
        manifest: The record's.
        read: Reads its files as they lie on disk.
        rule_set: What is wanted.
        seen: Gets the names of the fields that the record has.

    Returns:
        None where there is nothing to do: also in a record that its source deleted.

    Raises:
        CannotChange: The record cannot be changed so.
        PatternTooSlow, RecordTooSlow, RuleRefused: The rules are at fault.
    """
    if is_deleted(manifest):
        return None
    source, target = editable_version(manifest)
    state = rule_set.state if rule_set.state != manifest.version(source).state else None
    if not rule_set.rules:
        if rule_set.state is None or (state is None and source == target):
            return None
        return RecordChange(source, target, (), (), (), rule_set.state)
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


def is_deleted(manifest: Manifest) -> bool:
    """Whether the source deleted the record, and no working copy of it is current."""
    if not manifest.versions:
        return False
    return not manifest.current.is_curated and not manifest.current.paths


def editable_version(manifest: Manifest) -> tuple[str, str]:
    """The version to be changed, and the one to write.

    Raises:
        CannotChange: A working copy is there and is not the current version, or the
            record has no versions.
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
    """The path, the content and the fields of what `metadata_document` finds."""
    path, document = metadata_document(version, read, wanted)
    return path, document.content, document.fields


def metadata_document(version: Version, read: ReadFile, wanted: str = "") -> tuple[str, Document]:
    """The metadata file whose fields are edited: its path, and it.

    Args:
        version: The version it is in.
        read: Reads its files.
        wanted: Its path; empty: the first with fields, the main one before others.

    Raises:
        CannotChange: There is none, or it was changed by other means than this library.
    """
    reasons: list[str] = []
    for path in (wanted,) if wanted else _candidates(version):
        if path not in version.paths:
            reasons.append(f"has no file {path}")
            continue
        try:
            document = Document(read(version.name, path))
        except (NoFields, RecordSiloError, OSError) as error:
            reasons.append(f"{path}: {error}")
            continue
        known = (version.digests or {}).get(path)
        if known is not None and known.sha256 != hashlib.sha256(document.content).hexdigest():
            raise CannotChange(f"{path} was edited outside; accept it first")
        return path, document
    raise CannotChange("; ".join(reasons) or "has no metadata file")


def _candidates(version: Version) -> list[str]:
    return [path for path in metadata_paths(version) if is_metadata(path)]


def mark_of(version: Version) -> str:
    """A digest of a version's files and state: equal marks, equal versions."""
    lines = [
        f"{path}\0{known.sha256 if known else ''}\n"
        for path, known in sorted((version.digests or {}).items())
    ]
    return hashlib.sha256(("".join(lines) + (version.state or "")).encode()).hexdigest()
