"""Linked documents: fetched into versions, recorded, resumed; failures are reported."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from files_server import PDF, FilesServer, Reply, files_server

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import Header, Record
from oaipmhscraper.commands.fetch_files import fetch_files_command
from oaipmhscraper.documents.fetch_files import FilesWish, Into, fetch_files
from oaipmhscraper.documents.file_notes import FAILED, FETCHED, FailedLink, FetchedFile, Notes
from oaipmhscraper.documents.link_rules import LinkRule
from oaipmhscraper.storing.silo_writer import SiloWriter
from oaipmhscraper.storing.storing_rules import Reception
from politeweb.addresses import host_of
from politeweb.file_pace import FilePace
from politeweb.files import FileRules, FileTransport
from politeweb.settings import HttpSettings
from recordsilo import Silo

DC = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc'
    ' xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title>{links}'
    "</oai_dc:dc></metadata>"
)


@pytest.fixture
def server() -> Iterator[FilesServer]:
    with files_server() as started:
        yield started


@pytest.fixture
def silo(tmp_path: Path, server: FilesServer) -> Iterator[Silo]:
    with Silo(str(tmp_path / "myrepo"), base_oai_url=server.url + "/oai") as made:
        yield made


@pytest.fixture
def transport(server: FilesServer) -> Iterator[FileTransport]:
    settings = HttpSettings(attempts=2, first_pause=0.0)
    with FileTransport(server.url + "/oai", settings, FileRules(delay=0.0)) as made:
        yield made


def harvested(
    silo: Silo, identifier: str, *urls: str, title: str = "A", day: int = 1, deleted=False
):
    links = "".join(f"<dc:identifier>{url}</dc:identifier>" for url in urls)
    metadata = None if deleted else DC.format(title=title, links=links).encode()
    header = Header(identifier, f"2010-01-0{day}", deleted=deleted)
    SiloWriter(silo, Reception("oai_dc")).store(ListPage((Record(header, metadata),)))


def content(silo: Silo, identifier: str, path: str, version: str | None = None) -> bytes:
    with silo[identifier].get_stream(path, version) as file:
        return file.read()


def failures(silo: Silo, identifier: str) -> dict[str, tuple[str, int]]:
    notes = Notes.of(silo[identifier].metadata)
    return {one.url: (one.reason, one.attempts) for one in notes.failed}


@pytest.mark.parametrize(
    "url", ["http://[::1.pdf", "http://[x]/1.pdf", "http://r\u2100.example/1.pdf"]
)
def test_an_address_that_is_none_is_named_and_the_others_are_fetched(silo, server, transport, url):
    harvested(silo, "oai:x:1", url, server.serve("/1/a.pdf", PDF))
    receipt = fetch_files(silo, transport)
    assert (receipt.fetched, receipt.failed) == (1, 1)
    assert failures(silo, "oai:x:1") == {url: ("is not an http or https address", 1)}


def test_files_come_into_the_version_whose_metadata_links_to_them(silo, server, transport):
    a = server.serve("/1/a.pdf", PDF, 200, {"Content-Type": "application/pdf", "ETag": '"1"'})
    harvested(silo, "oai:x:1", a, server.url + "/1/")
    harvested(silo, "oai:x:2")
    receipt = fetch_files(silo, transport)
    assert (receipt.records, receipt.fetched, receipt.received) == (2, 1, len(PDF))
    assert receipt.whole
    record = silo["oai:x:1"]
    assert record.paths() == ["oai_dc", "files/a.pdf"]
    assert record.versions == ["1"]
    assert not record.is_curated
    assert record.metadata_files == {"1": ["oai_dc"]}
    assert content(silo, "oai:x:1", "files/a.pdf") == PDF
    assert record.file_info("files/a.pdf").sha256 is not None
    assert record.versionlog[-1] == f"Fetched files/a.pdf from {a}"
    [note] = Notes.of(record.metadata).fetched
    assert (note.url, note.version, note.path) == (a, "1", "files/a.pdf")
    assert (note.type, note.etag) == ("application/pdf", '"1"')


def test_a_second_run_sends_nothing(silo, server, transport):
    harvested(silo, "oai:x:1", server.serve("/a.pdf"))
    fetch_files(silo, transport)
    revision = silo["oai:x:1"].revision
    Path(silo.path, ".silo", "files.sqlite").unlink()
    for _ in range(2):
        receipt = fetch_files(silo, transport)
        assert (receipt.records, receipt.fetched) == (1, 0)
    assert server.paths == ["/a.pdf"]
    assert silo["oai:x:1"].revision == revision


def test_harvested_content_stays_as_it_was_and_later_harvests_go_on(silo, server, transport):
    harvested(silo, "oai:x:1", server.serve("/a.pdf"))
    before = content(silo, "oai:x:1", "oai_dc")
    fetch_files(silo, transport)
    harvested(silo, "oai:x:1", server.url + "/a.pdf")
    assert silo["oai:x:1"].versions == ["1"]
    assert content(silo, "oai:x:1", "oai_dc") == before
    harvested(silo, "oai:x:1", server.url + "/a.pdf", title="B", day=2)
    assert silo["oai:x:1"].currentversion == "2"
    assert silo["oai:x:1"].paths("1") == ["oai_dc", "files/a.pdf"]
    harvested(silo, "oai:x:1", day=3, deleted=True)
    assert fetch_files(silo, transport).records == 0


def test_a_file_that_did_not_change_is_copied_into_the_next_version(silo, server, transport):
    server.answers["/a.pdf"] = lambda headers: (
        Reply(b"", 304) if headers.get("if-none-match") else Reply(headers={"ETag": '"1"'})
    )
    harvested(silo, "oai:x:1", server.url + "/a.pdf")
    fetch_files(silo, transport)
    harvested(silo, "oai:x:1", server.url + "/a.pdf", title="B", day=2)
    receipt = fetch_files(silo, transport)
    assert (receipt.fetched, receipt.unchanged) == (0, 1)
    assert content(silo, "oai:x:1", "files/a.pdf", "2") == PDF
    assert [one.version for one in Notes.of(silo["oai:x:1"].metadata).fetched] == ["1", "2"]
    assert fetch_files(silo, transport).unchanged == 0


def test_a_new_version_is_a_clone_that_takes_all_files(silo, server, transport):
    harvested(silo, "oai:x:1", server.serve("/a.pdf"), server.serve("/b.pdf"))
    wish = FilesWish(into=Into.NEW)
    assert fetch_files(silo, transport, wish).fetched == 2
    record = silo["oai:x:1"]
    assert record.versions == ["1", "2"]
    assert record.paths("1") == ["oai_dc"]
    assert record.paths("2") == ["oai_dc", "files/a.pdf", "files/b.pdf"]
    assert record.is_curated
    assert record.origin().of == "1"
    assert fetch_files(silo, transport, wish).fetched == 0


def test_a_frozen_version_takes_files_and_nothing_else_changes(silo, server, transport):
    harvested(silo, "oai:x:1", server.serve("/a.pdf"))
    harvested(silo, "oai:x:1", title="B", day=2)
    record = silo["oai:x:1"]
    record.set_version_cursor("1")
    record.sync()
    assert silo["oai:x:1"].is_frozen("1")
    assert fetch_files(silo, transport).fetched == 1
    assert silo["oai:x:1"].paths("1") == ["oai_dc", "files/a.pdf"]


def test_a_login_page_is_a_failure_and_no_file(silo, server, transport):
    page = b"<!DOCTYPE html><title>Log in</title>"
    url = server.serve("/a.pdf", page, 200, {"Content-Type": "application/pdf"})
    harvested(silo, "oai:x:1", url)
    receipt = fetch_files(silo, transport)
    assert not receipt.whole
    assert "is a web page (perhaps for login), not application/pdf" in str(receipt.failures[0])
    assert silo["oai:x:1"].paths() == ["oai_dc"]
    assert url in failures(silo, "oai:x:1")
    assert not list(Path(silo.path, ".silo").glob("tmp/*/*"))


def test_what_failed_for_good_is_tried_again_only_on_request(silo, server, transport):
    url = server.url + "/a.pdf"
    harvested(silo, "oai:x:1", url)
    assert fetch_files(silo, transport).failed == 1
    server.serve("/a.pdf")
    assert fetch_files(silo, transport).fetched == 0
    assert fetch_files(silo, transport, FilesWish(retry_failed=True)).fetched == 1
    assert FAILED not in silo["oai:x:1"].metadata


def test_what_failed_for_now_is_tried_in_each_run_and_counted(silo, server, transport):
    url = server.serve("/a.pdf", b"", 503)
    harvested(silo, "oai:x:1", url)
    for run in (1, 2):
        assert fetch_files(silo, transport).failed == 1
        reason, attempts = failures(silo, "oai:x:1")[url]
        assert (reason, attempts) == (
            "cannot be fetched after 2 attempts: HTTP 503 Service Unavailable",
            run,
        )
    server.serve("/a.pdf")
    assert fetch_files(silo, transport).whole


def test_a_host_that_does_not_answer_is_left_alone_after_some_links(silo, server, transport):
    for number in range(6):
        harvested(silo, f"oai:x:{number}", server.serve(f"/{number}.pdf", b"", 500))
    receipt = fetch_files(silo, transport)
    assert (receipt.failed, receipt.postponed) == (3, 3)
    assert list(receipt.hosts.values()) == ["does not answer"]
    assert failures(silo, "oai:x:5") == {}


def test_a_host_that_asks_for_time_is_left_alone_at_once(silo, server, transport):
    for number in range(3):
        url = server.serve(f"/{number}.pdf", b"", 429, {"Retry-After": "86400"})
        harvested(silo, f"oai:x:{number}", url)
    receipt = fetch_files(silo, transport)
    assert (receipt.failed, receipt.postponed) == (0, 3)
    assert server.paths == ["/0.pdf"]


def test_two_files_of_one_name_stand_side_by_side(silo, server, transport):
    harvested(silo, "oai:x:1", server.serve("/1/a.pdf", PDF + b"1"), server.serve("/2/a.pdf", PDF))
    fetch_files(silo, transport)
    assert silo["oai:x:1"].paths() == ["oai_dc", "files/a.pdf", "files/a-2.pdf"]
    assert content(silo, "oai:x:1", "files/a.pdf") == PDF + b"1"


def test_rules_limit_and_hook_choose(silo, server, transport):
    for number in range(4):
        harvested(
            silo, f"oai:x:{number}", server.serve(f"/{number}.pdf"), server.serve(f"/{number}")
        )
    rule = LinkRule.parse(r"dc:identifier=~.*/\d")
    asked = []

    def choose(identifier, links):
        asked.append((identifier, [link.url for link in links]))
        return links if identifier != "oai:x:0" else []

    receipt = fetch_files(silo, transport, FilesWish((rule,)), limit=2, choose=choose)
    assert receipt.fetched == 2
    assert receipt.limited
    assert receipt.whole
    assert server.paths == ["/1", "/2"]
    assert asked[0] == ("oai:x:0", [server.url + "/0"])
    assert fetch_files(silo, transport, identifiers=["oai:x:3"]).fetched == 1


@pytest.mark.long
def test_a_large_file_is_never_held_in_memory(tmp_path, server):
    size = 200_000_000
    server.answers["/large.pdf"] = lambda _headers: Reply(
        (b"%PDF-1.4" + bytes(99_992) if n == 0 else bytes(100_000) for n in range(size // 100_000)),
        length=size,
    )
    with Silo(str(tmp_path / "myrepo"), base_oai_url=server.url) as silo:
        harvested(silo, "oai:x:1", server.url + "/large.pdf")
    program = f"""
