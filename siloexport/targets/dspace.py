"""DSpace Simple Archive Format: an item directory for each record, for ``dspace import``.

out/
  items/oai+eprints,example,org+6102/
    dublin_core.xml  metadata_oaire.xml     its metadata, by a table
    contents                                a line for each bitstream
    collections  handle                     if they are known
    6102.pdf  oai_dc  oai_dc.xml            bitstreams; metadata in the bundle METADATA

DSpace takes every directory below the one it is given for an item, so the items have one of
their own. An item is a record's last version: the format has no versions.

Source: DSpace 7, "Importing and Exporting Items via Simple Archive Format".
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from io import BytesIO

from infopackages.files import Add, adding_below
from recordsilo.disk.atomic_file import digest_of_bytes
from recordsilo.disk.digest import Digest
from siloexport.bibliography import Bibliography, bibliography_of
from siloexport.content import checked_chunks
from siloexport.errors import ExportError
from siloexport.plan import digest_of as digest_of_json
from siloexport.targets.directory import DirectoryTarget, directory_name
from siloexport.targets.dspace_item import Bitstream, bitstreams_of, collections_of, contents_of
from siloexport.targets.dspace_metadata import (
    DspaceMapping,
    check_collection,
    mapping_of,
    metadata_files,
    metadata_of,
    said_of,
    usual_fields,
)
from siloexport.targets.trees import KnownTreeForm, add_file
from siloexport.values import Capabilities, Deposit

ITEMS = "items"
_VARIANT = "dspace 1"


@dataclass(frozen=True, slots=True)
class DspaceSettings:
    """How items are made.

    Attributes:
        collections: Handles or UUIDs of every item's collections, the owning one first.
        handles: Prefix of handles; a record's own handle of that prefix becomes the item's.
        group: The group that may read the bitstreams; ``""`` for the collection's default.
        mapping: The table of fields.
    """

    collections: tuple[str, ...] = ()
    handles: str = ""
    group: str = ""
    mapping: DspaceMapping = field(default_factory=DspaceMapping)

    def __post_init__(self) -> None:
        try:
            for one in self.collections:
                check_collection(one)
        except ValueError as error:
            raise ExportError(str(error)) from None
        for name, text in (("handles", self.handles), ("group", self.group)):
            if not text.isprintable() or "'" in text:
                raise ExportError(f"{text!r} cannot be used for --{name}")

    @classmethod
    def from_json(cls, text: str) -> "DspaceSettings":
        """Read what `DirectoryTarget` keeps.

        Raises:
            ValueError, TypeError, ExportError: It cannot be read.
        """
        found = json.loads(text)
        mapping = mapping_of(found.pop("mapping", {}))
        return cls(tuple(found.pop("collections", ())), mapping=mapping, **found)


DEFAULT = DspaceSettings()


class DspaceTarget(DirectoryTarget):
    """A directory that records are exported to as items of DSpace.

    Args:
        directory: A new or empty directory, or one from an earlier export for DSpace.
        settings: What is not given is as in the directory. If they change, items are made again.
    """

    below = ITEMS

    def __init__(self, directory: str, settings: DspaceSettings = DEFAULT) -> None:
        self._items = _Items(settings)
        super().__init__(directory, self._items)
        self._given = settings

    @property
    def capabilities(self) -> Capabilities:
        """See `Target`; sets matter where they give collections, ORCIDs where they have a field."""
        mapping = self._items.given.mapping
        by_set, has_orcids = bool(mapping.collections), bool(mapping.field_of("creators.orcid"))
        return replace(super().capabilities, sets=by_set, identifiers=has_orcids)

    def _take_marker(self, marker: bytes) -> None:
        kept = self._settings_in(marker, DspaceSettings.from_json)
        if kept is None:
            return
        given = {
            name: value
            for name in DspaceSettings.__slots__
            if (value := getattr(self._given, name)) != getattr(DEFAULT, name)
        }
        self._form = self._items = _Items(replace(kept, **given))


def write_item(add: Add, deposit: Deposit, settings: DspaceSettings) -> None:
    """Write one item, in its directory; nothing if a file of it is damaged.

    Args:
        add: Gets paths from the directory of items.

    Raises:
        SourceChanged, FileNotInVersion: See `siloexport.content.checked_chunks`.

    Cost: reads each file twice.
    """
    for one in _bitstreams(deposit):
        with checked_chunks(deposit.identifier, deposit.version, one.file) as chunks:
            for _ in chunks:
                pass
    below = adding_below(add, f"{directory_name(deposit.identifier)}/")
    _Items(settings).files(below, deposit, "")


class _Items(KnownTreeForm):
    """See `siloexport.targets.trees.TreeForm`."""

    name = "dspace"

    def __init__(self, given: DspaceSettings) -> None:
        self.given, self.settings = given, json.dumps(asdict(given))

    @property
    def variant(self) -> str:
        said = [self.settings, dict(usual_fields())]
        return f"{_VARIANT} {digest_of_json(said)[:16]}"

    def files(self, add: Add, deposit: Deposit, day: str) -> None:  # noqa: ARG002 - items have no day
        for name, content in self._texts(deposit).items():
            add(name, len(content), BytesIO(content))
        for one in _bitstreams(deposit):
            add_file(add, deposit, deposit.version, one.file, one.name)

    def digests(self, path: str, deposit: Deposit) -> dict[str, Digest]:  # noqa: ARG002 - see `KnownTreeForm`
        found = {name: digest_of_bytes(content) for name, content in self._texts(deposit).items()}
        for one in _bitstreams(deposit):
            found[one.name] = Digest(one.file.sha256, one.file.size)
        return found

    def _texts(self, deposit: Deposit) -> dict[str, bytes]:
        """Return the files that are made here; those without content are left out."""
        given = self.given
        found = bibliography_of(deposit.version, deposit.identifier)
        handle = _handle(found, given.handles)
        if handle:
            kept = tuple(one for one in found.identifiers if one.text != handle)
            found = replace(found, identifiers=kept)
        metadata = metadata_of(said_of(deposit, found), given.mapping)
        collections = collections_of(deposit, given.collections, given.mapping.collections)
        texts = {
            "contents": contents_of(_bitstreams(deposit), given.group),
            "collections": _lines(collections),
            "handle": _lines([handle] if handle else []),
        }
        return metadata_files(metadata) | {
            name: text.encode() for name, text in texts.items() if text
        }


def _bitstreams(deposit: Deposit) -> list[Bitstream]:
    return bitstreams_of(deposit.version.files)


def _handle(found: Bibliography, prefix: str) -> str:
    if not prefix:
        return ""
    handles = found.identified("handle")
    return next((one for one in handles if one.startswith(f"{prefix.rstrip('/')}/")), "")


def _lines(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)
