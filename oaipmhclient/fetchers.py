"""Fetching threads: one connection each, one window each, one page at a time.

Only records that are requested one by one have no order; a thread may then send several requests
at once, over further connections.

A thread fetches and parses a page, passes it on, and requests the next page only after this one
is stored: nothing is fetched ahead, because some servers accept a resumption token only once
(kor#110). The thread that calls `Fetchers.next` stores everything.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic

from oaipmhclient.client import Client
from oaipmhclient.endpoint import Endpoint
from oaipmhclient.transport.http_transport import Transport
from oaipmhclient.walk.single_records import R, T, Together
from oaipmhclient.walk.values import WalkPage
from oaipmhprotocol import Record
from politeweb.answers import Answer, Exchange, Traffic
from politeweb.answers import AttemptOutcome as Answered
from politeweb.closing import Closing

Walk = Callable[[Client, Together], Iterator[WalkPage[Record]]]
"""Walks a window with a client; for single records, it may send several requests at once."""

SECONDS_BETWEEN_LOOKS = 1.0
"""A signal that comes just before a wait does not end it; it is handled after this time."""
JOIN_SECONDS = 10.0
"""Seconds to wait for threads with aborted connections; later they end by their timeouts."""


class FetchingEnded(Exception):
    """Ends a fetching thread; not raised outside this module's threads."""


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of a thread.

    Attributes:
        window: The window's id.
        page: A page; None if the walk ended or failed.
        failure: The exception with which it failed; None otherwise.
        seconds: How long the server took for the page.
        answers: In how many responses.
        refused: Whether the server refused or timed out meanwhile (429, 503, timeouts).
    """

    window: int
    page: WalkPage[Record] | None = None
    failure: BaseException | None = None
    seconds: float = 0.0
    refused: bool = False
    answers: int = 1


class Woken:
    """`Fetchers.wake` was called."""


class Lane:
    """Connects a fetching thread with its transport; passed to `OpenClient`.

    Attributes:
        seconds: Duration of the answered exchanges since the last page.
        answers: Their number.
        refused: Whether one of them was refused or timed out.
    """

    def __init__(self, ended: threading.Event) -> None:
        self._ended = ended
        self.begin()

    def on_exchange(self, exchange: Exchange) -> None:
        """Record an attempt."""
        if exchange.outcome in {Answered.REFUSED, Answered.TIMED_OUT}:
            self.refused = True
        elif exchange.outcome is Answered.ANSWERED:
            self.seconds += exchange.seconds
            self.answers += 1

    def sleep(self, seconds: float) -> None:
        """Sleep, unless the threads are ending."""
        if self._ended.wait(seconds):
            raise FetchingEnded

    def begin(self) -> None:
        """Reset the values of the last page."""
        self.seconds, self.answers, self.refused = 0.0, 0, False

    def add(self, other: "Lane") -> None:
        """Add the values of a lane that helped."""
        self.seconds += other.seconds
        self.answers += other.answers
        self.refused = self.refused or other.refused


class Lent:
    """A transport that the caller owns: it is not closed here."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Fetch with the borrowed transport."""
        return self._inner.fetch(params)


OpenClient = Callable[[Lane], Client]
"""Makes a client for one thread; its transport uses the lane to sleep and to report exchanges."""


class _Helpers:
    """Sends several requests at once for one fetching thread, each in a thread of its own.

    Args:
        lane: The fetching thread's.
        open_client: Makes further clients.
        ended: Set when the threads are ending.

    Attributes:
        most: How many requests may be in flight at once, that of the fetching thread included.
        clients: The further clients.
    """

    def __init__(self, lane: Lane, open_client: OpenClient, ended: threading.Event) -> None:
        self._lane = lane
        self._open_client = open_client
        self._ended = ended
        self._lanes: list[Lane] = []
        self.most = 1
        self.clients: list[Client] = []

    def together(self, client: Endpoint) -> Together:
        """Return a `Together` with the fetching thread's client and the further ones."""

        def asked(ask: Callable[[Endpoint, T], R], about: Sequence[T]) -> Sequence[R]:
            helpers = self._helpers(min(self.most, len(about)) - 1)
            return _Shared(ask, about).by(client, helpers)

        return asked

    def begin(self, most: int) -> None:
        """Begin a step with at most so many requests in flight."""
        self.most = most
        for lane in self._lanes:
            lane.begin()

    def sum_up(self) -> None:
        """Add what the helpers needed in a step to the lane of the fetching thread."""
        for lane in self._lanes:
            self._lane.add(lane)

    def _helpers(self, count: int) -> Sequence[Client]:
        while len(self.clients) < count:
            lane = Lane(self._ended)
            self.clients.append(self._open_client(lane))
            self._lanes.append(lane)
        return self.clients[: max(0, count)]


class _Shared(Generic[T, R]):
    """Questions that several threads share until all are answered, or one fails."""

    def __init__(self, ask: Callable[[Endpoint, T], R], about: Sequence[T]) -> None:
        self._ask = ask
        self._left = iter(enumerate(about))
        self._lock = threading.Lock()
        self._found: dict[int, R] = {}
        self._failures: list[BaseException] = []

    def by(self, client: Endpoint, helpers: Sequence[Endpoint]) -> list[R]:
        """Ask in this thread and in one for each helper; return the results in order."""
        threads = [threading.Thread(target=self._work, args=(one,), daemon=True) for one in helpers]
        for one in threads:
            one.start()
        self._work(client)
        for one in threads:
            one.join()
        if self._failures:
            raise self._failures[0]
        return [self._found[place] for place in sorted(self._found)]

    def _work(self, client: Endpoint) -> None:
        while not self._failures and (question := self._next()) is not None:
            place, about = question
            try:
                self._found[place] = self._ask(client, about)
            except BaseException as failure:  # noqa: BLE001 - raised in the fetching thread
                self._failures.append(failure)

    def _next(self) -> tuple[int, T] | None:
        with self._lock:
            return next(self._left, None)


