"""Web archives of one file: what is in them, and what others say of them."""

import gzip
import json
import re
import subprocess
import sys
import time
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import real_pywb
import requests
from crawl_records import put_record
from ports import free_port
from site_of_traps import PDF, Reply, Site, page, pdf, tagged
from warcio.archiveiterator import ArchiveIterator

from politeweb.warc.pairs import resource_record
from politeweb.warc.writing import WarcFiles
from recordsilo import Silo
from recordsilo.selection import Selection
from silocrawl.addresses import DOM, PICTURE
from silocrawl.cdxj import Segments, line_of
from silocrawl.chosen import ChosenCaptures
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.launching import inject, launch_now
from silocrawl.paths import archives_directory, index_directory
from silocrawl.places import Places
from silocrawl.running import CrawlSettings, CrawlWorker
from silocrawl.targets import CrawlTarget, add_target, load_target
from silocrawl.wacz import write_wacz
from silowork.due.timetable import Timetable
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

pytestmark = pytest.mark.long

SILO = [sys.executable, "-c", "from recordsilo.cli import main; main()"]


def silo_command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*SILO, *arguments], check=False, capture_output=True, text=True)


def crawl(silo: Silo, queues: SqliteQueues) -> None:
    settings = CrawlSettings(4, 0.0, is_private=True, pauses=(0.05,))
    CrawlWorker(silo, queues, settings).run(Stop(), until_idle=True)


