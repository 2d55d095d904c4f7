"""`export` to plain files: what is written, what is left alone, what is reported."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import Silo
from reexport import FilesTarget, Outcome, Selection, TargetUnusable, export
from reexport.targets.files import directory_name

Change = Callable[..., None]


def tree(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_each_live_record_becomes_a_directory_of_its_current_version(
    silo: Silo, tmp_path: Path
) -> None:
    report = export(silo, FilesTarget(str(tmp_path / "out")), Selection())
    assert report.whole
    assert report.outcomes == {Outcome.CREATED: 3}
    assert report.deleted == 1
    found = tree(tmp_path / "out")
    assert sorted(found) == [
        ".silo-export",
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
    export(silo, target, Selection())
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")}
    report = export(silo, target, Selection())
    assert report.outcomes == {Outcome.UNCHANGED: 3}
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*")} == before


def test_changed_record_is_replaced_whole(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target, Selection())
    record = silo["2"]
    record.del_stream("docs/licence.txt")
    record.put_stream("notes.txt", "checked")
    report = export(silo, target, Selection())
    assert report.outcomes == {Outcome.UPDATED: 1, Outcome.UNCHANGED: 2}
    names = [name for name in tree(tmp_path / "out") if name.startswith("oai+example,org+2/")]
    assert names == [f"oai+example,org+2/{name}" for name in ("notes.txt", "oai_dc", "oai_dc.xml")]


def test_set_selects_what_is_in_it_and_below_it(silo: Silo, tmp_path: Path) -> None:
    export(silo, FilesTarget(str(tmp_path / "out")), Selection(set_spec="a"))
    directories = sorted(p.name for p in (tmp_path / "out").iterdir() if p.is_dir())
    assert directories == ["oai+example,org+1", "oai+example,org+2"]


def test_record_deleted_since_an_earlier_export_is_named(
    silo: Silo, tmp_path: Path, delete_at_source: Change
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target, Selection())
    delete_at_source(silo, "oai:example.org:1")
    report = export(silo, target, Selection())
    assert report.still_there == ["oai:example.org:1"]
    assert target.has("oai:example.org:1")


def test_curated_record_deleted_at_the_source_is_exported(
    silo: Silo, tmp_path: Path, delete_at_source: Change
) -> None:
    delete_at_source(silo, "oai:example.org:2")
    report = export(silo, FilesTarget(str(tmp_path / "out")), Selection())
    assert report.outcomes == {Outcome.CREATED: 3}


def test_lost_file_fails_its_record_and_no_other(silo: Silo, tmp_path: Path) -> None:
    os.unlink(silo["2"].to_dirpath("docs/licence.txt"))
    target = FilesTarget(str(tmp_path / "out"))
    report = export(silo, target, Selection())
    assert list(report.failed) == ["oai:example.org:2"]
    assert "docs/licence.txt" in report.failed["oai:example.org:2"]
    assert report.outcomes == {Outcome.CREATED: 2}
    assert not target.has("oai:example.org:2")
    assert not report.whole


def test_directory_with_something_else_in_it_is_refused(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(TargetUnusable, match="something other than an earlier export"):
        export(silo, FilesTarget(str(tmp_path)), Selection())
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_leavings_of_a_killed_export_are_swept(silo: Silo, tmp_path: Path) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target, Selection())
    (tmp_path / "out" / ".silo-export-1-abc").mkdir()
    (tmp_path / "out" / ".silo-export-1-abc" / "half").write_text("x")
    export(silo, target, Selection())
    assert not (tmp_path / "out" / ".silo-export-1-abc").exists()


def test_failure_while_writing_keeps_the_earlier_export(
    silo: Silo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FilesTarget(str(tmp_path / "out"))
    export(silo, target, Selection())
    before = tree(tmp_path / "out")
    silo["2"].put_stream("new.txt", "x")

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("reexport.targets.files.write_new", fail)
    report = export(silo, target, Selection())
    assert list(report.failed) == ["oai:example.org:2"]
    assert tree(tmp_path / "out") == before


def test_document_gives_way_to_a_file_of_its_name(silo: Silo, tmp_path: Path) -> None:
    silo["2"].put_stream("oai_dc.xml", "<mine/>")
    export(silo, FilesTarget(str(tmp_path / "out")), Selection(items=("oai:example.org:2",)))
    assert tree(tmp_path / "out")["oai+example,org+2/oai_dc.xml"] == b"<mine/>"


def test_long_identifiers_have_directories_of_their_own() -> None:
    long = "oai:example.org:" + "x" * 300
    assert len(directory_name(long)) <= 200
    assert directory_name(long) != directory_name(long + "x")


def test_progress_counts_every_record(silo: Silo, tmp_path: Path, harvest: Change) -> None:
    harvest(silo, "oai:example.org:5", "Five")
    seen: list[int] = []
    export(silo, FilesTarget(str(tmp_path / "out")), Selection(), seen.append)
    assert seen == [1, 2, 3, 4, 5]
