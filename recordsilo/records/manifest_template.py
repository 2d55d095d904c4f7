"""The manifests of many new records that differ in few values. Pure.

The text of one such manifest is made by `manifest_json`, with a mark in the place of each of these
values; it is then filled in for record after record, so the bytes are those of `to_json`.
"""

import json
import re
from functools import lru_cache
from operator import itemgetter
from typing import cast

from recordsilo.disk.digest import Digest
from recordsilo.records.manifest import Manifest, altered
from recordsilo.records.manifest_json import text_of, with_checksum

IDENTIFIER, DATE, SPEC, _SHA256, _SIZE = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004"
"""The marks: private characters, which stand for no text."""
_MARK = re.compile(f'"{IDENTIFIER}"|{DATE}|\\["{SPEC}"\\]|{_SHA256}|{_SIZE}')
_ANY = re.compile("[\ue000-\ue004]")
_PLACES = {f'"{IDENTIFIER}"': 0, DATE: 1, f'["{SPEC}"]': 2, _SHA256: 3, _SIZE: 4}
_text = json.encoder.encode_basestring


class ManifestTemplate:
    """The manifests of new records with one version, which has one file.

    Args:
        manifest: Of a record whose identifier is the mark `IDENTIFIER`, whose date is `DATE`, and
            whose only setSpec is `SPEC`. Any file it lists has any digest.

    Raises:
        ValueError: A mark is within another text.
    """

    def __init__(self, manifest: Manifest) -> None:
        (version,) = manifest.versions
        origin = version.origin
        if any(map(_ANY.search, (origin.agent, origin.message, origin.date, *version.paths))):
            raise ValueError("a mark is within another text")
        digest = Digest(_SHA256, cast(int, _SIZE))
        marked = altered(version, digests=dict.fromkeys(version.paths, digest))
        text = text_of(altered(manifest, versions=(marked,)))
        places = [_PLACES[mark] for mark in _MARK.findall(text)]
        self._pieces = _MARK.sub("%s", text.replace("%", "%%"))
        if _ANY.search(self._pieces):
            raise ValueError("a mark is within another text")
        self._in_places = itemgetter(*places)

    def filled(self, identifier: str, date: str, sets: tuple[str, ...], digest: Digest) -> bytes:
        """The manifest of a record.

        Args:
            date: Its datestamp, in the 2010 form.
            sets: Its setSpecs.
            digest: Of its file.
        """
        values = (_text(identifier), date, _list(sets), digest.sha256, digest.size)
        return with_checksum(self._pieces % self._in_places(values))


@lru_cache(maxsize=4096)  # many records are in the same sets
def _list(texts: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, texts))}]"
