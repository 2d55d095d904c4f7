"""Identifiers and names, and the paths they become."""

import os
from collections.abc import Hashable, Iterable
from urllib.parse import unquote

from fuzzing.target import Target

from recordsilo.audit.record_check import identifier_of
from recordsilo.disk.identifier import check_identifier, clean, ppath, unclean, url_segment
from recordsilo.disk.names import check_path, check_version_name, version_dirname
from recordsilo.errors import IdentifierError, PathNameError, VersionNameError

_ROOT = "/silo/pairtree_root"


class Identifiers(Target):
    promise = (
        "An identifier and its path are one to one, no path leads out of its directory, and "
        "what cannot be one is refused."
    )
    words = (
        b"oai:", b"http://", b"/", b":", b".", b"..", b"^", b"^2f", b"^5e", b"^00", b"=", b"+",
        b",", b"__", b"__manifest.json", b"\\", b"%2f", b"\x7f", b"\xc2\x80", b".silo-", b".tmp",
        b"3=", b"?", b"*", b'"', b"<", b">", b"|", b" ", b"\xe2\x80\xae", b"\xed\xa0\x80",
    )  # fmt: skip
    largest = 3_000

    def seeds(self) -> Iterable[bytes]:
        return [
            b"oai:eprints.soton.ac.uk:6102", "http://n2t.info/urn:nbn:se:kb:repos-1 中^*?".encode(),
            b"a___b", b"..", b"info:doi/10.1000/182", b"what-the-*@?#!^!?", b"1", b"oai_dc", b"a/b",
        ]  # fmt: skip

    def check(self, data: bytes) -> Hashable:
        text = data.decode("utf-8", "surrogateescape")
        return (_identifier(text), _cleaned(text), _path(text), _version(text))


def _identifier(text: str) -> Hashable:
    try:
        check_identifier(text)
    except IdentifierError as error:
        return str(error)[-20:]
    cleaned, path = clean(text), ppath(text)
    assert unclean(cleaned) == text
    assert unclean(unquote(url_segment(text))) == text
    assert identifier_of(path) == text
    assert "/" not in cleaned
    assert cleaned not in {".", ".."}
    _check_inside(path)
    return len(path) > 300, "^" in cleaned


def _cleaned(text: str) -> Hashable:
    try:
        found = unclean(text)
    except IdentifierError:
        return None
    assert clean(found) == text
    return "cleaned"


def _path(text: str) -> Hashable:
    try:
        found = check_path(text)
    except PathNameError as error:
        return str(error)[-20:]
    _check_inside(found)
    return "/" in found


def _version(text: str) -> Hashable:
    try:
        found = version_dirname(check_version_name(text))
    except VersionNameError as error:
        return str(error)[-20:]
    assert "/" not in found
    _check_inside(found)
    return "version"


def _check_inside(path: str) -> None:
    joined = os.path.join(_ROOT, path)
    assert os.path.normpath(joined) == joined
    assert joined.startswith(_ROOT + "/")
    assert "\0" not in path
    assert all(len(os.fsencode(part)) <= 255 for part in path.split("/"))
