"""Documents below a watched target become records of a Silo of their own."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from crawl_records import put_record
from landing_pages import DOI, KINDS, LAYOUTS, TITLE, with_type
from site_of_traps import Reply, Site, page, pdf

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.formats import Description, describe
from silocrawl.cataloguing import cataloguing_step
from silocrawl.launching import launch_now
from silocrawl.messages import CATALOGUE
from silocrawl.proposals import ProposalState, Reason, proposals
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, add_target, load_target
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import StepWorker
from silowork.stop import Stop

NOW = datetime.now(UTC).replace(microsecond=0)
RIGHT = KINDS["right"].content


@pytest.fixture
def into(tmp_path: Path) -> str:
    return str(tmp_path / "reports-silo")


@pytest.fixture
def watch(
    silo: Silo, queues: SqliteQueues, site: Site, into: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Crawl below ``/reports/`` as a watched target, once more if it was."""
    monkeypatch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)
    add_target(
        silo.path,
        CrawlTarget("t", Timetable(once=NOW), f"{site.url}/reports/", scope=Scope(ScopeKind.PATH),
               made=NOW),
    )  # fmt: skip
    assert command("watch", silo.path, "t", into).exit_code == 0

    def run(*, is_again: bool = False) -> None:
        if is_again:
            time.sleep(1.1)  # captures are told apart by the second
            launch_now(silo, queues, load_target(silo.path, "t"))
        CrawlWorker(silo, queues, CrawlSettings(8, 0.0, is_private=True, pauses=(0.05,))).run(
            Stop(), until_idle=True
        )
        worker = StepWorker(queues, [cataloguing_step(silo.path)], Stop())
        while worker.work_once() is not None:
            pass
        assert queues.sizes()[CATALOGUE].alive == queues.sizes()[CATALOGUE].dead == 0

    return run


def command(*given: str) -> Result:
    return CliRunner().invoke(silo_command, ["crawl", "target", *given])


def described(silo: Silo, identifier: str) -> Description:
    with silo[identifier].get_stream("oai_dc") as file:
        found = describe("oai_dc", bytes(file.read()))
    assert found is not None
    return found


def documents(silo: Silo, identifier: str) -> list[str]:
    return [one for one in silo[identifier].state.current.paths if one.startswith("files/")]


@pytest.mark.long
def test_pages_and_listed_documents_become_records_once(
    silo: Silo, queues: SqliteQueues, site: Site, into: str, watch: Callable[..., None]
) -> None:
    site.pages |= {
        "/reports/": page(
            '<a href="7">seven</a><a href="to-8">Report of the eighth year, by all of us</a>'
            '<a href="9.pdf">pdf</a><a href="cut.pdf">pdf</a><a href="old">old</a>'
        ),
        "/reports/7": LAYOUTS["schema_org"]("/reports/get/7"),
        "/reports/get/7": Reply(302, b"", {"Location": "/reports/files/7.pdf"}),
        "/reports/files/7.pdf": with_type(RIGHT),
        "/reports/to-8": pdf(KINDS["scan"].content),
        "/reports/9.pdf": pdf(KINDS["title"].content),
        "/reports/cut.pdf": pdf(KINDS["cut"].content),
        "/reports/old": LAYOUTS["eprints"]("/reports/old.pdf"),
        "/reports/old.pdf": pdf(KINDS["doi"].content),
    }
    watch()
    url = f"{site.url}/reports/"
    with Silo(into) as found:
        assert set(found) == {f"{url}{one}" for one in ("7", "to-8", "9.pdf", "old")}
        said = described(found, f"{url}7")
        assert (said.title, said.dates[0].text, said.publishers[0].text) == (
            TITLE, "2024-07-01", "Mines",
        )  # fmt: skip
        assert [one.text for one in said.identifiers] == [
            f"https://doi.org/{DOI}", f"{url}7", f"{url}files/7.pdf",
        ]  # fmt: skip
        assert [one.text for one in said.creators] == ["Ada Ng"]
        assert documents(found, f"{url}7") == ["files/7.pdf"]
        assert described(found, f"{url}old").dates[0].text == "2024"
        listed = described(found, f"{url}to-8")
        assert listed.title == "Report of the eighth year, by all of us"
        assert (listed.dates, listed.sources[0].text) == ((), url)
        assert described(found, f"{url}9.pdf").title == "9.pdf"
        assert found[f"{url}7"].metadata["crawled_files"][0]["reason"] == "watched"
        revisions = {one: found[one].revision for one in found}
    (cut,) = proposals(silo.path, ProposalState.REJECTED)
    assert (cut.url, cut.reason, cut.target) == (f"{url}cut.pdf", Reason.CUT_SHORT, "t")
    assert proposals(silo.path) == []
    queues.forget(CATALOGUE, time.time() + 1)
    Path(silo.path, "crawling", "catalogue.sqlite").unlink()
    watch(is_again=True)  # of revisits, and without the memory of what was done
    with Silo(into) as found:
        assert {one: found[one].revision for one in found} == revisions


