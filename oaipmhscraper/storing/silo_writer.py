"""Store a page of records as versions in a Silo, in one commit.

`storing_rules` decides what to do with each record; this module does and logs it.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Protocol

from oaipmhclient.pages.requests_and_pages import ListPage, SetAside
from oaipmhprotocol import DatestampError, Record
from oaipmhprotocol.datestamps import read_datestamp
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.plain_records import PlainRecords, plain_records
from oaipmhscraper.storing.storing_rules import (
    Action,
    AddVersion,
    PutFile,
    Reception,
    SetMetadata,
    SetOrigin,
    first_state,
    plan_record,
)
from recordsilo import Silo
from recordsilo.disk.identifier import check_identifier
from recordsilo.errors import (
    FileNotInVersion,
    FormatTooNew,
    IdentifierError,
    ManifestUnreadable,
)
from recordsilo.records.batch import NewRecord
from recordsilo.records.edit import RecordEdit

logger = logging.getLogger("OAIPMH Harvester")

BeforeStore = Callable[[Record, str], Record | None]
"""(record, metadata prefix) → the record to store instead, or None to leave it out."""


@dataclass(frozen=True, slots=True)
class PageOutcome:
    """The outcomes of the records of a page.

    Attributes:
        became: Identifier and outcome of each record of the page, in any order.
        written: Number of records whose content or deletion was written.
        quarantined: Records that could not be stored.
    """

    became: tuple[tuple[str, Outcome], ...]
    written: int
    quarantined: tuple[SetAside, ...] = ()

    @property
    def outcomes(self) -> Counter[Outcome]:
        """Return the number of records with each outcome."""
        return Counter(outcome for _, outcome in self.became)


class PageStore(Protocol):
    """Stores the pages of one list, one after the other, in one thread."""

    def store(self, page: ListPage[Record], received: datetime | None = None) -> PageOutcome:
        """Store the records of a page: all of them, or none if it raises an error."""


@dataclass(frozen=True, slots=True)
class _Sound:
    """A record of the page that can be stored.

    Attributes:
        record: As returned by the hook.
        datestamp: In the 2010 form.
        mended: The kinds of repair that its bytes needed.
    """

    record: Record
    datestamp: str
    mended: tuple[str, ...] = ()

    @property
    def identifier(self) -> str:
        return self.record.header.identifier


@dataclass(frozen=True, slots=True)
class _Stored:
    """A record of the page and what became of it."""

    what: _Sound
    outcome: Outcome
    is_new: bool = True
    writes: bool = True

    @property
    def identifier(self) -> str:
        return self.what.identifier


class SiloWriter:
    """Stores the pages of one list.

    Args:
        listing: Format, agent and message, as noted in origins.
        before_store: May change a record before it is stored, or leave it out.
        restore_removed: Restore records that were removed from the Silo.
    """

    def __init__(
        self,
        silo: Silo,
        listing: Reception,
        *,
        before_store: BeforeStore | None = None,
        restore_removed: bool = False,
    ) -> None:
        self._silo = silo
        self._listing = listing
        self._before_store = before_store
        self._restore_removed = restore_removed

    def store(self, page: ListPage[Record], received: datetime | None = None) -> PageOutcome:
        """Store a page: all of it, or nothing if it raises an error.

        Args:
            page: Its ``set_aside`` is ignored; repairs are noted in origins.
            received: When it was received, as noted in origins; by default now.

        Returns:
            One outcome for each of the page's items.

        Raises:
            RecordSiloError: The store refused, for example because of an unreadable manifest.
            OSError: The disk refused.
        """
        hook, prefix = self._before_store, self._listing.metadata_prefix
        records = page.items if hook is None else [hook(one, prefix) for one in page.items]
        sound, quarantined = _sorted_out(records, page)
        kept = self._without_removed(sound)
        now = _text_2010(received or datetime.now(UTC))
        try:
            stored = self._commit(kept, now)
        except (ManifestUnreadable, FormatTooNew):
            stored, refused = self._commit_singly(kept, now)
            quarantined += refused
        _log(stored)
        return PageOutcome(
            _became(page, stored, quarantined),
            sum(one.writes for one in stored),
            tuple(quarantined),
        )

    def _without_removed(self, records: list[_Sound]) -> list[_Sound]:
        removed = self._silo.removed()
        if not removed:
            return records
        affected = {
            one.identifier
            for one in records
            if one.identifier in removed and one.identifier not in self._silo
        }
        if affected and self._restore_removed:
            self._silo.restore_removed(affected)
            return records
        return [one for one in records if one.identifier not in affected]

    def _commit(self, records: list[_Sound], now: str) -> list[_Stored]:
        if not records:
            return []
        listing = replace(self._listing, now=now)
        identifiers = dict.fromkeys(one.identifier for one in records)
        stored: list[_Stored] = []
        with self._silo.batch(list(identifiers), agent=listing.agent) as batch:
            plain = plain_records(listing)  # has the time of the change: under the locks
            for one in records:
                how = replace(listing, mended=one.mended) if one.mended else listing
                first = partial(_first, one, how, plain)
                if batch.create(one.identifier, first):
                    outcome = Outcome.DELETED if one.record.header.deleted else Outcome.NEW
                    stored.append(_Stored(one, outcome))
                else:
                    stored.append(_changed(batch.edit(one.identifier), one, how))
        return stored

    def _commit_singly(
        self, records: list[_Sound], now: str
    ) -> tuple[list[_Stored], list[SetAside]]:
        """Store records one by one, and set aside those that the store refuses to write."""
        stored: list[_Stored] = []
        refused: list[SetAside] = []
        for one in records:
            try:
                stored += self._commit([one], now)
            except (ManifestUnreadable, FormatTooNew) as error:
                reason = f"cannot be written here: {error}"
                refused.append(SetAside(one.identifier, reason, f"datestamp {one.datestamp}"))
        return stored, refused


def _first(one: _Sound, listing: Reception, plain: PlainRecords | None) -> NewRecord:
    """What a record begins with that the Silo does not have."""
    state = None
    if plain is not None and not one.mended:
        state = plain.first_state(one.record, one.datestamp)
    return state or first_state(one.record, one.datestamp, listing)


def _changed(edit: RecordEdit, one: _Sound, listing: Reception) -> _Stored:
    is_new = not edit.manifest.versions
    plan = plan_record(edit.manifest, one.record, one.datestamp, listing, _reader(edit))
    _carry_out(plan.actions, edit)
    return _Stored(one, plan.outcome, is_new, plan.writes)


def _became(
    page: ListPage[Record], stored: Iterable[_Stored], quarantined: Iterable[SetAside]
) -> tuple[tuple[str, Outcome], ...]:
    """Return one outcome for each item; an item neither stored nor quarantined was left out.

    The hook may have changed a record's identifier.
    """
    became = [(one.identifier, one.outcome) for one in stored]
    became += [(one.identifier, Outcome.QUARANTINED) for one in quarantined]
    left = Counter(record.header.identifier for record in page.items)
    left.subtract(identifier for identifier, _ in became)
    missing = len(page.items) - len(became)
    became += [(identifier, Outcome.LEFT_OUT) for identifier in islice(left.elements(), missing)]
    return tuple(became)


def _text_2010(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


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
    records: Iterable[Record | None], page: ListPage[Record]
) -> tuple[list[_Sound], list[SetAside]]:
    """Return the records that can be stored, and those that cannot, with their places."""
    sound: list[_Sound] = []
    set_aside: list[SetAside] = []
    for number, record in enumerate(records):
        if record is None:
            continue  # the hook leaves it out
        try:
            sound.append(_Sound(record, _checked(record), page.mended.get(number, ())))
        except _CannotStore as lack:
            header = record.header
            where = f"datestamp {header.datestamp}" if header.datestamp else "no datestamp"
            raw = bytes(record.metadata or b"")  # without its tree
            set_aside.append(SetAside(header.identifier, str(lack), where, raw))
    return sound, set_aside


class _CannotStore(Exception):
    """A record lacks a part that a version needs."""


def _checked(record: Record) -> str:
    header = record.header
    try:
        check_identifier(header.identifier)
        datestamp = date_of_2010(header.datestamp)
    except IdentifierError as error:
        raise _CannotStore(f"has an identifier that cannot be stored: {error}") from error
    except DatestampError as error:
        raise _CannotStore(f"has no valid datestamp ({header.datestamp!r})") from error
    if record.metadata is None and not header.deleted:
        raise _CannotStore("has neither metadata nor the status deleted")
    return datestamp


def date_of_2010(datestamp: str) -> str:
    """Return a datestamp in the form of manifests: ``2004-06-24T00:00:00``, UTC.

    Raises:
        DatestampError: It is not a datestamp.
    """
    return read_datestamp(datestamp).replace(tzinfo=None).isoformat()


def _log(stored: Iterable[_Stored]) -> None:
    """Log one line for each record written; "New object" has the wording of 2010."""
    if not logger.isEnabledFor(logging.INFO):
        return
    for one in stored:
        if one.writes:
            is_gone = one.outcome is Outcome.DELETED
            what = "New" if one.is_new else "Deleted" if is_gone else "Updated"
            logger.info(
                "%s object: %s found with datestamp %s - storing.",
                what,
                one.identifier,
                one.what.datestamp,
            )
