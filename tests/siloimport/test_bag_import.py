"""Bags come back as records; what is damaged, hostile or not a bag is told, and not stored."""

import errno
import gzip
import io
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import bagit
import pytest
from importing import TWO, call, harvested, what_is_in

from infopackages import containers
from recordsilo import Silo
from recordsilo.records.manifest import is_frozen
from siloexport import BagTarget, Export, Policy, Versions
from siloimport import writing


@pytest.fixture
def silo(tmp_path: Path) -> Silo:
    made = Silo(str(tmp_path / "myrepo"))
    for number in range(1, 4):
        harvested(made, f"oai:example.org:{number}", f"Title {number}")
    two = made[TWO]
    two.clone_version("1", "workingcopy", agent="ann", message="title")
    two.put_stream("docs/100% ü.txt", "CC BY 4.0")
    two.put_stream("silo.json", "{}")
    return made


@pytest.fixture
def bags(silo: Silo, tmp_path: Path) -> Path:
    report = Export(silo, BagTarget(str(tmp_path / "bags")), Policy(Versions.ALL)).run()
    assert report.whole, report.problems
    return tmp_path / "bags"


def test_our_own_bags_come_back_with_versions_dates_and_origins(
    silo: Silo, bags: Path, tmp_path: Path
) -> None:
    back = tmp_path / "back"
    assert call("bag", bags, back, "--dry-run") == (
        0, f"{back}: 3 records with 4 versions would be imported, 0 unchanged, 0 not imported\n",
    )  # fmt: skip
    assert not back.exists()
    code, said = call("bag", bags, back)
    assert (code, "3 records with 4 versions imported" in said) == (0, True), said
    before = what_is_in(silo)
    with Silo(str(back), create=False) as imported:
        after = what_is_in(imported)
        assert after.keys() == before.keys()
        for identifier, (versions, current, contents) in before.items():
            found, at, there = after[identifier]
            assert (at, there) == (current, contents)
            for was, now in zip(versions, found, strict=True):
                kept = replace(was.origin, prefixes={})
                assert replace(now.origin, prefixes={}) == kept
                assert (now.date, now.digests, now.metadata_files) == (
                    was.date, was.digests, was.metadata_files,
                )  # fmt: skip
    assert "0 records with 0 versions imported, 3 unchanged" in call("bag", bags, back)[1]


def test_a_harvest_after_it_finds_nothing_new(silo: Silo, bags: Path, tmp_path: Path) -> None:
    call("bag", bags, tmp_path / "back")
    with Silo(str(tmp_path / "back"), create=False) as back:
        assert is_frozen(back[TWO].state, "1")
        assert back[TWO].is_curated


# -- bags of others -------------------------------------------------------------------------


def foreign(place: Path, **info: str) -> Path:
    (place / "pdf").mkdir(parents=True)
    (place / "pdf" / "a.pdf").write_bytes(b"%PDF" * 9)
    (place / "oai_dc.xml").write_bytes(
        b"<dc:title xmlns:dc='http://purl.org/dc/elements/1.1/'>T</dc:title>"
    )
    bagit.make_bag(str(place), info, checksums=["md5", "sha256"])
    return place


INFO = {
    "External-Identifier": "ark:/12345/x1", "Source-Organization": "Example University",
    "External-Description": "A thesis", "Bagging-Date": "2020-02-03",
}  # fmt: skip


def packed(place: Path, how: str) -> Path:
    out = place.parent / f"{place.name}.{how}"
    if how == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for one in sorted(place.rglob("*")):
                archive.write(one, one.relative_to(place.parent))
    else:
        with tarfile.open(out, "w:gz" if how == "tar.gz" else "w") as archive:
            archive.add(place, f"./{place.name}")
    shutil.rmtree(place)
    return out


@pytest.mark.parametrize("how", ["", "tar", "tar.gz", "zip"])
def test_bag_of_others_becomes_an_imported_version(tmp_path: Path, how: str) -> None:
    bag = foreign(tmp_path / "b", **INFO)
    bag = packed(bag, how) if how else bag
    back = tmp_path / "back"
    code, said = call("bag", bag, back)
    assert (code, "1 record with 1 version imported" in said) == (0, True), said
    with Silo(str(back), create=False) as silo:
        record = silo["ark:/12345/x1"]
        version = record.state.current
        assert (version.name, version.date) == ("v1", "2020-02-03T00:00:00")
        origin = version.origin
        assert (origin.kind, origin.agent, origin.message) == (
            "import", "Example University", "A thesis",
        )  # fmt: skip
        assert sorted(version.paths) == ["bag/bag-info.txt", "oai_dc.xml", "pdf/a.pdf"]
        assert version.metadata_files == ("oai_dc.xml",)
    assert "0 records with 0 versions imported, 1 unchanged" in call("bag", bag, back)[1]


