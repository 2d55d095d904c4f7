"""What to do with a record: its manifest, the ledger and a policy → actions. Pure.

A plan (`--dry-run`) and a run decide in the same way, from the manifest alone: no file is
opened for a record that has not changed. Only where the target writes identifiers, and the Silo
has some (`VersionIdentifiers`), the metadata is read.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from recordsilo.records.description import sets_of
from recordsilo.records.manifest import Manifest, Origin, Version, source_datestamp
from recordsilo.value_identifiers import IdentifiersOfValues
from siloexport.values import ActionKind, Capabilities, Deletions, Held


class Versions(StrEnum):
    """Which versions of a record to export."""

    CURRENT = "current"
    """The current version: the working copy, if there is one."""
    CURATED = "curated"
    ALL = "all"


class VersionIdentifiers(Protocol):
    """The identifiers that the values of versions have beside the metadata."""

    def of(self, manifest: Manifest, version: Version) -> IdentifiersOfValues:
        """Return those of the values of one version."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What to export.

    Attributes:
        versions: Which versions of each record.
        unwrap: Whether to export the metadata also as a separate document (``oai_dc.xml``).
        deletions: What to do with exported records that the source deleted.
        crosswalk: Identifier and digest of the target's crosswalk.
        states: Whether the target stores the states of versions.
        sets: Whether the target stores the sets of records.
        identifiers: Of values; None if the target does not write them, or there are none.
    """

    versions: Versions = Versions.CURRENT
    unwrap: bool = True
    deletions: Deletions = Deletions.STATUS
    crosswalk: str = ""
    states: bool = False
    sets: bool = False
    identifiers: VersionIdentifiers | None = None

    def identifiers_of(self, manifest: Manifest, version: Version) -> IdentifiersOfValues:
        """Return the identifiers of values that are exported with a version."""
        return self.identifiers.of(manifest, version) if self.identifiers else {}


@dataclass(frozen=True, slots=True)
class KnownRecord:
    """What the ledger knows of a record.

    Attributes:
        held: None if the target holds nothing.
        keys: Version → key of its last deposit.
        files: Version → digest of its files at that deposit.
        withdrawn_as: Key of the withdrawal, if that was the last step.
    """

    held: Held | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    withdrawn_as: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """One step to do for a record.

    Attributes:
        versions: The versions to send, in order; empty for a deletion.
        key: Idempotency key of the step.
        files: Digest of the files to send.
        reason: Why nothing is done, if the operator should know.
    """

    identifier: str
    kind: ActionKind
    versions: tuple[str, ...] = ()
    key: str = ""
    files: str = ""
    reason: str = ""

    @property
    def version(self) -> str:
        """The last of its versions; ``""`` if it has none."""
        return self.versions[-1] if self.versions else ""


WRITING = frozenset(ActionKind) - {ActionKind.NOTHING, ActionKind.LEAVE}
"""The kinds of actions that change the target."""


def plan_record(
    manifest: Manifest, known: KnownRecord, policy: Policy, can: Capabilities
) -> tuple[Action, ...]:
    """Decide what to do with a record, in order.

    Versions are sent in the order in which they were made, and the target has to show the last
    one as current. If it would not, or if others changed it, the last one is sent again.

    Args:
        manifest: With the digests of all files of the chosen versions.
        known: What the ledger knows of the record.
        policy: What to export.
        can: What the target can do.

    Returns:
        The actions in order; empty if no version is chosen.
    """
    if is_deleted(manifest):
        return (_deletion(manifest, known, policy, can),)
    chosen = chosen_versions(manifest, policy.versions)
    if not chosen:
        return ()
    if can.each_version:
        return _one_by_one(manifest, chosen, known, policy)
    return (_together(manifest, chosen, known, policy),)


def removed_here(identifier: str) -> Manifest:
    """A manifest that stands for a record that was removed from the Silo for good.

    It is planned like one that the source deleted, at an unknown time.
    """
    version = Version("1", "", Origin("harvest"))
    return Manifest(identifier, "", "1", (version,), metadata={"deleted_at_version": "1"})


def is_deleted(manifest: Manifest) -> bool:
    """Whether the source deleted the record and no curator made its current version."""
    return "deleted_at_version" in manifest.metadata and not manifest.current.is_curated


def chosen_versions(manifest: Manifest, which: Versions) -> tuple[Version, ...]:
    """Return the versions to export in the order in which they were made, the current one last."""
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
    manifest: Manifest, chosen: Sequence[Version], known: KnownRecord, policy: Policy
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


def _kind(version: Version, known: KnownRecord, keys: Mapping[str, str]) -> ActionKind:
    name = version.name
    if name not in known.keys:
        return ActionKind.ADD_VERSION
    if known.keys[name] != keys[name] and known.files.get(name) == files_digest(version):
        return ActionKind.DESCRIBE
    return ActionKind.REPLACE


def _together(
    manifest: Manifest, chosen: Sequence[Version], known: KnownRecord, policy: Policy
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
    """Whether the ledger says that others changed the record in the target."""
    return held is not None and not held.token


def _deletion(manifest: Manifest, known: KnownRecord, policy: Policy, can: Capabilities) -> Action:
    identifier, held = manifest.item_id, known.held
    if held is None:
        return Action(identifier, ActionKind.LEAVE, reason="deleted at the source, never exported")
    key = withdrawal_key(identifier, policy.deletions, deletion_date(manifest))
    if held.withdrawn and known.withdrawn_as == key:
        return Action(identifier, ActionKind.NOTHING, key=key)
    if policy.deletions in can.deletions and not (held.withdrawn and not held.deposits):
        return Action(identifier, ActionKind.WITHDRAW, key=key)
    where = "here" if manifest == removed_here(identifier) else "at the source"
    why = f"deleted {where}; an earlier export of it is still there"
    return Action(identifier, ActionKind.LEAVE, key=key, reason=why)


def deletion_date(manifest: Manifest) -> str:
    """Return the date at which the source says it deleted the record; or ``""``."""
    return str(manifest.metadata.get("deleted_at_date") or "")


# -- keys --------------------------------------------------------------------------------


def files_digest(version: Version) -> str:
    """Return the Silo's digest of a version: SHA-256 of its files' paths, sizes and SHA-256.

    They are canonical JSON: ``[[path, size, sha256], …]`` sorted by path, without spaces.
    """
    return digest_of(_files(version))


def version_key(manifest: Manifest, version: Version, policy: Policy) -> str:
    """Return the idempotency key of a version: a digest of all that decides what is exported.

    That is the SHA-256 of its files (from the manifest, so no file is read), which of them are
    metadata, the provenance, the crosswalk, whether documents are unwrapped, and the version's
    state, the record's sets and the identifiers of its values if the target stores them. If the
    source lists the same content again under a later date, the key stays the same.

    Args:
        manifest: Of the record; with the digests of all files of the version.
        version: One of its versions.
        policy: What to export.
    """
    origin, identifiers = version.origin, policy.identifiers_of(manifest, version)
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
            **({"state": version.state} if policy.states else {}),
            **({"sets": sorted(sets_of(manifest))} if policy.sets else {}),
            **({"identifiers": _listed(identifiers)} if identifiers else {}),
        }
    )


def joint_key(keys: Sequence[str]) -> str:
    """Return the key of a deposit of several versions; for one version, its own key."""
    return keys[0] if len(keys) == 1 else digest_of(list(keys))


def withdrawal_key(identifier: str, how: Deletions, date: str) -> str:
    """Return the idempotency key of a withdrawal.

    Args:
        how: Whether it is marked or deleted.
        date: When the source deleted it; or ``""``.
    """
    return digest_of({"identifier": identifier, "withdrawn": how, "date": date})


def _listed(identifiers: IdentifiersOfValues) -> dict[str, dict[str, list[str]]]:
    return {
        field: {value: [one.id, one.scheme, one.address] for value, one in values.items()}
        for field, values in identifiers.items()
    }


def _files(version: Version) -> list[list[Any]]:
    digests = version.digests or {}
    return [
        [path, digest.size, digest.sha256] if digest else [path, None, None]
        for path, digest in sorted(digests.items())
    ]


_canonical = json.JSONEncoder(check_circular=False, sort_keys=True, separators=(",", ":")).encode


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value in canonical form, in lower-case hex."""
    return hashlib.sha256(_canonical(value).encode("ascii")).hexdigest()
