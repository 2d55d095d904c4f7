"""Marks of how far each list was harvested, from which an update starts (pure).

A mark is the responseDate of the first response of the last complete harvest of a
format and a set. The server's clock and the first response are used, so that a record
that changes while the list is sent is listed again by the next update.

Source: OAI-PMH 2.0, sections 2.7.1 and 3.2.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from oaipmhclient.walk.completeness import CountFinding
from oaipmhclient.walk.values import ListJob
from oaipmhprotocol import Granularity
from oaipmhprotocol.datestamps import format_datestamp, read_datestamp
from oaipmhscraper.receipt import ListReceipt

Marks = Mapping[str, Mapping[str, str | None]]
"""{prefix: {set or "": responseDate, or None before the first complete harvest}}."""

HARVESTED, KEPT_AS_PAGES = "harvested", "harvested_pages"
"""Keys of the state, each with `Marks`: of lists whose records are stored, and of those of which
only the responses are."""


def harvested_lists(marks: Marks) -> Iterator[ListJob]:
    """Return every format and set that was begun before, complete or not."""
    for prefix, sets in marks.items():
        for set_spec in sets:
            yield ListJob(prefix, set_spec or None)


def mark_of(marks: Marks, job: ListJob) -> datetime | None:
    """Return the mark of a job's format and set; None if no harvest was complete."""
    text = marks.get(job.metadata_prefix, {}).get(job.set_spec or "")
    return None if text is None else read_datestamp(text)


def update_of(
    marks: Marks,
    job: ListJob,
    granularity: Granularity,
    overlap: timedelta = timedelta(0),
) -> ListJob:
    """Return the job that continues from the mark; the whole list if there is none.

    Args:
        marks: How far each list was harvested.
        job: Its format and set.
        granularity: The repository's.
        overlap: How far before the mark to begin, at least one granule. Some servers list a
            change later than its datestamp (wellcome#3443: minutes; HydraNorth#1255).
    """
    mark = mark_of(marks, job)
    if mark is None:
        return replace(job, update=True)
    begin = format_datestamp(_before(mark, max(granularity.step, overlap)), granularity)
    return replace(job, from_=begin, until=None, update=True)


def _before(moment: datetime, length: timedelta) -> datetime:
    try:
        return moment - length
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def with_begun(marks: Marks, job: ListJob) -> Marks:
    """Return the marks after the first page of a list is stored."""
    return _with_mark(marks, job, None)


def with_receipt(marks: Marks, job: ListJob, receipt: ListReceipt) -> Marks | None:
    """Return the marks after a list, or None if they stay.

    The mark is removed after a full list that lacked records that the repository still has. It
    moves only after a complete list without ``until``, with no ``from`` after the mark, and with
    a responseDate. An empty full list sets no mark: the set may not exist yet.
    """
    mark = mark_of(marks, job)
    moment = receipt.response_date
    if job.is_all and mark is not None and receipt.doubt == CountFinding.UNLISTED.value:
        return _with_mark(marks, job, None, drops=True)
    if not receipt.complete or job.until is not None or moment is None:
        return None
    if job.from_ is not None and (mark is None or read_datestamp(job.from_) > mark):
        return None
    if mark is None and not receipt.counts.listed:
        return None
    return _with_mark(marks, job, format_datestamp(moment, Granularity.SECOND))


def _with_mark(marks: Marks, job: ListJob, text: str | None, *, drops: bool = False) -> Marks:
    harvested = {prefix: dict(sets) for prefix, sets in marks.items()}
    sets = harvested.setdefault(job.metadata_prefix, {})
    key = job.set_spec or ""
    sets[key] = text if text is not None or drops else sets.get(key)
    return harvested
