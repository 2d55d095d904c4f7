"""A browser that shows pages, in a process of its own: what it asks for is fetched and archived.

The browser has no network. Each of its requests is paused (Fetch domain of the Chrome DevTools
Protocol) and answered with what `politeweb.exchange` received. So addresses are checked where the
connection is made, limits hold while a body comes, and records are those of the fetcher.

Source: chromedevtools.github.io, *Fetch domain*.
"""

import asyncio
import json
import os
import re
import tempfile
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar

from crawlmatch.errors import BadAddress
from politeweb.codings import CodingBroken
from politeweb.errors import RequestRefused, ResponseTooLarge
from politeweb.exchange import Exchanges, FailureKind, Taken
from politeweb.public_hosts import is_public_peer
from politeweb.settings import HttpSettings, own_name
from politeweb.warc.pairs import exchange_records, resource_record
from politeweb.warc.writing import WarcFiles
from recordsilo.disk.atomic_file import Staging
from recordsilo.extras import needed
from silocrawl.addresses import DOM, PICTURE, REQUESTS, TEXT, fetched_form
from silocrawl.answers import Answers, LastAnswer
from silocrawl.cdxj import line_of
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.fetching import CountedPieces, Fetched, Fetcher
from silocrawl.found_links import FoundLink, links_of_html
from silocrawl.messages import CrawlAddress
from silocrawl.paths import answers_file, archives_directory
from silocrawl.scope import Scope
from silowork.warm_children import Parent

MOST_PAGES, MOST_MEMORY = 100, 1_500_000_000
"""After which a browser is replaced: pages, and bytes of its processes."""
MOST_REQUESTS, MOST_BYTES, MOST_OF_A_BODY = 1_000, 200_000_000, 10_000_000
"""Of a page; a longer body is left to the fetcher."""
SECONDS_BETWEEN_LOOKS, LOOKS_THAT_ARE_QUIET = 0.1, 4
WIDTH, HEIGHT, MOST_HEIGHT = 1280, 1024, 10_000
"""Of the window, and of the picture of a page, in pixels."""
MOST_OF_A_TEXT = 10_000_000
_CONNECTIONS = 6
_HTTP = HttpSettings(
    user_agent="Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
    f" Chrome/140.0.0.0 Safari/537.36 {own_name()}",
    connect_timeout=10.0, read_timeout=15.0, total_timeout=30.0, max_response=MOST_OF_A_BODY,
)  # fmt: skip
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-proxy-server",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=512",
    "--disable-dev-shm-usage",
)
"""No network, whatever a page tries beside the requests that are paused; bounded memory."""
_SECRET = frozenset({"cookie", "authorization"})
_OURS = frozenset({"user-agent", "accept-encoding", "range", "host", "content-length"})
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_REASONS = {
    FailureKind.UNKNOWN_HOST: "NameNotResolved",
    FailureKind.TIME: "TimedOut",
    FailureKind.PRIVATE: "BlockedByClient",
    FailureKind.NO_CONNECTION: "ConnectionRefused",
}
_LONGEST_TITLE = 10_000
_MOST_PLACES = 10
"""To which a page goes by itself; each is a page to be shown."""
_IS_COMPLETE = "document.readyState === 'complete'"
_SCROLL = f"""(async () => {{
  const end = () => Math.min(document.documentElement.scrollHeight, {MOST_HEIGHT});
  for (let y = 0; y < end(); y += innerHeight) {{
    scrollTo(0, y);
    await new Promise(done => setTimeout(done, 50));
  }}
  scrollTo(0, 0);
  const begin = (value, most) => String(value).slice(0, most);
  return [end(), begin(document.title, {_LONGEST_TITLE}),
          document.body ? begin(document.body.innerText, {MOST_OF_A_TEXT}) : ''];
}})()"""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """How pages are shown.

    Attributes:
        program: Path of the browser.
        has_sandbox: Whether its processes are locked in, which they refuse under root.
        is_private: Whether addresses that are not public are fetched.
        proxy: Answers all requests instead of the hosts, with any certificate; empty for none.
        seconds: For a page to load; half of it until it asks for nothing more, and for a picture.
    """

    program: str
    has_sandbox: bool = True
    is_private: bool = False
    proxy: str = ""
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class PageToShow:
    """A page to be shown, which was received already.

    Attributes:
        address: Its address.
        began: When it was requested; aware.
        headers: Of its response.
        body: Its body, without content coding.
        scope: Says what is never fetched.
    """

    address: CrawlAddress
    began: datetime
    headers: list[dict[str, str]]
    body: bytes
    scope: Scope


