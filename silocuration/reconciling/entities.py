"""What a Silo knows as a reconciliation service: people, organizations, subjects, records.

The entities are the values of the index; an identifier is the field, a colon and the value
(``creator:Swan, Alma``), or ``record:`` and the identifier of a record. In it ``% & # + $`` are
percent-encoded, because clients put it into an address as it is.

Source: Reconciliation Service API 0.2, sections 3 to 7.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recordsilo import Silo
from recordsilo.errors import RecordSiloError, SearchError
from recordsilo.index import PageRequest, Row
from silocuration.authorities import INDEXED, Authority, read_authorities
from silocuration.errors import CurationError
from silocuration.reconciling.lists import candidates_in
from silocuration.reconciling.matching import FOLDED, NamedEntity, Names, score_of
from silocuration.reconciling.protocol import Candidate, ProtocolError, ReconciliationQuery, line_of
from silocuration.review.clusters import fingerprint
from silocuration.review.counts import value_counts

TYPES: Mapping[str, str] = {
    "Person": "Person",
    "Organization": "Organization",
    "Publisher": "Publisher",
    "Subject": "Subject",
    "Record": "Record",
}
"""Id of each type → its name."""
MOST_ENTITIES = 300_000
"""The values of a field that are matched, those of most records first."""
MOST_IDS = 1000
"""Entities in one request for their properties: OpenRefine asks for all rows that it shows."""
OF_VALUES: Mapping[str, str] = {
    "identifier": "Identifier",
    "records": "Number of records",
}
OF_RECORDS: Mapping[str, str] = {
    "title": "Title",
    "creator": "Creator",
    "publisher": "Publisher",
    "subject": "Subject",
    "year": "Year",
    "type": "Type",
    "language": "Language",
    "doi": "DOI",
}
"""Id of each property → its name."""
_CORPORATE = re.compile(
    r"universit|\binstitut|\bcollege|\bdepartment|\bministr|\bcouncil|\bsociety|\blibrary|\bcentre"
    r"|\bcenter\b|\bassociation|\bagency|academ|hochschule|\bgmbh\b|\bltd\b|\binc\b|\bpress\b"
    r"|\bfoundation|\bcommission|\bbiblioth",
    re.IGNORECASE,
)
_WORDS = 8
_RECORD = "record:"
_UNSAFE = re.compile(r"[%&#+$]")
_ENCODED = re.compile(r"%(25|26|23|2B|24)")


def id_of(field: str, value: str) -> str:
    """Return the identifier of an entity.

    Args:
        field: Of which it is a value; ``record`` for a record.
        value: The value, or the identifier of the record.
    """
    return f"{field}:" + _UNSAFE.sub(lambda one: f"%{ord(one[0]):02X}", value)


@dataclass(frozen=True, slots=True)
class Entities:
    """The values of a Silo, ready to be asked for.

    Attributes:
        authorities: Field → value → the identifier that it has.
    """

    names: Names
    authorities: Mapping[str, Mapping[str, Authority]]

    @classmethod
    def of(cls, silo: Silo) -> "Entities":
        """Read them from the index.

        Raises:
            AuthoritiesUnreadable: An authority file is malformed.
            IndexProblem: The index cannot be read.
        """
        known = {field: read_authorities(silo.path, field) for field in INDEXED}
        return cls(Names(_named(silo, known)), known)


def _named(silo: Silo, known: Mapping[str, Mapping[str, Authority]]) -> Iterator[NamedEntity]:
    for field in INDEXED:
        counts = sorted(value_counts(silo, field).items(), key=lambda one: -one[1])
        for value, count in counts[:MOST_ENTITIES]:
            authority = known[field].get(value)
            names = (value, authority.name) if authority and authority.name else (value,)
            said = _records(count) + (f", {authority.id}" if authority else "")
            yield NamedEntity(id_of(field, value), names, _types(field, value), said, count)


def _records(count: int) -> str:
    return f"{count:,} records" if count != 1 else "1 record"


def _types(field: str, value: str) -> tuple[str, ...]:
    if field == "publisher":
        return ("Publisher", "Organization")
    if field == "subject":
        return ("Subject",)
    return ("Organization",) if _CORPORATE.search(value) else ("Person",)


def candidates(silo: Silo, entities: Entities, query: ReconciliationQuery) -> tuple[Candidate, ...]:
    """Return the candidates of a query, the best first."""
    wanted = {one for one in query.types if one in TYPES}
    if query.types and not wanted:
        return ()
    found: list[Candidate] = []
    if query.text and wanted != {"Record"}:
        others = ReconciliationQuery(query.text, tuple(wanted - {"Record"}), query.limit)
        found += candidates_in(entities.names, others)
    if "Record" in wanted or not wanted:
        found += _record_candidates(silo, query)
    found.sort(key=lambda one: -one.score)
    return tuple(found[: query.limit])


def _record_candidates(silo: Silo, query: ReconciliationQuery) -> list[Candidate]:
    """Records by their title, an identifier or a DOI; properties tell apart what is as good."""
    text = query.text or next((v for pid, v in query.properties if pid in {"title", "doi"}), "")
    rows = dict[str, Row]()
    exact = set[str]()
    try:
        exact.add(silo.resolve(text))
        rows |= silo.rows(exact)
    except (RecordSiloError, ValueError):
        exact.clear()
    words = [one for one in fingerprint(text).split() if len(one) > 1]
    longest = sorted(words, key=lambda one: (-len(one), one))[:_WORDS]
    for asked in (" ".join(longest), " OR ".join(longest[:4])):
        if asked and len(rows) < query.limit:
            page = PageRequest(limit=max(10, query.limit))
            try:
                rows |= {row.identifier: row for row in silo.search(asked, None, [], page).rows}
            except SearchError:
                continue
    described = silo.described([*rows])
    wanted = fingerprint(text)
    found = []
    for identifier, row in rows.items():
        values = described[identifier].values if identifier in described else {}
        score = 100.0 if identifier in exact else score_of(wanted, fingerprint(row.title))
        for pid, value in query.properties:
            given = {fingerprint(one) for one in values.get(pid, ())}
            if given and pid != "title":
                score += 3 if fingerprint(value) in given else -10
        said = "; ".join([*values.get("creator", ())[:2], *values.get("year", ())[:1]])
        score = round(max(0.0, min(score, 100.0)), 1)
        title = line_of(row.title) or identifier
        key = id_of("record", identifier)
        found.append(Candidate(key, title, score, False, ("Record",), said))
    found.sort(key=lambda one: -one.score)
    best = [one for one in found if one.score >= FOLDED]
    if len(best) == 1:
        only = best[0]
        found[0] = Candidate(only.id, only.name, only.score, True, only.types, only.description)
    return [one for one in found if one.score >= 30]


# --------------------------------------------------------------------------- one entity


@dataclass(frozen=True, slots=True)
class Entity:
    """What is known of an entity.

    Attributes:
        field: Of which it is a value; ``record`` for a record.
        key: The value, or the identifier of the record.
        properties: Property → values.
    """

    field: str
    key: str
    name: str
    types: tuple[str, ...]
    properties: Mapping[str, tuple[str | int, ...]]
    authority: Authority | None = None


class EntityNotFound(CurationError):
    """There is no such entity."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"there is no entity {key!r}")