class _Thread:
    """A thread with its client, which runs a walk step by step."""

    def __init__(
        self, number: int, open_client: OpenClient, ended: threading.Event, out: "_Queue"
    ) -> None:
        self._lane = Lane(ended)
        self._open_client = open_client
        self._helpers = _Helpers(self._lane, open_client, ended)
        self._ended = ended
        self._orders: SimpleQueue[tuple[int, Walk | None, int] | None] = SimpleQueue()
        self._out = out
        self.client: Client | None = None
        self.window: int | None = None
        self.thread = threading.Thread(target=self._run, name=f"fetcher-{number}", daemon=True)
        self.thread.start()

    @property
    def clients(self) -> list[Client]:
        """Return its client and those that help it."""
        own = [self.client] if self.client is not None else []
        return own + self._helpers.clients

    def order(self, window: int, walk: Walk | None = None, most: int = 1) -> None:
        """Begin a walk, or do the next step of the current one."""
        self.window = window
        self._orders.put((window, walk, most))

    def end(self) -> None:
        """End the thread when it is idle."""
        self._orders.put(None)

    def join(self, deadline: float) -> None:
        """Wait for the thread's end; abort its current request and any that it begins meanwhile."""
        while self.thread.is_alive() and time.monotonic() < deadline:
            for one in self.clients:
                one.abort()
            self.thread.join(0.1)

    def _run(self) -> None:
        steps: Iterator[WalkPage[Record]] = iter(())
        try:
            while (order := self._orders.get()) is not None:
                window, walk, most = order
                try:
                    if walk is not None:
                        client = self.client = self.client or self._open_client(self._lane)
                        steps = walk(client, self._helpers.together(client))
                    found = self._step(window, steps, most)
                except FetchingEnded:
                    return
                except BaseException as failure:  # noqa: BLE001 - handed to the storing thread
                    found = FetchResult(window, failure=failure, refused=self._lane.refused)
                if self._ended.is_set():
                    return
                self._out.put(found)
                del found  # it may hold a response, and the next order may come late
        finally:
            for one in self.clients:
                one.close()

    def _step(self, window: int, steps: Iterator[WalkPage[Record]], most: int) -> FetchResult:
        lane = self._lane
        lane.begin()
        self._helpers.begin(most)
        began = time.monotonic()
        try:
            page = next(steps, None)
        finally:
            self._helpers.sum_up()
        seconds = lane.seconds or time.monotonic() - began
        return FetchResult(window, page, None, seconds, lane.refused, max(1, lane.answers))


_Queue = SimpleQueue[FetchResult | Woken]


class Fetchers(Closing):
    """The fetching threads of a harvest; one thread uses and closes them.

    A thread is started if none is idle, so there are at most as many as windows are walked at
    once.

    Args:
        open_client: Called in each thread once; the thread closes the client.
    """

    def __init__(self, open_client: OpenClient) -> None:
        self._open_client = open_client
        self._ended = threading.Event()
        self._out: _Queue = SimpleQueue()
        self._threads: list[_Thread] = []

    @property
    def traffic(self) -> Traffic:
        """Return what all threads sent and received."""
        told = [client.traffic for one in self._threads for client in one.clients]
        return Traffic(
            sum(one.sent for one in told),
            sum(one.retried for one in told),
            sum(one.received for one in told),
        )

    @property
    def moved_to(self) -> str:
        """Return the base URL that the repository redirects to; empty without redirects."""
        told = (client.moved_to for one in self._threads for client in one.clients)
        return next(filter(None, told), "")

    def begin(self, window: int, walk: Walk, most: int = 1) -> None:
        """Fetch the first page of a walk, with at most so many requests at once."""
        idle = next((one for one in self._threads if one.window is None), None)
        if idle is None:
            idle = _Thread(len(self._threads) + 1, self._open_client, self._ended, self._out)
            self._threads.append(idle)
        idle.order(window, walk, most)

    def go_on(self, window: int, most: int = 1) -> None:
        """Fetch the next page; the one before is stored."""
        self._thread_of(window).order(window, None, most)

    def drop(self, window: int) -> None:
        """End a walk between two pages; its thread becomes idle."""
        self._thread_of(window).window = None

    def wake(self) -> None:
        """Let `next` return `Woken`; any thread may call it."""
        self._out.put(Woken())

    def next(self) -> FetchResult | Woken:
        """Wait for the next page, end or failure of any window in work, or `Woken`."""
        found = None
        while found is None:
            with suppress(Empty):
                found = self._out.get(timeout=SECONDS_BETWEEN_LOOKS)
        if isinstance(found, FetchResult) and found.page is None:
            self.drop(found.window)
        return found

    def close(self) -> None:
        """End all threads; requests in flight are aborted."""
        self._ended.set()
        for one in self._threads:
            one.end()
        deadline = time.monotonic() + JOIN_SECONDS
        for one in self._threads:
            one.join(deadline)

    def _thread_of(self, window: int) -> _Thread:
        return next(one for one in self._threads if one.window == window)
