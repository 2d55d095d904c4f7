"""Records come back from a storage root as they were; those of others as imported versions."""

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import killed_import
import pytest
from click.testing import CliRunner
from killing import KILLED, exit_code_of
from ocfl import Object, StorageRoot, VersionMetadata

from infopackages.ocfl.layouts import HASHED, NAMED, StorageLayout
from oaipmhscraper.storing.storing_rules import is_deletion
from recordsilo import Silo
from recordsilo.records.manifest import Manifest, Origin, is_frozen, upstream_newer
from siloexport import Export, OcflTarget, Policy, Versions
from siloimport.commands import import_group

TWO = "oai:example.org:2"
METADATA = b"<metadata><a xmlns='http://example.org/'>%s</a></metadata>"


def harvest(silo: Silo, identifier: str, text: str) -> None:
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        origin = Origin("harvest", prefixes={"x": "2024-05-01T00:00:00"}, agent="silo harvest")
        edit.add_version("1", date="2024-05-01T00:00:00", origin=origin, log="harvested")
        edit.put("1", "x", METADATA % text.encode(), metadata=True)
        edit.set_metadata("setSpec", ["a:b"])


@pytest.fixture
def silo(tmp_path: Path) -> Silo:
    made = Silo(str(tmp_path / "myrepo"))
    for number in range(1, 5):
        harvest(made, f"oai:example.org:{number}", f"Title {number}")
    two = made[TWO]
    two.clone_version("1", "workingcopy", agent="ann", message="title")
    two.put_stream("docs/ü %.txt", "CC BY 4.0")
    two.put_stream("silo.json", "{}")
    two.set_version_state("workingcopy", "ready")
    two.create_new_version("other", message="odd \ud800")
    two.put_stream("empty", "")
    two.set_version_cursor("workingcopy")
    two.sync()
    return made


@pytest.fixture
def root(silo: Silo, tmp_path: Path) -> Path:
    export(silo, tmp_path / "root")
    return tmp_path / "root"


def export(silo: Silo, root: Path) -> None:
    report = Export(silo, OcflTarget(str(root)), Policy(Versions.ALL)).run()
    assert report.whole, report.problems


def call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(import_group, ["ocfl", *arguments], standalone_mode=False)
    code = getattr(result.exception, "exit_code", None) or result.return_value or 0
    return code, result.output + str(result.exception or "")


def what_is_in(silo: Silo) -> dict[str, tuple[Any, ...]]:
    found = {}
    for identifier in silo:
        record = silo[identifier]
        manifest: Manifest = record.state
        contents = {}
        for version in manifest.versions:
            for path in version.paths:
                with record.get_stream(path, version.name) as stream:
                    contents[version.name, path] = stream.read()
        found[identifier] = (
            manifest.versions, manifest.current_version, dict(manifest.metadata), contents,
        )  # fmt: skip
    return found


def test_records_come_back_as_they_were(silo: Silo, root: Path, tmp_path: Path) -> None:
    silo[TWO].put_stream("docs/more.txt", "x")
    export(silo, root)
    back = str(tmp_path / "back")
    assert call(str(root), back) == (
        0, f"{back}: 4 records with 6 versions imported, 0 unchanged, 0 not imported\n",
    )  # fmt: skip
    with Silo(back, create=False) as imported:
        assert what_is_in(imported) == what_is_in(silo)
        assert imported.search("title").total >= 0
    assert "0 records with 0 versions imported, 4 unchanged" in call(str(root), back)[1]
    with Silo(back, create=False) as imported:
        again = tmp_path / "again"
        export(imported, again)
        assert objects(again) == objects(root)


def objects(root: Path) -> list[str]:
    return sorted(str(one.parent.relative_to(root)) for one in root.rglob("0=ocfl_object_1.1"))


def test_versions_removed_since_stay_away_and_deletions_come_back(
    silo: Silo, root: Path, tmp_path: Path
) -> None:
    one = "oai:example.org:1"
    silo[TWO].del_version("other")
    silo[TWO].put_stream("docs/more.txt", "x")
    with silo.batch([one]) as batch:
        edit = batch.edit(one)
        edit.add_version("2", date="2024-06-01T00:00:00", origin=Origin("harvest"))
        edit.set_metadata("deleted_at_version", "2")
        edit.set_metadata("deleted_at_date", "2024-06-01T00:00:00")
    export(silo, root)
    assert call(str(root), str(tmp_path / "back"))[0] == 0
    with Silo(str(tmp_path / "back"), create=False) as back:
        assert back[TWO].versions == ["1", "workingcopy"]
        state = back[one].state
        assert (state.current_version, state.metadata["deleted_at_date"]) == (
            "2", "2024-06-01T00:00:00",
        )  # fmt: skip
        assert is_deletion(state.current)


