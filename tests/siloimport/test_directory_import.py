"""Directories and files become records, also those of an export as plain files."""

import json
import os
import random
from pathlib import Path

import killed_import
import pytest
from importing import TWO, call, harvested, what_is_in
from killing import KILLED, exit_code_of

from recordsilo import Silo
from recordsilo.formats import describe
from siloexport import BagTarget, Export, FilesTarget, Policy, Versions


def silo_at(place: Path, records: int = 3) -> Silo:
    made = Silo(str(place))
    for number in range(1, records + 1):
        harvested(made, f"oai:example.org:{number}", f"Title {number}")
    made[TWO].clone_version("1", "workingcopy", agent="ann", message="title")
    made[TWO].put_stream("docs/licence.txt", "CC BY 4.0")
    return made


@pytest.fixture
def silo(tmp_path: Path) -> Silo:
    return silo_at(tmp_path / "myrepo")


def test_an_export_of_files_comes_back(silo: Silo, tmp_path: Path) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    assert Export(silo, FilesTarget(str(out))).run().whole
    long = "oai:example.org:" + "x" * 300
    harvested(silo, long, "Long")
    assert Export(silo, FilesTarget(str(out))).run().whole
    code, said = call("files", out, back)
    assert (code, "4 records with 4 versions imported" in said) == (0, True), said
    with Silo(str(back), create=False) as imported:
        assert set(imported) == set(silo)
        record = imported[TWO]
        version = record.state.current
        assert (version.name, version.origin.kind) == ("v1", "import")
        assert (version.paths, version.metadata_files) == (
            ("docs/licence.txt", "oai_dc"), ("oai_dc",),
        )  # fmt: skip
        assert record.read("v1", "oai_dc") == silo[TWO].read("1", "oai_dc")
    assert "4 unchanged" in call("files", out, back)[1]


def test_versions_of_an_export_are_in_order(silo: Silo, tmp_path: Path) -> None:
    out, back = tmp_path / "out", tmp_path / "back"
    target = FilesTarget(str(out), Versions.ALL)
    assert Export(silo, target, Policy(Versions.ALL)).run().whole
    assert call("files", out, back)[0] == 0
    with Silo(str(back), create=False) as imported:
        one, two = imported[TWO].state.versions
        assert [one.origin.message, two.origin.message] == ["version 1", "version workingcopy"]
        assert imported[TWO].state.current_version == "v2"


def test_identifier_without_its_note_is_that_of_the_directory(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert Export(silo, FilesTarget(str(out))).run().whole
    for note in (out / ".silo-notes").iterdir():
        note.write_text("[")
    assert call("files", out, tmp_path / "back")[0] == 0
    with Silo(str(tmp_path / "back"), create=False) as imported:
        assert set(imported) == set(silo)


def scans(place: Path) -> Path:
    for name in ("box1/a.tif", "box1/deep/b.tif", "box1/.DS_Store", "box2/mods.xml", "box2/c.pdf"):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (1_577_934_245, 1_577_934_245))
    return place


def test_each_directory_becomes_a_record(tmp_path: Path) -> None:
    back = tmp_path / "back"
    options = ["--prefix", "oai:mine:", "--titles", "--metadata", "c.pdf", "-m", "from the attic"]
    code, said = call("files", scans(tmp_path / "scans"), back, *options)
    assert (code, "2 records with 2 versions imported" in said) == (0, True), said
    with Silo(str(back), create=False) as silo:
        one, two = silo["oai:mine:box1"].state, silo["oai:mine:box2"].state
        assert one.current.paths == ("oai_dc", "a.tif", "deep/b.tif")
        assert (one.date, one.current.origin.message) == ("2020-01-02T03:04:05", "from the attic")
        described = describe("oai_dc", silo["oai:mine:box1"].read("v1", "oai_dc"))
        assert described is not None
        assert described.title == "box1"
        assert two.current.metadata_files == ("c.pdf", "mods.xml")
    assert "2 unchanged" in call("files", tmp_path / "scans", back, *options)[1]


def test_each_file_becomes_a_record(tmp_path: Path) -> None:
    place = scans(tmp_path / "scans")
    (place / "box1/link").symlink_to("/etc/passwd")
    (place / "up").symlink_to("/etc")
    code, said = call("files", place, tmp_path / "back", "--per", "file")
    assert (code, "4 records with 4 versions imported, 0 unchanged, 2 not imported" in said) == (
        1, True,
    ), said  # fmt: skip
    assert said.count("symbolic link") == 2
    with Silo(str(tmp_path / "back"), create=False) as silo:
        assert silo["box1/deep/b.tif"].state.current.paths == ("b.tif",)


def test_links_and_what_is_beside_are_told(tmp_path: Path) -> None:
    place = scans(tmp_path / "scans")
    (place / "box1/link").symlink_to("/etc/passwd")
    (place / "readme.txt").write_text("x")
    (place / "box3").mkdir()
    (place / "box4").symlink_to("/etc")
    code, said = call("files", place, tmp_path / "back")
    assert (code, "1 record with 1 version imported" in said) == (1, True), said
    assert "box1 was not imported: link is a symbolic link, which is not read" in said
    assert "readme.txt was not imported: it is not a directory; --per file makes" in said
    assert "box3 was not imported: it has no files" in said
    assert "box4 was not imported: it is not a directory" in said


def test_what_is_no_such_directory_is_told(silo: Silo, tmp_path: Path) -> None:
    Export(silo, BagTarget(str(tmp_path / "bags"))).run()
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "x").write_text("x")
    cases = {
        "none": "is not a directory", "bags": "holds an export as bags, not as files",
        "empty": "has no directories", "plain": "--per file makes each file a record",
    }  # fmt: skip
    for name, why in cases.items():
        code, said = call("files", tmp_path / name, tmp_path / "back")
        assert (code, why in said) == (2, True), said
    assert "empty has no files" in call(
        "files", tmp_path / "empty", tmp_path / "back", "--per", "file"
    )[1]  # fmt: skip
    assert not (tmp_path / "back").exists()


@pytest.mark.long
def test_an_import_of_bags_killed_again_and_again_ends_whole(tmp_path: Path) -> None:
    _ends_whole("bag", tmp_path, 2)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["bag", "files", "csv"])
def test_an_import_killed_twenty_times_ends_whole(tmp_path: Path, form: str) -> None:
    _ends_whole(form, tmp_path, 20)


def _ends_whole(form: str, tmp_path: Path, kills: int) -> None:
    silo = silo_at(tmp_path / "myrepo", 120)
    out, back, whole = tmp_path / "out", str(tmp_path / "back"), str(tmp_path / "whole")
    if form == "csv":
        rows = "".join(f"oai:x:{n},Title {n}\n" for n in range(150))
        out.write_text("identifier,title\n" + rows)
    else:
        target = BagTarget(str(out)) if form == "bag" else FilesTarget(str(out))
        assert Export(silo, target).run().whole
    chance = random.Random(form)
    killed = 0
    for _ in range(kills):
        step = str(chance.randrange(1, 40))
        code = exit_code_of(killed_import.__file__, form, str(out), back, step)
        killed += code == KILLED
    assert killed
    assert call(form, out, back)[0] == 0
    assert call(form, out, whole)[0] == 0
    with Silo(back, create=False) as one, Silo(whole, create=False) as other:
        assert _contents(one) == _contents(other)


def _contents(silo: Silo) -> str:
    found = {one: sorted(map(str, parts[2].items())) for one, parts in what_is_in(silo).items()}
    return json.dumps(found, sort_keys=True)
