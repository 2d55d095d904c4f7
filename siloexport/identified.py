"""The identifiers that the values of a version have in authority files, read from its metadata."""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from recordsilo.records.manifest import Manifest, Version
from recordsilo.value_identifiers import IdentifiersOfValues, identifiers_of_values
from siloexport.bibliography import of_documents
from siloexport.plan import files_digest

_KEPT = 4096
"""Versions whose identifiers stay in memory: they are planned, then packed, some groups later."""


class FoundIdentifiers:
    """See `siloexport.plan.VersionIdentifiers`; several threads may use it.

    Args:
        silo: Has the records.
        known: The identifiers of all values.

    Cost: reads the metadata of each version, once in a run: about half a millisecond.
    """

    def __init__(self, silo: Silo, known: IdentifiersOfValues) -> None:
        self._silo, self._known = silo, known
        self._found = lru_cache(_KEPT)(self._read)

    def of(self, manifest: Manifest, version: Version) -> IdentifiersOfValues:
        """See `siloexport.plan.VersionIdentifiers`; a file that cannot be read has no values."""
        paths = tuple(one for one in version.metadata_files if one in version.paths)
        return self._found(manifest.item_id, version.name, paths, files_digest(version))

    def _read(
        self, identifier: str, name: str, paths: tuple[str, ...], _digest: str
    ) -> IdentifiersOfValues:
        record = self._silo[identifier]

        def read(path: str) -> bytes | None:
            with suppress(RecordSiloError, OSError):
                return record.read(name, path)
            return None

        return of_documents(paths, read, self._known).means


def found_identifiers(
    silo: Silo, told: Callable[[str], None] = lambda _sentence: None
) -> FoundIdentifiers | None:
    """Return what finds the identifiers of versions; None if no value has one.

    Args:
        silo: Has the records.
        told: Gets a sentence on each identifier that has to be left out.

    Raises:
        IdentifiersUnreadable: An authority file cannot be read.
    """
    known = identifiers_of_values(silo.path, told)
    return FoundIdentifiers(silo, known) if known else None
