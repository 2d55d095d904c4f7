"""`Export` to plain files: what is written, left unchanged and reported."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Silo
from recordsilo.selection import filters_from
from siloexport import (
    ActionKind,
    Deletions,
    Export,
    FilesTarget,
    OnConflict,
    Policy,
    Progress,
    RunReport,
    Selection,
    TargetUnusable,
    Versions,
    Watch,
)
from siloexport.targets.directory import directory_name

Change = Callable[..., None]


def export(silo: Silo, target: FilesTarget, selection: Selection | None = None) -> RunReport:
    return Export(silo, target).run(selection or Selection())


def done(report: RunReport) -> dict[str, int]:
    return {str(kind): number for kind, number in report.actions.items() if number}


def tree(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.relative_to(directory).parts[0].startswith(".silo")
    }


def test_each_live_record_becomes_a_directory_of_its_current_version(
    silo: Silo, tmp_path: Path
) -> None:
    report = export(silo, FilesTarget(str(tmp_path / "out")))
    assert report.whole
    assert done(report) == {"create": 3, "leave": 1}
    found = tree(tmp_path / "out")
    assert sorted(found) == [
        "oai+example,org+1/oai_dc",
        "oai+example,org+1/oai_dc.xml",
        "oai+example,org+2/docs/licence.txt",
        "oai+example,org+2/oai_dc",
        "oai+example,org+2/oai_dc.xml",
        "oai+example,org+3/oai_dc",
        "oai+example,org+3/oai_dc.xml",
    ]
    assert found["oai+example,org+2/docs/licence.txt"] == b"CC BY 4.0"
    with silo["1"].get_stream("oai_dc") as stream:
        assert found["oai+example,org+1/oai_dc"] == stream.read()
    assert b"<dc:title>One</dc:title>" in found["oai+example,org+1/oai_dc.xml"]


def test_second_export_writes_nothing(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")}
    assert done(export(silo, target)) == {"nothing": 3, "leave": 1}
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")} == before


def test_changed_record_is_replaced_whole(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    record = silo["2"]
    record.del_stream("docs/licence.txt")
    record.put_stream("notes.txt", "checked")
    assert done(export(silo, target)) == {"replace": 1, "nothing": 2, "leave": 1}
    names = [name for name in tree(tmp_path / "out") if name.startswith("oai+example,org+2/")]
    assert names == [f"oai+example,org+2/{name}" for name in ("notes.txt", "oai_dc", "oai_dc.xml")]


def test_all_versions_are_in_directories_of_their_own(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"), Versions.ALL)
    Export(silo, target, Policy(Versions.ALL)).run(Selection(identifiers=("oai:example.org:2",)))
    assert sorted(tree(tmp_path / "out" / "oai+example,org+2")) == [
        "1/oai_dc",
        "1/oai_dc.xml",
        "workingcopy/docs/licence.txt",
        "workingcopy/oai_dc",
        "workingcopy/oai_dc.xml",
    ]


def test_only_curated_records_go_with_curated_versions(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"), Versions.CURATED)
    report = Export(silo, target, Policy(Versions.CURATED)).run()
    assert (report.records, report.empty, report.held) == (4, 2, 1)
    assert done(report) == {"create": 1, "leave": 1}
    assert next(iter(tree(tmp_path / "out"))) == "oai+example,org+2/workingcopy/docs/licence.txt"


def test_without_documents_metadata_goes_as_harvested_alone(silo: Silo, tmp_path: Path) -> None:
    one = Selection(identifiers=("oai:example.org:1",))
    Export(silo, FilesTarget(str(tmp_path / "out")), Policy(unwrap=False)).run(one)
    assert list(tree(tmp_path / "out")) == ["oai+example,org+1/oai_dc"]


def test_set_selects_what_is_in_it_and_below_it(silo: Silo, tmp_path: Path) -> None:
    export(silo, FilesTarget(str(tmp_path / "out")), Selection(filters=filters_from(set_spec="a")))
    assert {name.split("/")[0] for name in tree(tmp_path / "out")} == {
        "oai+example,org+1",
        "oai+example,org+2",
    }


def test_search_selects_what_it_finds(silo: Silo, tmp_path: Path) -> None:
    report = export(silo, FilesTarget(str(tmp_path / "out")), Selection("title:three"))
    assert done(report) == {"create": 1}
    assert "oai+example,org+3/oai_dc" in tree(tmp_path / "out")


def test_limit_counts_records_about_which_something_is_done(silo: Silo, tmp_path: Path) -> None:
    run = Export(silo, FilesTarget(str(tmp_path / "out"))).run
    assert done(run(limit=2)) == {"create": 2}
    assert run(limit=2).actions[ActionKind.CREATE] == 1


def test_record_deleted_since_an_earlier_export_is_named_and_stays(
    silo: Silo, tmp_path: Path, delete_at_source: Change
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    delete_at_source(silo, "oai:example.org:1")
    report = export(silo, target)
    assert report.still_there == ("oai:example.org:1",)
    assert "oai+example,org+1/oai_dc" in tree(tmp_path / "out")


def test_record_deleted_at_the_source_goes_when_that_is_asked_for(
    silo: Silo, tmp_path: Path, delete_at_source: Change
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    follow = Export(silo, target, Policy(deletions=Deletions.DELETE))
    follow.run()
    delete_at_source(silo, "oai:example.org:1")
    assert done(follow.run()) == {"withdraw": 1, "nothing": 2, "leave": 1}
    assert not (tmp_path / "out" / "oai+example,org+1").exists()
    assert done(follow.run()) == {"nothing": 3, "leave": 1}


def test_curated_record_deleted_at_the_source_is_exported_until_its_curator_follows(
    silo: Silo, tmp_path: Path, delete_at_source: Change
) -> None:
    delete_at_source(silo, "oai:example.org:2")
    target = FilesTarget(str(tmp_path / "out"))
    assert done(export(silo, target)) == {"create": 3, "leave": 1}
    with silo.editing("oai:example.org:2") as edit:
        edit.move_cursor("2")
    assert export(silo, target).still_there == ("oai:example.org:2",)


def test_lost_file_fails_its_record_and_no_other(silo: Silo, tmp_path: Path) -> None:
    os.unlink(silo["2"].to_dirpath("docs/licence.txt"))
    report = export(silo, FilesTarget(str(tmp_path / "out")))
    assert [(one.identifier, one.result) for one in report.problems] == [
        ("oai:example.org:2", "failed")
    ]
    assert "docs/licence.txt" in report.problems[0].reason
    assert report.actions[ActionKind.CREATE] == 2
    assert not (tmp_path / "out" / "oai+example,org+2").exists()
    assert not report.whole


def test_damaged_file_is_not_exported(silo: Silo, tmp_path: Path) -> None:
    path = Path(silo["2"].to_dirpath("docs/licence.txt"))
    path.chmod(0o644)
    path.write_text("CC BY 5.0")
    report = export(silo, FilesTarget(str(tmp_path / "out")))
    assert report.failed == 1
    assert "docs/licence.txt of version workingcopy differs from its entry in the manifest" in (
        report.problems[0].reason
    )
    assert not (tmp_path / "out" / "oai+example,org+2").exists()


def test_directory_with_something_else_in_it_is_refused(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(TargetUnusable, match="something other than an earlier export"):
        export(silo, FilesTarget(str(tmp_path)))
    assert (tmp_path / "precious.txt").read_text() == "mine"


@pytest.mark.parametrize("left", [[], [".silo-export.7-0a1b2c3d.tmp"]])
def test_directory_whose_preparation_was_killed_is_taken(
    silo: Silo, tmp_path: Path, left: list[str]
) -> None:
    (tmp_path / "out" / ".silo-notes").mkdir(parents=True)
    for name in left:
        (tmp_path / "out" / name).write_bytes(b"")
    report = export(silo, FilesTarget(str(tmp_path / "out")))
    assert report.whole
    assert report.written
    assert not set(left) & set(os.listdir(tmp_path / "out"))


@pytest.mark.parametrize("other", ["precious.txt", ".silo-notes/precious.json"])
def test_directory_with_notes_and_something_else_is_refused(
    silo: Silo, tmp_path: Path, other: str
) -> None:
    (tmp_path / ".silo-notes").mkdir()
    (tmp_path / other).write_text("mine")
    with pytest.raises(TargetUnusable, match="something other than an earlier export"):
        export(silo, FilesTarget(str(tmp_path)))
    assert (tmp_path / other).read_text() == "mine"


def test_leavings_of_a_killed_export_are_swept(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    (tmp_path / "out" / ".silo-export-1-abc").mkdir()
    (tmp_path / "out" / ".silo-export-1-abc" / "half").write_text("x")
    export(silo, target)
    assert not (tmp_path / "out" / ".silo-export-1-abc").exists()


def test_failure_while_writing_keeps_the_earlier_export(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    before = tree(tmp_path / "out")
    silo["2"].put_stream("new.txt", "x")

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("siloexport.targets.trees.write_new", fail)
    report = export(silo, target)
    assert [one.identifier for one in report.problems] == ["oai:example.org:2"]
    assert tree(tmp_path / "out") == before


def test_full_disk_stops_the_run_and_the_same_call_goes_on(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FilesTarget(str(tmp_path / "out"))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("siloexport.targets.trees.write_new", fail)
        report = export(silo, target)
    assert "No space left on device" in report.stopped
    assert not report.interrupted
    assert done(export(silo, target)) == {"create": 3, "leave": 1}


def test_document_gives_way_to_a_file_of_its_name(silo: Silo, tmp_path: Path) -> None:
    silo["2"].put_stream("oai_dc.xml", "<mine/>")
    export(silo, FilesTarget(str(tmp_path / "out")), Selection(identifiers=("oai:example.org:2",)))
    assert tree(tmp_path / "out")["oai+example,org+2/oai_dc.xml"] == b"<mine/>"


def test_directory_that_was_moved_keeps_its_ledger(silo: Silo, tmp_path: Path) -> None:
    export(silo, FilesTarget(str(tmp_path / "out")))
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    assert done(export(silo, FilesTarget(str(tmp_path / "elsewhere")))) == {
        "nothing": 3,
        "leave": 1,
    }


def test_an_export_whose_marker_has_no_key_is_taken_over(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    (tmp_path / "out" / ".silo-export").write_text("Records exported from a Silo.\n")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").glob("oai*/**/*")}
    again = FilesTarget(str(tmp_path / "out"))
    assert done(export(silo, again)) == {"create": 3, "leave": 1}
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out").glob("oai*/**/*")} == before


def test_change_by_others_is_a_conflict_until_it_may_be_written_over(
    silo: Silo, tmp_path: Path
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target)
    (tmp_path / "out" / "oai+example,org+2" / "oai_dc").write_text("by hand")
    silo["2"].put_stream("new.txt", "x")
    report = export(silo, target)
    assert (report.conflicts, report.failed) == (1, 0)
    assert "was changed" in report.problems[0].reason
    assert Export(silo, target).run(on_conflict=OnConflict.SKIP).skipped == 1
    assert tree(tmp_path / "out")["oai+example,org+2/oai_dc"] == b"by hand"
    report = Export(silo, target).run(on_conflict=OnConflict.OVERWRITE)
    assert done(report) == {"replace": 1, "nothing": 2, "leave": 1}
    assert tree(tmp_path / "out")["oai+example,org+2/oai_dc"] != b"by hand"


def test_long_identifiers_have_directories_of_their_own() -> None:
    long = "oai:example.org:" + "x" * 300
    assert len(directory_name(long)) <= 200
    assert directory_name(long) != directory_name(long + "x")


def test_progress_counts_every_record(silo: Silo, tmp_path: Path, harvest: Change) -> None:
    harvest(silo, "oai:example.org:5", "Five")
    seen: list[Progress] = []
    Export(silo, FilesTarget(str(tmp_path / "out"))).run(watch=Watch(seen.append))
    assert sorted({one.records for one in seen}) == [1, 2, 3, 4, 5]
    assert seen[-1].deposits == 4
    assert seen[-1].rate > 0
