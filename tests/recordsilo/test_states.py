"""The statuses that a curator gives to versions: stored with them, searchable, not content."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from recordsilo import HarvestedRecord, Silo
from recordsilo.audit import Audit
from recordsilo.errors import RevisionConflict, VersionNotFound, VersionStateError
from recordsilo.index import SearchFilters

Harvest = Callable[..., str]


@pytest.fixture
def record(silo: Silo, harvest: Harvest) -> HarvestedRecord:
    record = silo[harvest(silo, "r")]
    record.clone_version("1", "wc")
    return record


def stored_states(record: HarvestedRecord) -> Any:
    with open(f"{record.path_to_item()}/__manifest.json", "rb") as file:
        return json.load(file).get("states")


def found_in(silo: Silo, state: str) -> list[str]:
    return [row.identifier for row in silo.found(SearchFilters(values={"state": [state]}))]


def test_a_harvested_version_has_no_state_and_no_key_says_so(silo: Silo, harvest: Harvest) -> None:
    record = silo[harvest(silo, "r")]
    assert record.version_state() is None
    assert stored_states(record) is None


@pytest.mark.parametrize("delta", [False, True])
def test_a_clone_begins_in_work_whatever_its_original_was(
    record: HarvestedRecord, delta: bool
) -> None:
    record.set_version_state("wc", "ready")
    (record.clone_version_delta if delta else record.clone_version)("wc", "next")
    assert [record.version_state(v) for v in record.versions] == [None, "ready", "in work"]
    assert stored_states(record) == {"wc": "ready", "next": "in work"}


def test_a_version_made_from_nothing_has_no_state(record: HarvestedRecord) -> None:
    record.create_new_version("new")
    assert record.version_state("new") is None


def test_a_state_is_set_with_who_and_why_and_kept(silo: Silo, record: HarvestedRecord) -> None:
    record.set_version_state("wc", "withheld", agent="ada", message="embargo until May")
    again = silo["r"]
    assert again.version_state() == "withheld"
    assert again.version_log("wc")[-1].startswith("State set to withheld [")
    assert again.version_log("wc")[-1].endswith(" ada: embargo until May]")


def test_no_state_takes_the_key_away(record: HarvestedRecord) -> None:
    record.set_version_state("wc", None)
    assert record.version_state() is None
    assert stored_states(record) is None


def test_a_state_that_is_there_already_writes_nothing(record: HarvestedRecord) -> None:
    before = record.revision
    record.set_version_state("wc", "in work")
    assert record.revision == before


def test_a_frozen_version_may_have_a_state(record: HarvestedRecord) -> None:
    assert record.is_frozen("1")
    record.set_version_state("1", "withheld")
    assert record.version_state("1") == "withheld"
    assert record.is_frozen("1")


@pytest.mark.parametrize("state", ["done", "", "Ready", "in_work"])
def test_what_is_no_state_is_refused(record: HarvestedRecord, state: str) -> None:
    before = record.revision
    with pytest.raises(VersionStateError, match="in work, ready, withheld, or none"):
        record.set_version_state("wc", state)
    record.revert()
    assert (record.revision, record.version_state()) == (before, "in work")


def test_the_state_of_no_version_is_refused(record: HarvestedRecord) -> None:
    with pytest.raises(VersionNotFound):
        record.set_version_state("nope", "ready")
    with pytest.raises(VersionNotFound):
        record.version_state("nope")


def test_a_state_is_set_only_at_the_revision_named(record: HarvestedRecord) -> None:
    with pytest.raises(RevisionConflict):
        record.set_version_state("wc", "ready", if_revision=record.revision - 1)
    assert record.version_state() == "in work"


def test_a_state_follows_its_version(record: HarvestedRecord) -> None:
    record.set_version_state("wc", "ready")
    record.rename_version("wc", "final")
    assert stored_states(record) == {"final": "ready"}
    record.del_version("final")
    assert stored_states(record) is None


def test_every_change_leaves_states_the_audit_agrees_with(
    silo: Silo, record: HarvestedRecord
) -> None:
    record.set_version_state("1", "withheld")
    record.increment_version(clone_previous_version=True)
    record.rename_version("wc_new", "two")
    record.set_version_state("two", "ready")
    record.del_version("wc")
    assert list(Audit(silo.path).findings()) == []


def test_the_keys_of_2010_do_not_tell_the_state(record: HarvestedRecord) -> None:
    assert "states" not in record.manifest
    assert "in work" not in repr(record)


def test_a_state_of_a_later_release_is_kept(silo: Silo, record: HarvestedRecord) -> None:
    path = f"{record.path_to_item()}/__manifest.json"
    with open(path, encoding="utf-8") as file:
        members = json.load(file)
    members["states"]["wc"] = "under review"
    del members["checksum"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(members, file)
    again = silo["r"]
    assert again.version_state() == "under review"
    again.put_stream("a", "b")
    assert stored_states(again) == {"wc": "under review"}


def test_records_are_found_by_the_state_of_their_current_version(
    silo: Silo, harvest: Harvest, record: HarvestedRecord
) -> None:
    harvest(silo, "s")
    assert found_in(silo, "in work") == ["r"]
    record.set_version_state("wc", "ready")
    silo["s"].set_version_state("1", "ready")
    assert found_in(silo, "ready") == ["r", "s"]
    record.set_version_cursor("1")
    record.sync()
    assert found_in(silo, "ready") == ["s"]


def test_states_are_counted_and_survive_a_reindex(silo: Silo, record: HarvestedRecord) -> None:
    silo.reindex()
    (value,) = silo.search(facets=["state"]).facets["state"]
    assert (value.value, value.count) == ("in work", 1)


def test_all_that_pass_are_found_page_by_page(
    silo: Silo, harvest: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(Silo.listed.__kwdefaults__, "at_once", 2)
    for name in "edcba":
        harvest(silo, name)
        silo[name].set_version_state("1", "ready")
    harvest(silo, "bb")
    assert found_in(silo, "ready") == list("abcde")
