"""The work on the queues: launch what is due, fetch, index, and check what was launched.

What threads have fetched is kept together, in this order: archive, log, index, what is noted for
the next time, and last the acknowledgement with the messages that follow. So a process that is
killed at any point loses nothing, and an address that was fetched in vain is fetched again.
"""

import logging
import os
import queue
import random
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from politeweb.exchange import Exchanges
from politeweb.file_pace import FilePace
from politeweb.pace import Turns
from politeweb.public_hosts import is_public_peer
from politeweb.settings import HttpSettings
from politeweb.shared_pace import PaceSpec, turns_of
from politeweb.warc.writing import WarcFiles
from recordsilo import Silo
from recordsilo.disk.atomic_file import append_lines
from silocrawl.answers import Answers
from silocrawl.cataloguing import documents_of
from silocrawl.cdxj import Segments
from silocrawl.checks import check_launched
from silocrawl.crew import Crew
from silocrawl.errors import CrawlingError, MessageInvalid, TargetNotFound, TargetRefused
from silocrawl.fetching import MOST_ROBOTS, PAUSES, SECONDS_OF_ROBOTS, Fetched, Fetcher
from silocrawl.frontier import Frontier, HeldMessage
from silocrawl.launching import due_of, launch_due
from silocrawl.messages import CRAWL, QUEUES, RENDER, CrawlAddress, address_of, message_of
from silocrawl.packages.checkpointing import Checkpointing
from silocrawl.paths import answers_file, archives_directory, index_directory, log_file
from silocrawl.rendering import BrowserMissing, Renderer, browser_settings
from silocrawl.sharing import fetching_alone, tell_targets, told_target
from silocrawl.silence import Silence
from silocrawl.targets import CrawlTarget, load_target, target_names
from silowork.errors import QueueUnreachable
from silowork.queues.values import Message, MessageState, Queued, Queues
from silowork.stop import Stop

SECONDS_BETWEEN_LAUNCHES, SECONDS_BETWEEN_BATCHES, SECONDS_BETWEEN_RENEWALS = 10.0, 0.5, 5.0
MOST_HELD, MOST_OF_A_HOST, MOST_TOGETHER = {CRAWL: 2_000, RENDER: 200}, 200, 500
"""Addresses that are held at a time, of one host, and that are kept together."""
HELD_OF_SHARED, OF_A_HOST_OF_SHARED = 100, 10
"""The same where others take from the queues, too, and are to have a share."""
MOST_TAKEN = 40
"""How often messages are taken before something else is done, such as renewing leases."""
MOST_HOPS_TOGETHER, MOST_RESULTS = 20_000, 100
"""Hops that follow from what is kept together, about; and results that wait to be kept."""
MOST_REMEMBERED = 50_000
"""Addresses of which a process knows that they are in the queue: most links lead to these."""
SECONDS_TO_END = 10.0
LEAST_RATE = 1_000.0
"""Bytes a second, at the mean of a minute, below which a body is cut."""
NODES_WITHOUT_BROKER = 4
"""As many machines share a host at most, for the moments in which the broker is not reached."""
MOST_PACES_OPEN = 64
"""Hosts whose pace is an open file; each needs three descriptors."""
MOST_UNEXPECTED = 5
"""After how many tries an address whose fetch fails for reasons of ours is a dead letter."""
SECONDS_OF_MEMORY = 400 * 86_400.0
"""How long it is remembered which addresses a launch has fetched: for annual ones, too."""
_WITHOUT_TARGET = "%s; what waits of it, as %s, is fetched, but no links of it are followed"

logger = logging.getLogger("silocrawl")


