"""What a profile sends for a use, as key and value pairs of OpenURL (pure).

Sources: ANSI/NISO Z39.88-2004; PIRUS2 Code of Practice (2011), section 4; the tracker
protocol of IRUS, as DSpace and EPrints send it.
"""

import ipaddress
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from recordsilo.formats import Description, canonical_identifier
from usagestats.errors import UsageError
from usagestats.push.settings import ClientAddress, Profile, PushSettings
from usagestats.values import Hit, Use, UseKind

VERSION = "Z39.88-2004"
_ISSN = re.compile(r"(?<![0-9])([0-9]{4}-[0-9]{3}[0-9X])(?![0-9X])", re.ASCII | re.IGNORECASE)
_JOURNAL = re.compile(r"(?i:[\s(;,]*(?:e-?|p-?)?issn:?\s*)?[0-9]{4}-[0-9]{3}[0-9Xx]\)?", re.ASCII)
"""An ISSN, with the word before it and a parenthesis around both."""
_VOLUME = re.compile(r"[\s,;:]*(?:[Vv]ol(?:ume|\.)?\s*)?[0-9]+\s*[(,:;.].*$")

SENDS = {
    Profile.PIRUS2: "each download: its time, {client}, the user agent, the address and type of "
    "the file, and the DOI of the article or its journal, ISSN, title and first author",
    Profile.IRUS: "each view and download: its time, {client}, the user agent, the page that led "
    "there, the host, the address requested, and the record's identifier",
}
"""What is said before the first push."""
CLIENTS = {
    ClientAddress.RAW: "the whole IP address of the client",
    ClientAddress.TRUNCATED: "the IP address of the client without its last part",
    ClientAddress.TOKEN: "a token in place of the client's IP address, another one each day",
}


class NotSendable(UsageError):
    """A use cannot be sent; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Article:
    """What a record's description says of it, as far as a profile sends it."""

    identifier: str
    doi: str = ""
    journal: str = ""
    issns: tuple[str, ...] = ()
    title: str = ""
    author: str = ""


def collected(settings: PushSettings, hit: Hit, use: Use, token: str) -> dict[str, str] | None:
    """Return what the profile sends of a request; None if it does not send such a use.

    Nothing else of the request is kept until it is sent.

    Args:
        settings: Of the Silo.
        hit: The request.
        use: The use, of a record that the Silo holds.
        token: Of the client's address.
    """
    if use.kind is UseKind.OTHER or (
        settings.profile is Profile.PIRUS2 and use.kind is UseKind.VIEW
    ):
        return None
    address = _client(settings.client, hit.address, token)
    moment = datetime.fromtimestamp(hit.moment, UTC)
    url = settings.site + hit.path
    found = {
        "url_ver": VERSION,
        "url_tim": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "req_id": f"urn:ip:{address}" if settings.client is not ClientAddress.TOKEN else address,
        "req_dat": hit.agent,
    }
    host = settings.site.partition("//")[2].partition("/")[0]
    if settings.profile is Profile.PIRUS2:
        kind = mimetypes.guess_type(hit.path, strict=False)[0] or ""
        found |= {"rfr_id": host, "rft.artnum": url, "svc_dat": settings.version}
        found["svc_format"] = kind
    else:
        found |= {
            "rfr_dat": "" if hit.referrer == "-" else hit.referrer,
            "rfr_id": hit.host or host,
            "svc_dat": url,
            "rft_dat": "Request" if use.kind is UseKind.DOWNLOAD else "Investigation",
        }
    return {name: value for name, value in found.items() if value}


def openurl(profile: Profile, collected: Mapping[str, str], article: Article) -> dict[str, str]:
    """Return what is sent: what was collected, with the data of the record.

    Raises:
        NotSendable: The record lacks what the profile needs.
    """
    if profile is Profile.IRUS:
        return {**collected, "rft.artnum": article.identifier}
    if article.doi:
        return {**collected, "rft_id": f"info:doi/{article.doi}"}
    if not (article.journal or article.issns):
        raise NotSendable("the record has no DOI and no journal")
    print_issn, electronic = (*article.issns, "", "")[:2]
    known = {
        "rft.jtitle": article.journal, "rft.atitle": article.title,
        "rft.aulast": article.author, "rft.issn": print_issn, "rft.eissn": electronic,
    }  # fmt: skip
    return {**collected, **{name: value for name, value in known.items() if value}}


def article_of(identifier: str, found: Description) -> Article:
    """Read what a description says of an article.

    An ISSN may be among the sources, relations and identifiers; the journal is the first source
    that is no address, without its ISSN, volume and pages.
    """
    texts = [one.text for one in (*found.identifiers, *found.sources, *found.relations)]
    issns = dict.fromkeys(one.upper() for text in texts for one in _ISSN.findall(text))
    dois = (canonical_identifier(one.text) for one in found.identifiers)
    doi = next((one[4:] for one in dois if one.startswith("doi:10.")), "")
    sources = [_VOLUME.sub("", _JOURNAL.sub("", one.text)).strip(" ,;:")
               for one in found.sources if "://" not in one.text]  # fmt: skip
    author = found.creators[0].text if found.creators else ""
    last = author.partition(",")[0] if "," in author else author.rpartition(" ")[2]
    return Article(
        identifier, doi, next(filter(None, sources), ""), tuple(issns)[:2], found.title, last
    )


def _client(how: ClientAddress, address: str, token: str) -> str:
    if how is ClientAddress.TOKEN:
        return token
    if how is ClientAddress.RAW:
        return address
    try:
        version = ipaddress.ip_address(address).version
        bits = 24 if version == 4 else 48
        return str(ipaddress.ip_network(f"{address}/{bits}", strict=False).network_address)
    except ValueError:
        return ""
