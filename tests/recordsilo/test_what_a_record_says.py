"""The descriptive fields of a record, which come from the current version's metadata."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Granary, HarvestedRecord, Silo
from recordsilo.errors import (
    FieldUnknown,
    FileNotInVersion,
    IdentifierError,
    MetadataUnreadable,
    VersionNotFound,
)
from recordsilo.silo_then import SiloThen

DOCUMENTS = sorted((Path(__file__).parent / "formats" / "golden").glob("*.xml"))
DOCUMENT = b"""<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
    xmlns:dc="http://purl.org/dc/elements/1.1/">
  <dc:title xml:lang="en">Solar cells</dc:title><dc:title xml:lang="de">Solarzellen</dc:title>
  <dc:creator>Adeyemi, Fiona</dc:creator><dc:creator>Vogt, Friederike</dc:creator>
  <dc:creator>Adeyemi, Fiona</dc:creator>
  <dc:subject>Physics</dc:subject><dc:description>How they age.</dc:description>
  <dc:description>3 figures</dc:description><dc:publisher>Wexcombe</dc:publisher>
  <dc:date>in print</dc:date><dc:date>2016-05-01</dc:date><dc:type>Article</dc:type>
  <dc:language>en</dc:language><dc:rights>CC BY 4.0</dc:rights>
  <dc:identifier>https://doi.org/10.5555/wex.3002</dc:identifier>
  <dc:relation>http://repo.example/3002/1.pdf</dc:relation>
