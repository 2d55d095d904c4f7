"""Which texts may name a version or a file in one (docs/format.md, "Names").

A name comes from a prompt, a browser or a repository; none of them may lead out
of the record's directory or collide with the names the store keeps for itself.
"""

import re
from collections.abc import Collection
from functools import lru_cache

from recordsilo.errors import PathNameError, VersionNameError

MANIFEST_NAME = "__manifest.json"
STAGED_MANIFEST = MANIFEST_NAME + ".new"
DELETED_MANIFEST = MANIFEST_NAME + ".deleted"
PREVIOUS_MANIFEST = MANIFEST_NAME + ".prev"
STAGED_PREFIX = ".silo-"
STAGED_SUFFIX = ".tmp"
MAX_NAME_BYTES = 250
MAX_PATH_BYTES = 600
"""With `identifier.MAX_PPATH` and a root of some 240 characters this stays below PATH_MAX."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TAG = re.compile(r"[0-5]=")


def is_tag(name: str) -> bool:
    """Whether this is a Namaste tag file of 2010 (``3=<date>``, ``4=<identifier>``)."""
    return _TAG.match(name) is not None


def is_staged(name: str) -> bool:
    """Whether the store made this name for a file on its way into a version."""
    return name.startswith(STAGED_PREFIX) and name.endswith(STAGED_SUFFIX)


def is_own(name: str) -> bool:
    """Whether an entry of a record's directory belongs to it: its manifests and versions.

    ``__`` alone does not: it is a part of a longer identifier's path, as of ``a___b``.
    """
    return name.startswith("__") and len(name) > 2


def version_dirname(version: str) -> str:
    """The directory of a version within the record's directory."""
    return "__" + version


def name_after(version: str, taken: Collection[str]) -> str:
    """The name of the version after one: its number plus one, or the next that is free."""
    if version.isascii() and version.isdigit():
        number = int(version) + 1
        while str(number) in taken:
            number += 1
        return str(number)
    name = f"{version}_new"
    while name in taken:
        name += "_new"
    return name


def check_version_name(version: object) -> str:
    """Return the version's name as text if a version can have it; numbers are taken as text.

    Raises:
        VersionNameError: Says why not.
    """
    if isinstance(version, int) and not isinstance(version, bool):
        version = str(version)
    if not isinstance(version, str):
        raise VersionNameError(repr(version), "it is neither text nor a number")
    reason = "it holds a '/'" if "/" in version else _fault_of_component(version)
    if reason is None and version.startswith("manifest.json"):
        reason = "the record's manifest has that name"
    if reason:
        raise VersionNameError(version, reason)
    return version


def check_path(path: object) -> str:
    """Return the ``/``-separated path if a file in a version can have it.

    Raises:
        PathNameError: Says why not: empty, absolute, ``.`` or ``..`` in it, control
            characters, half a surrogate pair, too long, or a name the store uses.
    """
    if not isinstance(path, str):
        raise PathNameError(repr(path), "it is not text")
    if path.startswith("/"):
        raise PathNameError(path, "it begins with '/'; paths are relative to the version")
    for component in path.split("/"):
        if reason := _fault_of_component(component):
            raise PathNameError(path, reason)
        if is_staged(component):
            raise PathNameError(path, "names of the form .silo-….tmp are the store's own")
    if is_tag(path):
        raise PathNameError(path, "names beginning with 0= to 5= are tags of the 2010 format")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise PathNameError(path[:40] + "…", f"it is longer than {MAX_PATH_BYTES} bytes")
    return path


@lru_cache(maxsize=1024)  # most records' versions and files have the same few names
def _fault_of_component(name: str) -> str | None:
    if not name:
        return "it is empty, or has an empty part"
    if name in {".", ".."}:
        return f"{name!r} leads elsewhere"
    if _CONTROL.search(name):
        return "it holds a control character"
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair"
    if length > MAX_NAME_BYTES:
        return f"a name is {MAX_NAME_BYTES} bytes at most"
    return None
