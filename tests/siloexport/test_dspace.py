"""Items of DSpace pass the suite of all targets, and are read as DSpace reads them."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conformance import Change, Content, DiskTargetContract
from real_peers import read_items
from saf_reader import REGISTRY, Item, read_item

from recordsilo import Origin, Silo
from siloexport import (
    DspaceSettings,
    DspaceTarget,
    Export,
    ExportError,
    Policy,
    Selection,
    Target,
    TargetUnusable,
    Versions,
)
from siloexport.bibliography import of_document
from siloexport.commands.export import export
from siloexport.targets.directory import directory_name
from siloexport.targets.dspace import DEFAULT
from siloexport.targets.dspace_item import bitstreams_of
from siloexport.targets.dspace_metadata import mapping_of, usual_fields
from siloexport.values import ExportedFile

GOLDEN = Path(__file__).parents[1] / "recordsilo/formats/golden"
ONE = "oai:example.org:1"
TWO = "oai:example.org:2"
DATE = "2024-05-01T00:00:00"
SOURCE = "http://example.org/oai as oai:example.org:a"


class DspaceRig:
    versions = Versions.CURRENT

    def __init__(self, directory: Path, settings: DspaceSettings = DEFAULT) -> None:
        self.directory, self.settings = directory, settings

    def target(self) -> Target:
        return DspaceTarget(str(self.directory), self.settings)

    def item(self, identifier: str) -> Item | None:
        place = self.directory / "items" / directory_name(identifier)
        return read_item(place) if place.is_dir() else None

    def holds(self, identifier: str) -> Content:
        item = self.item(identifier)
        if item is None:
            return []
        files = {one.description or name: one.content for name, one in item.bitstreams.items()}
        return [(self._current(identifier), files)]

    def _current(self, identifier: str) -> str:
        target = self.target()
        target.probe()
        found = target.find(identifier)
        return found.versions[-1].version if found and found.versions else ""

    def spoil(self, identifier: str) -> None:
        place = self.directory / "items" / directory_name(identifier) / "oai_dc"
        place.write_bytes(place.read_bytes().replace(b"<dc:title>", b"<dc:title>Not "))


@pytest.mark.long  # the engine and the directory are those of plain files
class TestItems(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> DspaceRig:
        return DspaceRig(tmp_path / "saf")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "saf"


def run(silo: Silo, target: Target, *identifiers: str, **policy: Any) -> None:
    report = Export(silo, target, Policy(**policy)).run(Selection(identifiers=identifiers))
    assert report.whole, report.problems


def put(silo: Silo, identifier: str, name: str, content: bytes, *sets: str) -> None:
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        edit.add_version(
            "1", date=DATE,
            origin=Origin("harvest", prefixes={name: DATE}),
        )  # fmt: skip
        edit.put("1", name, content, metadata=True)
        edit.set_metadata("setSpec", list(sets))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.xml")), ids=lambda path: path.stem)
def test_metadata_of_every_format_fits_the_registries_of_dspace(
    silo: Silo, out: Path, path: Path
) -> None:
    identifier = f"oai:example.org:{path.stem}"
    put(silo, identifier, path.stem, path.read_bytes())
    rig = DspaceRig(out)
    run(silo, rig.target(), identifier)
    item, found = rig.item(identifier), of_document(path.stem, path.read_bytes())
    assert item is not None
    assert found is not None
    assert item.texts("dc.title") == [found.title.text]
    assert item.texts("dc.contributor.author") == [one.text for one in found.creators]
    assert item.texts("dc.date.issued") == [found.issued]
    assert identifier in item.texts("dc.identifier.other")
    assert len(item.texts("dc.subject")) == len(found.subjects)


def test_the_fields_of_an_article(silo: Silo, out: Path) -> None:
    silo.state["base_oai_url"] = "http://example.org/oai"
    put(silo, "oai:example.org:a", "datacite", (GOLDEN / "datacite.xml").read_bytes())
    rig = DspaceRig(out)
    run(silo, rig.target(), "oai:example.org:a")
    item = rig.item("oai:example.org:a")
    assert item is not None
    assert item.metadata == [
        ("dc.title", "Sea level at Esbjerg, 1889–2018", "en"),
        ("dc.title.alternative", "Hourly values", "en"),
        ("dc.title.alternative", "Vandstand ved Esbjerg", "da"),
        ("dc.contributor.author", "Lind, Astrid", ""),
        ("dc.contributor.author", "Tide Gauge Network", ""),
        ("dc.contributor", "Berg, Olav", ""),
        ("dc.publisher", "Shore Data Archive", ""),
        ("dc.date.issued", "2019-04-02", ""),
        ("dc.date", "1889/2018", ""),
        ("dc.date.available", "2019-05-01", ""),
        ("dc.type", "Dataset", ""),
        ("dc.type", "Time series", ""),
        ("dc.subject", "551.46 Hydrosphere", "en"),
        ("dc.subject", "sea level", ""),
        ("dc.language.iso", "en", ""),
        ("dc.identifier.uri", "https://doi.org/10.5555/tide.2019.4", ""),
        ("dc.identifier.other", "tide-4", ""),
        ("dc.rights", "Creative Commons Attribution 4.0", ""),
        ("dc.rights.uri", "https://creativecommons.org/licenses/by/4.0/", ""),
        ("dc.description.abstract", "Readings of the gauge, corrected for datum.", "en"),
        ("dc.relation", "https://doi.org/10.5555/coast.2", ""),
        ("dc.relation", "https://archive.example.org/readme", ""),
        ("dc.format.mimetype", "text/csv", ""),
        ("dc.format", "12 MB", ""),
        ("dc.coverage.spatial", "Esbjerg, Denmark", ""),
        ("dc.identifier.other", "oai:example.org:a", ""),
        ("dc.description.provenance", f"Harvested from {SOURCE} (datestamp {DATE}Z).", ""),
        ("oaire.citation.edition", "1.1", ""),
    ]


@pytest.mark.long
def test_another_program_reads_the_same(silo: Silo, out: Path) -> None:
    """dspyce, which writes and reads items for DSpace 7."""
    names = [path.stem for path in sorted(GOLDEN.glob("*.xml"))]
    for name in names:
        put(silo, f"oai:example.org:{name}", name, (GOLDEN / f"{name}.xml").read_bytes())
    rig = DspaceRig(out, DspaceSettings(("123456789/2",)))
    run(silo, rig.target())
    found = read_items(out / "items")
    assert len(found) == len(names) + 3
    for name, read in found.items():
        item = read_item(out / "items" / name)
        assert read["metadata"] == {place: item.texts(place) for place, _, _ in item.metadata}
        files = sorted(one for bundle in read["bundles"].values() for one in bundle)
        assert files == sorted(item.bitstreams)
        assert read["collections"] == item.collections


def test_every_field_of_the_usual_table_is_in_the_registries() -> None:
    assert set(usual_fields().values()) - {""} <= REGISTRY


def test_files_are_bitstreams_and_metadata_is_in_a_bundle_of_its_own(silo: Silo, out: Path) -> None:
    record = silo[TWO]
    for path, content in {
        "files/6102.pdf": b"%PDF", "contents": b"odd", "-r -s 0 -f x": b"odd", "a/x.txt": b"1",
        "b/x.txt": b"2", "license.txt": b"Granted.",
    }.items():  # fmt: skip
        record.put_stream(path, content)
    rig = DspaceRig(out)
    run(silo, rig.target(), TWO)
    item = rig.item(TWO)
    assert item is not None
    said = {name: (one.bundle, one.description) for name, one in item.bitstreams.items()}
    assert said == {
        "licence.txt": ("ORIGINAL", "docs/licence.txt"),
        "6102.pdf": ("ORIGINAL", "files/6102.pdf"),
        "_contents": ("ORIGINAL", "contents"),
        "_r -s 0 -f x": ("ORIGINAL", "_r -s 0 -f x"),
        "x.txt": ("ORIGINAL", "a/x.txt"),
        "b_x.txt": ("ORIGINAL", "b/x.txt"),
        "license.txt": ("LICENSE", ""),
        "oai_dc": ("METADATA", ""),
        "oai_dc.xml": ("METADATA", ""),
    }
    assert [name for name, one in item.bitstreams.items() if one.primary] == ["licence.txt"]
    assert item.bitstreams["b_x.txt"].content == b"2"


def test_no_two_files_have_one_name() -> None:
    paths = ["a/x", "b/x", "b_x", "c/b_x", "x", "contents", "d/contents", "_contents"]
    files = [ExportedFile(path, 1, "0" * 64) for path in paths]
    assert len({one.name for one in bitstreams_of(files)}) == len(paths)


def test_collections_come_from_the_settings_and_from_sets(silo: Silo, out: Path) -> None:
    mapping = mapping_of({"collections": {"a": "123456789/7", "ab": "123456789/8"}})
    rig = DspaceRig(out, DspaceSettings(("123456789/2",), group="Staff", mapping=mapping))
    run(silo, rig.target())
    found = {one: rig.item(f"oai:example.org:{one}") for one in (1, 2, 3)}
    assert {one: item.collections for one, item in found.items() if item} == {
        1: ["123456789/2", "123456789/7"],
        2: ["123456789/2", "123456789/7"],  # its set a:b is below a
        3: ["123456789/2", "123456789/8"],
    }
    assert {one.readers for item in found.values() if item for one in item.bitstreams.values()} == {
        "Staff"
    }


def test_a_handle_of_the_prefix_is_kept(silo: Silo, out: Path) -> None:
    document = (
        b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        b'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        b"<dc:identifier>http://hdl.handle.net/1842/77</dc:identifier>"
        b"<dc:identifier>hdl:18421/78</dc:identifier></oai_dc:dc>"
    )
    put(silo, "oai:example.org:h", "oai_dc", document)
    rig = DspaceRig(out, DspaceSettings(handles="1842"))
    run(silo, rig.target(), "oai:example.org:h")
    item = rig.item("oai:example.org:h")
    assert item is not None
    assert item.handle == "1842/77"
    assert item.texts("dc.identifier.uri") == ["https://hdl.handle.net/18421/78"]


def test_a_table_of_ones_own_comes_first(silo: Silo, out: Path, tmp_path: Path) -> None:
    put(silo, "oai:example.org:t", "oai_etdms", (GOLDEN / "oai_etdms.xml").read_bytes())
    table = tmp_path / "dspace.toml"
    table.write_text(
        '[fields]\n"degree.name" = "thesis.degree.name"\n"contributors.ths" = '
        '"dc.contributor.other"\n'
        'formats = ""\n"formats.mimetype" = ""\n'
        '[values."dc.type"]\n"Electronic Thesis or Dissertation" = "Thesis"\n'
        '[constants]\n"dspace.entity.type" = "Publication"\n'
    )
    arguments = ["dspace", silo.path, str(out), "--item", "oai:example.org:t", "--mapping"]
    done = CliRunner().invoke(export, [*arguments, str(table)])
    assert done.exit_code == 0, done.output
    place = out / "items" / directory_name("oai:example.org:t")
    item = read_item(place, REGISTRY | {"thesis.degree.name", "dspace.entity.type"})
    assert sorted(one.name for one in place.glob("*.xml")) == [
        "dublin_core.xml", "metadata_dspace.xml", "metadata_thesis.xml", "oai_etdms.xml",
    ]  # fmt: skip
    assert item.texts("thesis.degree.name") == ["Doctor of Philosophy"]
    assert item.texts("dc.contributor.other") == ["Tern, Peter"]
    assert item.texts("dc.type") == ["Thesis"]
    assert item.texts("dspace.entity.type") == ["Publication"]
    assert item.texts("dc.format.mimetype") == []


def test_settings_of_the_first_export_hold_for_later_ones(
    silo: Silo, out: Path, harvest: Change
) -> None:
    run(silo, DspaceTarget(str(out), DspaceSettings(("123456789/2",), group="Staff")))
    assert Export(silo, DspaceTarget(str(out))).run().written == 0
    harvest(silo, "oai:example.org:5", "Five")
    run(silo, DspaceTarget(str(out)))
    item = DspaceRig(out).item("oai:example.org:5")
    assert item is not None
    assert item.collections == ["123456789/2"]
    other = DspaceTarget(str(out), DspaceSettings(("123456789/3",)))
    assert Export(silo, other).run().written == 4
    item = DspaceRig(out).item(ONE)
    assert item is not None
    assert (item.collections, item.bitstreams["oai_dc"].readers) == (["123456789/3"], "Staff")


def test_the_directory_of_items_has_nothing_else(silo: Silo, out: Path) -> None:
    """DSpace takes every directory for an item."""
    run(silo, DspaceTarget(str(out)))
    items = {one.name for one in (out / "items").iterdir()}
    assert items == {directory_name(f"oai:example.org:{n}") for n in (1, 2, 3)}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("[field]\n", "[field] is none of [fields], [values], [constants], [collections]"),
        ('[fields]\ntitel = "dc.title"\n', "titel in [fields] is unknown"),
        ('[fields]\ntitle = "title"\n', "'title' is not a field of DSpace"),
        ("[fields]\ntitle = 3\n", "title in [fields] is not a text"),
        ("fields = 3\n", "fields is not a table"),
        ('[collections]\na = "theses"\n', "'theses' is not a handle of a collection"),
        ('[fields]\ntitle = "dc.title', "cannot be used"),
    ],
)
def test_a_table_that_cannot_be_is_refused(
    silo: Silo, out: Path, tmp_path: Path, table: str, why: str
) -> None:
    path = tmp_path / "dspace.toml"
    path.write_text(table)
    done = CliRunner().invoke(export, ["dspace", silo.path, str(out), "--mapping", str(path)])
    assert done.exit_code != 0
    assert why in done.output
    assert not out.exists()


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"collections": ("theses",)}, "not a handle"), ({"group": "O'Hara"}, "--group"),
     ({"handles": "a\nb"}, "--handles")],
)  # fmt: skip
def test_settings_that_dspace_could_not_read_are_refused(settings: Any, why: str) -> None:
    with pytest.raises(ExportError, match=why):
        DspaceSettings(**settings)


def test_another_kind_of_export_and_broken_settings_are_refused(silo: Silo, out: Path) -> None:
    run(silo, DspaceTarget(str(out)))
    marker = out / ".silo-export"
    marker.write_text(marker.read_text().replace('"handles": ""', '"handles": 3, "x": 1'))
    with pytest.raises(TargetUnusable, match="settings"):
        DspaceTarget(str(out)).probe()


def test_a_zip_has_the_same_items(silo: Silo, out: Path, tmp_path: Path) -> None:
    run(silo, DspaceTarget(str(out), DspaceSettings(("123456789/2",))))
    archive = str(tmp_path / "items.zip")
    done = CliRunner().invoke(
        export, ["dspace-zip", silo.path, archive, "--collection", "123456789/2"]
    )
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(archive) as found:
        found.extractall(tmp_path / "unpacked")
    for number in (1, 2, 3):
        name = directory_name(f"oai:example.org:{number}")
        assert read_item(tmp_path / "unpacked" / name) == read_item(out / "items" / name)
    assert len([*(tmp_path / "unpacked").iterdir()]) == 3


def test_a_record_with_a_damaged_file_is_not_in_the_zip(silo: Silo, tmp_path: Path) -> None:
    place = next(Path(silo.path).rglob("licence.txt"))
    place.chmod(0o644)
    place.write_text("CC BY 4.1")
    archive = str(tmp_path / "items.zip")
    done = CliRunner().invoke(export, ["dspace-zip", silo.path, archive])
    assert "docs/licence.txt of version workingcopy differs" in done.output
    with zipfile.ZipFile(archive) as found:
        assert not [name for name in found.namelist() if name.startswith(directory_name(TWO))]


def test_other_sets_are_other_collections(silo: Silo, out: Path) -> None:
    mapping = mapping_of({"collections": {"a": "123456789/7", "c": "123456789/9"}})
    rig = DspaceRig(out, DspaceSettings(mapping=mapping))
    run(silo, rig.target())
    with silo.batch([ONE]) as batch:
        batch.edit(ONE).set_metadata("setSpec", ["c"])
    assert Export(silo, rig.target()).run().written == 1
    item = rig.item(ONE)
    assert item is not None
    assert item.collections == ["123456789/9"]