def test_storage_root_of_ocfl_1_0_comes_too(root: Path, tmp_path: Path) -> None:
    (root / "0=ocfl_1.1").rename(root / "0=ocfl_1.0")
    (root / "0=ocfl_1.0").write_text("ocfl_1.0\n")
    for place in [one.parent for one in root.rglob("0=ocfl_object_1.1")]:
        (place / "0=ocfl_object_1.1").unlink()
        (place / "0=ocfl_object_1.0").write_text("ocfl_object_1.0\n")
        _sealed(place, lambda value: value.update(type="https://ocfl.io/1.0/spec/#inventory"))
    code, said = call(str(root), str(tmp_path / "back"))
    assert (code, "4 records with 6 versions imported" in said) == (0, True), said
    code, said = call(str(root), str(tmp_path / "back2"), "--dry-run")
    assert (code, "4 records with 6 versions would be imported" in said) == (0, True), said
    assert not (tmp_path / "back2").exists()


def test_objects_of_others_become_imported_versions(tmp_path: Path) -> None:
    root = tmp_path / "root"
    StorageRoot(str(root), layout_name=NAMED).initialize()
    for number in (1, 2):
        (tmp_path / f"src{number}").mkdir()
        (tmp_path / f"src{number}" / "a.txt").write_text(f"{number}")
    about = VersionMetadata(created="2020-01-02T03:04:05+01:00", message="first", name="Ann",
                            address="mailto:a@x.org")  # fmt: skip
    place = str(tmp_path / "object")
    Object(identifier="oai:x:1").create(str(tmp_path / "src1"), about, place)
    about = VersionMetadata(created="2021-01-02T03:04:05Z", message="second", name="Ann",
                            address="mailto:a@x.org")  # fmt: skip
    Object().add_version_with_content(place, str(tmp_path / "src2"), about)
    StorageRoot(str(root)).add(place)
    back = str(tmp_path / "back")
    code, said = call(str(root), back)
    assert (code, "1 record with 2 versions imported" in said) == (0, True), said
    with Silo(back, create=False) as silo:
        record = silo["oai:x:1"]
        origin = record.origin("v1")
        assert (origin.kind, origin.agent, origin.message) == ("import", "Ann", "first")
        assert record.state.version("v1").date == "2020-01-02T02:04:05"
        assert not record.is_curated
        assert is_frozen(record.state, "v1")
        record.clone_version("v1", "workingcopy")
        assert not upstream_newer(record.state)
        with silo.batch(["oai:x:1"]) as batch:
            batch.edit("oai:x:1").add_version(
                "1", date="2024-01-01T00:00:00", origin=Origin("harvest"), move_cursor=False
            )
        assert upstream_newer(silo["oai:x:1"].state)


# -- hostile storage roots ------------------------------------------------------------------


def test_stray_files_hide_no_object_and_one_without_its_declaration_is_told(
    root: Path, tmp_path: Path
) -> None:
    """Finder leaves a .DS_Store in every directory that it shows."""
    declared = sorted(root.glob("*/*/*/*/0=ocfl_object_1.1"))
    assert len(declared) == 4
    for one in declared:
        for above in one.parent.parents:
            if above != root and above.is_relative_to(root):
                (above / ".DS_Store").write_bytes(b"\0")
    declared[0].unlink()
    code, said = call(str(root), str(tmp_path / "back"))
    assert (code, "3 records with" in said) == (1, True)
    assert "it is not an OCFL object of version 1.0 or 1.1" in said


def test_what_is_no_storage_root_makes_no_silo(tmp_path: Path, root: Path) -> None:
    (tmp_path / "other").mkdir()
    code, said = call(str(tmp_path / "none"), str(tmp_path / "back"))
    assert (code, "none does not exist" in said) == (2, True)
    for place in (tmp_path / "other", root / "extensions"):
        code, said = call(str(place), str(tmp_path / "back"))
        assert (code, "is not a storage root of OCFL 1.1 or 1.0" in said) == (2, True)
    code, said = call(str(root), str(root / "back"))
    assert (code, "one inside the other" in said) == (2, True)
    assert not (tmp_path / "back").exists()


