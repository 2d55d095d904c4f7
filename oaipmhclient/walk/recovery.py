"""Decide what to do if a list breaks off (pure). Read `FIRST_PAGE` and `LATER_PAGE` first.

A ladder is climbed from the left: the next rung is the first that fits the situation and was not
tried for this request yet. Rungs send the request in another form, accept the end of the list, or
return the window to the engine with a remedy. `EndpointMemory` stores what helped, so that the
next request begins there.

Source: OAI-PMH 2.0, sections 2.7.1, 3.5 and 3.6; each rung names the repository that
made it necessary.
"""

import html
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.walk.endpoint_memory import Companions, EndpointMemory, Spelling
from oaipmhclient.walk.values import (
    ByIdentifier,
    GiveUp,
    Remedy,
    RestartFrom,
    SingleList,
    SplitWindow,
    WindowPosition,
)
from oaipmhclient.walk.windows import Window, is_granule
from oaipmhprotocol import (
    BadArgument,
    BadResumptionToken,
    CannotDisseminateFormat,
    NoRecordsMatch,
)
from oaipmhprotocol.datestamps import read_datestamp
from oaipmhprotocol.queries import Verbatim, query_string
from politeweb.errors import EndpointError, HTTPStatusError


class Failure(StrEnum):
    """What is wrong with the response to a list request."""

    NO_RECORDS = "noRecordsMatch"
    BAD_TOKEN = "badResumptionToken"  # noqa: S105 - an error condition, not a secret
    BAD_ARGUMENT = "badArgument"
    NO_FORMAT = "cannotDisseminateFormat"
    OTHER_ERROR = "another error condition"
    UNREADABLE = "no OAI-PMH answer"
    REFUSED = "an HTTP error that is the client's fault"
    NO_ANSWER = "no answer"
    CUT = "an answer cut short"
    CIRCLE = "a circle"
    EMPTY_PAGES = "empty pages without end"
    UNUSABLE_PAGES = "unusable records without end"
    EARLY_END = "an end before what was promised"
    ONE_IDENTIFIER = "one identifier for different records"
    OUTSIDE = "records outside the window"


class Rung(StrEnum):
    """A step of the ladder; the value is its name in the receipt."""

    # send again
    AGAIN = "asked again"
    ENCODED = "token re-encoded"
    VERBATIM = "token sent verbatim"
    DOUBLE = "token encoded twice"
    UNESCAPED = "token with its entities undone"
    WITH_PREFIX = "prefix sent with the token"
    WITH_ALL = "all arguments sent with the token"
    WITH_DATES = "all arguments and both dates sent with the token"
    VERBATIM_WITH_PREFIX = "token sent verbatim, and the prefix with it"
    OTHER_GRANULARITY = "dates sent in the other granularity"
    BOTH_BOUNDS = "from and until sent together"
    LAST_PAGE = "last page asked for again"
    PROMISE_TESTED = "completeListSize tested on a part of the list"
    # accept the end
    EMPTY = "empty list"
    ALL_THERE = "end of a list that has all it promised"
    UNPROMISED = "end of a list that promised nothing"
    UNBELIEVED = "end of a list whose completeListSize is not a count"
    SHORT_PAGE = "end of a list short of what it promised, on a page shorter than the others"
    SHORT = "end of a list short of what it promised"
    # return the window
    RESTART = "window restarted from the last safe date"
    RESTART_ALL = "window restarted"
    AS_IT_WAS = "list asked for again as it was"
    SPLIT = "window split"
    SINGLE_LIST = "listed without windows"
    BY_IDENTIFIER = "records fetched by identifier"
    GIVE_UP = "given up"


_SPELLINGS = (Rung.ENCODED, Rung.VERBATIM, Rung.DOUBLE, Rung.UNESCAPED)
_COMPANY = (Rung.WITH_PREFIX, Rung.WITH_ALL, Rung.VERBATIM_WITH_PREFIX)
_PARTS = (Rung.RESTART, Rung.RESTART_ALL, Rung.SPLIT)
_LAST = (*_PARTS, Rung.BY_IDENTIFIER, Rung.GIVE_UP)

