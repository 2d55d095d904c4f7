"""WARC files in an object store: moved, read from there and brought back; nothing is lost."""

import errno
import fcntl
import json
import os
import re
import socketserver
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner
from killing import KILLED, exit_code_of
from misbehaving import FunctionTransport, repository_with
from object_store import BUCKET, STORE, memory_files, s3_server, use_s3
from test_replay import state, tree

from filestores import object_store
from filestores.errors import StoreFailed, StoreUnreachable
from filestores.object_store import ObjectStore
from filestores.schemes import check_address
from oaipmhclient.walk.values import ListJob
from oaipmhscraper.checks import UNREADABLE
from oaipmhscraper.commands.harvests import harvests as harvests_command
from oaipmhscraper.errors import ArchiveRunning, ElsewhereUnreadable
from oaipmhscraper.harvests import archiving
from oaipmhscraper.harvests.archiving import Moved, archive, bring_back, verify
from oaipmhscraper.harvests.past_harvests import harvests_of
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.receipt import HarvestInterrupted
from oaipmhscraper.replay.replay import replay
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.storing.fetched_pages import FetchedPage
from oaipmhscraper.warc.elsewhere import read_elsewhere
from oaipmhscraper.warc.reading import read_warc
from politeweb.errors import RequestRefused, WarcUnreadable
from recordsilo import Silo
from recordsilo.audit import Audit
from recordsilo.disk.atomic_file import StrictBarrier
from recordsilo.disk.locks import Locks

MEMORY = "memory://store/fleet"


@pytest.fixture
def silo(tmp_path: Path) -> Path:
    """A Silo with one WARC file, and a name that no address has."""
    path = tmp_path / "my repo%"
    _harvest(path)
    return path


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Any:
    return memory_files(monkeypatch)


def test_a_silo_whose_name_is_not_utf_8_is_moved_and_brought_back(
    tmp_path: Path, files: Any
) -> None:
    path = tmp_path / os.fsdecode(b"\xff")
    _harvest(path)
    archive(str(path), MEMORY, Moved())
    (found,) = read_elsewhere(str(path / "harvests")).values()
    assert found.url.startswith(f"{MEMORY}/%FF/")
    moved = Moved()
    bring_back(str(path), moved)
    assert moved.files == 1


def _harvest(path: Path, *, stops: bool = False) -> None:
    def progress(_receipt: object) -> None:
        if stops:
            raise KeyboardInterrupt

    transport = FunctionTransport(repository_with())
    with OAIPMHScraper(
        str(path), transport.base_url, transport=transport, agent="a test"
    ) as scraper:
        scraper.harvest(["oai_dc"], options=HarvestOptions(anew=True), progress=progress)


def _warcs(silo: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (silo / "harvests").glob("*.warc.gz")}


def _archived(silo: Path, address: str = MEMORY) -> Moved:
    moved = Moved()
    archive(str(silo), address, moved)
    return moved


def _brought(silo: Path) -> Moved:
    moved = Moved()
    bring_back(str(silo), moved)
    return moved


