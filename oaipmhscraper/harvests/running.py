"""Requests for harvests; refuse one of a list that another process is harvesting.

Each harvest has a lock by its request, and its lists are in the journal. Harvests of one Silo begin
one after the other, so that two that ask for the same list never both begin.
"""

import json
from collections.abc import Collection, Iterator
from typing import Any

from oaipmhclient.walk.values import ListJob
from oaipmhprotocol.datestamps import datestamp_or_none
from oaipmhscraper.errors import HarvestRunning
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.lists.journal_rows import OpenHarvest
from oaipmhscraper.receipt import ListReceipt

LISTS, UPDATE, UPDATE_ALL = "lists", "update", "update all"
PAGES, UPDATE_PAGES = "pages", "update pages"
"""Kinds of jobs, in `request_text`; the last two store no records."""
_OF_PAGES = frozenset({PAGES, UPDATE_PAGES})


def request_text(what: str, **arguments: Any) -> str:
    """Return a request as canonical text, which identifies its job."""
    return json.dumps({"harvest": what, **arguments}, sort_keys=True, ensure_ascii=False)


def refuse_running(journal: Journal, request: str, lists: Collection[ListJob]) -> None:
    """Refuse a harvest if another one that runs now has one of its lists.

    An update has every list, because it also resumes the open harvests. Harvests that store only
    pages, and those that store records, have different lists.

    Args:
        journal: Within its `beginning`.
        request: The harvest's, as in the journal.
        lists: Its lists.

    Raises:
        HarvestRunning: It names the lists.
    """
    kind = json.loads(request)["harvest"]
    found = [
        name
        for job in _running(journal, request)
        if (_kind(job) in _OF_PAGES) is (kind in _OF_PAGES)
        for name in _shared(journal, job, None if kind == UPDATE_ALL else lists)
    ]
    if found:
        raise HarvestRunning(journal.silo_path, list(dict.fromkeys(found)))


def _kind(job: OpenHarvest) -> str:
    return str(json.loads(job.request)["harvest"])


def _running(journal: Journal, request: str) -> Iterator[OpenHarvest]:
    """Yield the jobs that other processes or threads run now."""
    for job in journal.jobs():
        if job.request != request and journal.is_running(job.request):
            yield job


def _shared(journal: Journal, job: OpenHarvest, lists: Collection[ListJob] | None) -> Iterator[str]:
    """Yield the names of a job's lists that overlap given ones; of all, if None."""
    for row in journal.lists(job):
        if not row.job.owed and (lists is None or any(_overlap(row.job, one) for one in lists)):
            yield ListReceipt(row.job.metadata_prefix, row.job.set_spec).name


def _overlap(one: ListJob, other: ListJob) -> bool:
    """Whether two lists may have records in common."""
    if (one.metadata_prefix, one.set_spec) != (other.metadata_prefix, other.set_spec):
        return False
    return not _is_before(one.until, other.from_) and not _is_before(other.until, one.from_)


def _is_before(end: str | None, begin: str | None) -> bool:
    """Whether a list that ends at one datestamp, inclusive, is over before another begins."""
    over, began = datestamp_or_none(end), datestamp_or_none(begin)
    return over is not None and began is not None and over < began
