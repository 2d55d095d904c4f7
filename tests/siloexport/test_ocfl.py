"""Storage roots of OCFL pass the suite of all targets, and the validator of others (ocfl-py)."""

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from conformance import LIVE, ODD, Change, Content, DiskTargetContract, Rig
from ocfl import StorageRoot
from ocfl.validator import Validator

from infopackages.ocfl.layouts import HASHED, NAMED, OMITTING, StorageLayout
from recordsilo import Silo
from siloexport import Export, OcflTarget, OnConflict, Policy, Selection, Target, Versions
from siloexport.commands.export import export
from siloexport.errors import TargetUnusable
from siloexport.report import RunReport
from siloexport.targets import ocfl_writing

TWO = "oai:example.org:2"


def is_valid(root: Path) -> int:
    """Check a storage root and each object by ocfl-py; returns the number of objects.

    Its check of whole roots knows the layout 0003; in others, the directories are walked here.
    """
    declared = json.loads((root / "ocfl_layout.json").read_text())["extension"]
    found = objects(root)
    if declared == NAMED:
        opened = StorageRoot(str(root))
        assert opened.validate(log_warnings=True, log_errors=True)
        assert (opened.num_objects, opened.good_objects) == (len(found), len(found))
        assert not opened.errors
    config = json.loads((root / "extensions" / declared / "config.json").read_text())
    for path in found:
        validator = Validator(log_warnings=True, log_errors=True)
        assert validator.validate_object(str(path)), validator.status_str()
        assert validator.status_str() == ""
        identifier = json.loads((path / "inventory.json").read_text())["id"]
        config.pop("extensionName", None)
        assert str(path.relative_to(root)) == StorageLayout(declared, config).path(identifier)
    assert [path for path in root.rglob("*") if path.is_dir() and not os.listdir(path)] == []
    assert os.listdir(root / "extensions") == [declared]
    return len(found)


def objects(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.rglob("0=ocfl_object_1.1"))


class OcflRig:
    def __init__(self, root: Path, versions: Versions = Versions.ALL, layout: str = HASHED) -> None:
        self.root, self.versions, self.layout = root, versions, layout

    def target(self) -> Target:
        return OcflTarget(str(self.root), self.layout)

    def path(self, identifier: str) -> Path:
        return self.root / StorageLayout(self.layout).path(identifier)

    def inventory(self, identifier: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path(identifier) / "inventory.json").read_text())
        return found

    def holds(self, identifier: str) -> Content:
        place = self.path(identifier)
        if not place.exists():
            return []
        inventory = self.inventory(identifier)
        found = []
        for version in inventory["versions"].values():
            files = {
                path: (place / inventory["manifest"][digest][0]).read_bytes()
                for digest, paths in version["state"].items()
                for path in paths
            }
            about = json.loads(files.pop("silo.json"))
            data = {path.removeprefix("data/"): content for path, content in files.items()}
            found.append((about["version"], data))
        return found

    def spoil(self, identifier: str) -> None:
        places = sorted(self.path(identifier).rglob("content/data/oai_dc"))
        with places[0].open("ab") as file:
            file.write(b"\n")


