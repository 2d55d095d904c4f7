"""Checks of lists, their pages and their resumption tokens (pure).

Source: OAI-PMH 2.0, sections 2.4, 3.5, 4.1, 4.3 and 4.5.
"""

import re
from collections.abc import Sequence
from datetime import datetime

from lxml import etree

from oaipmhclient.probe.values import (
    Evidence,
    Judgement,
    ProbeExchange,
    ProbeSeverity,
    counted,
    fault,
    note,
    ok,
)
from oaipmhprotocol import DatestampError, Granularity, Header, Record
from oaipmhprotocol.datestamps import datestamp_or_none, parse_datestamp

_TOKEN_ATTRIBUTES = frozenset({"expirationDate", "completeListSize", "cursor"})
_UNRESERVED = re.compile(r"[A-Za-z0-9\-._~]*", re.ASCII)


def header_of(item: Record | Header) -> Header:
    """Return the header of an item of either verb."""
    return item.header if isinstance(item, Record) else item


def identifiers(asked: ProbeExchange) -> list[str]:
    """Return the identifiers in an exchange, in order."""
    return [header_of(item).identifier for item in asked.items]


def _sent(asked: ProbeExchange) -> int:
    """Return the number of records on a page, including unusable ones."""
    return len(asked.items) + (len(asked.page.set_aside) if asked.page is not None else 0)


def _is_whole(asked: ProbeExchange) -> bool:
    return asked.page is not None and not asked.page.end_lost


def _token_element(asked: ProbeExchange) -> etree._Element | None:
    if asked.root is None:
        return None
    return next(asked.root.iter("{*}resumptionToken"), None)


def _with_tokens(evidence: Evidence) -> list[ProbeExchange]:
    """Return the pages with a token for a next page."""
    return [one for one in evidence.pages if one.page is not None and one.page.next_token]


def _ended(evidence: Evidence) -> bool:
    """Whether the end of the list was reached."""
    pages = evidence.pages
    last = pages[-1].page if pages else None
    return last is not None and last.next_token is None and _is_whole(pages[-1])


def records_are_listed(asked: ProbeExchange) -> Judgement | None:
    """Check for records, or noRecordsMatch."""
    if not asked.is_list:
        return fault(f"ListRecords returns {asked.outcome}.", asked)
    if not asked.items:
        return note("The repository says that it has no records.", asked)
    size = asked.page.token.complete_list_size if asked.page and asked.page.token else None
    whole = f"{len(asked.items):,} of {counted(size, 'record')}" if size else ""
    return ok(f"The first page has {whole or counted(len(asked.items), 'record')}.", asked)


