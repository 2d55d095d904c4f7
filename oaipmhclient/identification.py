"""Request Identify, and continue without it if only Identify fails (OAI-PMH 2.0, section 4.2)."""

import logging

from oaipmhclient.client import Client
from oaipmhclient.errors import PageUnreadable
from oaipmhclient.mending.repair import read_mended
from oaipmhclient.pages.requests_and_pages import identify_request, read_identify
from oaipmhclient.pages.xml_pages import IS_HTML
from oaipmhprotocol import Identify, OAIError
from politeweb.answers import Answer
from politeweb.errors import HTTPStatusError

logger = logging.getLogger("OAIPMH Harvester")


def ask_identify(client: Client) -> tuple[Identify, Answer | None]:
    """Return a repository's description of itself, and the response.

    If Identify fails but ListMetadataFormats works, as with SobekCM, the repository is harvested
    by days, without a response to store.

    Raises:
        EndpointError, OAIError: There is no repository.
    """
    try:
        (identify, _), answer = client.exchange(
            identify_request(), lambda body: read_mended(body, read_identify)
        )
    except (HTTPStatusError, PageUnreadable, OAIError) as failure:
        try:
            client.list_metadata_formats()
        except (HTTPStatusError, PageUnreadable, OAIError):
            raise _with_usual_addresses(failure) from None
        logger.warning("%s; harvesting without Identify", failure)
        return _UNKNOWN, None
    return identify, answer


USUAL_ADDRESSES = ("/cgi/oai2", "/server/oai/request", "/oai")
"""The ends of base URLs: of EPrints, DSpace and OJS."""


def _with_usual_addresses(failure: Exception) -> Exception:
    """Return the failure; if a website answered, with the addresses at which repositories do."""
    advice = f"; the usual addresses of repositories end in {', '.join(USUAL_ADDRESSES)}"
    if isinstance(failure, PageUnreadable) and failure.reason == IS_HTML:
        return PageUnreadable(IS_HTML + advice, failure.url)
    if isinstance(failure, HTTPStatusError) and failure.status == 404:
        return HTTPStatusError(failure.url, 404, f"Not Found{advice}")
    return failure


_UNKNOWN = read_identify(
    b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><Identify/></OAI-PMH>'
)
