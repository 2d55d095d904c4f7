"""Where archive files are: in the Silo, elsewhere, still being written, or at a URL."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from politeweb.warc.pairs import resource_record
from politeweb.warc.writing import WarcFiles
from recordsilo import Silo
from silocrawl.captures import Captures, CaptureUnreadable
from silocrawl.cdxj import Segments, line_of
from silocrawl.chosen import ChosenCaptures
from silocrawl.crawl_log import CrawlOutcome
from silocrawl.paths import archives_directory, index_directory, places_file
from silocrawl.places import Places, PlacesInvalid, note_places, read_places
from silocrawl.replay import configuration
from silocrawl.wacz import write_wacz

URL, BODY = "http://site.localhost/a", b"a page"


@pytest.fixture
def elsewhere(silo: Silo, tmp_path: Path) -> Path:
    """An archive with one capture, whose file is not in the Silo."""
    archive = WarcFiles(archives_directory(silo.path), "x", {})
    began = datetime(2026, 1, 2, tzinfo=UTC)
    record = b"".join(resource_record(URL, "text/html", BODY, began))
    name, place = archive.append(record)
    archive.close()
    one = CrawlOutcome(
        "20260102000000", URL, 200, "text/html", warc_filename=name, warc_offset=place
    )
    Segments(index_directory(silo.path)).add([line_of(one, len(record))])
    (tmp_path / "jobs").mkdir()
    return Path(archives_directory(silo.path), name).rename(tmp_path / "jobs" / name)


def read(silo: Silo) -> bytes:
    captures = Captures(silo.path)
    return captures.begin(captures.of(URL)[0], 99).content


def packed(silo: Silo, path: Path) -> int:
    with ChosenCaptures(Segments(index_directory(silo.path))) as chosen, path.open("wb") as file:
        chosen.add_all()
        return write_wacz(chosen, Places.of_silo(silo.path), file, "x").captures


def as_path(path: Path) -> tuple[str, ...]:
    return (str(path),)


def as_open(path: Path) -> tuple[str, ...]:
    path.rename(f"{path}.open")
    return str(path), f"{path}.open"


def as_url(path: Path) -> tuple[str, ...]:
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe(f"/{path.name}", path.read_bytes())
    return (f"memory://{path.name}",)


@pytest.mark.parametrize("places_of", [as_path, as_open, as_url])
def test_an_archive_is_read_where_it_is(
    silo: Silo, elsewhere: Path, tmp_path: Path, places_of: Callable[[Path], tuple[str, ...]]
) -> None:
    with pytest.raises(CaptureUnreadable, match="there is no x"):
        read(silo)
    assert packed(silo, tmp_path / "none.wacz") == 0
    note_places(silo.path, {elsewhere.name: places_of(elsewhere)})
    assert read(silo) == BODY
    assert packed(silo, tmp_path / "one.wacz") == 1


def test_a_copy_in_the_silo_comes_first(silo: Silo, elsewhere: Path) -> None:
    note_places(silo.path, {elsewhere.name: ["/nowhere/x.warc.gz"]})
    elsewhere.rename(Path(archives_directory(silo.path), elsewhere.name))
    assert read(silo) == BODY


def test_lines_are_sorted_each_name_once_and_pywb_gets_them(silo: Silo) -> None:
    own = json.loads(configuration(silo.path))["collections"]["own"]["archive_paths"]
    note_places(silo.path, {"b": ["/b", "/b.open"], "a": ["/a"]})
    note_places(silo.path, {"b": ["s3://bucket/b"], "a-1": ["/é"], "c": ["/c"]})
    note_places(silo.path, {"c": []})
    file = Path(places_file(silo.path))
    assert file.read_text() == "a\t/a\na-1\t/é\nb\ts3://bucket/b\n"
    both = json.loads(configuration(silo.path))["collections"]["own"]["archive_paths"]
    assert both == [own, str(file)]


@pytest.mark.parametrize(
    ("name", "place"),
    [("../a", "/a"), ("", "/a"), ("a\tb", "/a"), ("a", "b"), ("a", "/b\n/c"), ("a", "s3:b")],
)
def test_what_is_no_name_or_no_place_is_refused(silo: Silo, name: str, place: str) -> None:
    with pytest.raises(PlacesInvalid):
        note_places(silo.path, {"x": ["/x"], name: [place]})
    assert read_places(places_file(silo.path)) == {}


def test_a_damaged_file_is_told_and_not_replaced(silo: Silo, elsewhere: Path) -> None:
    file = Path(places_file(silo.path))
    file.write_text("a\t/a\n\nb\n")
    with pytest.raises(CaptureUnreadable, match=r"archive: places\.tsv, line 3: b has no path"):
        read(silo)
    with pytest.raises(PlacesInvalid, match="line 3"):
        note_places(silo.path, {elsewhere.name: [str(elsewhere)]})
    assert file.read_text() == "a\t/a\n\nb\n"
