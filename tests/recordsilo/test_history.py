"""What a record was, found out of its manifest: against every manifest that it had."""

import tempfile
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.disk import atomic_file
from recordsilo.errors import HistoryUnreadable, RecordSiloError
from recordsilo.records import edit as edit_module
from recordsilo.records import record_changes
from recordsilo.records.edit import RecordEdit, new_origin
from recordsilo.records.history import NOTED_KEYS, Then, as_of
from recordsilo.records.manifest import Manifest, Origin, Pending, Version
from recordsilo.records.manifest_json import from_json, to_json

BEGIN = datetime.fromisoformat("2026-03-01")


class Clock:
    """A second later each time that it is looked at."""

    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> str:
        self.now += timedelta(seconds=1)
        return self.now.isoformat(timespec="microseconds")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    for module in (edit_module, record_changes):
        monkeypatch.setattr(module, "now_text", found)
    monkeypatch.setattr(atomic_file, "flush_fd", lambda _fd: None)
    return found


def harvested(edit: RecordEdit, name: str, content: bytes | None, stamp: str) -> None:
    """What a harvest does: a version, and the marks of a deletion."""
    origin = Origin("harvest", None, {"oai_dc": stamp}, "harvester", "", edit_module.now_text())
    edit.add_version(
        name, date=stamp, origin=origin, log="Harvested oai_dc",
        move_cursor=not (edit.manifest.versions and edit.manifest.current.is_curated),
    )  # fmt: skip
    if content is None:
        edit.set_metadata("deleted_at_version", name)
        edit.set_metadata("deleted_at_date", stamp)
    else:
        edit.put(name, "oai_dc", content, metadata=True)
        edit.del_metadata("deleted_at_version")
        edit.del_metadata("deleted_at_date")


names = st.sampled_from(["1", "2", "3", "wc", "ed"])
contents = st.sampled_from([b"<a/>", b"<b/>", b"<c/>"])
STAMP = "2026-01-0%dT00:00:00"
operations = st.lists(
    st.one_of(
        st.tuples(st.just("harvest"), names, contents | st.none(), st.integers(1, 9)),
        st.tuples(st.just("clone"), names, names),
        st.tuples(st.just("put"), names, st.sampled_from(["oai_dc", "d/x", "y"]), contents),
        st.tuples(st.just("delete"), names, st.sampled_from(["oai_dc", "d/x", "y"])),
        st.tuples(st.just("state"), names, st.sampled_from(["ready", "withheld", None])),
        st.tuples(st.just("cursor"), names),
        st.tuples(st.just("remove"), names),
        st.tuples(st.just("rename"), names, names),
        st.tuples(st.just("sets"), st.lists(st.sampled_from(["a", "b:c"]), max_size=2)),
        st.tuples(st.just("relisted"), names, st.integers(1, 9)),
    ),
    max_size=12,
)


def act(silo: Silo, what: str, *args: Any) -> None:
    """Do one thing to the record ``r``."""
    if what == "remove":
        silo["r"].del_version(args[0])
        return
    if what == "rename":
        silo["r"].rename_version(*args)
        return
    with silo.editing("r") as edit:
        match what, args:
            case "harvest", (name, content, day):
                harvested(edit, name, content, STAMP % day)
            case "clone", (original, new):
                origin = new_origin("clone", of=original, agent="ann")
                date = edit.manifest.version(original).date
                edit.derive_version(original, new, date=date, origin=origin, log="cloned")
            case "put", (name, path, content):
                edit.put(name, path, content, metadata=path == "oai_dc", allow_frozen=True)
            case "delete", (name, path):
                edit.delete(name, path)
            case "state", (name, state):
                edit.set_state(name, state)
                edit.log(name, f"State set to {state or 'none'} [{edit_module.now_text()} ann]")
            case "cursor", (name,):
                edit.move_cursor(name)
            case "sets", (sets,):
                edit.set_metadata("setSpec", sets)
            case "relisted", (name, day):
                origin = edit.manifest.version(name).origin
                edit.set_origin(name, replace(origin, prefixes={"oai_dc": STAMP % day}))


def essence(manifest: Manifest | None) -> Manifest | None:
    """A manifest without what is not noted: pending work, and later listings of the same."""
    if manifest is None:
        return None
    versions = tuple(
        replace(one, origin=replace(one.origin, prefixes=dict.fromkeys(one.origin.prefixes, "")))
        for one in manifest.versions
    )
    metadata = {key: value for key, value in manifest.metadata.items() if key in NOTED_KEYS}
    return replace(
        manifest, versions=versions, metadata=metadata, pending=Pending(), history={}, revision=0,
        changed="",
    )  # fmt: skip


