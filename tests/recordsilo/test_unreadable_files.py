"""An unreadable file: an error of the store that names it; everything else continues."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.errors import FileUnreadable
from recordsilo.records import place

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
