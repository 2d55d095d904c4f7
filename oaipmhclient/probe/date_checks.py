"""Checks of datestamps, windows and deletions (pure).

Source: OAI-PMH 2.0, sections 2.5.1, 2.7.1, 3.3 and 3.6.
"""

from collections.abc import Callable
from datetime import datetime

from oaipmhclient.probe.identity_checks import field_of
from oaipmhclient.probe.list_checks import header_of, identifiers, readable
from oaipmhclient.probe.values import Evidence, Judgement, ProbeExchange, answers_error, fault, ok
from oaipmhclient.walk.page_facts import are_outside
from oaipmhclient.walk.windows import Window
from oaipmhprotocol import DatestampError, Granularity, Header, Record
from oaipmhprotocol.datestamps import datestamp_or_none, parse_datestamp, read_datestamp
from oaipmhprotocol.words import DeletedRecord


def _headers(evidence: Evidence) -> list[tuple[ProbeExchange, Header]]:
    """Yield every header of the sample, with its exchange."""
    lists = [*evidence.pages, *filter(None, [evidence.get("identifiers")])]
    return [(asked, header_of(item)) for asked in lists for item in asked.items]


def _claimed(evidence: Evidence) -> Granularity | None:
    return evidence.identify.granularity if evidence.identify is not None else None


def datestamps_are_well_formed(evidence: Evidence) -> Judgement | None:
    """Check each one in the sample."""
    claimed, sample = _claimed(evidence), _headers(evidence)
    for asked, header in sample:
        try:
            parse_datestamp(header.datestamp)
            kind = Granularity.of(header.datestamp)
        except DatestampError:
            return fault(
                f"The datestamp of {header.identifier} is “{header.datestamp}”,"
                " which is not a date in UTC.", asked,
            )  # fmt: skip
        if claimed is not None and kind is not claimed:
            return fault(
                f"The datestamp of {header.identifier} is {header.datestamp}, but Identify"
                f" says {claimed}.", asked,
            )  # fmt: skip
    return ok(f"{len(sample)} datestamps are well-formed.", sample[0][0]) if sample else None


def nothing_is_older(evidence: Evidence) -> Judgement | None:
    """Check the datestamps of the sample."""
    identify, sample = evidence.identify, _headers(evidence)
    earliest = datestamp_or_none(identify.earliest_datestamp) if identify is not None else None
    if identify is None or earliest is None or not sample:
        return None
    for asked, header in sample:
        dated = readable([header])
        if dated and dated[0][1] < _granule(header.datestamp).floor(earliest):
            return fault(
                f"{header.identifier} is of {header.datestamp}, before the earliestDatestamp"
                f" {identify.earliest_datestamp}.", asked,
            )  # fmt: skip
    return ok("No record in the sample is older.", sample[0][0])


def _granule(datestamp: str) -> Granularity:
    """Return the granularity of a datestamp, in any spelling."""
    return Granularity.DAY if len(datestamp.strip()) <= len("YYYY-MM-DD") else Granularity.SECOND


def from_filters(asked: ProbeExchange) -> Judgement | None:
    """Check that no header is before it."""
    first = asked.params["from"]
    return _within(
        asked,
        lambda date: date >= read_datestamp(first),
        f"With from={first}, the repository lists",
        f"No record before {first} is listed.",
    )


def until_filters(asked: ProbeExchange) -> Judgement | None:
    """Check that no header is after it."""
    last = asked.params["until"]
    return _within(
        asked,
        lambda date: Granularity.of(last).floor(date) <= read_datestamp(last),
        f"With until={last}, the repository lists",
        f"No record after {last} is listed.",
    )


def _within(
    asked: ProbeExchange, is_in: Callable[[datetime], bool], otherwise: str, well: str
) -> Judgement | None:
    """Check that the records of a window have dates within it."""
    if not asked.is_list:
        return _refused(asked)
    for header, date in readable([*map(header_of, asked.items)]):
        if not is_in(date):
            return fault(f"{otherwise} {header.identifier} of {header.datestamp}.", asked)
    return ok(well, asked)


def _refused(asked: ProbeExchange) -> Judgement:
    return fault(f"A window of dates returns {asked.outcome}.", asked)


def bounds_are_inclusive(evidence: Evidence) -> Judgement | None:
    """Check that the window of a record's own datestamp has it."""
    asked = evidence.get("window/exact")
    if asked is None:
        return None
    if not asked.is_list:
        return _refused(asked)
    stamp = asked.params["from"]
    wanted = {h.identifier for _, h in _headers(evidence) if h.datestamp.startswith(stamp)}
    if not wanted:
        return None
    if not wanted & set(identifiers(asked)):
        if asked.page is not None and asked.page.next_token:
            return None
        return fault(
            f"{min(wanted)} has the datestamp {stamp}, but is not in the window from {stamp}"
            f" until {stamp}.", asked,
        )  # fmt: skip
    return ok(f"The window from {stamp} until {stamp} has the records of that date.", asked)


