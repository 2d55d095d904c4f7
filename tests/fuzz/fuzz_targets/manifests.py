"""The bytes of a manifest."""

import json
from collections.abc import Hashable, Iterable, Sequence
from random import Random

from fuzzing.mutators import changed_json
from fuzzing.target import Target

from recordsilo.audit.agreement import disagreements
from recordsilo.audit.manifest_check import read_statement
from recordsilo.disk.digest import Digest
from recordsilo.errors import ManifestUnreadable
from recordsilo.records.manifest import Manifest, Origin, Pending, Version
from recordsilo.records.manifest_json import from_json, to_json

NAMES = (
    "item_id", "date", "currentversion", "versions", "version_dates", "files", "subdir",
    "metadata_files", "versionlog", "metadata", "format", "revision", "changed", "digests",
    "origins",
    "states", "pending", "renames", "unlinks", "sha256", "size", "kind", "of", "prefixes", "agent",
    "message", "harvest", "import", "clone", "local", "1", "2", "workingcopy", "oai_dc",
    "a/b.pdf", "__1/x",
    "0" * 64, "2026-11-22T10:00:00Z", "deleted_at_version", "deleted_at_date", "setSpec",
)  # fmt: skip


def samples() -> list[bytes]:
    """Manifests of this release and of 2010."""
    digest = Digest("0" * 64, 12)
    first = Version("1", "2026-11-22T10:00:00Z", Origin("harvest", prefixes={"oai_dc": "2004"}),
                    ("oai_dc", "a/b.pdf"), ("a",), ("oai_dc",), ("Harvested",),
                    {"oai_dc": digest, "a/b.pdf": digest})  # fmt: skip
    copy = Version("workingcopy", "2026-11-22", Origin("clone", "1"), ("oai_dc",), (),
                   ("oai_dc",), (), {"oai_dc": None}, "ready")  # fmt: skip
    pending = Pending((("__1/.silo-a.tmp", "__1/x"),), (("__1/y", 3, 5),))
    return [
        to_json(Manifest("oai:x:1", "2026", "1", (first,), {"setSpec": ["a"]}, 3)),
        to_json(Manifest("oai:x:1", "2026", "workingcopy", (first, copy), {"é": 1.5}, 9)),
        to_json(Manifest("oai:x:1", "2026", "1", (first,), {}, 3, 1, pending)),
        b'{"item_id": "a", "versions": [3], "currentversion": 3, "files": {"3": ["f"]}}',
    ]


class Manifests(Target):
    promise = (
        "A manifest is read or named unreadable; what was read is the same after writing and "
        "reading; an audit judges any bytes, and overlooks nothing that the store refuses."
    )
    words = (*(json.dumps(name).encode() for name in NAMES), b"[", b"]", b"{", b"}", b",")

    def seeds(self) -> Iterable[bytes]:
        return samples()

    def mutated(self, random: Random, pool: Sequence[bytes]) -> bytes:
        if random.random() < 0.3:
            return super().mutated(random, pool)
        return changed_json(random, random.choice(pool), NAMES)

    def check(self, data: bytes) -> Hashable:
        reading = read_statement(data)
        faults = {fault.code.name for fault in reading.faults}
        if reading.statement is not None:
            faults |= {fault.code.name for fault in disagreements(reading.statement)}
        met = tuple(sorted(faults))
        try:
            manifest = from_json(data, "x")
        except ManifestUnreadable as error:
            if not faults:
                raise AssertionError("the audit overlooks what the store refuses") from error
            return "refused", met
        again = from_json(to_json(manifest), "x")
        assert again == manifest
        assert repr(again) == repr(manifest)
        return "read", met
