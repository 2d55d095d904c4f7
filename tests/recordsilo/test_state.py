"""PersistentState is a real mapping that is kept in a file, and Granary a directory of Silos."""

import ast
import json
import os
from collections.abc import MutableMapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Granary, PersistentState
from recordsilo.errors import NotASilo, SiloNotFound, StateUnreadable


def test_state_is_a_mapping_in_every_respect(tmp_path: Path) -> None:
    state = PersistentState(str(tmp_path))
    state["a"] = 1
    state.update({"b": 2}, c=3)
    assert isinstance(state, MutableMapping)
    assert "a" in state
    assert state.get("a") == 1
    assert state.get("x", 7) == 7
    assert list(state) == ["a", "b", "c"]
    assert dict(state) == {"a": 1, "b": 2, "c": 3} == state
    assert state.setdefault("b", 9) == 2
    assert state.pop("c") == 3
    assert {**state} == {"a": 1, "b": 2}
    assert state.has_key("a")
    assert list(state.keys()) == ["a", "b"]
    assert sorted(state.values()) == [1, 2]
    assert ast.literal_eval(repr(state)) == {"a": 1, "b": 2} == state.state
    del state["a"]
    assert len(state) == 1
    assert bool(state)
    state.clear()
    assert state == {}
    with pytest.raises(KeyError):
        state["a"]


def test_state_is_kept_by_sync_and_forgotten_by_revert(tmp_path: Path) -> None:
    state = PersistentState(str(tmp_path), "s.json")
    assert state.path == str(tmp_path / "s.json")
    assert os.listdir(tmp_path) == ["s.json"]
    state["a"] = ["é"]
    assert PersistentState(str(tmp_path), "s.json") == {}
    state.sync()
    state["a"].append("more")
    state["b"] = 1
    state.revert()
    assert state == {"a": ["é"]} == PersistentState(str(tmp_path), "s.json")
    assert os.listdir(tmp_path) == ["s.json"]


def test_state_without_a_file_is_in_memory_until_it_gets_one(tmp_path: Path) -> None:
    state = PersistentState()
    state["a"] = 1
    state.sync()
    state.revert()
    assert (state["a"], state.path) == (1, None)
    assert state.set_filepath(str(tmp_path), "s.json") is True
    assert PersistentState(str(tmp_path), "s.json") == {"a": 1}
    assert state.set_filepath(str(tmp_path), "none.json", create=False) is False
    state.revert()
    assert state["a"] == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000])
def test_unreadable_state_is_an_error_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(StateUnreadable, match="it is left as it is"):
        PersistentState(str(tmp_path), "s.json")
    assert (tmp_path / "s.json").read_bytes() == content


def test_state_that_cannot_be_written_as_json_keeps_the_old_file(tmp_path: Path) -> None:
    state = PersistentState(str(tmp_path), "s.json")
    for value in ({1}, float("nan")):
        state["a"] = value
        with pytest.raises((TypeError, ValueError)):
            state.sync()
    assert (tmp_path / "s.json").read_text() == "{}\n"
    assert os.listdir(tmp_path) == ["s.json"]


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.none()))
def test_any_state_is_valid_utf8(
    tmp_path_factory: pytest.TempPathFactory, members: dict[str, object]
) -> None:
    directory = tmp_path_factory.mktemp("state")
    state = PersistentState(str(directory))
    state.state = members
    state.sync()
    assert isinstance(json.loads((directory / "persisted_state.json").read_text("utf-8")), dict)


@pytest.fixture
def granary(tmp_path: Path) -> Granary:
    return Granary(str(tmp_path / "granary"))


def test_granary_is_made_only_where_its_parent_exists(tmp_path: Path) -> None:
    with pytest.raises(SiloNotFound, match=f"there is no directory {tmp_path}/no$"):
        Granary(str(tmp_path / "no" / "granary"))


def test_where_no_directory_can_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(SiloNotFound, match=r"/proc/x: no directory can be created in /proc$"):
        Granary("/proc/x")


def test_a_file_is_no_granary(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SiloNotFound, match="is a file"):
        Granary(str(tmp_path / "file"))


def test_granary_makes_lists_and_deletes_silos(granary: Granary, tmp_path: Path) -> None:
    with granary.get_silo("gulls", "info:gulls/", base_oai_url="http://x/oai") as silo:
        silo.get_item("a").put_stream("f", "x" * 5000)
        assert silo.state["uri_base"] == "info:gulls/"
    granary.get_silo("terns").close()
    (tmp_path / "granary" / "letter.txt").write_text("x")
    assert granary.silos == ["gulls", "terns"]
    assert granary.issilo("gulls")
    assert not granary.issilo("letter.txt")
    assert 5000 < granary.disk_usage_silo("gulls") < 500_000
    granary.describe_silo("gulls", title="Gulls")
    granary.sync()
    granary.delete_silo("gulls")
    assert granary.silos == ["terns"]
    assert sorted(os.listdir(tmp_path / "granary")) == [
        "letter.txt", "persisted_state.json", "terns",
    ]  # fmt: skip
    assert "gulls" not in Granary(str(tmp_path / "granary")).state


def test_description_is_kept_by_sync(granary: Granary, tmp_path: Path) -> None:
    granary.get_silo("gulls").close()
    assert granary.describe_silo("gulls") == {}
    assert granary.describe_silo("gulls", title="Gulls") == {"title": "Gulls"}
    assert Granary(str(tmp_path / "granary")).describe_silo("gulls") == {}
    granary.sync()
    assert Granary(str(tmp_path / "granary")).describe_silo("gulls") == {"title": "Gulls"}


@pytest.mark.parametrize("name", ["../outside", "..", "", ".", "/tmp", "a/b", "a\0", "nope"])
def test_names_that_lead_elsewhere_or_nowhere_are_no_silos(
    granary: Granary, name: str, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "pairtree_version0_1").write_text("x")
    assert not granary.issilo(name)
    for act in (granary.describe_silo, granary.delete_silo, granary.disk_usage_silo):
        with pytest.raises(SiloNotFound):
            act(name)
    if name != "nope":
        with pytest.raises(SiloNotFound, match="not a valid name for a Silo"):
            granary.get_silo(name)
    assert os.path.exists(tmp_path / "outside" / "pairtree_version0_1")


def test_what_is_left_of_a_deletion_is_no_silo(granary: Granary, tmp_path: Path) -> None:
    granary.get_silo("gulls").close()
    os.rename(tmp_path / "granary" / "gulls", tmp_path / "granary" / ".silo-0123.tmp")
    assert granary.silos == []
    granary.get_silo("terns").close()
    granary.delete_silo("terns")
    assert not (tmp_path / "granary" / ".silo-0123.tmp").exists()


def test_directory_of_something_else_is_not_made_a_silo(granary: Granary, tmp_path: Path) -> None:
    (tmp_path / "granary" / "letters").mkdir()
    (tmp_path / "granary" / "letters" / "one.txt").write_text("x")
    with pytest.raises(NotASilo):
        granary.get_silo("letters")


def test_hard_linked_file_is_counted_once(granary: Granary) -> None:
    with granary.get_silo("gulls") as silo:
        record = silo.get_item("a")
        record.put_stream("f", b"x" * 200_000)
        before = granary.disk_usage_silo("gulls")
        record.clone_version_delta("1", "delta")
        assert granary.disk_usage_silo("gulls") - before < 100_000
