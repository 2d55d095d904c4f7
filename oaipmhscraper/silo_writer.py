"""A page of records → versions in a Silo, one commit for the page.

What each record does is decided in `storing_rules`; here it is looked up, done and logged.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from oaipmhprotocol import DatestampError, Record
from oaipmhprotocol.datestamps import read_datestamp
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.requests_and_pages import SetAside
from oaipmhscraper.storing_rules import (
    Action,
    AddVersion,
    Listing,
    Plan,
    PutFile,
    SetMetadata,
    SetOrigin,
    plan_record,
)
from recordsilo import Silo
from recordsilo.edit import RecordEdit
from recordsilo.errors import (
    FileNotInVersion,
    FormatTooNew,
    IdentifierError,
    ManifestUnreadable,
)
from recordsilo.identifier import check_identifier
from recordsilo.manifest import now_text

logger = logging.getLogger("OAIPMH Harvester")

BeforeStore = Callable[[Record, str], Record | None]
"""(record, metadata prefix) → the record to store instead, or None to leave it out."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """What became of the records of a page.

    Attributes:
        outcomes: How many of each.
        written: How many made the Silo write content or a deletion.
        quarantined: What could not be stored.
    """

    outcomes: Counter[Outcome]
    written: int
    quarantined: tuple[SetAside, ...]


@dataclass(frozen=True, slots=True)
class _Stored:
    """One record of the page with what was decided for it."""

    identifier: str
    datestamp: str
    is_new: bool
    plan: Plan


class SiloWriter:
    """Stores the pages of one list.

    Args:
        silo: Where to.
        listing: Format, agent and message, as noted in origins.
        before_store: May change a record before it is stored, or leave it out.
        restore_removed: Bring records back that were removed here.
    """

    def __init__(
        self,
        silo: Silo,
        listing: Listing,
        *,
        before_store: BeforeStore | None = None,
        restore_removed: bool = False,
    ) -> None:
        self._silo = silo
        self._listing = listing
        self._before_store = before_store
        self._restore_removed = restore_removed
        self._seen: set[int] = set()

    def store(self, records: Sequence[Record]) -> PageOutcome:
        """Store a page: all of it, or nothing when it raises.

        Returns:
            One outcome for each record given.

        Raises:
            RecordSiloError: The store refused, say for an unreadable manifest.
            OSError: The disk did.
        """
        outcomes: Counter[Outcome] = Counter()
        wanted = [record for record in map(self._hooked, records) if record is not None]
        sound, quarantined = _sorted_out(wanted)
        sound = self._without_removed(sound)
        try:
            stored = self._commit(sound)
        except (ManifestUnreadable, FormatTooNew):
            stored, refused = self._commit_singly(sound)
            quarantined += refused
        outcomes[Outcome.QUARANTINED] = len(quarantined)
        outcomes[Outcome.LEFT_OUT] = len(records) - len(quarantined) - len(stored)
        outcomes.update(self._outcome(one) for one in stored)
        _log(stored)
        written = sum(one.plan.writes for one in stored)
        return PageOutcome(+outcomes, written, tuple(quarantined))

    def _hooked(self, record: Record) -> Record | None:
        if self._before_store is None:
            return record
        return self._before_store(record, self._listing.metadata_prefix)

    def _without_removed(self, records: list[tuple[Record, str]]) -> list[tuple[Record, str]]:
        removed = self._silo.removed()
        if not removed:
            return records
        affected = {
            record.header.identifier
            for record, _ in records
            if record.header.identifier in removed and record.header.identifier not in self._silo
        }
        if affected and self._restore_removed:
            self._silo.restore_removed(affected)
            return records
        return [one for one in records if one[0].header.identifier not in affected]

    def _commit(self, records: list[tuple[Record, str]]) -> list[_Stored]:
        if not records:
            return []
        listing = replace(self._listing, now=now_text())
        identifiers = dict.fromkeys(record.header.identifier for record, _ in records)
        stored: list[_Stored] = []
        with self._silo.batch(list(identifiers), agent=listing.agent) as batch:
            for record, datestamp in records:
                edit = batch.edit(record.header.identifier)
                is_new = not edit.manifest.versions
                plan = plan_record(edit.manifest, record, datestamp, listing, _reader(edit))
                _carry_out(plan.actions, edit)
                stored.append(_Stored(record.header.identifier, datestamp, is_new, plan))
        return stored

    def _commit_singly(
        self, records: list[tuple[Record, str]]
    ) -> tuple[list[_Stored], list[SetAside]]:
        """Store records one by one, and set those aside that the store refuses to write."""
        stored: list[_Stored] = []
        refused: list[SetAside] = []
        for record, datestamp in records:
            try:
                stored += self._commit([(record, datestamp)])
            except (ManifestUnreadable, FormatTooNew) as error:
                reason = f"cannot be written here: {error}"
                refused.append(SetAside(record.header.identifier, reason, f"datestamp {datestamp}"))
        return stored, refused

    def _outcome(self, one: _Stored) -> Outcome:
        key = hash(one.identifier)
        if key in self._seen and not one.plan.writes:
            return Outcome.DUPLICATE
        self._seen.add(key)
        return one.plan.outcome


def _reader(edit: RecordEdit) -> Callable[[str, str], bytes | None]:
    def read(version: str, path: str) -> bytes | None:
        try:
            return edit.read(version, path)
        except FileNotInVersion:
            return None

    return read


def _carry_out(actions: Iterable[Action], edit: RecordEdit) -> None:
    for action in actions:
        match action:
            case AddVersion(name, date, origin, log, move_cursor):
                edit.add_version(name, date=date, origin=origin, log=log, move_cursor=move_cursor)
            case PutFile(version, path, content, metadata):
                edit.put(version, path, content, metadata=metadata, allow_frozen=True)
            case SetOrigin(version, origin):
                edit.set_origin(version, origin)
            case SetMetadata(key, None):
                edit.del_metadata(key)
            case SetMetadata(key, value):
                edit.set_metadata(key, value)


def _sorted_out(
    records: Iterable[Record],
) -> tuple[list[tuple[Record, str]], list[SetAside]]:
    """Records with their datestamps in the 2010 form, and those that cannot be stored."""
    sound: list[tuple[Record, str]] = []
    set_aside: list[SetAside] = []
    for record in records:
        try:
            sound.append((record, _checked(record)))
        except _CannotStore as lack:
            header = record.header
            where = f"datestamp {header.datestamp}" if header.datestamp else "no datestamp"
            set_aside.append(SetAside(header.identifier, str(lack), where))
    return sound, set_aside


class _CannotStore(Exception):
    """A record lacks what a version needs."""


def _checked(record: Record) -> str:
    header = record.header
    try:
        check_identifier(header.identifier)
        datestamp = date_of_2010(header.datestamp)
    except IdentifierError as error:
        raise _CannotStore(f"has an identifier that cannot be stored: {error}") from error
    except DatestampError as error:
        raise _CannotStore(f"has no sound datestamp ({header.datestamp!r})") from error
    if record.metadata is None and not header.deleted:
        raise _CannotStore("has neither metadata nor the status deleted")
    return datestamp


def date_of_2010(datestamp: str) -> str:
    """A datestamp as a manifest has it: ``2004-06-24T00:00:00``, UTC.

    Raises:
        DatestampError: Not readable as one.
    """
    return read_datestamp(datestamp).replace(tzinfo=None).isoformat()


def _log(stored: Iterable[_Stored]) -> None:
    """One line for each record that was written, "New object" in the words of 2010."""
    for one in stored:
        if one.plan.writes:
            what = "New" if one.is_new else "Deleted" if _deletes(one) else "Updated"
            logger.info(
                "%s object: %s found with datestamp %s - storing.",
                what,
                one.identifier,
                one.datestamp,
            )


def _deletes(one: _Stored) -> bool:
    return one.plan.outcome is Outcome.DELETED
