"""A small Silo with everything that a page can show, and a server for it."""

import http.client
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from copies import copy_of

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from webui import found_duplicates
from webui.app import create_app
from webui.server import PageServer
from webui.site import SiteSettings

AGENT = "a.curator"
PLAIN = "oai:example.org:1"
DELETED = "oai:example.org:2"
RIGHT_TO_LEFT = "oai:example.org:3"
HOSTILE = "oai:example.org:4<script>alert(4)</script>\"'"
ODD = "http://n2t.info/urn:nbn:se:kb:repos-1 中^*?"
SET = "7374617475733D707562"
SET_NAME = "Status = Published & <read>"
ATTACK = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(autouse=True)
def _duplicates_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for what is looked for beside the request, however busy the machine is."""
    monkeypatch.setattr(found_duplicates, "PATIENCE", 30)


def dublin_core(*fields: tuple[str, str], lang: str = "") -> bytes:
    """A harvested ``<metadata>`` element with these fields."""
    marked = f' xml:lang="{lang}"' if lang else ""
    lines = "".join(
        f"<dc:{name}{marked}>{value}</dc:{name}>"
        for name, value in ((n, _escaped(v)) for n, v in fields)
    )
    return (
        '<metadata xmlns="http://www.openarchives.org/OAI/2.0/">'
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{lines}</oai_dc:dc></metadata>'
    ).encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def harvest(silo: Silo, records: Mapping[str, bytes | None]) -> None:
    """Store a page of records as a harvest does; without content: a deletion."""
    date = "2004-06-24T00:00:00"
    with silo.batch(records) as batch:
        for identifier, content in records.items():
            edit = batch.edit(identifier)
            origin = Origin("harvest", prefixes={"oai_dc": date}, agent="oaipmhscraper")
            edit.add_version("1", date=date, origin=origin, log=f"Harvested {date}")
            if content is None:
                edit.set_metadata("deleted_at_version", "1")
                edit.set_metadata("deleted_at_date", date)
            else:
                edit.put("1", "oai_dc", content, metadata=True)
            edit.set_metadata("identifier", identifier)
            edit.set_metadata("firstSeen", date)
            edit.set_metadata("setSpec", [SET])


def sample_records() -> dict[str, bytes | None]:
    """The records of these tests, and 55 more to have pages."""
    return {
        PLAIN: dublin_core(
            ("title", "On the keeping of records"),
            ("creator", "Ortega, Núria"),
            ("creator", "Smith, J."),
            ("description", "A long abstract.\nIn two paragraphs."),
            ("date", "2003"),
            ("identifier", "https://example.org/1/?a=1&b=2"),
            ("identifier", "doi:10.1234/abc.5"),
            ("relation", "javascript:alert(1)"),
            ("language", "eng"),
        ),
        DELETED: None,
        RIGHT_TO_LEFT: dublin_core(
            ("title", "مقدمة ابن خلدون"),
            ("language", "ara"),
            ("creator", "ابن خلدون"),
            ("description", "كتاب في التاريخ (OAI-PMH)."),
        ),
        HOSTILE: dublin_core(
            *((name, ATTACK) for name in ("title", "creator", "description", "subject"))
        ),
        ODD: dublin_core(("title", "奇怪的标识符"), lang="zh"),
    } | {f"oai:example.org:{n}": dublin_core(("title", f"Record {n}")) for n in range(100, 155)}


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> Any:
        """The one shape of errors, checked."""
        assert set(self.json) == {"error"}
        assert set(self.json["error"]) == {"status", "code", "message"}
        assert self.json["error"]["status"] == self.status
        return self.json["error"]


class Client:
    """Asks a server on loopback, byte for byte as told."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
        accept: str = "",
    ) -> Answer:
        sent = dict(headers or {})
        if accept:
            sent["Accept"] = accept
        if fields is not None:
            body = "&".join(f"{quote(k, safe='')}={quote(v, safe='')}" for k, v in fields.items())
            sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path: str, **how: Any) -> Answer:
        return self.ask("GET", path, **how)

    def json(self, path: str) -> Any:
        answer = self.ask("GET", path, accept="application/json")
        assert answer.status == 200, answer.text
        return answer.json

    def post(self, path: str, fields: Mapping[str, str], **how: Any) -> Answer:
        return self.ask("POST", path, fields=fields, **how)

    def upload(self, path: str, parts: list[tuple[str, str | None, bytes]], **how: Any) -> Answer:
        """POST a multipart form of (name, file name or None, content)."""
        boundary = "xxBOUNDARYxx"
        lines = []
        for name, filename, content in parts:
            file = f'; filename="{filename}"' if filename is not None else ""
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
            lines.append(head.encode() + content + b"\r\n")
        body = b"".join(lines) + f"--{boundary}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        method = how.pop("method", "POST")
        return self.ask(method, path, body, headers=headers | dict(how.pop("headers", {})), **how)


@pytest.fixture(scope="session")
def harvested(tmp_path_factory: Any) -> str:
    """The directory of a Silo of 60 records, with names for its set; to be copied."""
    path = str(tmp_path_factory.mktemp("harvested") / "myrepo")
    with Silo(path) as silo:
        harvest(silo, sample_records())
    state = {"identify": {"repositoryName": "Example Archive"}, "sets": {SET: SET_NAME}}
    with open(os.path.join(path, "oaipmh_harvester.json"), "w", encoding="utf-8") as file:
        json.dump(state, file)
    return path