def both_verbs_agree(evidence: Evidence) -> Judgement | None:
    """Compare the numbers, and the records if both lists are complete."""
    records, headers = evidence.get("page/1"), evidence.get("identifiers")
    if headers is None or records is None or not records.is_list:
        return None
    if not headers.is_list:
        return fault(
            f"ListRecords returns a list, but ListIdentifiers returns {headers.outcome}.", headers
        )
    one, other = _size(records), _size(headers)
    if one is None or other is None:
        return None
    if abs(one - other) > max(3, one // 100):
        return fault(
            f"ListRecords has {counted(one, 'record')}, ListIdentifiers {other:,}.", headers
        )
    return ok(f"Both verbs have {counted(other, 'record')}.", headers)


def _size(asked: ProbeExchange) -> int | None:
    """Return the size of a list: as stated, or as counted if it has one page."""
    page = asked.page
    if page is None or page.end_lost:
        return None
    if page.token is not None and page.token.complete_list_size is not None:
        return page.token.complete_list_size
    return len(page.items) if page.next_token is None else None


def get_record_agrees(evidence: Evidence) -> Judgement | None:
    """Compare identifier, datestamp and status."""
    asked, listed = evidence.get("record"), evidence.get("page/1")
    if asked is None or listed is None:
        return None
    wanted = asked.params["identifier"]
    if not asked.items:
        return fault(f"GetRecord of {wanted}, which is listed, returns {asked.outcome}.", asked)
    got = header_of(asked.items[0])
    there = next(h for h in map(header_of, listed.items) if h.identifier == wanted)
    if (got.identifier, got.datestamp) != (there.identifier, there.datestamp):
        return fault(
            f"GetRecord of {wanted} ({there.datestamp}) returns {got.identifier}"
            f" ({got.datestamp}).", asked,
        )  # fmt: skip
    return ok(f"GetRecord returns {wanted} as listed.", asked)


def identifiers_are_identifiers(evidence: Evidence) -> Judgement | None:
    """Check for missing and repeated identifiers, and ones without a scheme."""
    pages = [*evidence.pages, *filter(None, [evidence.get("identifiers")])]
    seen = 0
    for asked in pages:
        aside = asked.page.set_aside if asked.page and not asked.repairs else ()
        if aside:
            return fault(f"{aside[0].where}: {aside[0].reason}.", asked)
        names = identifiers(asked)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            return fault(f"{twice} is listed {names.count(twice)} times in one page.", asked)
        bad = [n for n in names if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+", n)]
        if bad:
            return fault(f"The identifier “{bad[0]}” is not a URI.", asked)
        seen += len(names)
    return ok(f"{seen} identifiers are unique URIs.", pages[0]) if seen else None


def tokens_lead_on(evidence: Evidence) -> Judgement | None:
    """Check each token, sent alone and encoded."""
    sent = [one for role, one in evidence.seen.items() if _is_later_page(role)]
    if not sent:
        return None
    failed = next((one for one in sent if not one.is_list), None)
    if failed is None:
        return ok(f"{len(sent)} tokens returned the next page.", sent[0])
    saved = [
        words
        for role, words in _OTHER_WAYS.items()
        if (other := evidence.get(role)) is not None and other.items
    ]
    way = f" It works {saved[0]}." if saved else ""
    return fault(f"The token of a page returns {failed.outcome}.{way}", failed)


_OTHER_WAYS = {
    "token/verbatim": "if it is sent without encoding",
    "token/with prefix": "if metadataPrefix is sent with it",
}


def _is_later_page(role: str) -> bool:
    return role.startswith("page/") and role != "page/1"


def tokens_can_be_sent_again(evidence: Evidence) -> Judgement | None:
    """Check for the same page, which is needed after a response was lost."""
    again = evidence.get("token/again")
    before = next(
        (
            one
            for one in reversed(evidence.pages)
            if again is not None and one.params.items() >= again.params.items()
        ),
        None,
    )
    if again is None or before is None:
        return None
    if identifiers(again) != identifiers(before) or not again.is_list:
        came = again.outcome if not again.is_list else "other records"
        return fault(f"The last token, sent again, returns {came}.", again)
    return ok("The last token, sent again, returns the same page.", again)


def pages_do_not_repeat(evidence: Evidence) -> Judgement | None:
    """Check that no token or record is repeated."""
    seen: set[str] = set()
    tokens: set[str] = set()
    for asked in evidence.pages:
        token = asked.page.next_token if asked.page is not None else None
        if token is not None and token in tokens:
            return fault(f"The token “{_short(token)}” is issued a second time.", asked)
        names = identifiers(asked)
        repeated = seen & set(names)
        if repeated:
            return fault(f"{min(repeated)} is listed again on a later page.", asked)
        if not names and token is not None:
            return fault("A page without records has a token for a next page.", asked)
        seen |= set(names)
        tokens |= {token} if token is not None else set()
    return (
        ok(f"Each of {len(seen)} records is on only one of {counted(len(evidence.pages), 'page')}.")
        if tokens
        else None
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


def list_size_is_true(evidence: Evidence) -> Judgement | None:
    """Compare the pages, and the number of records if the end was reached."""
    pages = evidence.pages
    sizes = [_stated_size(one) for one in pages]
    if not _with_tokens(evidence):
        return None
    if not any(size is not None for size in sizes):
        return note("There is no completeListSize, so clients cannot tell if a list is complete.",
                    pages[0])  # fmt: skip
    known = [size for size in sizes if size is not None]
    if max(known) - min(known) > max(3, max(known) // 100):
        return fault(f"completeListSize changes from {known[0]:,} to {known[-1]:,}.", pages[-1])
    if not all(map(_is_whole, pages)):
        return None
    sent = sum(map(_sent, pages))
    if _ended(evidence) and sent != known[-1]:
        return fault(
            f"completeListSize is {known[-1]:,}, but there are {sent:,} records.", pages[-1]
        )
    if sent > known[-1]:
        return fault(
            f"completeListSize is {known[-1]:,}, but {sent:,} records were listed.", pages[-1]
        )
    return ok(f"completeListSize is {known[-1]:,} on {counted(len(known), 'page')}.", pages[0])


def _stated_size(asked: ProbeExchange) -> int | None:
    token = asked.page.token if asked.page is not None else None
    return token.complete_list_size if token is not None else None


def cursor_is_true(evidence: Evidence) -> Judgement | None:
    """Check that it starts at 0 and grows by the number of records on each page."""
    before, shown = 0, None
    for asked in evidence.pages:
        element = _token_element(asked)
        stated = element.get("cursor") if element is not None else None
        if stated is not None:
            shown = asked
            if stated.strip() != str(before):
                return fault(
                    f"cursor is {stated}, but {before} records were on earlier pages.", asked
                )
        if not _is_whole(asked):
            break
        before += _sent(asked)
    return ok("cursor counts the records.", shown) if shown is not None else None


def expiry_is_well_formed(evidence: Evidence) -> Judgement | None:
    """Check its spelling, and that it is in UTC and in the future."""
    verdicts = [_end_told(one) for one in _with_tokens(evidence) if one.root is not None]
    wrong = [one for one in verdicts if one.severity is ProbeSeverity.FAULT]
    return next(iter(wrong or verdicts), None)


def _end_told(asked: ProbeExchange) -> Judgement:
    element = _token_element(asked)
    attributes = {str(n): str(v) for n, v in element.items()} if element is not None else {}
    strange = sorted(attributes.keys() - _TOKEN_ATTRIBUTES)
    if strange:
        return fault(f"The token has the attribute {strange[0]}, which does not exist.", asked)
    stated = attributes.get("expirationDate")
    if stated is None:
        return note(
            "There is no expirationDate, so clients cannot know how long a token is valid.", asked
        )
    return _expiry(stated, asked)


def _expiry(stated: str, asked: ProbeExchange) -> Judgement:
    try:
        moment = parse_datestamp(stated)
        exact = Granularity.of(stated) is Granularity.SECOND
    except DatestampError:
        exact = False
    if not exact:
        return fault(f"expirationDate is “{stated}”, which is not a time in UTC.", asked)
    now = _now(asked)
    if now is not None and moment <= now:
        return fault(f"The token had already expired, at {stated}, when it was issued.", asked)
    return ok(f"A new token is valid until {stated}.", asked)


def _now(asked: ProbeExchange) -> datetime | None:
    """Return the time of the repository's clock, by which its tokens expire."""
    return asked.page.response_date if asked.page is not None else None


def the_end_is_marked(evidence: Evidence) -> Judgement | None:
    """Check the last page, if the end of a list of several pages was reached."""
    pages = evidence.pages
    if len(pages) < 2 or not _ended(evidence) or pages[-1].root is None:
        return None
    if _token_element(pages[-1]) is None:
        return fault("The last page has no resumptionToken; it must have an empty one.", pages[-1])
    return ok("The last page has an empty resumptionToken.", pages[-1])


def tokens_are_simple(evidence: Evidence) -> Judgement | None:
    """Check for white space around them and characters that need encoding."""
    found = [one for one in _with_tokens(evidence) if one.root is not None]
    for asked in found:
        element = _token_element(asked)
        text = (element.text or "") if element is not None else ""
        if text != text.strip():
            return note("There is white space around the token, which clients may send too.", asked)
        if not _UNRESERVED.fullmatch(text):
            return note(
                f"The token contains “{_special(text)}”, which some clients send unencoded.", asked
            )
    return ok("Tokens consist of letters, digits and -._~ only.", found[0]) if found else None


def _special(text: str) -> str:
    return next(letter for letter in text if not _UNRESERVED.fullmatch(letter))


def readable(headers: Sequence[Header]) -> list[tuple[Header, datetime]]:
    """Return headers with their parsed datestamps, without those that cannot be parsed."""
    read = ((header, datestamp_or_none(header.datestamp)) for header in headers)
    return [(header, moment) for header, moment in read if moment is not None]
