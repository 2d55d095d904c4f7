"""What a page of usage is asked for: the period, the kind of entity, the order."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from usagestats.entities.usage import MEASURES, RECORD, Usage
from usagestats.errors import PeriodInvalid, UsageError
from usagestats.store import queries
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.periods import first_day, last_day, month_after, period_of
from webui.http.errors import BadRequest, WebError, as_sentence
from webui.site import Call, Site

ORDERS = {"all": "Most used", "downloads": "Most downloaded", "views": "Most viewed"}
"""Order → its label, an English text of the catalogue."""
KINDS = {
    RECORD: "Records", "creator": "Creators", "subject": "Subjects", "publisher": "Publishers",
    "type": "Types", "set": "Sets", "language": "Languages",
}  # fmt: skip
"""Kind → its label, likewise."""
SINGULAR = {
    RECORD: "Record", "creator": "Creator", "subject": "Subject", "publisher": "Publisher",
    "type": "Type", "set": "Set", "language": "Language",
}  # fmt: skip
"""Kind → the label of one."""
MONTHS = 12
"""The period of a page that names none."""


@dataclass(frozen=True, slots=True)
class UsageQuestion:
    """The period and the order of a page.

    Attributes:
        first, last: As given or by default: days or months.
        given: The fields of the address that named them.
        by: A name in `ORDERS`.
    """

    first: str
    last: str
    given: tuple[tuple[str, str], ...]
    by: str = "all"

    @property
    def period(self) -> Period:
        """The days."""
        return Period(self.first, self.last)

    @property
    def days(self) -> tuple[str, str]:
        """The first and the last day."""
        return first_day(self.first), last_day(self.last)

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the addresses of this period's other pages."""
        return dict(self.given)


@contextmanager
def opened(call: Call) -> Iterator[Usage]:
    """Open the usage of the Silo.

    Raises:
        WebError: Its counts or settings cannot be read.
    """
    try:
        with Usage(call.site.silo) as usage:
            yield usage
    except UsageError as error:
        told = str(error).replace(call.site.silo.path, call.site.name)
        raise WebError(as_sentence(told)) from error


def asked_of(call: Call, bounds: tuple[str, str]) -> UsageQuestion:
    """Read the fields ``from``, ``until`` and ``by``.

    Args:
        bounds: The first and the last day with counts.

    Raises:
        BadRequest: They are invalid.
    """
    query = call.request.query
    first, last = query.get("from", "").strip(), query.get("until", "").strip()
    try:
        period_of(first, last)
    except PeriodInvalid as error:
        wrong = "from" if first and repr(first) in str(error) else "until"
        raise BadRequest(as_sentence(str(error))).at(wrong) from error
    by = query.get("by", "") or "all"
    if by not in MEASURES:
        raise BadRequest("Unknown order; choose one of {known} (by).", known=", ".join(MEASURES))
    given = tuple((name, query[name]) for name in ("from", "until", "by") if query.get(name))
    end = last or bounds[1][:7]
    begin = first or max(bounds[0][:7], month_after(end[:7], 1 - MONTHS))
    if not first and last:
        begin = min(begin, end[:7])
    if first and not last:
        end = max(end, first[:7])
    return UsageQuestion(begin, end, given, by)


def has_usage(site: Site) -> bool:
    """Whether anything was counted in the Silo."""
    try:
        with UsageCounts(site.silo.path) as counts:
            return bool(counts.stamp())
    except (UsageError, OSError):
        return False


def bounds_of(usage: Usage) -> tuple[str, str] | None:
    """Return the first and the last day with counts; None if nothing was imported."""
    return queries.bounds(usage.counts)