@pytest.mark.long
def test_what_people_changed_or_removed_stays_so(
    silo: Silo, queues: SqliteQueues, site: Site, into: str, watch: Callable[..., None]
) -> None:
    site.pages |= {
        "/reports/": page('<a href="7">seven</a><a href="9.pdf">nine</a>'),
        "/reports/7": LAYOUTS["only_pdf"]("/reports/7.pdf"),
        "/reports/7.pdf": pdf(RIGHT),
        "/reports/9.pdf": pdf(KINDS["title"].content),
    }
    watch()
    with Silo(into) as found:
        record = found[f"{site.url}/reports/7"]
        record.put_stream("oai_dc", b"<dc><title>Better</title></dc>", metadata=True)
        found.del_item(f"{site.url}/reports/9.pdf", remember=True)
    site.pages["/reports/7"] = page('<a class=download download href="7b.pdf">x</a>')
    site.pages["/reports/7b.pdf"] = pdf(KINDS["doi"].content)
    Path(silo.path, "crawling", "catalogue.sqlite").unlink()
    queues.forget(CATALOGUE, time.time() + 1)
    watch(is_again=True)
    with Silo(into) as found:
        assert list(found) == [f"{site.url}/reports/7"]
        assert described(found, f"{site.url}/reports/7").title == "Better"
        assert documents(found, f"{site.url}/reports/7") == ["files/7.pdf", "files/7b.pdf"]


def test_a_target_that_is_not_watched_makes_no_records(
    silo: Silo, site: Site, into: str, watch: Callable[..., None], queues: SqliteQueues
) -> None:
    site.pages["/reports/"] = page('<a href="9.pdf">nine</a>')
    site.pages["/reports/9.pdf"] = pdf(RIGHT)
    assert "become records of" not in command("unwatch", silo.path, "t").output
    CrawlWorker(silo, queues, CrawlSettings(2, 0.0, is_private=True)).run(Stop(), until_idle=True)
    assert CATALOGUE not in queues.sizes()
    with Silo(into) as found:
        assert list(found) == []


def test_what_cannot_be_watched_is_refused_in_a_sentence(
    silo: Silo, tmp_path: Path, into: str
) -> None:
    put_record(silo, "7", "https://example.org/7")
    add_target(silo.path, CrawlTarget("t", Timetable(once=NOW), "https://example.org/", made=NOW))
    add_target(silo.path, CrawlTarget("links", Timetable(once=NOW), made=NOW))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("x")
    (tmp_path / "link").symlink_to(silo.path)
    for name, place, said in (
        ("t", "", "give the directory of the Silo"),
        ("t", str(tmp_path / "link"), "need a Silo of their own"),
        ("t", str(tmp_path / "link" / "in"), "need a Silo of their own"),
        ("links", into, "only an address is watched"),
        ("t", silo.path, "need a Silo of their own"),
        ("t", f"{silo.path}/in", "need a Silo of their own"),
        ("t", str(tmp_path / "full"), "full"),
        ("t", str(tmp_path / "no" / "parent"), "no/parent"),
        ("none", into, "there is no target 'none'"),
    ):
        done = command("watch", silo.path, name, place)
        assert done.exit_code
        assert said in (done.stderr or str(done.exception))
        assert not load_target(silo.path, "t").watched
    assert not Path(into).exists()
