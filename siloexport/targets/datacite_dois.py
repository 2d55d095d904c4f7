"""The DOI of a record, and what else a document says where the metadata says nothing (pure)."""

import hashlib
import re
from dataclasses import dataclass

from siloexport.bibliography import Bibliography

_DOI = re.compile(r"10\.\d{4,9}/\S+", re.ASCII)
_SUFFIX = 80
"""Characters of an identifier that its DOI has."""
PREFIX = re.compile(r"10\.\d{4,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class DataciteSettings:
    """What a document says where the metadata says nothing.

    Attributes:
        prefix: Of DOIs. A record without a DOI below it gets one, made from its identifier;
            ``""``: the DOI in the metadata is the record's.
        publisher: Where there is none.
        type: A resourceTypeGeneral where there is none.
        json: Whether documents are JSON, not XML.
    """

    prefix: str = ""
    publisher: str = ""
    type: str = ""
    json: bool = False


def doi_of(identifier: str, found: Bibliography, settings: DataciteSettings) -> str:
    """Return the DOI of a record; ``""`` if it has none and no prefix is given."""
    dois = [one for one in found.identified("doi") if _DOI.fullmatch(one)]
    if not settings.prefix:
        return next(iter(dois), "")
    below = (one for one in dois if one.startswith(f"{settings.prefix}/"))
    return next(below, f"{settings.prefix}/{doi_suffix(identifier)}")


def doi_suffix(identifier: str) -> str:
    """Return the suffix of a new DOI: the identifier without ``oai:``, in ``a-z0-9._-``.

    A digest at its end keeps apart identifiers that would be the same otherwise.
    """
    bare = identifier.removeprefix("oai:")
    suffix = re.sub(r"[^a-z0-9._-]+", "-", bare.lower()).strip("-")
    if re.fullmatch(r"oai:[a-z0-9.]+:[a-z0-9._]+", identifier) and len(bare) <= _SUFFIX:
        return suffix
    return f"{suffix[:_SUFFIX].strip('-')}-{hashlib.sha256(identifier.encode()).hexdigest()[:12]}"
