"""Secrets do not come back in messages: what a server answers may repeat what it was sent. Pure."""

import html
import json
import re
from base64 import b64decode
from collections.abc import Callable
from urllib.parse import quote

MASK = "***"
_SHORT = 4
"""A shorter secret is masked only as a whole word: it may be a part of any word."""
Mask = Callable[[str], str]


def mask_of(authorization: str) -> Mask:
    """Return what replaces a secret in a text by ``***``.

    Args:
        authorization: The header ``Authorization``: masked are its value, and the token or the
            password in it, also as JSON, XML and addresses write them. ``""`` masks nothing.
    """
    kind, _, value = authorization.partition(" ")
    secrets = [authorization, value]
    if kind == "Basic":
        pair = _pair(value)
        secrets += [pair, pair.partition(":")[2]]
    patterns = {_pattern(form) for one in secrets if one for form in _forms(one)}
    if not patterns:
        return str
    found = re.compile("|".join(sorted(patterns, key=len, reverse=True)))
    return lambda text: found.sub(MASK, text)


def _pair(value: str) -> str:
    try:
        return b64decode(value).decode()
    except ValueError:
        return ""


def _forms(secret: str) -> set[str]:
    """Return a secret as texts may have it; lines of messages have each white space as one."""
    written = {
        secret, json.dumps(secret)[1:-1], html.escape(secret), html.escape(secret, quote=False),
        quote(secret), quote(secret, safe=""),
    }  # fmt: skip
    return written | {" ".join(one.split()) for one in written if one.strip()}


def _pattern(form: str) -> str:
    pattern = re.escape(form)
    return rf"(?<!\w){pattern}(?!\w)" if len(form) < _SHORT else pattern
