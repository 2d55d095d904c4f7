"""The aggregation agrees with the files, whatever is done to them."""

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import MEMORY
from rdf_checks import (
    RDF_OF_2010,
    aggregated,
    assert_in_step,
    content,
    expected,
    stored,
)

from recordsilo import Origin, RDFRecord, RDFSilo
from recordsilo.errors import (
    FileNotInVersion,
    PathNameError,
    RecordSiloError,
    RevisionConflict,
    VersionFrozen,
)

# -- the aggregation and the files -----------------------------------------------------------


def move_directory(record: RDFRecord, version: str | None, *, force: bool = False) -> str:
    source = Path(tempfile.mkdtemp(dir=MEMORY))
    (source / "d").mkdir()
    (source / "d/one.txt").write_text("one")
    (source / "two.txt").write_text("two")
    return record.move_directory_as_new_version(str(source), version, force=force)


def write_stream(record: RDFRecord) -> None:
    with record.get_stream("a.txt", writeable=True) as stream:
        stream.write(b"more")


def put_in_another_version(record: RDFRecord) -> None:
    record.clone_version("1", "other")
    record.put_stream("only here", "x", "1")
    record.del_stream("a.txt", ["other", "1"])


def put_queued(record: RDFRecord) -> None:
    record.put_stream("q/1", "x", sync=False)
    record.put_stream("q/2", "x", sync=False)
    record.sync()


def batch(record: RDFRecord) -> None:
    with record._silo.batch(["oai:x:1", "oai:x:2"]) as group:
        group.edit("oai:x:1").put("1", "batched", b"x")
        second = group.edit("oai:x:2")
        second.add_version("1", date="2004-06-24", origin=Origin("local"))
        second.put("1", "batched too", b"x")


def clone_delta_and_put(record: RDFRecord) -> None:
    record.clone_version_delta("1", "wc")
    record.put_stream("n", "x")


def create_and_put(record: RDFRecord) -> None:
    record.create_new_version("v")
    record.put_stream("n", "x")


def clone_and_delete_original(record: RDFRecord) -> None:
    record.clone_version("1", "wc")
    record.del_version("1")


def copy_into_new(record: RDFRecord) -> None:
    record.create_new_version("v")
    record.copy_file_between_versions("a.txt", "1", "v")


def move_over_clone(record: RDFRecord) -> None:
    record.clone_version("1", "wc")
    move_directory(record, "wc", force=True)


MUTATIONS: dict[str, Callable[[RDFRecord], object]] = {
    "put_stream": lambda r: r.put_stream("new ü %41#?.txt", "x"),
    "put_stream over another": lambda r: r.put_stream("a.txt", "other"),
    "put_stream as metadata": lambda r: r.put_stream("dc.xml", "<x/>", metadata=True),
    "put_stream in another version": put_in_another_version,
    "put_stream, synced later": put_queued,
    "get_stream, writeable": write_stream,
    "del_stream": lambda r: r.del_stream("docs/b.txt"),
    "del_dir": lambda r: r.del_dir("docs"),
    "rename_stream": lambda r: r.rename_stream("a.txt", "z/a.txt"),
    "clone_version": lambda r: r.clone_version("1", "wc"),
    "clone_version, some left out": lambda r: r.clone_version("1", "wc", ["docs", "manifest.rdf"]),
    "clone_version_delta": clone_delta_and_put,
    "increment_version": lambda r: r.increment_version(),
    "increment_version with files": lambda r: r.increment_version(clone_previous_version=True),
    "increment_version_delta": lambda r: r.increment_version_delta(clone_previous_version=True),
    "create_new_version": create_and_put,
    "rename_version": lambda r: r.rename_version("1", "renamed"),
    "del_version": clone_and_delete_original,
    "copy_file_between_versions": copy_into_new,
    "set_version_date": lambda r: r.set_version_date("1", "2004-06-24"),
    "move_directory_as_new_version": lambda r: move_directory(r, None),
    "move_directory_as_new_version, forced": move_over_clone,
    "a batch": batch,
}


