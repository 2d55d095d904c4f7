"""The pages of crawls at work: our own, and the jobs of each Heritrix."""

import html
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fake_heritrix import FakeHeritrix, fake_heritrix, job_xml
from playwright.sync_api import Page

from politeweb.loopback import LOOPBACK
from recordsilo import Silo
from silocrawl.crawl_log import CrawlOutcome, line_of
from silocrawl.launching import inject
from silocrawl.own_job import own_job
from silocrawl.packages.layout import wanted_file
from silocrawl.paths import heritrix_file, log_file, queues_file
from silocrawl.sharing import fetching_alone
from silowork.queues.sqlite import SqliteQueues
from tests.webui.test_browser import fits, is_accessible

JOB = "/crawling/jobs/main/site"
LINE = "2026-11-28T11:00:00.123Z 200 10 http://a.example/&lt;b&gt; - -"


@pytest.fixture
def fake(silo: Silo, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHeritrix]:
    monkeypatch.setenv("HERITRIX_PASSWORD", "x")
    with fake_heritrix() as made:
        path = Path(heritrix_file(silo.path))
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'[main]\nurl = "{made.url}"\n[gone]\nurl = "http://{LOOPBACK}:1"\n')
        yield made


@pytest.fixture
def running(silo: Silo) -> Silo:
    """A crawl with a queue and a log of three addresses, two of which are of the last minutes."""
    path = Path(queues_file(silo.path))
    path.parent.mkdir(exist_ok=True)
    with SqliteQueues(str(path)) as queues:
        inject(queues, [f"http://{host}.example/{n}" for host in "aab" for n in "12"], force=False)
    log = Path(log_file(silo.path, "links/20261128T110000Z"))
    log.parent.mkdir()
    now = datetime.now(UTC)
    with log.open("w") as file:
        for minutes, url in ((60, "http://old/"), (1, "http://a/<b>"), (0, "http://b/")):
            one = CrawlOutcome("20261128110000", url, 200)
            file.write(line_of(one, now - timedelta(minutes=minutes), 1.0))
        file.write("half a line")
    return silo


def queues_of(fake: FakeHeritrix) -> None:
    """Let it know its longest queues."""

    def answer(_method: str, path: str, _form: dict[str, str]) -> tuple[int, bytes] | None:
        if path.endswith("/script"):
            return 200, b"<script><rawOutput>7 com,example,\n9 org,b,\nno</rawOutput></script>"
        if path == "/engine/job/site":
            return 200, job_xml(
                fake.states[-1], "INFO begun", crawlLogTail=f"<value>{LINE}</value>"
            )
        return None

    fake.answer = answer


def test_our_own_crawl_has_its_rate_queues_hosts_and_log(client: Any, running: Silo) -> None:
    found = client.json("/crawling/running")
    assert (found["state"], found["rate"]) == ("idle", 0.0)
    assert found["queues"]["uris-to-crawl"]["waiting"] == 4
    assert found["hosts"] == [
        {"host": "a.example", "addresses": 2}, {"host": "b.example", "addresses": 2},
    ]  # fmt: skip
    assert found["log"]["name"] == "links-20261128T110000Z.log"
    assert "http://b/" in found["log"]["tail"][0]
    assert len(found["log"]["tail"]) == 3
    page = client.get("/crawling/running").text
    assert "http://a/&lt;b&gt;" in page
    assert running.path not in page
    with fetching_alone(running.path):
        own = client.json("/crawling/jobs")["own"]
        assert (own["state"], own["rate"]) == ("running", round(2 / 300, 3))


def test_a_running_crawl_is_asked_for_a_checkpoint(client: Any, running: Silo) -> None:
    assert "Make a checkpoint" in client.get("/crawling/running").text
    answer = client.post("/crawling/running/checkpoint", {})
    assert (answer.status, "silo crawl checkpoint" in answer.text) == (409, True)
    with fetching_alone(running.path):
        answer = client.post("/crawling/running/checkpoint", {}, accept="text/html")
    assert "asked for a checkpoint" in client.get(answer.headers["Location"]).text
    assert Path(wanted_file(running.path)).exists()


def test_without_a_crawl_the_pages_say_so(client: Any, silo: Silo) -> None:
    found = client.json("/crawling/jobs")
    assert (found["own"]["state"], found["engines"]) == ("idle", [])
    page = client.get("/crawling/jobs").text
    assert "has named it in crawling/heritrix.toml" in page
    assert "First add a crawl target" in page
    assert page.count('href="/crawling/targets">Crawl targets</a></p>') == 1
    assert "Nothing was launched yet." in client.get("/crawling/running").text


def test_the_jobs_of_each_heritrix_are_listed(client: Any, fake: FakeHeritrix) -> None:
    main, gone = client.json("/crawling/jobs")["engines"]
    assert (main["version"], [one["name"] for one in main["jobs"]]) == ("3.13.0", ["site"])
    assert "gives no answer" in gone["fault"]
    page = client.get("/crawling/jobs").text
    assert f'href="{JOB}"' in page
    assert "gives no answer" in page


