"""A record is recognized as plain only if no rule finds a fault in it."""

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recordsilo import Origin, Silo
from recordsilo.audit.agreement import disagreements
from recordsilo.audit.manifest_check import read_statement
from recordsilo.audit.plain_record import plain_manifest, plain_record
from recordsilo.audit.record_check import RecordCheck
from recordsilo.disk.identifier import ppath
from recordsilo.errors import ManifestUnreadable
from recordsilo.index import ManifestStamp
from recordsilo.records.manifest_json import from_json, to_json

from .conftest import sealed
from .test_any_manifest import places_in, put, values

IDENTIFIER = "oai:example.org:12"
MOMENT = "2004-06-24T00:00:00"


def build(path: Path) -> None:
    """A Silo with one record: as harvested, and a clone that a curator changed."""
    with Silo(str(path), agent="tester") as silo:
        with silo.batch([IDENTIFIER]) as batch:
            edit = batch.edit(IDENTIFIER)
            origin = Origin("harvest", prefixes={"a": MOMENT})
            edit.add_version("1", date=MOMENT, origin=origin, log="Created new data package")
            edit.put("1", "oai_dc", b"<dc>harvested</dc>", metadata=True)
            edit.put("1", "full.pdf", b"%PDF-1.4")
            edit.set_metadata("setSpec", ["a", "b"])
        record = silo[IDENTIFIER]
        record.clone_version("1", "workingcopy")
        record.put_stream("oai_dc", "<dc>curated</dc>", message="said so")
        record.set_version_state("workingcopy", "ready")
        record.sync()


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("plain") / "silo"
    build(path)
    return (path / "pairtree_root" / ppath(IDENTIFIER) / "__manifest.json").read_bytes()


@pytest.fixture
def record(tmp_path: Path) -> Path:
    build(tmp_path / "silo")
    return tmp_path / "silo/pairtree_root" / ppath(IDENTIFIER)


def check_of(record: Path) -> RecordCheck:
    silo = next(one for one in record.parents if one.name == "silo")
    return RecordCheck(str(silo), ppath(IDENTIFIER))


def test_a_plain_record_has_the_result_of_the_whole_check(record: Path) -> None:
    found = plain_record(check_of(record))
    assert found is not None
    assert found[0] == check_of(record).run(hashing=True)
    assert found[1] == ManifestStamp.of(str(record / "__manifest.json"))


def assert_unrecognized_or_sound(content: bytes) -> bool:
    manifest = plain_manifest(content, IDENTIFIER)
    if manifest is None:
        return False
    reading = read_statement(content)
    assert reading.faults == ()
    assert reading.statement is not None
    assert list(disagreements(reading.statement)) == []
    assert manifest == from_json(content, "")
    return True


def replaced(content: bytes, path: tuple[Any, ...], value: Any) -> bytes:
    members = put(copy.deepcopy(json.loads(content)), path, value)
    return sealed(members) if isinstance(members, dict) else json.dumps(members).encode()


@given(st.data())
@settings(max_examples=examples(1500), deadline=None)
def test_a_manifest_with_any_value_in_any_place_is_recognized_only_if_sound(
    content: bytes, data: st.DataObject
) -> None:
    path = data.draw(st.sampled_from(places_in(json.loads(content))))
    broken = replaced(content, path, data.draw(values))
    assert_unrecognized_or_sound(broken)
    try:
        as_written = to_json(from_json(broken, ""))
    except (ManifestUnreadable, AttributeError, TypeError):
        return
    assert_unrecognized_or_sound(as_written)


ODD = [
    "1",
    "9",
    "2011-01-01",
    "..",
    "a/b",
    "x" * 251,
    "manifest.json",
    "\x07",
    "2004",
    "Deleted file x",
    "",
    "é",
]


def test_a_manifest_with_an_odd_text_in_any_place_is_recognized_only_if_sound(
    content: bytes,
) -> None:
    members = json.loads(content)
    recognized = 0
    for path in places_in(members):
        for text in ODD:
            recognized += assert_unrecognized_or_sound(replaced(content, path, text))
            inner: Any = members
            for key in path[:-1]:
                inner = inner[key]
            if path and isinstance(inner, dict):  # the key itself
                moved = copy.deepcopy(members)
                within = moved
                for key in path[:-1]:
                    within = within[key]
                within[text] = within.pop(path[-1])
                recognized += assert_unrecognized_or_sound(sealed(moved))
    assert recognized > 20  # texts of people, such as messages