@pytest.mark.long
@pytest.mark.parametrize("name", MUTATIONS)
def test_aggregation_equals_files_after(name: str, rdf_silo: RDFSilo, record: RDFRecord) -> None:
    if "delta" in name:
        record.add_triple(record.uri, "dc:title", "kept in the original")
        record.sync()
    original = content(record)
    MUTATIONS[name](record)
    assert_in_step(rdf_silo.path)
    if "delta" in name:
        assert content(record, version="1") == original


FILES = ("a.txt", "b ü.txt", "d/c.txt", "d/e/f.txt")
_file, _number = st.sampled_from(FILES), st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.just("put"), _number, _file),
    st.tuples(st.just("delete"), _number, _file),
    st.tuples(st.just("rename"), _number, _file, _file),
    st.tuples(st.just("copy"), _number, _number, _file),
    st.tuples(st.just("clone"), _number, st.booleans()),
    st.tuples(st.just("increment"), st.booleans()),
    st.tuples(st.just("drop"), _number),
    st.tuples(st.just("cursor"), _number),
    st.tuples(st.just("state"), st.text("xyz", min_size=1, max_size=2)),
    st.tuples(st.just("del_dir"), st.sampled_from(["d", "d/e"])),
    st.tuples(st.just("rename version"), _number),
    st.tuples(st.just("reopen")),
)


class Driven:
    """A record, driven by random steps; what each version states is modelled beside it."""

    def __init__(self, silo: RDFSilo) -> None:
        self.silo = silo
        self.record = silo.get_item("oai:x:1")
        self.titles: dict[str, set[str]] = {"1": set()}
        self.count = 0

    def version(self, number: int) -> str:
        return self.record.versions[number % len(self.record.versions)]

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def step(self, kind: str, *how: Any) -> None:
        titles, record = self.titles, self.record
        if kind == "put":
            record.put_stream(how[1], f"{how}", self.version(how[0]))
        elif kind == "delete":
            record.del_stream(how[1], self.version(how[0]))
        elif kind == "rename":
            record.rename_stream(how[1], how[2], self.version(how[0]))
        elif kind == "copy":
            record.copy_file_between_versions(how[2], self.version(how[0]), self.version(how[1]))
        elif kind == "clone":
            original, new = self.version(how[0]), self.name()
            (record.clone_version_delta if how[1] else record.clone_version)(original, new)
            titles[new] = set(titles[original])
        elif kind == "increment":
            cursor = record.currentversion
            titles[record.increment_version(clone_previous_version=how[0])] = (
                set(titles[cursor]) if how[0] else set()
            )
        elif kind == "drop":
            name = self.version(how[0])
            record.del_version(name)
            del titles[name]
        elif kind == "cursor":
            record.set_version_cursor(self.version(how[0]))
        elif kind == "state":
            record.add_triple(record.uri, "dc:title", how[0])
            titles[record.currentversion].add(how[0])
        elif kind == "del_dir":
            record.del_dir(how[0])
        elif kind == "rename version":
            original, new = self.version(how[0]), self.name()
            record.rename_version(original, new)
            titles[new] = titles.pop(original)
        else:
            record.sync()
            self.record = self.silo["oai:x:1"]


