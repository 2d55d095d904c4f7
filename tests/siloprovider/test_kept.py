"""Documents that were given once, and are given again without being read."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from oaipmhprovider import answers
from oaipmhprovider.source import Selection
from recordsilo import Silo
from recordsilo.disk.names import MANIFEST_NAME
from recordsilo.records.manifest import Origin
from recordsilo.records.place import RecordPlace
from siloprovider.kept import LARGEST, joined, parts_of
from siloprovider.reading import Document, RecordReader
from siloprovider.source import SiloSource
from siloprovider.table_source import Identity


def document(title: str) -> bytes:
    return f'<a xmlns="urn:a">{title}</a>'.encode()


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with Silo(str(tmp_path / "silo")) as silo:
        silo.state["base_oai_url"] = "http://x.example.org/oai"
        for number in (1, 2, 3):
            with silo.editing(f"oai:x:{number}") as edit:
                edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
                edit.put("1", "x", document(f"Nr {number}"), metadata=True)
        yield silo


@pytest.fixture
def source(silo: Silo) -> Iterator[SiloSource]:
    with SiloSource(silo, Identity("A Silo", ("a@example.org",))) as source:
        yield source


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The identifiers of the records that were read."""
    found: list[str] = []
    really = RecordReader.read

    def noted(self: RecordReader, identifier: str, version: str, prefix: str) -> object:
        found.append(identifier)
        return really(self, identifier, version, prefix)

    monkeypatch.setattr(RecordReader, "read", noted)
    return found


def given(source: SiloSource) -> dict[str, str]:
    source.identify()
    found = source.records(Selection("x"), None, 10)
    return {one.header.identifier: (one.metadata or b"deleted").decode() for one in found}


def test_what_is_written_is_what_is_returned(
    silo: Silo, source: SiloSource, read: list[str]
) -> None:
    with silo.editing("oai:x:4") as edit:
        edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
        edit.put("1", "x", document("x" * LARGEST), metadata=True)
        edit.set_metadata("setSpec", ["a", "a:b"])
    silo.del_item("oai:x:2")
    source.identify()
    for selection in (Selection("x"), Selection("x", set_spec="a")):
        written = source.written(selection, None, 10)
        assert written == [*map(answers.written, source.records(selection, None, 10))]
        assert source.written(selection, written[0].position, 2) == written[1:3]
    assert source.written(Selection("y"), None, 10) == []
    assert [one for one in read if one != "oai:x:4"] == ["oai:x:1", "oai:x:3"]


def kept(silo: Silo) -> set[str]:
    path = Path(silo.path) / ".silo" / "provider.sqlite"
    with sqlite3.connect(path) as connection:
        return {one for (one,) in connection.execute("SELECT identifier FROM document")}


def test_what_was_given_is_given_again_unread(
    silo: Silo, source: SiloSource, read: list[str]
) -> None:
    first = given(source)
    assert len(read) == 3
    about = source.record("oai:x:1", "x").about
    assert given(source) == first
    assert source.record("oai:x:1", "x").about == about
    assert b"http://x.example.org/oai" in about[0]
    assert len(read) == 3
    with SiloSource(silo, Identity("A Silo", ("a@example.org",))) as other:
        assert given(other) == first
    assert len(read) == 3, "also after a restart"


def test_what_was_changed_is_read_again(silo: Silo, source: SiloSource, read: list[str]) -> None:
    given(source)
    read.clear()
    silo["oai:x:2"].clone_version("1", "mine")
    silo["oai:x:2"].put_stream("x", document("Better"))
    assert given(source)["oai:x:2"] == document("Better").decode()
    assert read == ["oai:x:2"]


@pytest.mark.parametrize("how", ["removed", "withheld"])
def test_what_is_not_given_any_more_is_not_kept_either(
    silo: Silo, source: SiloSource, how: str
) -> None:
    given(source)
    assert kept(silo) == {"oai:x:1", "oai:x:2", "oai:x:3"}
    if how == "removed":
        silo.del_item("oai:x:2", remember=True)
    else:
        silo["oai:x:2"].set_version_state("1", "withheld")
    assert given(source)["oai:x:2"] == "deleted"
    assert kept(silo) == {"oai:x:1", "oai:x:3"}


def test_another_base_url_makes_other_containers(
    silo: Silo, source: SiloSource, read: list[str]
) -> None:
    given(source)
    silo.state["base_oai_url"] = "http://y.example.org/oai"
    assert b"http://y.example.org/oai" in source.record("oai:x:1", "x").about[0]


