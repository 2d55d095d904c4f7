"""Where to part a window that holds something no list can bring.

Halving its time down to the second takes thirty failures, and a server that fails is
asked five times for each. Its first identifiers tell where its records are, and whether
they are few enough to be got one by one.

Source: datacite#941 and dataverse#8306, one poisoned record in a list of many thousands.
"""

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.mending.repair import read_headers_mended
from oaipmhclient.pages.requests_and_pages import Request
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.page_facts import parting_date
from oaipmhclient.walk.recovery import Failure
from oaipmhclient.walk.values import ByIdentifier, Split
from oaipmhprotocol import OAIError
from politeweb.errors import EndpointError

LASTING = frozenset(
    {Failure.NO_ANSWER, Failure.UNREADABLE, Failure.CUT, Failure.NO_FORMAT, Failure.OTHER_ERROR}
)
"""Failures that one record may be the cause of."""
MOST_FAILED = 2
"""Failures in a row after which ListIdentifiers is not asked where to part windows."""
FEW = 25
"""Records that are got one by one rather than listed in ever smaller windows."""


def narrowed(client: Endpoint, request: Request, quirks: EndpointMemory) -> Split | ByIdentifier:
    """What to do with a window that would be split: where, or no more.

    Args:
        client: The way to the repository; asked once, unless it is in vain.
        request: Lists the window's identifiers.
        quirks: What the endpoint needs; added to.
    """
    if not quirks.identifiers_work or quirks.identifiers_failed >= MOST_FAILED:
        return Split()
    try:
        page, _ = client.exchange(request, read_headers_mended)
    except (EndpointError, OAIError):
        quirks.identifiers_failed += 1
        return Split()
    quirks.identifiers_failed = 0
    is_all = page.next_token is None and not page.end_lost
    if page.items and is_all and len(page.items) <= FEW:
        return ByIdentifier()
    return Split(parting_date(page.items, is_all=is_all))
