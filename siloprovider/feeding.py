"""How the table of items takes over what was seen of records: datestamps, sets and deletions."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection

from oaipmhprovider.arguments import SET_SPEC
from siloprovider import kept, members, unread
from siloprovider.choosing import DUBLIN_CORE, Given
from siloprovider.item_table import (
    Bits,
    Turn,
    datestamp_at,
    into_sets,
    out_of_sets,
    specs_in,
)
from siloprovider.unread import IndexedRecord

_EPOCH = datetime(1, 1, 1, tzinfo=UTC)
UNKNOWN = Given("", ())
"""Of a record that cannot be read: no document is given until it can be."""


def datestamp_of(seconds: int) -> str:
    """A time in seconds since 0001-01-01, as a datestamp."""
    return datestamp_at(_EPOCH + timedelta(seconds=seconds))


def write(
    connection: Connection,
    bits: Bits,
    turn: Turn,
    seen: IndexedRecord,
    given: Given | None,
    *,
    is_whole: bool,
) -> None:
    """Note what is given of a record.

    Args:
        is_whole: Whether the numbers of records that did not change may be others.
    """
    identifier = seen.identifier
    known = connection.execute(
        "SELECT datestamp, version, prefixes, sets, revision, number FROM item "
        "WHERE identifier = ?",
        (identifier,),
    ).fetchone()
    if given is UNKNOWN:
        unread.note(connection, seen)
        kept.forget(connection, identifier)
    else:
        unread.settle(connection, identifier)
    if given is UNKNOWN or (given is None and known is None):
        sql = "UPDATE item SET number = ?, round = ?, revision = ? WHERE identifier = ?"
        connection.execute(sql, (seen.number, turn.round, unread.NOT_READ, identifier))
        return
    # OAI-PMH.xsd refuses other setSpecs, and no harvester may ask for them.
    sets = tuple(filter(SET_SPEC.fullmatch, seen.sets))
    sets += members.specs_of(connection, identifier)
    version, held = ("", 0) if given is None else (given.version, bits.of(given.prefixes))
    stamp = turn.stamp(datestamp_of(seen.changed))
    if known is not None:
        held |= 0 if version else known[2]
        is_same = unread.is_same(known[4], seen.seal) and (is_whole or known[5] == seen.number)
        if is_same and bool(known[1]) == bool(version):
            stamp = known[0]
        else:
            kept.forget(connection, identifier)
        out_of_sets(connection, known[3], known[0], identifier)
    connection.execute(
        "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (identifier, stamp, version, held, "\n".join(sets), seen.seal, seen.number, turn.round),
    )
    into_sets(connection, sets, stamp, identifier)


def remove(connection: Connection, turn: Turn, identifier: str, date: str) -> None:
    """Give a record as deleted that is not in the Silo any more."""
    before, sets = connection.execute(
        "SELECT datestamp, sets FROM item WHERE identifier = ?", (identifier,)
    ).fetchone()
    stamp = turn.stamp(f"{date}Z") if date else turn.at
    out_of_sets(connection, sets, before, identifier)
    connection.execute(
        "UPDATE item SET number = NULL, datestamp = ?, version = '' WHERE identifier = ?",
        (stamp, identifier),
    )
    into_sets(connection, specs_in(sets), stamp, identifier)
    kept.forget(connection, identifier)


def note_removed(connection: Connection, removed: Mapping[str, str]) -> None:
    """Give what was removed before anybody provided as deleted, too."""
    bit = Bits(connection).of((DUBLIN_CORE,))
    connection.executemany(
        "INSERT OR IGNORE INTO item VALUES (?, ?, '', ?, '', 0, NULL, 0)",
        [(identifier, f"{date}Z", bit) for identifier, date in removed.items()],
    )
