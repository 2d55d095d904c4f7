"""The file of facet columns: it saves reading the rows, and never gives other counts."""

import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from index_conformance import RECORDS, put, put_all

from recordsilo import Silo
from recordsilo.index import PageRequest, columns, columns_file, kept_columns, matching
from recordsilo.index.search_values import FACETS


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_columns, "LEAST", 1)


@pytest.fixture
def path(tmp_path: Path) -> str:
    with Silo(str(tmp_path / "silo")) as silo:
        put_all(silo)
        silo.warm()
    return str(tmp_path / "silo")


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The conditions of the rows that columns are loaded from."""
    asked: list[str] = []
    load = columns.load_rows

    def counted(*given: object, **named: object) -> columns.Rows:
        asked.append(str(given[1]))
        return load(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(columns, "load_rows", counted)
    return asked


def stored(path: str) -> Path:
    return Path(path, ".silo", "index.sqlite.columns")


def answers(path: str) -> object:
    """What a new process finds, with all counts, in every order."""
    with Silo(path, create=False) as silo:
        found = [
            silo.search(words, None, FACETS, PageRequest(sort=sort))
            for words in ("", "wind OR cells")
            for sort in ("identifier", "title", "newest")
        ]
        return [(one.rows, one.total, one.facets) for one in found], silo.set_years()


def without_a_file(path: str, tmp_path: Path) -> object:
    """The same, of a copy of the Silo whose columns come from the rows."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(path, copy)
    shutil.rmtree(copy / ".silo")
    return answers(str(copy))


def test_another_process_loads_the_file_and_reads_no_row(
    path: str, tmp_path: Path, loads: list[str]
) -> None:
    expected = without_a_file(path, tmp_path)
    assert loads == ["1"]
    loads.clear()
    assert answers(path) == expected
    assert loads == []


def test_after_warming_up_a_search_prepares_nothing(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Silo(path, create=False) as silo:
        silo.warm()
        monkeypatch.setattr(columns, "_Ranked", None)
        monkeypatch.setattr(matching, "FEW", 1000)
        monkeypatch.setattr(columns, "load_rows", None)
        counts = silo.search("wind OR solar", None, ["type", "creator"]).facets["type"]
    assert [(one.value, one.count) for one in counts] == [("Article", 2), ("Thesis", 1)]


def test_records_that_changed_since_are_read_from_their_rows(
    path: str, tmp_path: Path, loads: list[str]
) -> None:
    with Silo(path) as silo:
        put(silo, "a", **RECORDS["a"] | {"date": "1950", "subject": ["a new one"]})
        put(silo, "e", title="Another wind", creator=["Somebody, New"])
        del silo["b"]
    found = answers(path)
    assert loads == ["change > ?"]
    assert found == without_a_file(path, tmp_path)


def test_search_without_large_fields_stores_the_others(path: str, loads: list[str]) -> None:
    stored(path).unlink()
    for _ in range(2):
        with Silo(path, create=False) as silo:
            silo.search("wind", None, ["type"])
    assert loads == ["1"]
    with Silo(path, create=False) as silo:
        silo.search("wind", None, ["creator"])
    answers(path)
    assert loads == ["1", "1"]


def test_end_of_a_reindex_stores_the_columns(path: str, loads: list[str]) -> None:
    shutil.rmtree(f"{path}/.silo")
    with Silo(path) as silo:
        silo.reindex()
    assert stored(path).exists()
    loads.clear()
    answers(path)
    assert loads == []


@pytest.mark.parametrize("content", [b"", b"silo columns 1\n{}\n", b"\xff\0" * 3000])
def test_file_that_is_something_else_is_replaced(path: str, tmp_path: Path, content: bytes) -> None:
    expected = without_a_file(path, tmp_path)
    stored(path).write_bytes(content)
    assert answers(path) == expected
    assert stored(path).read_bytes().startswith(b"silo columns 4 ")


def test_torn_or_altered_file_is_ignored(path: str, tmp_path: Path) -> None:
    expected = without_a_file(path, tmp_path)
    whole = stored(path).read_bytes()
    header = whole.index(b"\n", whole.index(b"\n") + 1)
    for place in (3, 40, header - 5, header + 1, (header + len(whole)) // 2, len(whole) - 1):
        stored(path).write_bytes(whole[:place])
        assert answers(path) == expected, f"torn at {place}"
        altered = bytearray(stored(path).read_bytes())
        altered[min(place, len(altered) - 1)] ^= 1  # tokens differ in length
        stored(path).write_bytes(altered)
        assert answers(path) == expected, f"altered at {place}"


@pytest.mark.parametrize("kind", ["nonsense", "|O", None, "<f8x"])
def test_file_with_a_wrong_header_is_ignored(path: str, tmp_path: Path, kind: object) -> None:
    expected = without_a_file(path, tmp_path)
    _first, header, arrays = stored(path).read_bytes().split(b"\n", 2)
    about = json.loads(header)
    about["arrays"][0][1] = kind
    header = json.dumps(about).encode()
    first = f"{columns_file._FORMAT} {zlib.crc32(header):08x}".encode()
    stored(path).write_bytes(b"\n".join((first, header, arrays)))
    assert answers(path) == expected


def test_file_of_another_index_or_of_an_earlier_one_is_ignored(
    path: str, tmp_path: Path, loads: list[str]
) -> None:
    with Silo(str(tmp_path / "other")) as other:
        put(other, "x", title="Another Silo")
        other.warm()
    kept = stored(path).read_bytes()
    expected = without_a_file(path, tmp_path)
    shutil.copy(stored(str(tmp_path / "other")), stored(path))
    assert answers(path) == expected
    stored(path).write_bytes(kept)  # of the same index, but its token is outdated
    loads.clear()
    assert answers(path) == expected
    assert loads == ["1"]
    Path(path, ".silo", "index.sqlite").unlink()
    assert answers(path) == expected


KILLED = """
import os, sys
from recordsilo import Silo
from recordsilo.disk import atomic_file
from recordsilo.index import kept_columns
kept_columns.LEAST = 1
write = atomic_file._write

def half(fd, content):
    write(fd, content[: int(len(content) * float(sys.argv[2]))])
    os._exit(9)

if sys.argv[2] == "rename":
    os.rename = lambda *_: os._exit(9)
else:
    atomic_file._write = half
with Silo(sys.argv[1], create=False) as silo:
    silo.warm()
"""


@pytest.mark.long
@pytest.mark.parametrize("moment", ["0", "0.5", "1", "rename"])
def test_process_killed_while_writing_leaves_right_counts(
    path: str, tmp_path: Path, moment: str
) -> None:
    with Silo(path) as silo:
        put(silo, "e", title="Another wind", date="1950")
    expected = without_a_file(path, tmp_path)
    whole = stored(path).read_bytes()
    stored(path).write_bytes(whole[:100])  # so that it is written again
    killed = subprocess.run([sys.executable, "-c", KILLED, path, moment], check=False)
    assert killed.returncode == 9
    assert stored(path).read_bytes() == whole[:100]
    (staged,) = stored(path).parent.glob("*.tmp")
    stored(path).write_bytes(whole)  # what an earlier process wrote, with its token
    assert answers(path) == expected
    assert staged.exists()
    os.utime(staged, (0, 0))
    stored(path).unlink()
    assert answers(path) == expected
    assert not staged.exists()