class CrawlRunning(CrawlingError):
    """Another process fetches for the Silo on this machine."""

    def __init__(self, silo_path: str) -> None:
        super().__init__(
            f"a crawl of {silo_path} is running already; it also fetches what is launched now"
        )


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """How a process crawls.

    Attributes:
        threads: Addresses that are fetched at a time, each of another host; those that take long
            are not counted, up to four times as many.
        interval: Least seconds between the starts of two requests to a host.
        is_private: Whether addresses that are not public are fetched.
        http: Limits of size and time of an exchange.
        pauses: Seconds before further attempts at an address that did not answer.
        broker: URL of the Redis that has the queues, and gives the turns of hosts to all that take
            from them; empty if this process alone fetches for the queues.
        node: Name of this machine, in the names of the logs; empty if no other one fetches.
        browsers: Pages that are rendered at a time.
        has_sandbox: Whether the browsers' processes are locked in.
        is_bridged: Whether addresses are left to others, who take them by a bridge: then pages are
            rendered, and nothing else is fetched.
    """

    threads: int = 16
    interval: float = 1.0
    is_private: bool = False
    http: HttpSettings = field(
        default_factory=lambda: HttpSettings(
            max_response=1_000_000_000, total_timeout=3_600.0, least_rate=LEAST_RATE
        )
    )
    pauses: tuple[float, ...] = PAUSES
    browsers: int = 1
    has_sandbox: bool = True
    broker: str = ""
    node: str = ""
    is_bridged: bool = False


@dataclass(slots=True)
class CrawlSummary:
    """What a run did.

    Attributes:
        fetched: Addresses with an outcome.
        answered: Of them, those that were answered.
        bytes: Of their bodies.
        private: Refused because their hosts are not public.
        overdue: Fetched addresses that were not in the index.
        no_browser: Why nothing is rendered; empty if it is.
    """

    fetched: int = 0
    answered: int = 0
    bytes: int = 0
    private: int = 0
    overdue: int = 0
    no_browser: str = ""


