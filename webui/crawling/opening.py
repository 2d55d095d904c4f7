"""What the pages share: addresses, the queues of the Silo, errors of crawls as answers."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from silocrawl.errors import CrawlingError, TargetNotFound, TargetRefused
from silocrawl.proposals import ProposalState, counts
from silocrawl.sharing import has_queues, open_crawl_queues
from silocrawl.targets import CrawlTarget, load_target
from silowork.errors import JobRefused, JobsError, QueuesUnreadable, QueueUnreachable
from silowork.ledger_file import Mode
from silowork.queues.values import Queues
from webui import urls
from webui.http.errors import BadRequest, NotFound, WebError, as_sentence
from webui.http.messages import Response
from webui.http.security import FILE_POLICY
from webui.site import Call

logger = logging.getLogger("webui")
targets = urls.page_at("/crawling/targets")
"""The list of the targets."""


def target(name: str, part: str = "", **fields: object) -> str:
    """A target, or a part of it, such as ``/seeds``."""
    return urls.with_query(f"{targets()}/{urls.segment(name)}{part}", fields)


status = urls.page_at("/crawling/status")
"""How the crawls are."""
jobs = urls.page_at("/crawling/jobs")
"""Our own crawl, and the jobs of each Heritrix."""
own_crawl = urls.page_at("/crawling/running")
"""Our own crawl."""


def job(engine: str, name: str, part: str = "", **fields: object) -> str:
    """A job of a Heritrix, or something that is done with it."""
    place = f"{jobs()}/{urls.segment(engine)}/{urls.segment(name)}{part}"
    return urls.with_query(place, fields)


packages = urls.page_at("/crawling/packages")
"""The packages."""


def package(name: str, part: str = "", **fields: object) -> str:
    """One of them, or something that is done with it."""
    return urls.with_query(f"{packages()}/{urls.segment(name)}{part}", fields)


def dead(queue: str, **fields: object) -> str:
    """The messages of a queue that failed too often."""
    return urls.with_query(urls.at(f"/crawling/dead/{urls.segment(queue)}"), fields)


proposals = urls.page_at("/crawling/proposals")
"""The documents that wait for a decision."""


def documents_waiting(silo_path: str) -> int:
    """How many there are; 0 also if that cannot be read, which is logged: their page says why."""
    try:
        return counts(silo_path).get(ProposalState.PROPOSED, 0)
    except (CrawlingError, JobsError):
        logger.exception("proposed documents")
        return 0


def proposal(number: int, part: str = "") -> str:
    """One of them, or a part of it."""
    return f"{proposals()}/{number}{part}"


comparisons = urls.page_at("/crawling/comparisons")
"""The pages that were compared with the archive."""


def comparison(name: str, part: str = "") -> str:
    """One of them, or a part of it."""
    return f"{comparisons()}/{urls.segment(name)}{part}"


def png(content: bytes, missing: str) -> Response:
    """Send a picture of what strangers made.

    Args:
        content: PNG; empty if there is none.
        missing: What is said then.

    Raises:
        NotFound: There is none.
    """
    if not content:
        raise NotFound(missing)
    return Response(200, content, "image/png", {"Content-Security-Policy": FILE_POLICY})


@contextmanager
def queues_of(call: Call, mode: Mode = "read") -> Iterator[Queues | None]:
    """Open the queues of the Silo; None if nothing was launched or injected."""
    if not has_queues(call.site.path):
        yield None
        return
    with open_crawl_queues(call.site.path, mode) as queues:
        yield queues


@contextmanager
def told(call: Call, field: str = "") -> Iterator[None]:
    """Convert errors of crawls to answers.

    Args:
        call: The request.
        field: The field of the form that they are about.
    """
    try:
        yield
    except TargetNotFound as error:
        raise NotFound(as_sentence(str(error))) from None
    except (TargetRefused, JobRefused) as error:
        raise BadRequest(as_sentence(str(error))).at(field) from None
    except (CrawlingError, QueuesUnreadable, QueueUnreachable) as error:
        raise WebError(as_sentence(hidden(call, str(error)))) from error


def hidden(call: Call, text: str) -> str:
    """A text without the place of the Silo on its machine."""
    return text.replace(call.site.path, call.site.name)


def target_of(call: Call) -> CrawlTarget:
    """Read the target that the address names.

    Raises:
        NotFound: There is none.
        BadRequest: Its file is invalid.
    """
    with told(call):
        return load_target(call.site.path, call.params["name"])
