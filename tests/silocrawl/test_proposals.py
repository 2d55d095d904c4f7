"""What people decide about documents that may belong to a record."""

import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from crawl_records import put_record
from site_of_traps import Site, packed, pdf

from crawlmatch.outcomes import NEXT_STEPS, NextSteps
from oaipmhprovider.sample.pdf import pdf_of
from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.contributions import contribution
from silocrawl.captures import Captures, CaptureUnreadable
from silocrawl.launching import inject
from silocrawl.paths import archives_directory, catalogue_file
from silocrawl.pdf_pages import PdfFault, first_pages, picture_of
from silocrawl.proposals import (
    Documents,
    Proposal,
    ProposalRefused,
    ProposalState,
    Reason,
    accept,
    first_page,
    proposal,
    proposals,
    reject,
)
from silocrawl.running import CrawlSettings, CrawlWorker
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

PAPER = pdf_of("Solar cells of the sea", "Second page")
RECORD = "oai:example.org:7"


@pytest.fixture
def proposed(
    silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Proposal]:
    """Crawl an address, and propose it to a record."""
    monkeypatch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)

    def propose(path: str = "/7.pdf", record: str = RECORD) -> Proposal:
        inject(queues, [site.url + path], force=True)
        CrawlWorker(silo, queues, CrawlSettings(2, 0.0, is_private=True)).run(
            Stop(), until_idle=True
        )
        (one, *_) = Captures(silo.path).of(site.url + path)
        made = Proposal(record, one.url, one.digest, one.timestamp, one.mimetype, Reason.NO_TEXT)
        with Documents(silo.path) as documents:
            documents.keep(made)
        return proposals(silo.path)[-1]

    site.pages |= {"/7.pdf": pdf(PAPER), "/packed.pdf": packed(pdf(PAPER))}
    put_record(silo, "7", "https://example.org/7")
    return propose


def content(silo: Silo, path: str, record: str = RECORD) -> bytes:
    with silo[record].get_stream(path) as file:
        return bytes(file.read())


@pytest.mark.parametrize("path", ["/7.pdf", "/packed.pdf"])
def test_an_accepted_document_is_in_its_record_once_with_who_and_when(
    silo: Silo, proposed: Callable[..., Proposal], path: str
) -> None:
    one = proposed(path)
    for _ in range(2):
        (done,) = accept(silo, [one.number], "ada")
    assert (done.state, done.agent) == (ProposalState.ATTACHED, "ada")
    assert (datetime.now(UTC) - done.decided).total_seconds() < 60
    assert proposals(silo.path) == []
    assert content(silo, f"files{path}") == PAPER
    (note,) = silo[RECORD].metadata["crawled_files"]
    assert (note["accepted_by"], note["final_url"], note["reason"]) == ("ada", one.url, "no-text")
    assert note["accepted"].startswith(f"{done.decided:%Y-%m-%dT%H:%M}"[:13])


def test_a_rejected_document_is_never_proposed_again(
    silo: Silo, proposed: Callable[..., Proposal]
) -> None:
    one = proposed()
    (done,) = reject(silo.path, [one.number], "ada")
    assert (done.state, done.agent) == (ProposalState.REJECTED, "ada")
    with Documents(silo.path) as documents:
        documents.keep(one)
    assert proposals(silo.path) == []
    assert proposal(silo.path, one.number) == done
    assert proposals(silo.path, ProposalState.REJECTED, record=RECORD) == [done]
    assert accept(silo, [one.number], "bob")[0].state is ProposalState.ATTACHED


def test_an_attached_document_is_not_rejected(
    silo: Silo, proposed: Callable[..., Proposal]
) -> None:
    one = proposed()
    accept(silo, [one.number], "ada")
    with pytest.raises(ProposalRefused, match=r"is attached to .* already"):
        reject(silo.path, [one.number], "bob")
    assert proposal(silo.path, one.number).agent == "ada"


def test_a_document_of_a_record_that_is_gone_is_refused(
    silo: Silo, proposed: Callable[..., Proposal]
) -> None:
    one = proposed(record="oai:example.org:none")
    with pytest.raises(ProposalRefused, match="there is no such record"):
        accept(silo, [one.number], "ada")
    assert proposal(silo.path, one.number).state is ProposalState.PROPOSED


def test_another_body_in_the_archive_is_never_attached(
    silo: Silo, proposed: Callable[..., Proposal]
) -> None:
    one = proposed()
    (archive,) = Path(archives_directory(silo.path)).glob("*.warc.gz")
    archive.write_bytes(archive.read_bytes()[: Captures(silo.path).of(one.url)[0].offset + 99])
    with pytest.raises(CaptureUnreadable, match="cannot be read from the archive"):
        accept(silo, [one.number], "ada")
    archive.unlink()
    with pytest.raises(CaptureUnreadable, match="there is no "):
        first_page(silo, one)
    assert "crawled_files" not in silo[RECORD].metadata


def test_the_first_page_is_a_picture(silo: Silo, proposed: Callable[..., Proposal]) -> None:
    drawn = first_page(silo, proposed(), 300)
    assert drawn.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", drawn[16:24]) == (300, 425)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (PAPER[: len(PAPER) // 2], PdfFault.DAMAGED),
        (b"", PdfFault.DAMAGED),
        (b"x" * 9999, PdfFault.DAMAGED),
    ],
)
def test_what_is_no_pdf_has_no_pages(tmp_path: Path, given: bytes, fault: PdfFault) -> None:
    path = tmp_path / "some.pdf"
    path.write_bytes(given)
    assert first_pages(str(path)).fault is fault
    assert picture_of(str(path)) == b""


