"""Blocks hold a stream byte for byte, whatever is in it."""

import gzip
import io
import random
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from silosteps.errors import InputUnreadable
from silosteps.inputs import GZIP, ZSTD, open_input
from silosteps.lines import MAX_LINE, Block, blocks

NASTY = b'a "quote\nCR\rinside\r\n\x00NUL\x01\n\xff\xfe not UTF-8\n\n\nlast, unterminated'

lines = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30)


@given(lines, st.integers(1, 64), st.integers(1, 64), st.booleans())
def test_blocks_are_the_stream(
    given_lines: list[bytes], size: int, last: int, terminated: bool
) -> None:
    data = b"\n".join(given_lines) + (b"\n" if terminated else b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("silosteps.lines._LAST", last)
        found = list(blocks(io.BytesIO(data), size=size))  # type: ignore[arg-type]
    assert b"".join(block.data for block in found) == data
    assert all(block.terminated for block in found[:-1])
    assert [line for block in found for line in block.split()] == split_as_python(data)
    assert sum(block.lines for block in found) == len(split_as_python(data))
    ends = [0, *(block.end for block in found)]
    assert [block.start for block in found] == ends[:-1]


def split_as_python(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    return parts[:-1] if not parts[-1] else parts


@pytest.mark.parametrize("size", [1 << 12, 1 << 25])
@pytest.mark.parametrize("after", [b"", b"after\n"])
@pytest.mark.parametrize("extra", [0, 1, 3 << 20])
def test_a_line_that_is_too_long_is_cut_and_its_neighbours_are_not(
    size: int, after: bytes, extra: int
) -> None:
    line = b"x" * (MAX_LINE + extra) + b"\n"
    data = b"before\n" + line + after
    found = list(blocks(io.BytesIO(data), size=size))  # type: ignore[arg-type]
    assert found[-1].end == len(data)
    all_lines = [line for block in found for line in block.split()]
    assert [len(one) for one in all_lines] == [6, MAX_LINE, *([5] if after else [])]
    assert any(block.cut for block in found) == bool(extra)
    tails = [block.tail for block in found if block.cut]
    assert tails == [line[-MAX_LINE:]] * bool(extra)


def test_a_file_is_read_in_whole_lines_so_that_nothing_is_copied(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_bytes(b"".join(b"%0*d\n" % (number % 90, number) for number in range(10_000)))
    reads: list[bytes] = []
    with open_input(str(path)) as stream:
        before = stream.read

        def reading(size: int = -1) -> bytes:
            reads.append(before(size))
            return reads[-1]

        stream.read = reading  # type: ignore[method-assign]
        found = list(blocks(stream, size=100_000))
    assert b"".join(block.data for block in found) == path.read_bytes()
    assert len(found) > 3
    assert all(any(block.data is read for read in reads) for block in found)


def test_a_block_counts_its_unterminated_line() -> None:
    assert Block(0, 3, b"a\nb").lines == 2
    assert not Block(0, 3, b"a\nb").terminated
    assert Block(0, 1, b"\n").split() == [b""]


@pytest.mark.parametrize("kind", ["plain", "gzip", "gzip of two members", "zstd", "zstd frames"])
def test_compression_is_told_from_the_content(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silosteps.lines._LAST", 3)
    half = len(NASTY) // 2
    made = {
        "plain": NASTY,
        "gzip": gzip.compress(NASTY),
        "gzip of two members": gzip.compress(NASTY[:half]) + gzip.compress(NASTY[half:]),
        "zstd": zstandard.compress(NASTY),
        "zstd frames": zstandard.compress(NASTY[:half]) + zstandard.compress(NASTY[half:]),
    }[kind]
    path = tmp_path / "access.log.1"
    path.write_bytes(made)
    with open_input(str(path)) as stream:
        assert b"".join(block.data for block in blocks(stream, size=7)) == NASTY
        assert stream.compressed == (kind != "plain")


def test_standard_input_is_read_to_its_end() -> None:
    code = (
        "from silosteps.inputs import open_input; from silosteps.lines import blocks\n"
        "with open_input('-') as s: print(sum(b.lines for b in blocks(s, size=10)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=gzip.compress(NASTY), capture_output=True, check=True
    )
    assert int(done.stdout) == len(NASTY.split(b"\n"))


@pytest.mark.parametrize("make", [gzip.compress, zstandard.compress])
def test_a_file_cut_short_names_itself_after_what_could_be_read(
    make: object, tmp_path: Path
) -> None:
    path = tmp_path / "cut"
    whole = make(random.Random(1).randbytes(300_000))  # type: ignore[operator]
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputUnreadable, match="cut cannot be read"), open_input(str(path)) as s:
        list(blocks(s))


@pytest.mark.parametrize("head", [GZIP + b"\x08", ZSTD])
def test_a_damaged_file_names_itself(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(head + bytes(20))
    with pytest.raises(InputUnreadable, match="damaged cannot be read"), open_input(str(path)) as s:
        list(blocks(s))


def test_a_directory_and_a_missing_file_are_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputUnreadable, match=str(path)), open_input(str(path)):
            pass