class CrawlWorker:
    """Fetches for a Silo; one process of a machine does.

    Args:
        queues: Its queues; their leases are longer than `SECONDS_BETWEEN_RENEWALS`.
        settings: How it crawls.
    """

    def __init__(self, silo: Silo, queues: Queues, settings: CrawlSettings) -> None:
        self._silo, self._queues, self._settings = silo, queues, settings
        self._targets: dict[str, tuple[float, CrawlTarget | None]] = {}
        self._told: dict[str, CrawlAddress] = {}  # targets that are missing, each told once
        self._turns: dict[str, Turns] = {}
        self._open_paces: dict[str, FilePace] = {}  # the one used last at the end
        self._paces_lock = threading.Lock()
        self._held = threading.Condition()
        self._frontiers = {name: Frontier(self._turns_of, time.monotonic) for name in MOST_HELD}
        self._results: queue.Queue[tuple[HeldMessage, Fetched] | OSError] = queue.Queue(
            MOST_RESULTS
        )
        self._are_many = threading.Event()
        self._crew = Crew(self._fetch_all, settings.threads)
        self._rendering: list[threading.Thread] = []
        self._put: dict[tuple[str, str], None] = {}  # launches and addresses that were put
        self._ended = False
        self.summary = CrawlSummary()

    def run(
        self,
        stop: Stop,
        *,
        until_idle: bool = False,
        shown: Callable[[CrawlSummary, int], object] | None = None,
        waits: Callable[[str], object] = lambda _said: None,
    ) -> CrawlSummary:
        """Work until asked to stop.

        Args:
            stop: Asks to end; what is being fetched then is fetched again by the next run.
            until_idle: End when nothing is due or queued.
            shown: Told of the progress: what was done, and how many addresses are held.
            waits: Told which hosts are waited for, when nothing is fetched for a while.

        Raises:
            CrawlRunning: Another process fetches for the Silo.
            OSError: The disk refused.
        """
        path, settings = self._silo.path, self._settings
        with ExitStack() as stack:
            if not settings.broker:
                if not stack.enter_context(fetching_alone(path)):
                    raise CrawlRunning(path)
                self._take_over()
            allowed = None if settings.is_private else is_public_peer
            exchanges = stack.enter_context(Exchanges(settings.http, is_allowed=allowed))
            brief = stack.enter_context(Exchanges(_brief(settings.http), is_allowed=allowed))
            series = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}Z"
            archive = WarcFiles(archives_directory(path), series, {"isPartOf": "crawl"})
            stack.callback(archive.close)
            answers = stack.enter_context(Answers(answers_file(path)))
            self._archive, self._answers = archive, answers
            self._checkpoints = Checkpointing(path, self._queues, archive, _told_of(settings))
            self._segments = Segments(index_directory(path), path)
            pauses = settings.pauses
            self._fetcher = Fetcher(exchanges, archive, answers, brief, pauses, known=self._put)
            self._start_rendering()
            try:
                self._work(stop, until_idle, shown, Silence(waits))
            finally:
                self._end(exchanges, brief)
        return self.summary

    def _take_over(self) -> None:
        """Give back what a killed process had taken: there is no other one, as the lock shows."""
        for name in [RENDER] if self._settings.is_bridged else self._frontiers:
            while taken := self._queues.peek(name, MessageState.TAKEN, MOST_TOGETHER):
                self._queues.give_back(taken)

    def _work(
        self,
        stop: Stop,
        until_idle: bool,
        shown: Callable[[CrawlSummary, int], object] | None,
        silence: Silence,
    ) -> None:
        launched = renewed = float("-inf")
        told = 0
        unread: set[str] = set()
        for name in QUEUES:
            self._queues.forget(name, time.time() - SECONDS_OF_MEMORY)
        while not stop.asked:
            now = time.monotonic()
            if now - launched >= SECONDS_BETWEEN_LAUNCHES:
                launched = now
                if self._settings.broker:
                    tell_targets(self._silo.path, self._queues)
                launch_due(self._silo, self._queues, told=unread)
            self.summary.overdue += check_launched(
                self._queues,
                self._segments,
                self._answers,
                is_shared=bool(self._settings.broker),
            )
            if now - renewed >= SECONDS_BETWEEN_RENEWALS:
                renewed = now
                with self._held:
                    messages = [one.messages for one in self._frontiers.values()]
                for some in messages:
                    self._queues.renew(some)
            self._crew.fill()
            self._refill()
            self._keep(self._next_results(SECONDS_BETWEEN_BATCHES))
            self._checkpoints.look()
            if shown is not None and self.summary.fetched > told:
                told = self.summary.fetched
                shown(self.summary, sum(map(len, self._frontiers.values())))
            if until_idle and self._is_idle():
                return
            silence.look(self.summary.fetched, self._waited_for)

    def _waited_for(self) -> list[str]:
        """The hosts of what is held, and of some that is to be tried again."""
        with self._held:
            hosts = [host for one in self._frontiers.values() for host in one.hosts]
        for name in self._worked_on:
            for message in self._queues.peek(name, MessageState.LATER):
                with suppress(MessageInvalid):
                    hosts.append(HeldMessage.of(message, address_of(message.body)).host)
        return hosts

    def _end(self, *exchanges: Exchanges) -> None:
        """Keep what was fetched, and give back the rest, also what is being fetched."""
        with self._held:
            self._ended = True
            self._held.notify_all()
        for some in exchanges:
            some.abort()
        found, end = [], time.monotonic() + SECONDS_TO_END
        try:
            while self._is_at_work() and time.monotonic() < end:
                found += self._next_results(0.1)  # threads may wait for room for theirs
            self._keep(found + self._next_results(0.0))
        finally:
            with self._held:
                messages = [one.messages for one in self._frontiers.values()]
            for held in messages:
                self._queues.give_back(held)
            with self._paces_lock:
                self._close_paces(0)

    def _is_at_work(self) -> bool:
        return not self._crew.is_empty or any(one.is_alive() for one in self._rendering)

    # ------------------------------------------------------------------ threads

    def _start_rendering(self) -> None:
        """Start the threads that have pages shown by browsers, if there is one."""
        one = self._settings
        try:
            browser = browser_settings(has_sandbox=one.has_sandbox, is_private=one.is_private)
        except BrowserMissing as error:
            self.summary.no_browser = str(error)
            return
        for _ in range(one.browsers):
            renderer = Renderer(self._silo.path, browser, lambda: self._ended)
            thread = threading.Thread(target=self._render_all, args=(renderer,), daemon=True)
            self._rendering.append(thread)
            thread.start()

    def _render_all(self, renderer: Renderer) -> None:
        """A thread: have one page after the other rendered."""
        try:
            while (held := self._next_address(RENDER)) is not None:
                self._tell(held, self._fetched(held, renderer))
        finally:
            renderer.close()

    def _fetch_all(self) -> None:
        """A thread: fetch one address after the other."""
        while not self._crew.has_surplus() and (held := self._next_address(CRAWL)) is not None:
            with self._crew.busy():
                found = self._fetched(held)
            self._tell(held, found)
        with self._held:
            self._held.notify()  # another thread takes the next address

    def _tell(self, held: HeldMessage, found: Fetched | OSError) -> None:
        """Give the main thread what was fetched."""
        if self._ended and isinstance(found, Fetched):
            return  # it may have been cut short by us; the next run fetches it
        try:
            with self._held:
                is_asked = not isinstance(found, Fetched) or found.is_asked
                self._frontiers[held.message.queue].ended(held, is_asked=is_asked)
        except OSError as error:  # the file of the hosts' turns
            found = error
        self._put_result(found if isinstance(found, OSError) else (held, found))

    def _fetched(self, held: HeldMessage, renderer: Renderer | None = None) -> Fetched | OSError:
        """Fetch an address, and leave its host alone afterwards for as long as it asks."""
        one = held.address
        try:
            if renderer is not None:
                renderer.start()
            found = self._fetcher.fetch(one, self._target(one), held.message.tries, renderer)
            self._pause(held, found)
        except BrowserMissing as error:
            self.summary.no_browser = str(error)
            return Fetched(is_untouched=True, is_asked=False)
        except OSError as error:
            return error
        except Exception:  # thread boundary: details go to the log only
            logger.exception("%s", one.url)
            again = 600.0 if held.message.tries < MOST_UNEXPECTED else None
            return Fetched(reason="an unexpected error occurred; see the log", again=again)
        return found

    def _pause(self, held: HeldMessage, found: Fetched) -> None:
        """Leave a host alone for as long as it asks, in an answer or in its robots.txt.

        For an address that is not asked for, its robots.txt is not asked for either.
        """
        delay = self._fetcher.robots.delay(held.address.url) if found.is_asked else 0.0
        pause = max(found.hold, delay if delay > self._settings.interval else 0.0)
        if pause:
            self._turns_of(held).hold(pause)

    def _next_address(self, name: str) -> HeldMessage | None:
        try:
            with self._held:
                while not self._ended:
                    found = self._frontiers[name].next()
                    if isinstance(found, HeldMessage):
                        if self._frontiers[name].has_more:
                            self._held.notify()  # somebody else waits for the next turn
                        return found
                    self._held.wait(found)
        except OSError as error:  # the file of the hosts' turns
            self._put_result(error)
        return None

    def _turns_of(self, held: HeldMessage) -> Turns:
        """The turns of a host: those of the machine, or longer ones that it asks for."""
        host, settings = held.host, self._settings
        with self._paces_lock:
            if host not in self._turns:
                place = settings.broker or os.path.join(self._silo.path, ".silo")
                place = place if settings.interval else ""
                pace = PaceSpec(settings.interval, host, place, nodes=NODES_WITHOUT_BROKER)
                self._turns[host] = turns_of(pace)
            turns = self._turns[host]
            if isinstance(turns, FilePace):
                self._open_paces.pop(host, None)
                self._open_paces[host] = turns
                self._close_paces(MOST_PACES_OPEN)
        return turns

    def _close_paces(self, most: int) -> None:
        """Close the files of the hosts beyond some; the next use opens them again."""
        while len(self._open_paces) > most:
            self._open_paces.pop(next(iter(self._open_paces))).close()

    def _target(self, one: CrawlAddress) -> CrawlTarget | None:
        """The target of an address, read again after a minute; None if there is none."""
        name, now = one.target, time.monotonic()
        until, target = self._targets.get(name, (0.0, None))
        if not name or until > now:
            return target
        try:
            target = told_target(self._silo.path, self._queues, name)
        except QueueUnreachable as error:
            raise OSError(str(error)) from None
        except TargetRefused as error:
            if self._told.setdefault(name, one) is one:
                why = (
                    f"the target {name} was removed"
                    if isinstance(error, TargetNotFound)
                    else str(error)
                )
                logger.warning(_WITHOUT_TARGET, why, one.url)
            target = None
        self._targets[name] = now + 60.0, target
        return target

    # ------------------------------------------------------------------ messages

    def _refill(self) -> None:
        """Take messages; if there are too many of a host, some are given back for later."""
        for name in self._worked_on:
            self._refill_from(name, self._frontiers[name])

    def _refill_from(self, name: str, frontier: Frontier) -> None:
        most, of_a_host = MOST_HELD[name], MOST_OF_A_HOST
        if self._settings.broker:
            most, of_a_host = HELD_OF_SHARED, OF_A_HOST_OF_SHARED
        for _ in range(MOST_TAKEN):
            if len(frontier) >= most:
                with self._held:
                    surplus = frontier.surplus(of_a_host)
                if not surplus:
                    return
                for seconds, some in surplus:
                    wait = seconds
                    if self._settings.broker:  # so that it is not always we who take them again
                        wait *= random.uniform(0.5, 1.5)  # noqa: S311 (no secret)
                    self._queues.give_back([one.message for one in some], wait)
            taken = self._queues.take(name, min(MOST_TOGETHER, most - len(frontier)))
            if not taken:
                return
            self._hold(taken)

    def _hold(self, messages: list[Queued]) -> None:
        """Hold messages of a queue; what cannot be read is a dead letter."""
        held = []
        for message in messages:
            try:
                held.append(HeldMessage.of(message, address_of(message.body)))
            except MessageInvalid as error:
                logger.warning("message %s of %s: %s", message.number, message.queue, error)
                self._queues.failed([message], str(error), None)
        with self._held:
            for one in held:
                self._frontiers[one.message.queue].add(one)
            self._held.notify_all()

    def _next_results(self, seconds: float) -> list[tuple[HeldMessage, Fetched]]:
        """What was fetched in the next seconds, or since the last call.

        Raises:
            OSError: The disk refused.
        """
        found: list[tuple[HeldMessage, Fetched]] = []
        end, hops = time.monotonic() + seconds, 0
        while len(found) < MOST_TOGETHER and hops < MOST_HOPS_TOGETHER:
            try:
                one = self._results.get_nowait()
            except queue.Empty:
                if (left := end - time.monotonic()) <= 0:
                    break
                self._are_many.wait(left)
                self._are_many.clear()
                continue
            if isinstance(one, OSError):
                raise one
            found.append(one)
            hops += len(one[1].hops)
        return found

    def _put_result(self, one: tuple[HeldMessage, Fetched] | OSError) -> None:
        """Leave a result to the main thread, which is woken for an error, or for many of them."""
        self._results.put(one)
        if isinstance(one, OSError) or self._results.qsize() >= MOST_RESULTS // 2:
            self._are_many.set()

    def _keep(self, results: list[tuple[HeldMessage, Fetched]]) -> None:
        """Make what was fetched durable, and acknowledge it with what follows."""
        if not results:
            return
        done = [(held, one) for held, one in results if one.outcome is not None]
        parts = [(held.address, part) for held, one in done for part in (one, *one.parts)]
        self._archive.flush()
        self._write_logs(parts)
        self._segments.add(one.index for _, one in parts if one.index)
        self._answers.keep(
            [(one.outcome.url, one.answer) for _, one in parts if one.outcome and one.answer],
            [(address.launch, address.source, one.size) for address, one in parts
             if one.is_counted],
            [(address.launch, one.outcome.url) for address, one in parts
             if one.outcome and not one.is_counted],
        )  # fmt: skip
        self._acknowledge(results)
        with self._held:
            for held, _ in results:
                self._frontiers[held.message.queue].release(held)
        self.summary.fetched += sum(one.outcome is not None for _, one in parts)
        self.summary.answered += sum(one.is_counted for _, one in parts)
        self.summary.bytes += sum(one.size for _, one in parts)
        self.summary.private += sum(one.is_private for _, one in parts)

    def _documents(self, held: HeldMessage, one: Fetched) -> list[Message]:
        """The message of a document that is to be catalogued; a machine that is told targets has
        no records.
        """
        assert one.outcome is not None
        if self._settings.broker and not target_names(self._silo.path):
            return []
        return documents_of(held.address, one.outcome, self._target(held.address))

    def _acknowledge(self, results: list[tuple[HeldMessage, Fetched]]) -> None:
        """Tell the queues; where a page leads by itself is rendered as the page is."""
        for name in self._frontiers:
            done = [(held, one) for held, one in results
                    if held.message.queue == name and one.outcome is not None]  # fmt: skip
            hops = {(name if hop.path.endswith("R") else CRAWL, hop.key): hop
                    for _, one in done for hop in one.hops}  # fmt: skip
            following = [message_of(hop, queue) for (queue, _), hop in hops.items()]
            following += [message for held, one in done for message in self._documents(held, one)]
            if done:
                self._queues.done([held.message for held, _ in done], following)
            self._remember(hop for (queue, _), hop in hops.items() if queue == CRAWL)
        for held, one in results:
            if one.is_untouched:
                self._queues.give_back([held.message])
            elif one.outcome is None:
                self._queues.failed([held.message], one.reason, one.again)

    def _remember(self, put: Iterable[CrawlAddress]) -> None:
        """Note what was put to be fetched, and forget the oldest."""
        self._put |= dict.fromkeys((one.launch, one.url) for one in put)
        for place in list(islice(self._put, max(0, len(self._put) - MOST_REMEMBERED))):
            del self._put[place]

    def _write_logs(self, parts: list[tuple[CrawlAddress, Fetched]]) -> None:
        lines: dict[str, list[str]] = {}
        for address, one in parts:
            path = log_file(self._silo.path, address.launch, self._settings.node)
            if one.log:
                lines.setdefault(path, []).append(one.log.removesuffix("\n"))
        for path, some in lines.items():
            encoded = (line.encode("utf-8", "surrogateescape") for line in some)
            append_lines(path, encoded, self._silo.path)

    @property
    def _worked_on(self) -> list[str]:
        """The queues whose messages are taken."""
        rendered = [] if self.summary.no_browser else [RENDER]
        return rendered if self._settings.is_bridged else [CRAWL, *rendered]

    def _is_idle(self) -> bool:
        if any(map(len, self._frontiers.values())):
            return False
        open_states = (MessageState.WAITING, MessageState.LATER, MessageState.TAKEN)
        if any(
            self._queues.peek(name, state, 1)
            for name in {CRAWL, *self._worked_on}
            for state in open_states
        ):
            return False
        names = target_names(self._silo.path)
        return not any(_is_due(self._silo, self._queues, one) for one in names)


def _brief(http: HttpSettings) -> HttpSettings:
    """The limits for a robots.txt: a host that sends one without end is soon done with."""
    return replace(
        http,
        max_response=min(http.max_response, MOST_ROBOTS),
        total_timeout=min(http.total_timeout, SECONDS_OF_ROBOTS),
    )


def _told_of(one: CrawlSettings) -> dict[str, Any]:
    """What is kept with checkpoints of how it is crawled."""
    return {
        "threads": one.threads,
        "interval": one.interval,
        "private": one.is_private,
        "browsers": one.browsers,
        "node": one.node,
        "most_bytes": one.http.max_response,
    }


def _is_due(silo: Silo, queues: Queues, name: str) -> bool:
    now = datetime.now(UTC)
    try:
        due = due_of(queues, load_target(silo.path, name), now)
    except TargetRefused:
        return False
    return due is not None and due <= now
