"""The module that writes in a Silo: staging, barriers, whole files; that it is the only one."""

import ast
import errno
import os
import stat
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import recordsilo
from recordsilo import Digest, Silo
from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import GroupBarrier, Staging, StrictBarrier

CHANGING = {
    "mkdir", "makedirs", "rename", "renames", "replace", "unlink", "remove", "rmdir", "removedirs",
    "link", "symlink", "truncate", "ftruncate", "write", "pwrite", "chmod", "utime", "mkfifo",
}  # fmt: skip


WRITERS = {"atomic_file.py", "whole_file.py"}
"""What writes in a Silo; what writes files that people ask for, outside of it."""


def changing_calls(source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(value=ast.Name(id="os" | "shutil"), attr=name) if name in CHANGING:
                found.append(name)
            case ast.Name(id="open"):
                mode = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
                if mode and set(mode[0]) & set("wax+"):
                    found.append(f"open {mode[0]}")
    return found


def test_no_other_module_changes_the_disk() -> None:
    package = Path(recordsilo.__file__).parent
    for module in package.rglob("*.py"):
        if module.name not in WRITERS:
            assert changing_calls(module.read_text(encoding="utf-8")) == [], module


def test_the_check_for_other_writers_sees_them() -> None:
    assert changing_calls("import os\nos.rename(a, b)\nopen(x, 'wb')") == ["rename", "open wb"]


# -- staging ----------------------------------------------------------------------------


def test_staging_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(
    tmp_path: Path,
) -> None:
    living = Staging(str(tmp_path))
    mine = living.new_directory()
    (tmp_path / "1-dead").mkdir()
    (tmp_path / "1-dead" / "file").write_text("x")
    other = Staging(str(tmp_path))
    other.directory()
    assert not (tmp_path / "1-dead").exists()
    assert os.path.isdir(mine)
    living.close()
    other.close()
    assert os.listdir(tmp_path) == []


def test_staging_directory_of_another_user_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "2-theirs").mkdir()
    real = os.open

    def refuse(path: str, flags: int, *rest: int, **more: int) -> int:
        if path.endswith("2-theirs"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    staging = Staging(str(tmp_path))
    assert os.path.isdir(staging.directory())
    assert (tmp_path / "2-theirs").exists()
    staging.close()


def test_threads_that_stage_at_once_do_not_lose_their_directories(tmp_path: Path) -> None:
    staging = Staging(str(tmp_path))
    start = threading.Barrier(8)
    made: list[str] = []

    def stage() -> None:
        start.wait()
        made.append(staging.new_directory())

    threads = [threading.Thread(target=stage) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    Staging(str(tmp_path)).directory()
    assert len(set(made)) == 8
    assert all(os.path.isdir(path) for path in made)
    staging.close()


def test_staging_is_removed_when_its_silo_is_forgotten(tmp_path: Path) -> None:
    staging = Staging(str(tmp_path))
    staging.new_directory()
    del staging
    assert os.listdir(tmp_path) == []


def test_discarding_removes_a_tree_or_nothing(tmp_path: Path) -> None:
    staging = Staging(str(tmp_path / "staging"))
    tree = tmp_path / "tree" / "deep"
    tree.mkdir(parents=True)
    (tree / "file").write_text("x")
    (tmp_path / "kept").write_text("kept")
    (tree / "link").symlink_to(tmp_path / "kept")
    staging.discard(str(tmp_path / "tree"))
    staging.discard(str(tmp_path / "tree"))
    assert (tmp_path / "kept").read_text() == "kept"
    assert not (tmp_path / "tree").exists()
    staging.close()


# -- writing ----------------------------------------------------------------------------


def test_file_that_could_not_be_written_does_not_exist(tmp_path: Path) -> None:
    def chunks() -> object:
        yield b"some"
        raise ValueError("broken")

    path = str(tmp_path / "f")
    with pytest.raises(ValueError, match="broken"):
        atomic_file.write_new(path, chunks(), StrictBarrier())  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []
    assert atomic_file.write_new(path, (b"a", b"b"), StrictBarrier()) == Digest(
        "fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603", 2
    )
    with pytest.raises(FileExistsError):
        atomic_file.write_new(path, (b"c",), StrictBarrier())
    assert (tmp_path / "f").read_bytes() == b"ab"


def test_replaced_file_is_whole_or_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    atomic_file.replace_file(str(path), b"one")

    def refuse(*arguments: object) -> None:
        raise OSError(errno.EIO, "refused")

    for name in ("rename", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            with pytest.raises(OSError, match="refused"):
                atomic_file.replace_file(str(path), b"two")
        assert path.read_bytes() == b"one"
        assert os.listdir(tmp_path) == ["f"]


def test_torn_last_line_is_cut_off_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lines"
    atomic_file.append_lines(str(path), [b"one"])
    with open(path, "ab") as file:
        file.write(b"to")
    atomic_file.append_lines(str(path), [b"three"])
    assert path.read_bytes() == b"one\nthree\n"


def test_torn_line_of_any_length_is_cut_off_completely(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    for start in (b"", b"one\n"):
        path.write_bytes(start + b"t" * (2 * atomic_file.CHUNK + 5))
        atomic_file.append_lines(str(path), [b"three"])
        assert path.read_bytes() == start + b"three\n"


def test_processes_that_append_at_once_tear_no_line(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    workers = []
    for name in (b"a", b"b", b"c"):
        if (worker := os.fork()) == 0:
            for _ in range(30):
                atomic_file.append_lines(str(path), [name * 200_000])
            os._exit(0)
        workers.append(worker)
    assert [os.waitpid(worker, 0)[1] for worker in workers] == [0, 0, 0]
    lines = path.read_bytes().splitlines()
    assert Counter(lines) == {name * 200_000: 30 for name in (b"a", b"b", b"c")}


def test_link_is_a_copy_where_there_are_no_links(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    record = silo.get_item("a")
    record.put_stream("f", "x")
    monkeypatch.setattr(os, "link", refuse)
    record.clone_version_delta("1", "delta")
    assert record.stat("f", "delta").st_ino != record.stat("f", "1").st_ino
    record.put_stream("g", "y", sync=False)
    record.sync()
    assert silo["a"].paths() == ["f", "g"]


def test_full_disk_is_not_taken_for_a_lack_of_links(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    record = silo.get_item("a")
    record.put_stream("f", "x")
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match="full"):
        record.clone_version_delta("1", "delta")
    assert silo["a"].versions == ["1"]


def test_directory_pruned_while_it_is_made_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.mkdir
    pruned = []

    def mkdir(path: str, *rest: int) -> None:
        real(path, *rest)
        if path.endswith("/b") and len(pruned) < 3:
            pruned.append(path)
            os.rmdir(path)

    monkeypatch.setattr(os, "mkdir", mkdir)
    path = str(tmp_path / "a" / "b" / "c")
    atomic_file.make_directories(path, str(tmp_path), StrictBarrier())
    assert os.path.isdir(path)
    assert len(pruned) == 3


def test_making_a_directory_tells_whether_it_is_new(tmp_path: Path) -> None:
    root, barrier = str(tmp_path), StrictBarrier()
    assert atomic_file.make_directories(f"{root}/a/b", root, barrier)
    assert not atomic_file.make_directories(f"{root}/a/b", root, barrier)
    assert not atomic_file.make_directories(f"{root}/a", root, barrier)
    assert atomic_file.make_directories(f"{root}/a/c/d", root, barrier)


def test_content_is_written_whole_where_the_disk_takes_it_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, content: real(fd, content[:3]))
    files = [("f", b"0123456789"), ("d/e", b""), ("d/g", b"abcd")]
    atomic_file.write_version(str(tmp_path / "__1"), files, StrictBarrier())
    assert {path: (tmp_path / "__1" / path).read_bytes() for path, _ in files} == dict(files)


def test_directories_are_not_made_where_their_root_is_gone(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        atomic_file.make_directories(
            str(tmp_path / "no" / "root" / "x"), str(tmp_path / "no" / "root"), StrictBarrier()
        )
    (tmp_path / "file").write_text("x")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        atomic_file.make_directories(str(tmp_path / "file"), str(tmp_path), StrictBarrier())


def test_only_empty_directories_are_pruned_and_never_the_stop(tmp_path: Path) -> None:
    deep = tmp_path / "stop" / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / "stop" / "a" / "kept").write_text("x")
    atomic_file.prune_upwards(str(deep), str(tmp_path / "stop"))
    assert os.listdir(tmp_path / "stop" / "a") == ["kept"]
    (tmp_path / "stop" / "a" / "kept").unlink()
    atomic_file.prune_upwards(str(deep), str(tmp_path / "stop"))
    assert os.listdir(tmp_path) == ["stop"]


# -- what is flushed, and when ----------------------------------------------------------


@pytest.fixture
def watched(silo: Silo, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(what, path) of each flush and rename, in order; paths within the Silo."""
    seen: list[tuple[str, str]] = []
    real_rename = os.rename

    def fsync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        kind = "directory" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file"
        seen.append((f"flush {kind}", os.path.relpath(path, silo.path)))

    def rename(source: str, target: str) -> None:
        real_rename(source, target)
        seen.append(("rename", os.path.relpath(target, silo.path)))

    silo.staging.directory()
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    return seen


MANIFEST = ("rename", "pairtree_root/ab/c/__manifest.json")


def test_all_is_flushed_before_the_commit_and_the_commit_before_it_is_told(
    silo: Silo, watched: list[tuple[str, str]]
) -> None:
    silo.get_item("abc").put_stream("docs/f", "content")
    at = watched.index(MANIFEST)
    before, after = watched[:at], watched[at + 1 :]
    assert sum(kind == "flush file" for kind, _ in before) == 2  # content and manifest
    flushed = [path for kind, path in before if kind == "flush directory"]
    for directory in ("pairtree_root", "pairtree_root/ab", "pairtree_root/ab/c",
                      "pairtree_root/ab/c/__1"):  # fmt: skip
        assert directory in flushed
    assert any(path.startswith(".silo/tmp") and path.endswith("/docs") for path in flushed)
    assert ("flush directory", "pairtree_root/ab/c") in after


def test_overwritten_content_is_flushed_before_the_commit(
    silo: Silo, watched: list[tuple[str, str]]
) -> None:
    record = silo.get_item("abc")
    record.put_stream("f", "old")
    watched.clear()
    record.put_stream("f", "new")
    at = watched.index(MANIFEST)
    assert ("flush directory", "pairtree_root/ab/c/__1") in watched[:at]
    assert sum(kind == "flush file" for kind, _ in watched[:at]) == 2
    assert watched[-1] == ("rename", "pairtree_root/ab/c/__1/f")
    watched.clear()
    record.del_stream("f")
    at = watched.index(MANIFEST)
    # The rename that the last commit left pending is flushed before it is struck off the list.
    assert ("flush directory", "pairtree_root/ab/c/__1") in watched[:at]
    watched.clear()
    record.sync(message="nothing to store")
    record.metadata["x"] = 1
    record.sync()
    at = watched.index(MANIFEST)
    assert ("flush directory", "pairtree_root/ab/c/__1") in watched[:at]


def test_deletion_is_flushed_before_it_is_told(silo: Silo, watched: list[tuple[str, str]]) -> None:
    silo.get_item("abc").put_stream("f", "x")
    watched.clear()
    silo.del_item("abc", remember=True)
    at = watched.index(("rename", "pairtree_root/ab/c/__manifest.json.deleted"))
    assert ("flush file", "curation/removed.jsonl") in watched[:at]
    assert {("flush directory", "curation"), ("flush directory", ".")} <= set(watched[:at])
    assert watched[at + 1] == ("flush directory", "pairtree_root/ab/c")


@pytest.mark.skipif(not atomic_file.HAS_SYNCFS, reason="the platform has no syncfs")
def test_a_group_is_flushed_twice_however_many_records_it_has(
    silo: Silo, watched: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch,
    harvest: Callable[..., str],
) -> None:  # fmt: skip
    monkeypatch.setattr(GroupBarrier, "flush", lambda self: watched.append(("flush all", "")))
    names = [f"r{number}" for number in range(5)]
    with silo.batch(names) as batch:
        for name in names:
            edit = batch.edit(name)
            edit.add_version("1", date="2004-06-24", origin=recordsilo.Origin("harvest"))
            edit.put("1", "oai_dc", b"<dc/>")
    flushes = [n for n, (kind, _) in enumerate(watched) if kind.startswith("flush")]
    commits = [n for n, (kind, p) in enumerate(watched) if p.endswith("__manifest.json")]
    assert len(flushes) == 2
    assert len(commits) == 5
    assert flushes[0] < min(commits) <= max(commits) < flushes[1]


def test_new_silo_is_flushed_into_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[str] = []
    real = atomic_file.flush_directory
    monkeypatch.setattr(
        atomic_file, "flush_directory", lambda path: (flushed.append(path), real(path))
    )
    with Silo(str(tmp_path / "new")):
        assert str(tmp_path) in flushed


def test_barrier_reports_what_the_medium_refuses(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        atomic_file.group_barrier(str(tmp_path / "none")).flush()
    barrier = StrictBarrier()
    barrier.directory_changed(str(tmp_path / "gone"))
    barrier.flush()
