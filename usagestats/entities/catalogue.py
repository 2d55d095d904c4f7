"""The metadata and entities of the used records, in ``.silo/usage.sqlite``.

A record is read once, and again when its manifest was replaced. The file is rebuilt when it is
lost.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_parents
from recordsilo.disk.full_disk import can_write_in
from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.errors import RecordSiloError
from recordsilo.index.projection import ManifestStamp
from recordsilo.records.place import RecordPlace
from recordsilo.repository import Repository
from silowork.ledger_file import LedgerFile, LedgerKind
from usagestats.entities.mapping import EntityMapping, SharedValue, read_mapping
from usagestats.entities.metadata import Metadata, metadata_of
from usagestats.errors import CountsUnreadable
from usagestats.store.counts import UsageCounts
from usagestats.store.paths import catalogue_path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS record (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, stamp TEXT NOT NULL, title TEXT NOT NULL,
  metadata TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entity (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, label TEXT NOT NULL,
  folded TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS entity_by_label ON entity (kind, folded);
CREATE TABLE IF NOT EXISTS record_entity (
  entity INTEGER NOT NULL, record INTEGER NOT NULL, PRIMARY KEY (entity, record)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS record_entity_by_record ON record_entity (record);
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), stamp TEXT NOT NULL)
"""
KIND = LedgerKind(_SCHEMA, CountsUnreadable, version=1, synchronous="NORMAL", has_log=True)
_CHUNK = 500
_NO_METADATA = Metadata().as_text()
_NO_MANIFEST = "-"
"""The stamp of an identifier without a record."""
_LATELY = 5.0
"""Seconds for which changes of an index that is changing just now are not looked for again."""
_looked: dict[str, tuple[float, str]] = {}


