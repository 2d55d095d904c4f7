"""Source changes of curated records: review, merge and decide.

A curated record is *reviewed* if a harvest stored a newer version: base is the harvested version
that the working copy was made from, ours the working copy, theirs the newest harvested version.
Stored rules are applied to base and theirs first, so that their effects do not count as
differences. A clean merge becomes a *proposal*, a version named ``workingcopy-from-3`` after the
version it is based on; for a conflict, a person decides. Neither overwrites or removes a curated
version, except that other choices replace a proposal which nobody has edited.

The list of records to review is derived from the manifests on each request; only decisions are
stored, in the record's ``metadata``.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from recordsilo import Silo
from recordsilo.batches import batched
from recordsilo.errors import (
    ManifestUnreadable,
    RecordNotFound,
    RecordSiloError,
    did_you_mean,
)
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.manifest import SETTLED, Manifest, Version, base_of
from silocuration.activity import Activity, changes_of, log_activity, log_one, of_fields
from silocuration.batch.job import changed_by_rule
from silocuration.editing.changes import WORKING_COPY, CannotChange, ReadFile, metadata_fields
from silocuration.editing.fields import Field, Fields, values_of, with_values, write_fields
from silocuration.editing.merge import FieldConflict, Merge, merge
from silocuration.editing.rule_files import RuleSet, kept_rules
from silocuration.editing.rules import apply
from silocuration.errors import NoFields, TooMuch, UpstreamRefused

PAGE = 100

Progress = Callable[[int], None]
Stop = Callable[[], bool]


class ReviewKind(StrEnum):
    """The result of a review."""

    CLEAN = "clean"  # merges cleanly; not proposed yet
    PROPOSED = "proposed"  # a proposal waits to be accepted
    CONFLICT = "conflict"  # a person must choose
    DELETED = "deleted"  # deleted at the source; keep it, or follow
    UNREADABLE = "unreadable"  # cannot be merged by fields; a person must look


_CHOOSING = (ReviewKind.CONFLICT, ReviewKind.PROPOSED)


@dataclass(frozen=True, slots=True)
class Review:
    """A curated record and its newest version at the source.

    Attributes:
        ours: The working copy.
        base: The harvested version that it was made from.
        theirs: The newest harvested version.
        proposal: The name of the proposed version, or of the one to propose.
        merged: The merged fields; None if there is nothing to merge.
        reason: Why it cannot be merged, for `ReviewKind.UNREADABLE`.
        is_edited: Whether the proposal was changed after it was made.
    """

    identifier: str
    kind: ReviewKind
    ours: str
    base: str
    theirs: str
    proposal: str
    merged: Merge | None = None
    reason: str = ""
    is_edited: bool = False

    @property
    def can_resolve(self) -> bool:
        """Whether `resolve` takes choices: the first ones, or others in place of a proposal."""
        return bool(self.conflicts) and self.kind in _CHOOSING and not self.is_edited

    @property
    def conflicts(self) -> tuple[FieldConflict, ...]:
        """Return the fields that a person must decide about."""
        return self.merged.conflicts if self.merged is not None else ()

    def to_json(self) -> dict[str, Any]:
        """Return the review as JSON values; field values as [text, language] lists."""

        def values(side: Fields) -> list[list[str]]:
            return [[value.folded, value.lang] for value in side]

        return {
            "identifier": self.identifier,
            "kind": self.kind.value,
            "ours": self.ours,
            "base": self.base,
            "theirs": self.theirs,
            "proposal": self.proposal,
            "reason": self.reason,
            "from_ours": list(self.merged.from_ours) if self.merged else [],
            "conflicts": [
                {
                    "field": conflict.name,
                    "base": values(conflict.base),
                    "ours": values(conflict.ours),
                    "theirs": values(conflict.theirs),
                }
                for conflict in self.conflicts
            ],
        }


@dataclass(frozen=True, slots=True)
class ProposalReport:
    """What `propose_all` did.

    Attributes:
        proposed: The number of proposals made now.
        waiting: Kind → how many records wait for a person.
        failed: (identifier, reason) of records that could not be written.
    """

    proposed: int
    waiting: Mapping[ReviewKind, int]
    failed: tuple[tuple[str, str], ...] = ()


# --------------------------------------------------------------------------- reviewing


def review_of(manifest: Manifest, read: ReadFile, rules: tuple[RuleSet, ...] = ()) -> Review | None:
    """Review a record (pure except for reading).

    Args:
        read: Reads its files.
        rules: The stored rules that apply to it.

    Returns:
        None if there is nothing to decide: the record has no working copy, the source has
        nothing newer than its base, or a curator has decided about it.
    """
    sides = _sides(manifest)
    if sides is None:
        return None
    base, ours, theirs = sides
    proposal = _proposal_from(theirs)

    def found(kind: ReviewKind, merged: Merge | None = None, reason: str = "") -> Review:
        return Review(
            manifest.item_id, kind, ours.name, base.name, theirs.name, proposal, merged, reason
        )

    if not theirs.paths:
        return found(ReviewKind.DELETED)
    try:
        three = [_fields(version, read) for version in (base, ours, theirs)]
        for rule_set in rules:
            three[0], three[2] = apply(rule_set.rules, three[0]), apply(rule_set.rules, three[2])
    except (CannotChange, TooMuch) as error:
        return found(ReviewKind.UNREADABLE, reason=str(error))
    merged = merge(three[0], three[1], three[2])
    if manifest.has(proposal):
        is_edited = len(manifest.version(proposal).log) > 1  # the first line says who made it
        return replace(found(ReviewKind.PROPOSED, merged), is_edited=is_edited)
    return found(ReviewKind.CONFLICT if merged.conflicts else ReviewKind.CLEAN, merged)


def _sides(manifest: Manifest) -> tuple[Version, Version, Version] | None:
    """Base, ours and theirs; None where there is nothing to decide."""
    harvested = [version for version in manifest.versions if not version.is_curated]
    if not manifest.versions or not manifest.current.is_curated or not harvested:
        return None
    ours, theirs = manifest.current, harvested[-1]
    base_name = base_of(manifest, ours.name)
    if base_name is None or base_name == theirs.name:
        return None
    if manifest.metadata.get(SETTLED) == theirs.name:
        return None
    return manifest.version(base_name), ours, theirs


def _proposal_from(theirs: Version) -> str:
    return f"{WORKING_COPY}-from-{theirs.name}"


def _fields(version: Version, read: ReadFile) -> Fields:
    return metadata_fields(version, read)[2]


def review(silo: Silo, identifier: str) -> Review | None:
    """Review a record of a Silo, with the stored rules that apply to it now.

    Raises:
        RecordNotFound, ManifestUnreadable, RuleRefused
    """
    record = silo[identifier]
    return review_of(record.state, record.read, _rules_for(silo, record.item_id))


def reviews(
    silo: Silo, *, kinds: frozenset[ReviewKind] = frozenset(ReviewKind), after: str = ""
) -> Iterator[Review]:
    """Yield the reviews of a Silo's records that need a decision, ordered by identifier.

    Args:
        after: Only records whose identifiers come after this one.

    Raises:
        IndexProblem, RuleRefused

    Cost: reads three files of each curated record with a newer version at the source.
    """
    by_record = _RulesByRecord(silo)
    for identifier in _newer_upstream(silo, after):
        with contextlib.suppress(RecordNotFound, ManifestUnreadable):
            record = silo[identifier]
            found = review_of(record.state, record.read, by_record.of(identifier))
            if found is not None and found.kind in kinds:
                yield found


@dataclass(frozen=True, slots=True)
class Undecided:
    """How many records of a Silo await a decision.

    Attributes:
        changes: Records with a source change and no proposal yet.
        is_all: Whether every record was looked at.
    """

    changes: int
    proposals: int
    is_all: bool


def undecided(silo: Silo, most: int, after: str = "") -> Undecided:
    """Count the records that something is to be decided about, by their manifests alone.

    Args:
        most: Look at so many records at most.
        after: Only at those whose identifiers come after this one.

    Raises:
        IndexProblem
    """
    proposals = changes = 0
    for number, identifier in enumerate(_newer_upstream(silo, after)):
        if number == most:
            return Undecided(changes, proposals, is_all=False)
        with contextlib.suppress(RecordNotFound, ManifestUnreadable):
            state = silo[identifier].state
            if sides := _sides(state):
                is_proposed = state.has(_proposal_from(sides[2]))
                proposals, changes = proposals + is_proposed, changes + (not is_proposed)
    return Undecided(changes, proposals, is_all=True)


def _newer_upstream(silo: Silo, after: str) -> Iterator[str]:
    """Yield the curated records with a newer harvested version; of those added meanwhile, some."""
    found = silo.found({"curated": True, "upstream_newer": True})
    yield from (row.identifier for row in found if row.identifier > after)


class _RulesByRecord:
    """The stored rules of a Silo, each with the records that it applies to.

    These are the records that it selects now, and those that a job changed by it: a rule that
    replaces the value that it selects by would no longer find them.
    """

    def __init__(self, silo: Silo) -> None:
        self._rules: list[tuple[RuleSet, frozenset[str] | None]] = []
        for name, rule_set in kept_rules(silo.path):
            concerned = None
            if not rule_set.select.is_everything:
                concerned = frozenset(rule_set.select.find(silo)) | changed_by_rule(silo, name)
            self._rules.append((rule_set, concerned))

    def of(self, identifier: str) -> tuple[RuleSet, ...]:
        """Return the rules that apply to a record."""
        return tuple(
            rule_set for rule_set, found in self._rules if found is None or identifier in found
        )


def _rules_for(silo: Silo, identifier: str) -> tuple[RuleSet, ...]:
    return _RulesByRecord(silo).of(identifier)


# --------------------------------------------------------------------------- proposing


def propose_all(
    silo: Silo, *, agent: str, progress: Progress | None = None, stop: Stop | None = None
) -> ProposalReport:
    """Make a proposal for every record that merges cleanly.

    Can be repeated: existing proposals are left as they are.

    Args:
        agent: Who proposes.
        progress: Called after every page with the number of records reviewed.
        stop: Called before every page; True ends the run, and another call continues.

    Raises:
        IndexProblem, RuleRefused, RecordSiloError, OSError
    """
    waiting: Counter[ReviewKind] = Counter()
    proposed = looked_at = 0
    failed: list[tuple[str, str]] = []
    for page in batched(reviews(silo), PAGE):
        if stop is not None and stop():
            break
        done, refused = _propose_page(silo, [o for o in page if o.kind is ReviewKind.CLEAN], agent)
        proposed, failed, looked_at = proposed + done, failed + refused, looked_at + len(page)
        waiting.update(one.kind for one in page if one.kind is not ReviewKind.CLEAN)
        if progress is not None:
            progress(looked_at)
    waiting[ReviewKind.PROPOSED] += proposed
    return ProposalReport(proposed, {k: n for k, n in waiting.items() if n}, tuple(failed))


def _propose_page(silo: Silo, page: list[Review], agent: str) -> tuple[int, list[tuple[str, str]]]:
    if not page:
        return 0, []
    refused: list[tuple[str, str]] = []
    lines: list[Activity] = []
    rules = _RulesByRecord(silo)
    with silo.batch([one.identifier for one in page], agent=agent) as batch:
        for one in page:
            try:
                edit = batch.edit(one.identifier)
                now = review_of(edit.manifest, edit.read, rules.of(one.identifier))
                if now is None or now.kind is not ReviewKind.CLEAN or now.merged is None:
                    continue  # changed since it was listed; the next run reviews it
                _write_proposal(edit, now, now.merged.fields, agent, "merged with what is newer")
                lines += _proposed(now, agent)
            except (CannotChange, NoFields, RecordSiloError) as error:
                refused.append((one.identifier, str(error)))
    log_activity(silo.path, lines)
    return len(lines), refused


def _proposed(found: Review, agent: str) -> list[Activity]:
    """Return the one line of a proposal in the activity log; the version has its values."""
    version = [("version", None, found.proposal)]
    about = {"identifier": found.identifier, "version": found.proposal}
    return changes_of(version, agent=agent, action="propose", **about)


def _write_proposal(
    edit: RecordEdit, found: Review, fields: Fields, agent: str, message: str
) -> None:
    """Write a version: their files with our fields in them, and the files that only ours has."""
    theirs, ours = edit.manifest.version(found.theirs), edit.manifest.version(found.ours)
    path, content, _ = metadata_fields(theirs, edit.read)
    written = write_fields(content, fields)  # before the version exists, because it may be refused
    edit.derive_version(
        found.theirs,
        found.proposal,
        date=theirs.date,
        origin=new_origin("clone", of=found.theirs, agent=agent, message=message),
        log=f"Proposed from {found.theirs} with the changes of {found.ours}: {message}",
    )
    edit.move_cursor(found.ours)
    edit.put(found.proposal, path, written, metadata=True)
    for extra in ours.paths:
        if extra not in theirs.paths:
            marked = extra in ours.metadata_files
            edit.put(found.proposal, extra, edit.read(found.ours, extra), metadata=marked)


# --------------------------------------------------------------------------- deciding


def resolve(
    silo: Silo,
    identifier: str,
    choices: Mapping[str, tuple[tuple[str, str], ...]],
    *,
    agent: str,
    if_revision: int | None = None,
) -> str:
    """Resolve the fields in conflict: make the proposal with the chosen values.

    A proposal that was made so before, and not edited since, is replaced.

    Args:
        choices: Field → (text, language) of each new value; required for every field in
            conflict.
        agent: Who decides.
        if_revision: The expected revision; by default any.

    Returns:
        The name of the proposed version.

    Raises:
        UpstreamRefused: There is no conflict, the proposal was edited, a field has no choice,
            or one with a choice has no conflict.
        RevisionConflict: See `HarvestedRecord`.
    """
    with silo.editing(identifier, if_revision=if_revision) as edit:
        found = review_of(edit.manifest, edit.read, _rules_for(silo, identifier))
        if found is not None and found.is_edited:
            why = f"has a proposal that was edited; accept it, or delete version {found.proposal}"
            raise UpstreamRefused(identifier, why)
        if found is None or not found.can_resolve or found.merged is None:
            raise UpstreamRefused(identifier, "has no conflict to resolve")
        _check_fields(found, choices)
        missing = [one.name for one in found.conflicts if one.name not in choices]
        if missing:
            raise UpstreamRefused(identifier, f"needs a choice for {', '.join(missing)} as well")
        fields = found.merged.fields
        for name, values in choices.items():
            fields = _chosen(fields, name, values)
        if found.kind is ReviewKind.PROPOSED:
            edit.remove_version(found.proposal)
        _write_proposal(edit, found, fields, agent, "decided by hand")
    changed = [
        value
        for one in found.conflicts
        for value in of_fields(one.ours, values_of(fields, one.name))
    ]
    log_one(silo.path, "resolve", identifier, found.proposal, *changed, agent=agent)
    return found.proposal


def _check_fields(found: Review, choices: Iterable[str]) -> None:
    names = [one.name for one in found.conflicts]
    for name in choices:
        if name not in names:
            reason = f"has no conflict in {name!r}, only in {', '.join(names)}"
            raise UpstreamRefused(found.identifier, reason + did_you_mean(name, names))


def _chosen(fields: Fields, name: str, values: tuple[tuple[str, str], ...]) -> Fields:
    new = [Field(name, text, lang) for text, lang in values]
    return with_values(fields, lambda one: one.name == name, new)


def accept(silo: Silo, identifier: str, *, agent: str, if_revision: int | None = None) -> str:
    """Make a proposal the working copy; the former one is kept as ``workingcopy-on-1``.

    A clean merge that was not proposed yet is proposed first.

    Returns:
        The name under which the former working copy is kept.

    Raises:
        UpstreamRefused: There is no proposal, and no clean merge.
        RevisionConflict: See `HarvestedRecord`.
    """
    with silo.editing(identifier, if_revision=if_revision) as edit:
        found = review_of(edit.manifest, edit.read, _rules_for(silo, identifier))
        if found is not None and found.kind is ReviewKind.CLEAN and found.merged is not None:
            _write_proposal(edit, found, found.merged.fields, agent, "merged with what is newer")
        elif found is None or found.kind is not ReviewKind.PROPOSED:
            raise UpstreamRefused(identifier, "has no proposal to accept")
        edit.move_cursor(found.proposal)
        edit.set_metadata(SETTLED, found.theirs)
        edit.log(found.proposal, f"Accepted by {agent}")
    accepted = ("version", found.ours, found.proposal)
    log_one(silo.path, "accept", identifier, found.proposal, accepted, agent=agent)
    if found.ours != WORKING_COPY:
        return found.ours
    record = silo[identifier]
    former = _free_name(record.versions, f"{WORKING_COPY}-on-{found.base}")
    message = f"{found.proposal} was accepted"
    record.rename_version(WORKING_COPY, former, agent=agent, message=message)
    record.rename_version(found.proposal, WORKING_COPY, agent=agent, message=message)
    return former


def _free_name(taken: list[str], wanted: str) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name


def _settled(silo: Silo, edit: RecordEdit) -> Review:
    """Note that the source's newest version was decided on; return what was decided about."""
    found = review_of(edit.manifest, edit.read, _rules_for(silo, edit.identifier))
    if found is None:
        raise UpstreamRefused(edit.identifier, "has nothing new to decide")
    edit.set_metadata(SETTLED, found.theirs)
    return found