def entity_of(silo: Silo, entities: Entities, key: str) -> Entity:
    """Return an entity by its identifier.

    Raises:
        EntityNotFound: There is none.
    """
    if key.startswith(_RECORD):
        identifier = _decoded(key.removeprefix(_RECORD))
        try:
            row = silo.row(identifier)
        except RecordSiloError:
            raise EntityNotFound(key) from None
        described = silo.described([row.identifier]).get(row.identifier)
        values: dict[str, tuple[str | int, ...]] = {"title": (row.title,)} if row.title else {}
        if described:
            values |= {name: one for name, one in described.values.items() if name in OF_RECORDS}
            values |= {"doi": (described.doi,)} if described.doi else {}
        return Entity("record", row.identifier, row.title or row.identifier, ("Record",), values)
    field, _colon, said = key.partition(":")
    named = entities.names.get(key) or entities.names.get(id_of(field, said))
    if named is None:
        raise EntityNotFound(key)
    value = named.names[0]
    authority = entities.authorities[field].get(value)
    properties: dict[str, tuple[str | int, ...]] = {"records": (named.weight,)}
    if authority:
        properties["identifier"] = (authority.link or authority.id,)
    return Entity(field, value, value, named.types, properties, authority)


def _decoded(text: str) -> str:
    return _ENCODED.sub(lambda one: chr(int(one[1], 16)), text)


def extended(silo: Silo, entities: Entities, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a request for properties of entities, as JSON values.

    Raises:
        ProtocolError: It is none, or is about more than `MOST_IDS`.
    """
    ids, properties = asked.get("ids"), asked.get("properties")
    if not isinstance(ids, list) or not isinstance(properties, list):
        raise ProtocolError("a request for properties has the lists ids and properties")
    if len(ids) > MOST_IDS:
        raise ProtocolError(f"at most {MOST_IDS} entities can be asked for at once")
    known = {**OF_VALUES, **OF_RECORDS}
    wanted = [one.get("id") for one in properties if isinstance(one, dict)]
    names = [one for one in dict.fromkeys(map(line_of, wanted)) if one in known]
    rows: dict[str, Any] = {}
    for key in dict.fromkeys(one for one in ids if isinstance(one, str)):
        try:
            found = entity_of(silo, entities, key).properties
        except EntityNotFound:
            found = {}
        rows[key] = {name: [_cell(value) for value in found.get(name, ())] for name in names}
    return {"meta": [{"id": name, "name": known[name]} for name in names], "rows": rows}


def _cell(value: str | int) -> dict[str, Any]:
    return {"int": value} if isinstance(value, int) else {"str": value}