</oai_dc:dc>"""
EMPTY = {
    "title": None, "creators": (), "year": None, "types": (), "doi": None, "subjects": (),
    "description": None, "publishers": (), "languages": (), "rights": (), "links": (), "sets": (),
}  # fmt: skip


def said(record: HarvestedRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in EMPTY}


def test_a_record_says_what_its_metadata_says(silo: Silo, harvest: Callable[..., str]) -> None:
    harvest(silo, "x:3002", DOCUMENT, sets=("a:b",), date="2016-06-24T10:11:12")
    record = silo["x:3002"]
    assert said(record) == {
        "title": "Solar cells",
        "creators": ("Adeyemi, Fiona", "Vogt, Friederike"),
        "year": 2016,
        "types": ("Article",),
        "doi": "10.5555/wex.3002",
        "subjects": ("Physics",),
        "description": "How they age.",
        "publishers": ("Wexcombe",),
        "languages": ("en",),
        "rights": ("CC BY 4.0",),
        "links": ("https://doi.org/10.5555/wex.3002", "http://repo.example/3002/1.pdf"),
        "sets": ("a:b",),
    }
    assert record.datestamp == datetime(2016, 6, 24, 10, 11, 12, tzinfo=UTC)
    assert record.datestamp is not None
    assert record.datestamp.utcoffset() == timedelta(0)
    assert not record.is_curated
    assert not record.is_deleted


def test_a_prompt_shows_a_record_in_a_few_lines(silo: Silo, harvest: Callable[..., str]) -> None:
    harvest(silo, "x:3002", DOCUMENT)
    record = silo["x:3002"]
    assert record.identifier == record.item_id == "x:3002"
    assert record.summary.splitlines() == [
        "x:3002",
        "  title     Solar cells",
        "  creators  Adeyemi, Fiona; Vogt, Friederike",
        "  year      2016",
        "  version   1",
        "  files     oai_dc",
    ]
    record.clone_version("1", "wc")
    title = "long\N{NEXT LINE} " * 20
    record.put_stream("oai_dc", f"<dc><title>{title}</title></dc>", metadata=True)
    shown = record.summary.split("\n")
    assert shown[2:] == ["  version   wc (of 1, wc)", "  files     oai_dc", "  marks     curated"]
    assert (len(shown[1]), "…" in shown[1], shown[1].isprintable()) == (100, True, True)
    assert silo.get_item("x:new").summary.splitlines()[:2] == ["x:new", "  title     (no title)"]


def test_a_slip_at_the_prompt_is_told_what_to_write(silo: Silo) -> None:
    record = silo.get_item("3002")
    record.sync()
    with pytest.raises(IdentifierError, match="is a number; write '3002'"):
        silo[3002]  # type: ignore[index]
    with pytest.raises(IdentifierError, match="is a number; write '3002'"):
        assert 3002 in silo
    with pytest.raises(IdentifierError, match=r"search\(\)\[:3\] has records, keys\(\)\[:3\] id"):
        silo[:3]  # type: ignore[index]
    assert None not in silo
    for key, told in {
        "title": "has no key 'title'; write record.title",
        "version": "has no key 'version'; did you mean 'versions'",
        "zzz": "has no key 'zzz'$",
    }.items():
        with pytest.raises(KeyError) as error:
            record[key]
        assert re.search(told, str(error.value))


def test_versions_and_differences_at_the_prompt_say_what_they_are(silo: Silo) -> None:
    record = silo.get_item("x:1")
    record.put_stream("oai_dc", DOCUMENT, metadata=True)
    record.clone_version("1", "wc")
    record.set_version_state("wc", "ready")
    for number in range(6):
        record.put_stream(f"{number}.txt", "notes")
    first, clone = record.state.versions
    assert repr(first) == f"<Version '1': local, {first.date}; files: oai_dc>"
    files = "oai_dc, 0.txt, 1.txt, 2.txt, 3.txt and 2 more"
    assert repr(clone) == f"<Version 'wc': clone of 1, {clone.date}, ready; files: {files}>"
    record.put_stream("oai_dc", DOCUMENT.replace(b"they age", b"they grow"), metadata=True)
    shown = repr(record.differences("1", "wc")).split("\n")
    size = len(DOCUMENT)
    assert shown[0] == "version 1 → version wc"
    assert f"  changed   oai_dc  {size:,} → {size + 1:,} bytes" in shown
    assert "  added     5.txt  5 bytes" in shown
    assert repr(record.differences("1", "1")) == "version 1 → version 1: no differences"


def test_a_silo_at_the_prompt_names_its_directory_and_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert repr(Silo("made", base_oai_url="http://x.example/oai")) == (
        "<Silo 'made', harvested from http://x.example/oai>"
    )
    assert repr(Silo("own")) == "<Silo 'own'>"
    assert repr(Granary("several")) == "<Granary 'several'>"


def test_what_is_not_said_is_empty(silo: Silo) -> None:
    new = silo.get_item("x:1")
    assert said(new) == EMPTY
    assert new.is_curated
    new.put_stream("notes.txt", "not metadata")
    new.put_stream("data.json", "{}", metadata=True)
    new.put_stream("oai_dc", "<dc/>", metadata=True)
    assert said(silo["x:1"]) == EMPTY


def test_it_follows_the_cursor_and_every_change(silo: Silo, harvest: Callable[..., str]) -> None:
    harvest(silo, "x:1", DOCUMENT)
    record = silo["x:1"]
    assert record.title == "Solar cells"
    record.clone_version("1", "workingcopy")
    record.put_stream("oai_dc", DOCUMENT.replace(b"Solar cells", b"Wind"))
    assert (record.title, record.is_curated) == ("Wind", True)
    record.set_version_cursor("1")
    assert (record.title, record.is_curated) == ("Solar cells", False)
    assert record.version_is_curated("workingcopy")
    other = silo["x:1"]
    other.set_version_cursor("workingcopy")
    other.put_stream("oai_dc", DOCUMENT.replace(b"Solar cells", b"Waves"))
    record.set_version_cursor("workingcopy")
    record.revert()
    assert record.title == "Waves"


def test_a_version_without_a_title_has_that_of_the_newest_with_one(
    silo: Silo, harvest: Callable[..., str]
) -> None:
    harvest(silo, "x:1", DOCUMENT)
    record = silo["x:1"]
    record.create_new_version("2")
    assert said(record) == {**EMPTY, "title": "Solar cells"}
    with silo.batch(["x:1"]) as batch:
        batch.edit("x:1").set_metadata("deleted_at_version", "2")
    assert silo["x:1"].is_deleted
    assert silo.row("x:1").title == "Solar cells"


def test_an_invalid_datestamp_is_none(silo: Silo, harvest: Callable[..., str]) -> None:
    harvest(silo, "x:1", DOCUMENT, date="yesterday")
    assert silo["x:1"].datestamp is None


def test_records_say_what_lists_say(silo: Silo) -> None:
    for path in DOCUMENTS:
        record = silo.get_item(f"x:{path.stem}")
        record.put_stream(path.stem, path.read_bytes(), metadata=True)
    rows, described = silo.rows(silo), silo.described(list(silo))
    for record in silo.values():
        row, listed = rows[record.item_id], described[record.item_id]
        assert record.title == row.title
        assert record.creators == listed.creators
        assert record.year == int(listed.year)
        assert record.doi == (listed.doi or None)
        for field, name in (("type", "types"), ("subject", "subjects"), ("language", "languages")):
            assert getattr(record, name) == listed.values.get(field, ())


def test_records_are_equal_by_silo_identifier_and_moment(silo: Silo, tmp_path: Path) -> None:
    silo.get_item("x:1").sync()
    silo.get_item("x:2").sync()
    one = silo["x:1"]
    with Silo(str(tmp_path / "other")) as other, Silo(silo.storage_dir) as same:
        other.get_item("x:1").sync()
        assert one == silo["x:1"] == same["x:1"]
        assert one not in (silo["x:2"], other["x:1"], "x:1", None)
        assert len({one, same["x:1"], silo["x:2"], other["x:1"]}) == 3
    with SiloThen(silo.storage_dir, datetime.now(UTC).isoformat()) as then:
        assert then["x:1"] != one
        assert then["x:1"] == then["x:1"]
    one.put_stream("notes.txt", "changed")
    assert one == silo["x:1"]


def test_values_are_the_records_in_the_order_of_keys(silo: Silo) -> None:
    for name in ("b", "a"):
        silo.get_item(name).sync()
    assert list(silo.values()) == [silo["a"], silo["b"]]


def test_a_metadata_file_is_opened_as_its_values_by_field(
    silo: Silo, harvest: Callable[..., str]
) -> None:
    harvest(
        silo,
        "x:1",
        b'<metadata xmlns="http://www.openarchives.org/OAI/2.0/">%b</metadata>' % DOCUMENT,
    )
    document = silo["x:1"].open("oai_dc")
    assert document["title"] == ("Solar cells", "Solarzellen")
    assert document["creator"] == ("Adeyemi, Fiona", "Vogt, Friederike")
    assert document["coverage"] == ()
    assert "coverage" not in document
    assert "title" in document
    assert list(document)[:3] == ["title", "creator", "subject"]
    assert dict(document)["date"] == ("in print", "2016-05-01")
    assert (document.path, document.format, len(document)) == ("oai_dc", "Dublin Core", 11)
    assert document.description.titles[1].lang == "de"
    assert document.xml.startswith(b"<?xml version='1.0' encoding='UTF-8'?>\n<oai_dc:dc ")
    assert [link.field for link in document.links] == ["dc:identifier", "dc:relation"]
    assert repr(document).splitlines()[:3] == [
        "oai_dc (Dublin Core)",
        "  title        Solar cells and 1 more",
        "  creator      Adeyemi, Fiona and 1 more",
    ]


def test_every_format_opens_as_what_the_record_says(silo: Silo) -> None:
    record = silo.get_item("x:1")
    for path in DOCUMENTS:
        record.put_stream(path.stem, path.read_bytes(), metadata=True)
        document = record.open(path.stem)
        assert document["title"]
        assert document.format
    assert record.open().path == "oai_dc"
    assert record.open()["title"][0] == record.title


def test_another_version_is_opened(silo: Silo, harvest: Callable[..., str]) -> None:
    harvest(silo, "x:1", DOCUMENT)
    record = silo["x:1"]
    record.clone_version("1", "workingcopy")
    record.put_stream("oai_dc", DOCUMENT.replace(b"Solar cells", b"Wind"))
    assert record.open(version="1")["title"][0] == "Solar cells"
    assert record.open()["title"][0] == "Wind"
    with pytest.raises(VersionNotFound, match="it has 1, workingcopy"):
        record.open(version="2")


def test_what_cannot_be_opened_is_told(silo: Silo, harvest: Callable[..., str]) -> None:
    harvest(silo, "x:1", DOCUMENT)
    record = silo["x:1"]
    record.clone_version("1", "workingcopy")
    record.put_stream("mods", "<mods/>", metadata=True)
    record.put_stream("notes.txt", "not XML")
    record.put_stream("oai_dc.about", "<about/>", metadata=True)
    with pytest.raises(FileNotInVersion) as missing:
        record.open("oai-dc")
    assert str(missing.value) == (
        "version 'workingcopy' of record x:1 has no metadata file 'oai-dc'; it has oai_dc, mods, "
        "oai_dc.about; did you mean 'oai_dc'?"
    )
    with pytest.raises(MetadataUnreadable, match=r"get_stream\('notes.txt'\) gives its bytes"):
        record.open("notes.txt")
    with pytest.raises(MetadataUnreadable, match="it only says where metadata is from"):
        record.open("oai_dc.about")
    with pytest.raises(FieldUnknown, match=r"has no field 'titel'.*; did you mean 'title'"):
        record.open("oai_dc")["titel"]
    with pytest.raises(FileNotInVersion, match=r"version '1' of record x:2 has no metadata$"):
        silo.get_item("x:2").open()
