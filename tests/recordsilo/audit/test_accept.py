"""Outside edits are accepted on request; harvested versions cannot be changed."""

import os
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.audit import Audit
from recordsilo.errors import (
    DanglingLink,
    FileInTheWay,
    FileNotInVersion,
    RevisionConflict,
    VersionFrozen,
)

Box = Any


def codes(box: Box) -> list[str]:
    return [finding.code.number for finding in Audit(str(box.silo)).findings()]


def test_an_accepted_edit_has_its_new_digest_and_who_and_why(box: Box) -> None:
    (box.record / "__workingcopy/notes.txt").write_text("edited with vi")
    with Silo(str(box.silo), create=False) as silo:
        record = silo[box.identifier]
        record.accept("notes.txt", "workingcopy", agent="ann", message="typos")
        log = record.version_log("workingcopy")[-1]
        assert record.file_info("notes.txt", "workingcopy").size == 14
    assert log.startswith("Accepted file notes.txt as edited outside [")
    assert log.endswith(" ann: typos]")
    assert codes(box) == []


def test_a_file_added_outside_becomes_part_of_the_version(box: Box) -> None:
    (box.record / "__workingcopy/docs/more.txt").write_text("added")
    with Silo(str(box.silo), create=False) as silo:
        record = silo[box.identifier]
        record.accept(["docs/more.txt"])
        assert "docs/more.txt" in record.paths()
        with record.get_stream("docs/more.txt") as stream:
            assert stream.read() == b"added"
    assert codes(box) == []


def test_a_harvested_version_is_never_accepted(box: Box) -> None:
    (box.record / "02/__1/oai_dc").write_text("edited")
    before = (box.record / "02/__manifest.json").read_bytes()
    with Silo(str(box.silo), create=False) as silo:
        for identifier in ("oai:example.org:1202", box.identifier):
            with pytest.raises(VersionFrozen):
                silo[identifier].accept("oai_dc", "1")
    assert (box.record / "02/__manifest.json").read_bytes() == before
    assert codes(box) == ["S086"]


def test_what_is_not_there_cannot_be_accepted(box: Box) -> None:
    os.unlink(box.record / "__workingcopy/notes.txt")
    (box.record / "__workingcopy/oai_dc").unlink()
    (box.record / "__workingcopy/oai_dc").symlink_to("/etc/hostname")
    before = box.manifest.read_bytes()
    with Silo(str(box.silo), create=False) as silo:
        record = silo[box.identifier]
        with pytest.raises(FileNotInVersion):
            record.accept(["uketd_dc", "notes.txt"])
        with pytest.raises(FileNotInVersion):
            record.accept("never.txt")
        with pytest.raises(FileInTheWay):
            record.accept("docs")
        with pytest.raises(DanglingLink):
            record.accept("oai_dc")
    assert box.manifest.read_bytes() == before


def test_an_edit_is_accepted_only_at_the_revision_that_was_looked_at(box: Box) -> None:
    (box.record / "__workingcopy/notes.txt").write_text("edited")
    with Silo(str(box.silo), create=False) as silo, pytest.raises(RevisionConflict):
        silo[box.identifier].accept("notes.txt", if_revision=1)
    assert codes(box) == ["S088"]


def test_metadata_stays_metadata(box: Box) -> None:
    (box.record / "__workingcopy/oai_dc").write_text("<dc>curated</dc>")
    with Silo(str(box.silo), create=False) as silo:
        record = silo[box.identifier]
        record.accept("oai_dc")
        assert record.file_info("oai_dc").is_metadata
