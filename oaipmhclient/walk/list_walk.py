"""Get the pages of one window, despite faults of the repository (OAI-PMH 2.0, section 3.5).

This module sends requests and reads responses; `recovery` decides what to do after a failure, and
`page_facts` what a page shows about its list.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NoReturn

from oaipmhclient.endpoint import Endpoint
from oaipmhclient.pages.requests_and_pages import (
    ListPage,
    VerbRequest,
    list_request,
)
from oaipmhclient.walk.completeness import SET_NOT_LISTED
from oaipmhclient.walk.endpoint_checks import check_alive, check_format, set_has_vanished
from oaipmhclient.walk.endpoint_memory import Companions, EndpointMemory
from oaipmhclient.walk.identifier_set import IdentifierSet
from oaipmhclient.walk.listed_pages import ListCutShort, ListKind, OutsideWindow
from oaipmhclient.walk.narrowing import LASTING, narrowed
from oaipmhclient.walk.page_facts import (
    are_outside,
    are_strictly_outside,
    begins_before,
    digest_of,
    earliest_days,
    headers_of,
    names_on,
    remembering,
    safe_date,
)
from oaipmhclient.walk.page_judgement import Barren, Expectation, judged, was_sent
from oaipmhclient.walk.recovery import (
    DOUBTS,
    ENDS,
    Failure,
    Rung,
    Situation,
    failure_of,
    form_of,
    next_rung,
    remedy_for,
    spell,
)
from oaipmhclient.walk.values import (
    Item,
    ListJob,
    Remedy,
    SplitWindow,
    WalkPage,
    WindowBroken,
    WindowPosition,
)
from oaipmhclient.walk.windows import Window
from oaipmhclient.walk.wire_windows import as_sent, other_granularity
from oaipmhprotocol import Header, OAIError, Verb
from oaipmhprotocol.queries import with_short_tokens
from oaipmhprotocol.words import Argument
from politeweb.answers import Answer
from politeweb.errors import EndpointError, EndpointUnreachable, RetryLater

logger = logging.getLogger("OAIPMH Harvester.requests")

_MUTE = frozenset({Failure.NO_ANSWER, Failure.UNREADABLE, Failure.REFUSED})
"""Failures after which Identify is requested, to check whether the endpoint answers at all."""


def walk_window(
    client: Endpoint,
    reading: ListKind[Item],
    job: ListJob,
    window: Window,
    position: WindowPosition | None = None,
    *,
    quirks: EndpointMemory,
    again: bool = False,
) -> Iterator[WalkPage[Item]]:
    """Yield the pages of a window, from a position on.

    Lazy: store a page and its position before taking the next. The last page's position has
    `ended`; the page may have no record.

    Args:
        client: The repository.
        reading: What is listed, and how a page is read.
        job: Format and set; its bounds show whether the window is a part of the list.
        window: The bounds sent.
        position: The position of an earlier walk of the same window; None for the start.
        quirks: The endpoint's known habits; updated.
        again: Whether the window was requested before, and ended early.

    Raises:
        WindowBroken: The list breaks off; it has the remedy for the window.
        EndpointError: The endpoint no longer answers, or requires a long pause.
        RequestRefused: The job's arguments are invalid.
    """
    at = position or WindowPosition()
    return _Walk(client, reading, job, window, position=at, quirks=quirks, again=again).pages()


@dataclass(frozen=True, slots=True)
class _Got(Generic[Item]):
    """The result of a request.

    Attributes:
        failure: What is wrong with it; None if nothing is.
        cause: The same as an exception.
    """

    request: VerbRequest
    page: ListPage[Item] | None = None
    answer: Answer | None = None
    failure: Failure | None = None
    cause: Exception | None = None


class _Walk(Generic[Item]):
    """A walk: its position, and the state of this process."""

    def __init__(
        self,
        client: Endpoint,
        reading: ListKind[Item],
        job: ListJob,
        window: Window,
        *,
        position: WindowPosition,
        quirks: EndpointMemory,
        again: bool,
    ) -> None:
        self._client = client
        self._reading = reading
        self._job = job
        self._window = window
        self._at = position
        self._quirks = quirks
        self._is_late = position.token is not None
        self._is_again = again
        self._last_request: VerbRequest | None = None
        self._is_cut = (window.from_, window.until) != (job.from_, job.until)
        self._identifiers = IdentifierSet()
        self._kept: _Got[Item] | None = None
        self._barren = Barren()
        self._last = self._shortest = 0  # items on the last page, and on the shortest before it
        self._days: tuple[str | None, str | None] = (None, None)

    def pages(self) -> Iterator[WalkPage[Item]]:
        """Yield the next pages, with as many rungs as needed."""
        while not self._at.ended:
            got = self._known_failure() or self._ask(self._request(None))
            yield self._taken(got, []) if got.failure is None else self._recovered(got)

    def _recovered(self, failed: _Got[Item]) -> WalkPage[Item]:
        """Return the ladder's result after a response failed."""
        tried = [Rung.AGAIN] if self._was_repeated(failed) else []
        while True:
            if self._is_worth_keeping(failed, tried):
                return self._taken(failed, tried)
            rung = self._climb(failed, tried)
            if rung in ENDS:
                return self._end(failed, rung)
            tried.append(rung)
            if rung is Rung.LAST_PAGE and self._finds_token():
                return WalkPage(
                    ListPage(()), failed.request, self._no_answer, self._at, (rung.value,)
                )
            if rung in {Rung.LAST_PAGE, Rung.PROMISE_TESTED}:
                continue
            got = self._ask(self._request(rung))
            if got.failure is None:
                return self._taken(got, tried)
            failed = self._weightier(failed, got, rung)

    def _was_repeated(self, failed: _Got[Item]) -> bool:
        """Whether a truncated page was already requested again, here or by the transport."""
        if failed.failure is not Failure.CUT or failed.answer is None:
            return False
        return failed is self._kept or bool(failed.answer.cut)

    def _weightier(self, failed: _Got[Item], got: _Got[Item], rung: Rung) -> _Got[Item]:
        """Return the more significant of two failures: of the request, or of a rung.

        The failure of another form says nothing about the list (a repository that follows
        section 3.5 answers badArgument to a token with other arguments). The failure of the same
        request does, and so do accepted dates without records.
        """
        if rung is Rung.AGAIN:
            return got
        if got.failure is Failure.NO_RECORDS and self._at.token is None:
            self._learned_of_window(rung)
            return got
        return failed

    # ------------------------------------------------------------------ requests

    def _request(self, rung: Rung | None) -> VerbRequest:
        opening = self._opening(self._reading.verb, rung)
        if self._at.token is None:
            return opening
        spelling, companions = form_of(rung, self._quirks)
        if companions is Companions.DATES:
            opening = self._opening(self._reading.verb, Rung.BOTH_BOUNDS)
        beside = {Companions.NONE: 0, Companions.PREFIX: 1}.get(companions)
        token = (Argument.RESUMPTION_TOKEN.value, spell(self._at.token, spelling))
        return VerbRequest(self._reading.verb, (token, *opening.arguments[:beside]))

    def _opening(
        self, verb: Verb, rung: Rung | None = None, window: Window | None = None
    ) -> VerbRequest:
        """Return the request that begins a list of this or another window."""
        return list_request(
            verb,
            self._job.metadata_prefix,
            **as_sent(window or self._window, self._quirks, rung),
            set_spec=self._job.set_spec,
        )

    def _ask(self, request: VerbRequest) -> _Got[Item]:
        try:
            page, answer = self._client.exchange(request, self._reading.read)
        except RetryLater:
            raise
        except (EndpointError, OAIError) as error:
            return _Got(request, failure=failure_of(error), cause=error)
        has_news = any(name not in self._identifiers for name in names_on(page))
        failure, cause = judged(page, self._expectation, has_news=has_news)
        if failure is None and self._is_not_narrowed(page):
            sentence = f"the list of {self._window} begins like that of another window"
            failure, cause = Failure.OUTSIDE, OutsideWindow(sentence)
        return _Got(request, page, answer, failure, cause)

    def _is_not_narrowed(self, page: ListPage[Item]) -> bool:
        """Whether a window begins with the page of another one, which has other dates.

        This shows that windows have no effect if all records are of a few days or hours; such
        small differences of dates could also come from another time zone.
        """
        names = names_on(page)
        if self._at.token is not None or self._at.pages or not names:
            return False
        opening = digest_of([self._job.metadata_prefix, self._job.set_spec or "", *names])
        is_known = self._quirks.opens_two(opening, str(self._window))
        is_part = self._is_cut and self._quirks.windows_work
        return is_known and is_part and are_strictly_outside(headers_of(page), self._window)

    @property
    def _expectation(self) -> Expectation:
        windows_count = self._is_cut and self._quirks.windows_work
        window = self._window if windows_count else Window()
        return Expectation(self._at, window, self._barren, self._client.base_url)

    def _known_failure(self) -> _Got[Item] | None:
        """Return a failure that is known before a request is sent."""
        at = self._at
        if self._kept is not None:
            return self._kept
        if at.token is None and at.pages:
            cause = ListCutShort(at.promised or 0, at.listed)
            return _Got(self._request(None), failure=Failure.EARLY_END, cause=cause)
        return None

    # ------------------------------------------------------------------ the ladder

    def _climb(self, got: _Got[Item], tried: list[Rung]) -> Rung:
        """Return the next rung; raise a remedy."""
        assert got.failure is not None
        if got.failure is Failure.EARLY_END and self._is_again and not tried:
            self._quirks.repeats_in_vain += 1
        test_date = self._days[1]
        now = Situation(
            got.failure,
            self._at,
            self._window,
            self._is_cut,
            self._is_late,
            self._quirks,
            has_short_page=0 < self._last < self._shortest,
            test_date=test_date,
            has_last_page=self._last_request is not None,
            is_again=self._is_again,
        )
        rung = next_rung(now, tried)
        remedy = remedy_for(rung, now)
        if remedy is not None:
            self._break(got, rung, remedy)
        tested = rung is Rung.PROMISE_TESTED and self._promises_as_much(test_date or "")
        if tested or rung in {Rung.UNBELIEVED, Rung.SHORT_PAGE}:
            self._quirks.promises_kept = False
        logger.info("%s: %s; %s", got.request, got.cause, rung.value)
        return rung

    def _break(self, got: _Got[Item], rung: Rung, remedy: Remedy) -> NoReturn:
        assert got.cause is not None
        cause = got.cause
        if got.failure is Failure.NO_RECORDS and self._at.promised is not None:
            cause = ListCutShort(self._at.promised, self._at.listed)
        if got.failure in _MUTE and not len(self._identifiers):
            check_alive(self._client, got.cause)  # a walk that returned something continues
        is_answered = self._is_cut and self._quirks.windows_answered
        if got.failure is Failure.NO_FORMAT and not (is_answered or len(self._identifiers)):
            check_format(self._client, self._job.metadata_prefix, got.cause)
        if rung is Rung.SINGLE_LIST:
            self._quirks.windows_work = False
        if self._is_at_start and self._window != Window():
            self._quirks.windows_failed += 1
        reads_records = self._reading.verb is Verb.LIST_RECORDS
        if rung is Rung.SPLIT and got.failure in LASTING and reads_records:
            remedy = narrowed(self._client, self._opening(Verb.LIST_IDENTIFIERS), self._quirks)
            rung = Rung.SPLIT if isinstance(remedy, SplitWindow) else Rung.BY_IDENTIFIER
        if rung is Rung.BY_IDENTIFIER and reads_records and self._is_at_start:
            self._quirks.lists_in_vain += 1
        # what the transport could not get, it has told
        level = logging.INFO if isinstance(cause, EndpointUnreachable) else logging.WARNING
        at = "" if str(got.request) in str(cause) else f"{got.request}: "
        logger.log(level, "%s; %s", with_short_tokens(f"{at}{cause}"), rung.value)
        steps = () if rung is Rung.GIVE_UP else (rung.value,)
        raise WindowBroken(cause, self._at, remedy, got.request, steps) from got.cause

    @property
    def _is_at_start(self) -> bool:
        """Whether nothing of the list was received."""
        return self._at.token is None and not self._at.pages

    def _finds_token(self) -> bool:
        """Whether the last page, requested again, has a token; then the walk continues with it."""
        assert self._last_request is not None
        page = self._ask(self._last_request).page
        token = page.next_token if page is not None else None
        if token is None or was_sent(token, self._at):
            return False
        self._at = replace(self._at, token=token)
        return True

    @property
    def _no_answer(self) -> Answer:
        return Answer(b"", self._client.base_url)

    def _promises_as_much(self, day: str) -> bool:
        """Whether the list without its first records promises the same number.

        Then the number is not its size (combine#240: that of the whole repository).
        """
        until = self._window.until
        part = Window(day, max(day, until) if until else None)
        page = self._ask(self._opening(self._reading.verb, window=part)).page
        if page is None or page.token is None or begins_before(headers_of(page), day):
            return False
        return page.token.complete_list_size == self._at.promised

    # ------------------------------------------------------------------ continuing

    def _is_worth_keeping(self, got: _Got[Item], tried: list[Rung]) -> bool:
        """Whether the readable beginning of a truncated page is used.

        The page was requested again, and is still truncated; the rest is searched for next.
        """
        if got.failure is not Failure.CUT or got.page is None or Rung.AGAIN not in tried:
            return False
        return any(one.identifier not in self._identifiers for one in headers_of(got.page))

    def _taken(self, got: _Got[Item], tried: list[Rung]) -> WalkPage[Item]:
        assert got.page is not None
        assert got.answer is not None
        page, headers = got.page, headers_of(got.page)
        if self._reading.verb is Verb.LIST_RECORDS:
            self._quirks.lists_in_vain = 0
        if are_outside(headers, self._window):  # for the user's own dates: more than requested
            self._quirks.windows_work = False
        self._last_request = got.request
        new = sum(self._identifiers.add_all(names_on(page)))
        self._barren = Barren() if new else self._barren.plus(page)
        self._note_length(len(headers) + len(page.set_aside))
        steps = self._learned(tried, new)
        self._days = earliest_days(self._days, headers)
        unnamed = sum(not one.identifier for one in page.set_aside)
        self._at = self._after(got, headers, new + unnamed)
        if page.errors:
            steps += ("error beside records",)
        return WalkPage(page, got.request, got.answer, self._at, steps)

    def _note_length(self, listed: int) -> None:
        if listed and self._last:
            self._shortest = min(self._shortest or self._last, self._last)
        self._last = listed or self._last

    def _learned(self, tried: list[Rung], new: int) -> tuple[str, ...]:
        """Remember what helped for later requests."""
        quirks, rung = self._quirks, tried[-1] if tried else None
        if self._at.token is not None:
            if new:
                quirks.token_proved = True
                quirks.spelling, quirks.companions = form_of(rung, quirks)
            if self._promise_is_passed(new):
                quirks.promises_kept = False
        elif self._is_at_start:
            self._learned_of_window(rung)
        return () if rung is None else (rung.value,)

    def _promise_is_passed(self, new: int) -> bool:
        """Whether there is more than promised, after the previous page reached the number."""
        promised = self._at.promised
        return promised is not None and self._at.listed >= promised and new > 0

    def _learned_of_window(self, rung: Rung | None) -> None:
        quirks = self._quirks
        if rung is Rung.OTHER_GRANULARITY:
            quirks.granularity = other_granularity(self._window)
        elif rung is Rung.BOTH_BOUNDS:
            quirks.both_bounds = True
        elif rung is Rung.AGAIN:
            quirks.empty_denied += 1
        if self._window != Window():
            quirks.windows_answered += 1

    def _after(self, got: _Got[Item], headers: Sequence[Header], new: int) -> WindowPosition:
        """Return the position after a page."""
        at, page = self._at, got.page
        assert page is not None
        is_first = not at.pages and at.token is None
        safe = safe_date(at.safe_from, is_first, headers, self._quirks.granularity)
        if got.failure is Failure.CUT:
            self._kept = got
            return replace(at, listed=at.listed + new, safe_from=safe)
        size = page.token.complete_list_size if page.token is not None else None
        listed, promised = at.listed + new, max(size or 0, at.promised or 0) or None
        if size and at.promised and size != at.promised:
            self._quirks.promises_kept = False
        is_short = promised is not None and listed < promised and self._quirks.promises_kept
        return WindowPosition(
            page.next_token,
            at.pages + 1,
            listed,
            promised,
            safe,
            self._with_page(page),
            at.sent if at.token is None else remembering(at.sent, digest_of([at.token])),
            ended=page.next_token is None and not is_short,
        )

    def _with_page(self, page: ListPage[Item]) -> tuple[str, ...]:
        names = names_on(page)
        return remembering(self._at.seen, digest_of(names)) if names else self._at.seen

    def _end(self, got: _Got[Item], rung: Rung) -> WalkPage[Item]:
        """Return the page that ends the list, without records."""
        self._at = replace(self._at, token=None, ended=True)
        page: ListPage[Item] = ListPage(())
        steps: tuple[str, ...] = (rung.value,)
        if rung is Rung.EMPTY and got.page is not None:
            page, steps = got.page, self._noted_empty()
        elif got.page is not None:
            page = ListPage((), got.page.response_date)
        answer = got.answer or self._no_answer
        doubt = got.cause if rung in DOUBTS else None
        return WalkPage(page, got.request, answer, self._at, steps, doubt=doubt)

    def _noted_empty(self) -> tuple[str, ...]:
        self._quirks.empty_confirmed += 1
        if self._window != Window():
            self._quirks.windows_answered += 1
        return (SET_NOT_LISTED,) if self._set_has_vanished() else ()

    def _set_has_vanished(self) -> bool:
        set_spec = self._job.set_spec
        is_part = self._job.update or self._is_cut
        if set_spec is None or (is_part and self._quirks.sets_checked):
            return False
        self._quirks.sets_checked = True
        return set_has_vanished(self._client, set_spec)
