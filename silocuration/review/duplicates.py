"""Probable duplicates, and the marks that curators give them.

Probable duplicates have the same title, but for a misspelling or a subtitle, and the same
creators; records with different DOIs, years, types or languages are none (see `same_work`).
A curator marks a record as a duplicate of another, or as distinct.
Both marks are keys of the record's ``metadata``: they are stored, searchable (finding Q901) and
exported with it. No other data is changed or removed.
"""

from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice

from recordsilo import Silo
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.index import Described
from recordsilo.index.projection import DUPLICATE_OF
from recordsilo.records.edit import RecordEdit
from silocuration.activity import log_one
from silocuration.errors import MarkRefused
from silocuration.review.candidates import Candidates
from silocuration.review.groups import groups_of
from silocuration.review.same_work import WorkDescription

NOT_DUPLICATE_OF = "not_duplicate_of"
"""Key of a record's metadata: the identifiers of records that it is distinct from."""
_AT_ONCE = 1000
"""Titles that are added at once."""


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Records that are probably duplicates.

    Attributes:
        title: The title of the first record.
        identifiers: Two or more, sorted.
    """

    title: str
    identifiers: tuple[str, ...]


def duplicates(
    silo: Silo, *, progress: Callable[[int], None] | None = None
) -> list[DuplicateGroup]:
    """Return the groups of probable duplicates, without records that are marked.

    Returns:
        The surest groups first: with the same DOI, then with the most creators in common.

    Cost: see `alike`; reads the manifest of each record in a group.
    """
    found = (open_group(silo, group) for group in alike(silo, progress=progress))
    return [group for group in found if group is not None]


def alike(silo: Silo, *, progress: Callable[[int], None] | None = None) -> list[DuplicateGroup]:
    """Return the groups of probable duplicates, whatever their marks; the surest first.

    Cost: reads the index, no records; about 30 µs for each, and a temporary file.
    """
    with closing(Candidates()) as candidates:
        titled, number = silo.titled(), 0
        while some := list(islice(titled, _AT_ONCE)):
            candidates.add(some)
            number += len(some)
            if progress is not None:
                progress(number)
        describe = partial(_works, silo, candidates)
        groups = groups_of(candidates.blocks(), describe, candidates.frequency)
        return [_group(candidates, one.numbers) for one in groups]


def _works(
    silo: Silo, candidates: Candidates, numbers: Sequence[int]
) -> dict[int, WorkDescription]:
    named = candidates.named(numbers)
    described = silo.described([identifier for identifier, _ in named.values()])
    return {
        number: _work(title, described[identifier])
        for number, (identifier, title) in named.items()
        if identifier in described  # not deleted meanwhile
    }


def _work(title: str, described: Described) -> WorkDescription:
    values = described.values
    return WorkDescription(
        title=title,
        creators=described.creators,
        year=described.year,
        types=values.get("type", ()),
        languages=values.get("language", ()),
        publishers=values.get("publisher", ()),
        doi=described.doi,
    )


def _group(candidates: Candidates, numbers: Sequence[int]) -> DuplicateGroup:
    found = sorted(candidates.named(numbers).values())
    return DuplicateGroup(found[0][1], tuple(identifier for identifier, _ in found))


def open_group(silo: Silo, group: DuplicateGroup) -> DuplicateGroup | None:
    """Return those of a group about which nothing is decided; None if there are no two.

    Cost: reads the manifest of each.
    """
    marks: dict[str, set[str]] = {}
    for identifier in group.identifiers:
        with suppress(RecordSiloError):  # deleted, or it cannot be read
            metadata = silo[identifier].metadata
            if DUPLICATE_OF not in metadata:
                marks[identifier] = set(metadata.get(NOT_DUPLICATE_OF, []))
    found = tuple(one for one, distinct in marks.items() if marks.keys() - {one} - distinct)
    return DuplicateGroup(group.title, found) if len(found) > 1 else None


def mark_duplicate(
    silo: Silo, identifier: str, of: str | None, *, agent: str, if_revision: int | None = None
) -> None:
    """Mark a record as a duplicate of another, or remove the mark.

    Args:
        of: The record that it is a duplicate of; None removes the mark.
        if_revision: The expected revision; by default any.

    Raises:
        RecordNotFound: One of the two does not exist.
        MarkRefused: Both are the same record, or ``of`` is marked as a duplicate itself.
    """
    if of is not None:
        if of == identifier:
            raise MarkRefused(f"{identifier} cannot be a duplicate of itself")
        if DUPLICATE_OF in silo[of].metadata:
            raise MarkRefused(f"{of} is itself marked as a duplicate; name the record to keep")
    record = silo[identifier]
    with silo.editing(identifier, if_revision=if_revision) as edit:
        if of is None:
            edit.del_metadata(DUPLICATE_OF)
        else:
            edit.set_metadata(DUPLICATE_OF, of)
        said = "no longer marked as a duplicate" if of is None else f"marked as a duplicate of {of}"
        edit.log(record.currentversion, f"{said} by {agent}")
    mark = ("duplicate of", record.metadata.get(DUPLICATE_OF), of)
    log_one(silo.path, "mark", identifier, record.currentversion, mark, agent=agent)


def mark_distinct(
    silo: Silo, identifiers: tuple[str, ...], *, agent: str, is_revoked: bool = False
) -> None:
    """Mark records as distinct from each other, or take that back.

    Args:
        identifiers: The records.
        agent: Who says so.
        is_revoked: Remove the marks; the records may be probable duplicates again.

    Raises:
        RecordNotFound: One of them does not exist.
    """
    for identifier in identifiers:
        others = [one for one in identifiers if one != identifier]
        with silo.editing(identifier) as edit:
            if edit.before is None:
                raise RecordNotFound(identifier, silo.storage_dir)
            version = edit.manifest.current_version
            known = list(edit.manifest.metadata.get(NOT_DUPLICATE_OF, []))
            changed = [one for one in others if (one in known) is is_revoked]
            if changed:
                rest = [one for one in known if one not in changed]
                _set_distinct(edit, rest if is_revoked else known + changed)
                said = "taken back" if is_revoked else "said"
                edit.log(version, f"{said} by {agent} to be no duplicate of {', '.join(changed)}")
        if changed:
            told = ", ".join(changed)
            mark = ("no duplicate of", *((told, None) if is_revoked else (None, told)))
            log_one(silo.path, "mark", identifier, version, mark, agent=agent)


def _set_distinct(edit: RecordEdit, others: list[str]) -> None:
    if others:
        edit.set_metadata(NOT_DUPLICATE_OF, others)
    else:
        edit.del_metadata(NOT_DUPLICATE_OF)