FIRST_PAGE: Mapping[Failure, tuple[Rung, ...]] = {
    # Requested twice: noRecordsMatch may be spurious, or the window is really empty.
    Failure.NO_RECORDS: (Rung.AGAIN, Rung.EMPTY),
    # nakala announces seconds but needs days; zvdd.org accepts no bounds, or only both.
    Failure.BAD_ARGUMENT: (
        Rung.OTHER_GRANULARITY,
        Rung.BOTH_BOUNDS,
        Rung.SINGLE_LIST,
        Rung.BY_IDENTIFIER,
        Rung.GIVE_UP,
    ),
    Failure.BAD_TOKEN: (Rung.AGAIN, *_LAST),
    Failure.NO_FORMAT: (Rung.AGAIN, *_LAST),  # vufind#1237: one record breaks the list
    Failure.OTHER_ERROR: (Rung.AGAIN, Rung.SINGLE_LIST, Rung.BY_IDENTIFIER, Rung.GIVE_UP),
    Failure.UNREADABLE: (Rung.AGAIN, Rung.SPLIT, Rung.SINGLE_LIST, *_LAST),
    Failure.REFUSED: (Rung.SINGLE_LIST, Rung.BY_IDENTIFIER, Rung.GIVE_UP),
    Failure.NO_ANSWER: (Rung.SPLIT, Rung.SINGLE_LIST, *_LAST),  # DSpace#12980: too large
    Failure.CUT: (Rung.AGAIN, Rung.RESTART, Rung.SPLIT, Rung.BY_IDENTIFIER, Rung.GIVE_UP),
    Failure.ONE_IDENTIFIER: (Rung.AGAIN, Rung.GIVE_UP),  # pycsw 2.6.2
    Failure.OUTSIDE: (Rung.SINGLE_LIST, Rung.GIVE_UP),  # pod4lib#873, zvdd.org
    Failure.EARLY_END: (),  # the ladder of later pages serves
    Failure.CIRCLE: (),
    Failure.EMPTY_PAGES: (),
    Failure.UNUSABLE_PAGES: (),
}
"""What to do if the request that begins a list fails."""

LATER_PAGE: Mapping[Failure, tuple[Rung, ...]] = {
    # Some end their lists like this (metha, harvest.go); some answer so to a token they misread.
    Failure.NO_RECORDS: (
        Rung.ALL_THERE,
        Rung.AGAIN,
        Rung.UNPROMISED,
        *_SPELLINGS,
        *_COMPANY,
        *_LAST,
    ),
    # Expired (arXiv, scihist#572), misread (metha#23, dash.harvard.edu), or the end (metha).
    Failure.BAD_TOKEN: (Rung.ALL_THERE, Rung.AGAIN, *_SPELLINGS, *_COMPANY, *_LAST),
    # Zenodo and pycsw 2.6.2 want the prefix again.
    Failure.BAD_ARGUMENT: (*_COMPANY, *_SPELLINGS, *_LAST),
    Failure.NO_FORMAT: (*_COMPANY, Rung.AGAIN, *_LAST),
    Failure.OTHER_ERROR: (Rung.AGAIN, *_COMPANY, *_SPELLINGS, *_LAST),
    Failure.UNREADABLE: (Rung.AGAIN, *_LAST),
    Failure.REFUSED: (*_SPELLINGS, *_COMPANY, *_LAST),
    Failure.NO_ANSWER: _LAST,  # datacite#941: one broken record
    Failure.CUT: (Rung.AGAIN, *_LAST),
    # pycsw starts again; coneda/kor#55 sends the first page for a token it misread.
    Failure.CIRCLE: (
        Rung.ALL_THERE,
        *_SPELLINGS,
        *_COMPANY,
        Rung.UNPROMISED,
        Rung.UNBELIEVED,
        *_LAST,
    ),
    # If nothing was received so far, the next run continues from the last token.
    Failure.EMPTY_PAGES: (
        Rung.ALL_THERE,
        Rung.UNPROMISED,
        Rung.RESTART,
        Rung.BY_IDENTIFIER,
        Rung.GIVE_UP,
    ),
    Failure.UNUSABLE_PAGES: (Rung.ALL_THERE, Rung.RESTART, Rung.BY_IDENTIFIER, Rung.GIVE_UP),
    # OJS 3.3.0 loses the token (pkp-lib#7214), after a full page; combine#240 promises the
    # whole repository, DOAJ#235 a few more than there are.
    Failure.EARLY_END: (
        Rung.LAST_PAGE,
        Rung.UNBELIEVED,
        Rung.PROMISE_TESTED,
        Rung.SHORT_PAGE,
        Rung.RESTART,
        Rung.AS_IT_WAS,
        Rung.SPLIT,
        Rung.SHORT,
    ),
    Failure.ONE_IDENTIFIER: (Rung.AGAIN, *_LAST),
    # PubMed Central lists other dates for a token alone; elsewhere windows have no effect.
    Failure.OUTSIDE: (Rung.WITH_ALL, Rung.WITH_DATES, Rung.SINGLE_LIST, Rung.GIVE_UP),
}
"""What to do if a resumption token leads to a failure."""

