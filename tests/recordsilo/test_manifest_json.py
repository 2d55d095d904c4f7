"""The bytes of a manifest: round trip, and any bytes give a manifest or a named fault."""

import json

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from recordsilo import Digest, Manifest, Origin, Version
from recordsilo.errors import ManifestUnreadable
from recordsilo.records.manifest import FORMAT, Pending
from recordsilo.records.manifest_json import _MemberReader, from_json, to_2010, to_json
from recordsilo.records.manifest_plain import plain_manifest

text = st.text(max_size=12)
plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
names = st.from_regex(r"[^/\0\ud800-\udfff]{1,10}", fullmatch=True)
paths = st.lists(names.filter(lambda n: n not in {".", ".."}), min_size=1, max_size=3).map("/".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
digests = st.builds(Digest, st.from_regex("[0-9a-f]{64}", fullmatch=True), st.integers(0, 2**60))
origins = st.builds(
    Origin,
    kind=st.sampled_from(["harvest", "import", "clone", "local"]),
    of=st.none() | names,
    prefixes=st.dictionaries(plain, plain, max_size=2),
    agent=plain,
    message=plain,
    date=plain,
)
versions = st.builds(
    Version,
    name=names,
    date=plain,
    origin=origins,
    files=st.lists(paths, max_size=3).map(tuple),
    subdir=st.lists(plain, max_size=2).map(tuple),
    metadata_files=st.lists(plain, max_size=2).map(tuple),
    log=st.lists(plain, max_size=2).map(tuple),
    digests=st.dictionaries(paths, st.none() | digests, max_size=3),
)
inside = st.builds(lambda name, path: f"__{name}/{path}", names, paths).filter(
    lambda path: not path.startswith("__manifest.json")
)
pending = st.builds(
    Pending,
    renames=st.lists(st.tuples(inside, inside), max_size=2).map(tuple),
    unlinks=st.lists(st.tuples(inside, st.integers(-1), st.integers(-1)), max_size=2).map(tuple),
)


@st.composite
def manifests(draw: st.DrawFn, pending: st.SearchStrategy[Pending] = pending) -> Manifest:
    made = draw(st.lists(versions, max_size=3, unique_by=lambda version: version.name))
    return Manifest(
        item_id=draw(plain.filter(bool)),
        date=draw(plain),
        current_version=draw(st.sampled_from(made)).name if made else "",
        versions=tuple(made),
        metadata=draw(st.dictionaries(plain, values, max_size=3)),
        revision=draw(st.integers(0, 10**9)),
        changed=draw(plain),
        format=draw(st.integers(1, 3)),
        pending=draw(pending),
        extra=draw(st.dictionaries(st.sampled_from(["rdffilename", "später"]), values)),
    )


@pytest.mark.long
@given(manifests())
def test_manifest_is_the_same_after_writing_and_reading(manifest: Manifest) -> None:
    content = to_json(manifest)
    assert from_json(content, "x") == manifest
    assert json.loads(content.decode("utf-8"))["item_id"] == manifest.item_id


@settings(max_examples=20)
@given(manifests())
def test_keys_of_2010_come_first_and_each_key_has_a_line(manifest: Manifest) -> None:
    content = to_json(manifest)
    members = json.loads(content)
    assert list(members)[:10] == list(to_2010(manifest))
    assert len(content.split(b"\n")) == len(members) + 3


@settings(max_examples=examples(50))
@given(manifests())
def test_each_line_is_as_the_json_encoder_writes_it(manifest: Manifest) -> None:
    content = to_json(manifest)
    shown = json.JSONEncoder(ensure_ascii=False).encode
    members = [(k, v) for k, v in json.loads(content).items() if k != "checksum"]
    written = [f"{shown(k)}: {shown(v)}" for k, v in members]
    assert [line.rstrip(",") for line in content.decode().split("\n")[1:-3]] == written
    assert list(to_2010(manifest).items()) == list(json.loads(content).items())[:10]


@given(manifests(st.just(Pending())).filter(lambda manifest: bool(manifest.versions)))
def test_what_is_written_here_is_read_the_short_way(manifest: Manifest) -> None:
    assert plain_manifest(json.loads(to_json(manifest))) == manifest


@given(st.binary(max_size=200))
def test_any_bytes_are_a_manifest_or_a_named_fault(content: bytes) -> None:
    sentence = ""
    try:
        from_json(content, "/some/where")
    except ManifestUnreadable as error:
        sentence = str(error)
    assert not sentence or sentence.startswith("the manifest /some/where cannot be read (")


KEYS = [
    "item_id", "date", "currentversion", "versions", "version_dates", "files", "subdir",
    "metadata_files", "versionlog", "metadata", "format", "revision", "changed", "digests",
    "origins", "pending",
]  # fmt: skip
anything = values | st.dictionaries(st.just("1"), values, max_size=1)


@given(st.dictionaries(st.sampled_from(KEYS), anything), st.booleans())
def test_any_json_is_a_manifest_or_a_named_fault(found: dict[str, object], sound: bool) -> None:
    if sound:
        found |= {"item_id": "a", "versions": ["1"], "currentversion": "1"}
    try:
        manifest = from_json(json.dumps(found).encode(), "x")
    except ManifestUnreadable:
        return
    assert manifest.item_id
    assert from_json(to_json(manifest), "x").item_id == manifest.item_id


odd = values | st.sampled_from(["..", "a/../b", "a\0", "/a", "harvest", "0" * 64, "1"])


def altered_somewhere(data: st.DataObject, value: object) -> object:
    """The value with one member, at some depth, changed, added or left out."""
    if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 4)) == 0:
        return data.draw(odd)
    if isinstance(value, list):
        at = data.draw(st.integers(0, len(value) - 1))
        return [altered_somewhere(data, v) if n == at else v for n, v in enumerate(value)]
    key = data.draw(st.sampled_from(sorted(value)))
    match data.draw(st.integers(0, 5)):
        case 0:
            return {k: v for k, v in value.items() if k != key}
        case 1:
            return value | {data.draw(st.sampled_from(["..", "../x", "1", "kind", "new"])): value}
    return value | {key: altered_somewhere(data, value[key])}