@pytest.mark.parametrize("old", ["workingcopy", "full.pdf"])
@pytest.mark.parametrize("name", ["x" * 251, "manifest.json", "\x07", "..", "a/b", "fine"])
def test_a_name_that_is_the_same_in_all_places_is_judged(
    content: bytes, old: str, name: str
) -> None:
    renamed = json.loads(json.dumps(json.loads(content)).replace(f'"{old}"', json.dumps(name)))
    is_good = name == "fine" or (old, name) == ("full.pdf", "manifest.json")
    assert assert_unrecognized_or_sound(sealed(renamed)) == is_good


def test_a_manifest_with_work_left_or_without_a_revision_is_not_recognized(
    content: bytes, record: Path
) -> None:
    before = (record / "__manifest.json.prev").read_bytes()
    assert b'"pending"' in before
    assert plain_manifest(before, IDENTIFIER) is None
    assert plain_manifest(replaced(content, ("revision",), 0), IDENTIFIER) is None


@given(st.integers(0), st.integers(0, 255))
@example(0, 0)
@settings(max_examples=examples(500), deadline=None)
def test_another_byte_anywhere_is_not_recognized(content: bytes, place: int, octet: int) -> None:
    place %= len(content)
    if content[place] != octet:
        broken = content[:place] + bytes([octet]) + content[place + 1 :]
        assert plain_manifest(broken, IDENTIFIER) is None


def test_the_manifest_of_another_record_is_not_recognized(content: bytes) -> None:
    assert plain_manifest(content, IDENTIFIER) is not None
    assert plain_manifest(content, "oai:example.org:13") is None


def with_link(path: Path) -> None:
    path.rename(path.with_name(f"x{path.name}"))
    path.symlink_to(path.with_name(f"x{path.name}"))


BREAKS: dict[str, Callable[[Path], object]] = {
    "a file is gone": lambda record: (record / "__1/oai_dc").unlink(),
    "a file is longer": lambda record: (record / "__1/oai_dc").write_bytes(b"<dc>harvested</dc>\n"),
    "a file is shorter": lambda record: os.truncate(record / "__1/oai_dc", 3),
    "a file has other bytes": lambda record: (record / "__1/oai_dc").write_bytes(b"x" * 18),
    "a file is a link": lambda record: with_link(record / "__1/oai_dc"),
    "a file is a directory": lambda record: [
        (record / "__1/oai_dc").unlink(),
        (record / "__1/oai_dc").mkdir(),
    ],
    "a file is a pipe": lambda record: [
        (record / "__1/oai_dc").unlink(),
        os.mkfifo(record / "__1/oai_dc"),
    ],
    "a file is added": lambda record: (record / "__1/new").touch(),
    "a directory is added": lambda record: (record / "__1/new").mkdir(),
    "a version is gone": lambda record: (record / "__1").rename(record / "away"),
    "a version is a link": lambda record: with_link(record / "__1"),
    "a version is added": lambda record: (record / "__2").mkdir(),
    "a staged manifest is left": lambda record: (record / "__manifest.json.new").touch(),
    "a mark of deletion is left": lambda record: (record / "__manifest.json.deleted").touch(),
    "the manifest is a link": lambda record: with_link(record / "__manifest.json"),
    "the manifest is gone": lambda record: (record / "__manifest.json").unlink(),
    "the one before is of nothing": lambda record: (record / "__manifest.json.prev").write_bytes(
        b"{}"
    ),
    "the one before is a directory": lambda record: [
        (record / "__manifest.json.prev").unlink(),
        (record / "__manifest.json.prev").mkdir(),
    ],
}


@pytest.mark.parametrize("broken", BREAKS)
def test_a_record_with_other_files_is_not_recognized(record: Path, broken: str) -> None:
    BREAKS[broken](record)
    assert plain_record(check_of(record)) is None
    assert check_of(record).run(hashing=True).findings


def test_a_file_above_the_size_of_a_chunk_is_read_in_chunks(tmp_path: Path) -> None:
    with Silo(str(tmp_path / "silo")) as silo, silo.batch([IDENTIFIER]) as batch:
        edit = batch.edit(IDENTIFIER)
        edit.add_version("1", date=MOMENT, origin=Origin("harvest", prefixes={"a": MOMENT}))
        edit.put("1", "full.pdf", bytes(3 << 20))
    record = tmp_path / "silo/pairtree_root" / ppath(IDENTIFIER)
    found = plain_record(check_of(record))
    assert found is not None
    assert found[0].bytes_read == 3 << 20
    with (record / "__1/full.pdf").open("r+b") as file:
        file.seek(2 << 20)
        file.write(b"x")
    assert plain_record(check_of(record)) is None
