"""Packages for archives pass the suite of all targets, and the validators of others."""

import gzip
import random
import tarfile
import zlib
from datetime import date
from pathlib import Path
from typing import Any

import bagit
import pytest
from click.testing import CliRunner
from conformance import ODD, Change, Content, DiskTargetContract
from lxml import etree
from real_eark import check_documents, findings

from infopackages.csip import DESCRIPTIVE, PREMIS
from infopackages.mets import NAMESPACE as METS
from infopackages.premis import NAMESPACE
from recordsilo import Silo
from siloexport import Export, Policy, Selection, SipSettings, SipTarget, Target, Versions
from siloexport.commands.export import export
from siloexport.errors import TargetUnusable
from siloexport.targets.sip_writing import package_name

NAMES = {"p": NAMESPACE, "m": METS}
TWO = "oai:example.org:2"


class SipRig:
    def __init__(self, directory: Path, versions: Versions, settings: SipSettings) -> None:
        self.directory, self.versions, self.settings = directory, versions, settings

    def target(self) -> Target:
        return SipTarget(str(self.directory), self.settings)

    def path(self, identifier: str) -> Path:
        return self.directory / (
            package_name(identifier) + (".tar.gz" if self.settings.tar else "")
        )

    def members(self, identifier: str) -> dict[str, bytes]:
        """Path below the package → bytes."""
        place, top = self.path(identifier), package_name(identifier)
        if not place.exists():
            return {}
        if self.settings.tar:
            with tarfile.open(place) as tar:
                found = {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]
            found = {name.removeprefix(f"{top}/"): content for name, content in found.items()}
        else:
            found = {
                str(path.relative_to(place)): path.read_bytes()
                for path in place.rglob("*")
                if path.is_file()
            }
        below = f"data/{top}/" if self.settings.bag else ""
        return {
            name.removeprefix(below): content
            for name, content in found.items()
            if name.startswith(below)
        }

    def holds(self, identifier: str) -> Content:
        members = self.members(identifier)
        if not members:
            return []
        history = etree.fromstring(members[PREMIS])
        path = "//p:object[@xsi:type = 'representation']/p:originalName/text()"
        spaces = {**NAMES, "xsi": "http://www.w3.org/2001/XMLSchema-instance"}
        found = []
        for name in history.xpath(path, namespaces=spaces):
            below = f"representations/{name}/data/"
            files = {path.removeprefix(below): content for path, content in members.items()
                     if path.startswith(below)}  # fmt: skip
            found.append((str(name), files))
        for path, content in members.items():
            if path.startswith(DESCRIPTIVE):
                found[-1][1][path.removeprefix(f"{DESCRIPTIVE}/")] = content
        return found

    def spoil(self, identifier: str) -> None:
        place = self.path(identifier)
        if not self.settings.tar:
            place = next(path for path in sorted(place.rglob("*")) if path.name == "oai_dc")
        content = bytearray(place.read_bytes())
        content[len(content) // 2] ^= 1
        place.write_bytes(bytes(content))


class TestPackages(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> SipRig:
        return SipRig(tmp_path / "sips", Versions.ALL, SipSettings())


@pytest.mark.long
class TestTarFilesOfBags(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> SipRig:
        # the conformance suite changes a bit of the compressed file, which may make it unreadable
        return SipRig(tmp_path / "sips", Versions.CURRENT, SipSettings(bag=True, tar=True))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "sips"


def texts(members: dict[str, bytes], name: str, path: str) -> list[str]:
    return [str(one) for one in etree.fromstring(members[name]).xpath(path, namespaces=NAMES)]


def run(silo: Silo, target: Target, **policy: Any) -> None:
    report = Export(silo, target, Policy(Versions.ALL, **policy)).run()
    assert report.whole, report.problems


def test_history_of_the_versions_is_in_premis(silo: Silo, out: Path) -> None:
    with silo.batch([TWO]) as batch:
        origin = batch.edit(TWO).manifest.version("workingcopy").origin
    rig = SipRig(out, Versions.ALL, SipSettings(submitter="A library"))
    run(silo, rig.target())
    members = rig.members(TWO)
    assert texts(members, PREMIS, "//p:event/p:eventType/text()") == [
        "capture", "replication", "information package creation",
    ]  # fmt: skip
    assert texts(members, PREMIS, "//p:event[2]/p:eventDateTime/text()") == [f"{origin.date}Z"]
    assert texts(members, PREMIS, "//p:object[1]//p:objectIdentifierValue/text()") == [
        TWO, "oai+example.org+2",
    ]  # fmt: skip
    files = "representations/workingcopy/metadata/preservation/premis.xml"
    assert texts(members, files, "//p:originalName/text()") == ["oai_dc", "docs/licence.txt"]
    assert texts(members, "METS.xml", "//m:mdRef/@MDTYPE") == ["DC", "PREMIS"]
    assert texts(members, "METS.xml", "//m:agent[2]/m:name/text()") == ["A library"]


def test_metadata_is_typed_and_no_two_files_have_one_name(silo: Silo, out: Path) -> None:
    record = silo[TWO]
    record.put_stream("mods", "<mods/>", metadata=True)
    record.put_stream("uketd_dc", "<a/>", metadata=True)
    record.put_stream("uketd_dc.xml", "<b/>", metadata=True)
    rig = SipRig(out, Versions.ALL, SipSettings())
    run(silo, rig.target(), unwrap=False)
    members = rig.members(TWO)
    described = [path for path in members if path.startswith(DESCRIPTIVE)]
    names = ("mods.xml", "oai_dc.xml", "uketd_dc", "uketd_dc.xml")
    assert sorted(described) == [f"{DESCRIPTIVE}/{name}" for name in names]
    assert texts(members, "METS.xml", "//m:dmdSec/m:mdRef/@MDTYPE") == [
        "DC", "MODS", "OTHER", "OTHER",
    ]  # fmt: skip
    assert set(texts(members, "METS.xml", "//m:mdRef/@OTHERMDTYPE")) == {"uketd_dc"}


def test_same_versions_make_the_same_bytes_and_keep_their_day(silo: Silo, tmp_path: Path) -> None:
    rig = SipRig(tmp_path / "a", Versions.ALL, SipSettings(tar=True))
    run(silo, SipTarget(str(tmp_path / "a"), rig.settings, today=lambda: date(2026, 1, 1)))
    run(silo, SipTarget(str(tmp_path / "b"), rig.settings, today=lambda: date(2026, 1, 1)))
    for path in (tmp_path / "a").glob("*.tar.gz"):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    before = rig.path(TWO).read_bytes()
    for ledger in (Path(silo.path) / "curation" / "exports").iterdir():
        ledger.unlink()
    run(silo, SipTarget(str(tmp_path / "a"), rig.settings, today=lambda: date(2026, 2, 2)))
    assert rig.path(TWO).read_bytes() == before
    silo[TWO].put_stream("more.txt", "x")
    run(silo, SipTarget(str(tmp_path / "a"), today=lambda: date(2026, 2, 2)))
    (created,) = texts(rig.members(TWO), "METS.xml", "//m:metsHdr/@CREATEDATE")
    assert created == "2026-02-02T00:00:00Z"


def test_packages_of_an_earlier_release_are_as_they_should_be(
    silo: Silo, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = SipRig(out, Versions.ALL, SipSettings())
    monkeypatch.setattr("siloexport.targets.sip.release", lambda: "0.1")
    run(silo, rig.target())
    monkeypatch.undo()
    assert Export(silo, rig.target(), Policy(Versions.ALL)).verify().differences == 0
    for ledger in (Path(silo.path) / "curation" / "exports").iterdir():
        ledger.unlink()
    report = Export(silo, rig.target(), Policy(Versions.ALL)).run()
    assert (report.whole, texts(rig.members(TWO), "METS.xml", "//m:agent[1]/m:note/text()")) == (
        True, ["0.1"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", ["METS.xml", "representations/1/data/oai_dc", "representations/1/METS.xml"]
)
def test_difference_names_the_file_and_its_version(silo: Silo, out: Path, name: str) -> None:
    rig = SipRig(out, Versions.ALL, SipSettings())
    run(silo, rig.target())
    with (rig.path(TWO) / name).open("ab") as file:
        file.write(b"\n")
    (found,) = Export(silo, rig.target(), Policy(Versions.ALL)).verify().first
    assert (found.identifier, found.version) == (TWO, "1" if "/" in name else "")
    assert found.detail == f"the content of {name} differs"


def test_bagit_finds_every_bag_sound(silo: Silo, out: Path) -> None:
    rig = SipRig(out, Versions.ALL, SipSettings(bag=True, submitter="A library"))
    silo[TWO].put_stream("100% \u2028.txt", "x")
    run(silo, rig.target())
    bag = bagit.Bag(str(rig.path(TWO)))
    bag.validate()
    assert bag.info["External-Identifier"] == TWO
    assert bag.info["Source-Organization"] == "A library"


def test_directory_keeps_its_packing_and_refuses_another(silo: Silo, out: Path) -> None:
    run(silo, SipTarget(str(out), SipSettings(tar=True, submitter="A library")))
    again = Export(silo, SipTarget(str(out)), Policy(Versions.ALL)).run()
    assert (again.written, again.whole) == (0, True)
    with pytest.raises(TargetUnusable, match="holds packages as tar files; name another directory"):
        SipTarget(str(out), SipSettings(bag=True)).probe()


def test_command_writes_verifies_and_refuses_in_a_sentence(silo: Silo, out: Path) -> None:
    def call(command: str, *options: str) -> tuple[int, str]:
        arguments = [command, silo.path, str(out), *options]
        result = CliRunner().invoke(export, arguments, standalone_mode=False)
        code = getattr(result.exception, "exit_code", None) or result.return_value or 0
        return code, result.output + str(result.exception or "")

    code, said = call("sip", "--bag", "--tar", "--versions", "all")
    assert (code, "3 created" in said) == (0, True)
    assert call("verify") == (0, f"{out}: 3 versions of 3 records compared, 0 differences\n")
    code, said = call("sip", "--bag")
    assert code == 3
    assert "holds packages as bags in tar files; name another directory for bags in dir" in said
    next(out.glob("*+2.tar.gz")).write_bytes(b"no tar file")
    code, said = call("verify")
    assert code == 4
    assert f"{TWO}: unreadable: it cannot be read: not a gzip file" in said


def test_damage_within_a_tar_file_is_a_difference(silo: Silo, out: Path) -> None:
    silo[TWO].put_stream("large", random.Random(1).randbytes(200_000))
    settings = SipSettings(tar=True)
    run(silo, SipTarget(str(out), settings))
    path = next(out.glob("*+2.tar.gz"))
    whole, packer = gzip.decompress(path.read_bytes()), zlib.compressobj(wbits=zlib.MAX_WBITS + 16)
    half = packer.compress(whole[: len(whole) // 2]) + packer.flush(zlib.Z_FULL_FLUSH)
    path.write_bytes(half + b"\x07")  # a block of a type that there is not
    report = Export(silo, SipTarget(str(out), settings), Policy(Versions.ALL)).verify()
    assert {one.identifier for one in report.first} == {TWO}


@pytest.mark.parametrize("versions", [Versions.ALL, Versions.CURRENT])
def test_every_document_is_valid(silo: Silo, out: Path, versions: Versions) -> None:
    silo[TWO].put_stream("100% \u2028 ü.txt", "x", message="odd \x01")
    Export(silo, SipTarget(str(out)), Policy(versions)).run()
    assert check_documents(out) >= 12


@pytest.mark.long
def test_commons_ip_finds_no_error_and_no_warning(silo: Silo, out: Path, harvest: Change) -> None:
    silo[TWO].put_stream("100% ü+.txt", "x")
    silo[TWO].put_stream("uketd_dc", "<a/>", metadata=True)
    silo[TWO].create_new_version("empty")
    for identifier in ODD[::2]:
        harvest(silo, identifier, "Odd")
    rig = SipRig(out, Versions.ALL, SipSettings())
    run(silo, rig.target())
    for identifier in (TWO, *ODD[::2]):
        assert findings(rig.path(identifier)) == ("VALID", [])
    with (rig.path(TWO) / "representations/1/data/oai_dc").open("ab") as file:
        file.write(b"\n")
    assert findings(rig.path(TWO))[0] == "INVALID"


def test_versions_without_files_are_in_the_history(silo: Silo, out: Path) -> None:
    only = Selection(identifiers=(TWO,))
    silo[TWO].create_new_version("empty")
    rig = SipRig(out, Versions.CURRENT, SipSettings())
    report = Export(silo, rig.target(), Policy(Versions.CURRENT)).run(only)
    assert report.whole, report.problems
    assert texts(rig.members(TWO), PREMIS, "//p:event[1]/p:eventType/text()") == ["creation"]
    check_documents(out)
