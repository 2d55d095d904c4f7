"""Which fields of a record become entities, and their keys (pure but for reading the settings).

The keys are those of 2010: ``n:`` and the MD5 digest of a name, ``s:`` and that of a subject.

Source: `docs/usage-reports.md`, "Entities".
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from recordsilo.disk.toml_tables import checked
from usagestats.entities.metadata import FIELDS, Metadata
from usagestats.errors import SettingsInvalid
from usagestats.expressions import Expression
from usagestats.store.paths import settings_path
from usagestats.store.tables import naming, read_tables

_NAME = re.compile(r"[a-z][a-z_]{0,30}")
_PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}")
_KEYS = ("kind", "prefix", "field", "match")
_RESERVED = ("b", "e", "t", "q", "u", "dv", "dd", "do", "ua", "g", "geocode", "analysis")
"""Beginnings of keys that mean something else in 2010."""
_NO_NAMES: Mapping[str, str] = {}
KEY = re.compile(r"[a-z][a-z0-9]*:[0-9a-f]{32}")


class SharedValue(NamedTuple):
    """A value that records share."""

    key: str
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class EntityKind:
    """A kind of entity.

    Attributes:
        name: Such as ``creator``.
        prefix: Of its keys.
        field: A field of `Metadata`, or an element of the metadata's XML.
        match: Only values that this expression finds; a group ``label`` is the label.
    """

    name: str
    prefix: str
    field: str
    match: Expression | None = None

    def labels(self, metadata: Metadata) -> Iterator[str]:
        """The labels of a record's entities of this kind, each once."""
        seen = set()
        for text in metadata[self.field]:
            found = self.match.search(text) if self.match else None
            if self.match is not None and found is None:
                continue
            label = found["label"] if found and "label" in found.groupdict() else text
            if label and label not in seen:
                seen.add(label)
                yield label


KINDS = (
    EntityKind("creator", "n", "creators"),
    EntityKind("subject", "s", "subjects"),
    EntityKind("publisher", "p", "publishers"),
    EntityKind("type", "type", "types"),
    EntityKind("set", "set", "sets"),
    EntityKind("language", "l", "languages"),
)


@dataclass(frozen=True, slots=True)
class EntityMapping:
    """What becomes an entity.

    Attributes:
        kinds: In the order in which they are shown.
        by_record: Whether keys include the record, so that the same text in two records is
            two entities until a bundle joins them.
    """

    kinds: tuple[EntityKind, ...] = KINDS
    by_record: bool = False

    @property
    def own(self) -> list[Expression]:
        """The expressions of the Silo's own."""
        return [kind.match for kind in self.kinds if kind.match is not None]

    @property
    def elements(self) -> tuple[str, ...]:
        """The elements of XML that are read."""
        return tuple(kind.field for kind in self.kinds if kind.field not in (*FIELDS, "sets"))

    def entities(
        self, item: str, metadata: Metadata, set_names: Mapping[str, str] = _NO_NAMES
    ) -> Iterator[SharedValue]:
        """The entities of a record.

        Args:
            item: Its identifier.
            metadata: Of the record.
            set_names: setSpec → the set's name, which is its label; its key is of the setSpec.
        """
        for kind in self.kinds:
            for label in kind.labels(metadata):
                hashed = f"{item}\n{label}" if self.by_record else label
                shown = set_names.get(label, label) if kind.field == "sets" else label
                yield SharedValue(key_of(kind.prefix, hashed), kind.name, shown)

    def kind(self, name: str) -> EntityKind | None:
        """The kind of a name."""
        return next((one for one in self.kinds if one.name == name), None)


def key_of(prefix: str, text: str) -> str:
    """Return a key, such as ``n:092f2ba9f39fbc2876e64d12cd662f72`` for the name *Ben*."""
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return f"{prefix}:{digest}"


def read_mapping(silo_path: str) -> EntityMapping:
    """Read the tables ``[entities]`` and ``[[entity]]`` of ``usage.toml``.

    Raises:
        SettingsInvalid: They are invalid.
    """
    try:
        return mapping_from(read_tables(silo_path))
    except ValueError as error:
        raise SettingsInvalid(settings_path(silo_path), str(error)) from error


def mapping_from(tables: Mapping[str, Any]) -> EntityMapping:
    """Make a mapping from the content of the settings.

    Raises:
        ValueError: A value is invalid.
    """
    settings, own = tables.get("entities", {}), tables.get("entity", [])
    if not isinstance(settings, dict) or not set(settings) <= {"by_record"}:
        raise ValueError("the table [entities] has one setting, by_record")
    by_record = settings.get("by_record", False)
    if not isinstance(by_record, bool):
        raise ValueError("[entities]: by_record is true or false")  # noqa: TRY004  # of a file
    if not isinstance(own, list):
        raise ValueError("entities are tables [[entity]]")  # noqa: TRY004  # of a file
    kinds = {kind.name: kind for kind in KINDS}
    for number, table in enumerate(own, 1):
        with naming(f"[[entity]] {number}"):
            kind = _kind_from(table)
        kinds[kind.name] = kind
    prefixes = [kind.prefix for kind in kinds.values()]
    if twice := next((one for one in prefixes if prefixes.count(one) > 1), None):
        raise ValueError(f"two kinds of entities have the prefix {twice!r}")
    return EntityMapping(tuple(kinds.values()), by_record)


def _kind_from(table: Any) -> EntityKind:
    texts = dict.fromkeys(_KEYS, "") | checked(table, dict.fromkeys(_KEYS, str))
    if missing := next((key for key in _KEYS[:3] if not texts[key]), None):
        raise ValueError(f"{missing} is missing")
    name, prefix = texts["kind"], texts["prefix"]
    if not _NAME.fullmatch(name):
        raise ValueError(f"kind is of lower-case letters and _, not {name!r}")
    if not _PREFIX.fullmatch(prefix) or prefix in _RESERVED:
        raise ValueError(f"prefix cannot be {prefix!r}; write some other lower-case letters")
    with naming("match"):
        match = Expression(texts["match"]) if texts["match"] else None
    return EntityKind(name, prefix, texts["field"], match)
