"""Files of harvested versions are read-only on disk, which does not hinder the library."""

import os
import stat
from collections.abc import Callable
from typing import Any

import pytest

from recordsilo import HarvestedRecord, Origin, Silo
from recordsilo.audit import Audit
from recordsilo.disk import atomic_file
from recordsilo.disk.atomic_file import Staged, StrictBarrier
from recordsilo.errors import VersionFrozen

Harvest = Callable[..., str]
DATE = "2004-06-24T00:00:00"


def mode(record: HarvestedRecord, path: str, version: str) -> int:
    return stat.S_IMODE(os.lstat(record.to_dirpath(path, version)).st_mode)


def read(record: HarvestedRecord, path: str, version: str) -> bytes:
    with record.get_stream(path, version) as stream:
        return stream.read()


def add_prefix(silo: Silo, version: str, prefix: str) -> None:
    with silo.batch(["r"]) as batch:
        batch.edit("r").put(version, prefix, b"<dc/>", metadata=True, allow_frozen=True)


@pytest.fixture
def record(silo: Silo, harvest: Harvest) -> HarvestedRecord:
    return silo[harvest(silo, "r", b"<dc/>")]


def test_a_harvested_version_is_read_only_and_its_clones_are_not(record: HarvestedRecord) -> None:
    assert mode(record, "oai_dc", "1") == 0o444
    record.clone_version("1", "wc")
    assert mode(record, "oai_dc", "1") == 0o444
    assert mode(record, "oai_dc", "wc") == 0o644
    record.clone_version("1", "another")
    assert mode(record, "oai_dc", "another") == 0o644


@pytest.fixture
def old(silo: Silo) -> HarvestedRecord:
    """A record as of 2010, whose origin is only inferred."""
    with silo.batch(["old"]) as batch:
        edit = batch.edit("old")
        edit.add_version("1", date=DATE, origin=Origin("harvest"))
        edit.put("1", "oai_dc", b"<dc/>")
    return silo["old"]


def test_a_version_of_2010_is_read_only_once_it_has_a_successor(old: HarvestedRecord) -> None:
    assert mode(old, "oai_dc", "1") == 0o644
    old.clone_version("1", "wc")
    assert [mode(old, "oai_dc", v) for v in old.versions] == [0o444, 0o644]


def test_two_versions_of_2010_made_at_once_are_one_frozen_and_one_not(silo: Silo) -> None:
    with silo.batch(["r"]) as batch:
        edit = batch.edit("r")
        for name in "12":
            edit.add_version(name, date=DATE, origin=Origin("harvest"))
            edit.put(name, "d/f", b"content")
    assert [mode(silo["r"], "d/f", v) for v in "12"] == [0o444, 0o644]


