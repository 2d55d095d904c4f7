"""Checkpoints of our own crawls, and those of Heritrix on this disk."""

import fcntl
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from site_of_traps import Site, page

from politeweb.warc.writing import WarcFiles
from recordsilo import Silo
from silocrawl.launching import inject
from silocrawl.messages import TO_PACKAGE
from silocrawl.packages.checkpointing import checkpoint_now, put_unknown
from silocrawl.packages.checkpoints import facts_of
from silocrawl.packages.heritrix_checkpoints import NoJob, heritrix_checkpoints, load_heritrix
from silocrawl.packages.layout import checkpoints_directory
from silocrawl.packages.own_checkpoints import (
    CheckpointUnreadable,
    ask_for_checkpoint,
    checkpoint_names,
    is_wanted,
    load_own,
)
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.values import LogRange, PackagingError, package_id_of
from silocrawl.paths import archives_directory
from silocrawl.running import CrawlSettings, CrawlWorker
from silowork.queues.sqlite import SqliteQueues
from silowork.stop import Stop

QUICK = CrawlSettings(4, 0.0, is_private=True, pauses=(0.05, 0.05, 0.05))
OWN = StoreSettings()


@pytest.fixture
def crawl(silo: Silo, queues: SqliteQueues, site: Site) -> Callable[..., None]:
    """Fetch pages of the site in a run of their own."""

    def run(*paths: str) -> None:
        site.pages |= {path: page(f"about {path}") for path in paths}
        inject(queues, [site.url + path for path in paths], force=False)
        CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)

    return run


def warcs(silo: Silo) -> set[str]:
    return {one.name for one in Path(archives_directory(silo.path)).glob("*.warc.gz")}


@pytest.mark.long
def test_each_file_and_each_line_is_in_one_checkpoint(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None]
) -> None:
    crawl("/a", "/b")
    first = checkpoint_now(silo.path, queues, OWN)
    crawl("/c")
    second = checkpoint_now(silo.path, queues, OWN)
    assert first is not None
    assert second is not None
    assert checkpoint_names(silo.path) == [first, second]
    one, two = load_own(silo.path, first), load_own(silo.path, second)
    assert one.warcs.keys() | two.warcs.keys() == warcs(silo)
    assert not one.warcs.keys() & two.warcs.keys()
    assert not one.elsewhere
    assert not two.elsewhere
    (log,), (rest,) = one.logs, two.logs
    assert (log.path, log.end) == (rest.path, rest.begin)
    assert [one.package_id, two.package_id] == [f"own-{first}", f"own-{second}"]
    messages = queues.peek(TO_PACKAGE)
    assert [package_id_of(message.body) for message in messages] == [
        f"own-{first}",
        f"own-{second}",
    ]
    assert one.started <= one.ended <= datetime.now(UTC)
    assert "checkpoint.json" in one.configuration


def test_without_anything_new_there_is_no_checkpoint(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None]
) -> None:
    assert checkpoint_now(silo.path, queues, OWN) is None
    crawl("/a")
    assert checkpoint_now(silo.path, queues, OWN) is not None
    ask_for_checkpoint(silo.path)
    assert checkpoint_now(silo.path, queues, OWN) is None
    assert not is_wanted(silo.path)


@pytest.mark.long
def test_a_running_crawl_makes_the_checkpoint_that_is_wanted(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None]
) -> None:
    ask_for_checkpoint(silo.path)
    crawl("/a")
    crawl("/b", "/c")
    assert len(checkpoint_names(silo.path)) <= 1
    assert not is_wanted(silo.path)
    checkpoint_now(silo.path, queues, OWN)
    found = [load_own(silo.path, one) for one in checkpoint_names(silo.path)]
    assert {name for one in found for name in one.warcs} == warcs(silo)
    assert all(set(one.elsewhere.values()) <= {two.package_id for two in found} for one in found)


@pytest.mark.long
def test_a_crawl_makes_checkpoints_by_itself(
    silo: Silo, crawl: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    often = StoreSettings(checkpoint_every=timedelta(0))
    monkeypatch.setattr("silocrawl.packages.checkpointing.load_settings", lambda _: often)
    monkeypatch.setattr("silocrawl.packages.checkpointing._SECONDS_BETWEEN_LOOKS", 0.0)
    crawl("/a")
    (name,) = checkpoint_names(silo.path)
    assert set(load_own(silo.path, name).warcs) == warcs(silo)


@pytest.mark.long
def test_a_file_that_is_written_belongs_to_the_next_checkpoint(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None]
) -> None:
    crawl("/a")
    (before,) = warcs(silo)
    crawl("/b")
    (name,) = warcs(silo) - {before}
    path = Path(archives_directory(silo.path), name)
    whole = path.stat().st_size
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(path.read_bytes()[:99])
        file.flush()
        first = checkpoint_now(silo.path, queues, OWN)
        assert first is not None
        assert list(load_own(silo.path, first).warcs) == [before]
        assert load_own(silo.path, first).elsewhere == {name: ""}
    second = checkpoint_now(silo.path, queues, OWN)
    assert second is not None
    assert list(load_own(silo.path, second).warcs) == [name]
    assert path.stat().st_size == whole  # what was begun of a record was cut off
    assert load_own(silo.path, first).elsewhere == {name: f"own-{second}"}


