"""Writers and readers beside each other, in threads and processes: nothing lost or torn."""

import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from recordsilo import Origin, Silo
from recordsilo.errors import (
    FileNotInVersion,
    MetadataConflict,
    RecordGone,
    RevisionConflict,
    VersionNotFound,
)

Run = Callable[..., subprocess.CompletedProcess[str]]

PUT_MANY = """
import sys
from recordsilo import Silo
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Silo(path) as silo:
    for number in range(count):
        silo.get_item("a").put_stream(f"{name}-{number}", f"{name} {number}")
        record = silo["a"]
        record.metadata[f"{name}-{number}"] = number
        record.sync()
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_and_two_threads_lose_nothing_in_one_record(silo: Silo) -> None:
    def put_many(name: str) -> None:
        for number in range(10):
            silo.get_item("a").put_stream(f"{name}-{number}", f"{name} {number}")

    with (
        start(PUT_MANY, silo.path, "p1", "10") as one,
        start(PUT_MANY, silo.path, "p2", "10") as two,
        ThreadPoolExecutor(2) as threads,
    ):
        list(threads.map(put_many, ["t1", "t2"]))
        assert (one.wait(60), two.wait(60)) == (0, 0)
    record = silo["a"]
    names = {f"{who}-{n}" for who in ("p1", "p2", "t1", "t2") for n in range(10)}
    assert set(record.files) == names
    assert set(record.metadata) == {n for n in names if n.startswith("p")}
    for name in names:
        with record.get_stream(name) as stream:
            assert stream.read().decode() == name.replace("-", " ")


def test_threads_may_share_one_handle(silo: Silo) -> None:
    record = silo.get_item("a")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: record.put_stream(str(n), str(n)), range(20)))
    assert sorted(silo["a"].files, key=int) == [str(n) for n in range(20)]


def test_records_are_made_and_deleted_beside_each_other(silo: Silo) -> None:
    """Deleting a record prunes directories in which another is being made."""

    def churn(name: str) -> None:
        for number in range(25):
            silo.get_item(f"x/{name}/{number % 3}").put_stream("f", name)
            silo.del_item(f"x/{name}/{number % 3}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(churn, "abcd"))
    assert list(silo) == []


OVERWRITE = """
import hashlib, itertools, sys
from recordsilo import Silo
with Silo(sys.argv[1]) as silo:
    record = silo.get_item("a")
    for number in itertools.count():
        body = (b"%d " % number) * (1 + number * 7919 % 20000)
        record.put_stream("f", hashlib.sha256(body).hexdigest().encode() + body)
        if number % 3 == 0:
            record.clone_version("1", "copy")
            record.del_version("copy")
            record.set_version_cursor("1")
        if number == 0:
            print(flush=True)
