"""Give the records of a Silo another prefix, as when a repository has moved to another domain.

Each record is made anew under its new identifier, with its versions, its history and hard links to
its files, and the old one is deleted when that is on the disk. A record is always under one of
both; after a kill, the same call continues, and the opposite call goes back.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from recordsilo.batches import batched
from recordsilo.copies.agreement import Agreement, agreement_of
from recordsilo.copies.copying import Progress
from recordsilo.copies.errors import CopyRefused
from recordsilo.disk.atomic_file import copy_new, link_new, make_directories, replace_file
from recordsilo.disk.identifier import check_identifier
from recordsilo.disk.names import names_in
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import IdentifierError, RecordSiloError
from recordsilo.records.edit import RecordEdit
from recordsilo.records.history import history_after
from recordsilo.records.manifest import Manifest, Pending, altered, now_text
from recordsilo.records.place import RecordPlace
from recordsilo.removals import Removal, note_removed, read_removed, removals_of
from recordsilo.silo import Silo

_CONTAINED = (Agreement.SAME, Agreement.FIRST)
_TOGETHER = 50
_PREFIX = "identifier_uri_prefix"
_FILES = ("rules", "searches", "schedules")
_TOML = re.compile(r"[^/]+")


@dataclass(slots=True)
class RenameReport:
    """What a renaming did.

    Attributes:
        records: Number of records with the new prefix, or that would get it.
        removals: Number of removals that were carried.
        files: Rules, saved searches and schedules that were changed, as paths.
        failed: Record → why it was not renamed.
    """

    records: int = 0
    removals: int = 0
    files: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The report as JSON values."""
        return {
            "records": self.records, "removals": self.removals, "files": self.files,
            "failed": self.failed,
        }  # fmt: skip


def rename_prefix(
    silo: Silo, old: str, new: str, progress: Progress, *, dry_run: bool = False
) -> RenameReport:
    """Give all records with a prefix another one.

    Carried are settings, removals, ``duplicate_of``, and identifiers in rules, saved searches and
    schedules. The metadata files, and what packages keep of records, stay as they are.

    Args:
        silo: Open for writing; nothing else should change it meanwhile.
        old, new: Beginnings of identifiers, such as ``oai:old.example.org:``.
        progress: Called with the number of records so far; may raise to stop.
        dry_run: Only count, and find the paths that would be too long.

    Raises:
        CopyRefused: The prefixes begin alike, no record has the old one, or a record has the new
            identifier already.
        SiloNotWritable: The disk is read-only or full; the same call continues.

    Cost: a file is linked, not copied; deleting flushes each record by itself.
    """
    report = to_rename(silo, old, new)
    for some in batched(_fitting(silo, old, new, report), _TOGETHER):
        if dry_run:
            report.records += len(some)
        else:
            _rename(silo, {one: new + one[len(old) :] for one in some}, report, silo.agent)
        progress(report.records)
    if dry_run:
        return report
    _refer(silo, old, new)
    for path, content in _changed_files(silo.path, old, new):
        with silo.writing():
            replace_file(f"{silo.path}/{path}", content)
    for one in _removals(silo, old, new):
        name = new + one.identifier[len(old) :]
        note_removed(silo.path, name, one.agent, one.message, since=one.since, title=one.title)
    if silo.state.get(_PREFIX) == old:
        silo.state[_PREFIX] = new
        silo.state.sync()
    return report


def to_rename(silo: Silo, old: str, new: str) -> RenameReport:
    """Return the files and removals with a prefix, before any record is looked at.

    Raises:
        CopyRefused: See `rename_prefix`.
    """
    _check(old, new)
    report = RenameReport()
    _check_free(silo, old, new)
    report.files = [path for path, _ in _changed_files(silo.path, old, new)]
    report.removals = len(_removals(silo, old, new))
    if not (report.files or report.removals or silo.state.get(_PREFIX) == old):
        _check_used(silo, old, new)
    return report


def _check(old: str, new: str) -> None:
    for prefix in (old, new):
        check_identifier(prefix)
    if old.startswith(new) or new.startswith(old):
        raise CopyRefused(
            f"{old} and {new} begin alike, so it could not be told which records were renamed; "
            "write more of both, up to the last colon"
        )


def _check_free(silo: Silo, old: str, new: str) -> None:
    """Check that nothing has the new prefix but what an interrupted call has renamed."""
    if next(_with_prefix(silo, old), None) is None:
        return
    for identifier in _with_prefix(silo, new):
        before = silo[identifier].metadata.get(_RENAMED)
        if before != old + identifier[len(new) :]:
            raise CopyRefused(
                f"{identifier} has the new prefix already; renaming could not be undone. "
                "silo merge joins the records of two Silos"
            )