def test_a_file_that_is_gone_is_named(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None]
) -> None:
    crawl("/a")
    name = checkpoint_now(silo.path, queues, OWN)
    assert name is not None
    (warc,) = warcs(silo)
    os.unlink(Path(archives_directory(silo.path), warc))
    with pytest.raises(PackagingError, match=warc):
        load_own(silo.path, name)


@pytest.mark.long
def test_a_damaged_checkpoint_stops_us(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None]
) -> None:
    crawl("/a")
    name = checkpoint_now(silo.path, queues, OWN)
    path = Path(checkpoints_directory(silo.path), f"{name}.json")
    table = json.loads(path.read_bytes())
    for content in (b"", b"{}", json.dumps(table | {"warcs": ["../x"]}).encode(),
                    json.dumps(table | {"logs": {"../x.log": [0, 1]}}).encode()):  # fmt: skip
        path.write_bytes(content)
        crawl(f"/{len(content)}")
        with pytest.raises(CheckpointUnreadable, match="cannot be read"):
            checkpoint_now(silo.path, queues, OWN)
    assert len(checkpoint_names(silo.path)) == 1


def test_a_checkpoint_whose_message_was_never_put_gets_one(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None], tmp_path: Path
) -> None:
    crawl("/a")
    with SqliteQueues(str(tmp_path / "lost.sqlite")) as lost:
        name = checkpoint_now(silo.path, lost, OWN)
    assert not queues.peek(TO_PACKAGE)
    put_unknown(silo.path, queues)
    put_unknown(silo.path, queues)
    assert [one.key for one in queues.peek(TO_PACKAGE)] == [f"own-{name}"]


def test_an_ended_file_is_never_continued(tmp_path: Path) -> None:
    files = WarcFiles(str(tmp_path), "20261121T211331.123456Z", {})
    files.end_file()
    first, _ = files.append(b"x")
    files.close()
    assert files.append(b"x")[0] == first
    files.end_file()
    files.end_file()
    second, _ = files.append(b"x")
    files.close()
    assert second > first
    assert files.append(b"x")[0] == second
    files.close()


# --------------------------------------------------------------------------- Heritrix

LAUNCH, CHECKPOINT = "20261124060000", "cp00001-20261124061149"
LINE = (
    '2026-11-24T06:1{0}:30.731Z   200       4103 http://a.example/{0} - - text/html #002'
    ' 2026112406{0}529110+670 sha1:OD4GG55E4KOEF2BJRQQ7SUBXOIVHTLW5 - {1}'
)  # fmt: skip


