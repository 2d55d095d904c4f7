"""Whether files can be written in a directory, as far as the system knows."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from recordsilo.disk import full_disk
from recordsilo.disk.full_disk import can_write_in

OPEN = os.open


def test_a_directory_in_which_a_file_was_made_can_be_written(tmp_path: Path) -> None:
    assert can_write_in(str(tmp_path))
    assert os.listdir(tmp_path) == []
    assert not can_write_in(str(tmp_path / "nothing"))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.EROFS, False),
        (errno.EACCES, False),
        (errno.EOPNOTSUPP, True),  # a file system without files without names
        (errno.ENOSPC, True),
    ],
)
def test_what_refuses_a_file_tells_more_than_what_the_disk_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, expected: bool
) -> None:
    def refuse(path: str, flags: int, *more: Any) -> int:
        if flags & os.O_WRONLY:
            raise OSError(number, os.strerror(number), path)
        return OPEN(path, flags, *more)

    monkeypatch.setattr(full_disk.os, "open", refuse)
    assert can_write_in(str(tmp_path)) is expected
    monkeypatch.setattr(full_disk.os, "access", lambda *_: False)
    assert not can_write_in(str(tmp_path))