@pytest.mark.long
@settings(max_examples=examples(150))
@given(manifests().filter(lambda manifest: bool(manifest.versions)), st.data())
def test_the_short_way_gives_what_the_careful_one_gives_or_nothing(
    manifest: Manifest, data: st.DataObject
) -> None:
    members = altered_somewhere(data, json.loads(to_json(manifest)))
    if isinstance(members, dict) and (found := plain_manifest(members)) is not None:
        assert found == _MemberReader(members, "x").manifest()
        assert repr(found) == repr(_MemberReader(members, "x").manifest())


def with_key(key: str, value: object) -> bytes:
    sound = json.loads(to_json(Manifest("a", "", "1", (Version("1", "", Origin("local")),))))
    return json.dumps(sound | {key: value}).encode()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("item_id", ""),
        ("item_id", 7),
        ("versions", ["1", "1"]),
        ("versions", ["1", "../x"]),
        ("versions", ["1", ""]),
        ("versions", {"1": 1}),
        ("currentversion", "2"),
        ("revision", -1),
        ("revision", True),
        ("changed", 7),
        ("format", "1"),
        ("files", {"1": "oai_dc"}),
        ("files", {"1": [7]}),
        ("files", {"1": ["../../etc"]}),
        ("metadata", []),
        ("digests", {"1": {"../../../x": None}}),
        ("digests", {"1": {"/etc/passwd": None}}),
        ("digests", {"1": {"f": {"sha256": "x", "size": 1}}}),
        ("digests", {"1": {"f": {"sha256": "0" * 64}}}),
        ("origins", {"1": {"kind": "found"}}),
        ("origins", {"1": {"kind": []}}),
        ("origins", {"1": {"kind": "harvest", "prefixes": []}}),
        ("pending", {"renames": [["__1/a"]], "unlinks": []}),
        ("pending", {"renames": [["__1/a", "../b"]], "unlinks": []}),
        ("pending", {"renames": [["__1/a", "__1/../../b"]], "unlinks": []}),
        ("pending", {"renames": [], "unlinks": [["__manifest.json", 1, 1]]}),
        ("pending", {"renames": [], "unlinks": [["__/ab/__1", -1, -1]]}),
        ("pending", {"renames": [], "unlinks": [["/etc/passwd", 1, 1]]}),
        ("pending", {"renames": []}),
        ("pending", []),
    ],
)
def test_wrong_key_is_named(key: str, value: object) -> None:
    with pytest.raises(ManifestUnreadable, match=f"its '{key}'"):
        from_json(with_key(key, value), "x")


def test_deeply_nested_json_is_a_named_fault() -> None:
    with pytest.raises(ManifestUnreadable):
        from_json(b"[" * 100_000, "x")


def test_manifest_of_2010_has_no_digests_and_format_0() -> None:
    old = b'{"item_id": "a", "versions": [3], "currentversion": 3, "files": {"3": ["f"]}}'
    manifest = from_json(old, "x")
    assert (manifest.format, manifest.revision) == (0, 0)
    assert manifest.versions[0].digests is None
    assert (manifest.current_version, manifest.versions[0].files) == ("3", ("f",))
    assert FORMAT == 1


def test_infinity_is_never_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_json(Manifest("a", "", metadata={"x": float("inf")}))