@dataclass(frozen=True, slots=True)
class Measured:
    """What a page looks like.

    Attributes:
        height: In pixels, from 1 to `MOST_HEIGHT`.
        title, text: At most so much as is kept.
    """

    height: int
    title: str
    text: str

    @classmethod
    def of(cls, said: Any) -> "Measured":
        """Read what the page says, which is the work of anybody: its elements may have any name."""
        height, title, text = said if isinstance(said, list) and len(said) == 3 else (0, "", "")
        is_number = isinstance(height, (int, float)) and 0 < height < float("inf")
        texts = [one if isinstance(one, str) else "" for one in (title, text)]
        return cls(min(max(1, int(height)), MOST_HEIGHT) if is_number else HEIGHT, *texts)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the browser is told.

    Attributes:
        status, headers, body: Of a response.
        failure: In the words of the protocol; empty if there is a response.
    """

    status: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    body: bytes = b""
    failure: str = ""

    def command(self, number: str) -> tuple[str, dict[str, Any]]:
        """The command of the protocol, for the request of this number."""
        if self.failure:
            return "Fetch.failRequest", {"requestId": number, "errorReason": self.failure}
        return "Fetch.fulfillRequest", {
            "requestId": number,
            "responseCode": self.status,
            "responseHeaders": self.headers,
            "body": b64encode(self.body).decode(),
        }


def headers_of(taken: Taken) -> list[dict[str, str]]:
    """The headers of a response for the browser, which gets the body without its coding."""
    assert taken.head is not None
    said = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in taken.head.fields]
    return [
        {"name": name, "value": value}
        for name, value in said
        if name.lower() not in _OF_THE_BODY and _NAME.fullmatch(name) and value.isprintable()
    ]


# --------------------------------------------------------------------------- the process


def show_pages(parent: Parent, silo_path: str, settings: BrowserSettings) -> None:
    """Show the pages that the parent orders, until it asks to end or a new browser is due.

    The parent hears a sentence first, empty if the browser has started; then, for each
    `PageToShow`, a `Fetched` and whether this was the last one.
    """
    with suppress(PermissionError):
        os.setsid()  # an interrupt at the terminal ends the parent, which ends this process
    asyncio.run(_show_pages(parent, silo_path, settings))


async def _show_pages(parent: Parent, silo_path: str, settings: BrowserSettings) -> None:
    api = needed("playwright.async_api", "rendering", "render", package="playwright")
    allowed = None if settings.is_private else is_public_peer
    async with AsyncExitStack() as stack:
        proxy = settings.proxy or None
        http = replace(_HTTP, proxy=proxy, insecure=proxy is not None)
        exchanges = stack.enter_context(Exchanges(http, is_allowed=allowed))
        series = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}Z"
        archive = WarcFiles(archives_directory(silo_path), series, {"isPartOf": "crawl"})
        stack.callback(archive.close)
        answers = stack.enter_context(Answers(answers_file(silo_path)))
        fetcher = Fetcher(exchanges, archive, answers, exchanges)
        try:
            os.environ["TMPDIR"] = stack.enter_context(_temporary_directory())
            playwright = await stack.enter_async_context(api.async_playwright())
            browser = await playwright.chromium.launch(
                executable_path=settings.program,
                chromium_sandbox=settings.has_sandbox,
                args=_ARGUMENTS,
            )
        except (api.Error, OSError) as error:
            parent.say(str(error))
            return
        parent.say("")
        archiving, step = _Archiving(exchanges, archive, fetcher), settings.seconds / 2
        for number in range(1, MOST_PAGES + 1):
            order = await asyncio.to_thread(parent.hear)
            if order is None:
                break
            shown = await _ShownPage(api, archiving, order, step).shown_by(browser)
            archive.flush()
            is_last = number == MOST_PAGES or bool(shown.reason) or _memory() > MOST_MEMORY
            parent.say((shown, is_last))
            if is_last:
                break
        await _within(step, browser.close())


@contextmanager
def _temporary_directory() -> Iterator[str]:
    """A directory for the browser's files; those of browsers that were killed are removed.

    It is not in the Silo, where the path of a socket of the full browser could be too long.

    Raises:
        OSError: It cannot be made, or somebody else has made the one above it.
    """
    above = os.path.join(tempfile.gettempdir(), f"silo-browsers-{os.geteuid()}")
    os.makedirs(above, 0o700, exist_ok=True)
    if os.path.islink(above) or os.lstat(above).st_uid != os.geteuid():
        raise PermissionError(f"{above} is another user's; remove it, or set TMPDIR")
    staging = Staging(above)
    try:
        yield staging.directory()
    finally:
        staging.close()


async def _within(seconds: float, what: Awaitable[T], *, of: type[Exception] = OSError) -> T | None:
    """The result of something; None if it fails, or takes too long."""
    try:
        return await asyncio.wait_for(what, seconds)
    except (of, TimeoutError):
        return None


def _memory() -> int:
    """Bytes of memory that the processes below this one have for themselves."""
    found, waiting = 0, [str(os.getpid())]
    while waiting:
        place = f"/proc/{waiting.pop()}"
        with suppress(OSError, ValueError):
            for thread in os.listdir(f"{place}/task"):
                with open(f"{place}/task/{thread}/children", encoding="ascii") as file:
                    waiting += file.read().split()
            with open(f"{place}/statm", encoding="ascii") as file:
                _, resident, shared, *_ = map(int, file.read().split())
                found += (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return found


# --------------------------------------------------------------------------- requests


class _Archiving:
    """Sends the requests of pages, and archives what comes; threads may share it."""

    def __init__(self, exchanges: Exchanges, archive: WarcFiles, fetcher: Fetcher) -> None:
        self._exchanges, self.archive, self._fetcher = exchanges, archive, fetcher
        self.threads = ThreadPoolExecutor(_CONNECTIONS, "request")

    def abort(self) -> None:
        """Close all connections."""
        self._exchanges.abort()

    def sent(self, page: "_ShownPage", request: dict[str, Any]) -> Reply:
        """Send a request; note on its page what came of it."""
        try:
            address = page.order.address.hop(fetched_form(request["url"]), "E")
            taken = self._taken(request)
        except (BadAddress, RequestRefused):
            return Reply(failure="InvalidResponse")
        with taken:
            if page.is_over:
                return Reply(failure="Aborted")
            if taken.truncated == "length" and request["method"] == "GET":
                page.links.append(FoundLink(address.url, "E"))
                return Reply(failure="Aborted")
            if request["method"] != "GET":
                self._archive_other(address, taken)
            else:
                page.has(self._fetcher.keep_part(address, taken, page.known.get(address.url)))
            page.list(request, taken)
            return _reply_of(taken)

    def _taken(self, request: dict[str, Any]) -> Taken:
        said, secret = dict[str, str](), dict[str, str]()
        for name, value in request["headers"].items():
            if name.lower() not in _OURS:
                (secret if name.lower() in _SECRET else said)[name] = value
        parts = [b64decode(one.get("bytes", "")) for one in request.get("postDataEntries", ())]
        return self._exchanges.take(
            request["url"], said, method=request["method"], secrets=secret, body=b"".join(parts)
        )

    def _archive_other(self, address: CrawlAddress, taken: Taken) -> None:
        """Archive what is not the answer of its address to everybody, as that to a form."""
        if taken.head is not None:
            self.archive.append(
                chain(*exchange_records(taken, {"WARC-Source-URI": address.source}))
            )


def _reply_of(taken: Taken) -> Reply:
    if taken.head is None:
        assert taken.failure is not None
        return Reply(failure=_REASONS.get(taken.failure.kind, "ConnectionFailed"))
    try:
        body = b"".join(taken.content(MOST_OF_A_BODY))
    except (CodingBroken, ResponseTooLarge):
        return Reply(failure="Failed")
    if taken.truncated:
        return Reply(failure="ConnectionClosed")
    return Reply(taken.head.status, headers_of(taken), body)


# --------------------------------------------------------------------------- a page


class _ShownPage:
    """A page while it is shown.

    Attributes:
        links: Where it leads to.
        parts: What was fetched for it.
        known: What its addresses answered.
        is_over: Whether nothing more is fetched.
    """

    def __init__(self, api: Any, archiving: _Archiving, order: PageToShow, step: float) -> None:
        self._api, self._archiving, self.order, self._step = api, archiving, order, step
        self.links: list[FoundLink] = []
        self.parts: list[Fetched] = []
        self.known: dict[str, LastAnswer] = {}
        self.is_over = False
        self._listed: list[dict[str, Any]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_begun, self._asked, self._size = False, 0, 0
        self._session: Any = None
        self._frame = ""

    async def shown_by(self, browser: Any) -> Fetched:
        """Show it; return what was fetched, and a reason if it could not be shown to the end."""
        context = await browser.new_context(
            service_workers="block",
            accept_downloads=False,
            user_agent=_HTTP.headers["User-Agent"],
            viewport={"width": WIDTH, "height": HEIGHT},
        )
        try:
            content, picture, said = await self._loaded(context)
        except (self._api.Error, TimeoutError):
            content, picture, said = "", None, None
        self.is_over = True
        self._archiving.abort()
        await self._tried(context.close())
        if said is None:
            return Fetched(parts=self.parts, links=self.links, reason="notRendered")
        url = self.order.address.url
        self.links += links_of_html(content.encode("utf-8", "replace"), url, "utf-8")
        self._keep_resources(content, picture, said)
        return Fetched(parts=self.parts, links=self.links)

    async def _loaded(self, context: Any) -> tuple[str, bytes | None, Measured | None]:
        """The DOM; a picture, if one could be taken; what it looks like, if it answers."""
        page = await context.new_page()
        context.on("page", lambda other: asyncio.ensure_future(self._tried(other.close())))
        self._session = await context.new_cdp_session(page)
        tree = await self._session.send("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        self._session.on("Fetch.requestPaused", self._paused)
        await self._session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
        begun = page.goto(self.order.address.url, wait_until="commit", timeout=0)
        await self._tried(begun)
        await self._tried(self._quiet(), 2 * self._step)
        said = await self._tried(self._measured())
        if said is None:
            return "", None, None
        await self._tried(self._quiet())
        said = await self._tried(self._measured()) or said
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": said.height}
        picture = await self._tried(
            page.screenshot(full_page=True, clip=clip, animations="disabled")
        )
        content = await self._tried(page.content()) or ""
        return content[:MOST_OF_A_TEXT], picture, said

    async def _measured(self) -> Measured:
        """Scroll to the end of the page and back; return what it looks like."""
        return Measured.of(await self._evaluated(_SCROLL))

    async def _evaluated(self, code: str) -> Any:
        """The value of an expression, in a world that has the page's elements, but not its scripts.

        So no page can replace what the expression uses.
        """
        world = {"frameId": self._frame, "worldName": "silo"}  # the same one if it is there
        made = await self._session.send("Page.createIsolatedWorld", world)
        wish = {"contextId": made["executionContextId"], "awaitPromise": True,
                "returnByValue": True, "expression": code}  # fmt: skip
        answer = await self._session.send("Runtime.evaluate", wish)
        return answer["result"].get("value")

    async def _quiet(self) -> None:
        """Wait until the page is complete, and has asked for nothing for a while.

        Playwright's own states do not come once a page has tried to go elsewhere.
        """
        looks = 0
        while looks < LOOKS_THAT_ARE_QUIET:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            is_busy = self._tasks or await self._evaluated(_IS_COMPLETE) is not True
            looks = 0 if is_busy else looks + 1

    async def _tried(self, what: Awaitable[T], seconds: float = 0.0) -> T | None:
        return await _within(seconds or self._step, what, of=self._api.Error)

    # ------------------------------------------------------------------ requests

    def _paused(self, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._answer(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        reply = await self._reply(event)
        for one in (reply, Reply(failure="InvalidResponse")):
            with suppress(self._api.Error):  # the page is gone, or the browser refuses the answer
                await self._session.send(*one.command(event["requestId"]))
                return

    async def _reply(self, event: dict[str, Any]) -> Reply:
        request = event["request"]
        if event["resourceType"] == "Document" and event["frameId"] == self._frame:
            return self._reply_to_navigation(request)
        self._asked += 1
        url = request["url"]
        is_refused = (
            self.is_over
            or not url.startswith(("http://", "https://"))
            or self._asked > MOST_REQUESTS
            or self._size > MOST_BYTES
            or self.order.scope.is_ignored(url)
        )
        if is_refused:
            return Reply(failure="BlockedByClient")
        loop, archiving = asyncio.get_running_loop(), self._archiving
        return await loop.run_in_executor(archiving.threads, archiving.sent, self, request)

    def _reply_to_navigation(self, request: dict[str, Any]) -> Reply:
        """The page itself at first; where it goes by itself is a link, as a redirect is."""
        if not self._has_begun:
            self._has_begun = True
            return Reply(200, self.order.headers, self.order.body)
        with suppress(BadAddress):
            url = fetched_form(request["url"])
            places = sum(link.letter == "R" for link in self.links)
            is_new = url != self.order.address.url and places < _MOST_PLACES
            if request["method"] == "GET" and is_new:
                self.links.append(FoundLink(url, "R"))
        return Reply(failure="Aborted")

    def has(self, part: Fetched) -> None:
        """Note what was fetched; called by threads."""
        self.parts.append(part)
        self._size += part.size
        if part.answer is not None and part.outcome is not None:
            self.known[part.outcome.url] = part.answer

    def list(self, request: dict[str, Any], taken: Taken) -> None:
        """Note a request and its answer; called by threads."""
        head, failure = taken.head, taken.failure
        self._listed.append(
            {
                "method": request["method"],
                "url": request["url"],
                "status": head.status if head is not None else 0,
                "mime": head.get("content-type").partition(";")[0] if head is not None else "",
                "size": taken.body.length,
                "failure": failure.reason if failure is not None else taken.truncated,
            }
        )

    # ------------------------------------------------------------------ what is kept of it

    def _keep_resources(self, content: str, picture: bytes | None, said: Measured) -> None:
        url = self.order.address.url
        about = {"url": url, "ts": self.order.began.isoformat(), "title": said.title,
                 "requests": self._listed}  # fmt: skip
        self._keep(DOM, "text/html", content.encode("utf-8", "replace"))
        self._keep(TEXT, "text/plain", said.text.encode("utf-8", "replace"))
        self._keep(REQUESTS, "application/json", json.dumps(about).encode())
        if picture is not None:
            self._keep(PICTURE, "image/png", picture)

    def _keep(self, name: str, mimetype: str, content: bytes) -> None:
        address, began = self.order.address, self.order.began
        url = f"{name}{address.url}"
        record = CountedPieces(resource_record(url, mimetype, content, began))
        filename, place = self._archiving.archive.append(record)
        moment = f"{began.astimezone(UTC):%Y%m%d%H%M%S}"
        outcome = CrawlOutcome(
            moment, url, 200, mimetype, warc_filename=filename, warc_offset=place
        )
        self.parts.append(Fetched(index=line_of(outcome, record.length)))
