"""The pages of one window, whatever the repository does (OAI-PMH 2.0, section 3.5).

Here requests are sent and answers read; what to do about a failure is decided in
`recovery`.
"""

from collections.abc import Iterator

from oaipmhprotocol import NoRecordsMatch, OAIError, Verb
from oaipmhscraper.client import Client
from oaipmhscraper.errors import PageUnreadable
from oaipmhscraper.marks import ListJob
from oaipmhscraper.quirks import Quirks
from oaipmhscraper.requests_and_pages import list_request, read_records, resume_request
from oaipmhscraper.walk_values import (
    Bounds,
    ByIdentifier,
    GiveUp,
    Position,
    Remedy,
    RestartFrom,
    SingleList,
    Split,
    WalkPage,
    WindowBroken,
)

__all__ = [
    "Bounds",
    "ByIdentifier",
    "GiveUp",
    "Position",
    "Remedy",
    "RestartFrom",
    "SingleList",
    "Split",
    "WalkPage",
    "WindowBroken",
    "walk_window",
]


def walk_window(
    client: Client,
    job: ListJob,
    window: Bounds,
    position: Position | None,
    quirks: Quirks,
) -> Iterator[WalkPage]:
    """Yield the pages of a window, from a position on.

    Lazy: store a page and keep its position before asking for the next.

    Args:
        client: The way to the repository.
        job: Format and set; its bounds are not looked at.
        window: The bounds sent.
        position: Where an earlier walk of the same window stood; None at its start.
        quirks: What the endpoint needs; learned from and added to.

    Raises:
        WindowBroken: The list breaks off; it says what to do with the window.
        EndpointError: The endpoint is not there at all any more.
        RequestRefused: The job makes no request.
    """
    at = position or Position()
    while not at.ended:
        request = (
            resume_request(Verb.LIST_RECORDS, at.token)
            if at.token is not None
            else list_request(
                Verb.LIST_RECORDS,
                job.metadata_prefix,
                from_=window.from_,
                until=window.until,
                set_spec=job.set_spec,
            )
        )
        try:
            page, answer = client.exchange(request, read_records)
            if not all(isinstance(error, NoRecordsMatch) for error in page.errors):
                page.raise_errors()
        except (OAIError, PageUnreadable) as cause:
            raise WindowBroken(cause, at, GiveUp(), request) from cause
        quirks.token_proved = quirks.token_proved or request.resumes
        at = Position(
            page.next_token,
            at.pages + 1,
            at.listed + len(page.items),
            page.token.complete_list_size if page.token else at.promised,
            ended=page.next_token is None,
        )
        yield WalkPage(page, request, answer, at)
