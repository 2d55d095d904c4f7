"""One list into the Silo: page → store → next token (OAI-PMH 2.0, section 3.5).

A page is committed before the next is asked for, so whatever fails, everything
before it stays and a second run writes nothing twice.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from oaipmhprotocol import OAIError, Record
from oaipmhscraper.client import Client, ListWalk
from oaipmhscraper.errors import ScraperError
from oaipmhscraper.interrupts import interrupt_deferred
from oaipmhscraper.marks import ListJob
from oaipmhscraper.receipt import ListReceipt, Outcome
from oaipmhscraper.requests_and_pages import ListPage, Request, SetAside
from oaipmhscraper.silo_writer import PageOutcome, SiloWriter

Progress = Callable[[ListReceipt], None]
"""Told what was got so far, after every page and at the end."""


@dataclass(frozen=True, slots=True)
class ListEnd:
    """How a list ended.

    Attributes:
        receipt: What was got.
        failure: What stopped it: an error, KeyboardInterrupt, or None at its end.
        request: The request that failed.
    """

    receipt: ListReceipt
    failure: BaseException | None = None
    request: Request | None = None


def harvest_list(client: Client, writer: SiloWriter, job: ListJob, progress: Progress) -> ListEnd:
    """Fetch and store one list, page by page, as far as it goes.

    Errors of the repository, and Ctrl-C, end the list and are returned with what
    was got; a page that is being stored is finished first. Errors of the store and
    of the disk are raised.

    Raises:
        RequestRefused: The job makes no request.
        RecordSiloError, OSError: Nothing of the page is stored.
    """
    walk = client.record_pages(
        job.metadata_prefix, from_=job.from_, until=job.until, set_spec=job.set_spec
    )
    receipt = ListReceipt(job.metadata_prefix, job.set_spec, job.from_, job.until)
    try:
        for page in walk:
            with interrupt_deferred():
                receipt = _with_page(receipt, page, walk.request, writer.store(page.items))
                progress(receipt)
    except (ScraperError, OAIError, KeyboardInterrupt) as failure:
        return _stopped(receipt, walk, failure)
    receipt = replace(receipt, ended=True)
    progress(receipt)
    return ListEnd(receipt)


def _stopped(receipt: ListReceipt, walk: ListWalk[Record], failure: BaseException) -> ListEnd:
    sentence = "interrupted" if isinstance(failure, KeyboardInterrupt) else str(failure)
    return ListEnd(replace(receipt, stopped=sentence), failure, walk.request)


def _with_page(
    receipt: ListReceipt, page: ListPage[Record], request: Request, outcome: PageOutcome
) -> ListReceipt:
    """The receipt after a page; the repository's latest promise counts."""
    unread = tuple(
        SetAside(one.identifier, one.reason, f"{one.where} {request}") for one in page.set_aside
    )
    counts = receipt.counts.plus(outcome.outcomes, outcome.written)
    counts = counts.plus({Outcome.QUARANTINED: len(unread)}, 0)
    promised = page.token.complete_list_size if page.token is not None else None
    return replace(
        receipt,
        counts=counts if promised is None else replace(counts, promised=promised),
        response_date=receipt.response_date if request.resumes else page.response_date,
        quarantined=(*receipt.quarantined, *unread, *outcome.quarantined),
    )
