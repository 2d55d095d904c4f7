"""Statements that cannot be read, and writes that broke off."""

import contextlib
import errno
import os
import tempfile
from typing import Any

import pytest
from examples import family
from memory import MEMORY
from rdf_checks import (
    DC_TITLE,
    aggregated,
    assert_in_step,
    content,
    expected,
    fill,
    overwrite,
    stored,
)

from recordsilo import RDFRecord, RDFSilo
from recordsilo.disk import atomic_file
from recordsilo.errors import (
    FileNotInVersion,
    ManifestUnreadable,
)
from recordsilo.rdf.records import RDFManifestUnreadable
from recordsilo.records.commit import _Committal

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


@pytest.mark.long
@pytest.mark.parametrize("name", family(FAILING, 3))
def test_whatever_call_fails_files_and_statements_agree(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, finished = 0, False
    while not finished:
        with tempfile.TemporaryDirectory(dir=MEMORY) as top, RDFSilo(f"{top}/silo") as silo:
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
