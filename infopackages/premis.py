"""PREMIS 3 documents: objects, events, agents and rights, as values, and written as a stream.

Source: PREMIS Data Dictionary 3.0; https://id.loc.gov/vocabulary/preservation/eventType
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Literal

from lxml import etree

from infopackages.elements import XSI, Element, document, element

NAMESPACE = "http://www.loc.gov/premis/v3"
_MADE_BY = {"harvest": "capture", "clone": "replication", "local": "creation"}


@dataclass(frozen=True, slots=True)
class Id:
    """An identifier, of a type such as ``ARK``."""

    value: str
    type: str = "local"


@dataclass(frozen=True, slots=True)
class Relation:
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
    relations: tuple[Relation, ...] = ()
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
class Rights:
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


def version_event(
    made: Id,
    origin: Literal["harvest", "clone", "local"],
    when: str,
    *,
    of: str | None = None,
    datestamp: str = "",
    message: str = "",
    agent: str = "",
    undated: bool = False,
) -> Event:
    """Return how a version of a record came to be, as an event.

    Args:
        made: The version; the event's identifier is this and ``#made``.
        origin: Harvested, copied from another version, or made here.
        when: In UTC, without a time zone (the form of 2010).
        of: The version it was copied from.
        datestamp: The source's, of a harvested one, in the same form.
        message: Why it was made, in the words of whoever did.
        agent: Who made it.
        undated: Whether ``when`` is the version's own date, since it is not known when it came.
    """
    details = [message or ({"clone": f"copied from version {of}"}.get(origin, ""))]
    if datestamp:
        details.append(f"datestamp of the source: {datestamp}Z")
    if undated:
        details.append("when it was made here is not known; the date is the version's of 2010")
    return Event(
        Id(f"{made.value}#made", made.type),
        _MADE_BY[origin],
        f"{when}Z",
        tuple(filter(None, details)),
        agents=((Id(agent), ""),) if agent else (),
        objects=(made,),
    )


def write_premis(
    out: IO[bytes],
    objects: Iterable[Object],
    events: Iterable[Event] = (),
    agents: Iterable[Agent] = (),
    rights: Iterable[Rights] = (),
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

    Args:
        document: From anywhere: entities are not expanded, and nothing is fetched.

    Yields:
        Each object with its identifiers, name, digests and size, as they are written.

    Raises:
        ValueError: It is no PREMIS document.
    """
    try:
        for _, one in etree.iterparse(
            document, tag=f"{{{NAMESPACE}}}object", resolve_entities=False, no_network=True
        ):
            names = {None: NAMESPACE}
            ids = one.iterfind("objectIdentifier", names)
            fixity = one.iterfind("objectCharacteristics/fixity", names)
            size = one.findtext("objectCharacteristics/size", None, names)
            yield Object(
                tuple(Id(_text(given, "Value"), _text(given, "Type")) for given in ids),
                name=one.findtext("originalName", "", names),
                digests={_text(given, "Algorithm"): _text(given, "Digest") for given in fixity},
                size=None if size is None else int(size),
            )
            one.clear()
            while (before := one.getprevious()) is not None:
                before.getparent().remove(before)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"it is no PREMIS document: {error}") from None


def _text(above: Any, ending: str) -> str:
    """The text of the child whose name ends so."""
    return next((str(one.text) for one in above if str(one.tag).endswith(ending)), "")


def _object(one: Object) -> Element:
    def parts() -> Iterator[Element]:
        yield from (_id("object", given) for given in one.ids)
        if one.category == "file":
            yield element("objectCharacteristics", *_characteristics(one))
        if one.name:
            yield element("originalName", one.name)
        yield from map(_relation, one.relations)
        yield from (_id("linkingEvent", given) for given in one.events)

    return Element("object", {f"{{{XSI}}}type": one.category}, parts())


def _characteristics(one: Object) -> Iterator[Element]:
    for algorithm, digest in one.digests.items():
        yield element(
            "fixity",
            element("messageDigestAlgorithm", algorithm),
            element("messageDigest", digest),
        )
    if one.size is not None:
        yield element("size", str(one.size))
    known = [element("formatDesignation", element("formatName", one.format))]
    if one.format_key:
        known.append(
            element(
                "formatRegistry",
                element("formatRegistryName", "PRONOM"),
                element("formatRegistryKey", one.format_key),
            )
        )
    yield element("format", *known)


def _relation(one: Relation) -> Element:
    return element(
        "relationship",
        element("relationshipType", one.type),
        element("relationshipSubType", one.subtype),
        _id("relatedObject", one.of),
    )


def _event(one: Event) -> Element:
    def parts() -> Iterator[Element]:
        yield _id("event", one.id)
        yield element("eventType", one.type)
        yield element("eventDateTime", one.when)
        for detail in one.details:
            yield element("eventDetailInformation", element("eventDetail", detail))
        if one.outcome:
            note = []
            if one.outcome_note:
                told = element("eventOutcomeDetailNote", one.outcome_note)
                note = [element("eventOutcomeDetail", told)]
            yield element("eventOutcomeInformation", element("eventOutcome", one.outcome), *note)
        for agent, role in one.agents:
            yield _id("linkingAgent", agent, role)
        yield from (_id("linkingObject", given) for given in one.objects)

    return Element("event", {}, parts())


def _agent(one: Agent) -> Element:
    parts = [_id("agent", one.id), element("agentName", one.name)]
    parts += [element("agentType", one.type)] if one.type else []
    parts += [element("agentVersion", one.version)] if one.version else []
    return element("agent", *parts)


def _rights(one: Rights) -> Element:
    basis = one.basis if one.basis in ("copyright", "license", "statute") else "other"
    of = "otherRights" if basis == "other" else basis
    kind = "URI" if "://" in one.document else "local"
    documents = [_id(f"{of}Documentation", Id(one.document, kind))] if one.document else []
    notes = [element(f"{of}Note", one.note)] if one.note else []
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
    since = element("startDate", one.granted_from)
    term = [element("termOfGrant", since)] if one.granted_from else []
    return element(
        "rightsStatement",
        _id("rightsStatement", one.id),
        element("rightsBasis", basis),
        *([element(f"{of}Information", *about)] if about else []),
        *(element("rightsGranted", element("act", act), *term) for act in one.acts),
        *(_id("linkingObject", given) for given in one.objects),
    )


def _id(kind: str, given: Id, role: str = "") -> Element:
    name = f"{kind}Identifier"
    roles = [element(f"{kind}Role", role)] if role else []
    return element(
        name, element(f"{name}Type", given.type), element(f"{name}Value", given.value), *roles
    )
