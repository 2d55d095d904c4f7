"""Tokens with which machines search a node whose page requires sign-in.

A node keeps only the digest of its token, in ``fleet/search-token``. Who asks it keeps the token,
in ``fleet/search-tokens/NODE``, which nobody else may read. A token allows the search of the
node's own Silos and nothing else.
"""

import hashlib
import hmac
import os
import re
import secrets
import stat

from politeweb.addresses import is_loopback, parts_of
from recordsilo.disk.atomic_file import make_parents, replace_file
from recordsilo.disk.names import check_version_name
from recordsilo.errors import VersionNameError
from silofleet.search.errors import TokenRefused

_OWN = "fleet/search-token"
_OTHERS = "fleet/search-tokens"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{32,200}")
SCHEME = "Bearer "
"""Before the token in the header ``Authorization``."""


def make_token(directory: str) -> str:
    """Make the token of a directory of Silos, in place of an earlier one; only here it is told."""
    token = secrets.token_urlsafe(32)
    _write(f"{directory}/{_OWN}", _digest(token))
    return token


def remove_token(directory: str, node: str = "") -> bool:
    """Remove the directory's own token, or the one for a node; returns whether there was one.

    Raises:
        TokenRefused: No node can have the name.
    """
    try:
        os.unlink(_place(directory, node) if node else f"{directory}/{_OWN}")
    except FileNotFoundError:
        return False
    return True


def is_token(directory: str, authorization: str) -> bool:
    """Whether a request has the token of a directory of Silos.

    Args:
        directory: Its path.
        authorization: The header of that name.
    """
    try:
        with open(f"{directory}/{_OWN}", encoding="ascii") as file:
            known = file.read(200).strip()
    except (OSError, UnicodeDecodeError):
        return False
    given = _digest(authorization.removeprefix(SCHEME))
    return authorization.startswith(SCHEME) and hmac.compare_digest(given, known)


def keep_token(directory: str, node: str, token: str) -> None:
    """Keep the token of a node, to ask it.

    Raises:
        TokenRefused: Not a valid token, or not a valid name of a node.
    """
    place = _place(directory, node)
    if not _TOKEN.fullmatch(token):
        raise TokenRefused("that is not a token; copy what `silo fleet token` printed on the node")
    _write(place, token)


def token_for(directory: str, node: str, address: str) -> str:
    """The token with which to ask a node; empty if none is kept.

    Args:
        directory: Of the fleet.
        node: Its name.
        address: Of its page.

    Raises:
        TokenRefused: The token may be read by others, on the disk or on the network.
    """
    path = _place(directory, node)
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            mode, token = os.fstat(file.fileno()).st_mode, file.read(1000).strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise TokenRefused(f"its token {path} cannot be read: {error.strerror}") from error
    if stat.S_IMODE(mode) & 0o077:
        raise TokenRefused(f"other users may read its token; run chmod 600 {path}")
    if not _TOKEN.fullmatch(token):
        raise TokenRefused(f"{path} has no token; `silo fleet token` stores one")
    parts = parts_of(address)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise TokenRefused("its token is sent by https only, or through a tunnel on this machine")
    return token


def _place(directory: str, node: str) -> str:
    try:
        return f"{directory}/{_OTHERS}/{check_version_name(node)}"
    except VersionNameError as error:
        raise TokenRefused(f"{node!r} cannot name a node: {error}") from None


def _write(path: str, content: str) -> None:
    make_parents(path)
    replace_file(path, content.encode() + b"\n", 0o600)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