def test_hostile_names_of_jobs_and_lines_of_logs_are_only_text(
    client: Any, fake: FakeHeritrix
) -> None:
    names = ["<script>alert(1)</script>", '" onmouseover="x', "../../x", "a/b", "", "ü" * 400]
    jobs = "".join(f"<value><shortName>{html.escape(one)}</shortName></value>" for one in names)
    engine = f"<engine><jobs>{jobs}</jobs></engine>".encode()

    def answer(_method: str, path: str, _form: dict[str, str]) -> tuple[int, bytes] | None:
        if path == "/engine":
            return 200, engine
        if path.startswith("/engine/job/") and path.count("/") == 3:
            line = "<value>&lt;script&gt;alert(2)&lt;/script&gt;</value>"
            return 200, job_xml("RUNNING", "SEVERE &lt;script&gt;", crawlLogTail=line).replace(
                b"<shortName>site", b"<shortName>&lt;script&gt;"
            )
        return None

    fake.answer = answer
    assert [one["name"] for one in client.json("/crawling/jobs")["engines"][0]["jobs"]] == names
    page = client.get("/crawling/jobs").text
    assert "alert(1)" in page
    for one in (page, client.get(JOB).text):
        assert not re.search(r"<script>|\" onmouseover=\"", one)
    for one in names:
        address = f"/crawling/jobs/main/{quote(one, safe='')}"
        assert client.get(address).status in {200, 404, 503}


def test_a_job_has_its_figures_its_queues_and_its_logs(client: Any, fake: FakeHeritrix) -> None:
    fake.states = ["RUNNING"]
    queues_of(fake)
    found = client.json(JOB)
    assert (found["state"], found["engine"]) == ("RUNNING", "main")
    assert found["longest_queues"] == [
        {"queue": "org,b,", "addresses": 9}, {"queue": "com,example,", "addresses": 7},
    ]  # fmt: skip
    page = client.get(JOB).text
    assert "http://a.example/&lt;b&gt;" in page
    for label, is_there in (("Pause", True), ("Terminate", True), ("Continue", False)):
        assert (f">{label}</button>" in page) == is_there


def test_a_job_is_paused_continued_and_ended(client: Any, fake: FakeHeritrix) -> None:
    fake.answer = lambda _method, path, _form: (500, b"") if "/script" in path else None
    fake.states = ["RUNNING"]
    for action, said in (("pause", "paused"), ("unpause", "continued"), ("terminate", "terminat")):
        answer = client.post(f"{JOB}/{action}", {}, accept="text/html")
        assert answer.status == 303
        assert f"Job {said}" in client.get(answer.headers["Location"]).text
        assert [one["action"] for one in fake.posted if "action" in one][-1] == action
    fake.states = ["NASCENT"]
    answer = client.post(f"{JOB}/pause", {})
    assert (answer.status, "permits no pause" in answer.text) == (409, True)
    assert client.post(f"{JOB}/teardown", {}).status == 404


def test_an_action_that_takes_long_goes_on_without_the_page(
    client: Any, fake: FakeHeritrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.crawling.jobs.SECONDS_OF_AN_ACTION", 0.2)
    fake.states = ["PAUSING"]
    answer = client.post(f"{JOB}/pause", {})
    assert (answer.status, answer.json["is_done"]) == (202, False)
    assert "is at work on it" in client.get(f"{JOB}?done=asked").text


def test_what_is_not_there_or_does_not_answer_is_told(
    client: Any, fake: FakeHeritrix, silo: Silo
) -> None:
    assert client.get("/crawling/jobs/main/none").status == 404
    assert client.get("/crawling/jobs/none/site").status == 404
    answer = client.get("/crawling/jobs/gone/site")
    assert (answer.status, "gives no answer" in answer.text) == (503, True)
    Path(heritrix_file(silo.path)).write_text("main = 3")
    answer = client.get("/crawling/jobs")
    assert (answer.status, silo.path in answer.text) == (500, False)


def test_a_log_that_is_no_file_is_left_out(silo: Silo) -> None:
    log = Path(log_file(silo.path, "x"))
    log.parent.mkdir(parents=True)
    log.symlink_to("/dev/zero")
    found = own_job(silo.path, None, datetime.now(UTC))
    assert (found.log, found.tail, found.rate) == ("", (), 0.0)
    assert found.sizes == {}


@pytest.mark.browser
@pytest.mark.long
def test_the_pages_are_for_everybody(
    open_page: Callable[..., Page], running: Silo, fake: FakeHeritrix
) -> None:
    fake.states = ["RUNNING"]
    queues_of(fake)
    page = open_page("/crawling/jobs", viewport={"width": 320, "height": 800})
    for path in ("/crawling/jobs", "/crawling/running", JOB):
        page.goto(path)
        is_accessible(page, path)
        fits(page, path)
