"""Contents of a repository's responses as frozen values (OAI-PMH 2.0, sections 2, 3.5 and 4).

Both sides use them: a data provider's record source yields them, a harvester's parser returns them.
XML in them (metadata, about, descriptions) is serialised as well-formed bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from oaipmhprotocol.datestamps import Granularity
from oaipmhprotocol.words import DeletedRecord


@dataclass(frozen=True, slots=True)
class Header:
    """Identifier, datestamp and sets of a record (section 2.5).

    Attributes:
        identifier: The item's unique identifier, as sent.
        datestamp: The datestamp's text, as sent; `datestamps.read_datestamp` reads it.
        set_specs: The sets the item belongs to, in the order sent.
        deleted: Whether the status attribute is ``deleted``.
    """

    identifier: str
    datestamp: str
    set_specs: tuple[str, ...] = ()
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A header with, unless deleted, one metadata part and its about containers.

    Attributes:
        header: See `Header`.
        metadata: In a harvester, the whole ``<metadata>`` element as received, with every
            namespace in scope declared on it; in a provider, the document in it. None if there
            is none.
        about: The ``<about>`` elements likewise, in order.
    """

    header: Header
    metadata: bytes | None = None
    about: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class MetadataFormat:
    """A format in which records are available (section 4.4)."""

    prefix: str
    schema: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Set:
    """A set of the repository (section 2.6); colons in the spec separate levels of a hierarchy."""

    spec: str
    name: str
    description: bytes | None = None


@dataclass(frozen=True, slots=True)
class ResumptionToken:
    """The token of an incomplete list (section 3.5).

    Attributes:
        value: The token without outer white space; empty on the last page of a list with
            several pages.
        complete_list_size: The size of the whole list by the repository, or None.
        cursor: The number of records before this page, or None. Advisory: some servers count
            pages.
        expiration: The text of expirationDate as sent, or None.
    """

    value: str
    complete_list_size: int | None = None
    cursor: int | None = None
    expiration: str | None = None


@dataclass(frozen=True, slots=True)
class Identify:
    """A repository's description of itself (section 4.2).

    Attributes:
        earliest_datestamp: The text as sent.
        granularity: None if the repository's value is neither of the two.
        descriptions: The ``<description>`` contents, serialised.
        other: Other elements of the response, by local name.
    """

    repository_name: str
    base_url: str
    protocol_version: str
    admin_emails: tuple[str, ...]
    earliest_datestamp: str
    deleted_record: DeletedRecord
    granularity: Granularity | None
    compression: tuple[str, ...] = ()
    descriptions: tuple[bytes, ...] = ()
    response_date: datetime | None = None
    other: Mapping[str, str] = field(default_factory=dict)
