"""For every change, each file system call fails once, and is once interrupted after success.

What is found then is the old state or the new one, never a third; the next write
works, through the same handle and through another; nothing is left lying about.
"""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from copies import copy_of
from examples import family
from first_states import first_state
from memory import MEMORY

from recordsilo import HarvestedRecord, Origin, Silo
from recordsilo.disk import atomic_file
from recordsilo.disk.walk import walk_records
from recordsilo.errors import ManifestUnreadable
from recordsilo.records import commit, creation, place

Change = Callable[[Silo], object]
State = dict[str, Any]

CALLS = frozenset(
    {
        "open", "close", "read", "write", "mkdir", "makedirs", "rename", "unlink", "rmdir", "link",
        "fsync", "ftruncate", "chmod", "listdir", "scandir",
    }
)  # fmt: skip
OPENING = frozenset({"open", "listdir", "scandir"})
INTERRUPT = 0
"""Instead of an error's number: the call is made, and the process interrupted after it."""


def failures(call: str) -> tuple[int, ...]:
    """What a call may say, the one that is tried first at its front."""
    common = (errno.EIO, errno.ENOSPC, errno.EINTR)
    return (errno.EMFILE, *common) if call in OPENING else common


class FailingOs:
    """The module os, of which the n-th call fails or is interrupted."""

    def __init__(self, at: int = -1, fault: int = errno.EIO) -> None:
        self.at, self.fault = at, fault
        self.calls: list[str] = []
        self.path = os.path

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._counting(name, real) if name in CALLS else real

    def _counting(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            number = len(self.calls)
            self.calls.append(name)
            if number == self.at and self.fault != INTERRUPT:
                if name == "close":
                    real(*args)
                raise OSError(self.fault, os.strerror(self.fault))
            result = None if name == "fsync" else real(*args, **kwargs)
            if number == self.at:
                if name == "open":
                    os.close(result)
                elif name == "scandir":
                    result.close()
                raise KeyboardInterrupt
            return result

        return call

    def take_the_place_of_os(self, patch: pytest.MonkeyPatch) -> None:
        for module in (atomic_file, commit, creation, place):
            patch.setattr(module, "os", self)


def build(path: str) -> None:
    with Silo(path, "info:") as silo:
        with silo.batch(["h"]) as batch:
            edit = batch.edit("h")
            edit.add_version("1", date="2004-06-24T00:00:00", origin=Origin("harvest"))
            edit.put("1", "oai_dc", b"<dc><title>T</title></dc>", metadata=True)
        record = silo["h"]
        record.clone_version("1", "wc")
        record.put_stream("a.txt", "old a")
        record.put_stream("docs/b.txt", "old b")
        record.clone_version("wc", "spare")
        record.put_stream("only spare.txt", "x", metadata=True)
        record.set_version_cursor("wc")
        record.sync()
        silo.get_item("other").put_stream("kept", "kept")


def put_queued(silo: Silo) -> None:
    record = silo["h"]
    record.put_stream("a.txt", "new a", sync=False)
    record.put_stream("q/new.txt", "queued", sync=False)
    record.metadata["note"] = ["x"]
    record.sync()


def write_stream(silo: Silo) -> None:
    with silo["h"].get_stream("a.txt", writeable=True) as stream:
        stream.write(b" and more")


def move_directory(silo: Silo, version: str | None, *, force: bool) -> None:
    source = f"{silo.path}.source"
    os.makedirs(f"{source}/d", exist_ok=True)
    for name in ("one", "d/two"):
        Path(source, name).write_text(name)
    silo["h"].move_directory_as_new_version(source, version, force=force)


def batch_of_two(silo: Silo) -> None:
    with silo.batch(["h", "new"]) as batch:
        batch.edit("h").put("wc", "a.txt", b"batched")
        new = batch.edit("new")
        new.add_version("1", date="2004-06-24T00:00:00", origin=Origin("harvest"))
        new.put("1", "oai_dc", b"<dc/>", metadata=True)


def page_of_two(silo: Silo) -> None:
    """A change of one record, and another that is written in one step."""
    with silo.batch(["h", "new"]) as batch:
        batch.edit("h").put("wc", "a.txt", b"batched")
        if not batch.create("new", partial(first_state, "new", b"<dc/>")):
            batch.edit("new").put("1", "f", b"<dc/>", metadata=True)


CHANGES: dict[str, Change] = {
    "create": lambda silo: silo.get_item("new").put_stream("f", "content"),
    "create nested": lambda silo: silo.get_item("h/x/y").put_stream("d/f", "content"),
    "overwrite": lambda silo: silo["h"].put_stream("a.txt", "new a"),
    "put": lambda silo: silo["h"].put_stream("docs/deep/c.txt", "new c"),
    "put queued": put_queued,
    "write stream": write_stream,
    "delete file": lambda silo: silo["h"].del_stream("a.txt"),
    "rename file": lambda silo: silo["h"].rename_stream("a.txt", "docs/z.txt"),
    "copy file": lambda silo: silo["h"].copy_file_between_versions("only spare.txt", "spare", "wc"),
    "clone": lambda silo: silo["h"].clone_version("wc", "third"),
    "clone delta": lambda silo: silo["h"].clone_version_delta("wc", "third"),
    "increment": lambda silo: silo["h"].increment_version(clone_previous_version=True),
    "add version": lambda silo: silo["h"].create_new_version("empty"),
    "rename version": lambda silo: silo["h"].rename_version("spare", "renamed"),
    "delete version": lambda silo: silo["h"].del_version("spare"),
    "date version": lambda silo: silo["h"].set_version_date("wc", "2020-01-01T00:00:00"),
    "move directory": lambda silo: move_directory(silo, None, force=False),
    "replace version": lambda silo: move_directory(silo, "spare", force=True),
    "delete": lambda silo: silo.del_item("h"),
    "delete and remember": lambda silo: silo.del_item("h", remember=True),
    "batch": batch_of_two,
    "page": page_of_two,
}


def state_of(silo: Silo) -> State:
    return {i: record_state(silo[i]) for i in list(silo)} | {"removed": silo.removed()}


def record_state(record: HarvestedRecord) -> State:
    def content(path: str, version: str) -> bytes:
        with record.get_stream(path, version) as stream:
            return stream.read()

    return {
        "cursor": record.currentversion,
        "metadata": record.metadata,
        "kinds": {v: record.origin(v).kind for v in record.versions},
        "files": {v: sorted(record.paths(v)) for v in record.versions},
        "top": {v: sorted(record.version_log(v) and record["files"][v]) for v in record.versions},
        "content": {v: {p: content(p, v) for p in record.paths(v)} for v in record.versions},
        "dated": record.version_date("wc") if "wc" in record.versions else "",
    }


def check_whole(path: str) -> State:
    with Silo(path, create=False) as silo:
        found = state_of(silo)
        problems: list[tuple[str, str]] = []
        walked = sorted(walk_records(f"{path}/pairtree_root", lambda *p: problems.append(p)))
        assert walked == list(silo)
        assert len(silo) == len(walked)
        assert not problems
        for identifier in walked:
            for version in silo[identifier].versions:
                for file in silo[identifier].paths(version):
                    info = silo[identifier].file_info(file, version)
                    with silo[identifier].get_stream(file, version) as stream:
                        assert atomic_file.digest_of(stream).sha256 == info.sha256
    return found


def leftovers(path: str) -> Iterator[str]:
    """Staged names anywhere in the tree, and directories that hold nothing."""
    for _, directories, files in os.walk(f"{path}/pairtree_root"):
        yield from (f for f in (*files, *directories) if f.startswith((".silo-", "__.silo-")))
        yield from (f for f in files if f.endswith((".new", ".deleted")))
    yield from os.listdir(f"{path}/.silo/tmp") if os.path.isdir(f"{path}/.silo/tmp") else ()


@pytest.fixture(scope="module")
def template() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as directory:
        build(f"{directory}/silo")
        yield f"{directory}/silo"


def attempt(path: str, change: Change, failing: FailingOs, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the change was said to be made."""
    with Silo(path, create=False) as silo:
        len(silo)
        try:
            with monkeypatch.context() as patch:
                failing.take_the_place_of_os(patch)
                change(silo)
        except (OSError, ManifestUnreadable, KeyboardInterrupt):
            return False
        finally:
            with Silo(path, create=False) as same:
                # What broke off is swept or finished by the next write of the record.
                for identifier in ("h", "new", "h/x/y", "other"):
                    record = same.get_item(identifier)
                    if identifier == "other" or record.exists:
                        record.metadata["again"] = record.metadata.get("again", 0) + 1
                        record.sync()
                assert os.path.isdir(same.staging.directory())
    return True


def without_again(state: State) -> State:
    return {
        key: value
        if key == "removed"
        else value | {"metadata": {k: v for k, v in value["metadata"].items() if k != "again"}}
        for key, value in state.items()
    }


def fault_in_turn(at: int, call: str) -> int:
    """Every other call is interrupted, the others fail as they may, one way after the other."""
    if at % 2:
        return INTERRUPT
    ways = failures(call)
    return ways[at // 2 % len(ways)]


EACH = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EMFILE": errno.EMFILE, "EINTR": errno.EINTR,
        "interrupt": INTERRUPT}  # fmt: skip


@pytest.mark.parametrize(
    "fault", ["in turn", *(pytest.param(fault, marks=pytest.mark.slow) for fault in EACH)]
)
@pytest.mark.parametrize("name", family(CHANGES, 3))
def test_a_failure_leaves_the_old_state_or_the_new_one(
    name: str, fault: str, template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = os.path.dirname(template)

    def fresh(label: object) -> str:
        shutil.rmtree(f"{directory}/{label}", ignore_errors=True)
        shutil.rmtree(f"{directory}/{label}.source", ignore_errors=True)
        return copy_of(template, f"{directory}/{label}")

    change = CHANGES[name]
    old = without_again(check_whole(fresh("old")))
    counting = FailingOs()
    assert attempt(fresh("new"), change, counting, monkeypatch)
    new = without_again(check_whole(f"{directory}/new"))
    assert old != new
    partly = dict(old)  # of a batch, records are committed one by one
    partly["h"] = new.get("h")
    assert counting.calls
    for at, call in enumerate(counting.calls):
        injected = EACH[fault] if fault in EACH else fault_in_turn(at, call)
        if injected not in (*failures(call), INTERRUPT):
            continue
        path = fresh(at)
        done = attempt(path, change, FailingOs(at, injected), monkeypatch)
        found = without_again(check_whole(path))
        where = f"{name}: {call}, call {at} of {counting.calls}, {injected}"
        allowed = [new] if done else [old, new, *([partly] if name in {"batch", "page"} else [])]
        assert found in allowed, where
        assert not list(leftovers(path)), where
        shutil.rmtree(path)


def test_a_handle_goes_on_after_its_write_failed(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = silo.get_item("a")
    record.put_stream("one", "1", sync=False)
    record.put_stream("two", "2", sync=False)
    record.metadata["key"] = "value"
    for at in range(25):  # later ones come after the commit
        with monkeypatch.context() as patch:
            FailingOs(at).take_the_place_of_os(patch)
            with contextlib.suppress(OSError, ManifestUnreadable):
                record.sync()
                break
        assert [file for file, *_ in record._changes.queued] == ["one", "two"]
    record.sync()
    again = silo["a"]
    assert again.files == ["one", "two"]
    assert again.metadata == {"key": "value"}


def test_a_group_that_does_not_reach_the_medium_is_not_published(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: object) -> None:
        raise OSError(errno.EIO, "the medium refuses")

    silo.get_item("a").put_stream("f", "old")
    barrier = type(atomic_file.group_barrier(silo.path))
    with monkeypatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setattr(barrier, "flush", refuse)
        batch = stack.enter_context(silo.batch(["a", "b"]))
        batch.edit("a").put("1", "f", b"new")
        batch.edit("b").add_version("1", date="2004-06-24", origin=Origin("harvest"))
        with pytest.raises(OSError, match="medium"):
            stack.close()
    with silo["a"].get_stream("f") as stream:
        assert stream.read() == b"old"
    assert list(silo) == ["a"]
