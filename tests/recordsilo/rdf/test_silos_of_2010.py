"""Statements that 2010 wrote."""

import json
from pathlib import Path
from typing import Any

import pytest
from rdf_checks import RDF_OF_2010, aggregated, assert_in_step, content, expected, stored
from rdflib import Literal, URIRef

from recordsilo import RDFSilo, Silo


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
