"""RDFSilo, RDFRecord, RDFManifest: the statements, and that they match the files."""

import contextlib
import errno
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from examples import examples, family
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import RDF, XSD, BNode, Graph, Literal, URIRef
from rdflib.compare import isomorphic

from recordsilo import Granary, Origin, RDFManifest, RDFRecord, RDFSilo, Silo
from recordsilo.disk import atomic_file
from recordsilo.errors import (
    FileNotInVersion,
    ManifestUnreadable,
    PathNameError,
    RecordSiloError,
    RevisionConflict,
    VersionFrozen,
    VersionNotFound,
)
from recordsilo.rdf.records import RDFConflict, RDFFormatError, RDFManifestUnreadable, RDFTermError
from recordsilo.records.commit import _Committal

ORE = "http://www.openarchives.org/ore/terms/aggregates"
DC_TITLE = URIRef("http://purl.org/dc/elements/1.1/title")
_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

RunPython = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def rdf_silo(tmp_path: Path) -> Iterator[RDFSilo]:
    with RDFSilo(str(tmp_path / "silo")) as opened:
        yield opened


@pytest.fixture
def record(rdf_silo: RDFSilo) -> RDFRecord:
    found = rdf_silo.get_item("oai:x:1")
    found.put_stream("a.txt", "a")
    found.put_stream("docs/b.txt", "b")
    return found


def content(record: RDFRecord, path: str = "manifest.rdf", version: str | None = None) -> bytes:
    with record.get_stream(path, version) as file:
        return file.read()


def stored(record: RDFRecord, version: str | None = None) -> Graph:
    """The statements on disk, read by rdflib alone."""
    file = record.rdf_file
    return Graph().parse(data=content(record, file.name, version), format=file.format)


def aggregated(graph: Graph, record: RDFRecord) -> set[str]:
    return {str(node) for node in graph.objects(URIRef(record.uri), URIRef(ORE))}


def expected(record: RDFRecord, version: str | None = None) -> set[str]:
    name = record.rdf_file.name
    encoded = [re.sub(r"[ %#?]", lambda c: quote(c[0]), p) for p in record.paths(version)]
    return {f"{record.uri}/{path}" for path in encoded if path != name}


def assert_in_step(path: str, identifier: str = "oai:x:1") -> None:
    """Each version made by people aggregates its files, on disk and as shown, no more, no less."""
    with RDFSilo(path, create=False) as silo:
        record = silo[identifier]
        for version in record.versions:
            files = expected(record, version)
            if record.rdf_file.name in record.paths(version):
                assert aggregated(stored(record, version), record) == files, version
            else:
                assert not files, version
            shown = record.load_rdf_manifest(version).get_graph()
            assert aggregated(shown, record) == files, version
            assert sorted(record.paths(version)) == sorted(files_on_disk(record, version))


def files_on_disk(record: RDFRecord, version: str) -> list[str]:
    top = record.to_dirpath(version=version)
    return [
        os.path.relpath(os.path.join(directory, name), top)
        for directory, _, names in os.walk(top)
        for name in names
        if name[:2] not in {"3=", "4="}
    ]


def overwrite(silo: RDFSilo, text: str | bytes) -> None:
    """Write a version's RDF behind the library's back."""
    Path(silo["oai:x:1"].to_dirpath("manifest.rdf")).write_bytes(
        text if isinstance(text, bytes) else text.encode()
    )


# -- never loaded where not used -----------------------------------------------------------


def test_importing_the_store_does_not_import_rdflib(run_python: RunPython) -> None:
    done = run_python(
        "import sys, recordsilo\n"
        "from recordsilo import *\n"
        "import recordsilo.granary, recordsilo.commands.records\n"
        "assert 'rdflib' not in sys.modules and 'recordsilo.rdf.records' not in sys.modules\n"
        "from recordsilo import RDFSilo, RDFRecord, RDFManifest\n"
        "assert 'rdflib' in sys.modules\n"
        "assert not hasattr(recordsilo, 'RDFNothing')"
    )
    assert done.returncode == 0, done.stderr


