"""Silos that cannot be written, because their disk is read-only or full, are read all the same."""

import errno
import logging
import os
import pickle
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_results import Harvest, in_a_process

from recordsilo import Silo, SiloNotWritable

Mounted = Callable[..., Path]
EXPECTED = [f"oai:x:{number}" for number in range(10, 50)]


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Mounted]:
    """Mounts something below the temporary directory until the end of the test."""
    places: list[Path] = []

    def mount(name: str, *options: str) -> Path:
        place = tmp_path / name
        place.mkdir()
        if subprocess.run(["mount", *options, str(place)], check=False).returncode:
            pytest.skip("nothing can be mounted here")
        places.append(place)
        return place

    yield mount
    for place in reversed(places):
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture
def path(tmp_path: Path, harvest: Harvest) -> str:
    path = str(tmp_path / "written")
    with Silo(path) as silo:
        for name in EXPECTED:
            harvest(silo, name, title=f"Solar {name}")
        assert silo.search("solar").total == 40
    return path


@pytest.fixture
def read_only(path: str, mounted: Mounted) -> Callable[[], str]:
    def mount() -> str:
        place = mounted("read-only", "--bind", path)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(place)], check=True)
        return str(place)

    return mount


def check_read(path: str, caplog: pytest.LogCaptureFixture, *, is_from_file: bool) -> None:
    with caplog.at_level(logging.WARNING), Silo(path, create=False) as silo:
        assert list(silo) == EXPECTED
        assert silo.search('"solar oai x 17"', facets=["year", "set"]).total == 1
        assert silo._catalogue._index._is_fixed is is_from_file  # type: ignore[attr-defined]
        assert silo.index_is_kept is False
    assert caplog.text == ""


def test_the_index_of_a_read_only_silo_is_read_as_it_is(
    read_only: Callable[[], str], caplog: pytest.LogCaptureFixture
) -> None:
    check_read(read_only(), caplog, is_from_file=True)