ENDS = frozenset(
    {
        Rung.EMPTY,
        Rung.ALL_THERE,
        Rung.UNPROMISED,
        Rung.UNBELIEVED,
        Rung.SHORT_PAGE,
        Rung.SHORT,
    }
)
"""Rungs that accept the end of the list."""
DOUBTS = ENDS - {Rung.EMPTY, Rung.ALL_THERE}
"""Rungs after which only a list of identifiers shows whether all records were received."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The state of the walk when something fails.

    Attributes:
        failure: What failed.
        position: After the last stored page.
        is_cut: Whether the window is narrower than the user's selection.
        is_late: Whether the token is from an earlier run, and may have expired.
        quirks: The endpoint's known habits.
        has_short_page: Whether the last page was shorter than every page before.
        test_date: A day of the list's records before which it has others.
        has_last_page: Whether the request of the last page is known.
        is_again: Whether the same list was requested before, and ended early.
    """

    failure: Failure
    position: WindowPosition
    window: Window
    is_cut: bool
    is_late: bool
    quirks: EndpointMemory
    has_short_page: bool = False
    test_date: str | None = None
    has_last_page: bool = False
    is_again: bool = False

    @property
    def is_first(self) -> bool:
        """Whether it was the first request of the list."""
        return self.position.token is None and self.failure is not Failure.EARLY_END


def next_rung(now: Situation, tried: Collection[Rung]) -> Rung:
    """Return the next rung: the first that fits and was not tried; `Rung.GIVE_UP` at the end."""
    ladder = (FIRST_PAGE if now.is_first else LATER_PAGE)[now.failure]
    fitting = (rung for rung in ladder if rung not in tried and _FITS[rung](now))
    return next(fitting, Rung.GIVE_UP)


def failure_of(cause: Exception) -> Failure:
    """Return the kind of failure of an exception."""
    if isinstance(cause, HTTPStatusError) and cause.status < 500:
        return Failure.REFUSED
    kinds: tuple[tuple[type[Exception], Failure], ...] = (
        (NoRecordsMatch, Failure.NO_RECORDS),
        (BadResumptionToken, Failure.BAD_TOKEN),
        (BadArgument, Failure.BAD_ARGUMENT),
        (CannotDisseminateFormat, Failure.NO_FORMAT),
        (PageUnreadable, Failure.UNREADABLE),
        (EndpointError, Failure.NO_ANSWER),
    )
    found = (failure for kind, failure in kinds if isinstance(cause, kind))
    return next(found, Failure.OTHER_ERROR)


def remedy_for(rung: Rung, now: Situation) -> Remedy | None:
    """Return what the engine does with the window; None for a rung within the walk."""
    match rung:
        case Rung.RESTART:
            return RestartFrom(now.position.safe_from)
        case Rung.RESTART_ALL | Rung.AS_IT_WAS:
            return RestartFrom(None)
        case Rung.SPLIT:
            return SplitWindow()
        case Rung.SINGLE_LIST:
            return SingleList()
        case Rung.BY_IDENTIFIER:
            return ByIdentifier()
        case Rung.GIVE_UP:
            return GiveUp()
        case _:
            return None


# --------------------------------------------------------------------------- tokens


def form_of(rung: Rung | None, quirks: EndpointMemory) -> tuple[Spelling, Companions]:
    """Return the form of a token on a rung; without a rung, the last successful form."""
    match rung:
        case Rung.ENCODED | Rung.VERBATIM | Rung.DOUBLE | Rung.UNESCAPED:
            return Spelling[rung.name], quirks.companions
        case Rung.WITH_PREFIX:
            return quirks.spelling, Companions.PREFIX
        case Rung.WITH_ALL:
            return quirks.spelling, Companions.ALL
        case Rung.WITH_DATES:
            return quirks.spelling, Companions.DATES
        case Rung.VERBATIM_WITH_PREFIX:
            return Spelling.VERBATIM, Companions.PREFIX
        case _:
            return quirks.spelling, quirks.companions


def spell(token: str, spelling: Spelling) -> str:
    """Return a token as a request's argument, which is percent-encoded unless `Verbatim`."""
    match spelling:
        case Spelling.VERBATIM:
            return Verbatim(token)
        case Spelling.DOUBLE:
            return quote(token, safe="")
        case Spelling.UNESCAPED:
            return html.unescape(token)
        case _:
            return token


# --------------------------------------------------------------------------- conditions


def _differs(now: Situation, rung: Rung) -> bool:
    """Whether another spelling of the token changes the URL."""
    token = now.position.token
    if token is None:
        return False
    usual, other = form_of(None, now.quirks)[0], form_of(rung, now.quirks)[0]
    return _in_url(spell(token, usual)) != _in_url(spell(token, other))


def _in_url(value: str) -> str:
    return query_string({"": value})


