"""`plan_record`: the plan for a record, from its manifest and the ledger alone."""

from collections.abc import Sequence
from dataclasses import replace

from recordsilo.disk.digest import Digest
from recordsilo.records.manifest import Manifest, Origin, Version
from recordsilo.selection import Selection, filters_from
from siloexport.plan import (
    Action,
    KnownRecord,
    Policy,
    Versions,
    chosen_versions,
    files_digest,
    plan_record,
    version_key,
)
from siloexport.selection import is_in_state
from siloexport.values import ActionKind, Capabilities, Deletions, Held

EACH = Capabilities(each_version=True, deletions=frozenset({Deletions.STATUS, Deletions.DELETE}))
ALL = Policy(Versions.ALL)


def version(name: str, date: str, *, curated: bool = False, content: str = "a") -> Version:
    origin = Origin("clone", of="1") if curated else Origin("harvest")
    return Version(
        name, date, origin, ("oai_dc",), (), ("oai_dc",), digests={"oai_dc": Digest(content, 1)}
    )


def manifest(*versions: Version, current: str = "", **metadata: str) -> Manifest:
    return Manifest("oai:x:1", "", current or versions[-1].name, versions, metadata)


ONE, TWO = version("1", "2020-01-01T00:00:00"), version("2", "2021-01-01T00:00:00", content="b")
COPY = version("workingcopy", "2020-01-01T00:00:00", curated=True, content="c")


def known(*deposited: Version, policy: Policy = ALL, withdrawn: bool = False) -> KnownRecord:
    keys = {one.name: version_key(manifest(ONE, one), one, policy) for one in deposited}
    files = {one.name: files_digest(one) for one in deposited}
    last = deposited[-1].name
    held = Held("uri", "", "t", last, keys[last], len(deposited), withdrawn)
    return KnownRecord(held, keys, files)


def steps(actions: Sequence[Action]) -> list[tuple[str, str]]:
    return [(str(action.kind), action.version) for action in actions]


def test_versions_go_as_they_were_made_and_the_current_one_last() -> None:
    edition = version("ed-2014", "2014-01-01T00:00:00", curated=True)
    record = manifest(ONE, COPY, TWO, edition, current="1")
    names = [one.name for one in chosen_versions(record, Versions.ALL)]
    assert names == ["workingcopy", "2", "ed-2014", "1"]
    record = manifest(TWO, edition, COPY)
    assert chosen_versions(record, Versions.ALL) == (TWO, edition, COPY)
    record = manifest(ONE, COPY)
    assert [one.name for one in chosen_versions(record, Versions.CURATED)] == ["workingcopy"]
    assert [one.name for one in chosen_versions(record, Versions.CURRENT)] == ["workingcopy"]


def test_new_record_is_created_and_its_versions_added() -> None:
    found = plan_record(manifest(ONE, TWO), KnownRecord(), ALL, EACH)
    assert steps(found) == [("create", "1"), ("add version", "2")]


def test_record_as_exported_needs_nothing() -> None:
    assert steps(plan_record(manifest(ONE, TWO), known(ONE, TWO), ALL, EACH)) == [("nothing", "2")]


def test_new_harvest_under_a_curated_version_leaves_that_the_newest() -> None:
    record = manifest(ONE, COPY, TWO, current="workingcopy")
    found = plan_record(record, known(ONE, COPY), ALL, EACH)
    assert steps(found) == [("add version", "2"), ("replace", "workingcopy")]


def test_cursor_that_moved_back_makes_its_version_go_again() -> None:
    found = plan_record(manifest(ONE, TWO, current="1"), known(ONE, TWO), ALL, EACH)
    assert steps(found) == [("replace", "1")]


def test_changed_crosswalk_describes_anew() -> None:
    other = replace(ALL, crosswalk="another")
    found = plan_record(manifest(ONE, TWO), known(ONE, TWO), other, EACH)
    assert steps(found) == [("describe", "1"), ("describe", "2")]


def test_relisting_under_another_datestamp_is_no_change() -> None:
    again = replace(TWO, origin=replace(TWO.origin, prefixes={"oai_dc": "2030-01-01T00:00:00"}))
    assert steps(plan_record(manifest(ONE, again), known(ONE, TWO), ALL, EACH)) == [
        ("nothing", "2")
    ]


def test_what_is_said_of_dates_counts() -> None:
    made = replace(COPY, origin=replace(COPY.origin, date="2026-01-01T00:00:00"))
    assert steps(plan_record(manifest(ONE, made), known(ONE, COPY), ALL, EACH)) == [
        ("describe", "workingcopy")
    ]
    restamped = replace(ONE, date="2019-01-01T00:00:00")
    found = plan_record(manifest(restamped, COPY), known(ONE, COPY), ALL, EACH)
    assert steps(found) == [("describe", "1"), ("describe", "workingcopy")]


def test_deleted_record_is_withdrawn_once() -> None:
    gone = manifest(ONE, version("2", "2022"), deleted_at_version="2", deleted_at_date="2022")
    (action,) = plan_record(gone, known(ONE), ALL, EACH)
    assert action.kind is ActionKind.WITHDRAW
    after = replace(known(ONE, withdrawn=True), withdrawn_as=action.key)
    assert steps(plan_record(gone, after, ALL, EACH)) == [("nothing", "")]
    assert steps(plan_record(gone, KnownRecord(), ALL, EACH)) == [("leave", "")]
    keep = replace(ALL, deletions=Deletions.KEEP)
    assert steps(plan_record(gone, known(ONE), keep, EACH)) == [("leave", "")]


def test_record_that_came_back_goes_again() -> None:
    found = plan_record(manifest(ONE), known(ONE, withdrawn=True), ALL, EACH)
    assert steps(found) == [("replace", "1")]


def test_record_without_a_chosen_version_is_passed_over() -> None:
    assert plan_record(manifest(ONE), KnownRecord(), Policy(Versions.CURATED), EACH) == ()


def test_keys_are_stable() -> None:
    """A key that changed between releases would export everything again."""
    assert files_digest(ONE) == ("5b22c7b8ca02bfb80082fbf382254b44e0f40aeb38087078db388206b45273da")
    assert version_key(manifest(ONE), ONE, Policy()) == (
        "1695c654c403e46e9d73eaa98416547951054069c7c249d446210206d3694d43"
    )


def test_a_record_that_is_sent_still_has_the_status_that_was_selected() -> None:
    ready = manifest(ONE, replace(COPY, state="ready"))
    for text, is_sent in (
        ("state=ready", True), ("state!=ready", False), ("state=withheld", False),
        ("state!=withheld", True), ("year=2001", True),
    ):  # fmt: skip
        selection = Selection(filters=filters_from([text]))
        assert is_in_state(selection, ready) is is_sent, text
