"""Pages that a browser shows: what is archived of them, and what hostile ones cannot do."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from crawl_records import put_record
from running_processes import descendants_of
from site_of_traps import PDF, Reply, Site, endless, page, pdf
from waiting import wait_until

from crawlmatch.kept import crawl_named
from crawlmatch.outcomes import LinkOutcome
from politeweb.exchange import Exchanges
from recordsilo import Silo
from silocrawl.addresses import DOM, PICTURE, REQUESTS, TEXT
from silocrawl.answers import Answers
from silocrawl.browser import HEIGHT, Measured
from silocrawl.captures import Captures
from silocrawl.cdxj import Segments
from silocrawl.checks import check_launched
from silocrawl.fetching import Fetched
from silocrawl.launching import inject, launch_due, launch_now
from silocrawl.messages import CHECK, CRAWL, RENDER, CrawlAddress, address_of, message_of
from silocrawl.paths import answers_file, index_directory
from silocrawl.rendering import BrowserMissing, Renderer, browser_settings
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.scope import Scope
from silocrawl.targets import CrawlTarget, add_target, load_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

NOW = datetime.now(UTC).replace(microsecond=0)
QUICK = CrawlSettings(4, 0.0, is_private=True, pauses=(0.05,) * 3, has_sandbox=os.geteuid() != 0)
LANDING = """<h1>A paper</h1><a href=/doc.pdf>document</a><img src=/i.png>
<iframe src=/frame></iframe>
<script>async function load() {
  const a = document.createElement('a');
  a.href = await (await fetch('/late.json')).json();
  document.body.append(a, 'late text');
  await fetch('/form', {method: 'POST', body: 'q=1'});
}
load(); alert('stop'); window.open('/popup'); location = '/elsewhere';</script>
<div style="height: 4000px"></div><img loading=lazy src=/lazy.png>"""


def target(silo: Silo, url: str, **more: Any) -> None:
    add_target(
        silo.path, CrawlTarget("t", Timetable(once=NOW), url, made=NOW, is_rendered=True, **more)
    )


def crawl(silo: Silo, queues: SqliteQueues, site: Site) -> dict[str, list[str]]:
    """Crawl what is due; returns the lines of the log by path, each split into its fields."""
    CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    lines = [
        line.split(None, 12)
        for path in sorted(Path(silo.path, "crawling", "logs").glob("*.log"))
        for line in path.read_text().splitlines()
    ]
    return {one[3].removeprefix(site.url): one for one in lines}


@pytest.fixture
def renderer(silo: Silo, browser: str) -> Iterator[Renderer]:
    """A renderer that is not patient, and fetches nothing but public addresses."""
    with Answers(_made(answers_file(silo.path))):
        settings = browser_settings(has_sandbox=QUICK.has_sandbox, is_private=False)
        found = Renderer(silo.path, replace(settings, seconds=2.0), lambda: False)
        yield found
        found.close()


def _made(path: str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    return path


def shown(renderer: Renderer, url: str) -> Fetched:
    with Exchanges() as exchanges, exchanges.take(url) as taken:
        return renderer(CrawlAddress(url, url), taken, None)


@pytest.mark.long
def test_a_seed_is_shown_and_all_that_it_asks_for_is_archived(
    silo: Silo, queues: SqliteQueues, site: Site, browser: str
) -> None:
    site.pages |= {
        "/seed": Reply(302, b"", {"Location": "/landing"}),
        "/landing": page(LANDING),
        "/late.json": Reply(200, b'"/late.pdf"', {"Content-Type": "application/json"}),
        "/frame": page("<img src=/in-frame.png>"),
        "/form": Reply(200, b"thanks"),
        "/doc.pdf": pdf(),
        "/late.pdf": pdf(b"%PDF late"),
        "/elsewhere": page("elsewhere"),
    }
    target(silo, f"{site.url}/seed")
    launch_due(silo, queues)
    (launched,) = queues.peek(RENDER)
    assert (address_of(launched.body).url, queues.peek(CRAWL)) == (f"{site.url}/seed", [])
    log = crawl(silo, queues, site)
    assert {path: (one[1], one[4]) for path, one in log.items()} == {
        "/seed": ("302", "-"),
        "/landing": ("200", "R"),
        "/late.json": ("200", "RE"),
        "/i.png": ("404", "RE"),
        "/lazy.png": ("404", "RE"),
        "/frame": ("200", "RE"),
        "/in-frame.png": ("404", "RE"),
        "/doc.pdf": ("200", "RL"),
        "/late.pdf": ("200", "RL"),
    }
    assert all(len(one) == 13 for one in log.values())
    assert set(site.asked) == {*log, "/form", "/robots.txt"}, "no popup, no other page"
    assert set(site.asked.values()) == {1}, "what the browser got is not fetched again"
    url = f"{site.url}/landing"
    captures = Captures(silo.path)
    kept = {kind: captures.of(f"{kind}{url}")[0] for kind in (PICTURE, TEXT, DOM, REQUESTS)}
    content = {kind: captures.begin(one, 10**7).content for kind, one in kept.items()}
    assert content[PICTURE].startswith(b"\x89PNG")
    assert b"late text" in content[TEXT]
    assert b'href="/late.pdf"' in content[DOM]
    asked = {one["url"]: one for one in json.loads(content[REQUESTS])["requests"]}
    assert (asked[f"{site.url}/form"]["method"], asked[f"{site.url}/form"]["status"]) == (
        "POST", 200,
    )  # fmt: skip
    assert [one.timestamp for one in captures.of(url)] == [kept[PICTURE].timestamp]
    assert captures.of(f"{site.url}/form") == []


@pytest.mark.long
def test_what_is_no_page_or_too_long_is_fetched_as_without_a_browser(
    silo: Silo, queues: SqliteQueues, site: Site, browser: str
) -> None:
    long = b"x" * 10_000_001
    site.pages |= {
        "/a.pdf": pdf(),
        "/page": page("<img src=/long.png><img src=/ignored/1.png>"),
        "/long.png": Reply(200, long, {"Content-Type": "image/png"}),
    }
    target(silo, f"{site.url}/page", scope=Scope(ignore=("*/ignored/*",)))
    inject(queues, [f"{site.url}/a.pdf", f"{site.url}/missing"], force=False, queue=RENDER)
    log = crawl(silo, queues, site)
    assert {path: (one[1], one[2]) for path, one in log.items()} == {
        "/a.pdf": ("200", str(len(PDF))),
        "/missing": ("404", "0"),
        "/page": ("200", log["/page"][2]),
        "/long.png": ("200", str(len(long))),
        "/ignored/1.png": ("-5000", "-"),
    }


@pytest.mark.long
def test_a_second_time_what_is_the_same_is_a_revisit(
    silo: Silo, queues: SqliteQueues, site: Site, browser: str
) -> None:
    site.pages |= {"/page": page("<img src=/i.png>"), "/i.png": Reply(200, b"picture")}
    later = Timetable(once=NOW + timedelta(days=1))
    one = CrawlTarget("t", later, f"{site.url}/page", made=NOW, is_rendered=True)
    add_target(silo.path, one)
    for minutes in range(2):
        launch_now(silo, queues, one, NOW + timedelta(minutes=minutes))
        log = crawl(silo, queues, site)
    notes = {path: one[11] for path, one in log.items()}
    assert notes == {"/page": "duplicate:digest", "/i.png": "duplicate:digest"}


@pytest.mark.long
def test_a_page_reaches_nothing_that_is_not_public(
    renderer: Renderer, site: Site, browser: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as inner:
        inner.settimeout(0.5)
        port = inner.getsockname()[1]
        other = f"127.0.0.1:{port}"
        site.pages["/page"] = page(
            f"<img src=http://{other}/secret><img src=http://localhost:{port}/>"
            f"<script>new WebSocket('ws://{other}/'); "
            f"navigator.sendBeacon('http://{other}/', 'x');"
            f"const one = new RTCPeerConnection({{iceServers: [{{urls: 'turn:{other}"
            "?transport=tcp', username: 'u', credential: 'c'}]}); one.createDataChannel('d');"
            "one.createOffer().then(offer => one.setLocalDescription(offer));</script>"
        )
        found = shown(renderer, f"{site.url}/page")
        with pytest.raises(TimeoutError):
            inner.accept()
    outcomes = {one.outcome.url: one.outcome.status_code for one in found.parts if one.outcome}
    assert outcomes == {f"http://{host}:{port}/{path}": -5000 for host, path in (
        ("127.0.0.1", "secret"), ("localhost", ""))}  # fmt: skip
    assert found.reason == ""


@pytest.mark.long
@pytest.mark.parametrize(
    "hostile",
    [
        "<script>Math.min = () => 'x'</script>",
        "<script>Math.min = () => 1e9; innerHeight = 0</script>",
        "<script>document.__defineGetter__('readyState', () => 'never')</script>",
        "<script>HTMLElement.prototype.__defineGetter__('innerText', () => [1])</script>",
        "<script>Array.prototype.toJSON = () => 'x'; Promise = setTimeout = null</script>",
        "<script>Object.defineProperty(document, 'title', {get: () => ({a: 1})})</script>",
        "<script>document.title = 'x'.repeat(1e7)</script>",
        "<img name=title><form name=readyState></form>",
    ],
)
def test_a_page_cannot_replace_what_it_is_looked_at_with(
    renderer: Renderer, silo: Silo, site: Site, browser: str, hostile: str
) -> None:
    url = f"{site.url}/page"
    site.pages["/page"] = page(f"text{hostile}")
    found = shown(renderer, url)
    assert found.reason == ""
    Segments(index_directory(silo.path)).add(one.index for one in found.parts if one.index)
    captures = Captures(silo.path)
    assert captures.begin(captures.of(f"{TEXT}{url}")[0], 100).content.startswith(b"text")
    assert len(captures.begin(captures.of(f"{REQUESTS}{url}")[0], 10**8).content) < 20_000
    assert len(captures.of(f"{PICTURE}{url}")) == 1


@pytest.mark.parametrize("said", [None, "x", [], ["1", {}, []], [float("nan"), 1, None]])
def test_what_a_page_says_of_itself_may_be_anything(said: object) -> None:
    assert Measured.of(said) == Measured(HEIGHT, "", "")


@pytest.mark.long
def test_a_page_that_asks_for_much_and_goes_elsewhere_again_and_again_is_quiet(
    renderer: Renderer, site: Site, browser: str, capfd: pytest.CaptureFixture[str]
) -> None:
    site.pages["/page"] = page(
        "<script>for (let i = 0; i < 60; i++) fetch('/f' + i);"
        "let n = 0; const going = setInterval(() => n < 60 ? location = '/n' + n++ :"
        " clearInterval(going), 20)</script>"
    )
    with Exchanges() as exchanges, exchanges.take(f"{site.url}/page") as taken:
        renderer._settings = replace(renderer._settings, is_private=True)
        found = renderer(CrawlAddress(taken.url, taken.url), taken, None)
    assert found.reason == ""
    assert 0 < sum(link.letter == "R" for link in found.links) <= 10
    assert "Connection pool" not in capfd.readouterr().err


@pytest.mark.long
def test_pages_that_never_end_are_bounded(renderer: Renderer, site: Site, browser: str) -> None:
    site.pages |= {
        "/busy": page("<p>text<script>setInterval(() => document.title += 'x', 1);"
                      "onbeforeunload = () => 'stay'; location.reload();</script>"),
        "/loop": page("<script>while (true);</script>"),
        "/greedy": page("<script>a = []; while (true) a.push(new Array(1e6).fill(1))</script>"),
    }  # fmt: skip
    reasons = {path: shown(renderer, f"{site.url}{path}").reason for path in site.pages}
    assert reasons == {
        "/robots.txt": "", "/busy": "", "/loop": "notRendered", "/greedy": "notRendered",
    }  # fmt: skip
    assert shown(renderer, f"{site.url}/busy").reason == "", "another browser goes on"


@pytest.mark.long
def test_a_page_whose_browser_dies_is_shown_again(
    renderer: Renderer, site: Site, browser: str
) -> None:
    site.pages["/page"] = page("text")
    renderer.start()
    assert renderer._child is not None
    os.kill(renderer._child.pid, signal.SIGKILL)
    assert shown(renderer, f"{site.url}/page").again > 0
    assert shown(renderer, f"{site.url}/page").again == 0


@pytest.fixture(autouse=True)
def temporary(silo: Silo, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A directory of a short name, as sockets need it, below the Silo."""
    Path(silo.path, "tmp").symlink_to(tmp_path_factory.mktemp("t"))


