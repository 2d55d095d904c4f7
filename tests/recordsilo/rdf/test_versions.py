"""Statements of versions, and of two handles on one record."""

from pathlib import Path

import pytest
from rdf_checks import DC_TITLE, RDF_OF_2010, assert_in_step, content, fill, stored
from rdflib import BNode, Literal, URIRef

from recordsilo import RDFRecord, RDFSilo
from recordsilo.errors import (
    VersionNotFound,
)
from recordsilo.rdf.records import RDFConflict

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
