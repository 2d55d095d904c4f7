"""Plain files and bags pass the suite of all targets; bags are read by the bagit package."""

import errno
import hashlib
import json
import shutil
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bagit
import pytest
from conformance import Content, DiskTargetContract
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.disk.names import check_path
from recordsilo.errors import PathNameError
from siloexport import (
    BagTarget,
    Export,
    FilesTarget,
    OnConflict,
    Policy,
    Selection,
    Target,
    Versions,
)
from siloexport.errors import DepositFailed, LedgerInUse
from siloexport.targets.directory import MARKER, directory_name, failing_as
from siloexport.targets.rocrate import CrateTarget


def _can_be_named(name: str) -> bool:
    try:
        check_path(f"named/{name}")
    except PathNameError:
        return False
    return "/" not in name


names = st.text(st.characters(categories=["L", "M", "N", "P", "S", "Z"]), min_size=1, max_size=9)
names = st.one_of(names, st.text("%^~ \u2028\u0085\xa0a0e\u0301$\\*", min_size=1, max_size=9))
names = names.filter(_can_be_named)


class FilesRig:
    def __init__(self, directory: Path, versions: Versions) -> None:
        self.directory, self.versions = directory, versions

    def target(self) -> Target:
        return FilesTarget(str(self.directory), self.versions)

    def holds(self, identifier: str) -> Content:
        place = self.directory / directory_name(identifier)
        if not place.is_dir():
            return []
        if self.versions is Versions.CURRENT:
            return [(self._current(identifier), _files_below(place))]
        found = [(below.name, _files_below(below)) for below in place.iterdir()]
        return sorted(found, key=lambda one: (one[0] == self._current(identifier), one[0]))

    def _current(self, identifier: str) -> str:
        target = self.target()
        target.probe()
        found = target.find(identifier)
        return found.versions[-1].version if found and found.versions else ""

    def spoil(self, identifier: str) -> None:
        place = self.directory / directory_name(identifier)
        next(path for path in sorted(place.rglob("*")) if path.is_file()).write_bytes(b"spoiled")


class BagRig:
    versions = Versions.ALL

    def __init__(self, directory: Path, unpacked: Path) -> None:
        self.directory, self.unpacked = directory, unpacked

    def target(self) -> Target:
        return BagTarget(str(self.directory))

    def path(self, identifier: str) -> Path:
        return self.directory / f"{directory_name(identifier)}.tar"

    def holds(self, identifier: str) -> Content:
        if not self.path(identifier).exists():
            return []
        with tarfile.open(self.path(identifier)) as tar:
            members = {
                member.name.partition("/")[2]: file.read()
                for member in tar
                if (file := tar.extractfile(member)) is not None
            }
        info = members["bag-info.txt"].decode()
        names = [
            line.split(": ", 1)[1].split()[0]
            for line in info.splitlines()
            if line.startswith("Silo-Version: ")
        ]
        return [(name, _below(members, f"data/{name}/")) for name in names]

    def spoil(self, identifier: str) -> None:
        content = bytearray(self.path(identifier).read_bytes())
        content[600] ^= 1
        self.path(identifier).write_bytes(bytes(content))

    def bag(self, identifier: str) -> bagit.Bag:
        with tarfile.open(self.path(identifier)) as tar:
            tar.extractall(self.unpacked, filter="data")
        return bagit.Bag(str(self.unpacked / directory_name(identifier)))