def emptiness_is_told(asked: ProbeExchange) -> Judgement | None:
    """Request a day next year."""
    if asked.codes != ("noRecordsMatch",) or asked.items:
        return fault(f"A window in the future returns {asked.outcome}.", asked)
    return ok("An empty window returns noRecordsMatch.", asked)


def the_other_granularity(evidence: Evidence) -> Judgement | None:
    """Request the granularity that was not stated."""
    finer = evidence.get("window/seconds")
    if finer is not None:
        return answers_error(
            finer, "A date with seconds, if only days are supported,", "badArgument"
        )
    asked, since = evidence.get("window/day"), evidence.get("window/since")
    if asked is None or since is None or not since.items:
        return None
    if not asked.items:
        return fault(
            f"A date without a time, with records after it, returns {asked.outcome}.", asked
        )
    return ok("Windows by day work too.", asked)


def windows_are_fine(asked: ProbeExchange) -> Judgement | None:
    """Check that the window of one granule has no other granule."""
    stamp = asked.params["from"]
    return (
        _within(
            asked,
            lambda date: Granularity.of(stamp).floor(date) == read_datestamp(stamp),
            f"The window from {stamp} until {stamp} has",
            f"The window from {stamp} until {stamp} holds nothing else.",
        )
        if asked.items
        else None
    )


def long_lists_are_answered(evidence: Evidence) -> Judgement | None:
    """Request the earliest day alone, if the list as a whole is said to be empty."""
    whole, short = evidence.get("page/1"), evidence.get("window/short")
    if whole is not None and whole.items:
        return ok("The list without dates has records.", whole)
    if whole is None or short is None:
        return None
    if short.items:
        return fault(
            f"The list without dates returns {whole.outcome}, but the day"
            f" {short.params['from']} has records.", whole,
        )  # fmt: skip
    return ok("The earliest day has no records, either.", short)


def tokens_keep_their_dates(evidence: Evidence) -> Judgement | None:
    """Check the second page of a window whose first page is within it."""
    first, second = evidence.get("window/pages"), evidence.get("window/pages/2")
    if first is None or second is None or not second.items:
        return None
    window = Window(first.params["from"], first.params["until"])
    headers = [*map(header_of, second.items)]
    if are_outside([*map(header_of, first.items)], window):
        return None
    if are_outside(headers, window):
        return fault(
            f"The second page of the window from {window.from_} until {window.until} has"
            f" {headers[0].identifier} of {headers[0].datestamp}.", second,
        )  # fmt: skip
    return ok(f"The second page of the window from {window.from_} is within it.", second)


def deletions_are_as_stated(evidence: Evidence) -> Judgement | None:
    """Check that there are none if deletedRecord is no; the rest cannot be checked."""
    found, sample = field_of(evidence, "deletedRecord"), _headers(evidence)
    if found is None or found[1] not in list(DeletedRecord) or not sample:
        return None
    deleted = [(asked, header) for asked, header in sample if header.deleted]
    if deleted and found[1] == DeletedRecord.NO:
        asked, header = deleted[0]
        return fault(f"{header.identifier} is listed as deleted, but deletedRecord is no.", asked)
    return ok(
        f"deletedRecord is {found[1]}; {len(deleted)} of {len(sample)} headers"
        " are of deleted records.", sample[0][0],
    )  # fmt: skip


def metadata_is_where_due(evidence: Evidence) -> Judgement | None:
    """Check each record of the sample."""
    seen = 0
    for asked in evidence.pages:
        for record in asked.items:
            wrong = isinstance(record, Record) and _wrong_parts(record)
            if wrong:
                return fault(f"{record.header.identifier} {wrong}.", asked)
            seen += 1
    return (
        ok(f"{seen} records have metadata, or are deleted without it.", evidence.pages[0])
        if seen
        else None
    )


def _wrong_parts(record: Record) -> str:
    if record.header.deleted:
        return "is deleted and has metadata" if record.metadata is not None else ""
    return "" if record.metadata is not None else "has no metadata and is not deleted"


def deleted_records_are_told(asked: ProbeExchange) -> Judgement | None:
    """Check for a header with that status."""
    wanted = asked.params["identifier"]
    if not asked.items or not header_of(asked.items[0]).deleted:
        came = "a record that is not deleted" if asked.items else asked.outcome
        return fault(f"GetRecord of {wanted}, listed as deleted, returns {came}.", asked)
    return ok(f"GetRecord marks {wanted} as deleted.", asked)
