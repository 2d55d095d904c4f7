"""What is to be done about a record: its manifest, the ledger and a policy → actions. Pure.

The same decisions make a plan (`--dry-run`) and a run, from the manifest alone: no file
of a version is opened to find that nothing is to be done.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from recordsilo.records.manifest import Manifest, Version, source_datestamp
from siloexport.values import ActionKind, Capabilities, Deletions, Held


class Versions(StrEnum):
    """Which versions of a record go."""

    CURRENT = "current"
    """The one the cursor stands on: the working copy, where there is one."""
    CURATED = "curated"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Policy:
    """What an export does.

    Attributes:
        unwrap: Whether metadata also goes as a document of its own (``oai_dc.xml``).
        crosswalk: The target's: identifier and digest.
    """

    versions: Versions = Versions.CURRENT
    unwrap: bool = True
    deletions: Deletions = Deletions.STATUS
    crosswalk: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger knows of a record.

    Attributes:
        held: None where the target holds nothing.
        keys: Version → the key it was deposited under last.
        files: Version → the digest of its files then.
        withdrawn_as: The key of the withdrawal, if it was withdrawn last.
    """

    held: Held | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    withdrawn_as: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to be done about a record.

    Attributes:
        versions: The versions that go, in order; none for a deletion.
        key: Idempotency key of the step.
        files: The digest of the files that go.
        reason: Why nothing is done, where that needs saying.
    """

    identifier: str
    kind: ActionKind
    versions: tuple[str, ...] = ()
    key: str = ""
    files: str = ""
    reason: str = ""

    @property
    def version(self) -> str:
        """The version it is about: the last of those that go; ``""`` for none."""
        return self.versions[-1] if self.versions else ""


WRITING = frozenset(ActionKind) - {ActionKind.NOTHING, ActionKind.LEAVE}
"""The kinds of actions that change the target."""


def plan_record(
    manifest: Manifest, known: Known, policy: Policy, can: Capabilities
) -> tuple[Action, ...]:
    """Decide what is to be done about a record, in the order it is to be done.

    Versions go in the order they were made, and the last of them is what the target
    shows as current: where that would not be so, or others changed it, it goes again.

    Args:
        manifest: With the digests of all files of the versions chosen.

    Returns:
        Nothing at all for a record of which no version is chosen.
    """
    if is_deleted(manifest):
        return (_deletion(manifest, known, policy, can),)
    chosen = chosen_versions(manifest, policy.versions)
    if not chosen:
        return ()
    if can.each_version:
        return _one_by_one(manifest, chosen, known, policy)
    return (_together(manifest, chosen, known, policy),)


def is_deleted(manifest: Manifest) -> bool:
    """Whether the source deleted the record and its current version is not a curated one."""
    return "deleted_at_version" in manifest.metadata and not manifest.current.is_curated


def chosen_versions(manifest: Manifest, which: Versions) -> tuple[Version, ...]:
    """The versions that go: in the order they were made here, the current one last."""
    current = manifest.current
    if which is Versions.CURRENT:
        return (current,)
    found = [
        version
        for version in manifest.versions
        if version.paths and (which is Versions.ALL or version.is_curated)
    ]
    return tuple(sorted(found, key=lambda version: version.name == current.name))


def _one_by_one(
    manifest: Manifest, chosen: Sequence[Version], known: Known, policy: Policy
) -> tuple[Action, ...]:
    identifier = manifest.item_id
    keys = {version.name: version_key(manifest, version, policy) for version in chosen}
    todo = [version for version in chosen if known.keys.get(version.name) != keys[version.name]]
    last, held = chosen[-1], known.held
    is_head = held is not None and held.version == last.name and not held.withdrawn
    is_head = is_head and not _is_changed(held)
    if last not in todo and (todo or not is_head):
        todo.append(last)
    if not todo:
        files = files_digest(last)
        return (Action(identifier, ActionKind.NOTHING, (last.name,), keys[last.name], files),)
    is_new = held is None or not held.deposits
    return tuple(
        Action(
            identifier,
            ActionKind.CREATE if is_new and not number else _kind(version, known, keys),
            (version.name,),
            keys[version.name],
            files_digest(version),
        )
        for number, version in enumerate(todo)
    )


def _kind(version: Version, known: Known, keys: Mapping[str, str]) -> ActionKind:
    name = version.name
    if name not in known.keys:
        return ActionKind.ADD_VERSION
    if known.keys[name] != keys[name] and known.files.get(name) == files_digest(version):
        return ActionKind.DESCRIBE
    return ActionKind.REPLACE


def _together(
    manifest: Manifest, chosen: Sequence[Version], known: Known, policy: Policy
) -> Action:
    identifier = manifest.item_id
    names = tuple(version.name for version in chosen)
    key = joint_key([version_key(manifest, version, policy) for version in chosen])
    files = digest_of([files_digest(version) for version in chosen])
    held = known.held
    if held is None or held.withdrawn:
        return Action(identifier, ActionKind.CREATE, names, key, files)
    if held.key == key and not _is_changed(held):
        return Action(identifier, ActionKind.NOTHING, names, key, files)
    is_same = known.files.get(held.version) == files and not _is_changed(held)
    kind = ActionKind.DESCRIBE if is_same else ActionKind.REPLACE
    return Action(identifier, kind, names, key, files)


def _is_changed(held: Held | None) -> bool:
    """Whether others changed what the target holds, as far as the ledger knows."""
    return held is not None and not held.token


def _deletion(manifest: Manifest, known: Known, policy: Policy, can: Capabilities) -> Action:
    identifier, held = manifest.item_id, known.held
    if held is None:
        return Action(identifier, ActionKind.LEAVE, reason="deleted at the source, never exported")
    key = withdrawal_key(identifier, policy.deletions, deletion_date(manifest))
    if held.withdrawn and known.withdrawn_as == key:
        return Action(identifier, ActionKind.NOTHING, key=key)
    if policy.deletions in can.deletions and not (held.withdrawn and not held.deposits):
        return Action(identifier, ActionKind.WITHDRAW, key=key)
    why = "deleted at the source; an earlier export of it is there"
    return Action(identifier, ActionKind.LEAVE, key=key, reason=why)


def deletion_date(manifest: Manifest) -> str:
    """When the source deleted the record, as it said; ``""`` where it did not."""
    return str(manifest.metadata.get("deleted_at_date") or "")


# -- keys --------------------------------------------------------------------------------


def files_digest(version: Version) -> str:
    """The Silo's digest of a version: SHA-256 over its files' paths, sizes and SHA-256.

    Over canonical JSON: ``[[path, size, sha256], …]`` by path, without blanks, UTF-8.
    """
    return digest_of(_files(version))


def version_key(manifest: Manifest, version: Version, policy: Policy) -> str:
    """The idempotency key of a version: of all that decides what the target will hold.

    Files by their SHA-256, which the manifest has, so that nothing is read; whether they
    are metadata; provenance; the crosswalk; whether documents are unwrapped.
    Later dates under which the source lists the same content do not count.
    """
    origin = version.origin
    return digest_of(
        {
            "identifier": manifest.item_id,
            "version": version.name,
            "datestamp": source_datestamp(manifest, version.name),
            "origin": [origin.kind, origin.of, origin.agent, origin.message, origin.date],
            "files": _files(version),
            "metadata": sorted(version.metadata_files),
            "crosswalk": policy.crosswalk,
            "unwrap": policy.unwrap,
        }
    )


def joint_key(keys: Sequence[str]) -> str:
    """The key of a deposit that holds several versions; of one, that version's."""
    return keys[0] if len(keys) == 1 else digest_of(list(keys))


def withdrawal_key(identifier: str, how: Deletions, date: str) -> str:
    """The idempotency key of a withdrawal."""
    return digest_of({"identifier": identifier, "withdrawn": how, "date": date})


def _files(version: Version) -> list[list[Any]]:
    digests = version.digests or {}
    return [
        [path, digest.size, digest.sha256] if digest else [path, None, None]
        for path, digest in sorted(digests.items())
    ]


def digest_of(value: Any) -> str:
    """SHA-256 of a JSON value in canonical form, in lower-case hex."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
