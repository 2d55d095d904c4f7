"""What holds for every history of a record, whatever a repository lists."""

import hashlib
from dataclasses import replace

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhprotocol import Header, Record
from oaipmhscraper.receipt import Outcome
from oaipmhscraper.storing.storing_rules import (
    AddVersion,
    PutFile,
    Reception,
    SetMetadata,
    SetOrigin,
    plan_record,
)
from recordsilo.disk.digest import Digest
from recordsilo.records.manifest import Manifest, Origin, Version

PREFIXES = ("oai_dc", "p", "q")
DATES = [f"2010-01-0{day}T00:00:00" for day in range(1, 5)]

listings = st.tuples(
    st.sampled_from(DATES), st.sampled_from([None, b"<a/>", b"<b/>", b"<a />"]), st.booleans()
)
rounds = st.lists(st.dictionaries(st.sampled_from(PREFIXES), listings, min_size=1), min_size=1)


class Store:
    """A record in memory: a manifest, and the contents of its files."""

    def __init__(self):
        self.manifest = Manifest("oai:x:1", "")
        self.files = {}

    def list(self, prefix, datestamp, content, about):
        header = Header("oai:x:1", datestamp, (), deleted=content is None)
        record = Record(header, content, (b"<about/>",) if about and content else ())
        plan = plan_record(
            self.manifest, record, datestamp, Reception(prefix), lambda *key: self.files.get(key)
        )
        for action in plan.actions:
            self.carry_out(action)
        return plan

    def carry_out(self, action):
        manifest = self.manifest
        match action:
            case AddVersion(name, date, origin, log, move_cursor):
                assert not manifest.has(name)
                manifest = manifest.with_version(Version(name, date, origin, log=(log,)))
                if move_cursor or not manifest.current_version:
                    manifest = manifest.with_cursor(name)
            case PutFile(version, path, content, metadata):
                assert path not in manifest.version(version).paths
                digest = Digest(hashlib.sha256(content).hexdigest(), len(content))
                self.files[version, path] = content
                put = manifest.version(version).with_file(path, digest, metadata=metadata)
                manifest = manifest.with_version(put)
            case SetOrigin(version, origin):
                manifest = manifest.with_version(replace(manifest.version(version), origin=origin))
            case SetMetadata(key, value):
                rest = {k: v for k, v in manifest.metadata.items() if k != key}
                metadata = rest if value is None else {**rest, key: value}
                manifest = replace(manifest, metadata=metadata)
        self.manifest = manifest

    def harvest(self, lists):
        return [self.list(prefix, *listing) for prefix, listing in lists.items()]


@settings(max_examples=examples(300), deadline=None)
@given(rounds)
def test_the_same_lists_again_and_again_settle(history):
    store = Store()
    for lists in history:
        store.harvest(lists)
    for _ in range(2):
        store.harvest(history[-1])
    settled = store.manifest
    assert not any(plan.writes for plan in store.harvest(history[-1]))
    assert store.manifest == settled


@settings(max_examples=examples(300), deadline=None)
@given(rounds)
def test_versions_are_numbered_in_order_and_nothing_harvested_changes(history):
    store = Store()
    for lists in history:
        before = dict(store.files)
        store.harvest(lists)
        assert before.items() <= store.files.items()
    names = store.manifest.version_names
    assert names == tuple(str(number) for number in range(1, len(names) + 1))
    assert store.manifest.current_version == names[-1]
    assert store.manifest.metadata["firstSeen"] == store.manifest.versions[0].date


@settings(max_examples=examples(300), deadline=None)
@given(rounds, st.sampled_from(["1", "workingcopy"]))
def test_the_cursor_never_leaves_a_curated_version(history, name):
    store = Store()
    store.manifest = (
        Manifest("oai:x:1", "")
        .with_version(Version(name, DATES[0], Origin("local")))
        .with_cursor(name)
    )
    for lists in history:
        store.harvest(lists)
    assert store.manifest.current_version == name
    assert not store.manifest.version(name).paths


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(listings, min_size=1))
def test_a_format_alone_is_held_as_last_listed(history):
    store = Store()
    for listing in history:
        plan = store.list("oai_dc", *listing)
        deleted = listing[1] is None
        assert (plan.outcome in {Outcome.DELETED, Outcome.DELETED_BEFORE}) is deleted
        assert (plan.outcome is Outcome.DELETED) is (deleted and plan.writes)
        assert ("deleted_at_version" in store.manifest.metadata) is deleted
        if not deleted:
            held = store.files[store.manifest.versions[-1].name, "oai_dc"]
            assert held.replace(b" ", b"") == listing[1].replace(b" ", b"")


contents = st.fixed_dictionaries({p: st.sampled_from([None, b"<a/>", b"<b/>"]) for p in PREFIXES})


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(contents, min_size=1, max_size=len(DATES)), st.booleans())
def test_a_record_is_deleted_when_all_its_formats_are(history, same_day):
    store = Store()
    for date, lists in zip(DATES, history, strict=False):
        for _ in range(2):
            store.harvest({p: (DATES[0] if same_day else date, c, False) for p, c in lists.items()})
        assert ("deleted_at_version" in store.manifest.metadata) is (not any(lists.values()))