def test_a_read_only_silo_without_an_index_is_read_record_by_record(
    path: str, read_only: Callable[[], str], caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(f"{path}/.silo")
    check_read(read_only(), caplog, is_from_file=False)


def test_the_index_of_another_release_is_not_used(
    path: str, read_only: Callable[[], str], caplog: pytest.LogCaptureFixture
) -> None:
    with Silo(path) as silo, silo._catalogue._index.writing() as connection:  # type: ignore[attr-defined]
        connection.execute("PRAGMA user_version = 7")
    check_read(read_only(), caplog, is_from_file=False)


def test_what_a_killed_writer_left_is_read_into_a_private_copy(
    path: str, read_only: Callable[[], str], harvest: Harvest, caplog: pytest.LogCaptureFixture
) -> None:
    with Silo(path) as silo:
        silo._catalogue.before_write(["oai:x:13"], durable=True)
    check_read(read_only(), caplog, is_from_file=False)


@pytest.mark.parametrize("archive", [["cp", "-a"], ["cp", "-r"]])
def test_a_read_only_copy_is_read_by_its_index(
    path: str, tmp_path: Path, archive: list[str], mounted: Mounted,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    copy = str(tmp_path / "copy")
    subprocess.run([*archive, path, copy], check=True)
    place = str(mounted("read-only", "--bind", copy))
    subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
    check_read(place, caplog, is_from_file=archive[1] == "-a")


def test_a_read_only_silo_that_another_mount_writes_is_read_anew(
    path: str, read_only: Callable[[], str], harvest: Harvest
) -> None:
    with Silo(read_only(), create=False) as reading, Silo(path) as writing:
        assert len(reading) == 40
        harvest(writing, "oai:x:new")
        writing.close()
        assert (len(reading), "oai:x:new" in list(reading)) == (41, True)


@pytest.mark.long
def test_commands_that_read_say_nothing_and_others_one_sentence(
    read_only: Callable[[], str], tmp_path: Path
) -> None:
    path, out = read_only(), str(tmp_path / "out")
    for command in (
        ["ls", path], ["search", path, "solar", "--json"],
        ["show", path, "oai:x:11"], ["check", path],
        ["cat", path, "oai:x:11", "oai_dc"], ["quality", path], ["harvests", path, "--json"],
        ["jobs", path, "--json"], ["crawl", "list", path, "--json"],
        ["export", "csv", path, f"{out}.csv"], ["export", "files", path, out],
        ["export", "files", path, out],
    ):  # fmt: skip
        done = in_a_process([*command])
        assert (done.returncode, done.stderr) == (0, b""), command
    for command in (["harvests", path], ["jobs", path], ["crawl", "list", path]):
        done = in_a_process(command)
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, b"", 1), command
        assert done.stderr.startswith(b"silo: no "), command
    for command in (["rm", path, "oai:x:11", "--yes"], ["clone", path, "oai:x:12"]):
        done = in_a_process([*command])
        assert done.returncode == 2
        assert done.stderr.decode() == (
            f"silo: the Silo {path} is read-only; make it writable, or change a copy of it\n"
        )
    done = in_a_process(["reindex", path])
    assert (done.returncode, done.stderr.decode()) == (
        2, f"silo: the Silo {path} is read-only; make it writable, or change a copy of it\n"
    )  # fmt: skip


def changes(silo: Silo, directory: Path) -> Iterator[Callable[[], object]]:
    """Changes of many kinds, each of which stores something."""
    record = silo["oai:x:11"]
    directory.mkdir(exist_ok=True)
    (directory / "file").write_bytes(b"new")
    yield lambda: silo.get_item("new").put_stream("oai_dc", "<dc/>")
    yield lambda: silo.get_item("new").put_stream("oai_dc", "<dc/>", sync=False)
    yield silo.get_item("new").sync
    yield lambda: record.clone_version("1", "workingcopy")
    yield lambda: record.move_directory_as_new_version(str(directory))
    yield lambda: silo.del_item("oai:x:11", remember=True)
    yield lambda: silo.restore_removed(["oai:x:11"])
    yield lambda: silo.state.update({"base_oai_url": "http://x.org"}) or silo.state.sync()


def test_a_change_of_a_read_only_silo_at_the_prompt_is_an_error_of_ours(
    read_only: Callable[[], str], tmp_path: Path
) -> None:
    path = read_only()
    with Silo(path) as silo:
        for change in changes(silo, tmp_path / "directory"):
            with pytest.raises(SiloNotWritable, match=r"^the Silo .* is read-only; ") as refused:
                change()
            assert isinstance(refused.value, OSError)
            assert (refused.value.errno, refused.value.silo) == (errno.EROFS, path)
            again = pickle.loads(pickle.dumps(refused.value))
            assert str(again) == str(refused.value)
            assert ".silo" not in str(again)


# -- a full disk ------------------------------------------------------------------------


def fill(disk: Path) -> Path:
    """Use all room of a disk."""
    filling = disk / "filling"
    with filling.open("wb") as file:
        try:
            while True:
                os.write(file.fileno(), b"\0" * 4096)
        except OSError:
            return filling


def test_a_full_disk_at_the_prompt_is_an_error_of_ours(path: str, mounted: Mounted) -> None:
    disk = mounted("small", "-t", "tmpfs", "-o", "size=4m", "tmpfs")
    place = str(disk / "silo")
    subprocess.run(["cp", "-a", path, place], check=True)
    with Silo(place) as silo:
        fill(disk)
        with pytest.raises(SiloNotWritable, match=r"^the disk of the Silo .* is full; make room"):
            silo.get_item("new").put_stream("oai_dc", f"<dc>{'x' * 9000}</dc>")
        with pytest.raises(SiloNotWritable, match=r"^the disk of the Silo .* is full; make room"):
            silo["oai:x:12"].clone_version("1", "workingcopy")
        assert list(silo) == EXPECTED


def test_a_silo_that_a_full_disk_has_no_room_for_is_named(mounted: Mounted) -> None:
    disk = mounted("small", "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    fill(disk)
    place = str(disk / "silo")
    done = in_a_process(["init", place])
    assert done.returncode == 75
    assert done.stderr.decode() == (
        f"silo: {place}: no space left on the disk; make room, then the same command continues\n"
    )


@pytest.mark.long
def test_a_full_disk_is_named_and_the_list_is_made_without_room(
    path: str, mounted: Mounted
) -> None:
    disk = mounted("small", "-t", "tmpfs", "-o", "size=4m", "tmpfs")
    place = str(disk / "silo")
    subprocess.run(["cp", "-a", path, place], check=True)
    filling = fill(disk)
    done = in_a_process(["clone", place, "oai:x:11"])
    assert done.returncode == 75
    assert done.stderr.decode().splitlines()[-1] == (
        f"silo: {place}: no space left on the disk; make room, then the same command continues"
    )
    for _ in range(2):
        done = in_a_process(["ls", place])
        assert (done.returncode, len(done.stdout.splitlines())) == (0, 40)
    for index in Path(place, ".silo").glob("index.sqlite*"):
        index.unlink()
    fill(disk)
    done = in_a_process(["ls", place])
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 40)
    filling.unlink()
    assert in_a_process(["clone", place, "oai:x:11"]).returncode == 0


@pytest.mark.long
def test_an_export_to_a_full_disk_stops_and_the_same_command_continues(
    path: str, mounted: Mounted
) -> None:
    disk = mounted("small", "-t", "tmpfs", "-o", "size=2m", "tmpfs")
    filling = fill(disk)
    for command in (
        ["export", "files", path, str(disk / "out")],
        ["export", "csv", path, str(disk / "out.csv")],
    ):
        done = in_a_process([*command])
        assert done.returncode == 75, done.stderr
        assert str(disk) in done.stderr.decode()
        assert b"make room, then the same command continues" in done.stderr
    filling.unlink()
    assert in_a_process(["export", "files", path, str(disk / "out")]).returncode == 0


def test_lists_go_on_while_what_follows_from_a_removal_waits_for_room(
    path: str, mounted: Mounted
) -> None:
    disk = mounted("small", "-t", "tmpfs", "-o", "size=4m", "tmpfs")
    place = str(disk / "silo")
    subprocess.run(["cp", "-a", path, place], check=True)
    with Silo(place) as silo:
        silo.del_item("oai:x:11", remember=True)
    Path(place, "curation", "removed-told.json").unlink(missing_ok=True)
    Path(place, ".silo", "locks", "removals").unlink(missing_ok=True)
    filling = fill(disk)
    done = in_a_process(["ls", place])
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 39)
    filling.unlink()
    assert in_a_process(["ls", place]).returncode == 0
    assert Path(place, "curation", "removed-told.json").exists()


