"""PREMIS 3 documents: objects, events, agents and rights, as values, and written as a stream.

Source: PREMIS Data Dictionary 3.0; https://id.loc.gov/vocabulary/preservation/eventType
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import IO, Any, Literal

from infopackages.elements import XSI, Element, document, element, read_elements

NAMESPACE = "http://www.loc.gov/premis/v3"


@dataclass(frozen=True, slots=True)
class Id:
    """An identifier, of a type such as ``ARK``."""

    value: str
    type: str = "local"


@dataclass(frozen=True, slots=True)
class Relationship:
    """What an object has to do with another: ``structural``, ``has part``, for instance."""

    type: str
    subtype: str
    of: Id


@dataclass(frozen=True, slots=True)
class Object:
    """An object.

    Attributes:
        ids: Its identifiers, at least one.
        digests: Of a file: algorithm, such as ``SHA-512``, → lower-case hex.
        size: Of a file, in bytes.
        format: Of a file: a media type or a name.
        format_key: Its PRONOM identifier; ``""`` if it is not known.
    """

    ids: tuple[Id, ...]
    category: Literal["file", "representation", "intellectualEntity"] = "file"
    name: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)
    size: int | None = None
    format: str = "unknown"
    format_key: str = ""
    relations: tuple[Relationship, ...] = ()
    events: tuple[Id, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """An event.

    Attributes:
        type: Of the vocabulary of the Library of Congress, such as ``virus check``.
        when: In ISO 8601, with its time zone.
        details: What happened, in sentences.
        outcome: Such as ``success``; ``""`` for none.
        agents: Who did it, each with a role such as ``executing program``, or ``""``.
    """

    id: Id
    type: str
    when: str
    details: tuple[str, ...] = ()
    outcome: str = ""
    outcome_note: str = ""
    agents: tuple[tuple[Id, str], ...] = ()
    objects: tuple[Id, ...] = ()


@dataclass(frozen=True, slots=True)
class Agent:
    """A person, an organization or a program; ``type`` is ``""`` if it is not known."""

    id: Id
    name: str
    type: Literal["person", "organization", "software", ""] = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class RightsStatement:
    """A statement of rights.

    Attributes:
        basis: ``copyright``, ``license``, ``statute``, or another, such as ``policy``.
        note: What it says, in sentences.
        document: Where it is written down; ``""`` for nowhere.
        acts: What is granted, such as ``replicate``.
        granted_from: Since when, as a date; ``""`` if that is not said.
    """

    id: Id
    basis: str
    note: str = ""
    document: str = ""
    acts: tuple[str, ...] = ()
    granted_from: str = ""
    objects: tuple[Id, ...] = ()


def write_premis(
    out: IO[bytes],
    objects: Iterable[Object],
    events: Iterable[Event] = (),
    agents: Iterable[Agent] = (),
    rights: Iterable[RightsStatement] = (),
) -> None:
    """Write a document; each iterable is read once, and one value of it is in memory at a time.

    Args:
        out: Where to.
        objects: At least one, or the document is not valid.
    """
    prefixes = {None: NAMESPACE, "xsi": XSI}
    with document(out, "premis", prefixes, {"version": "3.0"}) as root:
        for one in objects:
            root.write(_object(one))
        for event in events:
            root.write(_event(event))
        for agent in agents:
            root.write(_agent(agent))
        for statement in rights:
            root.write(element("rights", _rights(statement)))


def described_objects(document: IO[bytes]) -> Iterator[Object]:
    """Yield the objects that a PREMIS document describes, read as a stream.

    Yields:
        Each object with its identifiers, name, digests and size, as they are written.

    Raises:
        ValueError: It is no PREMIS document.
    """
    names: Any = {None: NAMESPACE}  # the stubs do not allow None here
    for one in read_elements(document, NAMESPACE, "premis", "object"):
        size = one.findtext("objectCharacteristics/size", None, names)
        yield Object(
            tuple(
                Id(_text(given, "Value"), _text(given, "Type"))
                for given in one.iterfind("objectIdentifier", names)
            ),
            name=one.findtext("originalName", "", names),
            digests={
                _text(given, "Algorithm"): _text(given, "Digest")
                for given in one.iterfind("objectCharacteristics/fixity", names)
            },
            size=None if size is None else int(size),
        )


def _text(above: Any, ending: str) -> str:
    """The text of the child whose name ends so."""
    return next((str(one.text) for one in above if str(one.tag).endswith(ending)), "")


def _object(one: Object) -> Element:
    return Element(
        "object",
        {f"{{{XSI}}}type": one.category},
        chain(
            (_id("object", given) for given in one.ids),
            [_characteristics(one)] if one.category == "file" else [],
            _optional("originalName", one.name),
            map(_relation, one.relations),
            (_id("linkingEvent", given) for given in one.events),
        ),
    )


def _characteristics(one: Object) -> Element:
    registry = element(
        "formatRegistry",
        element("formatRegistryName", "PRONOM"),
        element("formatRegistryKey", one.format_key),
    )
    return element(
        "objectCharacteristics",
        *(
            element(
                "fixity", element("messageDigestAlgorithm", name), element("messageDigest", digest)
            )
            for name, digest in one.digests.items()
        ),
        *_optional("size", "" if one.size is None else str(one.size)),
        element(
            "format",
            element("formatDesignation", element("formatName", one.format)),
            *([registry] if one.format_key else []),
        ),
    )


def _relation(one: Relationship) -> Element:
    return element(
        "relationship",
        element("relationshipType", one.type),
        element("relationshipSubType", one.subtype),
        _id("relatedObject", one.of),
    )


def _event(one: Event) -> Element:
    note = element("eventOutcomeDetail", *_optional("eventOutcomeDetailNote", one.outcome_note))
    outcome = element(
        "eventOutcomeInformation",
        element("eventOutcome", one.outcome),
        *([note] if one.outcome_note else []),
    )
    return element(
        "event",
        _id("event", one.id),
        element("eventType", one.type),
        element("eventDateTime", one.when),
        *(element("eventDetailInformation", element("eventDetail", told)) for told in one.details),
        *([outcome] if one.outcome else []),
        *(_id("linkingAgent", agent, role) for agent, role in one.agents),
        *(_id("linkingObject", given) for given in one.objects),
    )


def _agent(one: Agent) -> Element:
    return element(
        "agent",
        _id("agent", one.id),
        element("agentName", one.name),
        *_optional("agentType", one.type),
        *_optional("agentVersion", one.version),
    )


def _rights(one: RightsStatement) -> Element:
    basis = one.basis if one.basis in ("copyright", "license", "statute") else "other"
    of = "otherRights" if basis == "other" else basis
    kind = "URI" if "://" in one.document else "local"
    documents = [_id(f"{of}Documentation", Id(one.document, kind))] if one.document else []
    notes = _optional(f"{of}Note", one.note)
    about = {  # what is required, and in which order, differs
        "copyright": [
            element("copyrightStatus", "unknown"),
            element("copyrightJurisdiction", "zz"),
            *notes,
            *documents,
        ],
        "license": [*documents, *notes],
        "statute": [
            element("statuteJurisdiction", "zz"),
            element("statuteCitation", one.document or "not stated"),
            *notes,
            *documents,
        ],
        "other": [*documents, element("otherRightsBasis", one.basis), *notes],
    }[basis]
    since = element("termOfGrant", *_optional("startDate", one.granted_from))
    return element(
        "rightsStatement",
        _id("rightsStatement", one.id),
        element("rightsBasis", basis),
        *([element(f"{of}Information", *about)] if about else []),
        *(
            element("rightsGranted", element("act", act), *([since] if one.granted_from else []))
            for act in one.acts
        ),
        *(_id("linkingObject", given) for given in one.objects),
    )


def _id(kind: str, given: Id, role: str = "") -> Element:
    name = f"{kind}Identifier"
    return element(
        name,
        element(f"{name}Type", given.type),
        element(f"{name}Value", given.value),
        *_optional(f"{kind}Role", role),
    )


def _optional(name: str, text: str) -> list[Element]:
    return [element(name, text)] if text else []
