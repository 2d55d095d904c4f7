"""Resumption tokens of the provider: damaged ones, and valid ones with odd contents."""

import base64
import hmac
import json
from collections.abc import Hashable, Iterable, Sequence
from datetime import UTC, datetime
from random import Random

from fuzzing.mutators import changed_json
from fuzzing.target import Target

from oaipmhprotocol import BadResumptionToken, Verb
from oaipmhprovider.source import Position, Selection
from oaipmhprovider.tokens import Continuation, decode_token, encode_token

_KEY = b"a key"
_NOW = datetime(2026, 11, 22, tzinfo=UTC)
_NAMES = (*Verb, "oai_dc", "2026-11-22", "2026-11-22T10:00:00Z", "a:b")


class Tokens(Target):
    promise = (
        "A token is read or refused with badResumptionToken; what was read gives a token that "
        "says the same; a token that was not signed is refused."
    )

    def seeds(self) -> Iterable[bytes]:
        """What is within tokens, before it is signed."""
        expires = datetime(2030, 1, 1, tzinfo=UTC)
        chosen = Selection("oai_dc", "2026-01-01", None, "a:b")
        place = Position("2026-01-02", "oai:x:1")
        return [
            _payload(Continuation(Verb.LIST_RECORDS, 10, 55, expires, chosen, place)),
            _payload(Continuation(Verb.LIST_SETS, 10, 55, expires)),
        ]

    def mutated(self, random: Random, pool: Sequence[bytes]) -> bytes:
        if random.random() < 0.3:
            return super().mutated(random, pool)
        return changed_json(random, random.choice(pool), _NAMES)

    def check(self, data: bytes) -> Hashable:
        forged = _text(bytes(9) + data)  # a signature by chance: one of 2^72
        for unsigned in (data.decode("utf-8", "surrogateescape"), _text(data), forged):
            try:
                decode_token(unsigned, Verb.LIST_SETS, _NOW, _KEY)
            except BadResumptionToken:
                continue
            raise AssertionError("a token without a signature is accepted")
        signed = _text(hmac.digest(_KEY, data, "sha256")[:9] + data)
        met = []
        for verb in (Verb.LIST_RECORDS, Verb.LIST_SETS):
            try:
                found = decode_token(signed, verb, _NOW, _KEY)
            except BadResumptionToken as error:
                met.append(str(error)[-20:])
                continue
            assert decode_token(encode_token(found, _KEY), verb, _NOW, _KEY) == found
            met.append("read")
        return tuple(met)


def _payload(continuation: Continuation) -> bytes:
    token = encode_token(continuation, _KEY)
    payload = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))[9:]
    assert json.loads(payload)
    return payload


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
