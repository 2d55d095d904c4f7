"""Plain files of packages, which may come from anybody."""

import os
from pathlib import Path

import pytest

from infopackages.files import PackageUnreadable, open_plain, read_plain


def test_a_plain_file_is_read_whole_up_to_a_size(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"12345")
    assert read_plain(str(tmp_path), "a/b", 5) == b"12345"
    assert read_plain(str(tmp_path), "a/b", 4) is None
    with open_plain(str(tmp_path), "a/b") as file:
        assert file.read() == b"12345"


@pytest.mark.parametrize(
    "path", ["up/b", "link", "a/../a/b", "a//b", "./a/b", "/a/b", "a", "c", "a/\0", "pipe"]
)
def test_nothing_else_is_opened(tmp_path: Path, path: str) -> None:
    place = tmp_path / "place"
    (place / "a").mkdir(parents=True)
    (place / "a" / "b").write_bytes(b"12345")
    (place / "up").symlink_to("a")
    (place / "link").symlink_to("a/b")
    os.mkfifo(place / "pipe")
    with pytest.raises(PackageUnreadable):
        open_plain(str(place), path)
    with pytest.raises(PackageUnreadable):
        read_plain(str(place), path, 100)


def test_the_directory_itself_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "b").write_bytes(b"1")
    (tmp_path / "link").symlink_to("real")
    assert read_plain(str(tmp_path / "link"), "b", 1) == b"1"
