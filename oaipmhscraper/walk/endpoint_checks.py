"""Questions beside a list: is anybody there, is there such a format, is the set still listed.

Source: OAI-PMH 2.0, sections 4.2, 4.4 and 4.6.
"""

import logging
from itertools import islice
from typing import TYPE_CHECKING

from oaipmhprotocol import OAIError
from oaipmhscraper.errors import EndpointError, TokenLoopError
from oaipmhscraper.requests_and_pages import identify_request, read_identify

if TYPE_CHECKING:
    from oaipmhscraper.client import Client

logger = logging.getLogger("OAIPMH Harvester")

_MOST_SETS = 10_000
"""Sets looked through: Zenodo has more than can be listed in a day (dataverse#8289)."""


def check_alive(client: "Client", cause: Exception) -> None:
    """Raise a failure itself where the endpoint does not even say who it is.

    Raises:
        Exception: ``cause``.
    """
    try:
        client.exchange(identify_request(), read_identify)
    except OAIError:
        return
    except EndpointError:
        raise cause from None


def check_format(client: "Client", metadata_prefix: str, cause: Exception) -> None:
    """Raise cannotDisseminateFormat itself where the format is none of the repository's.

    Raises:
        Exception: ``cause``. Not raised where that cannot be told: of a format that is
            listed, one record may spoil the list (vufind#1237).
    """
    try:
        known = {one.prefix for one in client.list_metadata_formats()}
    except (OAIError, EndpointError):
        return
    if known and metadata_prefix not in known:
        raise cause from None


def set_has_vanished(client: "Client", set_spec: str) -> bool:
    """Whether a set is none of the repository's; False where that cannot be told at once."""
    try:
        known = {one.spec for one in islice(client.list_sets(), _MOST_SETS)}
    except (OAIError, EndpointError, TokenLoopError):
        return False
    if not known or set_spec in known or len(known) == _MOST_SETS:
        return False
    logger.warning("%s does not list the set %s", client.base_url, set_spec)
    return True
