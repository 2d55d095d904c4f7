"""Read OAI-PMH exchanges from WARC files, in the order in which they were recorded.

Files written by this program have the format of each page; in other files a page has the format of
its request, or of the page with its token.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from oaipmhclient.transport.http_rules import unpack_page
from oaipmhscraper.warc.elsewhere import readable
from oaipmhscraper.warc.responses import HARVEST, PREFIX, REQUEST
from politeweb.answers import Answer
from politeweb.settings import MAX_RESPONSE
from politeweb.warc import reading
from politeweb.warc.reading import About, Damaged, Said

_HARVEST_ID = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{6}Z")


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A recorded response.

    Attributes:
        params: The request, as wire parameters.
        where: File and place of the record, for messages.
        harvest_id: The harvest; empty if unknown or not valid as a directory name.
        metadata_prefix: The format; empty if unknown.
    """

    params: Mapping[str, str]
    answer: Answer
    where: str
    harvest_id: str = ""
    metadata_prefix: str = ""


def read_warc(path: str, limit: int = MAX_RESPONSE) -> Iterator[StoredResponse | Damaged | About]:
    """Read OAI-PMH responses; others are skipped. See `read_exchanges`.

    Raises:
        StoreFailed: The file is in an object store, and cannot be fetched from there.
    """
    with readable(path) as place:
        for one in reading.read_exchanges(place, _is_oai, limit, unpack_page):
            yield _recorded(one) if isinstance(one, reading.Recorded) else one


def _is_oai(said: Said) -> bool:
    return "verb" in _params(said)


def _recorded(found: reading.Recorded) -> StoredResponse:
    harvest = found.said(HARVEST) or ""
    harvest = harvest if _HARVEST_ID.fullmatch(harvest) else ""
    prefix = found.said(PREFIX) or ""
    return StoredResponse(_params(found.said), found.answer, found.where, harvest, prefix)


def _params(said: Said) -> dict[str, str]:
    asked = said(REQUEST)
    query = urlsplit(said("WARC-Target-URI") or "").query if asked is None else asked
    return dict(parse_qsl(query, keep_blank_values=True))
