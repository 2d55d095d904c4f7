"""Identifiers of authority files are exported with the values that they belong to."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conformance import identify
from lxml import etree
from real_peers import invalid_documents
from real_rocrate import findings
from test_dspace import put

from recordsilo import Silo
from recordsilo.value_identifiers import (
    IdentifiersUnreadable,
    ValueIdentifier,
    identifiers_of_values,
)
from siloexport import DataciteSettings, DataciteTarget, Export
from siloexport.bibliography import Bibliography, of_document, of_documents
from siloexport.commands.export import export
from siloexport.crosswalk import Crosswalk
from siloexport.preview import preview
from siloexport.targets.datacite_document import NAMESPACE, document_of
from siloexport.targets.datacite_xml import xml_of
from siloexport.targets.directory import directory_name
from siloexport.targets.dspace import DspaceSettings, DspaceTarget
from siloexport.targets.dspace_metadata import DspaceMapping
from siloexport.targets.invenio.metadata import metadata
from siloexport.targets.rocrate import CrateTarget
from siloexport.targets.sword.mets import mods_document
from siloexport.values import ActionKind, Deposit

ONE, TWO = "oai:example.org:1", "oai:example.org:2"
ORCID, ROR = "https://orcid.org/0000-0002-1825-0097", "https://ror.org/01ej9dk98"
GND, OWN = "https://d-nb.info/gnd/4124944-6", "https://vocab.example.org/tides"
DC = (
    b'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    b'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tides</dc:title>'
    b"<dc:creator>%s</dc:creator><dc:contributor>Lind, Astrid</dc:contributor>"
    b"<dc:publisher>Tide Network</dc:publisher><dc:subject>tides</dc:subject>"
    b"<dc:date>2019</dc:date></oai_dc:dc>"
)
DATACITE = (
    b'<resource xmlns="http://datacite.org/schema/kernel-4"><creators><creator>'
    b'<creatorName nameType="Personal">Swan, Alma</creatorName>'
    b'<nameIdentifier nameIdentifierScheme="ORCID">0000-0001-5109-3700</nameIdentifier>'
    b"<affiliation>Tide Network</affiliation></creator></creators>"
    b"<titles><title>Tides</title></titles>"
    b"<publicationYear>2019</publicationYear></resource>"
)


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    settings = {"identifier_uri_prefix": "oai:example.org:"}
    with Silo(str(tmp_path / "myrepo"), "http://example.org/oai", **settings) as opened:
        put(opened, ONE, "oai_dc", DC % b"Swan, Alma")
        put(opened, TWO, "oai_dc", DC % b"Reed, Ben")
        identify(opened, "creator", **{"Swan,_Alma": ORCID, "Lind,_Astrid": GND})
        identify(opened, "publisher", Tide_Network=ROR)
        identify(opened, "subject", tides=OWN)
        yield opened


def said(silo: Silo, content: bytes = DC % b"Swan, Alma", name: str = "oai_dc") -> Bibliography:
    return of_documents([name], {name: content}.get, identifiers_of_values(silo.path))


def deposit() -> Deposit:
    return Deposit(ONE, ActionKind.CREATE, "", ())


def test_only_records_with_a_changed_identifier_are_sent_again(silo: Silo, tmp_path: Path) -> None:
    exporting = Export(silo, CrateTarget(str(tmp_path / "crates")))
    assert exporting.run().written == 2
    identify(silo, "creator", **{"Swan,_Alma": ROR, "Lind,_Astrid": GND, "Nobody": ORCID})
    found = exporting.verify()
    assert (found.outdated, found.differences) == (1, 0)
    report = exporting.run(dry_run=True)
    assert (report.written, report.whole) == (1, True)
    assert exporting.run().written == 1
    text = (tmp_path / "crates" / directory_name(ONE) / "ro-crate-metadata.json").read_text()
    assert (ROR in text, ORCID in text) == (True, False)
    assert (exporting.verify().outdated, exporting.run().written) == (0, 0)


def test_every_export_of_documents_is_made_again_without_the_files(
    silo: Silo, tmp_path: Path
) -> None:
    settings = DataciteSettings("10.5072", "Example University", "Text")
    exporting = Export(silo, DataciteTarget(str(tmp_path / "dois"), settings))
    assert exporting.run().written == 2
    for field in ("creator", "publisher", "subject"):
        Path(silo.path, "curation", "authorities", f"{field}.csv").unlink()
    assert exporting.run().written == 2
    assert exporting.verify().differences == 0
    texts = [one.read_text() for one in (tmp_path / "dois").glob("*.xml")]
    assert not any(key in text for key in (ORCID, ROR, GND, OWN) for text in texts)


def test_items_of_dspace_have_orcids_where_the_mapping_has_a_field(
    silo: Silo, tmp_path: Path
) -> None:
    identify(silo, "creator", **{"Swan,_Alma": ORCID})
    usual = Export(silo, DspaceTarget(str(tmp_path / "usual")))
    own = DspaceSettings(mapping=DspaceMapping({"creators.orcid": "dc.identifier.orcid"}))
    mapped = Export(silo, DspaceTarget(str(tmp_path / "mapped"), own))
    assert (usual.run().written, mapped.run().written) == (2, 2)
    identify(silo, "creator", **{"Reed,_Ben": ORCID})
    assert (usual.run().written, mapped.run().written) == (0, 2)
    texts = [one.read_text() for one in (tmp_path / "mapped").rglob("dublin_core.xml")]
    assert ["0000-0002-1825-0097" in one for one in texts if "Reed" in one] == [True]
    assert ["0000-0002-1825-0097" in one for one in texts if "Swan" in one] == [False]


def test_a_crate_names_people_institutions_and_subjects(silo: Silo, tmp_path: Path) -> None:
    Export(silo, CrateTarget(str(tmp_path / "crates"))).run()
    file = tmp_path / "crates" / directory_name(ONE) / "ro-crate-metadata.json"
    graph: dict[str, Any] = {one["@id"]: one for one in json.loads(file.read_text())["@graph"]}
    root = graph["./"]
    assert (root["author"], root["contributor"]) == ({"@id": ORCID}, {"@id": GND})
    assert (root["publisher"], root["about"]) == ({"@id": ROR}, {"@id": OWN})
    assert (graph[ORCID]["name"], graph[ROR]["@type"]) == ("Alma Swan", "Organization")
    assert graph[OWN] == {"@id": OWN, "@type": "DefinedTerm", "name": "tides"}


@pytest.mark.long
def test_a_crate_with_identifiers_is_valid(silo: Silo, tmp_path: Path) -> None:
    lcsh = "https://id.loc.gov/authorities/subjects/sh85135360"
    identify(silo, "subject", tides=lcsh)
    identify(silo, "creator", **{"Swan,_Alma": ORCID, "Lind,_Astrid": "staff-17"})
    Export(silo, CrateTarget(str(tmp_path / "crates"))).run()
    crate = tmp_path / "crates" / directory_name(ONE)
    text = (crate / "ro-crate-metadata.json").read_text()
    assert all(key in text for key in (lcsh, ORCID, ROR, "staff-17", "inDefinedTermSet"))
    (found,) = findings(crate)
    assert (found["required"], found["people"]) == ([], ["Alma Swan", "Astrid Lind"])


def test_an_identifier_that_is_no_address_stands_beside_the_name(
    silo: Silo, tmp_path: Path
) -> None:
    identify(silo, "creator", **{"Swan,_Alma": "staff-17"})
    Export(silo, CrateTarget(str(tmp_path / "crates"))).run()
    file = tmp_path / "crates" / directory_name(ONE) / "ro-crate-metadata.json"
    people = [one for one in json.loads(file.read_text())["@graph"] if one["@type"] == "Person"]
    assert [(one["@id"], one.get("identifier")) for one in people] == [
        ("#person-1", "staff-17"), ("#person-2", None)]  # fmt: skip


def test_documents_of_datacite_have_them(silo: Silo, tmp_path: Path) -> None:
    settings = DataciteSettings("10.5072", "", "Text")
    document = document_of(ONE, said(silo), settings)
    assert document["creators"][0]["nameIdentifiers"] == [
        {"nameIdentifier": ORCID, "nameIdentifierScheme": "ORCID",
         "schemeUri": "https://orcid.org"}]  # fmt: skip
    assert document["contributors"][0]["nameIdentifiers"][0]["nameIdentifierScheme"] == "GND"
    assert document["publisher"] == {
        "name": "Tide Network", "publisherIdentifier": ROR, "publisherIdentifierScheme": "ROR",
        "schemeUri": "https://ror.org/"}  # fmt: skip
    assert document["subjects"] == [{"subject": "tides", "valueUri": OWN}]
    Export(silo, DataciteTarget(str(tmp_path / "dois"), settings)).run()
    root = etree.parse(str(next((tmp_path / "dois").glob("*1.xml")))).getroot()
    names = {"d": NAMESPACE}
    assert root.xpath("//d:creator/d:nameIdentifier/text()", namespaces=names) == [ORCID]
    assert root.xpath("//d:publisher/@publisherIdentifier", namespaces=names) == [ROR]
    assert root.xpath("//d:subject/@valueURI", namespaces=names) == [OWN]


def test_documents_with_identifiers_are_valid(silo: Silo, tmp_path: Path) -> None:
    put(silo, "oai:example.org:3", "oai_datacite", DATACITE)
    settings = DataciteSettings("10.5072", "Tide Network", "Text", json=True)
    assert Export(silo, DataciteTarget(str(tmp_path / "dois"), settings)).run().whole
    assert invalid_documents(tmp_path / "dois") == []


def test_what_the_metadata_says_itself_stays(silo: Silo) -> None:
    found = said(silo, DATACITE, "oai_datacite")
    (name,) = found.creators
    assert (name.orcid, name.meant and name.meant.address) == ("0000-0001-5109-3700", ORCID)
    person = document_of(ONE, replace(found, publishers=said(silo).publishers, dates=said(
        silo).dates), DataciteSettings("10.5072", "", "Text"))["creators"][0]  # fmt: skip
    assert [one["nameIdentifier"] for one in person["nameIdentifiers"]] == [
        "https://orcid.org/0000-0001-5109-3700"]  # fmt: skip
    assert person["affiliation"] == [
        {"name": "Tide Network", "affiliationIdentifier": ROR,
         "affiliationIdentifierScheme": "ROR", "schemeUri": "https://ror.org/"}]  # fmt: skip


def test_an_orcid_with_a_wrong_digit_is_not_exported(silo: Silo) -> None:
    identify(silo, "creator", **{"Swan,_Alma": "https://orcid.org/0000-0002-1825-0098"})
    document = document_of(ONE, said(silo), DataciteSettings("10.5072", "", "Text"))
    assert "nameIdentifiers" not in document["creators"][0]


def test_a_contributor_has_its_own_identifier_before_that_of_the_creator(silo: Silo) -> None:
    identify(silo, "contributor", **{"Lind,_Astrid": ORCID})
    assert [one.orcid for one in said(silo).contributors] == ["0000-0002-1825-0097"]


def test_an_identifier_tells_people_from_institutions_where_the_metadata_does_not(
    silo: Silo,
) -> None:
    identify(silo, "creator", **{"Swan,_Alma": ROR, "Lind,_Astrid": ORCID, "Plato": ORCID})
    found = said(silo)
    assert [(one.kind, one.family) for one in found.creators] == [("organization", "")]
    assert [(one.kind, one.family) for one in found.contributors] == [("person", "Lind")]
    assert [one.kind for one in said(silo, DC % b"Plato").creators] == ["person"]
    (name,) = said(silo, DATACITE, "oai_datacite").creators  # it says that this is a person
    assert (name.kind, name.family, name.meant and name.meant.scheme) == ("person", "Swan", "ROR")


def test_formats_of_a_record_share_what_either_names(silo: Silo) -> None:
    files = {"oai_dc": DC % b"Swan, A.", "oai_datacite": DATACITE.replace(b"0000-0001-5", b"")}
    identify(silo, "creator", **{"Swan,_A.": ORCID})
    found = of_documents(files, files.get, identifiers_of_values(silo.path))
    assert [(one.text, one.orcid) for one in found.creators] == [
        ("Swan, Alma", "0000-0002-1825-0097")]  # fmt: skip


def test_fedora_links_to_what_values_mean(silo: Silo) -> None:
    turtle = preview(silo, ONE, Crosswalk.default()).turtle()
    for field, address in (("creator", ORCID), ("contributor", GND), ("publisher", ROR),
                           ("subject", OWN)):  # fmt: skip
        assert f"dcterms:{field} <{address}>" in turtle
    assert f"<{ORCID}>" not in preview(silo, TWO, Crosswalk.default()).turtle()


def test_other_servers_get_them_where_they_have_a_place(silo: Silo) -> None:
    identify(silo, "creator", **{"Swan,_Alma": ORCID, "Lind,_Astrid": ROR})
    sent = metadata(ONE, said(silo))
    people = [one["person_or_org"]["identifiers"] for one in
              (*sent["creators"], *sent["contributors"])]  # fmt: skip
    assert people == [
        [{"scheme": "orcid", "identifier": "0000-0002-1825-0097"}],
        [{"scheme": "ror", "identifier": "01ej9dk98"}],
    ]
    root = etree.fromstring(mods_document(deposit(), said(silo)))
    uris = [(etree.QName(one).localname, one.get("valueURI")) for one in root.iter()
            if one.get("valueURI")]  # fmt: skip
    assert uris == [("name", ORCID), ("name", ROR), ("publisher", ROR), ("topic", OWN)]


def test_an_address_with_odd_characters_spoils_no_document(silo: Silo, tmp_path: Path) -> None:
    odd = "https://vocab.example.org/\ufffe{a}^b"
    for field, value in (("creator", "Swan,_Alma"), ("publisher", "Tide_Network"),
                         ("subject", "tides")):  # fmt: skip
        identify(silo, field, **{value: odd})
    assert not etree.fromstring(mods_document(deposit(), said(silo))).xpath("//@valueURI")
    settings = DataciteSettings("10.5072", "", "Text")
    etree.fromstring(xml_of(document_of(ONE, said(silo), settings)))
    for target in (DataciteTarget(str(tmp_path / "dois"), settings),
                   CrateTarget(str(tmp_path / "crates"))):  # fmt: skip
        assert Export(silo, target).run().whole
        assert Export(silo, target).verify().differences == 0
    turtle = preview(silo, ONE, Crosswalk.default()).turtle()
    assert "vocab.example.org" not in turtle


def test_without_authority_files_nothing_is_looked_up(silo: Silo, tmp_path: Path) -> None:
    for field in ("creator", "publisher", "subject"):
        Path(silo.path, "curation", "authorities", f"{field}.csv").unlink()
    assert identifiers_of_values(silo.path) == {}
    alone = of_document("oai_dc", DC % b"Swan, Alma")
    assert said(silo) == alone


def test_a_broken_authority_file_stops_the_export(silo: Silo, tmp_path: Path) -> None:
    Path(silo.path, "curation", "authorities", "creator.csv").write_text("name\nSwan\n")
    exporting = Export(silo, CrateTarget(str(tmp_path / "crates")))
    with pytest.raises(IdentifiersUnreadable, match=r"creator\.csv cannot be read: its first line"):
        exporting.run()
    assert not (tmp_path / "crates").exists()


def test_a_damaged_identifier_is_left_out_and_named(silo: Silo, tmp_path: Path) -> None:
    identify(silo, "creator", **{"Swan,_Alma": ORCID + "\0", "Lind,_Astrid": GND})
    exporting = Export(silo, CrateTarget(str(tmp_path / "crates")))
    report = exporting.run()
    assert report.whole
    assert report.written == 2
    (note,) = report.notes
    assert note == (
        "line 2 of curation/authorities/creator.csv: the id of 'Swan, Alma' has a control"
        " character, and is not exported; correct it"
    )
    assert report.to_json()["notes"] == [*report.notes]
    crate = (tmp_path / "crates" / directory_name(ONE) / "ro-crate-metadata.json").read_text()
    assert (GND in crate, ORCID in crate) == (True, False)
    done = CliRunner().invoke(export, ["rocrate", silo.path, str(tmp_path / "others")])
    assert done.exit_code == 0
    assert f"silo: {note}\n" in done.output
    out = tmp_path / "items.zip"
    options = ["--collection", "123456789/2", "--mapping", str(tmp_path / "dspace.toml")]
    (tmp_path / "dspace.toml").write_text('[fields]\n"creators.orcid" = "dc.identifier.orcid"\n')
    done = CliRunner().invoke(export, ["dspace-zip", silo.path, str(out), *options])
    assert note in done.output
    identify(silo, "creator", **{"Swan,_Alma": ORCID, "Lind,_Astrid": GND})
    again = exporting.run()
    assert (again.written, again.notes) == (1, ())


def test_the_number_of_an_identifier_is_its_address_without_the_beginning() -> None:
    assert ValueIdentifier(ROR, "ROR", ROR, "https://ror.org/").number == "01ej9dk98"
    assert ValueIdentifier("staff-17").number == "staff-17"
