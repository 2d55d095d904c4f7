"""Documents come to the records whose links led to them, from the fetch to the file."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from crawl_records import DC
from landing_pages import DOI, KINDS, LAYOUTS, LICENCE, TITLE, paper, with_type
from site_of_traps import Reply, Site, packed, page, tagged

from crawlmatch.kept import crawl_named
from recordsilo import Silo
from recordsilo.records.edit import new_origin
from recordsilo.records.manifest import Origin
from silocrawl.cataloguing import cataloguing_step, put_matched
from silocrawl.launching import launch_now
from silocrawl.messages import CATALOGUE, document_of
from silocrawl.outcomes import match_own_logs
from silocrawl.paths import archives_directory, catalogue_file
from silocrawl.proposals import Proposal, ProposalState, proposals, reject
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.targets import CrawlTarget, add_target, change_target, load_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import StepWorker
from silowork.queues.values import Message, MessageState
from silowork.stop import Stop

NOW = datetime.now(UTC).replace(microsecond=0)
QUICK = CrawlSettings(8, 0.0, is_private=True, pauses=(0.05,) * 3, has_sandbox=os.geteuid() != 0)
RIGHT = KINDS["right"].content


def put_work(silo: Silo, name: str, *links: str, title: str = TITLE, doi: str = DOI) -> str:
    """Store a record of a work with links; return its identifier."""
    said = "".join(f"<dc:identifier>{one}</dc:identifier>" for one in (*links, f"doi:{doi}"))
    identifier = f"oai:example.org:{name}"
    content = DC.format(title=title, links=said).encode()
    silo.get_item(identifier).put_stream("oai_dc", content, metadata=True)
    return identifier


def target(silo: Silo, url: str = "", **more: Any) -> None:
    add_target(silo.path, CrawlTarget("t", Timetable(once=NOW), url, made=NOW, **more))


@pytest.fixture
def crawl(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[tuple[str, str], Proposal]]:
    """Crawl what is due and catalogue it; returns what became of documents."""
    monkeypatch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)

    def run(*, is_again: bool = False) -> dict[tuple[str, str], Proposal]:
        if is_again:
            launch_now(silo, queues, load_target(silo.path, "t"))
        CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
        catalogue(silo, queues)
        found = proposals(silo.path, None)
        return {(one.record, one.url.removeprefix(site.url)): one for one in found}

    return run


def catalogue(silo: Silo, queues: SqliteQueues) -> None:
    worker = StepWorker(queues, [cataloguing_step(silo.path)], Stop())
    while worker.work_once() is not None:
        pass
    assert queues.peek(CATALOGUE, MessageState.LATER) == []


def files(silo: Silo, identifier: str) -> dict[str, bytes]:
    """The documents in a record."""
    record = silo[identifier]
    found = {}
    for path in record.state.current.paths:
        if path.startswith("files/"):
            with record.get_stream(path) as file:
                found[path] = bytes(file.read())
    return found


Crawl = Callable[..., dict[tuple[str, str], Proposal]]
_SOME = {("dspace_7", "right"), ("ojs_galley", "citing"), ("bare_list", "right")}
TRIALS = [(layout, kind) for layout in LAYOUTS for kind in KINDS]
_EACH = [(layout, kind) for layout, kind in TRIALS if kind == "right" or layout == "dspace_7"]


@pytest.mark.parametrize(
    "trials",
    [
        pytest.param([one for one in TRIALS if one in _SOME], id="some"),
        pytest.param(_EACH, id="each", marks=pytest.mark.long),
        pytest.param(TRIALS, id="all", marks=pytest.mark.slow),
    ],
)
def test_every_document_behind_every_layout_is_what_it_is(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl, trials: list[tuple[str, str]]
) -> None:
    site.pages |= {"/other.pdf": with_type(LICENCE + b"% other\n"), "/policies.pdf": Reply(404)}
    wanted = {}
    for layout, kind in trials:
        name, document = f"{layout}-{list(KINDS).index(kind)}", KINDS[kind]
        site.pages[f"/{name}"] = LAYOUTS[layout](f"/files/{name}.pdf")
        site.pages[f"/files/{name}.pdf"] = with_type(document.content)
        record = put_work(silo, name, f"{site.url}/{name}")
        state, reason = document.state, document.reason
        if (layout, state) == ("bare_list", "attached"):
            state, reason = "proposed", "several-documents"
        elif layout == "bare_list" and reason in ("title-only", "doi-only", "several-dois"):
            reason = "several-documents"
        wanted[record, f"/files/{name}.pdf"] = (state, reason)
    target(silo)
    found = {key: (one.state.value, one.reason.code) for key, one in crawl().items()}
    others = {key: found.pop(key) for key in list(found) if not key[1].startswith("/files/")}
    assert found == wanted
    assert set(others.values()) <= {("rejected", "licence")}
    for (record, path), (state, _) in wanted.items():
        there = {f"files/{path.rpartition('/')[2]}": RIGHT} if state == "attached" else {}
        assert files(silo, record) == there


def test_a_document_is_attached_with_its_origin(silo: Silo, site: Site, crawl: Crawl) -> None:
    site.pages |= {
        "/id/7": Reply(302, b"", {"Location": "/item/7"}),
        "/item/7": LAYOUTS["dspace_6"]("/download/7"),
        "/download/7": Reply(302, b"", {"Location": "/bits/7.pdf"}),
        "/bits/7.pdf": packed(with_type(RIGHT)),
    }
    record = put_work(silo, "7", f"{site.url}/id/7")
    target(silo)
    (one,) = crawl().values()
    assert (one.state, one.landing, one.rule) == (
        ProposalState.ATTACHED,
        f"{site.url}/item/7",
        "meta",
    )
    assert files(silo, record) == {"files/7.pdf": RIGHT}
    assert silo[record].state.current.is_curated
    (note,) = silo[record].metadata["crawled_files"]
    assert {name: note[name] for name in ("url", "final_url", "crawl", "landing", "rule")} == {
        "url": f"{site.url}/id/7", "final_url": f"{site.url}/bits/7.pdf", "crawl": "own",
        "landing": f"{site.url}/item/7", "rule": "meta",
    }  # fmt: skip
    name, _, offset = note["warc"].rpartition(":")
    assert int(offset) < Path(archives_directory(silo.path), name).stat().st_size


@pytest.mark.long
def test_a_link_that_a_script_makes_ties_a_document(
    silo: Silo, site: Site, crawl: Crawl, browser: str
) -> None:
    script = "document.body.innerHTML = '<a href=\"/{}.pdf\">Full text</a>'"
    site.pages |= {
        "/7": page(f"<p>wait<script>{script.format(7)}</script>"),
        "/8": page(f"<p>wait<script>{script.format(8)}</script>"),
        "/7.pdf": with_type(RIGHT),
        "/8.pdf": with_type(KINDS["other-doi"].content),
    }
    records = [put_work(silo, name, f"{site.url}/{name}") for name in "78"]
    target(silo, is_rendered=True)
    found = {key: (one.rule, one.reason.code) for key, one in crawl().items()}
    assert found == {
        (records[0], "/7.pdf"): ("only-pdf", "right"),
        (records[1], "/8.pdf"): ("only-pdf", "other-doi"),
    }
    assert [files(silo, one) for one in records] == [{"files/7.pdf": RIGHT}, {}]
    time.sleep(1.1)  # captures are told apart by the second
    change_target(silo.path, "t", is_rendered=False)
    site.pages |= {"/8": page("<a href=/new.pdf>Full text</a>"), "/new.pdf": with_type(RIGHT)}
    assert crawl(is_again=True)[records[1], "/new.pdf"].state is ProposalState.ATTACHED


@pytest.mark.long
def test_nothing_is_attached_twice(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages |= {
        "/7": LAYOUTS["eprints"]("/7.pdf"),
        "/7.pdf": tagged(with_type(RIGHT), '"1"'),
        "/8": LAYOUTS["eprints"]("/8.pdf"),
        "/8.pdf": with_type(KINDS["scan"].content),
    }
    first = put_work(silo, "7", f"{site.url}/7", f"{site.url}/7.pdf")
    put_work(silo, "8", f"{site.url}/8")
    target(silo)
    before, revision = crawl(), silo[first].revision
    (proposed,) = proposals(silo.path)
    reject(silo.path, [proposed.number], "ada")
    time.sleep(1.1)  # captures are told apart by the second
    queues.forget(CATALOGUE, time.time() + 1)
    after = crawl(is_again=True)  # of revisits
    assert queues.sizes()[CATALOGUE].done >= 2
    assert proposals(silo.path) == []
    assert set(after) == set(before)
    Path(catalogue_file(silo.path)).unlink()  # even what was decided is not needed for that
    queues.forget(CATALOGUE, time.time() + 1)
    crawl(is_again=True)
    assert silo[first].revision == revision
    assert list(files(silo, first)) == ["files/7.pdf"]


@pytest.mark.long
def test_a_document_comes_to_each_record_that_has_its_link(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    site.pages |= {"/7": LAYOUTS["ojs"]("/7.pdf"), "/7.pdf": with_type(RIGHT)}
    records = [put_work(silo, name, f"{site.url}/7") for name in ("7", "also-7")]
    records.append(put_work(silo, "direct", f"{site.url}/7.pdf"))
    target(silo)
    crawl()
    kept = match_own_logs(silo)
    assert kept is not None
    for _ in range(2):
        put_matched(queues, kept)
        catalogue(silo, queues)
    assert [files(silo, one) for one in records] == [{"files/7.pdf": RIGHT}] * 3
    assert len(proposals(silo.path, ProposalState.ATTACHED)) == 3


@pytest.mark.long
def test_the_id_of_a_session_makes_no_other_document(
    silo: Silo, queues: SqliteQueues, site: Site, crawl: Crawl
) -> None:
    for number in (7, 8):
        path = f"/7.pdf;jsessionid={number:032X}"
        site.pages |= {f"/{number}": LAYOUTS["ojs"](path), path: with_type(RIGHT)}
    records = [put_work(silo, name, f"{site.url}/{name}") for name in ("7", "8")]
    target(silo)
    crawl()
    kept = match_own_logs(silo)
    assert kept is not None
    put_matched(queues, kept)
    catalogue(silo, queues)
    assert [list(files(silo, one).values()) for one in records] == [[RIGHT]] * 2
    assert sum(count for path, count in site.asked.items() if "/7.pdf" in path) == 1


@pytest.mark.long
def test_what_was_fetched_before_documents_were_catalogued_is(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages |= {"/7": LAYOUTS["schema_org"]("/get/7"), "/get/7": with_type(RIGHT)}
    record = put_work(silo, "7", f"{site.url}/7")
    target(silo)
    monkeypatch.setattr("silocrawl.running.documents_of", lambda *_: [])
    CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    match_own_logs(silo)
    assert CATALOGUE not in queues.sizes()
    put_matched(queues, crawl_named(silo.path, "own"))
    catalogue(silo, queues)
    assert files(silo, record) == {"files/7.pdf": RIGHT}


def test_another_document_of_the_page_is_not_the_records(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    site.pages |= {
        "/7": page('<a href="/slides.pdf">Slides</a>', '<link rel=item href="/7.pdf">'),
        "/7.pdf": with_type(RIGHT),
        "/slides.pdf": with_type(paper(pages=9)),
    }
    record = put_work(silo, "7", f"{site.url}/7")
    target(silo)
    found = crawl()
    assert found[record, "/7.pdf"].state is ProposalState.ATTACHED
    assert files(silo, record) == {"files/7.pdf": RIGHT}
    slides = found.get((record, "/slides.pdf"))  # proposed if it was fetched before the other one
    assert slides is None or slides.reason.code == "several-documents"


def test_if_what_the_page_names_is_gone_the_others_are_proposals(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    site.pages |= {
        "/7": page('<a href="/7.pdf">PDF</a>', '<link rel=item href="/gone.pdf">'),
        "/7.pdf": with_type(RIGHT),
    }
    record = put_work(silo, "7", f"{site.url}/7")
    target(silo)
    assert crawl()[record, "/7.pdf"].reason.code == "several-documents"
    assert files(silo, record) == {}


def test_a_record_with_an_old_working_copy_gets_a_proposal(
    silo: Silo, site: Site, crawl: Crawl
) -> None:
    site.pages |= {"/7": LAYOUTS["arxiv"]("/7.pdf"), "/7.pdf": with_type(RIGHT)}
    record = put_work(silo, "7", f"{site.url}/7")
    with silo.editing(record) as edit:
        edit.set_origin("1", Origin("harvest"))
        edit.derive_version(
            "1", "workingcopy", date=edit.manifest.date, origin=new_origin("clone", of="1"), log="x"
        )
        edit.move_cursor("1")
    target(silo)
    (one,) = crawl().values()
    assert (one.state, one.reason.code) == (ProposalState.PROPOSED, "working-copy")


def test_a_document_that_the_archive_does_not_have_is_a_dead_letter(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages |= {"/7": LAYOUTS["arxiv"]("/7.pdf"), "/7.pdf": with_type(RIGHT)}
    record = put_work(silo, "7", f"{site.url}/7")
    target(silo)
    CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    (message,) = queues.peek(CATALOGUE)
    table = json.loads(message.body) | {"digest": "A" * 32}
    queues.done(queues.take(CATALOGUE), [Message(CATALOGUE, json.dumps(table).encode())])
    catalogue(silo, queues)
    (dead,) = queues.peek(CATALOGUE, MessageState.DEAD)
    assert dead.reason.endswith("7.pdf cannot be read from the archive: "
                                "the index has no such capture")  # fmt: skip
    assert files(silo, record) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"document_url": "ftp://example.org/a.pdf"}, {"document_url": 7}, {"digest": "x"},
        {"wayback_timestamp": "2026"}, {"record": ""}, {"id_watched_target": "both"},
        {"landing_page_url": "a b"}, {"source": "a\nb"},
    ],
)  # fmt: skip
def test_a_message_of_somebody_else_is_a_dead_letter_with_a_sentence(
    silo: Silo, queues: SqliteQueues, change: dict[str, object]
) -> None:
    table: dict[str, object] = {
        "document_url": "https://example.org/a.pdf", "digest": "A" * 32, "record": "7",
        "wayback_timestamp": "20261124120000", "source": "https://example.org/a.pdf", "size": 1,
    }  # fmt: skip
    assert document_of(json.dumps(table).encode()).record == "7"
    for body in (json.dumps(table | change).encode(), b"[]", b"\xff", b"{"):
        queues.put([Message(CATALOGUE, body)])
    catalogue(silo, queues)
    dead = queues.peek(CATALOGUE, MessageState.DEAD)
    assert len(dead) == 4
    assert all("message" in one.reason for one in dead)


@pytest.mark.long
@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_a_step_that_is_killed_again_and_again_attaches_each_document_once(
    silo: Silo, queues: SqliteQueues, site: Site, kills: int
) -> None:
    number = 3 * kills
    records = []
    for one in range(number):
        site.pages[f"/{one}"] = LAYOUTS["dspace_7"](f"/{one}.pdf")
        site.pages[f"/{one}.pdf"] = with_type(paper(f"{TITLE} number {one}"))
        records.append(put_work(silo, str(one), f"{site.url}/{one}", title=f"{TITLE} number {one}"))
    target(silo)
    CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)
    assert queues.sizes()[CATALOGUE].waiting == number
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, "-c", _WORK, silo.path])
        before, end = _attached(silo), time.monotonic() + 20
        more = random.randint(0, 2)
        while _attached(silo) < before + more and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(random.random() * 0.2)
        process.kill()
        process.wait()
    assert subprocess.run([sys.executable, "-c", _WORK, silo.path], check=False).returncode == 0
    assert [len(files(silo, one)) for one in records] == [1] * number
    assert all(len(silo[one].metadata["crawled_files"]) == 1 for one in records)
    assert {one.state for one in proposals(silo.path, None)} == {ProposalState.ATTACHED}
    assert queues.sizes()[CATALOGUE].done == number


def _attached(silo: Silo) -> int:
    return len(proposals(silo.path, ProposalState.ATTACHED))


_WORK = """
import sys
from recordsilo.records.edit import new_origin
from recordsilo.records.manifest import Origin
from silocrawl.cataloguing import cataloguing_step
from silocrawl.paths import queues_file
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import StepWorker
from silowork.stop import Stop
with SqliteQueues(queues_file(sys.argv[1]), lease=0.5, most_tries=0) as queues:
    worker = StepWorker(queues, [cataloguing_step(sys.argv[1])], Stop())
    while queues.sizes()["documents-to-catalogue"].alive:
        worker.work_once()
"""


@pytest.mark.long
def test_the_command_catalogues_in_a_child_and_says_what_it_did(silo: Silo, site: Site) -> None:
    site.pages |= {
        "/7": LAYOUTS["dspace_7"]("/7.pdf"),
        "/7.pdf": with_type(RIGHT),
        "/8": LAYOUTS["bare_list"]("/8.pdf"),
        "/8.pdf": with_type(KINDS["scan"].content),
    }
    record = put_work(silo, "7", f"{site.url}/7")
    put_work(silo, "8", f"{site.url}/8")
    target(silo)
    main = "from recordsilo.cli import main; main()"
    command = [sys.executable, "-c", main, "crawl", "run", silo.path, "--until-idle"]
    command += ["--private", "--interval", "0"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "documents: 1 attached, 1 proposed (silo crawl" in done.stderr
    assert files(silo, record) == {"files/7.pdf": RIGHT}
    again = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert "documents:" not in again.stderr
    staged = os.listdir(Path(silo.path, ".silo", "tmp"))
    assert all(one.startswith(f"{os.getpid()}-") for one in staged)
