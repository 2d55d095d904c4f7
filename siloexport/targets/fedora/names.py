"""Identifiers and paths → path segments that every Fedora accepts. Pure; one-way.

Fedora 6.0.0 (docs/fedora-servers.md, "Names") answers 500 to ``%23`` in a path, takes ``%2F`` as a
separator, cuts a segment at ``;`` and refuses ``fcr-root`` and ``.fcrepo`` in any position.
``_`` and ``%`` are wildcards when it checks whether a path is above others: if ``acb/f`` exists,
creating ``a_b`` is refused as "an immutable resource".
"""

import hashlib
import re

from recordsilo.disk.identifier import clean

_MAX_OBJECT = 120
_MAX_PATH = 180
"""A Fedora id may have 503 characters, a file name on the server's disk 255 bytes."""
_RESERVED = re.compile(r"fcr(?=[-:])|\.fcrepo|^\.+$")


def object_segment(identifier: str) -> str:
    """Return a record's segment: its cleaned identifier, with ``^hh`` for unsafe characters.

    ``oai:eprints.example.org:6102`` → ``oai+eprints,example,org+6102``. Each record has its own;
    a long one is cut and ends in ``~`` and a digest.
    """
    name = _escaped(clean(identifier), r"A-Za-z0-9+=,^\-")
    return _shortened(name, identifier, _MAX_OBJECT)


def file_path(path: str) -> str:
    """Return a file's path below its object; letters and digits of any script are kept.

    A path that is too long becomes one segment, cut and with a digest.
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
