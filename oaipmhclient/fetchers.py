"""Fetching threads: one connection each, one window each, one page at a time.

A thread fetches and parses a page, passes it on, and requests the next page only after this one
is stored: nothing is fetched ahead, because some servers accept a resumption token only once
(kor#110). The thread that calls `Fetchers.next` stores everything.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from oaipmhclient.client import Client
from oaipmhclient.transport.http_transport import Transport
from oaipmhclient.walk.values import WalkPage
from politeweb.answers import Answer, Exchange, Traffic
from politeweb.answers import Outcome as Answered

Walk = Callable[[Client], Iterator[WalkPage]]
"""Walks a window with a client."""

SECONDS_BETWEEN_LOOKS = 1.0
"""A signal that comes just before a wait does not end it; it is handled after this time."""
JOIN_SECONDS = 10.0
"""Seconds to wait for threads with aborted connections; later they end by their timeouts."""


class FetchingEnded(Exception):
    """Ends a fetching thread; not raised outside this module's threads."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of a thread.

    Attributes:
        window: The window's id.
        page: A page; None if the walk ended or failed.
        failure: The exception with which it failed; None otherwise.
        seconds: How long the server took for the page.
        refused: Whether the server refused or timed out meanwhile (429, 503, timeouts).
    """

    window: int
    page: WalkPage | None = None
    failure: BaseException | None = None
    seconds: float = 0.0
    refused: bool = False


class Woken:
    """`Fetchers.wake` was called."""


class Lane:
    """Connects a fetching thread with its transport; passed to `OpenClient`.

    Attributes:
        seconds: Duration of the answered exchanges since the last page.
        refused: Whether one of them was refused or timed out.
    """

    def __init__(self, ended: threading.Event) -> None:
        self._ended = ended
        self.seconds = 0.0
        self.refused = False

    def on_exchange(self, exchange: Exchange) -> None:
        """Record an attempt."""
        if exchange.outcome in {Answered.REFUSED, Answered.TIMED_OUT}:
            self.refused = True
        elif exchange.outcome is Answered.ANSWERED:
            self.seconds += exchange.seconds

    def sleep(self, seconds: float) -> None:
        """Sleep, unless the threads are ending."""
        if self._ended.wait(seconds):
            raise FetchingEnded

    def begin(self) -> None:
        """Reset the values of the last page."""
        self.seconds, self.refused = 0.0, False


class Lent:
    """A transport that the caller owns: it is not closed here."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Fetch with the borrowed transport."""
        return self._inner.fetch(params)


OpenClient = Callable[[Lane], Client]
"""Makes a client for one thread; its transport uses the lane to sleep and to report exchanges."""


class _Thread:
    """A thread with its client, which runs a walk step by step."""

    def __init__(
        self, number: int, open_client: OpenClient, ended: threading.Event, out: "_Queue"
    ) -> None:
        self._lane = Lane(ended)
        self._open_client = open_client
        self._ended = ended
        self._orders: SimpleQueue[tuple[int, Walk | None] | None] = SimpleQueue()
        self._out = out
        self.client: Client | None = None
        self.window: int | None = None
        self.thread = threading.Thread(target=self._run, name=f"fetcher-{number}", daemon=True)
        self.thread.start()

    def order(self, window: int, walk: Walk | None = None) -> None:
        """Begin a walk, or do the next step of the current one."""
        self.window = window
        self._orders.put((window, walk))

    def end(self) -> None:
        """End the thread when it is idle."""
        self._orders.put(None)

    def join(self, deadline: float) -> None:
        """Wait for the thread's end; abort its current request and any that it begins meanwhile."""
        while self.thread.is_alive() and time.monotonic() < deadline:
            if self.client is not None:
                self.client.abort()
            self.thread.join(0.1)

    def _run(self) -> None:
        steps: Iterator[WalkPage] = iter(())
        try:
            while (order := self._orders.get()) is not None:
                window, walk = order
                try:
                    if walk is not None:
                        steps = walk(self._opened())
                    found = self._step(window, steps)
                except FetchingEnded:
                    return
                except BaseException as failure:  # noqa: BLE001 - handed to the storing thread
                    found = Fetched(window, failure=failure, refused=self._lane.refused)
                if self._ended.is_set():
                    return
                self._out.put(found)
                del found  # it may hold a response, and the next order may come late
        finally:
            if self.client is not None:
                self.client.close()

    def _opened(self) -> Client:
        if self.client is None:
            self.client = self._open_client(self._lane)
        return self.client

    def _step(self, window: int, steps: Iterator[WalkPage]) -> Fetched:
        self._lane.begin()
        began = time.monotonic()
        page = next(steps, None)
        seconds = self._lane.seconds or time.monotonic() - began
        return Fetched(window, page, None, seconds, self._lane.refused)


_Queue = SimpleQueue[Fetched | Woken]


class Fetchers:
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
        told = [one.client.traffic for one in self._threads if one.client is not None]
        return Traffic(
            sum(one.sent for one in told),
            sum(one.retried for one in told),
            sum(one.received for one in told),
        )

    @property
    def moved_to(self) -> str:
        """Return the base URL that the repository redirects to; empty without redirects."""
        told = (one.client.moved_to for one in self._threads if one.client is not None)
        return next(filter(None, told), "")

    def begin(self, window: int, walk: Walk) -> None:
        """Fetch the first page of a walk."""
        idle = next((one for one in self._threads if one.window is None), None)
        if idle is None:
            idle = _Thread(len(self._threads) + 1, self._open_client, self._ended, self._out)
            self._threads.append(idle)
        idle.order(window, walk)

    def go_on(self, window: int) -> None:
        """Fetch the next page; the one before is stored."""
        self._thread_of(window).order(window)

    def drop(self, window: int) -> None:
        """End a walk between two pages; its thread becomes idle."""
        self._thread_of(window).window = None

    def wake(self) -> None:
        """Let `next` return `Woken`; any thread may call it."""
        self._out.put(Woken())

    def next(self) -> Fetched | Woken:
        """Wait for the next page, end or failure of any window in work, or `Woken`."""
        found = None
        while found is None:
            with suppress(Empty):
                found = self._out.get(timeout=SECONDS_BETWEEN_LOOKS)
        if isinstance(found, Fetched) and found.page is None:
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

    def __enter__(self) -> "Fetchers":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _thread_of(self, window: int) -> _Thread:
        return next(one for one in self._threads if one.window == window)
