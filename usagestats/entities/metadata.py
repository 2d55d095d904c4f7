"""The metadata of a used record, as reports and entities need it."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from recordsilo.formats import Description
from recordsilo.formats.collect import fold, leaves, local_name, text_of
from recordsilo.formats.documents import parsed, unwrapped
from recordsilo.records.description import description_of, sets_of
from recordsilo.records.manifest import Manifest, Version

Read = Callable[[Version, str], bytes]
MOST = 200
"""Values of a field that are read of a record."""
FIELDS = (
    "titles", "creators", "contributors", "subjects", "publishers", "dates", "types",
    "identifiers", "sources", "languages", "relations", "coverages", "rights", "formats",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Metadata:
    """Field → values, without fields that have none.

    Besides `FIELDS` there are ``sets``, and the elements that the Silo's settings name.
    """

    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self.values.get(name, ())

    @property
    def title(self) -> str:
        """The first title, or ``""``."""
        return next(iter(self["titles"]), "")

    def as_text(self) -> str:
        """The values as JSON; `from_text` reads it."""
        return json.dumps(dict(self.values), ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "Metadata":
        """Read what `as_text` wrote."""
        return cls({name: tuple(some) for name, some in json.loads(text).items()})


def metadata_of(manifest: Manifest, read: Read, elements: Iterable[str] = ()) -> Metadata:
    """Return the metadata of a record's current version, or of the newest that has a title.

    Args:
        manifest: Of the record.
        read: Version and path → content.
        elements: Names of elements of XML that are read in addition.
    """
    described, chosen = Description(), None
    versions = manifest.versions
    for version in (manifest.current, *reversed(versions)) if versions else ():
        described, chosen = description_of(version, partial(_read, read, version)), version
        if described.title:
            break
    found = {name: _texts(some) for name, some in described.items() if name in FIELDS}
    found["sets"] = sets_of(manifest)
    wanted = set(elements)
    if chosen is not None and wanted:
        found |= _elements(chosen, read, wanted)
    return Metadata({name: some for name, some in found.items() if some})


def _read(read: Read, version: Version, _name: str, path: str) -> bytes:
    return read(version, path)


def _texts(values: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    texts = dict.fromkeys(text.encode("utf-8", "replace").decode() for text, _ in values)
    return tuple(texts)[:MOST]


def _elements(version: Version, read: Read, wanted: set[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for path in version.metadata_files:
        root = parsed(read(version, path)) if path in version.paths else None
        for element, _ in leaves(unwrapped(root), wanted) if root is not None else ():
            if (name := local_name(element)) in wanted and (text := fold(text_of(element))):
                found.setdefault(name, {})[text] = None
    return {name: tuple(some)[:MOST] for name, some in found.items()}