class TestStorageRoot(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> Iterator[OcflRig]:
        rig = OcflRig(tmp_path / "root", Versions.CURRENT, NAMED)
        yield rig
        check_unless_spoiled(rig)


@pytest.mark.long
@pytest.mark.long
class TestAllVersionsWithoutExchange(DiskTargetContract):
    """Each version of a record, where the file system cannot exchange two directories."""

    @pytest.fixture
    def rig(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OcflRig]:
        monkeypatch.setattr(ocfl_writing, "exchange", lambda *_: False)
        rig = OcflRig(tmp_path / "root")
        yield rig
        check_unless_spoiled(rig)

    def test_verification_is_clean_after_a_run_and_names_what_was_changed(
        self, silo: Silo, rig: Rig
    ) -> None:
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        report = Export(silo, rig.target()).verify()
        assert (report.records, report.versions, report.differences) == (3, 4, 0)
        rig.spoil(TWO)
        report = Export(silo, rig.target()).verify()
        assert {one.identifier for one in report.first} == {TWO}

    def test_verification_leaves_out_what_the_silo_has_newer(self, silo: Silo, rig: Rig) -> None:
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        silo["2"].put_stream("notes.txt", "seen")
        report = Export(silo, rig.target()).verify()
        assert (report.outdated, report.versions, report.differences) == (1, 3, 0)


def check_unless_spoiled(rig: OcflRig) -> None:
    if rig.root.exists() and not any(map(_is_spoiled, objects(rig.root))):
        is_valid(rig.root)


def _is_spoiled(path: Path) -> bool:
    return any(one.read_bytes().endswith(b"\n") for one in path.rglob("content/data/oai_dc"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def run(silo: Silo, target: Target, **policy: Any) -> None:
    report = Export(silo, target, Policy(Versions.ALL, **policy)).run()
    assert report.whole, report.problems


def test_validator_of_the_tests_finds_errors_and_warnings(silo: Silo, root: Path) -> None:
    rig = OcflRig(root, layout=NAMED)
    run(silo, rig.target())
    assert is_valid(root) == 3
    (rig.path(TWO) / "extensions" / "odd").mkdir(parents=True)
    with pytest.raises(AssertionError, match="W013"):
        is_valid(root)
    rig.spoil(LIVE[0])
    with pytest.raises(AssertionError):
        is_valid(root)


def test_each_version_says_who_made_it_when_and_why(silo: Silo, root: Path) -> None:
    with silo.batch([TWO]) as batch:
        made = batch.edit(TWO).manifest.version("workingcopy").origin
    silo[TWO].create_new_version("ed", agent="Ann <ann@example.org>", message="typing error")
    silo[TWO].put_stream("a.txt", "x")
    rig = OcflRig(root)
    run(silo, OcflTarget(str(root), now=lambda: datetime(2026, 3, 1, 10, tzinfo=UTC)))
    one, two, three = rig.inventory(TWO)["versions"].values()
    assert (one["created"], one["message"]) == ("2024-05-01T00:00:00Z", "version 1: harvested")
    assert one["user"] == {"name": "silo", "address": "about:blank"}
    assert two["created"] == f"{made.date}Z"
    assert three["message"] == "version ed: typing error"
    assert three["user"] == {"name": "Ann <ann@example.org>", "address": "mailto:ann@example.org"}
    silo[TWO].put_stream("a.txt", "y")
    run(silo, OcflTarget(str(root), now=lambda: datetime(2026, 3, 1, 10, tzinfo=UTC)))
    assert [name for name, _ in rig.holds(TWO)] == ["1", "workingcopy", "ed", "ed"]
    assert rig.inventory(TWO)["versions"]["v4"]["created"] == "2026-03-01T10:00:00Z"


def test_content_is_stored_once_and_earlier_versions_stay(silo: Silo, root: Path) -> None:
    rig = OcflRig(root)
    run(silo, rig.target())
    place = rig.path(TWO)
    before = {path: path.read_bytes() for path in place.glob("v*/**/*") if path.is_file()}
    assert len([path for path in before if path.name == "oai_dc"]) == 1
    for number in range(3):
        silo[TWO].put_stream(f"docs/{number}.txt", "x")
        run(silo, rig.target())
    names = [path.name for path in place.rglob("*.txt")]
    assert sorted(names) == ["0.txt", "licence.txt"]
    for path, content in before.items():
        assert path.read_bytes() == content
    assert len(rig.holds(TWO)) == 5
    assert is_valid(root) == 3


def test_state_of_a_version_is_a_change(silo: Silo, root: Path) -> None:
    rig = OcflRig(root)
    run(silo, rig.target())
    silo[TWO].set_version_state("workingcopy", "ready")
    run(silo, rig.target())
    assert [name for name, _ in rig.holds(TWO)] == ["1", "workingcopy", "workingcopy"]
    assert Export(silo, rig.target(), Policy(Versions.ALL)).run().written == 0


def test_deletion_at_the_source_is_a_version(
    silo: Silo, root: Path, delete_at_source: Change, harvest: Change
) -> None:
    rig = OcflRig(root)
    run(silo, rig.target())
    delete_at_source(silo, LIVE[0])
    run(silo, rig.target())
    assert [name for name, _ in rig.holds(LIVE[0])] == ["1", "1"]
    assert Export(silo, rig.target(), Policy(Versions.ALL)).run().written == 0
    assert Export(silo, rig.target(), Policy(Versions.ALL)).verify().differences == 0
    assert Export(silo, rig.target(), Policy(Versions.ALL)).reconcile().changed == 0
    assert is_valid(root) == 3


@pytest.mark.parametrize(
    ("layout", "identifier", "path"),
    [
        (StorageLayout(HASHED), "object-01",
         "3c0/ff4/240/3c0ff4240c1e116dba14c7627f2319b58aa3d77606d0d90dfc6161608ac987d4"),
        (StorageLayout(HASHED, {"digestAlgorithm": "md5", "tupleSize": 2, "numberOfTuples": 15,
                         "shortObjectRoot": True}), "object-01",
         "ff/75/53/44/92/48/5e/ab/b3/9f/86/35/67/28/88/4e"),
        (StorageLayout(HASHED, {"tupleSize": 0, "numberOfTuples": 0}), "object-01",
         "3c0ff4240c1e116dba14c7627f2319b58aa3d77606d0d90dfc6161608ac987d4"),
        (StorageLayout(NAMED), "object-01", "3c0/ff4/240/object-01"),
        (StorageLayout(NAMED), "..hor/rib:le-$id", "487/326/d8c/%2e%2ehor%2frib%3ale-%24id"),
        (StorageLayout(OMITTING, {"tupleSize": 4, "numberOfTuples": 2}), "namespace:12887296",
         "1288/7296/12887296"),
        (StorageLayout(OMITTING, {"tupleSize": 4, "numberOfTuples": 2}),
         "urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66",
         "6e8b/c430/6e8bc430-9c3a-11d9-9669-0800200c9a66"),
        (StorageLayout(
            OMITTING, {"reverseObjectRoot": True, "delimiter": "edu/", "zeroPadding": "right"}),
         "https://institution.edu/3448793", "397/844/300/3448793"),
    ],
)  # fmt: skip
def test_layouts_are_those_of_their_specifications(
    layout: StorageLayout, identifier: str, path: str
) -> None:
    assert layout.path(identifier) == path


@pytest.mark.parametrize("layout", [NAMED, OMITTING])
def test_layout_is_kept_and_another_is_refused(silo: Silo, root: Path, layout: str) -> None:
    rig = OcflRig(root, layout=layout)
    run(silo, rig.target())
    assert is_valid(root) == 3
    assert Export(silo, OcflTarget(str(root)), Policy(Versions.ALL)).run().written == 0
    with pytest.raises(TargetUnusable, match=f"has the layout {layout}; name another directory"):
        OcflTarget(str(root), HASHED).probe()


def test_layout_that_omits_prefixes_has_no_place_for_some(
    silo: Silo, root: Path, harvest: Change
) -> None:
    harvest(silo, ODD[0], "Odd")
    report = Export(silo, OcflTarget(str(root), OMITTING)).run()
    reasons = {one.identifier: one.reason for one in report.problems}
    assert "has no place in a layout that omits the prefix" in reasons.pop(ODD[0])
    harvest(silo, "oai:other.org:1", "Same")
    report = Export(silo, OcflTarget(str(root))).run(Selection(identifiers=("oai:other.org:1",)))
    assert "is the object of another record, oai:example.org:1" in report.problems[0].reason
    assert is_valid(root) == 3


def _call(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(export, list(arguments), standalone_mode=False)
    code = getattr(result.exception, "exit_code", None) or result.return_value or 0
    return code, result.output + str(result.exception or "")


def test_command_exports_all_versions_verifies_and_rolls_back(silo: Silo, root: Path) -> None:
    code, said = _call("ocfl", silo.path, str(root), "--layout", "0003")
    assert (code, "3 created" in said) == (0, True)
    assert is_valid(root) == 3
    code, said = _call("verify", silo.path, str(root))
    assert (code, "4 versions of 3 records compared, 0 differences" in said) == (0, True)
    assert _call("ocfl", silo.path, str(root))[0] == 0
    run_id = Export(silo, OcflTarget(str(root))).status().runs[-1][0]
    assert _call("rollback", silo.path, str(root), run_id)[0] == 0
    assert is_valid(root) == 0


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"a.txt": "x"}, "is not a storage root of OCFL 1.1"),
        ({"0=ocfl_1.0": "ocfl_1.0\n"}, "is not a storage root of OCFL 1.1"),
        ({"0=ocfl_1.1": "ocfl_1.1\n"}, "declares no layout"),
        ({"0=ocfl_1.1": "ocfl_1.1\n", "ocfl_layout.json": "{"}, "ocfl_layout.json is invalid"),
        ({"0=ocfl_1.1": "ocfl_1.1\n", "ocfl_layout.json": '{"extension": "../x"}'},
         "ocfl_layout.json is invalid"),
        ({"0=ocfl_1.1": "ocfl_1.1\n",
          "ocfl_layout.json": '{"extension": "0002-flat-direct-storage-layout"}'},
         "the layout 0002-flat-direct-storage-layout is not supported"),
        ({".silo-export": "export: bags 12\nform: bag\n"}, "holds an export as bags"),
    ],
)  # fmt: skip
def test_what_is_no_storage_root_is_refused_in_a_sentence(
    silo: Silo, root: Path, files: dict[str, str], why: str
) -> None:
    root.mkdir()
    for name, content in files.items():
        (root / name).write_text(content)
    code, said = _call("ocfl", silo.path, str(root))
    assert (code, why in said) == (3, True), said
    assert sorted(os.listdir(root)) == sorted(files)


