"""Check whether the endpoint answers, has a format, still lists a set, and how long a list is.

Source: OAI-PMH 2.0, sections 3.5, 4.2, 4.3, 4.4 and 4.6.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.errors import TokenLoopError
from oaipmhclient.mending.repair import read_headers_mended
from oaipmhclient.pages.requests_and_pages import (
    identify_request,
    list_request,
    read_headers,
    read_identify,
)
from oaipmhclient.walk.endpoint_memory import EndpointMemory
from oaipmhprotocol import BadArgument, CannotDisseminateFormat, NoRecordsMatch, OAIError, Verb
from politeweb.errors import EndpointError, RequestRefused, RetryLater

_MOST_SETS = 10_000
"""Most sets to read; Zenodo has more than can be listed in a day (dataverse#8289)."""


def check_alive(client: Endpoint, cause: Exception) -> None:
    """Raise the cause of a failure if the endpoint does not answer Identify either.

    Raises:
        Exception: ``cause``.
    """
    try:
        client.exchange(identify_request(), read_identify)
    except OAIError:
        return
    except EndpointError:
        raise cause from None


def check_format(client: Endpoint, metadata_prefix: str, cause: Exception) -> None:
    """Raise cannotDisseminateFormat if the repository does not have the format.

    Raises:
        Exception: ``cause``. Not raised if that is unknown: one record may spoil a list in a
            format that the repository has (vufind#1237).
    """
    try:
        known = {one.prefix for one in client.list_metadata_formats()}
    except (OAIError, EndpointError):
        return
    if known and metadata_prefix not in known:
        raise cause from None


def refuse_unknown_formats(client: Endpoint, metadata_prefixes: Sequence[str]) -> None:
    """Refuse formats that the repository does not list and has no records in.

    Nothing is refused if its list of formats cannot be read or is incomplete.

    Raises:
        RequestRefused: The repository does not have one of the formats.
    """
    try:
        known = {one.prefix: None for one in client.list_metadata_formats()}
    except (OAIError, EndpointError):
        return
    for prefix in metadata_prefixes:
        if known and prefix not in known and _is_refused(client, prefix):
            its = ", ".join(known)
            raise RequestRefused(
                f"{client.base_url} does not have the format {prefix}; its formats: {its}"
            )


def _is_refused(client: Endpoint, metadata_prefix: str) -> bool:
    request = list_request(Verb.LIST_IDENTIFIERS, metadata_prefix)
    try:
        page, _ = client.exchange(request, read_headers)
    except (OAIError, EndpointError):
        return False
    wrong = [isinstance(one, CannotDisseminateFormat | BadArgument) for one in page.errors]
    return any(wrong) and not page.items


def size_of_list(
    client: Endpoint, metadata_prefix: str, set_spec: str | None, quirks: EndpointMemory
) -> int | None:
    """Return how many records a list has now, by one request of ListIdentifiers.

    Deleted records that it lists are counted, too.

    Returns:
        completeListSize, or the number of records on the only page. None if the repository does
        not say it, its numbers are known to be wrong, or it does not answer.

    Raises:
        RetryLater: The repository asks for a pause.
    """
    if not (quirks.identifiers_work and quirks.promises_kept) or quirks.ends_early:
        return None
    request = list_request(Verb.LIST_IDENTIFIERS, metadata_prefix, set_spec=set_spec)
    try:
        page, _ = client.exchange(request, read_headers_mended)
        page.raise_errors()
    except NoRecordsMatch:
        return 0
    except RetryLater:
        raise
    except (EndpointError, OAIError):
        return None
    if page.next_token is None:
        return None if page.end_lost or page.set_aside else len(page.items)
    size = page.token.complete_list_size if page.token is not None else None
    return size if size is not None and size > len(page.items) else None


def set_has_vanished(client: Endpoint, set_spec: str) -> bool:
    """Whether the repository does not have a set; False if that cannot be found out quickly."""
    return bool(_sets_without(client, set_spec))


def refuse_unknown_set(client: Endpoint, set_spec: str) -> None:
    """Refuse a set without records if the repository lists other sets but not this one.

    Raises:
        RequestRefused: The message names the sets with the most similar setSpec or name.
    """
    known = _sets_without(client, set_spec)
    if not known:
        return
    named = {text.lower(): spec for spec, name in known.items() for text in (name, spec)}
    near = dict.fromkeys(named[text] for text in get_close_matches(set_spec.lower(), named))
    shown = ", ".join(f"{spec} ({known[spec]})" if known[spec] else spec for spec in near)
    raise RequestRefused(
        f"{client.base_url} does not have the set {set_spec}"
        + (f"; the nearest by name: {shown}" if shown else "")
        + f"; its sets: silo sets {client.base_url}"
    )


def _sets_without(client: Endpoint, set_spec: str) -> dict[str, str]:
    """Return the sets of a repository, {spec: name}; empty if it has the set, or if unknown."""
    try:
        known = {one.spec: one.name for one in islice(client.list_sets(), _MOST_SETS)}
    except (OAIError, EndpointError, TokenLoopError):
        return {}
    return {} if set_spec in known or len(known) == _MOST_SETS else known