@pytest.fixture
def crawled(silo: Silo, queues: SqliteQueues, site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A crawl of two records, and of an address that no record has."""
    monkeypatch.setattr("silocrawl.running.SECONDS_BETWEEN_BATCHES", 0.05)
    site.pages |= {
        "/id/7": Reply(302, b"", {"Location": "/paper/7"}),
        "/paper/7": page('<a href="/7.pdf">pdf</a><img src=/i.png>'),
        "/7.pdf": pdf(),
        "/8": tagged(page("eight"), '"8"'),
        "/other": page("of nobody"),
    }
    put_record(silo, "7", f"{site.url}/id/7", "http://[nonsense/")
    put_record(silo, "8", f"{site.url}/8")
    add_target(silo.path, CrawlTarget("t", Timetable(once=datetime(2199, 1, 1, tzinfo=UTC))))
    launch_now(silo, queues, load_target(silo.path, "t"))
    inject(queues, [f"{site.url}/other"], force=False)
    crawl(silo, queues)
    return site


class Archive:
    """The parts of an archive."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as file:
            assert file.testzip() is None
            assert {one.compress_type for one in file.infolist()} == {zipfile.ZIP_STORED}
            self.parts = {name: file.read(name) for name in file.namelist()}
        self.warc = self.parts["archive/data.warc.gz"]
        index = gzip.decompress(self.parts["indexes/index.cdx.gz"]).decode()
        self.lines = index.splitlines()
        self.captures = [json.loads(line.split(" ", 2)[2]) for line in self.lines]

    def paths(self, site: Site) -> list[str]:
        return sorted(one["url"].removeprefix(site.url) for one in self.captures)

    def kinds(self) -> list[str]:
        records = ArchiveIterator(BytesIO(self.warc), check_digests="raise")
        return [record.rec_type for record in records if record.content_stream().read() or True]

    def record(self, capture: dict[str, Any]) -> tuple[str, str, bytes]:
        begin = int(capture["offset"])
        some = self.warc[begin : begin + int(capture["length"])]
        record = next(iter(ArchiveIterator(BytesIO(some), check_digests="raise")))
        url = record.rec_headers.get_header("WARC-Target-URI")
        return record.rec_type, url, record.content_stream().read()


def test_a_record_has_what_was_reached_from_its_links(
    silo: Silo, crawled: Site, tmp_path: Path
) -> None:
    out = tmp_path / "7.wacz"
    done = silo_command("export", "wacz", silo.path, "7", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        f"{out}: 4 captures of the record oai:example.org:7; 2 pages and documents\n"
    )
    archive = Archive(out)
    assert archive.paths(crawled) == ["/7.pdf", "/i.png", "/id/7", "/paper/7"]
    assert archive.lines == sorted(archive.lines)
    assert archive.kinds() == ["warcinfo", *["response", "request"] * 4]
    for one in archive.captures:
        assert archive.record(one)[:2] == ("response", one["url"])
    pages = [json.loads(one) for one in archive.parts["pages/pages.jsonl"].splitlines()]
    assert pages[0]["format"] == "json-pages-1.0"
    found = sorted(one["url"].removeprefix(crawled.url) for one in pages[1:])
    assert found == ["/7.pdf", "/paper/7"]
    package = json.loads(archive.parts["datapackage.json"])
    assert package["title"] == "the record oai:example.org:7"
    assert {one["path"] for one in package["resources"]} == {
        name for name in archive.parts if not name.startswith("datapackage")
    }


@pytest.mark.parametrize("most", [0, 5_000])
def test_a_page_comes_with_what_a_browser_showed_of_it(
    silo: Silo, crawled: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("silocrawl.chosen.MOST_LOOKED_UP", most)
    index = Segments(index_directory(silo.path))
    times = {
        json.loads(line.split(" ", 2)[2])["url"]: line.split(" ")[1]
        for line in index.find("", is_prefix=True)
    }
    archive = WarcFiles(archives_directory(silo.path), "20260101T000000.000000Z", {})
    for url, moment in (
        (f"{crawled.url}/paper/7", times[f"{crawled.url}/paper/7"]),
        (f"{crawled.url}/paper/7", "20200101000000"),
        (f"{crawled.url}/8", times[f"{crawled.url}/8"]),
    ):
        for name, mimetype in ((PICTURE, "image/png"), (DOM, "text/html")):
            began = datetime.strptime(f"{moment}+0000", "%Y%m%d%H%M%S%z")
            record = b"".join(resource_record(f"{name}{url}", mimetype, b"seen", began))
            filename, place = archive.append(record)
            one = CrawlOutcome(moment, f"{name}{url}", 200, mimetype,
                          warc_filename=filename, warc_offset=place)  # fmt: skip
            index.add([line_of(one, len(record))])
    archive.close()
    with ChosenCaptures(index) as chosen, (tmp_path / "7.wacz").open("wb") as file:
        chosen.add_records(silo, Selection(identifiers=("oai:example.org:7",)))
        done = write_wacz(chosen, Places.of_silo(silo.path), file, "seven")
    assert (done.captures, done.pages, done.losses) == (6, 2, 0)
    seen = [one for one in Archive(tmp_path / "7.wacz").captures if one["url"].startswith("urn:")]
    assert [one["url"] for one in seen] == [
        f"{DOM}{crawled.url}/paper/7", f"{PICTURE}{crawled.url}/paper/7",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        (["--target", "t"], ["/7.pdf", "/8", "/i.png", "/id/7", "/paper/7"]),
        (["--crawl", "injected"], ["/other"]),
        (["--item", "8"], ["/8"]),
        ([], ["/7.pdf", "/8", "/i.png", "/id/7", "/other", "/paper/7"]),
    ],
)
@pytest.mark.long
def test_targets_launches_searches_and_everything(
    silo: Silo, crawled: Site, tmp_path: Path, options: list[str], paths: list[str]
) -> None:
    out = str(tmp_path / "some.wacz")
    assert silo_command("export", "wacz", silo.path, *options, out).returncode == 0
    assert Archive(Path(out)).paths(crawled) == paths
    again = silo_command("export", "wacz", silo.path, "8", out, "--on-conflict", "overwrite")
    assert again.returncode == 0
    assert Archive(Path(out)).paths(crawled) == ["/8"]


@pytest.mark.long
def test_a_revisit_comes_with_the_capture_it_repeats(
    silo: Silo, queues: SqliteQueues, crawled: Site, tmp_path: Path
) -> None:
    time.sleep(1.1)  # captures are told apart by the second
    launched = launch_now(silo, queues, load_target(silo.path, "t"))
    crawl(silo, queues)
    out = tmp_path / "last.wacz"
    launch = f"t/{launched.due:%Y%m%dT%H%M%SZ}"
    assert silo_command("export", "wacz", silo.path, "--crawl", launch, str(out)).returncode == 0
    archive = Archive(out)
    mine = [one for one in archive.captures if one["url"] == f"{crawled.url}/8"]
    assert [one["mime"] for one in mine] == ["text/html", "warc/revisit"]
    assert b"eight" in archive.record(mine[0])[2]
    kinds = archive.kinds()
    assert (kinds.count("revisit"), kinds.count("response"), len(kinds)) == (3, 5, 17)


def test_records_that_are_lost_are_told_and_the_others_written(
    silo: Silo, crawled: Site, tmp_path: Path
) -> None:
    index = Segments(index_directory(silo.path))
    (line,) = (one for one in index.find("", is_prefix=True) if "/7.pdf" in one)
    place = json.loads(line.split(" ", 2)[2])
    (warc,) = Path(silo.path, "crawling", "warcs").iterdir()
    content = bytearray(warc.read_bytes())
    content[int(place["offset"])] = 0
    warc.write_bytes(content)
    out = tmp_path / "7.wacz"
    done = silo_command("export", "wacz", silo.path, "7", str(out))
    assert done.returncode == 1
    # A reader takes what is not gzip as text: which of the two it is depends on the bytes.
    found = rf"/7\.pdf: {warc.name} (is damaged|has no record of it) at byte"
    assert re.search(found, done.stderr)
    assert Archive(out).paths(crawled) == ["/i.png", "/id/7", "/paper/7"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["9", "{out}"], "9"),
        (["7"], "does not end in .wacz"),
        (["--target", "nope", "{out}"], "there is no target 'nope'"),
        (
            ["--crawl", "../../x", "{out}"],
            "there is no launch '../../x'; the last ones: injected, t/2",
        ),
        (["7", "--target", "t", "{out}"], "choose records, or --target, or --crawl"),
        (
            ["bare", "{out}"],
            "oai:example.org:bare, so nothing was written; silo crawl target add and",
        ),
        (["{there}"], "exists; name another file, or replace it with --on-conflict overwrite"),
    ],
)
def test_wrong_input_gets_a_sentence(
    silo: Silo, crawled: Site, tmp_path: Path, arguments: list[str], said: str
) -> None:
    put_record(silo, "bare")
    there, out = tmp_path / "there.wacz", tmp_path / "out.wacz"
    there.write_text("mine")
    named = [one.format(out=out, there=there) for one in arguments]
    done = silo_command("export", "wacz", silo.path, *named)
    assert done.returncode == 2
    assert said in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["silo", "there.wacz"]
    assert there.read_text() == "mine"


