"""Where the objects of a storage root are: registered layout extensions 0003, 0004 and 0007 (pure).

Source: https://ocfl.github.io/extensions/
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from infopackages.ocfl.inventory import OcflError

HASHED = "0004-hashed-n-tuple-storage-layout"
NAMED = "0003-hash-and-id-n-tuple-storage-layout"
OMITTING = "0007-n-tuple-omit-prefix-storage-layout"
DESCRIPTIONS = {
    HASHED: "Hashed N-tuple Storage Layout",
    NAMED: "Hashed Truncated N-tuple Trees with Object ID Encapsulating Directory",
    OMITTING: "N-tuple Trees with Prefix Omitted",
}
"""Name of a layout → its title."""
_DIGESTED: Mapping[str, Any] = {"digestAlgorithm": "sha256", "tupleSize": 3, "numberOfTuples": 3}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    HASHED: {**_DIGESTED, "shortObjectRoot": False},
    NAMED: _DIGESTED,
    OMITTING: {
        "delimiter": ":", "tupleSize": 3, "numberOfTuples": 3, "zeroPadding": "left",
        "reverseObjectRoot": False,
    },
}  # fmt: skip
_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")
_ENCODED = re.compile("[^A-Za-z0-9_-]")
_LONGEST = 100
_NAME = re.compile(r"[A-Za-z0-9_.~!$&'()+,;=@-]{1,200}")
"""A name of a directory in a layout without digests, on every file system."""


@dataclass(frozen=True, slots=True)
class StorageLayout:
    """A layout with its parameters.

    Attributes:
        name: Of the extension.
        given: Parameters that differ from the defaults of the extension.
    """

    name: str = HASHED
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        """The content of the extension's ``config.json``."""
        return {"extensionName": self.name, **_DEFAULTS[self.name], **self.given}

    def path(self, identifier: str) -> str:
        """Return the path of an object below the storage root.

        Raises:
            OcflError: The layout has no place for such an identifier.
        """
        config = self.config
        size, number = config["tupleSize"], config["numberOfTuples"]
        if self.name == OMITTING:
            name = _without_prefix(identifier, config["delimiter"])
            padded = name[::-1] if config["reverseObjectRoot"] else name
            is_left = config["zeroPadding"] == "left"
            padded = (
                padded.rjust(size * number, "0") if is_left else padded.ljust(size * number, "0")
            )
            return "/".join([*_tuples(padded, size, number), name])
        digest = hashlib.new(config["digestAlgorithm"], identifier.encode(), usedforsecurity=False)
        tuples = _tuples(digest.hexdigest(), size, number)
        if self.name == NAMED:
            return "/".join([*tuples, _encoded(identifier, digest.hexdigest())])
        rest = digest.hexdigest()[size * number if config["shortObjectRoot"] else 0 :]
        return "/".join([*tuples, rest])


def layout_from(name: str, config: Any) -> StorageLayout:
    """Return a layout from what a storage root declares.

    Args:
        name: Of the extension.
        config: Content of its ``config.json``; None for the defaults.

    Raises:
        OcflError: The layout is not supported, or a parameter is invalid.
    """
    if name not in _DEFAULTS:
        known = ", ".join(sorted(one[:4] for one in _DEFAULTS))
        raise OcflError(f"the layout {name} is not supported; those that are: {known}")
    given = {} if config is None else config
    if not isinstance(given, dict) or given.get("extensionName", name) != name:
        raise OcflError(f"config.json of {name} is invalid")
    given = {key: value for key, value in given.items() if key != "extensionName"}
    layout = StorageLayout(name, given)
    defaults = _DEFAULTS[name]
    for key, value in given.items():
        if key not in defaults or type(value) is not type(defaults[key]):
            raise OcflError(f"config.json of {name} has an invalid value of {key}")
    _check(layout, layout.config)
    return layout


def _check(layout: StorageLayout, config: Mapping[str, Any]) -> None:
    size, number = config["tupleSize"], config["numberOfTuples"]
    is_valid = 0 <= size <= 32 and 0 <= number <= 32 and bool(size) == bool(number)
    if layout.name == OMITTING:
        is_valid &= size > 0 and bool(config["delimiter"])
        is_valid &= config["zeroPadding"] in ("left", "right")
    else:
        is_valid &= config["digestAlgorithm"] in _ALGORITHMS
        length = (
            hashlib.new(config["digestAlgorithm"], usedforsecurity=False).digest_size * 2
            if is_valid
            else 0
        )
        is_valid &= size * number + bool(config.get("shortObjectRoot")) <= length
    if not is_valid:
        raise OcflError(f"config.json of {layout.name} has invalid values")


def _tuples(text: str, size: int, number: int) -> list[str]:
    return [text[n * size : (n + 1) * size] for n in range(number)]


def _encoded(identifier: str, digest: str) -> str:
    """Return the identifier percent-encoded; a long one is cut and ends in the digest."""
    octets = _ENCODED.sub(lambda one: "".join(f"%{o:02x}" for o in one[0].encode()), identifier)
    return octets if len(octets) <= _LONGEST else f"{octets[:_LONGEST]}-{digest}"


def _without_prefix(identifier: str, delimiter: str) -> str:
    name = identifier.rpartition(delimiter)[2]
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise OcflError(
            f"{identifier} has no place in a layout that omits the prefix (0007): what follows its "
            f"last {delimiter} is not a valid name of a directory"
        )
    return name