from processes import peak_megabytes
from recordsilo import Silo
from oaipmhscraper.documents.fetch_files import fetch_files
from politeweb.files import FileTransport, FileRules
with Silo({str(tmp_path / "myrepo")!r}) as silo, FileTransport({server.url!r}) as transport:
    before = peak_megabytes()
    print(fetch_files(silo, transport).received)
    print(round(peak_megabytes() - before))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "benchmarks")},
    )  # fmt: skip
    received, grown = map(int, done.stdout.split())
    assert received == size
    assert grown < 20  # megabytes


def test_a_run_killed_within_a_file_leaves_nothing_of_it_and_goes_on(
    tmp_path, silo, server, transport
):
    served = []

    def slow() -> Iterator[bytes]:
        yield PDF
        served.append(1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        yield PDF

    server.serve("/a.pdf")
    server.answers["/b.pdf"] = lambda _headers: Reply(slow(), length=2 * len(PDF))
    for name in ("a", "b", "c"):
        harvested(silo, f"oai:x:{name}", f"{server.url}/{name}.pdf")
    program = (
        "from oaipmhscraper.commands.fetch_files import fetch_files_command;"
        f"fetch_files_command.main([{silo.path!r}, '--delay', '0', '--quiet'])"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    process.wait()
    assert served
    assert process.returncode == -signal.SIGKILL
    assert silo["oai:x:a"].paths() == ["oai_dc", "files/a.pdf"]
    assert silo["oai:x:b"].paths() == ["oai_dc"]
    server.serve("/b.pdf")
    server.serve("/c.pdf")
    assert fetch_files(silo, transport).fetched == 2
    assert server.paths.count("/a.pdf") == 1


def test_sigterm_within_a_file_is_told_and_the_same_command_goes_on(
    tmp_path, silo, server, transport
):
    def slow() -> Iterator[bytes]:
        yield PDF
        process.send_signal(signal.SIGTERM)
        process.wait()
        yield PDF

    server.serve("/a.pdf")
    server.answers["/b.pdf"] = lambda _headers: Reply(slow(), length=2 * len(PDF))
    for name in ("a", "b"):
        harvested(silo, f"oai:x:{name}", f"{server.url}/{name}.pdf")
    program = "from recordsilo.cli import main; main()"
    command = [sys.executable, "-c", program, "fetch-files", silo.path, "--delay", "0"]
    with open(tmp_path / "said", "w+", encoding="utf-8") as said:
        process = subprocess.Popen(command, stderr=said)
        assert process.wait() == 75
        said.seek(0)
        assert "interrupted; run the same command to continue" in said.read()
    server.serve("/b.pdf")
    assert fetch_files(silo, transport).fetched == 1


def test_a_record_removed_meanwhile_is_no_error(silo, server, transport):
    harvested(silo, "oai:x:1", server.url + "/a.pdf")

    def removing(_headers):
        silo.del_item("oai:x:1")
        return Reply()

    server.answers["/a.pdf"] = removing
    fetch_files(silo, transport)
    assert "oai:x:1" not in silo


# --------------------------------------------------------------------------- notes


def test_notes_survive_what_others_write_into_metadata():
    found = Notes.of(
        {FETCHED: [{"url": "u", "version": "1", "path": "p", "size": 3}, 7, {}], FAILED: "x"}
    )
    assert found == Notes((FetchedFile("u", "1", "p"),))
    assert Notes.of({}) == Notes()


def test_notes_round_trip():
    notes = (
        Notes()
        .with_failed(FailedLink("u", "r", "d"))
        .with_failed(FailedLink("u", "s", "e", lasting=False))
    )
    assert notes.failed == (FailedLink("u", "s", "e", 2, lasting=False),)
    assert Notes.of(notes.to_json()) == notes
    fetched = notes.with_fetched(FetchedFile("u", "1", "p", "t", "d", "e", "l"))
    assert fetched.failed == ()
    assert Notes.of(json.loads(json.dumps(fetched.to_json()))) == fetched


# --------------------------------------------------------------------------- the command


def run(*arguments: str):
    return CliRunner().invoke(fetch_files_command, [*arguments, "--delay", "0", "--attempts", "1"])


def test_the_command_fetches_and_tells(silo, server):
    harvested(silo, "oai:x:1", server.serve("/a.pdf"))
    done = run(silo.path)
    assert done.exit_code == 0
    assert "1 record examined: 1 file fetched" in done.output
    assert run(silo.path, "--quiet").output == ""


def test_the_command_names_what_failed_and_ends_with_1(silo, server):
    harvested(silo, "oai:x:1", server.url + "/a.pdf")
    done = run(silo.path, "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["counts"]["failed"] == 1
    assert found["failures"][0]["reason"] == "is answered with HTTP 404 Not Found"
    again = run(silo.path, "--retry-failed", "--quiet", "--item", "oai:x:1")
    assert again.exit_code == 1
    assert "HTTP 404" in again.output


def test_the_command_says_when_to_come_again(silo, server):
    harvested(silo, "oai:x:1", server.serve("/a.pdf", b"", 503, {"Retry-After": "86400"}))
    done = run(silo.path)
    assert done.exit_code == 75
    assert "postponed; run the same command to continue" in done.output


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (("--rule", "a=b"), "is not a rule"),
        (("--max-size", "much"), "is not a size"),
        (("--item", "nobody"), "nobody"),
    ],
)
def test_a_users_mistake_is_a_sentence(silo, option, sentence):
    done = run(silo.path, *option)
    assert done.exit_code != 0
    assert sentence in f"{done.output}{done.exception}"


def test_the_command_takes_the_turns_of_the_fleet_beside_its_silo(silo, server):
    harvested(silo, "oai:x:1", server.serve("/a.pdf"))
    fleet = os.path.join(os.path.dirname(silo.path), "fleet")
    os.mkdir(fleet)
    FilePace(fleet, host_of(server.url), 0.01).reserve()

    def next_turn():
        with closing(sqlite3.connect(os.path.join(fleet, "hosts.sqlite"))) as hosts:
            return hosts.execute("SELECT next FROM host").fetchone()[0]

    before = next_turn()
    command = [silo.path, "--delay", "0", "--ignore-robots"]
    result = CliRunner().invoke(fetch_files_command, command)
    assert result.exit_code == 0, result.output
    assert next_turn() > before
