"""Fetch one address: the exchange, its record in an archive, and what follows from it.

What can be tried again is not an outcome yet; what a server or a network did to us always is
one, never an error of ours.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, islice
from urllib.parse import urljoin

from crawlmatch.errors import BadAddress
from politeweb.addresses import host_of
from politeweb.answers import BUSY, REDIRECTS, retry_after
from politeweb.codings import CodingBroken
from politeweb.errors import RequestRefused, ResponseTooLarge
from politeweb.exchange import Exchanges, FailureKind, Known, Taken
from politeweb.robots import Robots
from politeweb.warc.pairs import Revisit, exchange_records, packed_metadata
from politeweb.warc.writing import WarcFiles
from silocrawl import crawl_log
from silocrawl.addresses import fetched_form
from silocrawl.answers import Answers, LastAnswer
from silocrawl.cdxj import line_of
from silocrawl.found_links import (
    MOST_BYTES,
    FoundLink,
    is_html,
    links_of_header,
    links_of_html,
    links_of_sitemap,
)
from silocrawl.messages import CrawlAddress
from silocrawl.scope import is_trap
from silocrawl.targets import CrawlTarget, Limits

LONGEST_PAUSE = 86_400.0
"""Most seconds for which a host may ask to be left alone."""
PAUSES = (5.0, 30.0, 120.0)
"""Before further attempts at an address that did not answer."""
_MOST_REDIRECTS, _MOST_EMBEDS = 10, 2
"""In a row."""
_MOST_DOCUMENTS = 50
"""Of a page that its line in the log names."""
_SITEMAPS = frozenset({"text/xml", "application/xml", "text/plain"})
_MEDIA_TYPE = re.compile(r"\s*([a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127})(?:[;,\s]|$)")
"""Source: RFC 6838, section 4.2."""
MOST_ROBOTS, SECONDS_OF_ROBOTS = 512_000, 60.0
"""Of a robots.txt that are read; RFC 9309, section 2.5, asks for 500 KiB at least."""
_NOT_MODIFIED = 304
_FAILURES = {
    FailureKind.UNKNOWN_HOST: crawl_log.DNS,
    FailureKind.NO_CONNECTION: crawl_log.CONNECT,
    FailureKind.TIME: crawl_log.TIME,
    FailureKind.TLS: crawl_log.TLS,
    FailureKind.PRIVATE: crawl_log.PRIVATE,
}
_FOR_EVER = frozenset({FailureKind.PRIVATE})
_UNNOTICED = frozenset({FailureKind.PRIVATE, FailureKind.UNKNOWN_HOST})
_OF_THE_NET = frozenset({crawl_log.DNS, crawl_log.CONNECT, crawl_log.LOST, crawl_log.TIME})
"""Failures that are archived, as other crawls may want to know them."""
_NEVER = ".invalid"
"""The end of the names of hosts that no DNS resolves (RFC 6761, section 6.4)."""
_CUT = {"length": "lenTrunc", "time": "timeTrunc", "disconnect": "midFetchTrunc"}


@dataclass(slots=True)
class Fetched:
    """What came of an attempt.

    Attributes:
        outcome: None if the address is to be tried again.
        reason, again: Why, and after how many seconds; None: never.
        hold: Seconds for which the host asks to be left alone.
        log, index: Lines of the crawl log and of the index; empty if there are none.
        answer: What is noted of the address for the next time.
        hops: Where the crawl goes on, but for addresses that are known to be in the queue.
        is_counted: Whether it counts towards the limits.
        size: Bytes of the body.
        is_asked: Whether the host may have noticed; if not, it need not be left alone.
        parts: What a browser fetched for the page.
        links: What is on the page that the browser shows.
        is_untouched: Whether there was no attempt, so that none is counted.
        is_private: Whether it was refused because its host is not public.
    """

    outcome: crawl_log.CrawlOutcome | None = None
    reason: str = ""
    again: float | None = 0.0
    hold: float = 0.0
    log: str = ""
    index: str = ""
    answer: LastAnswer | None = None
    hops: list[CrawlAddress] = field(default_factory=list)
    is_counted: bool = False
    size: int = 0
    is_asked: bool = True
    parts: list["Fetched"] = field(default_factory=list)
    links: list[FoundLink] = field(default_factory=list)
    is_untouched: bool = False
    is_private: bool = False


Render = Callable[[CrawlAddress, Taken, CrawlTarget | None], Fetched]
"""Shows an archived page to a browser; returns its `parts`, `links`, or a `reason` against it."""


class Fetcher:
    """Fetches addresses; threads may share it.

    Args:
        exchanges: Sends the requests.
        archive: Where exchanges are recorded.
        answers: What addresses answered before.
        brief: Sends the requests for robots.txt, with limits of their own.
        pauses: Seconds before further attempts at an address that did not answer.
        known: Launch and address of links that need not be told, as they are in the queue; others
            may be, too.
    """

    def __init__(
        self,
        exchanges: Exchanges,
        archive: WarcFiles,
        answers: Answers,
        brief: Exchanges,
        pauses: tuple[float, ...] = PAUSES,
        *,
        known: Container[tuple[str, str]] = (),
    ) -> None:
        self._exchanges, self._archive, self._answers = exchanges, archive, answers
        self._brief, self._pauses, self._known = brief, pauses, known
        self._silent: dict[str, tuple[int, str]] = {}  # host → why it has no robots.txt
        self.robots = Robots(self._robots_text)

    def fetch(
        self,
        one: CrawlAddress,
        target: CrawlTarget | None,
        tries: int,
        render: Render | None = None,
    ) -> Fetched:
        """Make an attempt.

        Args:
            target: Its target; None if it is gone, or for what was injected.
            tries: Which attempt this is, from 1 on.
            render: Called if it is a page.

        Raises:
            OSError: The disk refused.
        """
        if (found := self._without_request(one, target, tries)) is not None:
            found.is_asked = False
            return found
        last = None if one.is_forced else self._answers.last(one.url)
        try:
            known = last.known if last is not None and render is None else None
            taken = self._exchanges.take(one.url, known=known)
        except RequestRefused as error:
            return self._without_answer(one, crawl_log.BAD_ADDRESS, str(error))
        with taken:
            found = self._unsettled(one, tries, taken)
            if found is None:
                shown = render(one, taken, target) if render and _is_page(taken) else Fetched()
                is_again = shown.again and tries <= len(self._pauses)
                found = shown if is_again else self._kept(one, target, taken, last, shown)
        found.is_asked = taken.failure is None or taken.failure.kind not in _UNNOTICED
        return found

    def _without_request(
        self, one: CrawlAddress, target: CrawlTarget | None, tries: int
    ) -> Fetched | None:
        """What comes of an address that is not asked for; None if it is."""
        limits = target.limits if target is not None else Limits()
        if said := self._refused(one, target, limits):
            return self._without_answer(one, crawl_log.OUT_OF_SCOPE, said)
        if not self.robots.answered(one.url):
            status, reason = self._silent.get(
                host_of(one.url), (crawl_log.ROBOTS_UNKNOWN, "robots.txt")
            )
            return self._try_again(one, status, reason, tries)
        if not self.robots.allows(one.url):
            return self._without_answer(one, crawl_log.ROBOTS, "robots.txt")
        return None

    def keep_part(self, one: CrawlAddress, taken: Taken, last: LastAnswer | None) -> Fetched:
        """Archive an exchange of a page; it has an outcome, and is not tried again.

        Args:
            taken: The exchange.
            last: What the address answered before.

        Raises:
            OSError: The disk refused.
        """
        if taken.head is not None:
            return self._archived(one, taken, last or self._answers.last(one.url))
        assert taken.failure is not None
        status = _FAILURES.get(taken.failure.kind, crawl_log.LOST)
        return self._without_answer(one, status, taken.failure.reason, taken)

    def _refused(self, one: CrawlAddress, target: CrawlTarget | None, limits: Limits) -> str:
        """Why an address is not fetched; empty if it is."""
        if is_trap(one.url):
            return "trap"
        if target is None:
            return ""
        if target.scope.is_ignored(one.url):
            return "ignored"
        if len(one.path) > limits.hops:
            return "tooManyHops"
        began = one.launched
        if began is not None and (datetime.now(UTC) - began).total_seconds() > limits.seconds:
            return "timeLimit"
        spent = self._answers.spent(one.launch, one.source)
        if spent.pages >= limits.pages:
            return "pageLimit"
        return "sizeLimit" if spent.bytes >= limits.bytes else ""

    # ------------------------------------------------------------------ answers

    def _unsettled(self, one: CrawlAddress, tries: int, taken: Taken) -> Fetched | None:
        """What is to be tried again, or has no answer; None if there is one to be archived."""
        if taken.head is None:
            assert taken.failure is not None
            kind, reason = taken.failure.kind, taken.failure.reason
            status = _FAILURES.get(kind, crawl_log.LOST)
            if kind in _FOR_EVER:
                return self._without_answer(one, status, reason, taken)
            return self._try_again(one, status, reason, tries, taken)
        if taken.head.status in BUSY and tries <= len(self._pauses):
            hold = _hold_of(taken)
            pause = max(hold, self._pauses[tries - 1])
            return Fetched(reason=f"status {taken.head.status}", again=pause, hold=pause)
        if taken.truncated == "disconnect" and tries <= len(self._pauses):
            return self._try_again(one, crawl_log.LOST, "the body broke off", tries)
        return None

    def _kept(
        self,
        one: CrawlAddress,
        target: CrawlTarget | None,
        taken: Taken,
        last: LastAnswer | None,
        shown: Fetched,
    ) -> Fetched:
        links = chain(self._links(taken), shown.links)
        parts = {part.outcome.url for part in shown.parts if part.outcome is not None}
        hops, documents = self._hops(one, target, taken, links)
        hops = [hop for hop in hops if not (hop.path.endswith("E") and hop.url in parts)]
        notes = (shown.reason,) if shown.reason else ()
        found = self._archived(one, taken, last, documents, notes)
        found.hold, found.hops, found.parts = _hold_of(taken), hops, shown.parts
        return found

    def _archived(
        self,
        one: CrawlAddress,
        taken: Taken,
        last: LastAnswer | None,
        documents: tuple[str, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Fetched:
        assert taken.head is not None
        head, body = taken.head, taken.body
        digest, annotations = body.digest, list(notes)
        mimetype = media_type_of(head.get("content-type"))
        revisit, status = None, head.status
        if status == _NOT_MODIFIED and last is not None:
            annotations.append("duplicate:server-not-modified")
            digest, mimetype = last.digest, last.mimetype
            revisit = Revisit(one.url, last.date, digest, is_unmodified=True)
        elif last is not None and body.length and (digest, status) == (last.digest, last.status):
            annotations.append("duplicate:digest")
            revisit = Revisit(one.url, last.date, digest)
        if taken.truncated:
            annotations.append(_CUT[taken.truncated])
        answered, asked = exchange_records(taken, self._about(one), revisit)
        response = CountedPieces(answered)
        name, place = self._archive.append(chain(response, asked))
        outcome = crawl_log.CrawlOutcome(
            timestamp=f"{taken.began.astimezone(UTC):%Y%m%d%H%M%S}",
            url=one.url,
            status_code=status,
            mimetype=mimetype or "unknown",
            content_digest=f"sha1:{digest}",
            size=body.length,
            hop_path=one.path,
            via=one.via,
            seed=one.source,
            launch=one.launch,
            record=one.record,
            warc_filename=name,
            warc_offset=place,
            redirect=_target_of(taken),
            documents=documents,
            annotations=tuple(annotations),
        )
        known = Known(head.get("etag"), head.get("last-modified"))
        answer = LastAnswer(outcome.timestamp, digest, status, mimetype, known)
        is_new = revisit is None and status == 200 and not taken.truncated
        return Fetched(
            outcome,
            log=crawl_log.line_of(outcome, taken.began, taken.seconds),
            index=line_of(outcome, response.length),
            answer=answer if is_new else None,
            is_counted=True,
            size=body.length,
        )

    def _about(self, one: CrawlAddress) -> dict[str, str]:
        return {"WARC-Source-URI": one.source} if one.source != one.url else {}

    def _without_answer(
        self, one: CrawlAddress, status: int, reason: str, taken: Taken | None = None
    ) -> Fetched:
        """The outcome of an address that was not fetched."""
        began = taken.began if taken is not None else datetime.now(UTC)
        seconds = taken.seconds if taken is not None else 0.0
        name, place = "", -1
        if status in _OF_THE_NET:
            name, place = self._archived_failure(one, status, reason, began, seconds)
        outcome = crawl_log.CrawlOutcome(
            timestamp=f"{began.astimezone(UTC):%Y%m%d%H%M%S}",
            url=one.url,
            status_code=status,
            hop_path=one.path,
            via=one.via,
            seed=one.source,
            launch=one.launch,
            record=one.record,
            warc_filename=name,
            warc_offset=place,
            annotations=(reason.replace(",", ";"),) if reason else (),
        )
        failure = taken.failure if taken is not None else None
        return Fetched(
            outcome,
            log=crawl_log.line_of(outcome, began, seconds),
            is_private=failure is not None and failure.kind in _FOR_EVER,
        )

    def _archived_failure(
        self, one: CrawlAddress, status: int, reason: str, began: datetime, seconds: float
    ) -> tuple[str, int]:
        said = {
            "via": one.via if one.path else "",
            "hopsFromSeed": one.path,
            "fetchTimeMs": str(round(seconds * 1000)),
            "fetchStatus": str(status),
            "fetchFailure": reason,
        }
        said = {name: value for name, value in said.items() if value}
        return self._archive.append(packed_metadata(one.url, began, said, self._about(one)))

    def _try_again(
        self, one: CrawlAddress, status: int, reason: str, tries: int, taken: Taken | None = None
    ) -> Fetched:
        if tries <= len(self._pauses) and not host_of(one.url).endswith(_NEVER):
            return Fetched(reason=reason, again=self._pauses[tries - 1])
        return self._without_answer(one, status, reason, taken)

    # ------------------------------------------------------------------ hops

    def _hops(
        self,
        one: CrawlAddress,
        target: CrawlTarget | None,
        taken: Taken,
        links: Iterable[FoundLink],
    ) -> tuple[list[CrawlAddress], tuple[str, ...]]:
        """Where the crawl goes on from an answer, and the first documents that its page links to.

        Addresses that are known to be in the queue are not among the former.
        """
        assert taken.head is not None
        if place := _target_of(taken):
            in_a_row = len(one.path) - len(one.path.rstrip("R"))
            return ([one.hop(place, "R")] if in_a_row < _MOST_REDIRECTS else []), ()
        if target is None or taken.head.status != 200:
            return [], ()
        hops, documents = dict[CrawlAddress, None](), dict[str, None]()
        scope, seed, launch, known = target.scope, one.source, one.launch, self._known
        embeds = len(one.path) - len(one.path.rstrip("E")) + 1
        is_followed = not one.path.strip("R") or scope.has(seed, one.url)
        for url, letter, is_document in links:
            if letter == "E":
                is_wanted = embeds <= _MOST_EMBEDS and not is_trap(url)
            elif is_followed:
                is_wanted, is_named = scope.judged(seed, url, is_document)
                if is_wanted and is_named and letter == "L":
                    documents[url] = None
            else:
                continue
            if is_wanted and (letter == "R" or (launch, url) not in known):
                hops[one.hop(url, letter)] = None
        return list(hops), tuple(islice(documents, _MOST_DOCUMENTS))

    def _links(self, taken: Taken) -> Iterator[FoundLink]:
        assert taken.head is not None
        _, _, rest = taken.head.get("content-type").partition(";")
        mimetype = media_type_of(taken.head.get("content-type"))
        yield from links_of_header(taken.head.get("link"), taken.url)
        is_sitemap = mimetype in _SITEMAPS and "sitemap" in taken.url.lower()
        if not (is_html(mimetype) or is_sitemap):
            return
        content = _begin_of(taken, MOST_BYTES)
        if is_sitemap:
            yield from links_of_sitemap(content, taken.url)
        else:
            charset = rest.lower().partition("charset=")[2].split(";")[0].strip("\"' ")
            yield from links_of_html(content, taken.url, charset)

    def _robots_text(self, url: str) -> str | None:
        """The robots.txt of a host, after at most five redirects (RFC 9309, section 2.3.1)."""
        asked = url
        for _ in range(6):
            try:
                taken = self._brief.take(url)
            except RequestRefused:
                return ""  # the address itself is refused in the same way
            with taken:
                if taken.failure is not None:
                    if taken.failure.kind in _FOR_EVER:
                        return ""  # the address itself is refused in the same way
                    status = _FAILURES.get(taken.failure.kind, crawl_log.LOST)
                    self._silent[host_of(asked)] = status, taken.failure.reason
                    return None
                if taken.head is None or taken.head.status >= 500:
                    return None
                if taken.truncated and taken.truncated != "length":
                    return None  # what is lost may forbid everything
                if not (place := _target_of(taken)):
                    return (
                        _begin_of(taken, MOST_ROBOTS).decode("utf-8", "replace")
                        if taken.head.status < 300
                        else ""
                    )
                url = place
        return ""


class CountedPieces:
    """Pieces, and how many bytes they have."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces, self.length = pieces, 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.length += len(piece)
            yield piece


