"""RO-Crates pass the suite of all targets, and the validator and the reader of others."""

import hashlib
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conformance import ODD, Change, Content, DiskTargetContract
from real_rocrate import findings

from recordsilo import Silo
from siloexport import Export, Policy, Target, Versions
from siloexport.commands.export import export
from siloexport.targets.directory import directory_name
from siloexport.targets.rocrate import CrateTarget

TWO = "oai:example.org:2"


def _list(parts: Any) -> list[dict[str, str]]:
    return parts if isinstance(parts, list) else [parts]


class CrateRig:
    def __init__(self, directory: Path, versions: Versions) -> None:
        self.directory, self.versions = directory, versions

    def target(self) -> Target:
        return CrateTarget(str(self.directory), self.versions)

    def path(self, identifier: str) -> Path:
        return self.directory / directory_name(identifier)

    def graph(self, identifier: str) -> dict[str, Any]:
        """Identifier of an entity → the entity."""
        text = (self.path(identifier) / "ro-crate-metadata.json").read_text("utf-8")
        return {one["@id"]: one for one in json.loads(text)["@graph"]}

    def holds(self, identifier: str) -> Content:
        if not self.path(identifier).exists():
            return []
        graph = self.graph(identifier)
        root = graph["./"]
        parts = root.get("hasPart", [])
        if self.versions is Versions.CURRENT:
            return [(root["version"], self._files(identifier, graph, parts))]
        versions = [graph[one["@id"]] for one in _list(parts)]
        return [
            (one["version"], self._files(identifier, graph, one["hasPart"])) for one in versions
        ]

    def _files(self, identifier: str, graph: dict[str, Any], parts: Any) -> dict[str, bytes]:
        return {
            graph[one["@id"]]["name"]: (self.path(identifier) / one["@id"]).read_bytes()
            for one in _list(parts)
        }

    def spoil(self, identifier: str) -> None:
        place = next(self.path(identifier).rglob("oai_dc"))
        content = bytearray(place.read_bytes())
        content[len(content) // 2] ^= 1
        place.write_bytes(bytes(content))


@pytest.mark.long
class TestCrates(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> CrateRig:
        return CrateRig(tmp_path / "crates", Versions.CURRENT)


@pytest.mark.slow
class TestCratesOfAllVersions(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> CrateRig:
        return CrateRig(tmp_path / "crates", Versions.ALL)


TERMS = {
    "about", "affiliation", "agent", "alternateName", "author", "citation", "conformsTo",
    "contentSize", "contributor", "copyrightHolder", "creditText", "dateModified",
    "datePublished", "description", "editor", "encodingFormat", "endTime", "familyName", "funder",
    "genre", "givenName", "hasPart", "identifier", "inLanguage", "instrument", "isBasedOn",
    "isPartOf", "issn", "keywords", "license", "mentions", "name", "object", "producer",
    "propertyID", "provider", "publisher", "result", "sha256", "sponsor", "translator", "url",
    "value", "version",
    "CreateAction", "CreativeWork", "Dataset", "File", "Organization", "Periodical", "Person",
    "PropertyValue",
}  # fmt: skip
"""Terms that crates use; each is in the context of RO-Crate 1.2."""
RICH = (
    b'<resource xmlns="http://datacite.org/schema/kernel-4">'
    b'<identifier identifierType="DOI">10.5555/Rich</identifier>'
    b'<creators><creator><creatorName nameType="Personal">Adeyemi, Ngozi</creatorName>'
    b'<nameIdentifier nameIdentifierScheme="ORCID">0000-0002-1825-0097</nameIdentifier>'
    b"<affiliation>Example University</affiliation></creator></creators>"
    b"<titles><title>Rich</title><title titleType='Subtitle'>And more</title></titles>"
    b"<publisher>Example Press</publisher><publicationYear>2016</publicationYear>"
    b'<contributors><contributor contributorType="Editor"><contributorName>Ek, Bo'
    b"</contributorName></contributor></contributors>"
    b'<rightsList><rights rightsURI="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0'
    b"</rights></rightsList><subjects><subject>Solar power</subject></subjects>"
    b'<relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI" '
    b'relationType="References">10.5555/other</relatedIdentifier></relatedIdentifiers>'
    b"</resource>"
)


def run(silo: Silo, target: Target, versions: Versions = Versions.CURRENT) -> None:
    report = Export(silo, target, Policy(versions)).run()
    assert report.whole, report.problems


@pytest.fixture
def rich(silo: Silo) -> Silo:
    """The Silo, whose second record has all that a crate can say."""
    record = silo[TWO]
    record.put_stream("datacite", RICH.decode(), metadata=True)
    record.put_stream("docs/100% ü (1).txt", "x", agent="ann")
    return silo


@pytest.mark.long
def test_crate_says_who_made_what_under_which_licence(rich: Silo, tmp_path: Path) -> None:
    rig = CrateRig(tmp_path / "crates", Versions.CURRENT)
    run(rich, rig.target())
    graph = rig.graph(TWO)
    root = graph["./"]
    assert (root["name"], root["datePublished"], root["keywords"]) == (
        "Rich",
        "2016",
        "Solar power",
    )
    assert root["author"] == {"@id": "https://orcid.org/0000-0002-1825-0097"}
    person = graph[root["author"]["@id"]]
    assert (person["name"], person["familyName"]) == ("Ngozi Adeyemi", "Adeyemi")
    assert graph[person["affiliation"]["@id"]]["name"] == "Example University"
    assert graph[root["editor"]["@id"]]["name"] == "Bo Ek"
    assert graph[root["publisher"]["@id"]]["name"] == "Example Press"
    assert root["license"] == {"@id": "https://creativecommons.org/licenses/by/4.0/"}
    assert root["citation"] == {"@id": "https://doi.org/10.5555/other"}
    values = {graph[one["@id"]]["value"] for one in root["identifier"]}
    assert values == {TWO, "10.5555/Rich"}
    file = graph["data/docs/100%5E25%20ü%20(1).txt"]
    assert (file["name"], file["contentSize"], file["encodingFormat"]) == (
        "docs/100% ü (1).txt", "1", "text/plain",
    )  # fmt: skip
    assert file["sha256"] == hashlib.sha256(b"x").hexdigest()
    assert graph["data/oai_dc"]["about"] == {"@id": "./"}


def test_crates_use_terms_of_the_context_and_each_identifier_once(
    rich: Silo, tmp_path: Path
) -> None:
    rig = CrateRig(tmp_path / "crates", Versions.ALL)
    run(rich, rig.target(), Versions.ALL)
    for place in rig.directory.glob("oai*"):
        content = json.loads((place / "ro-crate-metadata.json").read_text("utf-8"))["@graph"]
        names = [one["@id"] for one in content]
        assert len(set(names)) == len(names)
        used = {name for one in content for name in one if not name.startswith("@")}
        assert used | {one["@type"] for one in content} <= TERMS
        values = (value for one in content for value in one.values())
        told = {one["@id"] for value in values for one in (value if isinstance(value, list) else
                [value]) if isinstance(one, dict)}  # fmt: skip
        assert told - set(names) <= {"https://w3id.org/ro/crate/1.2"}


def test_history_is_in_the_actions(rich: Silo, tmp_path: Path) -> None:
    rig = CrateRig(tmp_path / "crates", Versions.ALL)
    run(rich, rig.target(), Versions.ALL)
    graph = rig.graph(TWO)
    harvested, copied, made = (graph[one["@id"]] for one in graph["./"]["mentions"])
    assert harvested["name"] == "Version 1 harvested"
    assert harvested["description"] == ("Harvested from the source, datestamp 2024-05-01T00:00:00Z")
    assert copied["object"] == harvested["result"] == {"@id": "data/1/"}
    assert copied["result"] == {"@id": "data/workingcopy/"}
    assert made["result"] == {"@id": "./"}


def test_same_versions_make_the_same_bytes_and_keep_their_day(silo: Silo, tmp_path: Path) -> None:
    def write(day: int) -> dict[str, bytes]:
        run(silo, CrateTarget(str(tmp_path / "a"), today=lambda: date(2026, 1, day)))
        return {str(path): path.read_bytes() for path in (tmp_path / "a").glob("oai*/*.json")}

    before = write(1)
    for ledger in (Path(silo.path) / "curation" / "exports").iterdir():
        ledger.unlink()
    assert write(2) == before
    rig = CrateRig(tmp_path / "a", Versions.CURRENT)
    assert Export(silo, rig.target()).verify().differences == 0
    silo[TWO].put_stream("more.txt", "x")
    assert write(3) != before
    assert rig.graph(TWO)["#packaged"]["endTime"] == "2026-01-03"


@pytest.mark.parametrize("name", ["ro-crate-metadata.json", "data/1/oai_dc"])
def test_difference_names_the_file_and_its_version(silo: Silo, tmp_path: Path, name: str) -> None:
    rig = CrateRig(tmp_path / "crates", Versions.ALL)
    run(silo, rig.target(), Versions.ALL)
    with (rig.path(TWO) / name).open("ab") as file:
        file.write(b"\n")
    (found,) = Export(silo, rig.target(), Policy(Versions.ALL)).verify().first
    assert (found.identifier, found.version) == (TWO, "1" if "/" in name else "")
    assert found.detail == f"the content of {name} differs"


@pytest.mark.long
def test_validator_and_reader_of_others_take_a_crate(rich: Silo, tmp_path: Path) -> None:
    rig = CrateRig(tmp_path / "crates", Versions.ALL)
    run(rich, rig.target(), Versions.ALL)
    (found,) = findings(rig.path(TWO))
    assert (found["required"], found["name"], found["there"]) == ([], "Rich", True)
    assert {"Bo Ek", "Ngozi Adeyemi"} <= set(found["people"])
    assert "data/workingcopy/docs/100%5E25%20ü%20(1).txt" in found["files"]
    assert len(found["files"]) == 7


@pytest.mark.slow
def test_validator_takes_every_crate_and_no_broken_one(
    rich: Silo, tmp_path: Path, harvest: Change
) -> None:
    for identifier in ODD:
        harvest(rich, identifier, "Odd")
    rich["3"].create_new_version("empty")
    rig = CrateRig(tmp_path / "crates", Versions.CURRENT)
    run(rich, rig.target())
    graph = json.loads((rig.path(TWO) / "ro-crate-metadata.json").read_text("utf-8"))
    del next(one for one in graph["@graph"] if one["@id"] == "./")["license"]
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "ro-crate-metadata.json").write_text(json.dumps(graph), "utf-8")
    *sound, broken = findings(*sorted(rig.directory.glob("oai*")), tmp_path / "broken")
    assert [one["required"] for one in sound] == [[]] * (3 + len(ODD))
    assert any("`license`" in one for one in broken["required"])


def test_command_verifies_by_the_marker(silo: Silo, tmp_path: Path) -> None:
    out = str(tmp_path / "crates")
    for command in ("rocrate", "verify", "status"):
        result = CliRunner().invoke(export, [command, silo.path, out], catch_exceptions=False)
        assert result.exit_code == 0, result.output