@pytest.mark.long
@settings(max_examples=examples(40), deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_files_aggregation_and_statements_agree_after_any_steps(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as top, RDFSilo(f"{top}/silo") as silo:
        driven = Driven(silo)
        for step in steps:
            with contextlib.suppress(RecordSiloError, FileNotFoundError):
                driven.step(*step)
        driven.record.sync()
        assert_in_step(silo.path)
        for version, titles in driven.titles.items():
            driven.record.load_rdf_manifest(version)
            found = driven.record.list_rdf_objects(driven.record.uri, "dc:title")
            assert {str(title) for title in found} == titles


def test_a_file_and_its_aggregation_are_one_commit(record: RDFRecord) -> None:
    before = record.revision
    record.put_stream("c.txt", "c")
    assert record.revision == before + 1
    record.add_triple(record.uri, "dc:title", "T")
    record.metadata["k"] = "v"
    record.sync()
    assert record.revision == before + 2
    record.sync()
    assert record.revision == before + 2, "nothing changed, nothing written"


def test_a_change_refused_changes_neither(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    with pytest.raises(RevisionConflict):
        record.put_stream("c.txt", "c", if_revision=99)
    assert_in_step(rdf_silo.path)
    assert not rdf_silo["oai:x:1"].triple_exists(record.uri, "dc:title", "*")
    record.sync()
    assert rdf_silo["oai:x:1"].triple_exists(record.uri, "dc:title", "T")


def test_what_is_aggregated_elsewhere_and_said_of_files_stays(record: RDFRecord) -> None:
    record.add_triple(record.uri, "ore:aggregates", "http://elsewhere.example/f")
    record.add_triple(record.uri, "ore:aggregates", f"{record.uri}/never put")
    record.add_triple(record.file_uri("a.txt"), "dc:title", "About a")
    record.del_triple(record.uri, "ore:aggregates", record.file_uri("docs/b.txt"))
    record.del_stream("a.txt")
    assert {str(o) for o in record.list_rdf_objects(record.uri, "ore:aggregates")} == {
        "http://elsewhere.example/f",
        "info:oai:x:1/docs/b.txt",
    }
    assert record.triple_exists(record.file_uri("a.txt"), "dc:title", "About a")


@pytest.mark.long
@pytest.mark.parametrize("identifier", ["a/b", "oai:x y<é>", "x?", "100%", "[q]{z}", "a#", "d\x7f"])
@pytest.mark.parametrize("uri_base", ["info:", "", "http://h.example/"])
def test_odd_identifiers_and_file_names_are_aggregated(
    tmp_path: Path, identifier: str, uri_base: str
) -> None:
    names = ["a b.txt", "a%20b.txt", "a#b", "a?", "[x]", "é/ü", "a&'(\"<>`{|}^\\", "\ufffe"]
    with RDFSilo(str(tmp_path / "silo"), uri_base=uri_base) as silo:
        record = silo.get_item(identifier)
        for name in names:
            record.put_stream(name, "x")
        for fmt in ("turtle", "nt"):
            record.set_rdf_manifest_filename(f"manifest.{fmt}", fmt)
            record.put_stream("x", fmt)
            record.put_stream(fmt, "y")
        found = silo[identifier]
        uris = {found.file_uri(name) for name in found.paths() if name != "manifest.nt"}
        assert len(uris) == len(found.paths()) - 1
        assert {str(o) for o in found.list_rdf_objects(found.uri, "ore:aggregates")} == uris
        assert all(found.triple_exists(found.uri, "*", uri) for uri in uris)


# -- harvested versions ----------------------------------------------------------------------


def test_a_frozen_version_is_never_written(rdf_silo: RDFSilo, harvest: Any, tree: Any) -> None:
    harvest(rdf_silo, "oai:x:1")
    record = rdf_silo["oai:x:1"]
    before = tree(record.to_dirpath(version="1"))
    record.clone_version("1", "wc")
    record.put_stream("n", "x")
    record.add_triple(record.uri, "dc:title", "T")
    record.sync()
    record.load_rdf_manifest("1")
    record.add_triple(record.uri, "dc:title", "T")
    with pytest.raises(VersionFrozen, match="clone it first"):
        record.sync()
    record.revert()
    record.load_rdf_manifest("1")
    record.add_namespace("x", "http://x.example/")
    record.put_stream("m", "x")
    assert tree(record.to_dirpath(version="1")) == before == ["oai_dc"]
    assert aggregated(stored(record, "wc"), record) == expected(record, "wc")


def test_a_harvest_gets_no_file_the_repository_did_not_give(
    rdf_silo: RDFSilo, harvest: Any
) -> None:
    harvest(rdf_silo, "oai:x:1")
    harvest(rdf_silo, "oai:x:1", version="2")
    record = rdf_silo["oai:x:1"]
    assert record.paths("1") == record.paths("2") == ["oai_dc"]
    assert record.triple_exists(record.uri, "ore:aggregates", f"{record.uri}/oai_dc")
    revision = record.revision
    record.add_namespace("x", "http://x.example/")
    record.sync()
    assert record.revision == revision, "what is only shown is not stored"


def test_nothing_can_be_stated_in_a_harvested_version(rdf_silo: RDFSilo, harvest: Any) -> None:
    harvest(rdf_silo, "oai:x:1")
    record = rdf_silo["oai:x:1"]
    for change in (record.add_triple, record.del_triple):
        with pytest.raises(VersionFrozen, match="clone it first"):
            change(record.uri, "dc:title", "T")
    record.clone_version("1", "wc")
    record.add_triple(record.uri, "dc:title", "T")
    record.sync()
    assert rdf_silo["oai:x:1"].paths("1") == ["oai_dc"]


def test_what_is_stated_in_a_version_of_2010_is_kept_in_step_until_it_is_frozen(
    rdf_silo: RDFSilo,
) -> None:
    with rdf_silo.batch(["oai:x:1"]) as batch:
        edit = batch.edit("oai:x:1")
        edit.add_version("1", date="2004-06-24T00:00:00", origin=Origin("harvest"))
        edit.put("1", "oai_dc", b"<dc/>", metadata=True)
    record = rdf_silo["oai:x:1"]
    record.add_triple(record.uri, "dc:title", "T")
    record.sync()
    record.put_stream("n", "x")
    assert aggregated(stored(record, "1"), record) == expected(record, "1")
    record.clone_version("1", "wc")
    as_frozen = content(record, version="1")
    with rdf_silo.batch(["oai:x:1"]) as group:
        group.edit("oai:x:1").put("1", "mods", b"<mods/>", metadata=True, allow_frozen=True)
    record = rdf_silo["oai:x:1"]
    assert content(record, version="1") == as_frozen
    shown = record.load_rdf_manifest("1").get_graph()
    assert aggregated(shown, record) == expected(record, "1")


# -- files and directories -------------------------------------------------------------------


def test_statements_are_listed_among_the_files_only_once_they_exist(rdf_silo: RDFSilo) -> None:
    record = rdf_silo.get_item("oai:x:1")
    assert record.files == []
    record.sync()
    assert rdf_silo["oai:x:1"].files == record.files == []
    record.add_triple(record.uri, "dc:title", "T")
    assert record.files == []
    record.sync()
    assert record.files == ["manifest.rdf"]
    record.create_new_version("2")
    assert record.files == []
    record.put_stream("a", "a")
    assert record.files == ["a", "manifest.rdf"]
    assert record.metadata_files == {"1": [], "2": []}


def test_putting_the_statements_as_a_file_is_taken_up(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    record.put_stream("manifest.rdf", RDF_OF_2010.replace(b"info:1", b"info:oai:x:1"))
    assert record.triple_exists(record.uri, "dc:title", "A title")
    assert_in_step(rdf_silo.path)


def test_deleting_the_statements_is_not_undone_at_once(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    record.sync()
    record.del_stream("manifest.rdf")
    assert record.files == ["a.txt", "docs"]
    assert record.triple_exists(record.uri, "ore:aggregates", f"{record.uri}/a.txt")
    assert not record.triple_exists(record.uri, "dc:title", "*")
    record.put_stream("c", "c")
    assert aggregated(stored(record), record) == expected(record)


def test_del_dir_deletes_all_within_as_one_change(
    rdf_silo: RDFSilo, record: RDFRecord, tree: Any
) -> None:
    for path in ("docs/deep/c", "docs/deep/er/d", "docsish"):
        record.put_stream(path, "x")
    before = record.revision
    record.del_dir("docs/deep", agent="me", message="tidy")
    assert record.paths() == ["a.txt", "manifest.rdf", "docs/b.txt", "docsish"]
    assert tree(record.to_dirpath()) == ["a.txt", "docs", "docs/b.txt", "docsish", "manifest.rdf"]
    assert record.versionlog[-1].startswith("Deleted directory docs/deep [")
    record.del_dir("docs/")
    assert tree(record.to_dirpath()) == ["a.txt", "docsish", "manifest.rdf"]
    assert record.revision == before + 2
    assert_in_step(rdf_silo.path)
    for name in ("docs", "a.txt", "nope"):
        with pytest.raises(FileNotInVersion):
            record.del_dir(name)
    for name in ("", "/", "../x"):
        with pytest.raises(PathNameError):
            record.del_dir(name)
