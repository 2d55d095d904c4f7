"""Documents of DataCite pass the suite of all targets, and are valid, or reported."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conformance import Change, Content, DiskTargetContract, actions, export, in_silo
from copies import copy_of
from lxml import etree
from real_peers import invalid_documents
from test_dspace import GOLDEN, put, run

from recordsilo import Silo
from recordsilo.formats import Value
from siloexport import (
    ActionKind,
    DataciteSettings,
    DataciteTarget,
    Export,
    ExportError,
    Policy,
    Selection,
    Target,
    TargetUnusable,
    Versions,
)
from siloexport.bibliography import Bibliography, Name, of_document
from siloexport.commands.export import export as command
from siloexport.targets.datacite_document import (
    NAMESPACE,
    PropertiesMissing,
    document_of,
)
from siloexport.targets.datacite_dois import doi_suffix
from siloexport.targets.datacite_xml import xml_of
from siloexport.targets.directory import directory_name

ONE = "oai:example.org:1"
TWO = "oai:example.org:2"
WHOLE = DataciteSettings("10.5072", "Example University", "Text")
NAMES = {"d": NAMESPACE}
BARE = (
    b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>%s</dc:title></oai_dc:dc>'
)
RICHER = BARE.replace(
    b"</oai_dc:dc>",
    b"<dc:creator>Lind, Astrid</dc:creator><dc:date>2019</dc:date></oai_dc:dc>",
)


def golden(name: str) -> Bibliography:
    found = of_document(name, (GOLDEN / f"{name}.xml").read_bytes())
    assert found is not None
    return found


def with_creator(found: Bibliography) -> Bibliography:
    return found if found.creators else replace(found, creators=(Name("Tide Network"),))


def texts(document: bytes, path: str) -> list[str]:
    return [str(one) for one in etree.fromstring(document).xpath(path, namespaces=NAMES)]


def title_of(metadata: bytes) -> bytes:
    found = re.search(rb"<dc:title>(.*?)</dc:title>", metadata)
    assert found is not None
    return found[1]


class DataciteRig:
    """What a document holds of a version is its title; other files are in no document."""

    versions = Versions.CURRENT

    def __init__(self, directory: Path, settings: DataciteSettings = WHOLE) -> None:
        self.directory, self.settings = directory, settings

    def target(self) -> Target:
        return DataciteTarget(str(self.directory), self.settings)

    def path(self, identifier: str) -> Path:
        ending = "json" if self.settings.json else "xml"
        return self.directory / f"{directory_name(identifier)}.{ending}"

    def document(self, identifier: str) -> bytes:
        return self.path(identifier).read_bytes()

    def holds(self, identifier: str) -> Content:
        if not self.path(identifier).exists():
            return []
        target = self.target()
        target.probe()
        found = target.find(identifier)
        version = found.versions[-1].version if found and found.versions else ""
        title = texts(self.document(identifier), "//d:title/text()")[0]
        return [(version, {"title": title.encode()})]

    def of_version(self, silo: Silo, identifier: str, version: str) -> dict[str, bytes]:
        return {"title": title_of(in_silo(silo, identifier, version)["oai_dc"])}

    def spoil(self, identifier: str) -> None:
        path = self.path(identifier)
        path.write_bytes(re.sub(rb"(<title[^>]*>)", rb"\1Not ", path.read_bytes(), count=1))


def harvested(silo: Silo, identifier: str, title: str, *sets: str) -> None:
    put(silo, identifier, "oai_dc", RICHER % title.encode(), *sets)


@pytest.fixture
def harvest() -> Change:
    """As that of `conftest`, with what DataCite requires."""
    return harvested


@pytest.fixture(scope="session")
def four_richer_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("four_richer_records") / "myrepo"
    settings = {"identifier_uri_prefix": "oai:example.org:"}
    with Silo(str(path), "http://example.org/oai", **settings) as opened:
        for number, title in enumerate(["One", "Two", "Three", "Four"], 1):
            harvested(opened, f"oai:example.org:{number}", title)
        curated = opened[TWO]
        curated.clone_version("1", "workingcopy")
        curated.put_stream("docs/licence.txt", "CC BY 4.0")
    return path


@pytest.fixture
def silo(four_richer_records: Path, tmp_path: Path, delete_at_source: Change) -> Iterator[Silo]:
    path = copy_of(four_richer_records, tmp_path / "myrepo")
    with Silo(path, create=False) as opened:
        delete_at_source(opened, "oai:example.org:4")
        yield opened


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "dois"


@pytest.mark.long  # the engine and the directory are those of plain files
class TestDocuments(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> DataciteRig:
        return DataciteRig(tmp_path / "dois")

    def test_metadata_is_there_as_a_document_of_its_own(self, silo: Silo, rig: Any) -> None:
        export(silo, rig).run()
        assert texts(rig.document(ONE), "//d:title/text()") == ["One"]

    def test_changed_working_copy_is_the_newest_there(self, silo: Silo, rig: Any) -> None:
        export(silo, rig).run()
        silo["2"].put_stream("oai_dc", RICHER % b"Two, corrected", metadata=True)
        assert export(silo, rig).run().written == 1
        assert rig.holds(TWO) == [("workingcopy", {"title": b"Two, corrected"})]

    def test_file_that_went_and_came_back_is_there(self, silo: Silo, rig: Any) -> None:
        """Files are in no document: it stays as it is."""
        export(silo, rig).run()
        before = rig.document(TWO)
        silo["2"].del_stream("docs/licence.txt")
        assert export(silo, rig).run().whole
        assert rig.document(TWO) == before


# -- what is said ----------------------------------------------------------------------------


def test_a_document_of_datacite_says_what_its_source_said() -> None:
    found = document_of(ONE, golden("datacite"), DataciteSettings())
    assert found == {
        "doi": "10.5555/tide.2019.4",
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Time series"},
        "creators": [
            {
                "name": "Lind, Astrid", "nameType": "Personal", "givenName": "Astrid",
                "familyName": "Lind", "affiliation": [{"name": "Coast University"}],
                "nameIdentifiers": [{
                    "nameIdentifier": "https://orcid.org/0000-0002-1825-0097",
                    "nameIdentifierScheme": "ORCID", "schemeUri": "https://orcid.org",
                }],
            },
            {"name": "Tide Gauge Network", "nameType": "Organizational"},
        ],
        "titles": [
            {"title": "Sea level at Esbjerg, 1889–2018", "lang": "en"},
            {"title": "Hourly values", "titleType": "AlternativeTitle", "lang": "en"},
            {"title": "Vandstand ved Esbjerg", "titleType": "TranslatedTitle", "lang": "da"},
        ],
        "publisher": {"name": "Shore Data Archive"},
        "publicationYear": "2019",
        "subjects": [
            {"subject": "551.46 Hydrosphere", "lang": "en"}, {"subject": "sea level"},
        ],
        "contributors": [
            {
                "name": "Berg, Olav", "nameType": "Personal", "givenName": "Olav",
                "familyName": "Berg", "contributorType": "DataCurator",
            },
        ],
        "dates": [
            {"date": "2019-04-02", "dateType": "Issued"},
            {"date": "1889/2018", "dateType": "Collected"},
            {"date": "2019-05-01", "dateType": "Available"},
        ],
        "language": "en",
        "alternateIdentifiers": [
            {"alternateIdentifier": "tide-4", "alternateIdentifierType": "Local"},
            {"alternateIdentifier": ONE, "alternateIdentifierType": "oai"},
        ],
        "relatedIdentifiers": [
            {"relatedIdentifier": "10.5555/coast.2", "relatedIdentifierType": "DOI",
             "relationType": "IsSupplementTo"},
            {"relatedIdentifier": "https://archive.example.org/readme",
             "relatedIdentifierType": "URL", "relationType": "IsDocumentedBy"},
        ],
        "sizes": ["12 MB"],
        "formats": ["text/csv"],
        "version": "1.1",
        "rightsList": [{
            "rights": "Creative Commons Attribution 4.0",
            "rightsUri": "https://creativecommons.org/licenses/by/4.0/",
            "rightsIdentifier": "CC-BY-4.0", "rightsIdentifierScheme": "SPDX",
            "schemeUri": "https://spdx.org/licenses/",
        }],
        "descriptions": [{
            "description": "Readings of the gauge, corrected for datum.",
            "descriptionType": "Abstract", "lang": "en",
        }],
        "geoLocations": [{"geoLocationPlace": "Esbjerg, Denmark"}],
        "schemaVersion": NAMESPACE,
    }  # fmt: skip


def test_an_article_names_its_journal() -> None:
    found = document_of(ONE, golden("pmc_fm"), DataciteSettings("10.5072"))
    assert found["types"] == {
        "resourceTypeGeneral": "JournalArticle",
        "resourceType": "research-article",
    }
    assert found["relatedItems"] == [{
        "relationType": "IsPublishedIn", "relatedItemType": "Journal",
        "titles": [{"title": "Comparative Letters"}], "volume": "68", "firstPage": "857",
        "lastPage": "885", "relatedItemIdentifier": {
            "relatedItemIdentifier": "2049-2219", "relatedItemIdentifierType": "ISSN",
        },
    }]  # fmt: skip


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.xml")), ids=lambda path: path.stem)
def test_xml_says_what_json_says_and_is_read_back(path: Path) -> None:
    said = document_of(ONE, with_creator(golden(path.stem)), WHOLE)
    xml = xml_of(said)
    assert texts(xml, "/d:resource/d:identifier/text()") == [said["doi"]]
    again = of_document("datacite", xml)
    assert again is not None
    again = replace(again, publishers=golden(path.stem).publishers)  # its language is not read
    assert document_of(ONE, again, WHOLE) == said


def test_texts_have_no_characters_that_xml_has_not() -> None:
    found = replace(dublin_core("One"), title=Value("A\ufffe title <b>"))
    assert texts(xml_of(document_of(ONE, found, WHOLE)), "//d:title/text()") == [
        "A\ufffd title <b>"
    ]


def dublin_core(title: str, more: str = "") -> Bibliography:
    content = (RICHER % title.encode()).replace(b"</oai_dc:dc>", f"{more}</oai_dc:dc>".encode())
    found = of_document("oai_dc", content)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (DataciteSettings(publisher="X"), "a DOI (or give --prefix), a type (or give --type)"),
        (DataciteSettings("10.5072", type="Text"), "a publisher (or give --publisher)"),
        (DataciteSettings("10.5072", "X"), "a type (or give --type)"),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(settings: DataciteSettings, missing: str) -> None:
    with pytest.raises(PropertiesMissing, match=re.escape(missing) + "$"):
        document_of(ONE, dublin_core("One"), settings)


def test_a_record_without_anything_lacks_everything() -> None:
    with pytest.raises(
        PropertiesMissing, match=r"a creator, a title, a publisher.*, a year of publication"
    ):
        document_of(ONE, Bibliography(), DataciteSettings())


def test_a_doi_of_another_prefix_is_another_identifier() -> None:
    found = dublin_core("One", "<dc:identifier>https://doi.org/10.5555/1</dc:identifier>")
    said = document_of(ONE, found, WHOLE)
    assert said["doi"] == "10.5072/example.org-1"
    assert said["alternateIdentifiers"][0] == {
        "alternateIdentifier": "10.5555/1", "alternateIdentifierType": "DOI",
    }  # fmt: skip
    other = document_of(ONE, found, DataciteSettings("10.5555", "X", "Text"))
    assert other["doi"] == "10.5555/1"


def test_new_dois_are_different_for_different_records() -> None:
    identifiers = ["oai:a.org:1", "oai:a.org:A", "oai:a.org:a", "oai:a.org/1", "a.org:1",
                   "a.org:1/", "ä", "oai:a-org:1", "oai:a.org-1",
                   "oai:a.org:" + "x" * 300]  # fmt: skip
    suffixes = [doi_suffix(one) for one in identifiers]
    assert len(set(suffixes)) == len(identifiers)
    assert all(re.fullmatch("[a-z0-9._-]{1,100}", one) for one in suffixes)


# -- the target ------------------------------------------------------------------------------


def test_a_record_that_lacks_something_is_reported_and_the_others_are_there(
    silo: Silo, out: Path
) -> None:
    undated = re.sub(b"<dc:date>.*</dc:date>", b"", RICHER % b"Undated")
    put(silo, "oai:example.org:5", "oai_dc", undated)
    exporting = Export(silo, DataciteTarget(str(out), WHOLE), Policy())
    planned = exporting.run(dry_run=True)
    report = exporting.run()
    assert (report.failed, planned.failed) == (1, 1)
    assert actions(report)[ActionKind.CREATE] == actions(planned)[ActionKind.CREATE]
    problem = report.problems[0]
    assert problem.identifier == "oai:example.org:5"
    assert "lacks what DataCite requires: a year of publication" in problem.reason
    assert not (out / f"{directory_name('oai:example.org:5')}.xml").exists()
    assert exporting.verify().differences == 0


def test_json_is_what_the_api_takes_and_has_a_directory_of_its_own(silo: Silo, out: Path) -> None:
    arguments = ["datacite", silo.path, str(out), "--format", "json", "--prefix", "10.5072"]
    more = ["--publisher", "Example University", "--type", "Text"]
    done = CliRunner().invoke(command, [*arguments, *more])
    assert done.exit_code == 0, done.output
    found = json.loads((out / f"{directory_name(ONE)}.json").read_bytes())
    assert (found["doi"], found["publicationYear"]) == ("10.5072/example.org-1", "2019")
    assert Export(silo, DataciteTarget(str(out)), Policy()).run().written == 0
    run(silo, DataciteTarget(str(out.with_name("xml")), WHOLE))
    target = DataciteTarget(str(out.with_name("xml")), DataciteSettings(json=True))
    with pytest.raises(TargetUnusable, match="holds XML"):
        target.probe()


@pytest.mark.long
def test_documents_are_valid_by_the_schema_of_others(silo: Silo, out: Path) -> None:
    for path in sorted(GOLDEN.glob("*.xml")):
        put(silo, f"oai:example.org:{path.stem}", path.stem, path.read_bytes())
    settings = DataciteSettings("10.5072", "Example University", "Text", json=True)
    report = Export(silo, DataciteTarget(str(out), settings), Policy()).run()
    assert [one.identifier for one in report.problems] == ["oai:example.org:mets_of_dublin_core"]
    assert len(list(out.glob("*.json"))) == 2 + len(list(GOLDEN.glob("*.xml")))
    assert invalid_documents(out) == []


@pytest.mark.parametrize(
    ("settings", "why"),
    [(DataciteSettings("11.5"), "is not a prefix"), (DataciteSettings(type="Thing"), "is none of")],
)
def test_settings_that_cannot_be_are_refused(settings: DataciteSettings, why: str) -> None:
    with pytest.raises(ExportError, match=why):
        DataciteTarget("out", settings)


def test_settings_of_the_first_export_hold_for_later_ones(silo: Silo, out: Path) -> None:
    run(silo, DataciteTarget(str(out), WHOLE))
    assert Export(silo, DataciteTarget(str(out)), Policy()).run().written == 0
    changed = DataciteTarget(str(out), DataciteSettings(publisher="Another University"))
    assert Export(silo, changed, Policy()).run(Selection(identifiers=(ONE,))).written == 1
    document = DataciteRig(out).document(ONE)
    assert texts(document, "//d:publisher/text()") == ["Another University"]
    marker = out / ".silo-export"
    marker.write_text(marker.read_text().replace("10.5072", "no prefix"))
    with pytest.raises(TargetUnusable, match="settings"):
        DataciteTarget(str(out)).probe()
