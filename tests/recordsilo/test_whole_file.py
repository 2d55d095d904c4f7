"""Files that are complete or missing, never partial."""

import os
import stat
from pathlib import Path

import pytest

from recordsilo.disk.whole_file import as_text, whole_file


def test_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("the one before")

    def broken() -> None:
        with whole_file(str(path)) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken()
    assert path.read_text() == "the one before"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "table.csv"
    link.symlink_to("elsewhere/table.csv")
    with whole_file(str(link)) as file, as_text(file, "utf-8-sig") as text:
        text.write("ä\r\n")
    assert link.is_symlink()
    assert (tmp_path / "elsewhere" / "table.csv").read_bytes() == "\ufeffä\r\n".encode()
    assert os.listdir(tmp_path / "elsewhere") == ["table.csv"]


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(str(pipe)) as file:
            file.write(b"a row")
        assert os.read(reader, 100) == b"a row"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["", "none/table.csv"])
def test_the_path_that_was_asked_for_is_named_where_it_cannot_be_written(
    tmp_path: Path, name: str
) -> None:
    path = str(tmp_path / name)
    with pytest.raises(OSError, match="directory") as caught, whole_file(path):
        pass
    assert caught.value.filename == path
    assert os.listdir(tmp_path) == []