def test_object_that_cannot_be_read_is_told_and_kept(silo: Silo, root: Path) -> None:
    rig = OcflRig(root)
    run(silo, rig.target())
    inventory = rig.path(TWO) / "inventory.json"
    inventory.write_text(inventory.read_text().replace("harvested", "made up"))
    before = inventory.read_bytes()
    silo[TWO].put_stream("a.txt", "x")
    report = Export(silo, rig.target(), Policy(Versions.ALL)).run()
    (problem,) = report.problems
    assert "its inventory is not the one of which inventory.json.sha512 has" in problem.reason
    assert problem.reason.endswith(
        "; v2 has a sound copy: copy inventory.json and inventory.json.sha512 out of it; or remove "
        "inventory.json, and --on-conflict overwrite writes the object again, and keeps what is "
        "there in extensions/silo-set-aside"
    )
    assert inventory.read_bytes() == before
    (found,) = Export(silo, rig.target(), Policy(Versions.ALL)).verify(
        Selection(identifiers=(LIVE[2], TWO))
    ).first or [None]
    assert found is None or found.identifier == TWO
    copy = rig.path(TWO) / "v2" / "inventory.json"
    shutil.copy(copy, inventory)
    sound, broken = copy.read_bytes(), copy.read_bytes()[:-9]
    for one in (inventory, copy):
        one.write_bytes(broken)
    report = Export(silo, rig.target(), Policy(Versions.ALL)).run()
    assert "bring it and its digest back from a backup; or" in report.problems[0].reason
    inventory.write_bytes(sound)
    copy.write_bytes(sound)
    assert Export(silo, rig.target(), Policy(Versions.ALL)).run().whole