def _files_below(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def _below(members: dict[str, bytes], prefix: str) -> dict[str, bytes]:
    return {
        name.removeprefix(prefix): content
        for name, content in members.items()
        if name.startswith(prefix)
    }


class TestFiles(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> FilesRig:
        return FilesRig(tmp_path / "out", Versions.CURRENT)


class TestFilesOfAllVersions(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> FilesRig:
        return FilesRig(tmp_path / "out", Versions.ALL)

    @pytest.mark.parametrize(
        ("name", "version"),
        [
            ("1/oai_dc", "1"),
            ("1/extra", "1"),
            ("workingcopy/oai_dc", "workingcopy"),
            ("extra", ""),
        ],
    )
    def test_difference_names_the_version_it_is_in(
        self, silo: Silo, rig: FilesRig, name: str, version: str
    ) -> None:
        identifier = "oai:example.org:2"
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        (rig.directory / directory_name(identifier) / name).write_bytes(b"spoiled")
        (found,) = Export(silo, rig.target(), Policy(Versions.ALL)).verify().first
        assert (found.identifier, found.version) == (identifier, version)


def test_link_to_nothing_is_a_difference_and_can_be_replaced(silo: Silo, tmp_path: Path) -> None:
    rig = FilesRig(tmp_path / "out", Versions.CURRENT)
    identifier = "oai:example.org:2"
    Export(silo, rig.target()).run()
    place = rig.directory / directory_name(identifier) / "oai_dc"
    content = place.read_bytes()
    place.unlink()
    place.symlink_to(tmp_path / "nowhere")
    (found,) = Export(silo, rig.target()).verify().first
    assert found.identifier == identifier
    report = Export(silo, rig.target()).run(on_conflict=OnConflict.OVERWRITE)
    assert (report.whole, report.written) == (True, 1)
    assert place.read_bytes() == content


class TestBags(DiskTargetContract):
    @pytest.fixture
    def rig(self, tmp_path: Path) -> BagRig:
        return BagRig(tmp_path / "bags", tmp_path / "unpacked")

    def test_bagit_finds_every_bag_sound_and_complete(self, silo: Silo, rig: BagRig) -> None:
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        bag = rig.bag("oai:example.org:2")
        bag.validate()
        assert bag.algorithms == ["sha512"]
        assert bag.info["External-Identifier"] == "oai:example.org:2"
        assert sorted(bag.payload_files()) == [
            "data/1/oai_dc",
            "data/1/oai_dc.xml",
            "data/workingcopy/docs/licence.txt",
            "data/workingcopy/oai_dc",
            "data/workingcopy/oai_dc.xml",
        ]
        assert bag.info["Payload-Oxum"].endswith(".5")
        assert [one.split()[0] for one in bag.info["Silo-Version"]] == ["1", "workingcopy"]

    def test_versions_tell_when_they_were_made_and_the_sources_datestamp(
        self, silo: Silo, rig: BagRig
    ) -> None:
        made = silo["2"].origin("workingcopy").date
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        bag = rig.bag("oai:example.org:2")
        told = json.loads(Path(bag.path, "silo.json").read_text())["versions"]
        assert [(one["made"], one["source_datestamp"]) for one in told] == [
            ("", "2024-05-01T00:00:00"), (made, "2024-05-01T00:00:00"),
        ]  # fmt: skip
        assert [one.split()[:2] for one in bag.info["Silo-Version"]] == [
            ["1", "undated"], ["workingcopy", made],
        ]  # fmt: skip

    @pytest.mark.parametrize("gone", ["bagit.txt", "data"])
    def test_what_is_not_in_a_bag_is_named_in_its_tar_file(
        self, silo: Silo, rig: BagRig, gone: str
    ) -> None:
        identifier = "oai:example.org:3"
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        below, place = Path(rig.bag(identifier).path), rig.path(identifier)
        shutil.rmtree(below / gone) if gone == "data" else (below / gone).unlink()
        with tarfile.open(place, "w") as tar:
            tar.add(below, below.name)
        first, *_ = Export(silo, rig.target(), Policy(Versions.ALL)).verify().first
        assert f"{place.name}/{below.name}/{gone}" in first.detail
        assert "silo-bag-" not in first.detail

    def test_tar_file_of_another_size_is_a_conflict(self, silo: Silo, rig: BagRig) -> None:
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        rig.path("oai:example.org:3").write_bytes(b"")
        for dry_run in (True, False):
            report = Export(silo, rig.target(), Policy(Versions.ALL)).run(dry_run=dry_run)
            assert (report.conflicts, report.missing, report.written) == (1, 0, 0)
        run = Export(silo, rig.target(), Policy(Versions.ALL)).run
        assert run(on_conflict=OnConflict.OVERWRITE).written == 1
        assert run().written == 0

    def test_same_versions_make_the_same_bytes(
        self, silo: Silo, rig: BagRig, tmp_path: Path
    ) -> None:
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        Export(silo, BagTarget(str(tmp_path / "again")), Policy(Versions.ALL)).run(jobs=3)
        for path in (tmp_path / "bags").glob("*.tar"):
            assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()

    @settings(
        suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12
    )
    @given(st.sets(names, min_size=1, max_size=4))
    @example({"100%0A really.txt", "100%25.txt", "100^25.txt", "a ", "a\u2028b", "$HOME", "~"})
    @example({"e\u0301", "\u00e9", "e^cc^81", "%" * 250, "^25" * 75 + "~" + "0" * 24})
    def test_whatever_files_are_named_bagit_takes_the_bag(
        self, silo: Silo, rig: BagRig, found: set[str]
    ) -> None:
        record = silo["2"]
        for path in record.paths("workingcopy"):
            if path.startswith("named/"):
                record.del_stream(path)
        for name in found:
            record.put_stream(f"named/{name}", name)
        shutil.rmtree(rig.unpacked, ignore_errors=True)
        only = Selection(identifiers=("oai:example.org:2",))
        assert Export(silo, rig.target(), Policy(Versions.ALL)).run(only).whole
        bag = rig.bag("oai:example.org:2")
        bag.validate()
        about = json.loads(Path(bag.path, "silo.json").read_text("utf-8"))
        told = {one["path"]: one.get("in_bag", f"data/workingcopy/{one['path']}")
                for one in about["versions"][1]["files"]}  # fmt: skip
        for name in found:
            assert Path(bag.path, told[f"named/{name}"]).read_text("utf-8") == name
        assert Export(silo, rig.target(), Policy(Versions.ALL)).verify(only).differences == 0

    def test_bag_with_a_link_is_not_unpacked(self, silo: Silo, rig: BagRig) -> None:
        identifier = "oai:example.org:2"
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        with tarfile.open(rig.path(identifier), "a") as tar:
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "bagit.txt"
            tar.addfile(link)
        report = Export(silo, rig.target(), Policy(Versions.ALL)).verify()
        assert [one.identifier for one in report.first] == [identifier]
        assert "link is not a plain file" in str(report.first[0])

    @pytest.mark.parametrize("seal", [False, True])
    @pytest.mark.parametrize("tag", ["silo.json", "bag-info.txt"])
    @pytest.mark.parametrize("name", ["plain.txt", "100% sure.txt"])
    def test_changed_tag_file_is_a_difference(
        self, silo: Silo, rig: BagRig, tag: str, name: str, seal: bool
    ) -> None:
        identifier = "oai:example.org:2"
        silo[identifier].put_stream(name, "x")
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        below = Path(rig.bag(identifier).path)
        content = (below / tag).read_bytes() + b"\n"
        (below / tag).write_bytes(content)
        if seal:  # as whoever knows BagIt would
            manifest = below / "tagmanifest-sha512.txt"
            sums = [line.split("  ") for line in manifest.read_text().splitlines()]
            manifest.write_text("".join(
                f"{hashlib.sha512(content).hexdigest() if path == tag else digest}  {path}\n"
                for digest, path in sums
            ))  # fmt: skip
            bagit.Bag(str(below)).validate()
        with tarfile.open(rig.path(identifier), "w") as tar:
            tar.add(below, below.name)
        report = Export(silo, rig.target(), Policy(Versions.ALL)).verify()
        assert {one.identifier for one in report.first} == {identifier}

    @pytest.mark.parametrize(
        ("name", "version"),
        [
            ("data/1/oai_dc", "1"),
            ("data/50^25/a.txt", "50%"),
            ("data/workingcopy/oai_dc", "workingcopy"),
            ("bag-info.txt", ""),
        ],
    )
    def test_difference_names_the_version_it_is_in(
        self, silo: Silo, rig: BagRig, name: str, version: str
    ) -> None:
        identifier = "oai:example.org:2"
        silo[identifier].create_new_version("50%")
        silo[identifier].put_stream("a.txt", "x")
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        below = Path(rig.bag(identifier).path)
        content = (below / name).read_bytes()
        (below / name).write_bytes(bytes(octet ^ 1 for octet in content))
        with tarfile.open(rig.path(identifier), "w") as tar:
            tar.add(below, below.name)
        report = Export(silo, rig.target(), Policy(Versions.ALL)).verify()
        assert {one.version for one in report.first} == {version}

    def test_text_that_no_file_can_hold_is_told_in_a_sentence(
        self, silo: Silo, rig: BagRig
    ) -> None:
        silo["2"].create_new_version("odd", message="half a pair: \ud800")
        silo["2"].put_stream("a.txt", "x")
        report = Export(silo, rig.target(), Policy(Versions.ALL)).run()
        (problem,) = report.problems
        assert problem.identifier == "oai:example.org:2"
        assert "half a surrogate pair" in problem.reason
        assert sorted(path.stem for path in rig.directory.glob("*.tar")) == [
            "oai+example,org+1", "oai+example,org+3",
        ]  # fmt: skip

    def test_sound_bag_of_something_else_is_a_difference(self, silo: Silo, rig: BagRig) -> None:
        Export(silo, rig.target(), Policy(Versions.ALL)).run()
        rig.path("oai:example.org:3").write_bytes(rig.path("oai:example.org:1").read_bytes())
        report = Export(silo, rig.target()).verify()
        assert {one.identifier for one in report.first} == {"oai:example.org:3"}
        assert any("differs from the Silo" in one.detail for one in report.first)


def test_error_names_the_record_and_not_where_it_is_written_meanwhile() -> None:
    staged = "/out/.silo-export-17-0123abcd/a/b"
    with pytest.raises(DepositFailed) as told, failing_as("out", "oai:x.org:1"):
        raise OSError(errno.ENAMETOOLONG, "File name too long", staged)
    assert told.value.reason == "/out/oai+x,org+1/a/b: File name too long"


@pytest.mark.parametrize("kind", [FilesTarget, BagTarget])
def test_of_exports_that_begin_at_once_in_a_new_directory_one_goes_on(
    tmp_path: Path, kind: type[FilesTarget] | type[BagTarget]
) -> None:
    targets = [kind(str(tmp_path / "new")) for _ in range(4)]
    for target in targets:
        target.probe()
    begin = threading.Barrier(len(targets))

    def prepare(target: Target) -> str:
        begin.wait()
        try:
            target.prepare()
        except LedgerInUse as error:
            return str(error)
        return ""

    with ThreadPoolExecutor(len(targets)) as threads:
        said = list(threads.map(prepare, targets))
    refused = f"another export to {tmp_path / 'new'} has begun; wait until it ends"
    assert sorted(said) == ["", *[refused] * 3]
    again = kind(str(tmp_path / "new"))
    again.probe()
    again.prepare()
    assert again.key == targets[said.index("")].key
    assert [path.name for path in (tmp_path / "new").iterdir() if path.is_file()] == [MARKER]


@pytest.mark.parametrize("made", [FilesTarget, CrateTarget], ids=["files", "crates"])
@pytest.mark.parametrize("versions", [Versions.CURRENT, Versions.ALL])
def test_files_that_others_removed_from_a_record_are_written_again(
    silo: Silo, tmp_path: Path, made: type[FilesTarget | CrateTarget], versions: Versions
) -> None:
    def export() -> Export:
        return Export(silo, made(str(tmp_path / "out"), versions), Policy(versions))

    first = export().run()
    assert (first.whole, export().run().written) == (True, 0)
    place = tmp_path / "out" / directory_name("oai:example.org:2")
    whole = _files_below(place)
    for gone in sorted(whole):
        (place / gone).unlink()
        planned = export().run(dry_run=True)
        assert (planned.written, planned.conflicts, planned.failed) == (1, 0, 0), gone
        report = export().run()
        assert (report.written, report.whole, _files_below(place)) == (1, True, whole), gone
        assert export().verify().differences == 0


@pytest.mark.parametrize("made", [FilesTarget, CrateTarget], ids=["files", "crates"])
def test_what_others_changed_or_added_in_a_record_is_a_conflict_though_a_file_is_gone(
    silo: Silo, tmp_path: Path, made: type[FilesTarget | CrateTarget]
) -> None:
    def export() -> Export:
        return Export(silo, made(str(tmp_path / "out")))

    export().run()
    place = tmp_path / "out" / directory_name("oai:example.org:2")
    one, other, *_ = sorted(_files_below(place))
    (place / one).unlink()
    for spoil in (
        lambda: [(place / name).write_bytes(b"") for name in ("added", "too")],
        lambda: (
            [(place / name).unlink() for name in ("added", "too")]
            + [(place / other).write_bytes(b"another")]
        ),
    ):
        spoil()
        for dry_run in (True, False):
            report = export().run(dry_run=dry_run)
            assert (report.conflicts, report.written) == (1, 0)
    assert export().run(on_conflict=OnConflict.OVERWRITE).written == 1
    assert (export().verify().differences, export().run().written) == (0, 0)
