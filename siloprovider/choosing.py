"""Which version of a record is given to harvesters, and in which formats (pure)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from recordsilo.records.history import DELETED_VERSION
from recordsilo.records.manifest import Manifest, Version

DUBLIN_CORE = "oai_dc"
"""The format in which every record is given (OAI-PMH 2.0, section 2.4)."""
IN_WORK, READY, WITHHELD = "in work", "ready", "withheld"
_PREFIX = re.compile(r"[A-Za-z0-9\-_.!~*'()]+")


@dataclass(frozen=True, slots=True)
class Given:
    """What is given of a record.

    Attributes:
        version: Its name; empty if the record is given as deleted.
        prefixes: The formats: those that the version has and `DUBLIN_CORE`; of a deleted record
            all in which it may have been given.
    """

    version: str
    prefixes: tuple[str, ...]


def given_of(manifest: Manifest, *, only_ready: bool) -> Given | None:
    """Choose what is given of a record.

    Args:
        only_ready: The newest version with the state ``ready`` counts, not the current one.

    Returns:
        A deletion where the current version is withheld or comes from one that is, or where the
        version has no metadata (a deletion at the source, also of a record that was never held)
        or is no longer ready. None if the record was never to be given.
    """
    version = _newest_ready(manifest) if only_ready else manifest.current
    is_given = version is not None and not is_withheld(manifest)
    if version is not None and is_given and (held := prefixes_of(version)):
        return Given(version.name, _with_dublin_core(held))
    every = [prefix for one in manifest.versions for prefix in prefixes_of(one)]
    if only_ready and version is None and not _was_ready(manifest):
        return None
    if not every and DELETED_VERSION not in manifest.metadata:
        return None
    return Given("", _with_dublin_core(every))


def is_withheld(manifest: Manifest) -> bool:
    """Whether the current version is withheld, or is a clone in work of one that is."""
    one = manifest.current
    for _ in manifest.versions:
        if one.state != IN_WORK or not one.origin.of or not manifest.has(one.origin.of):
            break
        one = manifest.version(one.origin.of)
    return one.state == WITHHELD


def prefixes_of(version: Version) -> tuple[str, ...]:
    """The metadata prefixes under which a version has a file."""
    return prefixes_among(version.metadata_files)


def prefixes_among(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names of metadata files that are metadata prefixes."""
    return tuple(name for name in names if _PREFIX.fullmatch(name) and not name.endswith(".about"))


def _with_dublin_core(prefixes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((DUBLIN_CORE, *prefixes)))


def _newest_ready(manifest: Manifest) -> Version | None:
    return next((one for one in reversed(manifest.versions) if one.state == READY), None)


def _was_ready(manifest: Manifest) -> bool:
    """Whether the log of a version says that it had the state."""
    begin = f"State set to {READY}"
    return any(line.startswith(begin) for one in manifest.versions for line in one.log)
