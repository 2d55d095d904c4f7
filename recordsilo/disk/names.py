"""Valid names of versions and of files in them (docs/format.md, "Names").

Names come from a prompt, a browser or a repository. They must not lead out of the
record's directory, or collide with names that the store uses itself.
"""

import contextlib
import os
import re
from collections.abc import Collection
from functools import lru_cache

from recordsilo.errors import PathNameError, VersionNameError

MANIFEST_NAME = "__manifest.json"
STAGED_MANIFEST = MANIFEST_NAME + ".new"
DELETED_MANIFEST = MANIFEST_NAME + ".deleted"
COPYING = "copying.json"
"""In a directory that is not a Silo yet, because a copy into it is not finished."""
PREVIOUS_MANIFEST = MANIFEST_NAME + ".prev"
STAGED_PREFIX = ".silo-"
STAGED_SUFFIX = ".tmp"
MAX_NAME_BYTES = 250
MAX_PATH_BYTES = 600
"""With `identifier.MAX_PPATH` and a root of about 240 bytes, paths stay below PATH_MAX."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TAG = re.compile(r"[0-5]=")


def is_tag(name: str) -> bool:
    """Whether this is a Namaste tag file of 2010 (``3=<date>``, ``4=<identifier>``)."""
    return _TAG.match(name) is not None


def is_staged(name: str) -> bool:
    """Whether this is the store's name for a file that is being moved into a version."""
    return name.startswith(STAGED_PREFIX) and name.endswith(STAGED_SUFFIX)


def is_own(name: str) -> bool:
    """Whether an entry of a record's directory is one of its manifests or versions.

    ``__`` alone is not: it belongs to the path of a longer identifier, such as ``a___b``.
    """
    return name.startswith("__") and len(name) > 2


def version_dirname(version: str) -> str:
    """The directory of a version within the record's directory."""
    return "__" + version


def name_after(version: str, taken: Collection[str]) -> str:
    """The name of the next version: the number plus one, or the next unused number."""
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
    """Return the version's name as text if it is valid; numbers are converted.

    Raises:
        VersionNameError: The name is invalid; the message says why.
    """
    if isinstance(version, int) and not isinstance(version, bool):
        version = str(version)
    if not isinstance(version, str):
        raise VersionNameError(repr(version), "it is neither text nor a number")
    reason = "it contains a '/'" if "/" in version else _fault_of_component(version)
    if reason is None and version.startswith("manifest.json"):
        reason = "the record's manifest has that name"
    if reason:
        raise VersionNameError(version, reason)
    return version


def check_path(path: object) -> str:
    """Return the ``/``-separated path if it is valid for a file in a version.

    Raises:
        PathNameError: The path is empty, absolute or too long; contains ``.``, ``..``,
            control characters or half of a surrogate pair; or is a name of the store.
    """
    if not isinstance(path, str):
        raise PathNameError(repr(path), "it is not text")
    _check_text(path)
    return path


@lru_cache(maxsize=1024)  # most files have one of a few names
def _check_text(path: str) -> None:
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


@lru_cache(maxsize=1024)  # most records' versions and files have the same few names
def _fault_of_component(name: str) -> str | None:
    if not name:
        return "it is empty, or has an empty part"
    if name in {".", ".."}:
        return f"{name!r} is not allowed"
    if _CONTROL.search(name):
        return "it contains a control character"
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "it contains half of a surrogate pair"
    if length > MAX_NAME_BYTES:
        return f"a name has at most {MAX_NAME_BYTES} bytes"
    return None


def names_in(directory: str, suffix: str, form: re.Pattern[str]) -> list[str]:
    """The names of the files in a directory that have a suffix, without it; sorted.

    Args:
        directory: Without it there are no names.
        suffix: Such as ``.toml``.
        form: Of the names; other files are somebody else's.
    """
    try:
        found = os.listdir(directory)
    except FileNotFoundError:
        return []
    names = (name.removesuffix(suffix) for name in found if name.endswith(suffix))
    return sorted(name for name in names if form.fullmatch(name))


def visible_in(directory: str) -> list[str]:
    """Return the names of the files and directories in a directory, sorted; none if there is none.

    Symbolic links, devices, pipes and hidden files are left out: a worker that is told such a name
    would follow it anywhere.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if not os.path.islink(directory):
            with os.scandir(directory) as entries:
                return sorted(
                    one.name
                    for one in entries
                    if not one.name.startswith(".")
                    and (one.is_file(follow_symlinks=False) or one.is_dir(follow_symlinks=False))
                )
    return []