def _lines(silo: Path) -> list[dict[str, Any]]:
    text = (silo / "harvests" / "elsewhere.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _check_there_and_back(silo: Path, address: str) -> None:
    before = _warcs(silo)
    (name,) = before
    size = len(before[name])
    assert _archived(silo, address) == Moved(1, size)
    assert _warcs(silo) == {}
    (line,) = _lines(silo)
    assert (line["file"], line["bytes"]) == (name, size)
    assert line["url"] == f"{address}/my%20repo%25/{name}"
    assert _archived(silo, address) == Moved()
    assert _brought(silo) == Moved(1, size)
    assert _warcs(silo) == before
    assert _brought(silo) == Moved()


def test_a_file_goes_there_and_comes_back(silo: Path, files: Any) -> None:
    _check_there_and_back(silo, MEMORY)


def test_a_file_that_the_store_has_is_compared_and_not_sent_again(
    silo: Path, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _archived(silo)
    _brought(silo)

    def put(*_arguments: Any) -> None:
        pytest.fail("it was sent again")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "put", put)
        assert _archived(silo).files == 1
    assert len(_lines(silo)) == 1
    _brought(silo)
    assert _archived(silo, "memory://other").files == 1
    assert read_elsewhere(str(silo / "harvests"))[_lines(silo)[0]["file"]].url.startswith(
        "memory://other/"
    )


@pytest.mark.parametrize("change", [b"", b"x", bytes(100)], ids=["cut", "short", "other"])
def test_a_file_with_another_digest_there_is_kept_here(
    silo: Path, files: Any, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    before = _warcs(silo)
    put = ObjectStore.put

    def corrupting(self: ObjectStore, path: str, address: str, told: Any) -> None:
        put(self, path, address, told)
        files.pipe_file(address, change)

    monkeypatch.setattr(ObjectStore, "put", corrupting)
    for _ in range(2):  # the second time, the wrong file is there already
        moved = _archived(silo)
        assert (moved.files, len(moved.faults)) == (0, 1)
        assert "another content" in moved.faults[0]
        assert "stays here" in moved.faults[0]
    assert _warcs(silo) == before
    assert not (silo / "harvests" / "elsewhere.jsonl").exists()


def test_a_file_that_was_changed_or_deleted_there_is_not_brought_back(
    silo: Path, files: Any
) -> None:
    _archived(silo)
    url = _lines(silo)[0]["url"]
    content = files.cat_file(url)
    files.pipe_file(url, content[:-1] + b"!")
    assert "another content" in _brought(silo).faults[0]
    with pytest.raises(StoreFailed, match=r"another content.*fleet archive --back"):
        list(read_warc(str(silo / "harvests" / _lines(silo)[0]["file"])))
    files.pipe_file(url, content + bytes(1 << 24))  # of which not all is read
    assert "another content" in _brought(silo).faults[0]
    files.rm_file(url)
    assert "is not there" in _brought(silo).faults[0]
    assert _warcs(silo) == {}
    assert not list((silo / "harvests").glob("*.tmp*"))


def test_a_harvest_that_has_not_ended_is_left_alone(silo: Path, files: Any) -> None:
    with pytest.raises(HarvestInterrupted):
        _harvest(silo, stops=True)
    old, new = sorted(_warcs(silo))
    moved = _archived(silo)
    assert (moved.files, moved.left) == (1, 1)
    assert list(_warcs(silo)) == [new]
    _harvest(silo)
    (silo / "harvests" / f"{old[:23]}-receipt.json").unlink()
    _brought(silo)
    _archived(silo)
    assert old in _warcs(silo)  # no receipt says that it ended


def test_a_file_with_pages_that_are_not_stored_yet_is_left_alone(silo: Path, files: Any) -> None:
    """An update has taken over the list of a harvest, and with it pages that are in its file."""
    (name,) = _warcs(silo)
    with Journal(str(silo)) as journal:
        job = journal.begin("an update", "http://x", [ListJob("oai_dc")], datetime.now(UTC))
        (row,) = journal.lists(job)
        page = FetchedPage(1, "verb=ListRecords", name, place=0, items=1, relists=False)
        with journal.changing():
            page = journal.add_fetched(row.id, page)
    moved = _archived(silo)
    assert (moved.files, moved.left, list(_warcs(silo))) == (0, 1, [name])
    with Journal(str(silo)) as journal, journal.changing():
        journal.drop_fetched(page)
    assert _archived(silo).files == 1


def test_a_file_that_somebody_writes_to_is_left_alone(silo: Path, files: Any) -> None:
    (name,) = _warcs(silo)
    with open(silo / "harvests" / name, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        moved = _archived(silo)
    assert (moved.files, moved.left, len(_warcs(silo))) == (0, 1, 1)


def test_two_processes_do_not_move_the_same_files(silo: Path, files: Any) -> None:
    with (
        Locks(str(silo / ".silo" / "locks")).hold_name("archive"),
        pytest.raises(ArchiveRunning, match="another process"),
    ):
        _archived(silo)


def test_a_replay_reads_what_is_elsewhere(silo: Path, tmp_path: Path, files: Any) -> None:
    (name,) = _warcs(silo)
    harvests = str(silo / "harvests")
    _archived(silo)
    replay(str(tmp_path / "again"), [harvests])
    assert tree(tmp_path / "again") == tree(silo)
    assert state(tmp_path / "again") == state(silo)
    replay(str(tmp_path / "one"), [f"{harvests}/{name}"])
    assert tree(tmp_path / "one") == tree(silo)
    assert _warcs(silo) == {}
    with pytest.raises(WarcUnreadable, match="does not exist"):
        replay(str(tmp_path / "two"), [f"{harvests}/other.warc.gz"])


def test_the_harvests_say_what_is_elsewhere(silo: Path, files: Any) -> None:
    (name,) = _warcs(silo)
    _archived(silo)
    (found,) = harvests_of(str(silo))
    assert (found.files, found.elsewhere[0].file) == ((name,), name)
    assert found.to_json()["elsewhere"] == {name: _lines(silo)[0]["url"]}
    said = CliRunner().invoke(harvests_command, [str(silo)]).output
    assert "WARC files in memory://store/fleet/my%20repo%25: 1 of 1" in said
    assert f"silo fleet archive --back {silo}" in said
    _brought(silo)
    (found,) = harvests_of(str(silo))
    assert (found.files, found.elsewhere) == ((name,), ())


def test_the_audit_reads_the_list(silo: Path, files: Any) -> None:
    _archived(silo)
    assert list(Audit(str(silo)).findings()) == []
    (silo / "harvests" / "elsewhere.jsonl").write_text("x\n")
    (found,) = Audit(str(silo)).findings()
    assert (found.code, found.path) == (UNREADABLE, "harvests/elsewhere.jsonl")


@pytest.mark.parametrize(
    "changed",
    [
        {"file": "../../../etc/passwd"},
        {"file": "x/20261121T211331.123456Z-00001.warc.gz"},
        {"file": 7},
        {"url": "http://169.254.169.254/latest"},
        {"url": "file:///etc/passwd"},
        {"url": "s3://bucket/../x"},
        {"url": None},
        {"bytes": -1},
        {"bytes": True},
        {"bytes": "1"},
        {"sha256": "0"},
        {"sha256": None},
    ],
    ids=str,
)
def test_a_line_that_says_something_else_is_refused(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    line = {
        "file": "20261121T211331.123456Z-00001.warc.gz",
        "url": "s3://bucket/x",
        "bytes": 1,
        "sha256": "0" * 64,
    }
    path = tmp_path / "elsewhere.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps(line)[:-9])
    assert len(read_elsewhere(str(tmp_path))) == 1
    path.write_text(json.dumps(line | changed) + "\n")
    with pytest.raises(ElsewhereUnreadable, match=r"line 1 of .*elsewhere.jsonl"):
        read_elsewhere(str(tmp_path))


def test_addresses() -> None:
    for good in ("s3://bucket", "s3://bucket/a/b.c/", "s3://a.b-c/x%20y/"):
        assert check_address(good) == good.rstrip("/")
    for bad in (
        "", "s3://", "s3:///x", "http://x/y", "file:///tmp", "memory://x", "s3://b//x", "s3://b/..",
        "s3://key:secret@bucket/x", "s3://b/x?y", "s3://b/x y", "s3://b/\n", "bucket/x",
    ):  # fmt: skip
        with pytest.raises(RequestRefused, match="s3://bucket/prefix") as refused:
            check_address(bad)
        assert "secret" not in str(refused.value)


def test_a_disk_that_is_full_is_named_when_files_come_back(
    silo: Path, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    _archived(silo)
    monkeypatch.setattr(StrictBarrier, "file_written", lambda _self, fd: refuse(fd))
    with pytest.raises(OSError, match=f"No space left.*{silo.name}/harvests"):
        bring_back(str(silo), Moved())
    assert _warcs(silo) == {}


def test_a_disk_that_is_read_only_or_full_loses_nothing(
    silo: Path, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _warcs(silo)
    for number in (errno.EROFS, errno.ENOSPC):

        def refuse(*_arguments: Any, _number: int = number) -> None:
            raise OSError(_number, os.strerror(_number))

        with monkeypatch.context() as patch:
            patch.setattr(archiving, "note_elsewhere", refuse)
            with pytest.raises(OSError, match=os.strerror(number)):
                _archived(silo)
        assert _warcs(silo) == before
    _archived(silo)
    with monkeypatch.context() as patch:
        patch.setattr(archiving, "write_new", refuse)
        with pytest.raises(OSError, match="No space"):
            _brought(silo)
    assert _brought(silo).files == 1
    assert _warcs(silo) == before


def test_without_the_extra_a_sentence_names_it(silo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    with pytest.raises(StoreFailed, match=r"pip install 'silo-records\[s3\]'"):
        _archived(silo, STORE)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(StoreFailed, match=r"pip install 'silo-records\[s3\]'"):
        _archived(silo, STORE)
    assert len(_warcs(silo)) == 1


# --------------------------------------------------------------------------- on a server


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty bucket of moto's S3, which this test uses."""
    use_s3(monkeypatch, s3)
    service = fsspec.filesystem("s3", skip_instance_cache=True)
    if service.exists(BUCKET):
        service.rm(BUCKET, recursive=True)
    service.mkdir(BUCKET)


@pytest.mark.long
def test_a_file_goes_to_s3_and_comes_back(silo: Path, bucket: None) -> None:
    _check_there_and_back(silo, STORE)


@pytest.mark.long
def test_a_file_in_s3_is_compared_where_it_is(silo: Path, bucket: None) -> None:
    _archived(silo, STORE)
    (line,) = _lines(silo)
    verify(str(silo), intact := Moved())
    assert intact == Moved(1, line["bytes"])
    files = ObjectStore(STORE)._files
    files.pipe_file(line["url"], b"other")
    verify(str(silo), other := Moved())
    files.rm(line["url"])
    verify(str(silo), gone := Moved())
    assert "has another content" in other.faults[0]
    assert f"{line['url']} is not there" in gone.faults[0]
    assert (other.files, gone.files, _warcs(silo)) == (0, 0, {})


@pytest.mark.long
def test_a_large_file_goes_to_s3_in_parts(
    silo: Path, bucket: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_PIECE", 5 << 20)
    (name,) = _warcs(silo)
    with open(silo / "harvests" / name, "ab") as file:
        file.write(os.urandom(12 << 20))
    _check_there_and_back(silo, STORE)


@pytest.mark.long
def test_a_move_to_s3_that_is_killed_at_any_step_goes_on(
    silo: Path, tmp_path: Path, bucket: None
) -> None:
    _harvest(silo)
    before = _warcs(silo)
    program = str(Path(__file__).parent / "killed_archive.py")
    for command in ("archive", "bring_back"):
        number = 1
        while exit_code_of(program, command, str(silo), STORE, str(number)) == KILLED:
            number += 1
            known = read_elsewhere(str(silo / "harvests"))
            assert all(name in _warcs(silo) or name in known for name in before)
            assert all(_warcs(silo)[name] == before[name] for name in _warcs(silo))
            if command == "archive":
                replay(str(tmp_path / f"again{number}"), [str(silo / "harvests")])
        assert number > 4
        assert len(_warcs(silo)) == (0 if command == "archive" else len(before))
    assert len(_lines(silo)) == len(before)


@pytest.mark.long
def test_a_bucket_that_is_missing_or_a_store_that_is_away_is_named(
    silo: Path, bucket: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _warcs(silo)
    with pytest.raises(StoreFailed, match=r"^s3://nobody is not there .*create it") as failed:
        _archived(silo, "s3://nobody/x")
    assert not isinstance(failed.value, StoreUnreachable)
    use_s3(monkeypatch, "http://user:hidden@127.0.0.1:9")
    with pytest.raises(StoreUnreachable, match="s3://warcs gives no answer") as away:
        _archived(silo, STORE)
    assert not {"hidden", "secret-of-tests"} & set(re.split(r"\W", str(away.value)))
    use_s3(monkeypatch, "http://127.0.0.1:9")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with pytest.raises(StoreFailed, match=r"s3://warcs may not be used: .*[Cc]redentials"):
        _archived(silo, STORE)
    assert _warcs(silo) == before


@pytest.mark.long
def test_a_service_that_hangs_up_is_not_asked_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0

    class HangsUp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            nonlocal asked
            asked += 1

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), HangsUp) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        use_s3(monkeypatch, f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(StoreUnreachable):
            ObjectStore(STORE).has(f"{STORE}/x")
        server.shutdown()
    assert asked <= 4  # aiohttp sends each again


@pytest.mark.long
def test_the_base_install_reads_and_harvests_without_the_extra(silo: Path) -> None:
    hidden = "import sys; sys.modules['fsspec'] = sys.modules['s3fs'] = None; "
    run = "from recordsilo.cli import main; main()"
    for arguments in (
        ["harvests", str(silo)],
        ["harvest", "--replay", str(silo / "harvests"), f"{silo}2"],
    ):
        code = f"{hidden}sys.argv = ['silo', *{arguments!r}]; {run}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    with Silo(f"{silo}2", create=False) as again, Silo(str(silo), create=False) as first:
        assert len(again) == len(first)
