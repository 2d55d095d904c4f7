"""Probable duplicates, and the marks that curators give them.

Probable duplicates have the same title, year and surname of the first creator, ignoring case,
accents and punctuation. A curator marks a record as a duplicate of another, or as distinct.
Both marks are keys of the record's ``metadata``: they are stored, searchable (finding Q901) and
exported with it. No other data is changed or removed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from recordsilo import HarvestedRecord, Silo
from recordsilo.errors import RecordNotFound, RecordSiloError
from recordsilo.formats import Description
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.projection import DUPLICATE_OF
from recordsilo.records.description import description_of
from recordsilo.records.edit import RecordEdit
from silocuration.activity import log_one
from silocuration.errors import MarkRefused
from silocuration.review.clusters import fingerprint

NOT_DUPLICATE_OF = "not_duplicate_of"
"""Key of a record's metadata: the identifiers of records that it is distinct from."""


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Records that are probably duplicates.

    Attributes:
        title: The title of the first record.
        identifiers: Two or more, sorted.
    """

    title: str
    identifiers: tuple[str, ...]


def key_of(description: Description) -> str | None:
    """Return the key that duplicates have in common; None if the description has too little."""
    title = fingerprint(description.title)
    if len(title) < 8:
        return None
    years = [one.text[:4] for one in description.dates if one.text[:4].isdigit()]
    creators = description.creators or description.contributors
    surname = fingerprint(creators[0].text.partition(",")[0]) if creators else ""
    return "\n".join((title, years[0] if years else "", surname))


def duplicates(
    silo: Silo, *, progress: Callable[[int], None] | None = None
) -> list[DuplicateGroup]:
    """Return the groups of probable duplicates, without records that are marked.

    Cost: reads the description of each record whose title another record has too.
    """
    by_title: dict[str, list[str]] = defaultdict(list)
    titles: dict[str, str] = {}
    for number, (identifier, title) in enumerate(_live(silo), 1):
        if len(folded := fingerprint(title)) >= 8:
            by_title[folded].append(identifier)
            titles.setdefault(folded, title)
        if progress is not None and number % 1000 == 0:
            progress(number)
    found: list[DuplicateGroup] = []
    for folded, identifiers in by_title.items():
        if len(identifiers) > 1:
            found += _groups(silo, titles[folded], identifiers)
    return sorted(found, key=lambda one: one.identifiers)


def _live(silo: Silo) -> Iterator[tuple[str, str]]:
    page = PageRequest(limit=1000, sort="identifier")
    while True:
        result = silo.search(filters=SearchFilters({"deleted": False}), page=page)
        yield from ((row.identifier, row.title) for row in result.rows)
        if result.next_page is None:
            return
        page = replace(page, after=result.next_page)


def _groups(silo: Silo, title: str, identifiers: list[str]) -> Iterator[DuplicateGroup]:
    by_key: dict[str, list[HarvestedRecord]] = defaultdict(list)
    for identifier in identifiers:
        try:
            record = silo[identifier]
            key = key_of(_description(record))
        except (RecordNotFound, RecordSiloError):
            continue
        if key is not None and DUPLICATE_OF not in record.metadata:
            by_key[key].append(record)
    for records in by_key.values():
        names = {record.item_id for record in records}
        open_ones = [
            record.item_id
            for record in records
            if not names - {record.item_id} <= set(record.metadata.get(NOT_DUPLICATE_OF, []))
        ]
        if len(open_ones) > 1:
            yield DuplicateGroup(title, tuple(open_ones))


def _description(record: HarvestedRecord) -> Description:
    return description_of(record.state.current, record.read)


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