def test_a_bag_without_identifier_has_the_name_of_its_directory(tmp_path: Path) -> None:
    foreign(tmp_path / "box 7")
    call("bag", tmp_path / "box 7", tmp_path / "back", "-m", "gift")
    with Silo(str(tmp_path / "back"), create=False) as silo:
        assert silo["box 7"].state.current.origin.message == "gift"


def _flip(bag: Path) -> None:
    path = bag / "data/pdf/a.pdf"
    content = bytearray(path.read_bytes())
    content[7] ^= 1
    path.write_bytes(content)


def _link(bag: Path) -> None:
    (bag / "data/pdf/a.pdf").unlink()
    (bag / "data/pdf/a.pdf").symlink_to("/etc/passwd")


def _line(name: str, line: str) -> Callable[[Path], None]:
    def add(bag: Path) -> None:
        with (bag / name).open("a") as file:
            file.write(line)
        for one in bag.glob("tagmanifest-*"):
            one.unlink()

    return add


def _unnamed(bag: Path) -> None:
    (bag / "bag-info.txt").unlink()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_flip, "data/pdf/a.pdf is damaged: it has another digest than its manifest"),
        (_link, "data/pdf/a.pdf is a symbolic link, which is not read"),
        (_unnamed, "bag-info.txt is in tagmanifest-md5.txt and missing"),
        (lambda bag: (bag / "data/more").write_text("x"), "data/more is not in a manifest"),
        (lambda bag: (bag / "data/pdf/a.pdf").unlink(), "is in manifest-md5.txt and missing"),
        (lambda bag: (bag / "bag-info.txt").write_text("A: b\n"), "bag-info.txt is damaged"),
        (lambda bag: (bag / "bagit.txt").write_text("BagIt-Version: 7\n"), "does not declare"),
        (_line("manifest-md5.txt", "00  data/../../etc/passwd\n"), "manifest-md5.txt and mis"),
        (_line("manifest-md5.txt", "00  bagit.txt\n"), "and not below data/"),
        (_line("manifest-md5.txt", "no digest\n"), "line 3 of manifest-md5.txt has no digest"),
        (_line("manifest-crc32.txt", "00  data/pdf/a.pdf\n00  data/oai_dc.xml\n"),
         "digests by crc32 cannot be checked"),
        (_line("bag-info.txt", "Payload-Oxum: 1.1\n"), "its bag-info.txt says 1.1"),
    ],
)  # fmt: skip
def test_damaged_bag_is_told_and_nothing_is_written(
    tmp_path: Path, change: Callable[[Path], object], why: str
) -> None:
    bag = foreign(tmp_path / "b", **INFO)
    change(bag)
    code, said = call("bag", bag, tmp_path / "back")
    assert (code, why in said) == (1, True), said
    assert not (tmp_path / "back").exists()


def test_flipped_byte_in_one_bag_lets_the_others_come(bags: Path, tmp_path: Path) -> None:
    path = next(bags.glob("*example,org+2.tar"))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"Title 2", b"Title 3"))
    code, said = call("bag", bags, tmp_path / "back")
    assert (code, "is damaged: it has another digest" in said) == (1, True)
    assert "2 records with 2 versions imported, 0 unchanged, 1 not imported" in said
    path.write_bytes(content)
    assert (
        "1 record with 2 versions imported, 2 unchanged" in call("bag", bags, tmp_path / "back")[1]
    )