def test_a_record_that_changes_while_it_is_read_is_not_kept(
    silo: Silo, source: SiloSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.identify()
    silo["oai:x:2"].clone_version("1", "mine")
    silo["oai:x:2"].set_version_cursor("1")
    source.records(Selection("x"), None, 10)
    assert kept(silo) == {"oai:x:1", "oai:x:3"}


def test_large_documents_are_not_kept(silo: Silo, source: SiloSource) -> None:
    silo["oai:x:2"].clone_version("1", "mine")
    silo["oai:x:2"].put_stream("x", document("x" * LARGEST))
    assert len(given(source)["oai:x:2"]) > LARGEST
    assert kept(silo) == {"oai:x:1", "oai:x:3"}


def test_a_file_of_before_gets_the_table(silo: Silo, source: SiloSource) -> None:
    source.identify()
    source.close()
    with sqlite3.connect(Path(silo.path) / ".silo" / "provider.sqlite") as connection:
        connection.execute("DROP TABLE document")
    assert len(given(source)) == 3
    assert len(kept(silo)) == 3


def test_a_full_disk_keeps_nothing_and_stops_no_list(
    silo: Silo, source: SiloSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    source.identify()

    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(source.items.documents._file, "transaction", full)
    assert len(source.records(Selection("x"), None, 10)) == 3
    monkeypatch.undo()
    assert kept(silo) == set()


@pytest.mark.parametrize("parts", [(), (b"",), (b"a",), (b"a", b"", b"b" * 300)])
def test_containers_come_back_as_they_were(parts: tuple[bytes, ...]) -> None:
    assert parts_of(joined(parts)) == parts
    assert Document(b"", parts).about == parts


def test_what_cannot_be_read_once_is_not_given_and_is_looked_at_again(
    silo: Silo, source: SiloSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(source)
    silo["oai:x:2"].set_version_state("1", "withheld")

    def failing(*_: object) -> object:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Silo, "get_item", failing)
        assert "oai:x:2" not in given(source)
        assert kept(silo) == {"oai:x:1", "oai:x:3"}
        forget_looks(source)
        assert "oai:x:2" not in given(source)
    forget_looks(source)
    assert given(source)["oai:x:2"] == "deleted"
    silo["oai:x:2"].set_version_state("1", "ready")
    assert given(source)["oai:x:2"] == document("Nr 2").decode()


def forget_looks(source: SiloSource) -> None:
    """As after the time until the next look."""
    source.items._looked = (None, 0.0)


def test_a_manifest_that_is_broken_gives_no_document(silo: Silo, source: SiloSource) -> None:
    given(source)
    place = Path(RecordPlace.in_silo(silo.path, "oai:x:2").dirpath) / MANIFEST_NAME
    content = place.read_bytes()
    place.write_bytes(b"{")
    silo.reindex()
    assert given(source).keys() == {"oai:x:1", "oai:x:3"}
    place.write_bytes(content)
    silo.reindex()
    assert given(source)["oai:x:2"] == document("Nr 2").decode()


def test_a_record_that_was_made_anew_is_not_the_old_one(silo: Silo, source: SiloSource) -> None:
    before = given(source)["oai:x:2"]
    assert before == document("Nr 2").decode()
    silo.del_item("oai:x:2", remember=True)
    silo.restore_removed(["oai:x:2"])
    with silo.editing("oai:x:2") as edit:
        edit.add_version("1", date="2020-01-01T00:00:00", origin=Origin("harvest"))
        edit.put("1", "x", document("new one"), metadata=True)
    assert given(source)["oai:x:2"] == document("new one").decode()


def test_a_clone_of_a_withheld_version_is_withheld_until_it_is_ready(
    silo: Silo, source: SiloSource
) -> None:
    silo["oai:x:2"].set_version_state("1", "withheld")
    assert "oai:x:2" not in given(source) or given(source)["oai:x:2"] == "deleted"
    silo["oai:x:2"].clone_version("1", "mine")
    silo["oai:x:2"].clone_version("mine", "again")
    assert given(source)["oai:x:2"] == "deleted"
    silo["oai:x:2"].set_version_state("again", "ready")
    assert given(source)["oai:x:2"] == document("Nr 2").decode()


def test_what_is_withheld_hides_an_older_version_that_is_ready(silo: Silo) -> None:
    silo["oai:x:2"].set_version_state("1", "ready")
    with SiloSource(silo, Identity("A Silo", ("a@example.org",)), only_ready=True) as source:
        assert given(source) == {"oai:x:2": document("Nr 2").decode()}
        silo["oai:x:2"].clone_version("1", "mine")
        assert given(source) == {"oai:x:2": document("Nr 2").decode()}
        silo["oai:x:2"].set_version_state("mine", "withheld")
        assert given(source) == {"oai:x:2": "deleted"}


def test_records_are_given_where_nothing_can_be_written(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siloprovider.items.can_write_in", lambda _directory: False)
    with SiloSource(silo, Identity("A Silo", ("a@example.org",))) as source:
        assert list(given(source)) == ["oai:x:1", "oai:x:2", "oai:x:3"]
    assert list(Path(silo.path, ".silo").glob("provider*")) == []
