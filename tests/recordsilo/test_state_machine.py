"""Versions and files of a record against a simple model, through two handles and two Silos."""

import tempfile
from typing import Any

import pytest
from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recordsilo import HarvestedRecord, Silo
from recordsilo.disk import atomic_file
from recordsilo.disk.names import name_after
from recordsilo.errors import (
    FileInTheWay,
    FileNotInVersion,
    LastVersion,
    VersionExists,
    VersionNotFound,
)

versions = st.sampled_from(["1", "2", "3", "wc", "x"])
paths = st.sampled_from(["a", "b", "d/a", "d/b", "d", "m.xml"])
which = st.integers(0, 1)
contents = st.integers(0, 99).map(lambda number: b"<a>%d</a>" % number)  # may be metadata

Files = dict[str, tuple[bytes, bool]]


class Versions(RuleBasedStateMachine):
    """A handle may be behind the other; each change is applied to what is stored."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(atomic_file, "flush_fd", lambda fd: None)
        self.directory = tempfile.TemporaryDirectory()
        path = f"{self.directory.name}/silo"
        self.silos = [Silo(path), Silo(path)]
        self.model: dict[str, Files] = {}
        self.cursor = "1"
        self.metadata: dict[str, int] = {}

    @initialize()
    def make(self) -> None:
        self.silos[0].get_item("r").sync()
        self.model = {"1": {}}
        self.handles = [silo["r"] for silo in self.silos]

    def teardown(self) -> None:
        for silo in self.silos:
            silo.close()
        self.patch.undo()
        self.directory.cleanup()

    def handle(self, number: int) -> HarvestedRecord:
        """A handle; one that is behind is brought up where its view decides what is done."""
        self.handles[number].revert()
        return self.handles[number]

    def in_the_way(self, version: str, path: str) -> bool:
        known = self.model[version]
        return any(p.startswith(path + "/") or path.startswith(p + "/") for p in known)

    @rule(number=which, version=versions, path=paths, content=contents, metadata=st.booleans())
    def put(self, number: int, version: str, path: str, content: bytes, metadata: bool) -> None:
        record = self.handle(number)
        if version not in self.model:
            with pytest.raises(VersionNotFound):
                record.put_stream(path, content, version)
        elif self.in_the_way(version, path) or (path == "d" and "d" in record["subdir"][version]):
            with pytest.raises(FileInTheWay):
                record.put_stream(path, content, version)
        else:
            record.put_stream(path, content, version, metadata or None)
            was = self.model[version].get(path, (b"", False))[1]
            self.model[version][path] = (content, metadata or was)

    @rule(version=versions, path=paths, content=contents)
    def put_behind(self, version: str, path: str, content: bytes) -> None:
        """Through a handle that has not seen the other's last changes."""
        stale = self.handles[1]
        if version not in self.model or version not in stale.versions or path.startswith("d"):
            return
        if stale.currentversion in self.model:
            stale.put_stream(path, content, version)
            was = self.model[version].get(path, (b"", False))[1]
            self.model[version][path] = (content, was)

    @rule(number=which, version=versions, path=paths)
    def delete(self, number: int, version: str, path: str) -> None:
        record = self.handle(number)
        if path == "d":
            return
        if version not in self.model:
            with pytest.raises(VersionNotFound):
                record.del_stream(path, version)
        elif path not in self.model[version]:
            with pytest.raises(FileNotInVersion):
                record.del_stream(path, version)
        else:
            record.del_stream(path, version)
            del self.model[version][path]

    @rule(number=which, version=versions, path=paths, new=st.sampled_from(["n", "e/n", "a"]))
    def rename_file(self, number: int, version: str, path: str, new: str) -> None:
        record = self.handle(number)
        if version in self.model and path in self.model[version] and new not in self.model[version]:
            record.rename_stream(path, new, version)
            self.model[version][new] = self.model[version].pop(path)

    @rule(number=which, original=versions, new=versions, delta=st.booleans())
    def clone(self, number: int, original: str, new: str, delta: bool) -> None:
        record = self.handle(number)
        act = record.clone_version_delta if delta else record.clone_version
        if original not in self.model:
            with pytest.raises(VersionNotFound):
                act(original, new)
        elif new in self.model:
            with pytest.raises(VersionExists):
                act(original, new)
        else:
            act(original, new)
            self.model[new] = dict(self.model[original])
            self.cursor = new

    @rule(number=which, original=versions, new=versions)
    def rename(self, number: int, original: str, new: str) -> None:
        record = self.handle(number)
        if original in self.model and new not in self.model:
            record.rename_version(original, new)
            self.model = {new if v == original else v: files for v, files in self.model.items()}
            self.cursor = new
        elif new in self.model:
            with pytest.raises(VersionExists):
                record.rename_version(original, new)

    @rule(number=which, clone=st.booleans(), delta=st.booleans())
    def increment(self, number: int, clone: bool, delta: bool) -> None:
        record = self.handle(number)
        act = record.increment_version_delta if delta else record.increment_version
        name = name_after(self.cursor, list(self.model))
        assert act(clone_previous_version=clone) == name
        self.model[name] = dict(self.model[self.cursor]) if clone else {}
        self.cursor = name

    @rule(number=which, version=versions)
    def delete_version(self, number: int, version: str) -> None:
        record = self.handle(number)
        if version not in self.model:
            with pytest.raises(VersionNotFound):
                record.del_version(version)
        elif len(self.model) == 1:
            with pytest.raises(LastVersion):
                record.del_version(version)
        else:
            record.del_version(version)
            del self.model[version]
            if self.cursor == version:
                self.cursor = list(self.model)[-1]

    @rule(number=which, version=versions)
    def move_cursor(self, number: int, version: str) -> None:
        record = self.handle(number)
        assert record.set_version_cursor(version) == (version in self.model)
        if version in self.model:
            record.sync()
            self.cursor = version

    @rule(number=which, key=st.sampled_from("kl"), value=st.integers(0, 2))
    def note(self, number: int, key: str, value: int) -> None:
        record = self.handle(number)
        record.metadata[key] = value
        record.sync()
        self.metadata[key] = value

    @precondition(lambda self: self.model)
    @invariant()
    def every_view_is_the_model(self) -> None:
        for record in (self.silos[0]["r"], self.silos[1]["r"]):
            assert record.versions == list(self.model)
            assert record.currentversion == self.cursor
            assert record.metadata == self.metadata
            for version, files in self.model.items():
                assert sorted(record.paths(version)) == sorted(files)
                assert set(record.metadata_files[version]) == {p for p, f in files.items() if f[1]}
                for path, (content, _) in files.items():
                    self.check_file(record, version, path, content)

    def check_file(self, record: HarvestedRecord, version: str, path: str, content: bytes) -> None:
        with record.get_stream(path, version) as stream:
            assert stream.read() == content
        with open(record.to_dirpath(path, version), "rb") as file:
            assert file.read() == content
        assert record.file_info(path, version).size == len(content)


TestVersions: Any = Versions.TestCase
TestVersions.settings = settings(max_examples=examples(40), stateful_step_count=25, deadline=None)