class EntityCatalogue:
    """The metadata of a Silo's used records.

    Args:
        counts: Its counts.
    """

    def __init__(self, silo: Silo, counts: UsageCounts) -> None:
        self._silo, self._counts = silo, counts
        path = catalogue_path(silo.path)
        if can_write_in(silo.path):
            make_parents(path, silo.path)
        else:
            path = ":memory:"
        self._file = LedgerFile(path, KIND)
        self.mapping: EntityMapping = read_mapping(silo.path)
        sets = Repository(silo.path).set_names
        self._set_names = {str(spec): str(name) for spec, name in sorted(sets.items()) if name}
        made_by = repr((self.mapping, [*self._set_names.items()])).encode("utf-8", "replace")
        self._digest = hashlib.blake2b(made_by, digest_size=8).hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ in step

    def stamp(self) -> str:
        """Return a text that changes when anything here may have changed; after `refresh`."""
        rows = self._file.rows("SELECT stamp FROM state")
        return str(rows[0][0]) if rows else ""

    def refresh(self, absent: Collection[str] = (), *, absent_at: object | None = None) -> None:
        """Read the records that were used for the first time, or changed.

        Args:
            absent: Identifiers that were looked for just now, and that the Silo does not hold.
            absent_at: `Silo.index_stamp` before that: records that were added since are looked
                for the next time.

        Cost: nothing if neither the counts nor any record changed. If only counts did, it reads
        the records that are new in them; else it looks at the manifest of each used record, and
        reads those that changed.
        """
        mapping = f" {self._digest}"
        own = f"{self._counts.stamp()}{mapping}"
        index = absent_at if absent else self._silo.index_stamp()
        now, wanted = time.monotonic(), f"{own} {index}"
        if index is None:
            looked, before = _looked.get(self._silo.path, (-_LATELY, ""))
            if before == own and now - looked < _LATELY and self.stamp():
                return
        elif self.stamp() == wanted:
            return
        # The stamp of the counts, which has no space, is the first word.
        of_records, was = wanted.partition(" ")[2], self.stamp().partition(" ")[2]
        only_counts_changed = index is not None and of_records == was
        with self._file.transaction() as connection:
            stamp = "''" if only_counts_changed else "stamp"
            rows = connection.execute(f"SELECT id, name, {stamp} FROM record")  # noqa: S608
            known = {number: (name, stamp) for number, name, stamp in rows}
            counted = dict(self._counts.rows("SELECT id, name FROM item"))
            asked = (
                (number, name)
                for number, name in counted.items()
                if not only_counts_changed or known.get(number, ("",))[0] != name
            )
            stamped = (
                (number, name, (_NO_MANIFEST if name in absent else self._stamp_of(name)) + mapping)
                for number, name in asked
            )
            changed = (one for one in stamped if known.get(one[0]) != one[1:])
            gone, is_same = known.keys() - counted.keys(), True
            while chunk := list(islice(changed, _CHUNK)):
                self._forget(connection, [number for number, *_ in chunk if number in known])
                self._take(connection, chunk)
                is_same = False
            self._forget(connection, gone)
            if gone or not is_same:
                connection.execute(
                    "DELETE FROM entity WHERE id NOT IN (SELECT entity FROM record_entity)"
                )
            connection.execute(
                "INSERT INTO state VALUES (1, ?) ON CONFLICT DO UPDATE SET stamp = excluded.stamp",
                (wanted if index is not None else f"{own} {time.time_ns()}",),
            )
        _looked[self._silo.path] = (now, own)

    def _stamp_of(self, name: str) -> str:
        try:
            place = RecordPlace.in_silo(self._silo.path, name)
            found = ManifestStamp.of(f"{place.dirpath}/{MANIFEST_NAME}")
        except (OSError, RecordSiloError, ValueError):
            return _NO_MANIFEST
        return f"{found.mtime_ns} {found.size} {found.inode}"

    def _metadata(self, name: str) -> Metadata:
        try:
            place = RecordPlace.in_silo(self._silo.path, name)
            manifest = place.read_manifest()
        except (RecordSiloError, OSError, ValueError):
            return Metadata()  # silo check reports it
        if manifest is None:
            return Metadata()
        return metadata_of(
            manifest,
            lambda version, path: place.content(manifest, version.name, path),
            self.mapping.elements,
        )

    def _take(self, connection: sqlite3.Connection, chunk: Sequence[tuple[int, str, str]]) -> None:
        records: list[tuple[int | str, ...]] = []
        entities: list[tuple[SharedValue, int]] = []
        for number, name, stamp in chunk:
            if stamp.startswith(_NO_MANIFEST):
                records.append((number, name, stamp, "", _NO_METADATA))
                continue
            found = self._metadata(name)
            records.append((number, name, stamp, found.title, found.as_text()))
            some = self.mapping.entities(name, found, self._set_names)
            entities += [(one, number) for one in some]
        connection.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?)", records)
        connection.executemany(
            "INSERT INTO entity (key, kind, label, folded) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            ((*one, one.label.casefold()) for one, _ in entities),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO record_entity VALUES ((SELECT id FROM entity WHERE key = ?), ?)",
            ((one.key, number) for one, number in entities),
        )

    @staticmethod
    def _forget(connection: sqlite3.Connection, numbers: Iterable[int]) -> None:
        if not (numbers := list(numbers)):
            return
        some = json.dumps(numbers)
        for table, column in (("record", "id"), ("record_entity", "record")):
            connection.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))",  # noqa: S608
                (some,),
            )

    # ------------------------------------------------------------------ asked

    def titles(self, numbers: Iterable[int]) -> dict[int, str]:
        """Record's number → its title, which may be empty."""
        sql = "SELECT id, title FROM record WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._file.rows(sql, (json.dumps([int(one) for one in numbers]),)))

    def title_of(self, name: str) -> str:
        """Return the title of a record of the Silo, used or not; it may be empty."""
        return self._metadata(name).title

    def metadata(self) -> Iterator[tuple[int, str, Metadata]]:
        """Yield the number, the identifier and the metadata of every used record."""
        for number, name, text in self._file.rows(
            "SELECT id, name, metadata FROM record ORDER BY name"
        ):
            yield number, name, Metadata.from_text(text)

    def entity(self, key: str) -> SharedValue | None:
        """Return the entity of a key."""
        rows = self._file.rows("SELECT key, kind, label FROM entity WHERE key = ?", (key,))
        return SharedValue(*rows[0]) if rows else None

    def entities_of(self, name: str) -> list[SharedValue]:
        """Return the entities of a record, in the order of their kinds."""
        sql = (
            "SELECT key, kind, label FROM entity WHERE id IN (SELECT entity FROM record_entity "
            "WHERE record = (SELECT id FROM record WHERE name = ?)) ORDER BY id"
        )
        order = {kind.name: place for place, kind in enumerate(self.mapping.kinds)}
        found = [SharedValue(*row) for row in self._file.rows(sql, (name,))]
        return sorted(found, key=lambda one: order.get(one.kind, len(order)))

    def items_of(self, keys: Iterable[str]) -> list[str]:
        """Return the identifiers of the records that have one of these keys, sorted."""
        sql = (
            "SELECT DISTINCT name FROM record_entity JOIN record ON record.id = record "
            "WHERE entity IN (SELECT id FROM entity WHERE key IN (SELECT value FROM json_each(?))) "
            "ORDER BY name"
        )
        return [name for (name,) in self._file.rows(sql, (json.dumps(list(keys)),))]

    def pairs(self, kind: str) -> list[tuple[str, int]]:
        """Return the keys of a kind with the numbers of their records."""
        sql = "SELECT key, record FROM entity JOIN record_entity ON entity = id WHERE kind = ?"
        return self._file.rows(sql, (kind,))

    def starting_with(self, kind: str, text: str, most: int) -> list[SharedValue]:
        """Return the entities of a kind whose label begins with a text, or has such a word."""
        folded = _like(text.casefold())
        sql = (
            "SELECT key, kind, label FROM entity WHERE kind = ? AND (folded LIKE ? ESCAPE '\\' "
            "OR folded LIKE ? ESCAPE '\\') ORDER BY folded NOT LIKE ? ESCAPE '\\', folded LIMIT ?"
        )
        values = (kind, f"{folded}%", f"% {folded}%", f"{folded}%", most)
        return [SharedValue(*row) for row in self._file.rows(sql, values)]

    def labelled(self, text: str) -> list[SharedValue]:
        """Return the entities with a label, ignoring case."""
        sql = "SELECT key, kind, label FROM entity WHERE folded = ? ORDER BY kind, label"
        return [SharedValue(*row) for row in self._file.rows(sql, (text.casefold(),))]

    def kinds(self) -> dict[str, int]:
        """Return the number of entities of each kind that has any, in the mapping's order."""
        found = dict(self._file.rows("SELECT kind, count(*) FROM entity GROUP BY kind"))
        return {kind.name: found[kind.name] for kind in self.mapping.kinds if kind.name in found}


def _like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