def test_a_prefix_added_to_a_frozen_version_is_read_only_too(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.clone_version("1", "wc")
    add_prefix(silo, "1", "uketd_dc")
    record.revert()
    assert mode(record, "uketd_dc", "1") == 0o444
    assert read(record, "uketd_dc", "1") == b"<dc/>"


def test_rights_that_were_narrower_stay_so(old: HarvestedRecord) -> None:
    os.chmod(old.to_dirpath("oai_dc", "1"), 0o640)
    old.clone_version("1", "wc")
    assert mode(old, "oai_dc", "1") == 0o440


def test_a_delta_clone_of_2010_keeps_the_rights_of_the_files_that_it_shares(
    old: HarvestedRecord,
) -> None:
    old.clone_version_delta("1", "wc")
    assert mode(old, "oai_dc", "1") == 0o644
    assert os.stat(old.to_dirpath("oai_dc", "1")).st_nlink == 2


def test_a_clone_protects_what_an_earlier_release_stored_writable(record: HarvestedRecord) -> None:
    os.chmod(record.to_dirpath("oai_dc", "1"), 0o644)
    record.clone_version("1", "wc")
    assert [mode(record, "oai_dc", v) for v in record.versions] == [0o444, 0o644]


def test_a_large_file_of_a_harvested_version_is_read_only_too(silo: Silo) -> None:
    staged = silo.staging.new_path()
    digest = atomic_file.write_new(staged, (b"%PDF",), StrictBarrier())
    with silo.batch(["r"]) as batch:
        edit = batch.edit("r")
        edit.add_version("1", date=DATE, origin=Origin("harvest", prefixes={"oai_dc": DATE}))
        edit.put("1", "paper.pdf", Staged(staged, digest))
    assert mode(silo["r"], "paper.pdf", "1") == 0o444


def test_a_put_into_a_delta_clone_of_a_frozen_file_replaces_it(record: HarvestedRecord) -> None:
    record.clone_version("1", "wc")
    record.clone_version_delta("1", "delta")
    assert mode(record, "oai_dc", "delta") == 0o444
    record.put_stream("oai_dc", "<dc>curated</dc>", "delta")
    with record.get_stream("oai_dc", "delta", writeable=True) as stream:
        stream.write(b"<!-- more -->")
    assert read(record, "oai_dc", "delta") == b"<dc>curated</dc><!-- more -->"
    assert read(record, "oai_dc", "1") == b"<dc/>"
    assert [mode(record, "oai_dc", v) for v in ("1", "delta")] == [0o444, 0o644]


def test_a_copy_of_a_frozen_file_is_writable(record: HarvestedRecord) -> None:
    record.clone_version("1", "wc")
    record.create_new_version("new")
    record.copy_file_between_versions("oai_dc", "1", "new")
    assert mode(record, "oai_dc", "new") == 0o644


def test_a_version_of_2010_that_thaws_may_be_changed_and_freezes_again(
    old: HarvestedRecord,
) -> None:
    old.clone_version("1", "wc")
    old.del_version("wc")
    assert not old.is_frozen("1")
    old.put_stream("oai_dc", "<dc>anew</dc>", "1")
    old.put_stream("more", "more", "1")
    old.clone_version("1", "wc")
    assert [mode(old, name, "1") for name in ("oai_dc", "more")] == [0o444, 0o444]
    with pytest.raises(VersionFrozen):
        old.put_stream("oai_dc", "x", "1")


def test_a_record_with_frozen_files_can_be_deleted(silo: Silo, record: HarvestedRecord) -> None:
    record.clone_version("1", "wc")
    silo.del_item("r")
    assert not os.path.exists(record.path_to_item())


def test_the_audit_does_not_mind_what_the_rights_are(silo: Silo, record: HarvestedRecord) -> None:
    record.clone_version("1", "wc")
    assert list(Audit(silo.path).findings()) == []
    os.chmod(record.to_dirpath("oai_dc", "1"), 0o600)
    assert list(Audit(silo.path).findings()) == []


def test_links_of_2010_are_not_followed(silo_2010: Silo) -> None:
    record = silo_2010["oai:eprints.example.org:6"]
    link = record.to_dirpath("oai_dc", "delta")
    target = record.to_dirpath("oai_dc", "1")
    os.unlink(link)
    os.symlink(target, link)
    before = stat.S_IMODE(os.stat(target).st_mode)
    atomic_file.protect(link)
    assert stat.S_IMODE(os.stat(target).st_mode) == before


def test_a_change_holds_where_rights_cannot_be_set(
    old: HarvestedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(atomic_file.os, "chmod", refuse)
    old.clone_version("1", "wc")
    assert old.versions == ["1", "wc"]
    assert mode(old, "oai_dc", "1") == 0o644


def test_a_change_that_freezes_nothing_sets_no_rights(
    record: HarvestedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    record.clone_version("1", "wc")
    touched: list[str] = []
    monkeypatch.setattr(atomic_file, "protect", touched.append)
    record.put_stream("a", "b")
    record.clone_version("wc", "third")
    record.set_version_state("1", "withheld")
    assert touched == []
