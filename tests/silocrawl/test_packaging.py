"""Packages of crawls: built, described and taken from queue to queue, whatever is killed."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner
from site_of_traps import Site, page

from recordsilo import Silo
from recordsilo.cli import ExitCode, silo_command
from silocrawl.captures import Captures
from silocrawl.launching import inject
from silocrawl.messages import TO_PACKAGE, TO_SIP
from silocrawl.packages.arks import Arks, is_right
from silocrawl.packages.building import zip_files
from silocrawl.packages.checkpointing import checkpoint_now
from silocrawl.packages.kept import load_package, load_packages
from silocrawl.packages.layout import payload_file, warc_name
from silocrawl.packages.settings import StoreSettings, load_settings, store_settings
from silocrawl.packages.steps import work_on
from silocrawl.packages.store import open_store
from silocrawl.packages.values import LogRange, PackageState, PackagingError
from silocrawl.paths import archives_directory, log_file
from silocrawl.running import CrawlSettings, CrawlWorker
from silowork.queues.sqlite import SqliteQueues
from silowork.queues.steps import MessageFailed, MessageRefused
from silowork.queues.values import Queued
from silowork.stop import Stop

QUICK = CrawlSettings(4, 0.0, is_private=True, pauses=(0.05, 0.05, 0.05))


@pytest.fixture
def crawl(silo: Silo, queues: SqliteQueues, site: Site) -> Callable[..., None]:
    """Fetch pages of the site in a run of their own."""

    def run(*paths: str) -> None:
        site.pages |= {path: page(f"about {path}") for path in paths}
        inject(queues, [site.url + path for path in paths], force=False)
        CrawlWorker(silo, queues, QUICK).run(Stop(), until_idle=True)

    return run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "store"


class Done(NamedTuple):
    """What a command ended with."""

    code: int
    stdout: str
    stderr: str


def invoke(command: str, *words: str | Path) -> Done:
    given = ["crawl", command, *map(str, words)]
    result = CliRunner().invoke(silo_command, given, standalone_mode=False)
    if isinstance(result.exception, click.ClickException):
        said = result.stderr + result.exception.format_message()
        return Done(result.exception.exit_code, result.stdout, said)
    if result.exception is not None:
        raise result.exception
    return Done(result.return_value or 0, result.stdout, result.stderr)


def test_what_was_crawled_is_packaged_by_one_command(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a", "/b")
    done = invoke("package", silo.path, "--store", place)
    assert done.code == ExitCode.OK
    assert "1 WARC file" in done.stdout
    assert "99999, which is for tests" in done.stderr
    (one,), damaged = load_packages(silo.path)
    assert not damaged
    (warc,) = one.warcs
    there = open_store(str(place)).stored(warc_name(one.id, warc.name))
    assert there == (warc.size, warc.sha512)
    assert Path(warc.path).stat().st_size == warc.size
    assert is_right(one.ark)
    assert is_right(warc.ark)
    logs = zipfile.ZipFile(payload_file(silo.path, one.id, "documentation/logs.zip"))
    (log,) = logs.namelist()
    assert log.startswith("crawl/")
    assert logs.read(log).count(b"\n") == 2
    arks = Path(payload_file(silo.path, one.id, "documentation/warc-arks.txt")).read_text()
    assert arks == f"{one.ark}\t{one.id}\n{warc.ark}\t{warc.name}\n"
    configuration = zipfile.ZipFile(
        payload_file(silo.path, one.id, "documentation/configuration.zip")
    )
    assert "checkpoint.json" in configuration.namelist()


@pytest.mark.long
def test_the_command_done_again_changes_nothing(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a")
    invoke("package", silo.path, "--store", place)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    again = invoke("package", silo.path, "--store", place)
    assert again.code == ExitCode.OK
    assert again.stdout == "1 package complete; see silo crawl packages\n"
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before
    crawl("/b")
    third = invoke("package", silo.path, "--store", place)
    assert len(third.stdout.splitlines()) == 1
    found = json.loads(invoke("packages", silo.path, "--json").stdout)
    assert len({warc["ark"] for one in found for warc in one["warcs"]}) == 2
    with Arks(silo.path, mode="read") as arks:
        assert {one["ark"] for one in found} == {arks.of(one["package"])[""] for one in found}


def test_a_step_by_a_message_leads_to_the_next(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None], place: Path
) -> None:
    store_settings(silo.path, StoreSettings(store=str(place)))
    crawl("/a")
    checkpoint_now(silo.path, queues, load_settings(silo.path))
    (message,) = queues.take(TO_PACKAGE)
    (following,) = work_on(silo.path, message)
    assert following.queue == TO_SIP
    assert json.loads(following.body)["crawlStream"] == "own"
    assert load_package(silo.path, message.key).state == PackageState.PACKAGED
    assert work_on(silo.path, message) == [following]  # told again after a kill


def test_a_step_that_fails_says_why_and_is_given_up_after_some_tries(
    silo: Silo, queues: SqliteQueues, crawl: Callable[..., None], place: Path
) -> None:
    store_settings(silo.path, StoreSettings(store=str(place / "no" / "store")))
    crawl("/a")
    checkpoint_now(silo.path, queues, load_settings(silo.path))
    (message,) = queues.take(TO_PACKAGE)
    with pytest.raises(MessageFailed, match="is not there"):
        work_on(silo.path, message)
    worn = Queued(message.queue, message.number, message.key, message.body, 5)
    with pytest.raises(MessageRefused, match="is not there"):
        work_on(silo.path, worn)
    assert "is not there" in load_package(silo.path, message.key).error
    listed = invoke("packages", silo.path)
    assert listed.code == ExitCode.LOSSES
    assert "failed: " in listed.stdout
    for body in (b"{}", b'{"packageId": "own-x"}', b'{"packageId": "own-x", "name": "../x"}'):
        with pytest.raises((MessageRefused, MessageFailed)):
            work_on(silo.path, Queued(TO_PACKAGE, "1", "", body, 1))


@pytest.mark.long
def test_a_file_that_is_gone_fails_its_package_only(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a")
    name = invoke("checkpoint", silo.path).stdout.strip()
    (gone,) = os.listdir(archives_directory(silo.path))
    os.unlink(Path(archives_directory(silo.path), gone))
    crawl("/b")
    done = invoke("package", silo.path, "--store", place)
    assert done.code == ExitCode.LOSSES
    assert gone in done.stderr
    assert len(done.stdout.splitlines()) == 1
    only = invoke("package", silo.path, "--store", place, "--checkpoint", name)
    assert (only.code, only.stdout) == (ExitCode.LOSSES, "")


@pytest.mark.long
def test_another_content_in_the_store_is_refused_and_stays(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a")
    name = invoke("checkpoint", silo.path).stdout.strip()
    (warc,) = os.listdir(archives_directory(silo.path))
    there = place / warc_name(f"own-{name}", warc)
    there.parent.mkdir(parents=True)
    there.write_bytes(b"other")
    done = invoke("package", silo.path, "--store", place)
    assert done.code == ExitCode.LOSSES
    assert "another content" in done.stderr
    assert there.read_bytes() == b"other"


def test_lines_of_a_heritrix_in_our_logs_do_not_hinder_us(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    line = (
        "2026-11-24T06:15:30.731Z   200       4103 http://a.example/ - - text/html #002"
        " 20261124061529110+670 sha1:OD4GG55E4KOEF2BJRQQ7SUBXOIVHTLW5 - -"
        ' {"contentSize":4242,"warcFilename":"WEB-20261124060001123-00000-4711~c~8443.warc.gz",'
        '"warcFileOffset":445}'
    )
    log = Path(log_file(silo.path, "heritrix"))
    log.parent.mkdir(parents=True)
    log.write_text(line + "\n")
    assert "nothing was crawled" in invoke("package", silo.path, "--store", place).stderr
    crawl("/a")
    done = invoke("package", silo.path, "--store", place)
    assert done.code == ExitCode.OK, done.stderr
    (one,), _ = load_packages(silo.path)
    assert list(one.elsewhere.values()) == [""]


@pytest.mark.long
def test_a_package_that_could_not_begin_goes_to_another_store(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a")
    done = invoke("package", silo.path, "--store", place / "not" / "there")
    assert (done.code, done.stdout) == (ExitCode.LOSSES, "")
    assert invoke("package", silo.path, "--store", place).code == ExitCode.OK
    (one,), _ = load_packages(silo.path)
    assert (one.store, one.state, one.error) == (str(place), PackageState.VERIFIED, "")


def test_archives_are_deleted_when_they_were_verified_and_are_still_found(
    silo: Silo, crawl: Callable[..., None], place: Path, site: Site
) -> None:
    crawl("/a", "/b")
    invoke("package", silo.path, "--store", place)
    (name,) = os.listdir(archives_directory(silo.path))
    path = Path(archives_directory(silo.path), name)
    whole = path.read_bytes()
    invoke("store", silo.path, "--delete-local")
    path.write_bytes(whole + b"x")
    changed = invoke("package", silo.path, "--store", place)
    assert changed.code == ExitCode.LOSSES
    assert "is not deleted" in changed.stderr
    path.write_bytes(whole)
    assert invoke("package", silo.path, "--store", place).code == ExitCode.OK
    assert not path.exists()
    captures = Captures(silo.path)
    (one,) = captures.of(f"{site.url}/a")
    assert b"about /a" in captures.begin(one, 1000).content
    assert invoke("package", silo.path, "--store", place).code == ExitCode.OK


def test_what_the_store_has_lost_since_is_not_deleted_here(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a")
    invoke("package", silo.path, "--store", place)
    invoke("store", silo.path, "--delete-local")
    (name,) = os.listdir(archives_directory(silo.path))
    (there,) = place.rglob(name)
    whole = there.read_bytes()
    for lost in (b"x" + whole[1:], None):
        there.unlink()
        if lost is not None:
            there.write_bytes(lost)
        done = invoke("package", silo.path, "--store", place)
        assert done.code == ExitCode.LOSSES
        assert "is not what was verified any more" in done.stderr
        assert Path(archives_directory(silo.path), name).read_bytes() == whole
    there.write_bytes(whole)
    assert invoke("package", silo.path, "--store", place).code == ExitCode.OK
    assert not os.listdir(archives_directory(silo.path))


def test_mistakes_are_sentences(silo: Silo, crawl: Callable[..., None], tmp_path: Path) -> None:
    nothing = invoke("package", silo.path, "--store", tmp_path / "s")
    assert (nothing.code, nothing.stdout) == (ExitCode.OK, "")
    assert "nothing was crawled" in nothing.stderr
    assert "nothing was crawled" in invoke("checkpoint", silo.path).stderr
    for words, said in (
        ((), "no store is named"),
        (("--store", tmp_path / "s", "--checkpoint", "x"), "no checkpoint x"),
        (("--store", tmp_path / "s", "--heritrix", tmp_path), "not the directory of a job"),
    ):
        done = invoke("package", silo.path, *words)
        assert done.code == ExitCode.USAGE
        assert said in done.stderr
    assert "no packages" in invoke("packages", silo.path).stderr


def test_settings_are_shown_and_changed(silo: Silo) -> None:
    assert 'naan = "99999"' in invoke("store", silo.path).stdout
    done = invoke(
        "store", silo.path, "--naan", "12148", "--node", "a", "--no-sips", "--virus-check"
    )
    assert done.code == ExitCode.OK
    assert 'nodes = ["a"]' in done.stdout
    settings = load_settings(silo.path)
    assert (settings.naan, settings.nodes, settings.virus_check) == ("12148", ("a",), True)
    bad = invoke("store", silo.path, "--checkpoint-every", "soon")
    assert bad.code == ExitCode.USAGE
    assert "duration" in bad.stderr
    assert load_settings(silo.path) == settings


def test_the_same_files_make_the_same_archive(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"abc\ndef\n")
    ranges = [
        LogRange("b", str(tmp_path / "a.log"), 4),
        LogRange("a", str(tmp_path / "a.log"), 0, 4),
    ]
    zip_files(str(tmp_path / "1.zip"), ranges)
    os.utime(tmp_path / "a.log", (0, 0))
    zip_files(str(tmp_path / "2.zip"), ranges[::-1])
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    archive = zipfile.ZipFile(tmp_path / "1.zip")
    assert [(one, archive.read(one)) for one in archive.namelist()] == [
        ("a", b"abc\n"), ("b", b"def\n"),
    ]  # fmt: skip
    with pytest.raises(PackagingError, match="shorter"):
        zip_files(str(tmp_path / "1.zip"), [LogRange("a", str(tmp_path / "a.log"), 0, 99)])
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(10, marks=pytest.mark.long),
        pytest.param(100, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("deletes", [False, True])
def test_kills_lose_nothing_and_use_no_ark_twice(
    kills: int, deletes: bool, silo: Silo, place: Path
) -> None:
    store_settings(silo.path, StoreSettings(delete_local=deletes))
    program = Path(__file__).with_name("killed_packaging.py")
    command = [sys.executable, str(program), silo.path, str(place), str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    packages, warcs, states = map(int, done.stdout.split())
    assert packages > 1
    assert warcs > kills / 2
    assert states > 1 or kills < 100
    assert bool(os.listdir(archives_directory(silo.path))) != deletes


@pytest.mark.long
def test_a_store_whose_disk_is_not_mounted_gets_no_package(
    silo: Silo, crawl: Callable[..., None], place: Path
) -> None:
    crawl("/a")
    assert invoke("package", silo.path, "--store", place).code == ExitCode.OK
    crawl("/b")
    for is_there in (True, False):
        place.rename(place.with_name("mounted"))
        if is_there:  # the directory in which it is mounted
            place.mkdir()
        done = invoke("package", silo.path, "--store", place)
        assert done.code == ExitCode.LOSSES
        assert "mount its disk" in done.stderr if is_there else "is not there" in done.stderr
        assert [*place.parent.glob("store/*")] == []
        if is_there:
            place.rmdir()
        place.with_name("mounted").rename(place)
    assert invoke("package", silo.path, "--store", place).code == ExitCode.OK
    packages, _ = load_packages(silo.path)
    assert [(one.state, one.error) for one in packages] == [(PackageState.VERIFIED, "")] * 2


def test_a_checkpoint_that_a_job_does_not_have_waits_in_no_queue(
    silo: Silo, queues: SqliteQueues, tmp_path: Path
) -> None:
    job = tmp_path / "theses"
    (job / "20260301110000" / "logs").mkdir(parents=True)
    done = invoke("package", silo.path, "--store", tmp_path / "store", "--heritrix", job,
                  "--checkpoint", "cp00009-20260301120000")  # fmt: skip
    assert (done.code, "has no checkpoint cp00009-20260301120000" in done.stderr) == (2, True)
    assert queues.peek(TO_PACKAGE) == []


def test_an_address_that_is_no_store_is_refused_at_once(silo: Silo) -> None:
    done = invoke("store", silo.path, "--store", "ftp://host/path")
    assert (done.code, "sftp://user@host:port/path" in done.stderr) == (2, True)
    assert load_settings(silo.path).store == ""
