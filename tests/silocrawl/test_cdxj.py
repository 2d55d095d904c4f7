"""The files of the index: their numbers, and several writers."""

import os
import threading
from pathlib import Path

import pytest
import surt
from hypothesis import given
from hypothesis import strategies as st

from silocrawl.cdxj import _PLAIN, MOST_SEGMENTS, NEWEST, Segments, key_of


@pytest.fixture
def index(tmp_path: Path) -> Segments:
    return Segments(str(tmp_path / "index"))


def lines(index: Segments) -> list[str]:
    return list(index.find("", is_prefix=True))


def test_no_line_is_lost_when_numbers_grow_longer(index: Segments) -> None:
    Path(index.directory).mkdir()
    Path(index.directory, "999998-2.cdxj").write_text("a 1 {}\n")
    for key in "bcde":
        index.add([f"{key} 1 {{}}\n"])
    assert lines(index) == [f"{key} 1 {{}}\n" for key in "abcde"]
    assert index.names()[-1] == "1000002-0.cdxj"


@pytest.mark.parametrize("damaged", [b"b 1 {}\na 1 {}\n", b"a 1 {}\nb 1 {", b"\xff\xfe\n"])
def test_a_damaged_file_takes_no_line_of_another_with_it(index: Segments, damaged: bytes) -> None:
    Path(index.directory).mkdir()
    path = Path(index.directory, "000001-0.cdxj")
    path.write_bytes(damaged)
    keys = [f"c{number:02}" for number in range(2 * MOST_SEGMENTS)]
    for key in keys:
        index.add([f"{key} 1 {{}}\n"])
    assert path.read_bytes() == damaged
    assert [line for key in keys for line in index.find(key)] == [f"{key} 1 {{}}\n" for key in keys]
    assert list(index.find("b")) == [] or damaged.startswith(b"b")


def test_a_pipe_among_the_files_is_not_waited_for(index: Segments) -> None:
    Path(index.directory).mkdir()
    os.mkfifo(Path(index.directory, "000001-0.cdxj"))
    with pytest.raises(OSError, match="not a regular file"):
        lines(index)


def test_what_is_merged_has_the_number_of_its_newest_part(index: Segments) -> None:
    for number in range(MOST_SEGMENTS + 2):
        index.add([f"{number:02} 1 {{}}\n"])
    assert index.names()[:2] == ["000012-1.cdxj", "000013-0.cdxj"]
    assert len(index.names()) == 1 + NEWEST + 2
    assert len(lines(index)) == MOST_SEGMENTS + 2


def test_writers_at_the_same_time_lose_no_line(index: Segments) -> None:
    def write(name: str) -> None:
        for number in range(40):
            Segments(index.directory).add([f"{name}{number:02} 1 {{}}\n"])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(lines(index)) == 160


@given(st.from_regex(_PLAIN, fullmatch=True))
def test_a_plain_address_has_the_key_that_surt_gives_it(url: str) -> None:
    assert key_of(url) == surt.surt(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://www.a.example/", "http://www2.a.example/x", "http://a.example:80/x", "http://1.2.3/x",
        "http://a.example//x", "http://a.example/x/../y", "http://a.example/%41", "http://a.example",
        "https://a.example:8443/A/B.PDF", "http://a.example/x?b=2&A=1", "http://a.example/x;jsessionid=1",
    ],
)  # fmt: skip
def test_every_other_address_has_the_key_that_surt_gives_it(url: str) -> None:
    assert key_of(url) == surt.surt(url)
