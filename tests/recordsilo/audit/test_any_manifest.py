"""With any manifest, the audit ends and reports everything that the store refuses."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordsilo.audit.agreement import disagreements
from recordsilo.audit.findings import Severity
from recordsilo.audit.manifest_check import read_statement
from recordsilo.audit.record_check import RecordCheck
from recordsilo.disk.identifier import ppath
from recordsilo.errors import ManifestUnreadable
from recordsilo.records.manifest_json import from_json

Box = Any

texts = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["1", "workingcopy", "..", "a/b", "\0", "\ud800", "__1", "x" * 300, "2004"]),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-2, 3), st.floats(0, 2), texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def place(built: Path) -> tuple[Path, str]:
    return built, ppath("oai:example.org:12")


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [path]
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in list(pairs):
            found += places_in(inner, (*path, key))
    return found


def put(members: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    inner = members
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return members


@pytest.mark.long
@given(st.data())
@settings(max_examples=examples(1500), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_manifest_with_any_value_in_any_place_is_judged(
    place: tuple[Path, str], data: st.DataObject
) -> None:
    silo, where = place
    manifest = silo / "pairtree_root" / where / "__manifest.json"
    content = manifest.read_bytes()
    members = copy.deepcopy(json.loads(content))
    path = data.draw(st.sampled_from(places_in(members)))
    changed = put(members, path, data.draw(values))
    manifest.write_bytes(json.dumps(changed).encode())
    try:
        found = RecordCheck(str(silo), where).run(hashing=False).findings
    finally:
        manifest.write_bytes(content)
    assert found
    for finding in found:
        json.dumps(finding.as_json()).encode()
    if is_refused(json.dumps(changed).encode()):
        assert any(
            one.severity is Severity.DAMAGE or one.code.name == "FORMAT_TOO_NEW" for one in found
        )


def is_refused(content: bytes) -> bool:
    try:
        from_json(content, "")
    except ManifestUnreadable:
        return True
    return False


@given(st.binary(max_size=200))
@settings(max_examples=examples(300), deadline=None)
def test_any_bytes_are_judged(content: bytes) -> None:
    reading = read_statement(content)
    assert reading.faults
    if reading.statement is not None:
        list(disagreements(reading.statement))
