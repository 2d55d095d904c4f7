"""Choose where to split a window with a record that no list can return.

Halving its time down to the second takes thirty failures, each with five requests. The first
identifiers of the window show where its records are, and whether they are few enough to get one
by one.

Source: datacite#941 and dataverse#8306, one broken record in a list of many thousands.
"""

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.mending.repair import read_headers_mended
from oaipmhclient.pages.requests_and_pages import VerbRequest
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhclient.walk.page_facts import parting_date
from oaipmhclient.walk.recovery import Failure
from oaipmhclient.walk.values import ByIdentifier, SplitWindow
from oaipmhprotocol import OAIError
from politeweb.errors import EndpointError

LASTING = frozenset(
    {Failure.NO_ANSWER, Failure.UNREADABLE, Failure.CUT, Failure.NO_FORMAT, Failure.OTHER_ERROR}
)
"""Failures that a single record may cause."""
MOST_FAILED = 2
"""Successive failures after which ListIdentifiers is no longer used to split windows."""
FEW = 25
"""Most records to get one by one instead of in smaller windows."""


def narrowed(
    client: Endpoint, request: VerbRequest, quirks: EndpointMemory
) -> SplitWindow | ByIdentifier:
    """Return the remedy for a window to split: the place, or another remedy.

    Args:
        client: The repository; gets one request, unless that is known to be useless.
        request: Lists the window's identifiers.
        quirks: The endpoint's known habits; updated.
    """
    if not quirks.identifiers_work or quirks.identifiers_failed >= MOST_FAILED:
        return SplitWindow()
    try:
        page, _ = client.exchange(request, read_headers_mended)
    except (EndpointError, OAIError):
        quirks.identifiers_failed += 1
        return SplitWindow()
    quirks.identifiers_failed = 0
    is_all = page.next_token is None and not page.end_lost
    if page.items and is_all and len(page.items) <= FEW:
        return ByIdentifier()
    return SplitWindow(parting_date(page.items, is_all=is_all))
