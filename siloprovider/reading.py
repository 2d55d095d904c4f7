"""What is read of a record for a harvester: its document and its ``about`` containers."""

import hashlib
from typing import NamedTuple

from recordsilo import Silo
from recordsilo.errors import RecordGone
from recordsilo.formats import describe_main
from recordsilo.index.projection import seconds_of_text
from recordsilo.records.manifest import Manifest
from recordsilo.records.place import RecordPlace
from siloprovider.choosing import DUBLIN_CORE, given_of, prefixes_of
from siloprovider.descriptions import rights_in
from siloprovider.dublin_core import OAI_DC, SCHEMA, oai_dc_of
from siloprovider.embedding import Embedded, embedded, located
from siloprovider.errors import NotGiven
from siloprovider.provenance import Harvested, provenance_of
from siloprovider.unread import sealed

_WAY = 2
"""Another number for each release that makes other documents or containers of the same files."""


class Document(NamedTuple):
    """What is given of a record in one format.

    Attributes:
        metadata: UTF-8 that begins with the root element.
        about: Containers, likewise.
    """

    metadata: bytes
    about: tuple[bytes, ...]


class RecordReader:
    """Reads the records of a Silo.

    Args:
        silo: The Silo; this does not close it.
        only_ready: See `choosing.given_of`.
    """

    def __init__(self, silo: Silo, *, only_ready: bool = False) -> None:
        self._silo, self._only_ready = silo, only_ready

    @property
    def way(self) -> int:
        """A number for all on which documents depend, but for the record itself."""
        told = f"{_WAY} {self._base_url}"
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:7], "big")

    @property
    def _base_url(self) -> str:
        return str(self._silo.state.get("base_oai_url") or "")

    def schema_and_namespace(self, identifier: str, version: str, prefix: str) -> tuple[str, str]:
        """Those that a document names for its root element.

        Raises:
            RecordSiloError, OSError, NoDocument: It cannot be read.
        """
        found = _found(*self._record(identifier), version, prefix)
        return found.schema, found.namespace

    def read(self, identifier: str, version: str, prefix: str) -> tuple[int, Document]:
        """A version of a record in a format that it has, or as Dublin Core.

        Returns:
            The seal of the record (`unread.sealed`), and the document.

        Raises:
            RecordSiloError, OSError, NoDocument: It cannot be read.
            NotGiven: It is not to be given any more.
        """
        place, manifest = self._record(identifier)
        given = given_of(manifest, only_ready=self._only_ready)
        if given is None or not given.version:
            raise NotGiven
        found = _found(place, manifest, version, prefix)
        about = self._about(place, manifest, version, prefix, found.namespace)
        seal = sealed(manifest.revision, seconds_of_text(manifest.changed))
        return seal, Document(found.content, about)

    def _record(self, identifier: str) -> tuple[RecordPlace, Manifest]:
        place = RecordPlace.in_silo(self._silo.path, identifier)
        manifest = place.read_manifest()
        if manifest is None:
            raise RecordGone(identifier, self._silo.path)
        return place, manifest

    def _about(
        self, place: RecordPlace, manifest: Manifest, version: str, prefix: str, namespace: str
    ) -> tuple[bytes, ...]:
        """Where the record was harvested; nothing for a record that was made here."""
        base_url = self._base_url
        harvested = [one for one in manifest.versions if one.origin.kind == "harvest"]
        if not harvested or not base_url:
            return ()
        newest = harvested[-1]
        earlier = []
        if f"{prefix}.about" in newest.paths:
            earlier.append(place.content(manifest, newest.name, f"{prefix}.about"))
        told = Harvested(
            base_url=base_url,
            identifier=_identifier_in(manifest),
            datestamp=_dated(newest.origin.prefixes.get(prefix) or newest.date),
            namespace=namespace,
            date=_dated(newest.origin.date or newest.date),
            is_altered=not _is_as_harvested(place, manifest, version, newest.name, prefix),
        )
        return (provenance_of(told, earlier), *rights_in(earlier))


def _found(place: RecordPlace, manifest: Manifest, version: str, prefix: str) -> Embedded:
    held = prefixes_of(manifest.version(version))
    if prefix in held:
        found = embedded(place.content(manifest, version, prefix))
        is_own = not any(one.origin.kind == "harvest" for one in manifest.versions)
        if is_own and (prefix, found.namespace) == (DUBLIN_CORE, OAI_DC):
            return located(found, SCHEMA)
        return found
    description = describe_main(held, lambda path: place.content(manifest, version, path))
    return Embedded(oai_dc_of(description), OAI_DC, SCHEMA)


def _is_as_harvested(
    place: RecordPlace, manifest: Manifest, version: str, harvested: str, prefix: str
) -> bool:
    """Whether the document in a format is, byte by byte, the one that was harvested."""
    given, source = manifest.version(version), manifest.version(harvested)
    if prefix not in source.metadata_files or prefix not in prefixes_of(given):
        return False
    if version == harvested:
        return True
    digests = (given.digests or {}).get(prefix), (source.digests or {}).get(prefix)
    if None not in digests:
        return digests[0] == digests[1]
    one, other = (place.content(manifest, name, prefix) for name in (version, harvested))
    return one == other


def _identifier_in(manifest: Manifest) -> str:
    return str(manifest.metadata.get("identifier") or manifest.item_id)


def _dated(text: str) -> str:
    """A date in the form of 2010 as a datestamp."""
    return f"{text[:19]}Z" if "T" in text else text