"""


@pytest.mark.long
def test_reader_never_sees_a_torn_state_beside_a_writer(silo: Silo) -> None:
    reads = 0
    seen = set()
    with start(OVERWRITE, silo.path) as writer:
        try:
            assert writer.stdout
            writer.stdout.readline()
            until = time.monotonic() + 2
            while time.monotonic() < until or reads <= 50 or len(seen) <= 3:
                record = silo["a"]
                for version in record.versions:
                    try:
                        with record.get_stream("f", version) as stream:
                            found = stream.read()
                    except (FileNotInVersion, VersionNotFound):  # the copy was deleted meanwhile
                        assert version == "copy"
                        continue
                    assert hashlib.sha256(found[64:]).hexdigest().encode() == found[:64]
                    seen.add(found[:64])
                    reads += 1
                assert list(silo) == ["a"]
                assert silo.row("a").revision > 0
        finally:
            writer.kill()


def test_metadata_changed_in_two_handles_is_merged_by_key(silo: Silo) -> None:
    silo.get_item("a").sync()
    one, other = silo["a"], silo["a"]
    one.metadata["one"] = 1
    other.metadata["other"] = {"deep": [1, 2]}
    one.sync()
    other.sync()
    assert silo["a"].metadata == {"one": 1, "other": {"deep": [1, 2]}}


def test_a_key_changed_in_two_handles_is_a_conflict_that_names_it(silo: Silo) -> None:
    silo.get_item("a").sync()
    one, other = silo["a"], silo["a"]
    one.metadata["title"] = "one"
    other.metadata["title"] = "other"
    other.metadata["more"] = 1
    one.sync()
    with pytest.raises(MetadataConflict, match="title") as caught:
        other.sync()
    assert caught.value.key == "title"
    assert silo["a"].metadata == {"title": "one"}
    other.revert()
    other.metadata["title"] = "other"
    other.sync()
    assert silo["a"].metadata == {"title": "other"}


def test_a_key_deleted_in_one_handle_and_changed_in_another_is_a_conflict(silo: Silo) -> None:
    first = silo.get_item("a")
    first.metadata["key"] = 1
    first.sync()
    one, other = silo["a"], silo["a"]
    del one.metadata["key"]
    other.metadata["key"] = 2
    one.sync()
    with pytest.raises(MetadataConflict):
        other.sync()


def test_the_same_change_in_two_handles_is_no_conflict(silo: Silo) -> None:
    silo.get_item("a").sync()
    one, other = silo["a"], silo["a"]
    one.metadata["key"] = other.metadata["key"] = "same"
    one.sync()
    other.sync()
    assert silo["a"].metadata == {"key": "same"}


def test_tuples_and_numbers_as_keys_are_compared_as_json_keeps_them(silo: Silo) -> None:
    record = silo.get_item("a")
    record.metadata["pair"] = (1, 2)
    record.metadata["map"] = {1: "one"}
    record.sync()
    silo["a"].put_stream("f", "x")
    record.metadata["pair"] = (1, 2, 3)
    record.sync()
    assert silo["a"].metadata == {"pair": [1, 2, 3], "map": {"1": "one"}}


@pytest.mark.parametrize(("old", "new"), [(1, True), (1, 1.0), (0, False), (True, 1)])
def test_equal_values_of_different_types_are_different_values(
    silo: Silo, old: object, new: object
) -> None:
    record = silo.get_item("a")
    record.metadata["key"] = old
    record.sync()
    record.metadata["key"] = new
    record.sync()
    assert type(silo["a"].metadata["key"]) is type(new)


def test_write_at_another_revision_is_refused_and_changes_nothing(silo: Silo) -> None:
    record = silo.get_item("a")
    record.put_stream("f", "1", if_revision=0)
    assert record.revision == 1
    silo["a"].put_stream("g", "2")
    with pytest.raises(RevisionConflict) as caught:
        record.put_stream("f", "3", if_revision=1)
    assert (caught.value.expected, caught.value.found) == (1, 2)
    with silo["a"].get_stream("f") as stream:
        assert stream.read() == b"1"
    for change in (
        lambda: record.clone_version("1", "x", if_revision=1),
        lambda: record.rename_version("1", "x", if_revision=1),
        lambda: record.del_stream("f", if_revision=1),
        lambda: record.sync(if_revision=1),
        lambda: silo.del_item("a", if_revision=1),
        lambda: silo.get_item("b").sync(if_revision=1),
    ):
        with pytest.raises(RevisionConflict):
            change()
    assert silo["a"].revision == 2
    assert "b" not in silo
    record.revert()
    record.rename_version("1", "x", if_revision=2)
    assert silo["a"].versions == ["x"]


def test_write_to_a_record_deleted_meanwhile_is_refused(silo: Silo) -> None:
    record = silo.get_item("a")
    record.put_stream("f", "x")
    silo.del_item("a")
    with pytest.raises(RecordGone, match="'a'"):
        record.put_stream("f", "y")
    with pytest.raises(RecordGone):
        record.get_stream("f")
    with pytest.raises(RecordGone):
        record.revert()
    assert "a" not in silo


def test_second_writer_waits_for_the_batch(silo: Silo) -> None:
    done = threading.Event()

    def write() -> None:
        silo.get_item("a").put_stream("second", "x")
        done.set()

    with silo.batch(["a"]) as batch:
        thread = threading.Thread(target=write)
        thread.start()
        edit = batch.edit("a")
        edit.add_version("1", date="2004-06-24", origin=Origin("local"))
        edit.put("1", "first", b"x")
        assert not done.wait(0.2)
        assert "a" not in silo
    thread.join(30)
    assert silo["a"].files == ["first", "second"]


@pytest.mark.parametrize("target", ["a", "b", "unrelated"])
def test_write_beside_the_batch_in_its_thread_is_an_error_not_a_deadlock(
    silo: Silo, target: str
) -> None:
    with Silo(silo.path) as same, silo.batch(["a", "b"]) as batch:
        batch.edit("a").add_version("1", date="2004-06-24", origin=Origin("local"))
        for opened in (silo, same):
            with pytest.raises(RuntimeError, match="in a batch"):
                opened.get_item(target).put_stream("f", "x")
            with pytest.raises(RuntimeError, match="in a batch"), opened.batch([target]):
                pass
    silo.get_item(target).put_stream("f", "x")
    assert "a" in silo


def test_threads_with_batches_in_any_order_do_not_wait_for_each_other_for_ever(silo: Silo) -> None:
    names = [f"r{n}" for n in range(12)]

    def change(order: list[str]) -> None:
        for _ in range(4):
            with silo.batch(order) as batch:
                for name in order:
                    edit = batch.edit(name)
                    if not edit.exists:
                        edit.add_version("1", date="2004-06-24", origin=Origin("local"))
                    edit.set_metadata("n", edit.manifest.metadata.get("n", 0) + 1)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(change, [names, names[::-1], names[6:] + names[:6]]))
    assert {silo[name].metadata["n"] for name in names} == {12}


def test_a_batch_left_by_an_exception_commits_nothing(silo: Silo) -> None:
    with pytest.raises(ZeroDivisionError), silo.batch(["a", "b"]) as batch:  # noqa: PT012 - the batch
        edit = batch.edit("a")
        edit.add_version("1", date="2004-06-24", origin=Origin("harvest"))
        edit.put("1", "f", b"x")
        _ = 1 / 0
    assert list(silo) == []


def test_a_batch_gives_one_edit_for_a_record_and_none_for_a_stranger(silo: Silo) -> None:
    with silo.batch(["a"], agent="harvester") as batch:
        assert batch.edit("a") is batch.edit("a")
        assert batch.agent == "harvester"
        with pytest.raises(KeyError, match="not among"):
            batch.edit("b")
    assert list(silo) == []


FORK = """
import os, sys
from recordsilo import Silo
path = sys.argv[1]
silo = Silo(path)
record = silo.get_item("a")
record.put_stream("parent", "x")
staging = silo.staging.directory()
assert len(silo) == 1
pid = os.fork()
if pid == 0:
    assert silo.staging.directory() != staging
    silo["a"].put_stream("child", "y")
    silo.get_item("made by the child").sync()
    assert len(silo) == 2
    silo.close()
    assert os.path.isdir(staging)
    os._exit(0)
_, status = os.waitpid(pid, 0)
assert status == 0, status
assert os.path.isdir(staging)
assert len(silo) == 2
record.put_stream("parent again", "z")
assert record.files == ["parent", "child", "parent again"], record.files
silo.close()
assert os.listdir(path + "/.silo/tmp") == []
"""


def test_index_and_staging_survive_a_fork(silo: Silo, run_python: Run) -> None:
    result = run_python(FORK, silo.path)
    assert (result.returncode, result.stderr) == (0, "")
    assert list(silo) == ["a", "made by the child"]
