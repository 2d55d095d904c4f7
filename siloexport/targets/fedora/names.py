"""Identifiers and paths → path segments that every Fedora takes. Pure; one-way.

What was seen on Fedora 6.0.0 (docs/fedora.md, "Names"): ``%23`` in a path answers 500, ``%2F``
makes a deeper path, a ``;`` cuts the segment, ``fcr-root`` and ``.fcrepo`` are refused wherever
they stand, and ``_`` and ``%`` are wildcards where Fedora asks whether a path lies above
others: beside ``acb/f``, creating ``a_b`` is refused as "an immutable resource".
"""

import hashlib
import re

from recordsilo.disk.identifier import clean

_MAX_OBJECT = 120
_MAX_PATH = 180
"""A Fedora id has room for 503 characters; a file's name on the server's disk for 255 bytes."""
_RESERVED = re.compile(r"fcr(?=[-:])|\.fcrepo|^\.+$")


def object_segment(identifier: str) -> str:
    """The record's segment: its cleaned identifier, and ``^hh`` for what Fedora trips over.

    ``oai:eprints.example.org:6102`` → ``oai+eprints,example,org+6102``. No two records
    share one; a long one is cut and ends in ``~`` and a digest.
    """
    name = _escaped(clean(identifier), r"A-Za-z0-9+=,^\-")
    return _shortened(name, identifier, _MAX_OBJECT)


def file_path(path: str) -> str:
    """A file's path below its object: the letters and digits of any script stay as they are.

    A path too long as a whole becomes one segment, cut, with a digest.
    """
    segments = [_escaped(segment, r"\w.+=,@\-") for segment in path.split("/")]
    return _shortened("/".join(segments), path, _MAX_PATH)


def _escaped(text: str, kept: str) -> str:
    text = re.sub(rf"[^{kept}]", _hex, text)
    return _RESERVED.sub(lambda match: _hex_of(match[0][0]) + match[0][1:], text)


def _hex(match: re.Match[str]) -> str:
    return _hex_of(match[0])


def _hex_of(character: str) -> str:
    return "".join(f"^{octet:02x}" for octet in character.encode())


def _shortened(name: str, whole: str, length: int) -> str:
    if len(name.encode()) <= length:
        return name
    digest = hashlib.sha256(whole.encode()).hexdigest()[:24]
    start = name.replace("/", "^2f").encode()[: length - 25].decode(errors="ignore")
    return f"{start}~{digest}"
