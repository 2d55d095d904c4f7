"""Stateless resumption tokens (OAI-PMH 2.0, section 3.5).

The provider does not keep sessions: a token contains the selection, the position of the last
record sent and the size of the list, so it works in any process, after a restart, and repeatedly.
The check value detects tokens damaged in transit. It is not secret, so the content of a token is
validated like any argument.
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from oaipmhprotocol import BadResumptionToken, Verb
from oaipmhprovider.source import Position, Selection

_CHECK_BYTES = 9
_LONGEST_KEY = hashlib.blake2b.MAX_KEY_SIZE


@dataclass(frozen=True, slots=True)
class Continuation:
    """The point at which a list continues.

    Attributes:
        verb: The verb of the list; the token is valid for no other.
        cursor: Number of records (or sets) sent before.
        size: Size of the whole list when it began.
        expires: When the token expires.
        selection: The selection of the list; None for a list of sets.
        after: The last record sent; None for a list of sets.
    """

    verb: Verb
    cursor: int
    size: int
    expires: datetime
    selection: Selection | None = None
    after: Position | None = None


def encode_token(continuation: Continuation, key: bytes) -> str:
    """Write a continuation as a token of letters, digits, ``-`` and ``_``."""
    chosen = continuation.selection
    place = continuation.after
    fields = [
        continuation.verb,
        continuation.cursor,
        continuation.size,
        int(continuation.expires.timestamp()),
        [chosen.prefix, chosen.from_, chosen.until, chosen.set_spec] if chosen else None,
        [place.datestamp, place.identifier] if place else None,
    ]
    payload = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(payload, key) + payload).rstrip(b"=").decode("ascii")


def decode_token(token: str, verb: Verb, now: datetime, key: bytes) -> Continuation:
    """Read a token that `encode_token` wrote.

    Raises:
        BadResumptionToken: It is damaged, of another verb, or expired.
    """
    continuation = _continuation(_payload(token, key))
    if continuation.verb is not verb:
        raise BadResumptionToken(f"this resumption token belongs to {continuation.verb}")
    if now >= continuation.expires:
        raise BadResumptionToken("this resumption token has expired; begin the list again")
    return continuation


def _check(payload: bytes, key: bytes) -> bytes:
    key = key if len(key) <= _LONGEST_KEY else hashlib.blake2b(key).digest()
    return hashlib.blake2b(payload, key=key, digest_size=_CHECK_BYTES).digest()


def _payload(token: str, key: bytes) -> bytes:
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise _not_ours() from None
    check, payload = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
    if not hmac.compare_digest(check, _check(payload, key)):
        raise _not_ours()
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode("ascii") != token:
        raise _not_ours()  # the unused bits of the last letter were changed
    return payload


def _continuation(payload: bytes) -> Continuation:
    try:
        verb, cursor, size, expires, chosen, place = json.loads(payload)
        return Continuation(
            Verb(verb),
            _number(cursor),
            _number(size),
            datetime.fromtimestamp(_number(expires), UTC),
            _selection(*chosen) if chosen else None,
            Position(*map(_text, place)) if place else None,
        )
    except (ValueError, TypeError, OverflowError, OSError, RecursionError):
        raise _not_ours() from None


def _selection(prefix: object, from_: object, until: object, set_spec: object) -> Selection:
    return Selection(
        _text(prefix), _text_or_none(from_), _text_or_none(until), _text_or_none(set_spec)
    )


def _not_ours() -> BadResumptionToken:
    return BadResumptionToken("this is not a resumption token of this repository")


def _number(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError(value)
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    value.encode()  # half of a surrogate pair cannot be sent back
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)