def test_a_list_is_whole_where_the_index_fails_while_it_is_brought_in_step(
    path: str, mounted: Mounted
) -> None:
    disk = mounted("small", "-t", "tmpfs", "-o", "size=4m", "tmpfs")
    place = str(disk / "silo")
    subprocess.run(["cp", "-a", path, place], check=True)
    with Silo(place) as silo:
        silo._catalogue.before_write(EXPECTED, durable=True)  # its writer dies
        with Silo(place) as other:
            other._catalogue.after_write = lambda _entries: None  # type: ignore[method-assign]
            other["oai:x:11"].clone_version("1", "workingcopy")
        fill(disk)
        with Silo(place) as reading:
            assert list(reading) == EXPECTED
            assert reading.row("oai:x:11").curated


def test_an_open_silo_is_read_on_when_its_disk_becomes_read_only_and_then_written_again(
    path: str, harvest: Harvest, tmp_path: Path
) -> None:
    with Silo(path) as silo, Silo(path) as other:
        assert len(silo) == len(other) == 40
        harvest(other, "oai:x:new")
        for manifest in Path(path).rglob("__manifest.json"):
            os.utime(manifest)  # as a restore from a backup does: they are read again
        if subprocess.run(["mount", "--bind", path, path], check=False).returncode:
            pytest.skip("nothing can be mounted here")
        try:
            subprocess.run(["mount", "-o", "remount,ro,bind", path], check=True)
            assert (len(silo), len(list(silo)), silo.index_is_kept) == (41, 41, False)
            with pytest.raises(SiloNotWritable):
                harvest(silo, "oai:x:refused")
        finally:
            subprocess.run(["umount", "--lazy", path], check=True)
        harvest(silo, "oai:x:written")
        assert silo.index_is_kept
        assert len(list(silo)) == len(list(other)) == 42