@pytest.fixture
def silo(harvested: str, tmp_path: Any) -> Iterator[Silo]:
    """A Silo of 60 records of one's own."""
    path = str(tmp_path / "myrepo")
    copy_of(harvested, path)
    with Silo(path, create=False) as silo:
        yield silo
        for thread in threading.enumerate():
            if thread.name.endswith("(run_here)"):  # a job, which writes in the Silo
                thread.join(60)


@pytest.fixture
def serve() -> Iterator[Callable[..., PageServer]]:
    """Start servers, and stop them after the test."""
    started: list[PageServer] = []

    def start(silo: Silo, settings: SiteSettings | None = None) -> PageServer:
        server = PageServer(create_app(silo, settings or SiteSettings(agent=AGENT)))
        started.append(server)
        return server

    yield start
    for server in started:
        server.close()


class Stage:
    """One server for many tests, and the application that it shows now."""

    def __init__(self) -> None:
        self.app: Any = None
        self.server = PageServer(self.call)

    def call(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        return self.app(environ, start_response)


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    """Stopping a server takes a tenth of a second, so there is one for all tests."""
    stage = Stage()
    yield stage
    stage.server.close()


@pytest.fixture
def mount_at(stage: Stage) -> Callable[[str, Any], None]:
    """Show an application under a path, by PEP 3333."""

    def mount(script_name: str, app: Any) -> None:
        def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
            assert environ["PATH_INFO"].startswith(script_name + "/")
            below = environ["PATH_INFO"].removeprefix(script_name)
            return app(environ | {"SCRIPT_NAME": script_name, "PATH_INFO": below}, start_response)

        stage.app = answer

    return mount


@pytest.fixture(scope="session")
def stage_client(stage: Stage) -> Client:
    """A client of whatever `stage` shows."""
    return Client(stage.server.port)


@pytest.fixture
def client(silo: Silo, stage: Stage, stage_client: Client) -> Client:
    """A client of a server that shows `silo`."""
    stage.app = create_app(silo, SiteSettings(agent=AGENT))
    return stage_client


@pytest.fixture
def add_record(silo: Silo) -> Callable[..., None]:
    """Harvest a further record: its identifier, and its (element, text) pairs."""

    def add(identifier: str, *fields: tuple[str, str]) -> None:
        harvest(silo, {identifier: dublin_core(*fields)})

    return add


@pytest.fixture
def working_copy(silo: Silo) -> str:
    """The record `PLAIN` with a curated copy of version 1."""
    silo[PLAIN].clone_version("1", "workingcopy", agent=AGENT)
    return PLAIN


ENGINES = {"chromium": "/usr/bin/chromium", "firefox": "/usr/bin/firefox-esr"}
"""Those that Debian has, by package `chromium` and `firefox-esr`."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Debian's chromium, or the engine of the parameter; missing, it is a failure only in CI.

    Firefox is driven by WebDriver BiDi, which it has itself: as Debian packages it, unpatched.
    """
    engine = getattr(request, "param", "chromium")
    program = ENGINES[engine]
    if not os.path.exists(program):
        reason = f"{program} is not installed (apt-get install {os.path.basename(program)})"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import (  # noqa: PLC0415 - only where one is needed
        expect,
        sync_playwright,
    )

    expect.set_options(timeout=30_000)  # milliseconds; a busy machine needs more than the usual 5 s
    with sync_playwright() as playwright, acting_on_loaded_pages():
        if engine == "firefox":
            browser = playwright.firefox.launch(channel="moz-firefox", executable_path=program)
        else:
            browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


ACTIONS = ("check", "click", "fill", "focus", "hover", "press", "press_sequentially",
           "select_option", "set_input_files", "uncheck")  # fmt: skip


@contextmanager
def acting_on_loaded_pages() -> Iterator[None]:
    """Let clicks and keys wait until the page is loaded: its scripts do not hear them before.

    What a click leads to is there, and can be clicked, while its scripts are still on their way.
    """
    from playwright.sync_api import Locator, Page  # noqa: PLC0415 - only where one is needed

    def loaded(page: Page) -> None:
        page.wait_for_load_state()

    def later(act: Callable[..., Any]) -> Callable[..., Any]:
        return lambda where, *how, **more: (loaded(where.page), act(where, *how, **more))[1]

    with pytest.MonkeyPatch.context() as patch:
        for name in ACTIONS:
            patch.setattr(Locator, name, later(getattr(Locator, name)))
        for name in ("keyboard", "mouse"):
            device = getattr(Page, name).fget
            patch.setattr(Page, name, property(lambda page, of=device: (loaded(page), of(page))[1]))
        yield


@pytest.fixture
def open_page(browser: Any, client: Any) -> Iterator[Callable[..., Any]]:
    """Open a page of the site; errors of the page's policy or scripts fail the test."""
    contexts = []
    complaints: list[str] = []

    def open_(path: str, **how: Any) -> Any:
        context = browser.new_context(base_url=f"http://localhost:{client.port}", **how)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text))
        page.goto(path)
        return page

    yield open_
    for context in contexts:
        context.close()
    # A page that is an error by intent is told of in the console, too.
    assert [line for line in complaints if "Failed to load resource" not in line] == []


@pytest.fixture
def kept_searches(client: Client) -> None:
    """A kept search, and a list of identifiers of which one has no record."""
    client.post("/searches", {"search": "q=keeping", "title": "About keeping"})
    client.post("/searches", {"identifiers": f"{PLAIN} nobody", "title": "pasted"})
    client.post("/collections/about-keeping/edit", {"text": "What is kept."})