def _check_used(silo: Silo, old: str, new: str) -> None:
    """Check that a record has the old prefix, or had it before an interrupted call."""
    if next(_with_prefix(silo, old), None) is not None:
        return
    for identifier in islice(_with_prefix(silo, new), 1):
        if str(silo[identifier].metadata.get(_RENAMED, "")).startswith(old):
            return
    raise CopyRefused(f"no identifier begins with {old}{_beginning(silo)}")


def _beginning(silo: Silo) -> str:
    """The end of a sentence that names how the identifiers begin, up to the last colon."""
    first = next(iter(silo.page(limit=1).rows), None)
    if first is None:
        return "; the Silo has no records"
    head, colon, _ = first.identifier.rpartition(":")
    if not colon:
        return f"; the first of this Silo is {first.identifier}"
    others = silo.page(limit=1, from_identifier=f"{head};").rows  # the character after the colon
    which = "the first of this Silo begins" if others else "those of this Silo begin"
    return f"; {which} with {head}:"


_RENAMED = "renamed_from"
"""Key of a record's metadata with the identifier that it had before."""


def _with_prefix(silo: Silo, prefix: str) -> Iterator[str]:
    for row in silo.listed(prefix):
        if not row.identifier.startswith(prefix):
            return
        yield row.identifier


def _fitting(silo: Silo, old: str, new: str, report: RenameReport) -> Iterator[str]:
    """The records with the old prefix whose paths are not too long with the new one."""
    for identifier in _with_prefix(silo, old):
        try:
            check_identifier(new + identifier[len(old) :])
        except IdentifierError as error:
            report.failed[identifier] = str(error)
        else:
            yield identifier


def _rename(silo: Silo, names: Mapping[str, str], report: RenameReport, agent: str) -> None:
    done = []
    with silo.batch([*names, *names.values()]) as batch:
        for old, new in names.items():
            try:
                before = batch.edit(old).manifest
                edit = batch.edit(new)
                if not edit.exists:
                    _build(edit, before, RecordPlace.in_silo(silo.path, old), agent)
                elif agreement_of(edit.manifest, before)[0] not in _CONTAINED:
                    report.failed[old] = f"{new} exists, and lacks some of it"
                    continue
                done.append(old)
            except RecordSiloError as error:
                batch.drop(new)
                report.failed[old] = str(error)
    for old in done:
        silo.del_item(old)
        report.records += 1


def _build(edit: RecordEdit, before: Manifest, place: RecordPlace, agent: str) -> None:
    """Make the record anew: a first revision, whose history has what was before."""
    metadata = {**before.metadata, _RENAMED: before.item_id}
    if before.metadata.get("identifier") == before.item_id:
        metadata["identifier"] = edit.identifier
    after = altered(
        before, item_id=edit.identifier, metadata=metadata, changed=now_text(), pending=Pending(),
        revision=before.revision + 1,
    )  # fmt: skip
    history = history_after(before, after, (1, after.changed), agent)
    for version in before.versions:
        directory = edit.staging.new_directory()
        edit.new_versions[version.name] = directory
        for path in version.paths:
            target = f"{directory}/{path}"
            make_directories(os.path.dirname(target), directory, edit.barrier)
            source = place.path_on_disk(before, version.name, path)
            if os.path.islink(source) or not link_new(source, target):
                with place.open(before, version.name, path) as file:
                    copy_new(file, target, edit.barrier)
    edit.manifest = altered(after, revision=1, history=history)


# -- what refers to identifiers -----------------------------------------------------------


def _refer(silo: Silo, old: str, new: str) -> None:
    """Let records that are marked as duplicates name the new identifiers."""
    for row in list(silo.found({"finding": "Q901"})):
        record = silo[row.identifier]
        named = record.metadata.get("duplicate_of")
        if isinstance(named, str) and named.startswith(old):
            with silo.editing(row.identifier) as edit:
                edit.agent = silo.agent
                edit.set_metadata("duplicate_of", new + named[len(old) :])


def _removals(silo: Silo, old: str, new: str) -> list[Removal]:
    """The removals that are not carried yet."""
    removed = read_removed(silo.path)
    last = {one.identifier: one for one in removals_of(silo.path) if one.identifier in removed}
    return [
        one
        for name, one in last.items()
        if name.startswith(old) and new + name[len(old) :] not in removed
    ]


def _changed_files(path: str, old: str, new: str) -> Iterator[tuple[str, bytes]]:
    """Rules, searches and schedules with texts that begin with the old prefix, as they will be."""
    quoted = re.compile(f"""(["'])({re.escape(old)})""")
    for folder in _FILES:
        for name in names_in(f"{path}/curation/{folder}", ".toml", _TOML):
            place = f"curation/{folder}/{name}.toml"
            with open_regular(f"{path}/{place}") as file:
                text = file.read().decode("utf-8", "surrogateescape")
            changed = quoted.sub(lambda found: f"{found[1]}{new}", text)
            if changed != text:
                yield place, changed.encode("utf-8", "surrogateescape")