def keep(silo: Silo, identifier: str, *, agent: str, if_revision: int | None = None) -> str:
    """Keep the working copy, and ignore the newest version of the source.

    Returns:
        The name of the version that is ignored.

    Raises:
        UpstreamRefused: There is nothing to decide.
        RevisionConflict: See `HarvestedRecord`.
    """
    with silo.editing(identifier, if_revision=if_revision) as edit:
        found = _settled(silo, edit)
        edit.log(found.ours, f"Kept by {agent} although the source has version {found.theirs}")
    log_one(silo.path, "keep", identifier, found.ours, agent=agent)
    return found.theirs


def follow(silo: Silo, identifier: str, *, agent: str, if_revision: int | None = None) -> str:
    """Make the newest version of the source the current one; no version is removed.

    Returns:
        Its name.

    Raises:
        UpstreamRefused: There is nothing to decide.
        RevisionConflict: See `HarvestedRecord`.
    """
    with silo.editing(identifier, if_revision=if_revision) as edit:
        found = _settled(silo, edit)
        edit.log(found.ours, f"Left by {agent} for version {found.theirs} of the source")
        edit.move_cursor(found.theirs)
    followed = ("version", found.ours, found.theirs)
    log_one(silo.path, "follow", identifier, found.theirs, followed, agent=agent)
    return found.theirs
