"""New records that are written in one step, as a page of a harvest is, without a harvest."""

from recordsilo.disk.atomic_file import digest_of_bytes
from recordsilo.index.projection import ManifestStamp, project
from recordsilo.index.rows import prepare
from recordsilo.records.creation import FirstState
from recordsilo.records.manifest import Manifest, Origin, Version, now_text
from recordsilo.records.manifest_json import from_json
from recordsilo.records.manifest_template import DATE, IDENTIFIER, SPEC, ManifestTemplate

FILE = "f"


def first_state(identifier: str, content: bytes) -> FirstState:
    """A record with one harvested version, whose only file is `FILE`."""
    origin = Origin("harvest", prefixes={FILE: DATE}, agent="a test")
    version = Version(
        "1", DATE, origin, (FILE,), metadata_files=(FILE,), log=("made",), digests={FILE: None}
    )
    noted = {"identifier": IDENTIFIER, "firstSeen": DATE, "setSpec": [SPEC]}
    marked = Manifest(IDENTIFIER, DATE, "1", (version,), noted, revision=1, changed=now_text())
    made = ManifestTemplate(marked).filled(
        identifier, "2004-06-24T00:00:00", ("s",), digest_of_bytes(content)
    )
    entry = project(from_json(made, ""), lambda _version, _path: content)
    return FirstState(made, FILE, content, prepare(entry, ManifestStamp(0, 0, 0)))
