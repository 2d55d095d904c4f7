"""Files that are opened by names that others may have made."""

import os
import socket
from pathlib import Path

import pytest

from recordsilo.disk.regular_file import open_regular


def test_a_file_is_read_also_by_a_link_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        with open_regular(str(tmp_path / name)) as file:
            assert file.read() == b"content"
    with open_regular(str(tmp_path / "file"), follow=False) as file:
        assert file.read() == b"content"
    with pytest.raises(OSError, match="symbolic link"):
        open_regular(str(tmp_path / "link"), follow=False)


def test_what_may_have_no_end_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    for name in ("pipe", "zero", "socket"):
        with pytest.raises(OSError, match="regular file"):
            open_regular(str(tmp_path / name))
    with pytest.raises(IsADirectoryError):
        open_regular(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        open_regular(str(tmp_path / "none"))