def crawling(silo: Silo, *options: str) -> "subprocess.Popen[bytes]":
    """A process that crawls; its temporary files are below the Silo."""
    temporary = Path(silo.path, "tmp").resolve()
    main = "from recordsilo.cli import main; main()"
    command = [sys.executable, "-c", main, "crawl", "run", silo.path, "--private", *options]
    command += [] if QUICK.has_sandbox else ["--no-sandbox"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment)


def browsers_files(silo: Silo) -> list[Path]:
    """What browsers have in the temporary directory."""
    (above,) = Path(silo.path, "tmp").glob("silo-browsers-*")
    return [*above.iterdir(), *Path(silo.path, "tmp").glob("*hrom*")]


@pytest.mark.long
@pytest.mark.parametrize("are_all_killed", [False, True])
def test_neither_a_browser_nor_its_files_survive_a_killed_crawl(
    silo: Silo, queues: SqliteQueues, site: Site, browser: str, are_all_killed: bool
) -> None:
    site.pages |= {"/page": page("<script src=/slow.js></script>"), "/slow.js": endless()}
    inject(queues, [f"{site.url}/page"], force=False, queue=RENDER)
    with crawling(silo) as run:
        wait_until(lambda: site.asked["/slow.js"] > 0)
        below = descendants_of(run.pid)
        assert any("type=renderer" in _command(pid) for pid in below)
        for pid in (run.pid, *(below if are_all_killed else ())):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(map(_command, below)))
    assert bool(browsers_files(silo)) == are_all_killed
    site.pages["/page"] = page("text")
    assert crawling(silo, "--until-idle").wait(120) == 0
    assert Captures(silo.path).of(f"{PICTURE}{site.url}/page")
    assert browsers_files(silo) == []


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_a_crawl_with_a_browser_that_is_killed_again_and_again_has_every_outcome(
    silo: Silo, site: Site, browser: str, kills: int
) -> None:
    names = [str(number) for number in range(2 * kills)]
    for one in names:
        script = f"fetch('/{one}.txt').then(a => a.text()).then(t => document.body.innerHTML = t)"
        link = f"<a href=/{one}.pdf>pdf</a>".encode()
        site.pages |= {
            f"/id/{one}": Reply(302, b"", {"Location": f"/paper/{one}"}),
            f"/paper/{one}": page(f"<script>{script}</script>"),
            f"/{one}.txt": Reply(200, link, {"Content-Type": "text/plain"}),
            f"/{one}.pdf": pdf(PDF + one.encode()),
        }
    put_record(silo, "7", *(f"{site.url}/id/{one}" for one in names))
    target(silo, "")
    below: set[int] = set()
    for _ in range(kills):
        asked = site.asked.total() + random.randint(1, 20)
        end = time.monotonic() + 60
        with crawling(silo, "--until-idle", "--interval", "0.02") as run:
            while site.asked.total() < asked and run.poll() is None and time.monotonic() < end:
                below |= {*descendants_of(run.pid)}
                time.sleep(0.01)
            run.kill()
    wait_until(lambda: not any(map(_command, below)))
    with crawling(silo, "--until-idle", "--interval", "0.02") as last:
        assert last.wait(1200) == 0
    (log,) = Path(silo.path, "crawling", "logs").glob("*.log")
    paths = {line.split()[3].removeprefix(site.url) for line in log.read_text().splitlines()}
    assert paths == set(site.pages) - {"/robots.txt"}
    captures = Captures(silo.path)
    for one in names:
        for url in (f"{PICTURE}{site.url}/paper/{one}", f"{site.url}/{one}.pdf"):
            assert captures.begin(captures.of(url)[0], 10**7).content, url
    receipt = crawl_named(silo.path, "own").receipt
    assert receipt.outcomes[LinkOutcome.FULLTEXT] == receipt.seed_rows == len(names)
    assert browsers_files(silo) == []