def _tar_with(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w") as tar:
        for one in members:
            tar.addfile(one, io.BytesIO(b"x" * one.size))
    return path


def _member(name: str, **values: object) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    for key, value in values.items():
        setattr(member, key, value)
    return member


def test_hostile_archives_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "LEAST", 1000)
    bomb = tmp_path / "bomb.tar.gz"
    bomb.write_bytes(gzip.compress(bytes(1 << 20)))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b/data/x", bytes(1 << 20))
    with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
        archive.writestr("../../x", b"x")
    long = _tar_with(tmp_path / "cut.tar", _member("b/bagit.txt", size=4000))
    with long.open("r+b") as file:
        file.truncate(1024)
    (tmp_path / "text.tar").write_text("no tar")
    cases = {
        bomb: "would unpack to more than",
        tmp_path / "bomb.zip": "would unpack to more than",
        tmp_path / "up.zip": "the path '../../x' in it is not allowed",
        _tar_with(tmp_path / "up.tar", _member("../x", size=1)): "is not allowed",
        _tar_with(tmp_path / "abs.tar", _member("/etc/x", size=1)): "is not allowed",
        _tar_with(tmp_path / "link.tar", _member("b/x", type=tarfile.SYMTYPE, linkname="/etc")):
            "is not a plain file",
        _tar_with(tmp_path / "device.tar", _member("b/x", type=tarfile.CHRTYPE)):
            "not a plain file",
        _tar_with(tmp_path / "two.tar", _member("b/x"), _member("b/x")): "it has b/x twice",
        _tar_with(tmp_path / "none.tar", _member("b/x")): "it is not a bag",
        long: "",
        tmp_path / "text.tar": "it is not a tar file or zip that can be read",
    }  # fmt: skip
    for path, why in cases.items():
        code, said = call("bag", path, tmp_path / "back")
        assert (code, why in said) == (1, True), (path, said)
        assert f"{path.name} was not imported" in said
    assert not (tmp_path / "back").exists()
    assert not (tmp_path.parent / "x").exists()


def test_what_is_no_bag_is_told(tmp_path: Path, silo: Silo) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("x")
    assert call("bag", tmp_path / "none", tmp_path / "back")[0] == 2
    assert (
        "is not a bag and has none in it" in call("bag", tmp_path / "empty", tmp_path / "back")[1]
    )
    (tmp_path / "files" / "one").mkdir(parents=True)
    code, said = call("bag", tmp_path / "files", tmp_path / "back")
    assert (code, "is not a bag and has none in it" in said) == (2, True)
    assert "it is not a tar file or zip" in call("bag", tmp_path / "file.txt", tmp_path / "back")[1]
    (tmp_path / "bag.zip").touch()
    code, said = call("bag", tmp_path, silo.path)
    assert (code, "one inside the other" in said) == (2, True)
    assert not (tmp_path / "back").exists()


def test_records_that_differ_are_kept(silo: Silo, bags: Path) -> None:
    harvested(silo, "oai:example.org:3", "Other", "2")
    silo[TWO].put_stream("silo.json", "[]")
    before = what_is_in(silo)
    code, said = call("bag", bags, silo.path)
    assert (code, f"{TWO} was not imported: the Silo has a record" in said) == (1, True)
    assert "2 unchanged" in said
    assert what_is_in(silo) == before


def test_removed_records_stay_removed(silo: Silo, bags: Path) -> None:
    silo.del_item(TWO, remember=True)
    for more in (["--dry-run"], []):
        code, said = call("bag", bags, silo.path, *more)
        assert (code, "it was removed from this Silo for good" in said) == (1, True)
    assert TWO not in silo


def test_a_package_in_a_form_that_is_not_read_is_named(bags: Path, tmp_path: Path) -> None:
    with tarfile.open(bags / "more.tar.xz", "w:xz") as tar:
        tar.add(next(bags.glob("*.tar")), "b")
    code, said = call("bag", bags, tmp_path / "back")
    assert (code, "3 records with 4 versions imported" in said) == (1, True)
    assert "more.tar.xz was not imported: it is not a tar file or zip that can be read" in said


def test_links_and_hidden_files_beside_bags_are_left_alone(bags: Path, tmp_path: Path) -> None:
    (bags / "link.tar").symlink_to("/etc/passwd")
    assert call("bag", bags, tmp_path / "back")[0] == 0
    assert ".silo-export" in os.listdir(bags)


def test_full_disk_ends_the_import_and_the_same_import_continues(
    bags: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write_new", full)
        _, said = call("bag", bags, tmp_path / "back")
    assert "is full; make room, then repeat this" in said
    assert "not imported" not in said
    assert "3 records with 4 versions imported" in call("bag", bags, tmp_path / "back")[1]
