"""`silo fleet archive`: its words and exit codes."""

import shutil
from pathlib import Path
from typing import Any

import fsspec
import pytest
from click.testing import CliRunner, Result
from object_store import memory_files

from filestores.errors import StoreFailed, StoreUnreachable
from filestores.object_store import ObjectStore
from oaipmhprovider.server import SampleServer
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo import Granary
from recordsilo.cli import CommandFailure, silo_command
from silofleet.fleet import make_fleet
from silofleet.wishes import wishes_path

TO = ("--to", "memory://store/fleet")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("made") / "many"
    Granary(str(directory))
    with SampleServer(size=3) as sample:
        for name in ("one", "two"):
            with OAIPMHScraper(str(directory / name), sample.base_url, quiet=True) as scraper:
                scraper.harvest(["oai_dc"])
    return directory


@pytest.fixture
def many(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    memory_files(monkeypatch)
    return Path(shutil.copytree(made, tmp_path / "many"))


def _silo(*arguments: object) -> Result:
    found = CliRunner().invoke(
        silo_command, ["fleet", "archive", *map(str, arguments)], standalone_mode=False
    )
    if isinstance(found.exception, CommandFailure):
        found.exit_code = found.exception.exit_code
        found.stderr_bytes = (found.stderr_bytes or b"") + str(found.exception).encode()
    elif found.return_value:
        found.exit_code = int(found.return_value)
    return found


def _content(many: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in many.rglob("*") if path.is_file()}


def _count(many: Path) -> int:
    return len(list(many.glob("*/harvests/*.warc.gz")))


def test_all_silos_or_some_or_one(many: Path) -> None:
    found = _silo(many, "one", *TO)
    assert (found.exit_code, _count(many)) == (0, 1)
    assert found.stdout.startswith("1 WARC file (0.0 MB) moved to the object store\n")
    assert _silo(many / "two", *TO).exit_code == 0
    assert _count(many) == 0
    assert "0 WARC files moved" in _silo(many, *TO).stdout
    found = _silo(many, "--back")
    assert (found.exit_code, _count(many)) == (0, 2)
    assert "2 WARC files (0.0 MB) brought back\n" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--to s3://bucket/prefix"),
        (("three", *TO), "no Silo 'three'"),
        (("../many", *TO), "'../many'"),
        (("--back", *TO), "takes no --to"),
        (("--verify", *TO), "takes no --to"),
        (("--verify", "--back"), "not both"),
        (("--to", "s3://key:secret@bucket"), "s3://bucket/prefix"),
        (("--to", "ftp://bucket"), "s3://bucket/prefix"),
    ],
)
def test_wrong_input_is_refused(many: Path, arguments: tuple[str, ...], said: str) -> None:
    found = _silo(many, *arguments)
    assert said in found.stderr + str(found.exception)
    assert getattr(found.exception, "exit_code", 0) == 2
    assert "secret" not in found.stderr + str(found.exception)
    assert (_count(many), found.stdout) == (2, "")


@pytest.mark.parametrize("arguments", [TO, ("--verify",), ("--back",)])
def test_a_fleet_without_silos_is_no_success(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    make_fleet(str(tmp_path))
    found = _silo(tmp_path, *arguments)
    assert (found.exit_code, "has no Silos; on each node" in found.stderr) == (2, True)


def test_the_wishes_of_a_fleet_say_where(many: Path) -> None:
    make_fleet(str(many))
    path = Path(wishes_path(str(many)))
    table = '[[endpoint]]\nname = "{}"\nurl = "http://{}.example.org/oai"\nwarc_store = "{}"\n'
    path.write_text(table.format("one", "one", "memory://store/ones"))
    assert _silo(many).exit_code == 0
    assert [one.parts[-3] for one in many.glob("*/harvests/*.gz")] == ["two"]
    default = '[defaults]\nwarc_store = "memory://store/rest"\n'
    path.write_text(default + table.format("one", "one", ""))
    _silo(many, "--back")
    assert _silo(many).exit_code == 0
    assert [one.parts[-3] for one in many.glob("*/harvests/*.gz")] == ["one"]
    assert "memory://store/rest/two/" in (many / "two/harvests/elsewhere.jsonl").read_text()
    path.write_text("warc_store = 1")
    assert _silo(many).exit_code == 2


@pytest.mark.parametrize(("error", "code"), [(StoreUnreachable, 75), (StoreFailed, 1)])
def test_a_store_that_fails_ends_it_and_what_was_done_is_said(
    many: Path, monkeypatch: pytest.MonkeyPatch, error: type[StoreFailed], code: int
) -> None:
    has, calls = ObjectStore.has, 0

    def failing(self: ObjectStore, address: str) -> bool:
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise error("memory://store: it is away")
        return has(self, address)

    monkeypatch.setattr(ObjectStore, "has", failing)
    found = _silo(many, *TO)
    assert (found.exit_code, _count(many)) == (code, 1)
    assert "1 WARC file" in found.stdout
    assert "it is away" in found.stderr


def test_a_file_that_differs_or_a_damaged_silo_does_not_stop_the_others(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = ObjectStore.put

    def corrupting(self: Any, path: str, address: str, told: Any) -> None:
        put(self, path, address, told)
        if "/one/" in address:
            self._files.pipe_file(address, b"other")

    monkeypatch.setattr(ObjectStore, "put", corrupting)
    found = _silo(many, *TO)
    assert (found.exit_code, _count(many)) == (1, 1)
    assert "another content" in found.stderr
    (many / "one" / "harvests" / "elsewhere.jsonl").write_text("{}\n")
    found = _silo(many, "--back")
    assert (found.exit_code, _count(many)) == (1, 2)
    assert "line 1 of" in found.stderr


def test_what_is_in_the_store_is_read_and_compared_and_nothing_changes(many: Path) -> None:
    _silo(many, *TO)
    _silo(many, "two", "--back")
    before = _content(many)
    found = _silo(many, "--verify")
    assert (found.exit_code, found.stderr) == (0, "")
    assert found.stdout.startswith("2 WARC files (0.0 MB) intact in the object store\n")
    files = fsspec.filesystem("memory")
    (one,), (two,) = (files.glob(f"/store/fleet/{name}/*") for name in ("one", "two"))
    files.pipe_file(one, files.cat_file(one)[:-1] + b"?")
    files.rm(two)
    there = files.find("/store")
    found = _silo(many, "--verify")
    assert found.exit_code == 1
    assert found.stdout.startswith("0 WARC files intact in the object store\n")
    differs, missing = found.stderr.splitlines()
    assert differs == f"silo: memory:/{one} has another content than the file that was sent"
    assert missing.startswith(f"silo: memory:/{two} is not there")
    assert (_content(many), files.find("/store")) == (before, there)
