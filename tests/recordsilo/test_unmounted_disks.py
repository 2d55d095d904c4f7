"""No Silo is made where a disk is to be mounted and is not."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.disk import network_disks, unmounted_disks
from recordsilo.disk.unmounted_disks import unmounted_above
from recordsilo.errors import SiloNotFound


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a disk is to be mounted; what is mounted is in a file beside it."""
    place = tmp_path.resolve() / "the disk"
    place.mkdir()
    shown = str(place).replace(" ", "\\040")
    fstab, mounts = tmp_path / "fstab", tmp_path / "mountinfo"
    fstab.write_text(
        f"# /dev/vda {tmp_path}\n/dev/vda / ext4 defaults 0 1\n/dev/vdb none swap sw 0 0\n\n"
        f"UUID=1234 {shown}/ ext4 noatime 0 2\n"
    )
    mounts.write_text("27 1 254:0 / / rw - ext4 /dev/vda rw\n")
    monkeypatch.setattr(unmounted_disks, "FSTAB", str(fstab))
    monkeypatch.setattr(network_disks, "MOUNTS", str(mounts))
    return place


def mount(disk: Path, below: str = "") -> None:
    point = f"{disk}{below}".replace(" ", "\\040")
    with (disk.parent / "mountinfo").open("a") as file:
        file.write(f"28 27 254:0 /silos {point} rw - ext4 /dev/vda rw\n")


@pytest.mark.parametrize("below", ["", "myrepo"])
def test_no_silo_is_made_below_a_disk_that_is_not_mounted(disk: Path, below: str) -> None:
    with pytest.raises(SiloNotFound, match=f"a disk is mounted at {disk}, and it is not mounted"):
        Silo(str(disk / below))
    assert list(disk.iterdir()) == []
    told = CliRunner().invoke(silo_command, ["init", str(disk / below)])
    assert told.exit_code == 2
    assert "mount it, or name another directory" in told.output
    assert list(disk.iterdir()) == []


def test_a_silo_that_is_there_is_opened(disk: Path) -> None:
    mount(disk)
    Silo(str(disk)).close()
    (disk.parent / "mountinfo").write_text("27 1 254:0 / / rw - ext4 /dev/vda rw\n")
    with Silo(str(disk)) as silo:
        assert len(silo) == 0


def test_the_disk_that_counts_is_the_nearest(disk: Path) -> None:
    assert unmounted_above(str(disk.parent / "other")) == ""
    assert unmounted_above(f"{disk}/a/b") == str(disk)
    (disk.parent / "link").symlink_to(disk)
    assert unmounted_above(str(disk.parent / "link" / "a")) == str(disk)
    mount(disk, "/a")
    assert unmounted_above(f"{disk}/a/b") == ""
    assert unmounted_above(f"{disk}/b") == str(disk)
    mount(disk)
    assert unmounted_above(f"{disk}/b") == ""


def test_nothing_is_refused_where_the_system_does_not_tell(
    disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (disk.parent / "mountinfo").unlink()
    assert unmounted_above(str(disk)) == ""
    monkeypatch.setattr(unmounted_disks, "FSTAB", str(disk / "nothing"))
    assert unmounted_above(str(disk)) == ""


def test_a_disk_that_is_not_mounted_by_itself_does_not_count(disk: Path) -> None:
    fstab = disk.parent / "fstab"
    fstab.write_text(fstab.read_text().replace("noatime", "noatime,noauto"))
    assert unmounted_above(str(disk)) == ""
    fstab.write_text(fstab.read_text().replace("noauto", "noauto_da_alloc"))
    assert unmounted_above(str(disk)) == str(disk)


@pytest.mark.parametrize("line", ["/dev/vdc /a\0b ext4", "/dev/vdc /a\\000b ext4", "/dev/vdc"])
def test_lines_that_name_no_directory_are_passed_over(disk: Path, line: str) -> None:
    with (disk.parent / "fstab").open("a") as file:
        file.write(f"{line}\n")
    assert unmounted_above(f"{disk}/a") == str(disk)
    with (disk.parent / "mountinfo").open("a") as file:
        file.write("29 27 254:0 / /a\\000b rw - ext4 /dev/vdc rw\n")
    assert unmounted_above(f"{disk}/a") == str(disk)


def test_an_update_of_an_empty_directory_makes_nothing(tmp_path: Path) -> None:
    told = CliRunner().invoke(silo_command, ["update", str(tmp_path)])
    assert told.exit_code == 2
    assert "is not a Silo: it is empty; silo harvest URL" in told.output
    assert list(tmp_path.iterdir()) == []
    told = CliRunner().invoke(silo_command, ["harvest", str(tmp_path)])
    assert told.exit_code == 2
    assert list(tmp_path.iterdir()) == []
