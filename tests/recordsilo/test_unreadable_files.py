"""An unreadable file: an error of the store that names it; everything else continues."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.errors import DanglingLink, FileDamaged, FileUnreadable, ManifestUnreadable
from recordsilo.records import place
from recordsilo.repository import STATE_FILE, Repository

Harvest = Callable[..., str]


@pytest.fixture
def broken(silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch) -> Silo:
    """Five records, the file of one of which opens and gives no byte (EIO)."""
    for number in range(5):
        harvest(silo, f"r:{number}", title="Gulls")
    directory = silo["r:2"].to_dirpath()
    read, opener = place._content_of, place._without_following

    def content_of(path: str, flags: int = 0) -> bytes:
        if path.startswith(directory):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return read(path, flags)

    def without_following(path: str, flags: int) -> int:
        # the memory of this process at address 0: the kernel's own "Input/output error"
        return (
            os.open("/proc/self/mem", flags) if path.startswith(directory) else opener(path, flags)
        )

    monkeypatch.setattr(place, "_content_of", content_of)
    monkeypatch.setattr(place, "_without_following", without_following)
    return silo


def test_a_file_that_gives_no_byte_is_an_error_of_the_store(broken: Silo) -> None:
    with (
        pytest.raises(FileUnreadable, match="'oai_dc' in version '1' of record r:2 cannot be read"),
        broken["r:2"].get_stream("oai_dc") as stream,
    ):
        stream.read()


def test_a_damaged_harvested_file_is_not_copied_into_a_version(
    silo: Silo, harvest: Harvest
) -> None:
    harvest(silo, "r")
    record = silo["r"]
    path = Path(record.to_dirpath(), "oai_dc")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b"junk")
    with pytest.raises(FileDamaged, match="'oai_dc' in version '1' of record r is damaged: it"):
        record.clone_version("1", "copy")
    assert silo["r"].versions == ["1"]
    assert not Path(record.to_dirpath()).with_name("__copy").exists()


def test_a_working_copy_that_an_editor_changed_is_copied_as_it_is(
    silo: Silo, harvest: Harvest
) -> None:
    harvest(silo, "r")
    record = silo["r"]
    record.clone_version("1", "copy")
    path = Path(record.to_dirpath(), "oai_dc")
    path.write_bytes(b"<changed/>")
    record.clone_version("copy", "second")
    assert record.read("second", "oai_dc") == b"<changed/>"


def test_a_file_that_may_not_be_opened_is_an_error_of_the_store(
    silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(silo, "r")

    def refuse(path: str, *_flags: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    record = silo["r"]
    monkeypatch.setattr(place, "_without_following", refuse)
    for act in (
        lambda: record.get_stream("oai_dc"),
        lambda: record.file_info("oai_dc"),
        lambda: silo["r"].clone_version("1", "wc"),
    ):
        with pytest.raises(FileUnreadable, match="Permission denied"):
            act()
    assert silo["r"].versions == ["1"]


def test_too_many_open_files_are_no_fault_of_the_file(
    silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(silo, "r")

    def refuse(path: str, *_flags: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)

    monkeypatch.setattr(place, "_without_following", refuse)
    with pytest.raises(OSError, match="Too many open files"):
        silo["r"].get_stream("oai_dc")


@pytest.mark.parametrize("target", ["csv", "jsonl", "links", "zip", "files", "bag"])
def test_an_export_skips_and_names_a_record_that_cannot_be_read(
    broken: Silo, target: str, tmp_path: Path
) -> None:
    arguments = ["export", target, broken.path, str(tmp_path / "out")]
    done = CliRunner().invoke(silo_command, arguments, standalone_mode=False)
    assert done.exception is None
    assert done.return_value == 1
    assert "'oai_dc' in version '1' of record r:2 cannot be read: Input/output error" in done.output
    assert "4 records" in done.output or "4 created" in done.output


def test_show_tells_of_the_files_that_it_cannot_read(broken: Silo) -> None:
    done = CliRunner().invoke(silo_command, ["show", broken.path, "r:2"], standalone_mode=False)
    assert done.exception is None
    assert "oai_dc" in done.output


@pytest.fixture(params=["pipe", "device"])
def put_special(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Replaces a file by a pipe without a writer, or by a link to a device without an end."""

    def put(path: str) -> None:
        os.remove(path)
        if request.param == "pipe":
            os.mkfifo(path)
        else:
            os.symlink("/dev/zero", path)

    return put


@pytest.mark.timeout(30)
def test_nothing_waits_for_a_manifest_that_is_no_file(
    silo: Silo, harvest: Harvest, put_special: Callable[[str], None], tmp_path: Path
) -> None:
    for number in range(3):
        harvest(silo, f"r:{number}", title="Gulls")
    assert len(silo.search("gulls").rows) == 3
    put_special(f"{silo['r:1'].to_dirpath()}/../__manifest.json")
    with pytest.raises(ManifestUnreadable, match="it is not a regular file"):
        silo["r:1"]
    out = str(tmp_path / "out")
    for arguments, code in (
        (["ls", silo.path], 0),
        (["search", silo.path, "gulls"], 0),
        (["export", "files", silo.path, out], 1),
        (["check", silo.path], 2),
        (["reindex", silo.path], 1),
    ):
        done = CliRunner().invoke(silo_command, arguments, standalone_mode=False)
        assert done.exception is None
        assert (done.return_value or 0) == code
    for command in ("show", "rm"):
        arguments = [command, silo.path, "r:1", *(["--yes"] if command == "rm" else [])]
        done = CliRunner().invoke(silo_command, arguments, standalone_mode=False)
        assert isinstance(done.exception, ManifestUnreadable)
    assert {name for name in os.listdir(out) if name[0] != "."} == {"r+0", "r+2"}


@pytest.mark.timeout(30)
def test_nothing_waits_for_a_file_of_the_silo_that_is_none(
    silo: Silo, put_special: Callable[[str], None]
) -> None:
    put_special(f"{silo.path}/persisted_state.json")
    done = CliRunner().invoke(silo_command, ["ls", silo.path], standalone_mode=False)
    assert isinstance(done.exception, OSError)
    assert (done.exception.filename, done.exception.strerror) == (
        f"{silo.path}/persisted_state.json",
        "it is not a regular file",
    )


@pytest.mark.timeout(30)
def test_nothing_waits_for_what_is_known_of_the_repository(
    silo: Silo, put_special: Callable[[str], None]
) -> None:
    path = f"{silo.path}/{STATE_FILE}"
    Path(path).touch()
    put_special(path)
    assert Repository(silo.path).name == ""


@pytest.mark.timeout(30)
def test_nothing_waits_for_a_stored_file_that_is_none(
    silo: Silo, harvest: Harvest, put_special: Callable[[str], None], tmp_path: Path
) -> None:
    for number in range(3):
        harvest(silo, f"r:{number}", title="Gulls")
    put_special(f"{silo['r:1'].to_dirpath()}/oai_dc")
    with pytest.raises((FileUnreadable, DanglingLink)):
        silo["r:1"].get_stream("oai_dc")
    with pytest.raises((FileUnreadable, DanglingLink)):
        silo["r:1"].clone_version("1", "wc")
    assert silo.reindex() == 3
    arguments = ["export", "files", silo.path, str(tmp_path / "out")]
    done = CliRunner().invoke(silo_command, arguments, standalone_mode=False)
    assert done.exception is None
    assert done.return_value == 1
    assert "'oai_dc' in version '1' of record r:1" in done.output
    assert "2 created" in done.output