def test_a_silo_that_crawled_nothing_has_nothing(silo: Silo, tmp_path: Path) -> None:
    done = silo_command("export", "wacz", silo.path, str(tmp_path / "out.wacz"))
    assert (done.returncode, "nothing is archived of the Silo" in done.stderr) == (2, True)


@pytest.mark.long
def test_others_check_and_replay_an_archive(silo: Silo, crawled: Site, tmp_path: Path) -> None:
    wacz, wayback = real_pywb.installed("wacz"), real_pywb.installed("wayback")
    out = tmp_path / "7.wacz"
    assert silo_command("export", "wacz", silo.path, "7", str(out)).returncode == 0
    checked = subprocess.run([wacz, "validate", "-f", str(out)], check=False, capture_output=True)
    assert checked.returncode == 0, checked.stdout.decode()
    manager = str(Path(wayback).with_name("wb-manager"))
    collection = tmp_path / "pywb"
    collection.mkdir()
    for arguments in (["init", "own"], ["add", "--unpack-wacz", "own", str(out)]):
        subprocess.run([manager, *arguments], check=True, cwd=collection, capture_output=True)
    port = free_port()
    replay = [wayback, "-p", str(port), "-b", "127.0.0.1"]
    with subprocess.Popen(replay, cwd=collection, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}/own/2026id_/{crawled.url}/7.pdf"
            assert _answered(url).content == PDF
        finally:
            process.terminate()


def _answered(url: str) -> requests.Response:
    end = time.monotonic() + 200
    while True:
        try:
            return requests.get(url, timeout=30)
        except requests.ConnectionError:
            assert time.monotonic() < end
            time.sleep(0.1)