def _needs_company(now: Situation) -> bool:
    """Whether the token may need other arguments: not if a token alone was accepted."""
    return now.position.token is not None and not now.quirks.token_proved


def _needs_dates(now: Situation) -> bool:
    """Whether a token that leads to other dates may need those of its list beside it."""
    is_outside = now.failure is Failure.OUTSIDE and now.position.token is not None
    return is_outside and now.quirks.companions is not Companions.DATES


def _asks_again(now: Situation) -> bool:
    """Whether to repeat the request: an empty window only until empty responses prove reliable."""
    is_window = now.window != Window()
    is_empty = now.failure is Failure.NO_RECORDS and now.is_first
    return not (is_empty and is_window and now.quirks.believes_empty)


def _is_all_there(now: Situation) -> bool:
    promised = now.position.promised
    kept = now.quirks.promises_kept and promised is not None
    return kept and now.position.listed >= (promised or 0)


def _is_unbelieved(now: Situation) -> bool:
    """Whether the promised number is known not to be the size of this list."""
    return now.position.promised is not None and not now.quirks.promises_kept


def _is_bare(now: Situation) -> bool:
    """Whether there were only empty pages so far."""
    return now.failure is Failure.EMPTY_PAGES and not now.position.listed


def _lacks_much(now: Situation) -> bool:
    """Whether so many records are missing that a list of identifiers is not cheaper."""
    lacking = (now.position.promised or 0) - now.position.listed
    return lacking > max(3, (now.position.promised or 0) // 20)


def _splits(now: Situation) -> bool:
    if not now.quirks.windows_usable or is_granule(now.window) or _is_dead(now):
        return False
    return now.failure is not Failure.EARLY_END or _lacks_much(now)


def _is_dead(now: Situation) -> bool:
    """Whether shorter lists would not begin either."""
    return now.is_first and now.quirks.lists_are_dead


def _progresses(now: Situation) -> bool:
    """Whether a safe date is after the beginning of the window."""
    safe, begin = now.position.safe_from, now.window.from_
    if not now.quirks.windows_usable or safe is None:
        return False
    return begin is None or read_datestamp(safe) > read_datestamp(begin)


def _windows_are_in_vain(now: Situation) -> bool:
    quirks = now.quirks
    if not now.is_cut or not quirks.windows_work:
        return False
    if now.failure is Failure.OUTSIDE:
        return True
    if now.failure in {Failure.NO_ANSWER, Failure.UNREADABLE}:
        return not quirks.windows_usable
    return not quirks.windows_answered


def _always(_now: Situation) -> bool:
    return True


_FITS: Mapping[Rung, Callable[[Situation], bool]] = {
    Rung.AGAIN: _asks_again,
    Rung.ENCODED: lambda now: _differs(now, Rung.ENCODED),
    Rung.VERBATIM: lambda now: _differs(now, Rung.VERBATIM),
    Rung.DOUBLE: lambda now: _differs(now, Rung.DOUBLE),
    Rung.UNESCAPED: lambda now: _differs(now, Rung.UNESCAPED),
    Rung.WITH_PREFIX: _needs_company,
    Rung.WITH_ALL: lambda now: (
        _needs_company(now) or (_needs_dates(now) and now.quirks.companions is not Companions.ALL)
    ),
    Rung.WITH_DATES: _needs_dates,
    Rung.VERBATIM_WITH_PREFIX: lambda now: _needs_company(now) and _differs(now, Rung.VERBATIM),
    Rung.OTHER_GRANULARITY: lambda now: now.quirks.granularity is None and now.window != Window(),
    Rung.BOTH_BOUNDS: lambda now: (
        not now.quirks.both_bounds and (now.window.from_ is None) != (now.window.until is None)
    ),
    Rung.LAST_PAGE: lambda now: now.has_last_page,
    Rung.PROMISE_TESTED: lambda now: now.quirks.windows_usable and now.test_date is not None,
    Rung.EMPTY: _always,
    Rung.ALL_THERE: _is_all_there,
    Rung.UNPROMISED: lambda now: now.position.promised is None and not _is_bare(now),
    Rung.UNBELIEVED: _is_unbelieved,
    Rung.SHORT_PAGE: lambda now: now.has_short_page,
    Rung.SHORT: _always,
    Rung.RESTART: _progresses,
    Rung.RESTART_ALL: lambda now: now.is_late,
    Rung.AS_IT_WAS: lambda now: not now.is_again and now.quirks.may_repeat and _lacks_much(now),
    Rung.SPLIT: _splits,
    Rung.SINGLE_LIST: _windows_are_in_vain,
    Rung.BY_IDENTIFIER: lambda now: now.quirks.identifiers_work and not _is_bare(now),
    Rung.GIVE_UP: _always,
}