def _command(pid: int) -> str:
    """What a process runs; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_without_a_browser_what_is_to_be_rendered_waits(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.rendering.PROGRAMS", ("no-such-browser",))
    inject(queues, [f"{site.url}/page"], force=False, queue=RENDER)
    done = CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    assert "install it: apt-get install chromium-headless-shell" in done.no_browser
    assert [one.tries for one in queues.peek(RENDER)] == [0]


@pytest.mark.long
def test_a_browser_that_does_not_start_leaves_what_waits(
    silo: Silo, queues: SqliteQueues, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken-browser"
    broken.write_text("#!/bin/sh\necho no display >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("silocrawl.rendering.PROGRAMS", (str(broken),))
    inject(queues, [f"{site.url}/page"], force=False, queue=RENDER)
    done = CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    assert "broken-browser does not start" in done.no_browser
    assert [one.tries for one in queues.peek(RENDER)] == [0]


def test_under_root_there_is_no_sandbox_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("silocrawl.rendering.PROGRAMS", ("sh",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(BrowserMissing, match="--no-sandbox"):
        browser_settings(has_sandbox=True, is_private=False)
    assert browser_settings(has_sandbox=False, is_private=False).has_sandbox is False


def test_a_target_says_that_its_seeds_are_rendered(silo: Silo) -> None:
    target(silo, "http://example.org/")
    assert load_target(silo.path, "t").is_rendered
    assert "render = true" in Path(silo.path, "crawling", "targets", "t.toml").read_text()


def test_a_rendered_page_that_is_not_in_the_index_is_rendered_again(
    silo: Silo, queues: SqliteQueues
) -> None:
    one = CrawlAddress("http://example.org/", "http://example.org/", via="http://example.org/")
    queues.put([message_of(one, RENDER), message_of(one, CHECK)])
    queues.done(queues.take(RENDER))
    with Answers(answers_file(silo.path)) as answers:
        assert check_launched(queues, Segments(index_directory(silo.path)), answers) == 1
    assert address_of(queues.take(RENDER)[0].body).is_forced
    assert queues.take(CRAWL) == []