def test_objects_of_others_are_left_alone(silo: Silo, root: Path) -> None:
    rig = OcflRig(root)
    run(silo, rig.target())
    shutil.copytree(rig.path(LIVE[0]), root / "abc/def/012/other")
    run(silo, rig.target())
    assert (root / "abc/def/012/other/inventory.json").exists()


def test_an_object_without_an_inventory_is_written_again_and_what_was_there_is_kept(
    silo: Silo, root: Path
) -> None:
    rig = OcflRig(root)
    run(silo, rig.target())
    whole = rig.holds(TWO)
    for sidecar in rig.path(TWO).glob("inventory.json*"):
        sidecar.unlink()
    left = sorted(str(one.relative_to(rig.path(TWO))) for one in rig.path(TWO).rglob("*"))

    def again(**how: Any) -> RunReport:
        return Export(silo, rig.target(), Policy(Versions.ALL)).run(**how)

    for dry_run in (True, False):
        report = again(dry_run=dry_run)
        assert (report.conflicts, report.written) == (1, 0)
        assert "has no inventory.json; --on-conflict overwrite" in report.problems[0].reason
    planned = again(dry_run=True, on_conflict=OnConflict.OVERWRITE)
    report = again(on_conflict=OnConflict.OVERWRITE)
    versions = len(whole)
    assert (planned.whole, report.whole) == (True, True)
    assert planned.written == report.written == versions > 1
    (aside,) = (root / "extensions" / "silo-set-aside").iterdir()
    assert any(aside.name in one.reason for one in report.remarks)
    assert sorted(str(one.relative_to(aside)) for one in aside.rglob("*")) == left
    assert rig.holds(TWO) == whole
    assert Export(silo, rig.target(), Policy(Versions.ALL)).verify().differences == 0
    assert (again().written, again().conflicts) == (0, 0)
    shutil.rmtree(aside.parent)
    assert is_valid(root) == 3
