"""A commit that stopped between the manifest's rename and its pending operations."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recordsilo import HarvestedRecord, Silo
from recordsilo.records import commit as commit_module
from recordsilo.records.manifest_json import from_json


@pytest.fixture
def record(silo: Silo) -> HarvestedRecord:
    made = silo.get_item("a")
    made.put_stream("f", "old")
    made.put_stream("docs/g", "kept")
    made.clone_version("1", "spare")
    made.set_version_cursor("1")
    made.sync()
    return made


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Makes a change whose process ends right after the commit."""

    def make(change: Callable[[], object]) -> None:
        def die(*arguments: object) -> None:
            raise SystemExit

        with monkeypatch.context() as patch:
            patch.setattr(commit_module._Committal, "finish", die)
            with pytest.raises(SystemExit):
                change()

    return make


def read(record: HarvestedRecord, name: str, version: str = "1") -> bytes:
    with record.get_stream(name, version) as stream:
        return stream.read()


def pending(record: HarvestedRecord) -> bool:
    path = f"{record.path_to_item()}/__manifest.json"
    return bool(from_json(Path(path).read_bytes(), path).pending)


Killed = Callable[[Callable[[], object]], None]


def test_reader_sees_the_new_content_and_the_next_writer_finishes(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    killed(lambda: record.put_stream("f", "new"))
    again = silo["a"]
    assert read(again, "f") == b"new"
    assert again.stat("f").st_size == again.disk_usage("1") - 4 == 3
    assert Path(again.to_dirpath("f")).read_bytes() == b"new"
    assert pending(again)
    again.metadata["x"] = 1
    again.sync()
    assert not pending(again)
    assert sorted(os.listdir(f"{record.path_to_item()}/__1")) == ["docs", "f"]
    assert Path(again.to_dirpath(), "f").read_bytes() == b"new"


def test_old_handle_reads_either_content_whole(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    old = silo["a"]
    killed(lambda: silo["a"].put_stream("f", "new"))
    assert read(old, "f") == b"old"
    silo["a"].put_stream("other", "x")
    assert read(old, "f") == b"new"


def test_renamed_version_is_read_and_cloned_before_it_is_renamed_on_disk(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    killed(lambda: record.rename_version("spare", "renamed"))
    again = silo["a"]
    assert again.versions == ["1", "renamed"]
    assert read(again, "docs/g", "renamed") == b"kept"
    assert os.path.isdir(again.to_dirpath(version="renamed"))
    again.clone_version("renamed", "third")
    assert sorted(os.listdir(again.path_to_item())) == [
        "__1", "__manifest.json", "__manifest.json.prev", "__renamed", "__third",
    ]  # fmt: skip


def test_deleted_file_is_gone_and_then_removed(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    killed(lambda: record.del_stream("f"))
    again = silo["a"]
    assert again.paths() == ["docs/g"]
    assert os.path.exists(f"{again.path_to_item()}/__1/f")
    again.sync()
    again.metadata["x"] = 1
    again.sync()
    assert os.listdir(f"{again.path_to_item()}/__1") == ["docs"]


def test_file_of_the_users_own_put_where_an_unlink_is_pending_survives(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    killed(lambda: record.del_stream("f"))
    own = Path(record.path_to_item(), "__1", "f")
    own.unlink()
    own.write_text("my own text")
    record.revert()
    record.metadata["x"] = 1
    record.sync()
    assert own.read_text() == "my own text"
    assert record.paths() == ["docs/g"]


def test_deleted_version_made_again_is_the_new_one(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    killed(lambda: record.del_version("spare"))
    again = silo["a"]
    assert again.versions == ["1"]
    again.create_new_version("spare")
    assert again.paths("spare") == []
    assert os.listdir(again.to_dirpath(version="spare")) == []


def test_replaced_version_is_read_from_where_it_is(
    silo: Silo, record: HarvestedRecord, killed: Killed, tmp_path: Path
) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "h").write_text("replacing")
    killed(
        lambda: record.move_directory_as_new_version(str(tmp_path / "source"), "spare", force=True)
    )
    again = silo["a"]
    assert again.paths("spare") == ["h"]
    assert read(again, "h", "spare") == b"replacing"
    again.put_stream("i", "x", "spare")
    assert read(silo["a"], "h", "spare") == b"replacing"
    assert sorted(os.listdir(again.path_to_item())) == [
        "__1", "__manifest.json", "__manifest.json.prev", "__spare",
    ]  # fmt: skip
    assert sorted(os.listdir(f"{again.path_to_item()}/__spare")) == ["h", "i"]


def test_index_is_in_step_with_a_writer_that_died_after_its_commit(
    silo: Silo, record: HarvestedRecord, killed: Killed
) -> None:
    killed(lambda: record.create_new_version("2", date="2010-01-01"))
    killed(lambda: silo.get_item("b").put_stream("f", "x"))
    assert list(silo) == ["a", "b"]
    assert silo.row("a").current_version == "2"


def test_deletion_that_was_broken_off_is_finished_when_records_are_listed(
    silo: Silo, record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch,
    tree: Callable[[str], list[str]],
) -> None:  # fmt: skip
    def die(*arguments: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(commit_module, "sweep_absent", die)
        with pytest.raises(SystemExit):
            silo.del_item("a")
    assert "a" not in silo
    assert silo.get("a") is None
    assert tree(f"{silo.path}/pairtree_root") != []
    assert list(silo) == []
    assert tree(f"{silo.path}/pairtree_root") == []


def put_and_derive(silo: Silo) -> None:
    with silo.batch(["a"]) as batch:
        edit = batch.edit("a")
        edit.put("1", "f", b"never")
        origin = edit.manifest.current.origin
        edit.derive_version("1", "never", date="2010-01-01", origin=origin, log="x")


@pytest.mark.parametrize("step", ["_move_files_in", "_move_versions_in", "publish"])
def test_writer_killed_before_its_commit_leaves_nothing_after_the_next_write(
    silo: Silo, record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch, step: str,
    tree: Callable[[str], list[str]],
) -> None:  # fmt: skip
    real = getattr(commit_module._Committal, step)

    def die(self: object) -> None:
        if step != "publish":
            real(self)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(commit_module._Committal, step, die)
        patch.setattr(commit_module._Committal, "roll_back", lambda self: None)
        with pytest.raises(SystemExit):
            put_and_derive(silo)
    again = silo["a"]
    assert (again.versions, read(again, "f")) == (["1", "spare"], b"old")
    again.put_stream("unrelated", "x", "spare")
    assert sorted(os.listdir(again.path_to_item())) == [
        "__1", "__manifest.json", "__manifest.json.prev", "__spare",
    ]  # fmt: skip
    assert not [path for path in tree(again.path_to_item()) if ".silo-" in path]


def test_torn_staged_manifest_of_a_power_cut_leaves_nothing_behind(silo: Silo) -> None:
    record = silo.get_item("a")
    record.put_stream("f", "one")
    place = Path(record.path_to_item())
    (place / "__manifest.json.new").write_bytes(b"")
    (place / "__1" / ".silo-dead-0.tmp").write_bytes(b"never listed")
    (place / "__.silo-dead-1.tmp").mkdir()
    record.put_stream("g", "two")
    assert sorted(p.name for p in place.iterdir()) == [
        "__1",
        "__manifest.json",
        "__manifest.json.prev",
    ]
    assert sorted(p.name for p in (place / "__1").iterdir()) == ["f", "g"]


def test_directory_of_a_file_that_never_came_goes_with_the_next_write(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = silo.get_item("a")
    record.put_stream("f", "one")

    def die(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("recordsilo.records.commit._Committal.publish", die)
        patch.setattr("recordsilo.records.commit._Committal.roll_back", lambda _self: None)
        with pytest.raises(SystemExit):
            record.put_stream("deep/er/g", "two")
    version = Path(record.to_dirpath())
    assert (version / "deep" / "er").is_dir()
    silo["a"].put_stream("h", "three")
    assert sorted(p.name for p in version.iterdir()) == ["f", "h"]