def just_before(manifest: Manifest) -> str:
    """A microsecond before it was written."""
    return (datetime.fromisoformat(manifest.changed) - timedelta(microseconds=1)).isoformat()


@settings(max_examples=examples(15), deadline=None)
@given(todo=operations)
def test_every_earlier_state_is_found_exactly(todo: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as directory:
        now = Clock()
        for module in (edit_module, record_changes):
            patch.setattr(module, "now_text", now)
        patch.setattr(atomic_file, "flush_fd", lambda _fd: None)
        with Silo(f"{directory}/s") as silo:
            with silo.editing("r") as edit:
                harvested(edit, "1", b"<a/>", STAMP % 1)
            had = [silo["r"].state]
            for one in todo:
                try:
                    act(silo, *one)
                except RecordSiloError:
                    continue
                if silo["r"].revision != had[-1].revision:
                    had.append(silo["r"].state)
            last = from_json(to_json(silo["r"].state), "r")
            for earlier, later in zip(had, [*had[1:], None], strict=True):
                for moment in (earlier.changed, just_before(later) if later else "2027-01-01"):
                    found = as_of(last, moment)
                    assert not found.unsure
                    assert essence(found.manifest) == essence(earlier)
            assert as_of(last, just_before(had[0])) == Then(None)


def version(name: str, kind: Any, date: str = "", **more: Any) -> Version:
    given: dict[str, Any] = {"files": ("oai_dc",), "digests": {"oai_dc": None}, **more}
    return Version(name, "2020-01-01T00:00:00", Origin(kind, date=date), **given)


JANUARY, MARCH, MAY = (f"2026-0{month}-01T00:00:00" for month in (1, 3, 5))


def test_an_earlier_release_is_taken_at_its_word_and_the_rest_is_said_to_be_unsure() -> None:
    signed = f"State set to ready [{JANUARY} ann: checked]"
    versions = (
        version("1", "harvest", "2025-12-01T00:00:00", log=(signed,)),
        version("wc", "clone", MARCH, state="ready"),
    )
    manifest = Manifest("r", MARCH, "wc", versions, revision=7, changed=MAY)
    assert as_of(manifest, MAY) == Then(manifest)
    found = as_of(manifest, "2026-02-01")
    assert found.manifest is not None
    assert (found.manifest.version_names, found.manifest.current.state) == (("1",), "ready")
    assert found.unsure == (
        f"changes before {MAY} are not all noted; this is what its versions and logs say"
    )
    assert as_of(manifest, "2025-11-01") == Then(None)


def test_of_a_record_of_2010_only_the_time_of_its_file_is_known() -> None:
    manifest = Manifest("r", MARCH, "1", (version("1", "harvest"),), format=0)
    assert as_of(manifest, MAY, MARCH) == Then(manifest)
    found = as_of(manifest, JANUARY, MARCH)
    assert found == Then(None, f"whether it was there is not noted; it was on {MARCH}")


def test_steps_of_another_revision_are_not_used() -> None:
    history = {"created": JANUARY, "revision": 2, "steps": [{"at": MARCH, "current": "gone"}]}
    manifest = Manifest(
        "r", MARCH, "1", (version("1", "harvest", JANUARY),), revision=3, changed=MAY,
        history=history,
    )  # fmt: skip
    found = as_of(manifest, "2026-02-01")
    assert (found.manifest or manifest).current_version == "1"
    assert found.unsure


STEP = {"at": MAY, "revision": 2, "changed": MARCH}


@pytest.mark.parametrize(
    "steps",
    [
        7,
        [{"at": 7}],
        [{"at": MAY, "versions": {"1": {"new": 7}}}],
        [{**STEP, "date": 5}],
        [{**STEP, "versions": {"1": {"state": {"a": 1}}}}],
        [{**STEP, "versions": {"1": {"digests": {"oai_dc": []}}}}],
        [{**STEP, "versions": {"1": {"metadata_files": [5, None]}}}],
        [{**STEP, "versions": {"1": {"files": ["../../x"]}}}],
    ],
)
def test_a_malformed_history_is_an_error(steps: Any) -> None:
    history = {"created": JANUARY, "revision": 3, "steps": steps}
    manifest = Manifest(
        "r", MARCH, "1", (version("1", "harvest", JANUARY),), revision=3, changed=MAY,
        history=history,
    )  # fmt: skip
    with pytest.raises(HistoryUnreadable, match="history in the manifest of r is malformed"):
        as_of(manifest, MARCH)