def test_without_rdflib_the_error_says_how_to_install_it(run_python: RunPython) -> None:
    done = run_python(
        "import sys\n"
        "sys.modules['rdflib'] = None\n"
        "import recordsilo\n"
        "for name in ('RDFSilo', 'RDFRecord', 'RDFManifest'):\n"
        "    try: getattr(recordsilo, name)\n"
        "    except ModuleNotFoundError as error: assert error.name == 'rdflib'; print(error)"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("`pip install recordsilo[rdf]`") == 3


# -- silo and granary ------------------------------------------------------------------------


def test_every_way_to_a_record_gives_an_rdf_record(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    found = [rdf_silo["oai:x:1"], rdf_silo.get_item("oai:x:1"), rdf_silo.get_item("oai:x:2")]
    found += [rdf_silo.get("oai:x:1"), *rdf_silo.iteritems()]  # type: ignore[list-item] # a record
    assert [type(one) for one in found] == [RDFRecord] * 5


def test_granary_opens_an_rdf_silo_with_its_uri_base(tmp_path: Path) -> None:
    granary = Granary(str(tmp_path / "granary"))
    with granary.get_rdf_silo("one", uri_base="http://x.example/", note="kept") as silo:
        assert isinstance(silo, RDFSilo)
        assert silo.get_item("y").uri == "http://x.example/y"
        assert silo.state["note"] == "kept"
    assert granary.silos == ["one"]


def test_the_constructor_honours_the_date(rdf_silo: RDFSilo) -> None:
    record = rdf_silo.get_item("oai:x:1", date="2004-06-24")
    record.put_stream("a", "a")
    assert rdf_silo["oai:x:1"].date == record.date == "2004-06-24T00:00:00"


# -- the aggregation and the files -----------------------------------------------------------


def move_directory(record: RDFRecord, version: str | None, *, force: bool = False) -> str:
    source = Path(tempfile.mkdtemp(dir=_MEMORY))
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


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_files_aggregation_and_statements_agree_after_any_steps(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory(dir=_MEMORY) as top, RDFSilo(f"{top}/silo") as silo:
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
    record.del_triple(record.uri, "ore:aggregates")
    record.sync()
    assert record.revision == revision, "what is only shown is not stored"


def test_what_is_stated_in_a_harvested_version_is_kept_in_step_until_it_is_frozen(
    rdf_silo: RDFSilo, harvest: Any
) -> None:
    harvest(rdf_silo, "oai:x:1")
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


# -- statements ------------------------------------------------------------------------------


def fill(record: RDFRecord) -> None:
    node = BNode()
    record.add_triple(record.uri, "dc:title", "Ein Titel\r\nmit <Zeilen> & 'so' \U0001f600")
    record.add_triple(record.uri, "dc:title", Literal("Un titre", lang="fr"))
    record.add_triple(record.uri, "dcterms:extent", Literal(12))
    record.add_triple(record.uri, "dcterms:issued", Literal("2004-06-24", datatype=XSD.date))
    record.add_triple(record.uri, "dc:creator", node)
    record.add_triple(node, "foaf:name", "Grüße")
    record.add_triple(node, RDF.type, "foaf:Person")


@pytest.mark.parametrize("fmt", ["xml", "pretty-xml", "turtle", "ttl", "nt"])
def test_statements_survive_the_round_trip_through(fmt: str, rdf_silo: RDFSilo) -> None:
    record = rdf_silo.get_item("oai:x:1")
    record.set_rdf_manifest_filename("about.rdf", format=fmt)
    fill(record)
    record.put_stream("a.txt", "a")
    stated = record.get_graph()
    again = rdf_silo["oai:x:1"]
    assert isomorphic(again.get_graph(), stated)
    assert len(again.get_graph()) == 8
    again.put_stream("b.txt", "b")
    assert len(rdf_silo["oai:x:1"].get_graph()) == 9
    for shown in ("xml", "pretty-xml", "turtle", "nt"):
        text = again.rdf_to_string(shown)
        as_read = Graph().parse(data=text, format=shown.removeprefix("pretty-"))
        assert len(as_read) == len(again.get_graph())
        assert any(o == Literal("Un titre", lang="fr") for o in as_read.objects())


@settings(max_examples=examples(150), deadline=None)
@given(
    text=st.text(st.characters(codec="utf-8"), max_size=8),
    fmt=st.sampled_from(["xml", "pretty-xml", "turtle", "nt"]),
    lang=st.sampled_from([None, "en", "de-AT"]),
)
def test_any_text_is_stored_as_it_is_or_refused_before_anything_is_written(
    text: str, fmt: str, lang: str | None
) -> None:
    with tempfile.TemporaryDirectory(dir=_MEMORY) as top:
        manifest = RDFManifest(f"{top}/m", format=fmt, uri="info:x")
        manifest.add_triple("info:x", "dc:title", Literal(text, lang=lang))
        try:
            manifest.sync()
        except RDFTermError:
            assert fmt.endswith("xml")
            assert not os.listdir(top)
        else:
            again = RDFManifest(f"{top}/m", format=fmt, uri="info:x")
            assert again.list_objects("*", "*") == [Literal(text, lang=lang)]


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("http://x.example/", URIRef("http://x.example/")),
        (" urn:isbn:1 ", URIRef("urn:isbn:1")),
        ("dc:title", DC_TITLE),
        ("info:oai:x:1/a b.txt", URIRef("info:oai:x:1/a%20b.txt")),
        ("unknown:name", Literal("unknown:name")),
        ("dc: a note", Literal("dc: a note")),
        ("http: the protocol", Literal("http: the protocol")),
        ("info:", Literal("info:")),
        ("plain", Literal("plain")),
        ("", Literal("")),
        (2004, Literal("2004")),
        (Literal(5), Literal(5)),
    ],
)
def test_an_object_given_as_text_means(text: Any, means: Any, record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:relation", text)
    assert record.list_rdf_objects(record.uri, "dc:relation") == [means]
    assert record.triple_exists(record.uri, "dc:relation", text)
    record.sync()
    assert (URIRef(record.uri), None, means) in stored(record)


@pytest.mark.parametrize(
    "triple",
    [
        ("no uri", "dc:title", "x"),
        ("info:x", "nope:title", "x"),
        ("info:x", "title", "x"),
        (Literal("x"), "dc:title", "x"),
        ("info:x", "dc:title", None),
        (5, "dc:title", "x"),
        ("*", "dc:title", "x"),
    ],
)
def test_what_is_no_statement_is_refused(triple: Any, record: RDFRecord) -> None:
    size = len(record.get_graph())
    with pytest.raises(RDFTermError):
        record.add_triple(*triple)
    assert len(record.get_graph()) == size


@pytest.mark.parametrize(
    ("predicate", "value"),
    [("http://x.example/123", "x"), ("dc:title", "a\x00b")],
)
def test_what_xml_cannot_hold_stops_the_commit(
    predicate: str, value: Any, rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    before = content(record)
    record.add_triple(record.uri, predicate, value)
    with pytest.raises(RDFTermError, match="as xml"):
        record.put_stream("c.txt", "c")
    assert content(record) == before
    assert "c.txt" not in rdf_silo["oai:x:1"].files
    record.del_triple(record.uri, predicate)
    record.put_stream("c.txt", "c")
    assert_in_step(rdf_silo.path)


@pytest.mark.parametrize("fmt", ["xml", "turtle"])
def test_a_statement_that_would_be_read_as_another_is_refused(tmp_path: Path, fmt: str) -> None:
    manifest = RDFManifest(str(tmp_path / "m"), format=fmt, uri="http://x.example/y")
    manifest.add_triple("http://x.example/y", "dc:relation", URIRef("relative"))
    with pytest.raises(RDFTermError, match=f"stored as {fmt}.*relative.*would be altered"):
        manifest.sync()
    assert not os.listdir(tmp_path)


def test_wildcards_stand_for_any(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    record.add_triple(record.uri, "dc:creator", "C")
    record.add_triple("info:other", "dc:title", "T")
    assert record.triple_exists("*", "dc:title", "T")
    assert record.triple_exists(record.uri, "*", "C")
    assert record.triple_exists("info:other", "*", "*")
    assert not record.triple_exists("info:other", "*", "C")
    assert record.list_rdf_objects("*", "dc:title") == [Literal("T")]
    record.del_triple("*", "dc:title")
    assert not record.triple_exists("*", "dc:title", "*")
    record.del_triple(record.uri, "dc:creator", "someone else")
    assert record.triple_exists(record.uri, "dc:creator", "C")


def test_a_star_that_is_a_literal_stands_for_itself(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    assert not record.triple_exists(record.uri, "dc:title", Literal("*"))


def test_namespaces_are_added_changed_and_forgotten(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    record.add_namespace("x", "http://one.example/")
    record.add_namespace("x", "http://two.example/#")
    record.add_triple(record.uri, "x:is", "x:that")
    record.sync()
    assert b'xmlns:x="http://two.example/#"' in content(record)
    again = rdf_silo["oai:x:1"]
    assert again.triple_exists(record.uri, "x:is", URIRef("http://two.example/#that"))
    again.del_namespace("x")
    again.del_namespace("never added")
    with pytest.raises(RDFTermError, match="x:is"):
        again.triple_exists(record.uri, "x:is", "*")
    again.sync()
    assert b"xmlns:x=" not in content(again)
    assert again.triple_exists(record.uri, "http://two.example/#is", "*")


@pytest.mark.parametrize("uri", ["http://x.example", "no uri/", "http://a b/", "relative#"])
def test_what_is_no_namespace_is_refused(uri: str, record: RDFRecord) -> None:
    with pytest.raises(RDFTermError, match="not a namespace"):
        record.add_namespace("x", uri)
    with pytest.raises(TypeError):
        record.add_namespace("x", 5)  # type: ignore[arg-type] # what 2010's callers may pass


def test_the_graph_one_holds_stays_the_graph(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    graph = record.get_graph()
    for title in ("one", "two"):
        graph.add((URIRef(record.uri), DC_TITLE, Literal(title)))
        record.sync()
        record.put_stream(title, "x")
    assert record.get_graph() is graph
    again = rdf_silo["oai:x:1"]
    assert {str(o) for o in again.list_rdf_objects(record.uri, "dc:title")} == {"one", "two"}
    assert set(graph) == set(again.get_graph())
    again.load_rdf_manifest().sync()
    record.get_rdf_manifest().add_triple(record.uri, "dc:title", "three")
    record.get_rdf_manifest().sync()
    assert rdf_silo["oai:x:1"].triple_exists(record.uri, "dc:title", "three")


def test_the_same_statements_are_the_same_bytes(run_python: RunPython, tmp_path: Path) -> None:
    script = (
        "import sys\nfrom recordsilo import RDFManifest\n"
        "m = RDFManifest(sys.argv[1], format=sys.argv[2], uri='info:x')\n"
        "for n in range(20): m.add_triple('info:x/%d' % (n % 5), 'dc:title', str(n))\n"
        "m.sync()"
    )
    for fmt in ("xml", "turtle", "nt"):
        paths = [tmp_path / f"{fmt}{n}" for n in range(2)]
        for path in paths:
            assert run_python(script, str(path), fmt).returncode == 0
        assert paths[0].read_bytes() == paths[1].read_bytes()


# -- versions and the cursor -----------------------------------------------------------------


def test_load_rdf_manifest_honours_the_version(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "of 1")
    record.clone_version("1", "wc")
    record.del_triple(record.uri, "dc:title")
    record.add_triple(record.uri, "dc:title", "of wc")
    record.sync()
    assert record.triple_exists(record.uri, "dc:title", "of wc")
    loaded = record.load_rdf_manifest("1")
    assert loaded is record.get_rdf_manifest()
    assert record.list_rdf_objects(record.uri, "dc:title") == [Literal("of 1")]
    assert record.currentversion == "wc"
    record.add_triple(record.uri, "dc:creator", "said of 1")
    record.sync()
    assert (None, None, Literal("said of 1")) in stored(record, "1")
    assert (None, None, Literal("said of 1")) not in stored(record, "wc")
    record.load_rdf_manifest()
    assert record.list_rdf_objects(record.uri, "dc:title") == [Literal("of wc")]
    with pytest.raises(VersionNotFound):
        record.load_rdf_manifest("nope")


def test_loading_again_forgets_what_was_not_stored(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    record.load_rdf_manifest()
    assert not record.triple_exists(record.uri, "dc:title", "*")


def test_the_graph_follows_the_cursor_once_it_moves(record: RDFRecord) -> None:
    record.clone_version("1", "wc")
    record.load_rdf_manifest("1")
    record.put_stream("c.txt", "c", "1")
    assert record.triple_exists(record.uri, "ore:aggregates", f"{record.uri}/c.txt")
    record.increment_version()
    assert len(record.get_graph()) == 0
    record.load_rdf_manifest("wc")
    record.del_version("wc")
    assert len(record.get_graph()) == 0


def test_set_version_cursor_says_whether_it_moved_and_moves_the_graph(
    record: RDFRecord, caplog: pytest.LogCaptureFixture
) -> None:
    record.add_triple(record.uri, "dc:title", "of 1")
    record.create_new_version("2")
    assert not record.triple_exists(record.uri, "dc:title", "*")
    assert record.set_version_cursor("1") is True
    assert record.triple_exists(record.uri, "dc:title", "of 1")
    assert record.set_version_cursor("nope") is False
    assert "Version nope does not exist" in caplog.text
    assert record.triple_exists(record.uri, "dc:title", "of 1")


def test_moving_the_cursor_loses_no_statement(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    record.create_new_version("2")
    record.add_triple(record.uri, "dc:title", "of 2")
    record.set_version_cursor("1")
    record.add_triple(record.uri, "dc:title", "of 1")
    record.sync()
    for version in ("1", "2"):
        assert (None, DC_TITLE, Literal(f"of {version}")) in stored(record, version)


def test_a_clone_has_what_was_stated_before_it(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    assert record.clone_version("1", "wc") == "wc"
    assert (None, DC_TITLE, Literal("T")) in stored(record, "wc")
    assert (None, DC_TITLE, Literal("T")) in stored(record, "1")


def test_move_directory_returns_the_version_and_keeps_its_statements(
    rdf_silo: RDFSilo, record: RDFRecord, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "new.txt").write_text("x")
    (source / "manifest.rdf").write_bytes(
        RDF_OF_2010.replace(b"info:1", b"info:oai:x:1").replace(b"A title", b"Moved in")
    )
    assert record.move_directory_as_new_version(str(source)) == "2"
    assert record.triple_exists(record.uri, "dc:title", "Moved in")
    assert not source.exists()
    assert_in_step(rdf_silo.path)


def test_deleting_a_version_with_unsaved_statements_deletes_them(record: RDFRecord) -> None:
    record.clone_version("1", "wc")
    record.add_triple(record.uri, "dc:title", "T")
    record.del_version("wc")
    record.sync()
    assert record.versions == ["1"]
    assert not record.triple_exists(record.uri, "dc:title", "*")


def test_statements_of_a_version_deleted_meanwhile_are_not_lost_unsaid(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    record.clone_version("1", "wc")
    record.add_triple(record.uri, "dc:title", "T")
    rdf_silo["oai:x:1"].del_version("wc")
    with pytest.raises(VersionNotFound):
        record.sync()
    record.revert()
    record.sync()


def test_revert_forgets_statements_and_file_name(record: RDFRecord) -> None:
    for revert in (record.revert, record.revert_manifest):
        record.add_triple(record.uri, "dc:title", "T")
        revert()
        assert not record.triple_exists(record.uri, "dc:title", "*")
    record.set_rdf_manifest_filename("other.ttl", "turtle")
    record.revert()
    assert record["rdffilename"] == "manifest.rdf"


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


# -- file name and format --------------------------------------------------------------------


def test_name_and_format_are_kept_under_the_keys_of_2010(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    path = Path(record.to_dirpath("__manifest.json", root=True))
    assert record["rdffilename"] == "manifest.rdf"
    record.set_rdf_manifest_filename("about/it.ttl", format="turtle")
    record.add_triple(record.uri, "dc:title", "T")
    record.sync()
    found = json.loads(path.read_bytes())
    assert (found["rdffilename"], found["rdffileformat"]) == ("about/it.ttl", "turtle")
    with Silo(rdf_silo.path, create=False) as plain:
        plain["oai:x:1"].put_stream("by a plain silo", "x")
    again = rdf_silo["oai:x:1"]
    assert again.manifest["rdffilename"] == "about/it.ttl"
    assert again.triple_exists(record.uri, "dc:title", "T")
    assert again.triple_exists(again.uri, "ore:aggregates", again.file_uri("by a plain silo"))
    again.put_stream("c", "c")
    assert b"@prefix dc:" in content(again, "about/it.ttl")
    assert_in_step(rdf_silo.path)


def test_another_file_name_begins_anew_and_leaves_the_old_file(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "old")
    record.sync()
    record.set_rdf_manifest_filename("new.nt", "nt")
    assert not record.triple_exists(record.uri, "dc:title", "*")
    record.add_triple(record.uri, "dc:title", "new")
    record.sync()
    assert aggregated(stored(record), record) == expected(record)
    assert record.file_uri("manifest.rdf") in aggregated(record.get_graph(), record)
    assert b"old" in content(record)


def test_statements_not_yet_stored_go_to_the_new_file(record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    record.set_rdf_manifest_filename("new.nt", "nt")
    assert record.triple_exists(record.uri, "dc:title", "T")
    record.sync()
    assert (None, DC_TITLE, Literal("T")) in stored(record)
    assert b"dc:title" not in content(record, "manifest.rdf")


def test_names_and_formats_that_cannot_be_are_refused(record: RDFRecord) -> None:
    with pytest.raises(PathNameError):
        record.set_rdf_manifest_filename("../../outside.rdf")
    for fmt in ("json-ld", "n3", "trig", "nonsense"):
        with pytest.raises(RDFFormatError):
            record.set_rdf_manifest_filename("x", format=fmt)
    with pytest.raises(RDFFormatError, match="use another file name"):
        record.set_rdf_manifest_filename("manifest.rdf", format="turtle")
    with pytest.raises(RDFFormatError):
        record.rdf_to_string("nonsense")
    assert json.loads(record.rdf_to_string("json-ld"))
    assert record.rdf_to_string("n3").startswith("@prefix")


def test_a_manifest_that_names_a_file_outside_is_not_followed(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    path = Path(record.to_dirpath("__manifest.json", root=True))
    members = json.loads(path.read_bytes())
    path.write_text(json.dumps({**members, "rdffilename": "../../../../evil"}))
    with pytest.raises(PathNameError):
        rdf_silo["oai:x:1"].put_stream("x", "x")


# -- what cannot be read ---------------------------------------------------------------------

_BOMB = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
UNREADABLE: dict[str, str | bytes] = {
    "nothing": "",
    "torn": '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syn',
    "no XML": "this was never RDF",
    "no UTF-8": b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\xff</rdf:RDF>",
    "entities": f'<?xml version="1.0"?>{_BOMB}<r>&b;</r>',
    "a file to fetch": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>',
    "a DTD to fetch": '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><r>&x;</r>',
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_statements_that_cannot_be_read_are_named_and_never_overwritten(
    kind: str, rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    overwrite(rdf_silo, UNREADABLE[kind])
    before = content(record)
    damaged = rdf_silo["oai:x:1"]
    path = damaged.to_dirpath("manifest.rdf")
    for act in (
        damaged.get_graph,
        damaged.load_rdf_manifest,
        lambda: damaged.add_triple(damaged.uri, "dc:title", "T"),
        lambda: damaged.put_stream("c.txt", "c"),
        lambda: damaged.del_stream("a.txt"),
    ):
        with pytest.raises(RDFManifestUnreadable) as raised:
            act()
        assert raised.value.path == path
        assert path in str(raised.value)
        assert isinstance(raised.value, ManifestUnreadable)
    damaged.metadata["still"] = "kept"
    damaged.sync()
    assert damaged.put_stream("a.txt", "as listed before") is None
    assert content(damaged) == before
    assert damaged.files == ["a.txt", "manifest.rdf", "docs"]


def test_damaged_statements_are_mended_by_a_sound_file_or_by_deleting(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    overwrite(rdf_silo, "damaged")
    record = rdf_silo["oai:x:1"]
    with pytest.raises(RDFManifestUnreadable):
        record.put_stream("manifest.rdf", "damaged too")
    record.put_stream(
        "manifest.rdf", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>"
    )
    assert_in_step(rdf_silo.path)
    overwrite(rdf_silo, "damaged")
    record = rdf_silo["oai:x:1"]
    record.del_stream("manifest.rdf")
    record.put_stream("c", "c")
    assert_in_step(rdf_silo.path)


def test_damage_that_comes_while_a_handle_has_statements_is_not_overwritten(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    overwrite(rdf_silo, "damaged")
    with pytest.raises(RDFManifestUnreadable):
        record.sync()
    assert content(record) == b"damaged"


def test_statements_gone_from_the_disk_are_not_taken_for_none(record: RDFRecord) -> None:
    os.unlink(record.to_dirpath("manifest.rdf"))
    with pytest.raises(FileNotInVersion, match="restore it from a backup"):
        record.get_graph()
    with pytest.raises(FileNotInVersion):
        record.put_stream("c", "c")


def test_reading_opens_no_socket(
    rdf_silo: RDFSilo, record: RDFRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket", refuse)
    fill(record)
    for fmt in ("xml", "turtle", "nt"):
        record.set_rdf_manifest_filename(f"m.{fmt}", fmt)
        record.add_triple(record.uri, "dcterms:conformsTo", "http://x.example/context")
        record.sync()
        rdf_silo["oai:x:1"].get_graph()


# -- two handles -----------------------------------------------------------------------------


def test_two_handles_that_state_different_things_lose_nothing(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    record.add_triple(record.uri, "dc:title", "to go")
    record.add_triple(record.uri, "dc:creator", BNode())
    record.sync()
    one, two = rdf_silo["oai:x:1"], rdf_silo["oai:x:1"]
    for handle in (one, two):
        assert handle.triple_exists(handle.uri, "dc:title", "to go")
    one.add_triple(one.uri, "dc:title", "by one")
    two.add_triple(two.uri, "dc:title", "by two")
    two.del_triple(two.uri, "dc:title", "to go")
    one.put_stream("one.txt", "1")
    two.put_stream("two.txt", "2")
    one.add_triple(one.uri, "dc:title", "by one again")
    one.sync()
    for handle in (one, rdf_silo["oai:x:1"]):
        titles = {str(o) for o in handle.list_rdf_objects(handle.uri, "dc:title")}
        assert titles == {"by one", "by two", "by one again"}
        assert len(handle.list_rdf_objects(handle.uri, "dc:creator")) == 1
    assert_in_step(rdf_silo.path)


def test_a_withdrawn_statement_does_not_come_back(rdf_silo: RDFSilo, record: RDFRecord) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    record.sync()
    other = rdf_silo["oai:x:1"]
    other.del_triple(other.uri, "dc:title")
    other.sync()
    record.get_graph().add((URIRef(record.uri), DC_TITLE, Literal("U")))
    record.sync()
    assert rdf_silo["oai:x:1"].list_rdf_objects(record.uri, "dc:title") == [Literal("U")]


@pytest.mark.parametrize("both", [True, False])
def test_nodes_without_a_name_changed_by_both_are_a_conflict(
    both: bool, rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    fill(record)
    record.sync()
    one, two = rdf_silo["oai:x:1"], rdf_silo["oai:x:1"]
    for handle, name in ((one, "one"), (two, "two")):
        node = handle.list_rdf_objects(handle.uri, "dc:creator")[0]
        if both or handle is one:
            handle.add_triple(node, "foaf:nick", name)
        else:
            handle.add_triple(handle.uri, "dc:title", name)
    two.sync()
    if not both:
        one.sync()
        again = rdf_silo["oai:x:1"]
        assert again.list_rdf_objects("*", "foaf:nick") == [Literal("one")]
        assert again.triple_exists(again.uri, "dc:title", "two")
        return
    before = content(two)
    with pytest.raises(RDFConflict, match=r"manifest\.rdf"):
        one.put_stream("c", "c")
    assert content(two) == before
    one.revert()
    one.put_stream("c", "c")
    assert_in_step(rdf_silo.path)


def test_what_another_handle_named_the_file_is_honoured(
    rdf_silo: RDFSilo, record: RDFRecord
) -> None:
    late = rdf_silo["oai:x:1"]
    late.add_triple(late.uri, "dc:title", "late")
    record.set_rdf_manifest_filename("m.ttl", "turtle")
    record.add_triple(record.uri, "dc:title", "early")
    record.sync()
    late.sync()
    assert late["rdffilename"] == "m.ttl"
    titles = {str(o) for o in late.list_rdf_objects(late.uri, "dc:title")}
    assert titles == {"early", "late"}
    assert_in_step(rdf_silo.path)


# -- crashes ---------------------------------------------------------------------------------


def test_a_stop_between_commit_and_finish_keeps_them_in_step(
    rdf_silo: RDFSilo, record: RDFRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.add_triple(record.uri, "dc:title", "T")
    with monkeypatch.context() as patch:

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(_Committal, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            record.put_stream("c.txt", "c")
    with RDFSilo(rdf_silo.path, create=False) as again:
        found = again["oai:x:1"]
        assert "c.txt" in found.files
        assert aggregated(stored(found), found) == expected(found)
        assert found.triple_exists(found.uri, "dc:title", "T")
        found.del_stream("a.txt")
    assert_in_step(rdf_silo.path)


class FailingOs:
    """The module os, of which the n-th call that changes the disk fails."""

    CHANGING = frozenset({"open", "write", "mkdir", "rename", "unlink", "rmdir", "link", "fsync"})

    def __init__(self, at: int) -> None:
        self.at, self.count, self.path = at, 0, os.path

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in self.CHANGING:
            return real

        def call(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            if self.count - 1 == self.at:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return None if name == "fsync" else real(*args, **kwargs)

        return call


FAILING = {
    "put": lambda r: r.put_stream("c.txt", "c"),
    "delete": lambda r: r.del_stream("a.txt"),
    "rename": lambda r: r.rename_stream("a.txt", "c.txt"),
    "clone": lambda r: r.clone_version("1", "wc", ["a.txt"]),
    "del_dir": lambda r: r.del_dir("docs"),
    "state": lambda r: r.sync(),
}


@pytest.mark.parametrize("name", family(FAILING, 3))
def test_whatever_call_fails_files_and_statements_agree(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, finished = 0, False
    while not finished:
        with tempfile.TemporaryDirectory(dir=_MEMORY) as top, RDFSilo(f"{top}/silo") as silo:
            record = silo.get_item("oai:x:1")
            record.put_stream("a.txt", "a")
            record.put_stream("docs/b.txt", "b")
            revision = record.revision
            record.add_triple(record.uri, "dc:title", "T")
            failing = FailingOs(at)
            with monkeypatch.context() as patch, contextlib.suppress(OSError):
                patch.setattr(atomic_file, "os", failing)
                FAILING[name](record)
            finished = failing.count <= at
            with RDFSilo(silo.path, create=False) as again:
                found = again["oai:x:1"]
                is_new = found.revision > revision
                assert aggregated(stored(found, "1"), found) == expected(found, "1")
                assert ((None, DC_TITLE, None) in stored(found, "1")) == is_new
                found.put_stream("later", "x")
            assert_in_step(silo.path)
        at += 1
    assert at > 5


# -- silos of 2010 ---------------------------------------------------------------------------

RDF_OF_2010 = b"""<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF
   xmlns:dc="http://purl.org/dc/elements/1.1/"
   xmlns:ore="http://www.openarchives.org/ore/terms/"
   xmlns:oxds="http://vocab.ox.ac.uk/dataset/schema#"
   xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
>
  <rdf:Description rdf:about="info:1">
    <ore:aggregates rdf:resource="info:1/a file.txt"/>
    <ore:aggregates rdf:resource="info:1/deleted from another version.txt"/>
    <ore:aggregates>info:1/as text.txt</ore:aggregates>
    <dc:title>A title</dc:title>
    <oxds:isEmbargoed>True</oxds:isEmbargoed>
  </rdf:Description>
  <rdf:Description rdf:about="info:1/a file.txt">
    <dc:title>About a file</dc:title>
  </rdf:Description>
</rdf:RDF>

"""


def silo_of_2010(top: Path, files: dict[str, bytes], **keys: Any) -> str:
    """A Silo as 0.4.16 wrote it, with a record ``1`` whose only version has these files."""
    path = top / "silo-of-2010"
    version = path / "pairtree_root/1/__1"
    version.mkdir(parents=True)
    (path / "pairtree_version0_1").write_text("This directory conforms to Pairtree Version 0.1.")
    (path / "pairtree_prefix").write_text("info:")
    state = {"storage_dir": "data", "uri_base": "info:"}
    (path / "persisted_state.json").write_text(json.dumps(state))
    for name, octets in files.items():
        (version / name).write_bytes(octets)
    (version / "3=2010-02-02T16+51+45,890655").write_text("2010-02-02T16:51:45.890655")
    (version / "4=1").write_text("1")
    manifest = {
        "item_id": "1", "date": "2010-02-02T16:51:45.890655", "currentversion": "1",
        "versions": ["1"], "version_dates": {"1": "2010-02-02T16:51:45.890655"},
        "files": {"1": [*files, *({"manifest.rdf"} - set(files))]}, "subdir": {"1": []},
        "metadata_files": {"1": []}, "versionlog": {"1": ["Created new data package"]},
        "metadata": {}, "rdffilename": "manifest.rdf", "rdffileformat": "xml", **keys,
    }  # fmt: skip
    (path / "pairtree_root/1/__manifest.json").write_text(json.dumps(manifest))
    return str(path)


def test_statements_of_2010_are_read_and_brought_into_step(tmp_path: Path) -> None:
    files = {"a file.txt": b"a", "never aggregated.txt": b"n", "manifest.rdf": RDF_OF_2010}
    path = silo_of_2010(tmp_path, files)
    with RDFSilo(path, create=False) as silo:
        record = silo["1"]
        assert record.uri == "info:1"
        assert record.triple_exists("info:1", "dc:title", "A title")
        assert record.triple_exists("info:1", "oxds:isEmbargoed", "True")
        assert record.triple_exists("info:1", "ore:aggregates", "info:1/a file.txt")
        assert record.triple_exists(record.file_uri("a file.txt"), "dc:title", "About a file")
        assert record.triple_exists("info:1/a file.txt", "dc:title", "About a file")
        assert aggregated(record.get_graph(), record) == expected(record)
        assert content(record) == RDF_OF_2010, "reading writes nothing"
        record.put_stream("b.txt", "b")
        assert record.list_rdf_objects("info:1", "dc:title") == [Literal("A title")]
    assert_in_step(path, "1")


def test_names_that_2010_wrote_unencoded_are_found(tmp_path: Path) -> None:
    raw = RDF_OF_2010.replace(b"info:1", b"info: odd/1")
    path = silo_of_2010(tmp_path, {"a file.txt": b"a", "manifest.rdf": raw})
    state = {"storage_dir": "data", "uri_base": "info: odd/"}
    Path(path, "persisted_state.json").write_text(json.dumps(state))
    with RDFSilo(path, create=False) as silo:
        record = silo["1"]
        assert record.triple_exists(record.uri, "dc:title", "A title")
        assert record.triple_exists(record.uri, "ore:aggregates", "info: odd/1/a file.txt")
        record.put_stream("b.txt", "b")
        found = record.list_rdf_objects(record.uri, "ore:aggregates")
        files = {record.file_uri(name) for name in ("a file.txt", "b.txt")}
        assert {str(node) for node in found if isinstance(node, URIRef)} == files


def test_statements_that_2010_listed_and_never_wrote_are_not_listed(tmp_path: Path) -> None:
    path = silo_of_2010(tmp_path, {"a.txt": b"a"})
    with Silo(path, create=False) as plain:
        assert plain["1"].files == ["a.txt", "manifest.rdf"]
    with RDFSilo(path, create=False) as silo:
        record = silo["1"]
        assert record.files == record.paths() == ["a.txt"]
        assert aggregated(record.get_graph(), record) == {"info:1/a.txt"}
        record.sync()
        assert record.revision == 0
        record.clone_version("1", "wc")
        record.set_version_cursor("1")
        record.put_stream("b.txt", "b")
    assert_in_step(path, "1")


def test_statements_a_plain_silo_found_missing_are_not_listed_either(tmp_path: Path) -> None:
    path = silo_of_2010(tmp_path, {"a.txt": b"a"})
    with Silo(path, create=False) as plain:
        plain["1"].put_stream("b.txt", "b")
    with RDFSilo(path, create=False) as silo:
        assert silo["1"].files == ["a.txt", "b.txt"]
        silo["1"].put_stream("c.txt", "c")
    assert_in_step(path, "1")


@pytest.mark.parametrize("fmt", ["xml", "turtle", "nt"])
def test_the_empty_graph_of_2010_is_empty(tmp_path: Path, fmt: str) -> None:
    empty = b'<?xml version="1.0" encoding="UTF-8"?>\n'
    path = silo_of_2010(tmp_path, {"manifest.rdf": empty}, rdffileformat=fmt)
    with RDFSilo(path, create=False) as silo:
        record = silo["1"]
        assert len(record.get_graph()) == 0
        record.add_triple("info:1", "dc:title", "T")
        record.put_stream("a", "a")
        assert len(stored(record)) == 2


def test_keys_of_2010_decide_where_the_statements_are(tmp_path: Path) -> None:
    files = {"about.rdf": RDF_OF_2010, "manifest.rdf": b"an ordinary file"}
    path = silo_of_2010(tmp_path, files, rdffilename="about.rdf")
    with RDFSilo(path, create=False) as silo:
        record = silo["1"]
        assert record.triple_exists("info:1", "dc:title", "A title")
        record.put_stream("b", "b")
        assert silo["1"].manifest["rdffilename"] == "about.rdf"
    assert_in_step(path, "1")


# -- RDFManifest by itself -------------------------------------------------------------------


def test_a_manifest_in_a_file_of_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "m.rdf")
    manifest = RDFManifest(path)
    assert manifest.to_string().endswith("</rdf:RDF>\n")
    manifest.add_namespace("x", "http://x.example/")
    manifest.add_triple("info:y", "x:z", "text")
    assert not os.path.exists(path)
    manifest.sync()
    manifest.add_triple("info:y", "x:z", "not stored")
    manifest.revert()
    assert manifest.list_objects("info:y", "x:z") == [Literal("text")]
    assert RDFManifest(path).triple_exists("info:y", "x:z", "text")
    with pytest.raises(RDFManifestUnreadable):
        RDFManifest(path, format="turtle")
    Path(path).write_text("damaged")
    with pytest.raises(RDFManifestUnreadable, match=r"m\.rdf.*left as it is"):
        RDFManifest(path)
    assert Path(path).read_text() == "damaged"
