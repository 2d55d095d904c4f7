"""Documents of SWORDv2: service document, receipt, feed, statement, error. Pure.

Entities are not expanded and nothing is fetched. Every address is only read here; the client
refuses those on other servers.

Source: SWORD 2.0 Profile, sections 6.1, 6.2, 10, 11 and 12; RFC 4287; RFC 5023.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urljoin

from lxml import etree

from politeweb.addresses import without_credentials
from recordsilo.formats.documents import new_parser

ATOM = "http://www.w3.org/2005/Atom"
APP = "http://www.w3.org/2007/app"
SWORD = "http://purl.org/net/sword/terms/"
DCTERMS = "http://purl.org/dc/terms/"
ADD = f"{SWORD}add"
STATEMENT = f"{SWORD}statement"
_MOST = 16 << 20
_MOST_TEXT = 300
_EXTERNAL = {"external_id", "deposit_external_id", "deposit_external_identifier", "slug"}
"""Local names by which servers repeat the Slug; that of the Software Heritage is one."""
_PASSING = ("status", "status_detail", "treatment", "state", "verboseDescription",
            "stateDescription", "progress")  # fmt: skip
"""Ends of local names of what changes while a deposit is worked on; no change by others."""


class NotSword(ValueError):
    """The bytes are no such document; its text says what they are."""


@dataclass(frozen=True, slots=True)
class SwordCollection:
    """A collection that takes deposits.

    Attributes:
        packagings: Addresses of the packagings that it takes; empty if it does not say.
        mediation: Whether it takes deposits on behalf of others.
    """

    href: str
    title: str = ""
    packagings: frozenset[str] = frozenset()
    mediation: bool = False


@dataclass(frozen=True, slots=True)
class ServiceDocument:
    """A service document.

    Attributes:
        version: Of SWORD; or ``""``.
        most: The largest upload in kB; None for no limit.
    """

    collections: tuple[SwordCollection, ...]
    version: str = ""
    most: int | None = None


@dataclass(frozen=True, slots=True)
class DepositReceipt:
    """A deposit receipt, an entry of a feed, or what a server says of a deposit.

    Attributes:
        edit, media, add, content: Addresses (Edit-IRI, EM-IRI, SE-IRI, Cont-IRI); or ``""``.
        statements: Addresses of statements, as Atom first.
        terms: (name, text) of its elements of DCMI terms.
        external: The Slug, if the server repeats it.
        said: Digest of everything that does not change while the deposit is worked on.
        state: What became of the deposit, in words of the server; or ``""``.
    """

    id: str = ""
    edit: str = ""
    media: str = ""
    add: str = ""
    content: str = ""
    statements: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    external: tuple[str, ...] = ()
    said: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class CollectionFeed:
    """A page of a collection; ``following`` is the address of the next page, or ``""``."""

    entries: tuple[DepositReceipt, ...]
    following: str = ""


def read(content: bytes) -> etree._Element:
    """Return the root element of a document.

    Raises:
        NotSword: It is no XML, too long, or has a document type.
    """
    if len(content) > _MOST:
        raise NotSword("is too long")
    if not content.strip():
        raise NotSword("is empty")
    try:
        root = etree.fromstring(content, new_parser())
    except (etree.XMLSyntaxError, ValueError):
        raise NotSword("is not XML") from None
    if getattr(root.getroottree().docinfo, "doctype", ""):
        raise NotSword("has a document type")
    return root


def is_service(root: etree._Element) -> bool:
    """Whether it is a service document."""
    return root.tag == f"{{{APP}}}service"


def service(root: etree._Element, base: str) -> ServiceDocument:
    """Read a service document.

    Args:
        root: Of the document.
        base: Its address, to which others may be relative.
    """
    return ServiceDocument(
        tuple(_collection(one, base) for one in root.iter(f"{{{APP}}}collection")),
        _text(root, SWORD, "version"),
        _number(_text(root, SWORD, "maxUploadSize")),
    )


def _collection(element: etree._Element, base: str) -> SwordCollection:
    packagings = {_of(one) for one in element.iter(f"{{{SWORD}}}acceptPackaging")}
    mediation = _text(element, SWORD, "mediation").lower() == "true"
    href = _address(base, element.get("href", "").strip())
    return SwordCollection(href, _text(element, ATOM, "title"), frozenset(packagings), mediation)


def receipt(root: etree._Element, base: str) -> DepositReceipt:
    """Read a receipt, or any other entry about a deposit.

    Args:
        base: Its address.

    Raises:
        NotSword: It is no entry.
    """
    if root.tag != f"{{{ATOM}}}entry":
        raise NotSword(f"is not a deposit receipt but <{_local(root)}>")
    return _receipt(root, base)


def feed(root: etree._Element, base: str) -> CollectionFeed:
    """Read a page of a collection.

    Raises:
        NotSword: It is no feed.
    """
    if root.tag != f"{{{ATOM}}}feed":
        raise NotSword(f"is not an Atom feed but <{_local(root)}>")
    entries = tuple(_receipt(one, base) for one in root.iterchildren(f"{{{ATOM}}}entry"))
    return CollectionFeed(entries, next(_links(root, "next", base), ""))


def _receipt(entry: etree._Element, base: str) -> DepositReceipt:
    content = entry.find(f"{{{ATOM}}}content")
    terms, external, states = [], [], []
    for one in entry.iterchildren(etree.Element):
        name, text = _local(one), _of(one)
        if one.tag == f"{{{DCTERMS}}}{name}" and text:
            terms.append((name, text))
        elif name.lower() in _EXTERNAL and text:
            external.append(text)
        elif name in {"deposit_status", "state", "status"} and text:
            states.append(text)
    kinds = sorted(_links_of(entry, STATEMENT, base), key=lambda one: "atom" not in one[1])
    states += [
        one.get("term", "")
        for one in entry.iterchildren(f"{{{ATOM}}}category")
        if one.get("scheme", "").startswith(SWORD) and one.get("label", "") == "State"
    ]
    return DepositReceipt(
        _text(entry, ATOM, "id"),
        next(_links(entry, "edit", base), ""),
        next(_links(entry, "edit-media", base), ""),
        next(_links(entry, ADD, base), ""),
        _address(base, content.get("src", ""))
        if content is not None and content.get("src")
        else "",
        tuple(href for href, _type in kinds) or tuple(_links(entry, "alternate", base)),
        tuple(terms),
        tuple(external),
        _digest(entry),
        states[0] if states else "",
    )


def statement_state(root: etree._Element) -> str:
    """Return the state in a statement, as Atom or RDF, in words of the server; or ``""``."""
    for one in root.iter(f"{{{ATOM}}}category"):
        if "state" in (one.get("scheme", "") + one.get("label", "")).lower():
            return _of(one) or one.get("term", "")
    for name in ("stateDescription", "state", "deposit_status"):
        for one in root.iter(f"{{{SWORD}}}{name}", f"{{*}}{name}"):
            if text := _of(one):
                return text
    return ""


def error_said(content: bytes) -> str:
    """Return what an error document says, as one line; ``""`` if it is none."""
    try:
        root = read(content)
    except NotSword:
        return ""
    if root.tag not in {f"{{{SWORD}}}error", f"{{{ATOM}}}error"}:
        return ""
    name = root.get("href", "").rpartition("/")[2]
    texts = [_text(root, ATOM, "summary"), _text(root, SWORD, "verboseDescription")]
    said = "; ".join(dict.fromkeys(one for one in texts if one))
    return (f"{name}: {said}" if name and said else name or said)[:_MOST_TEXT]


def is_checksum_error(content: bytes) -> bool:
    """Whether an error document says that something arrived damaged."""
    return b"ErrorChecksumMismatch" in content or b"md5" in content.lower()


def _digest(entry: etree._Element) -> str:
    """Return the digest of an entry without what changes while a deposit is worked on."""
    found = []
    for one in entry.iter(etree.Element):
        if one is entry or _local(one).endswith(_PASSING):
            continue
        found.append(f"{one.tag} {sorted(one.attrib.items())!r} {_of(one)}")
    return sha256("\n".join(sorted(found)).encode()).hexdigest()


def _links(entry: etree._Element, relation: str, base: str) -> Iterator[str]:
    return (href for href, _type in _links_of(entry, relation, base))


def _links_of(entry: etree._Element, relation: str, base: str) -> Iterator[tuple[str, str]]:
    for one in entry.iterchildren(f"{{{ATOM}}}link"):
        if one.get("rel") == relation and (href := one.get("href", "").strip()):
            yield _address(base, href), one.get("type", "")


def _address(base: str, href: str) -> str:
    """An address of a document, without user and password: they get into ledgers and messages.

    Requests have the login of the target instead.
    """
    return without_credentials(urljoin(base, href))


def _local(element: etree._Element) -> str:
    return etree.QName(element).localname


def _of(element: etree._Element) -> str:
    return " ".join((element.text or "").split())


def _text(element: etree._Element, namespace: str, name: str) -> str:
    found = element.find(f".//{{{namespace}}}{name}")
    return "" if found is None else _of(found)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 15 else None