def _sealed(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change an inventory, and its sidecar with it."""
    value = json.loads((place / "inventory.json").read_text())
    change(value)
    content = json.dumps(value).encode()
    (place / "inventory.json").write_bytes(content)
    digest = hashlib.sha512(content).hexdigest()
    (place / "inventory.json.sha512").write_text(f"{digest} inventory.json\n")


def _first(value: dict[str, Any]) -> str:
    return str(next(iter(value["manifest"])))


def _path(path: str) -> Callable[[dict[str, Any]], object]:
    return lambda value: value["manifest"].update({_first(value): [path]})


def _logical(*paths: str) -> Callable[[dict[str, Any]], object]:
    return lambda value: value["versions"]["v1"]["state"].update({_first(value): list(paths)})


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_path("../../etc/passwd"), "is not allowed"),
        (_path("v1/content/../../../x"), "is not allowed"),
        (_path("/etc/passwd"), "is not allowed"),
        (_path("0=ocfl_object_1.1"), "content is outside its versions"),
        (_path("v9/content/x"), "content is outside its versions"),
        (_path("v1/content/none"), "cannot be read"),
        (_logical("../x"), "is not allowed"),
        (_logical("data/x", "data/x/y"), "a file is also a directory"),
        (_logical("data/x", "data/x"), "a version has a path twice"),
        (_logical("data/" + "x" * 300), "lists other files"),
        (lambda value: value.update(head="v7"), "its head is not the newest version"),
        (lambda value: value.update(id=""), "it has no id"),
        (lambda value: value.update(id="oai:other"), "is that of another record"),
        (lambda value: value.update(digestAlgorithm="md5"), "is not allowed"),
        (lambda value: value.update(contentDirectory=".."), "is not allowed"),
        (lambda value: value.update(type="x"), "another version of OCFL"),
        (lambda value: value.pop("manifest"), "a part has a wrong type"),
        (lambda value: value.update(versions=[]), "a version is missing"),
        (lambda value: value["versions"].update(v01={}), "a version"),
        (lambda value: value["versions"]["v1"].update(created="yesterday"), "wrong type"),
        (lambda value: value["versions"]["v1"].update(state={"00": ["x"]}), "a digest is invalid"),
        (lambda value: value["versions"]["v1"]["state"].update({"0" * 128: ["x"]}),
         "content that is not in the manifest"),
    ],
)  # fmt: skip
def test_hostile_inventory_is_told_and_the_others_come(
    root: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], why: str
) -> None:
    place = root / StorageLayout(HASHED).path("oai:example.org:3")
    _sealed(place, change)
    code, said = call(str(root), str(tmp_path / "back"))
    assert (code, why in said, "3 records" in said) == (1, True, True), said
    assert said.count("was not imported") == 1
    with Silo(str(tmp_path / "back"), create=False) as back:
        assert "oai:example.org:3" not in back
        assert len(back) == 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"version": "../x"}, "version"),
        ({"version": "x" * 300}, "version"),
        ({"origin": {"kind": "hack"}}, "unknown kind of origin"),
        ({"origin": []}, "no valid 'origin'"),
        ({"state": "great"}, "unknown state"),
        ({"date": "yesterday"}, "an invalid date"),
        ({"files": []}, "lists other files"),
        ({"format": 2}, "another format"),
        ({"record": {"versions": ["1"], "current": "9"}}, "does not name a current version"),
        ({"record": {"versions": ["1"], "current": "1", "metadata": {"a": [[[[[]]]]] * 2}}}, ""),
        ({"record": {"versions": "1"}}, "no valid 'versions'"),
    ],
)
def test_hostile_silo_json_is_told(
    root: Path, tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    place = root / StorageLayout(HASHED).path("oai:example.org:3")
    about = json.loads((place / "v1/content/silo.json").read_text()) | changes
    _replaced(place, "v1/content/silo.json", json.dumps(about).encode())
    code, said = call(str(root), str(tmp_path / "back"))
    assert why in said
    assert (code, said.count("was not imported")) == ((1, 1) if why else (0, 0)), said


def _replaced(place: Path, path: str, content: bytes) -> None:
    (place / path).write_bytes(content)
    new = hashlib.sha512(content).hexdigest()

    def change(value: dict[str, Any]) -> None:
        old = next(digest for digest, paths in value["manifest"].items() if path in paths)
        value["manifest"][new] = value["manifest"].pop(old)
        for version in value["versions"].values():
            version["state"][new] = version["state"].pop(old)

    _sealed(place, change)


def test_damaged_content_links_and_wrong_sizes_are_told(root: Path, tmp_path: Path) -> None:
    places = [
        root / StorageLayout(HASHED).path(f"oai:example.org:{number}") for number in (1, 3, 4)
    ]
    with (places[0] / "v1/content/data/x").open("ab") as file:
        file.write(b"x")
    (places[1] / "v1/content/data/x").unlink()
    (places[1] / "v1/content/data/x").symlink_to("/etc/passwd")
    shutil.copytree(places[2], root / "aaa/copy")
    code, said = call(str(root), str(tmp_path / "back"))
    assert code == 1
    assert "v1/content/data/x is damaged" in said
    assert "is reached through a symbolic link" in said
    assert "oai:example.org:4 (again) was not imported" in said
    assert "2 records" in said


def test_records_that_differ_are_kept(silo: Silo, root: Path) -> None:
    silo[TWO].put_stream("docs/more.txt", "x")
    before = what_is_in(silo)
    code, said = call(str(root), silo.path)
    assert code == 1
    assert f"{TWO} was not imported: the Silo has a record of this identifier with other" in said
    assert what_is_in(silo) == before


@pytest.mark.long
def test_an_import_killed_again_and_again_ends_whole(silo: Silo, tmp_path: Path) -> None:
    for number in range(5, 150):
        harvest(silo, f"oai:example.org:{number}", f"Title {number}")
    root, back = tmp_path / "root", str(tmp_path / "back")
    export(silo, root)
    chance = random.Random(3)
    killed = 0
    for _ in range(8):
        step = str(chance.randrange(1, 60))
        code = exit_code_of(killed_import.__file__, "ocfl", str(root), back, step)
        killed += code == KILLED
    assert killed
    assert call(str(root), back)[0] == 0
    with Silo(back, create=False) as imported:
        assert what_is_in(imported) == what_is_in(silo)