def warc(number: int, at: str = "20261124060001123") -> str:
    return f"WEB-{at}-{number:05}-4711~crawler~8443.warc.gz"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job with a checkpoint in its first launch, which was killed, and a second launch."""
    job = tmp_path / "jobs" / "my job"
    for launch in (LAUNCH, "20261124070000"):
        (job / launch / "logs").mkdir(parents=True)
        (job / launch / "warcs").mkdir()
        (job / launch / "logs" / "crawl.log").write_text("")
        (job / launch / "crawler-beans.cxml").write_text("<beans/>")
    (job / "checkpoints" / CHECKPOINT).mkdir(parents=True)
    (job / "checkpoints" / CHECKPOINT / "valid").write_text("1")
    (job / "checkpoints" / "cp00002-20261124061150").mkdir()  # was begun
    (job / "latest").symlink_to("20261124070000")
    extra = '2t {"contentSize":4242,"warcFilename":"%s","warcFileOffset":445}'
    lines = [
        LINE.format(1, extra % warc(0)),
        LINE.format(2, "a {b c} " + extra % warc(0)),
        LINE.format(3, "1: stream: Eicar-Signature FOUND " + extra % warc(1)),
        LINE.format(4, "-"),  # 12 fields
        LINE.format(5, '{"contentSize":3}'),
        "broken",
    ]
    log = job / LAUNCH / "logs" / f"crawl.log.{CHECKPOINT}"
    log.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe \xe9 x\n")
    (job / LAUNCH / "logs" / f"uri-errors.log.{CHECKPOINT}").write_text("none\n")
    (job / LAUNCH / "warcs" / warc(0)).write_bytes(b"")
    (job / "20261124070000" / "warcs" / warc(1)).write_bytes(b"")
    return job


def test_a_checkpoint_of_heritrix_is_read_over_all_launches(job: Path) -> None:
    assert heritrix_checkpoints(str(job)) == [CHECKPOINT]
    one = load_heritrix(str(job), CHECKPOINT)
    assert one.package_id == f"my-job-{CHECKPOINT}"
    assert one.crawl_id == LAUNCH
    assert one.warcs == {
        warc(0): str(job / LAUNCH / "warcs" / warc(0)),
        warc(1): str(job / "20261124070000" / "warcs" / warc(1)),
    }
    assert one.viral == {warc(1): "Eicar-Signature"}
    assert one.started == datetime(2026, 11, 24, 6, 15, 29, tzinfo=UTC)
    assert one.ended == datetime(2026, 11, 24, 6, 11, 49, tzinfo=UTC)
    assert {log.name: log.is_crawl for log in one.logs} == {
        f"{LAUNCH}/crawl.log.{CHECKPOINT}": True,
        f"{LAUNCH}/uri-errors.log.{CHECKPOINT}": False,
    }
    assert set(one.configuration) == {f"{LAUNCH}/crawler-beans.cxml"}


def test_a_file_in_a_directory_for_viral_ones_is_viral(job: Path) -> None:
    (job / LAUNCH / "viral").mkdir()
    (job / LAUNCH / "warcs" / warc(0)).rename(job / LAUNCH / "viral" / warc(0))
    assert load_heritrix(str(job), CHECKPOINT).viral.keys() == {warc(0), warc(1)}


def test_a_file_that_is_open_or_absent_is_named(job: Path) -> None:
    path = job / LAUNCH / "warcs" / warc(0)
    path.rename(f"{path}.open")
    with pytest.raises(PackagingError, match=f"{warc(0)}, which is still open"):
        load_heritrix(str(job), CHECKPOINT)
    os.unlink(f"{path}.open")
    with pytest.raises(PackagingError, match=f"{warc(0)}, which is in no launch"):
        load_heritrix(str(job), CHECKPOINT)


def test_a_name_that_leads_elsewhere_is_refused(job: Path) -> None:
    log = job / LAUNCH / "logs" / f"crawl.log.{CHECKPOINT}"
    log.write_text(LINE.format(1, '- {"warcFilename":"../../etc/passwd"}') + "\n")
    with pytest.raises(PackagingError, match="cannot name a WARC file"):
        load_heritrix(str(job), CHECKPOINT)


def test_without_names_in_the_log_the_times_of_files_say_what_belongs(job: Path) -> None:
    log = job / LAUNCH / "logs" / f"crawl.log.{CHECKPOINT}"
    log.write_text(LINE.format(1, "-") + "\n")
    (job / LAUNCH / "warcs" / warc(2, "20261124061200000")).write_bytes(b"")
    assert list(load_heritrix(str(job), CHECKPOINT).warcs) == [warc(0)]
    (job / LAUNCH / "warcs" / warc(0)).unlink()
    with pytest.raises(PackagingError, match="logExtraInfo"):
        load_heritrix(str(job), CHECKPOINT)


def test_what_follows_the_last_checkpoint_is_packaged_when_the_launch_is_over(job: Path) -> None:
    first, last = (job / name / "logs" / "crawl.log" for name in (LAUNCH, "20261124070000"))
    for log, number in ((first, 0), (last, 1)):
        log.write_text(LINE.format(1, f'- {{"warcFilename":"{warc(number)}"}}') + "\n")
    assert heritrix_checkpoints(str(job)) == [CHECKPOINT, f"end-{LAUNCH}"]
    (job / "job.log").write_text("2026-11-24T08:00:00.000Z INFO FINISHED 20261124070000\n")
    assert heritrix_checkpoints(str(job))[-1] == "end-20261124070000"
    one = load_heritrix(str(job), f"end-{LAUNCH}")
    assert (one.package_id, list(one.warcs)) == (f"my-job-end-{LAUNCH}", [warc(0)])
    assert [log.name for log in one.logs] == [f"{LAUNCH}/crawl.log"]


def test_what_is_no_job_is_told(job: Path, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none"):
        with pytest.raises(NoJob):
            heritrix_checkpoints(str(place))
    with pytest.raises(NoJob, match=f"it has {CHECKPOINT}"):
        load_heritrix(str(job), "cp00009-20261124061149")


def test_lines_of_any_length_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    named = LINE.format(1, '- {"warcFilename":"a.warc.gz"}').encode()
    path.write_bytes(named + b"\n" + b"x" * 3_000_000 + b"\n" + named + b"\n")
    assert facts_of([LogRange("a", str(path))]).warcs == {"a.warc.gz": 2}
    assert facts_of([LogRange("a", str(path), 0, len(named) + 1)]).lines == 1
    with pytest.raises(PackagingError, match="shorter than it was"):
        facts_of([LogRange("a", str(path), 0, 9_000_000)])
    with pytest.raises(PackagingError, match="cannot be read"):
        facts_of([LogRange("a", str(tmp_path))])
