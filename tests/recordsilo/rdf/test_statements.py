"""Statements: stored as they are, or refused; the name and format of their file."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from memory import MEMORY
from rdf_checks import (
    DC_TITLE,
    RunPython,
    aggregated,
    assert_in_step,
    content,
    expected,
    fill,
    stored,
)
from rdflib import Graph, Literal, URIRef
from rdflib.compare import isomorphic

from recordsilo import RDFManifest, RDFRecord, RDFSilo, Silo
from recordsilo.errors import (
    PathNameError,
)
from recordsilo.rdf.records import RDFFormatError, RDFTermError

# -- statements ------------------------------------------------------------------------------


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
    with tempfile.TemporaryDirectory(dir=MEMORY) as top:
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


@pytest.mark.long
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


@pytest.mark.long
def test_the_same_statements_are_the_same_bytes(run_python: RunPython, tmp_path: Path) -> None:
    formats = ("xml", "turtle", "nt")
    script = (
        "import sys\nfrom recordsilo import RDFManifest\n"
        "for format in sys.argv[2:]:\n"
        " m = RDFManifest(sys.argv[1] + format, format=format, uri='info:x')\n"
        " for n in range(20): m.add_triple('info:x/%d' % (n % 5), 'dc:title', str(n))\n"
        " m.sync()"
    )
    for path in ("first-", "second-"):
        assert run_python(script, str(tmp_path / path), *formats).returncode == 0
    for fmt in formats:
        first, second = (tmp_path / f"{path}-{fmt}" for path in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


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