def test_a_pdf_with_a_password_is_named_as_such(tmp_path: Path) -> None:
    lock = b"/Encrypt<</Filter/Standard/V 1/R 2/Length 40/P -4/O<%b>/U<%b>>>" % (
        b"41" * 32,
        b"42" * 32,
    )
    path = tmp_path / "some.pdf"
    path.write_bytes(PAPER.replace(b"/Root 1 0 R", b"/Root 1 0 R/ID[<00><00>]" + lock))
    assert first_pages(str(path)).fault is PdfFault.ENCRYPTED


def test_a_reader_that_takes_too_much_memory_ends_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "some.pdf"
    path.write_bytes(PAPER)
    assert first_pages(str(path)).text.startswith("Solar cells of the sea")
    monkeypatch.setattr("silocrawl.limited_process.MEMORY", 10 << 20)
    found = first_pages(str(path))
    assert (found.fault, found.is_final) == (PdfFault.LIMITS, True)
    monkeypatch.undo()
    monkeypatch.setattr("silocrawl.limited_process.SECONDS", 0.001)
    found = first_pages(str(path))
    assert (found.fault, found.is_final, picture_of(str(path))) == (PdfFault.LIMITS, False, None)


def test_the_commands_list_accept_and_reject(silo: Silo, proposed: Callable[..., Proposal]) -> None:
    one = proposed()

    def run(*given: str) -> Result:
        return CliRunner().invoke(silo_command, ["crawl", "proposals", *given])

    done = run("list", silo.path)
    assert done.stdout == f"{one.number}\t{RECORD}\tno-text\t-\t{one.url}\n"
    (table,) = json.loads(run("list", silo.path, "--json", "--record", "7").stdout)
    assert (table["why"], table["dois"], table["state"]) == (
        "It has no text to compare: probably it is a scan.", [], "proposed",
    )  # fmt: skip
    assert run("reject", silo.path, str(one.number), "--agent", "ada").exit_code == 0
    way = f"silo crawl run {silo.path} proposes those that no rule is sure of"
    assert run("list", silo.path).stderr == f"silo: no documents wait for a decision; {way}\n"
    assert "silo: no such documents; " in run("list", silo.path, "--record", "7").stderr
    assert "rejected, no-text" in run("list", silo.path, "--which", "all").stdout
    missing = run("accept", silo.path, "99")
    assert missing.exit_code == 2
    assert "there is no document 99 here" in missing.stderr


def test_the_commands_say_what_was_decided_before(
    silo: Silo, proposed: Callable[..., Proposal]
) -> None:
    number = str(proposed().number)

    def run(*given: str) -> Result:
        return CliRunner().invoke(silo_command, ["crawl", "proposals", *given])

    def paths() -> list[str]:
        with silo.editing(RECORD) as edit:
            return list(edit.manifest.current.paths)

    assert run("reject", silo.path, number).stdout == "1 document rejected\n"
    assert run("reject", silo.path, number).stdout == "1 document already rejected\n"
    assert run("accept", silo.path, number, number).stdout == "1 document attached\n"
    assert run("accept", silo.path, number).stdout == "1 document already attached\n"
    assert "files/7.pdf" in paths()
    assert run("undo", silo.path, number).stdout == "1 document proposed\n"
    assert "files/7.pdf" not in paths()
    assert run("undo", silo.path, number).stdout == "1 document already proposed\n"
    unread = run("accept", silo.path, "abc")
    assert unread.exit_code == 2
    assert "'abc' is not a valid number of a document" in unread.stderr


def test_a_number_that_nothing_can_have_is_refused(silo: Silo, queues: SqliteQueues) -> None:
    huge = "9" * 30
    for given in (
        ("proposals", "accept", silo.path, huge),
        ("proposals", "reject", silo.path, huge),
        ("queue", "retry", silo.path, "uris-to-crawl", huge),
    ):
        done = CliRunner().invoke(silo_command, ["crawl", *given])
        assert done.exit_code == 2
        assert "number" in done.stderr or "range" in done.stderr
    assert queues.sizes() == {}


def test_what_is_next_for_a_link_is_what_became_of_its_documents(silo: Silo) -> None:
    link, other = "https://example.org/1", "https://example.org/2"
    why = "Its first page has the record's DOI, and others"
    Path(catalogue_file(silo.path)).parent.mkdir(exist_ok=True)
    known = contribution(NEXT_STEPS, "own", NextSteps)
    assert known.of(silo.path, ["oai:x:1"], link) == ""
    with Documents(silo.path) as documents:
        for number in (1, 2, 3):
            documents.keep(Proposal(
                "oai:x:1", f"{link}/{number}.pdf", f"D{number}", "20260301023000",
                "application/pdf", Reason.SEVERAL_DOIS, seed=link,
            ))  # fmt: skip
        documents.decide(2, ProposalState.ATTACHED, "a.curator")
        documents.decide(3, ProposalState.REJECTED, "a.curator")
    assert known.of(silo.path, ["oai:x:1"], link).split("; ") == [
        f"decide by silo crawl proposals accept DIR 1, or reject ({why})",
        "nothing to do",
        "document 2 is attached to oai:x:1",
        "nothing to do",
        "document 3 was rejected by a.curator",
    ]
    every = known.of(silo.path, ["oai:x:1"], link)
    assert known.of(silo.path, ["oai:x:1"], other) == every, "it leads to the same documents"
    assert known.of(silo.path, ["oai:x:2"], link) == ""
    assert known.of(silo.path, [], "no address") == ""
