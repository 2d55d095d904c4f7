"""Where the turns of a host are, and how a Silo finds them."""

import json
import os
import pickle
import stat
from pathlib import Path

import pytest

from politeweb.errors import RequestRefused
from politeweb.file_pace import FilePace
from politeweb.redis_pace import RedisPace
from politeweb.shared_pace import PaceSpec, PlaceOfPaces, note_place, turns_beside, turns_of


def test_a_host_without_interval_needs_no_file(tmp_path: Path) -> None:
    assert turns_of(PaceSpec(0.0, "127.0.0.1:80", str(tmp_path))).reserve() == 0
    assert list(tmp_path.iterdir()) == []
    assert turns_of(PaceSpec(1.0, "h", str(tmp_path))).reserve() == 0
    assert (tmp_path / "hosts.sqlite").exists()


def test_a_spec_that_was_sent_to_another_process_gives_the_same_turns(tmp_path: Path) -> None:
    spec = PaceSpec(60.0, "h", str(tmp_path))
    turns_of(spec).reserve()
    assert 50 < turns_of(pickle.loads(pickle.dumps(spec))).reserve() <= 60


def test_a_silo_of_a_fleet_has_the_turns_of_the_fleet(tmp_path: Path) -> None:
    silo_path = str(tmp_path / "a-silo")
    assert turns_beside(silo_path) is None
    (tmp_path / "fleet").mkdir()
    fleet = FilePace(str(tmp_path / "fleet"), "repo.example", 60.0)
    fleet.reserve()
    turns = turns_beside(silo_path)
    assert turns is not None
    assert 0 < turns("https://Repo.example:8443/a.pdf", 1.0).reserve() <= 60
    assert turns("https://elsewhere.example/a.pdf", 1.0).reserve() == 0


def test_a_silo_of_a_node_has_the_turns_of_its_redis(tmp_path: Path, broker: str) -> None:
    note_place(str(tmp_path), PlaceOfPaces(broker, 2))
    RedisPace(broker, "repo.example", 60.0).reserve()
    turns = turns_beside(str(tmp_path / "a-silo"))
    assert turns is not None
    assert 60 < turns("https://repo.example/a.pdf", 1.0).reserve() <= 120
    note_place(str(tmp_path), None)
    note_place(str(tmp_path), None)
    assert turns_beside(str(tmp_path / "a-silo")) is None


def test_the_note_of_a_redis_is_for_its_owner_alone(tmp_path: Path) -> None:
    note_place(str(tmp_path), PlaceOfPaces("redis://:secret@h/0"))
    note = tmp_path / "fleet" / "hosts.json"
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "fleet") == ["hosts.json"]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"redis": "r", "nodes": "x"}', "[" * 9999])
def test_a_damaged_note_is_a_sentence_and_not_no_pace(tmp_path: Path, content: str) -> None:
    note_place(str(tmp_path), PlaceOfPaces("redis://h/0"))
    (tmp_path / "fleet" / "hosts.json").write_text(content, encoding="utf-8")
    with pytest.raises(RequestRefused, match=r"hosts\.json cannot be read"):
        turns_beside(str(tmp_path / "a-silo"))


def test_a_silo_of_a_fleet_does_not_change_the_pace_of_the_fleet(tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    FilePace(str(tmp_path / "fleet"), "repo.example", 600.0).reserve()
    turns = turns_beside(str(tmp_path / "a-silo"))
    assert turns is not None
    first, second = (turns("https://repo.example/a", 1.0).reserve() for _ in range(2))
    assert 300 < second - first < 610, "the interval of the fleet, not of the files"


def test_a_damaged_note_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "fleet" / "hosts.json").mkdir(parents=True)
    with pytest.raises(RequestRefused, match="delete it, and the fleet's worker makes it again"):
        turns_beside(str(tmp_path / "a-silo"))


def test_a_note_replaces_the_one_before(tmp_path: Path) -> None:
    for nodes in (2, 3):
        note_place(str(tmp_path), PlaceOfPaces("redis://h/0", nodes))
    content = json.loads((tmp_path / "fleet" / "hosts.json").read_text(encoding="utf-8"))
    assert content == {"redis": "redis://h/0", "nodes": 3}