def _is_page(taken: Taken) -> bool:
    """Whether a browser can show an answer."""
    assert taken.head is not None
    mimetype = media_type_of(taken.head.get("content-type"))
    is_shown = not taken.head.get("content-disposition").lower().startswith("attachment")
    return taken.head.status == 200 and is_html(mimetype) and is_shown


def media_type_of(value: str) -> str:
    """The media type of a ``Content-Type``; empty for what is none, as text of a forger."""
    found = _MEDIA_TYPE.match(value.lower())
    return found[1] if found else ""


def _begin_of(taken: Taken, most: int) -> bytes:
    """The first bytes of a body without its content coding; less if that is broken."""
    found = bytearray()
    with suppress(CodingBroken, ResponseTooLarge):
        for piece in taken.content(1 << 40):
            found += piece[: most - len(found)]
            if len(found) == most:
                break
    return bytes(found)


def _target_of(taken: Taken) -> str:
    """Where a redirect leads to, in its fetched form; empty if it is not one."""
    if taken.head is None or taken.head.status not in REDIRECTS:
        return ""
    place = taken.head.get("location")
    try:
        url = fetched_form(urljoin(taken.url, place)) if place else ""
    except (BadAddress, ValueError):
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def _hold_of(taken: Taken) -> float:
    """Seconds for which a host asks to be left alone."""
    head = taken.head
    if head is None or head.status not in BUSY:
        return 0.0
    return min(retry_after(head.get("retry-after"), datetime.now(UTC)) or 0.0, LONGEST_PAUSE)
