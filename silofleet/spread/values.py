"""Units, and what is brought for them: values, and their bytes in a Redis. Pure.

Nothing that comes from the Redis is believed before it is checked.
"""

import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from oaipmhclient.transport.http_rules import BaseURL, Verdict, judge, unpack_page
from oaipmhprotocol import Verb
from oaipmhprotocol.words import Argument
from politeweb.answers import Answer, AttemptOutcome
from politeweb.codings import CodingBroken
from politeweb.errors import ResponseTooLarge
from politeweb.settings import HttpSettings
from recordsilo.disk.names import check_version_name
from recordsilo.errors import VersionNameError
from silofleet.errors import FleetRefused

LISTS = frozenset({Verb.LIST_RECORDS.value, Verb.LIST_IDENTIFIERS.value})
MOST_UNIT = 64 << 10
MOST_BROUGHT = 8 << 20
"""Bytes of a response, compressed, that may be brought through the Redis."""
_MOST_HEADERS = 100
_MOST_TEXT = 8 << 10
_MOST_TURNS = 100
_LONGEST_INTERVAL = 86_400.0
LONGEST_PAUSE = 1e9
_ARGUMENTS = frozenset(argument.value for argument in Argument)
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Unit:
    """One request of a list.

    Attributes:
        name: A random name, in 32 hexadecimal digits.
        run: Number of the run that offers it.
        url: Base URL, without credentials.
        arguments: The request, as wire parameters.
        interval: Least seconds between two requests to the host, from all nodes together.
        turns: See `politeweb.shared_pace.PaceSpec`.
        contact: Sent with the request; see `HttpSettings`.
    """

    name: str
    run: int
    url: str
    arguments: Mapping[str, str]
    interval: float = 0.0
    turns: int = 1
    contact: str | None = None

    @property
    def continues(self) -> bool:
        """Whether it continues a token; else it is the first request of a window."""
        return Argument.RESUMPTION_TOKEN.value in self.arguments

    def to_bytes(self) -> bytes:
        """The unit as it is offered."""
        return json.dumps(
            {
                "run": self.run,
                "url": self.url,
                "arguments": dict(self.arguments),
                "interval": self.interval,
                "turns": self.turns,
                "contact": self.contact,
            }
        ).encode()


def unit_of_bytes(name: str, content: bytes) -> Unit:
    """Read a unit.

    Raises:
        FleetRefused: Not a valid unit.
    """
    try:
        if not _ID.fullmatch(name) or len(content) > MOST_UNIT:
            raise ValueError("its name or its size")
        found = json.loads(content)
        unit = Unit(
            name,
            _between(found["run"], 0, 1 << 63),
            _address(found["url"]),
            _arguments(found["arguments"]),
            _seconds(found["interval"], _LONGEST_INTERVAL),
            _between(found["turns"], 1, _MOST_TURNS),
            None if found["contact"] is None else _text(found["contact"]),
        )
        HttpSettings(contact=unit.contact)  # checks it
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise FleetRefused(f"a unit in the broker is malformed: {error!r}") from None
    return unit


def _address(value: Any) -> str:
    address = BaseURL.parse(_text(value))
    if address.auth is not None or address.url != value:
        raise ValueError(f"{address.url!r} is not a plain base URL")
    return address.url


def _arguments(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or value.get(Argument.VERB.value) not in LISTS:
        raise ValueError("it requests no list")
    if value.keys() - _ARGUMENTS or not all(isinstance(one, str) for one in value.values()):
        raise ValueError("its arguments")
    return dict(value)


# --------------------------------------------------------------------------- what is brought


@dataclass(frozen=True, slots=True)
class Brought:
    """What a node brings for a unit: a response, a pause that the host asks for, or a failure.

    Attributes:
        outcome: Of the request.
        seconds: How long it took, without the wait for its turn.
        sent: Requests that it took, with redirects.
        answer: The response, without the time at which it was received: nodes' clocks may be wrong.
        moved_to: The base URL that a redirect led to; empty without redirects.
        pause: HTTP status of a response that asks for a pause, and its seconds; None without one.
        said: Why there is no response, as a sentence.
        is_too_large: Whether the response was too large for the Redis.
    """

    node: str
    outcome: AttemptOutcome = AttemptOutcome.FAILED
    seconds: float = 0.0
    sent: int = 0
    answer: Answer | None = field(default=None, repr=False)
    moved_to: str = ""
    pause: tuple[int, float] | None = None
    said: str = ""
    is_too_large: bool = False

    @property
    def raw(self) -> bytes:
        """The body as the server sent it."""
        if self.answer is None:
            return b""
        return self.answer.body if self.answer.raw is None else self.answer.raw

    def to_bytes(self) -> bytes:
        """A line of JSON, and the body as sent by the server, compressed."""
        answer, pause = self.answer, self.pause
        head = {
            "node": self.node,
            "outcome": self.outcome.value,
            "seconds": self.seconds,
            "sent": self.sent,
            "moved_to": self.moved_to,
            "pause": list(pause) if pause else None,
            "said": _one_line(self.said),
            "is_too_large": self.is_too_large,
            "answer": answer
            and {"url": answer.url, "status": answer.status, "headers": _headers(answer)},
        }
        return json.dumps(head).encode() + b"\n" + zlib.compress(self.raw, 1)


def brought_of_bytes(content: bytes, unit: Unit, limit: int) -> Brought:
    """Read what was brought for a unit.

    Args:
        content: From `Brought.to_bytes`.
        limit: Bytes of one response; see `HttpSettings.max_response`.

    Raises:
        FleetRefused: It is malformed, or no answer to that request.
    """
    line, _, packed = content.partition(b"\n")
    try:
        head = json.loads(line)
        pause = head["pause"]
        found = head["answer"]
        brought = Brought(
            node=check_version_name(_text(head["node"])),
            outcome=AttemptOutcome(head["outcome"]),
            seconds=_seconds(head["seconds"], 1e5),
            sent=_between(head["sent"], 0, 100),
            moved_to=head["moved_to"] and _same_host(_text(head["moved_to"]), unit),
            pause=(_between(pause[0], 100, 599), _seconds(pause[1], LONGEST_PAUSE))
            if pause
            else None,
            said=_text(head["said"]),
            is_too_large=bool(head["is_too_large"]),
            answer=None if found is None else _answer(found, packed, unit, limit),
        )
        if brought.answer is not None and brought.outcome is not AttemptOutcome.ANSWERED:
            raise ValueError("a response that failed")
    except (
        LookupError, TypeError, ValueError, OverflowError, RecursionError, zlib.error, CodingBroken,
        ResponseTooLarge, VersionNameError,
    ) as error:  # fmt: skip
        raise FleetRefused(
            f"what was brought for a unit of the run {unit.run} is malformed: {error!r}"
        ) from None
    return brought


def _answer(found: Any, packed: bytes, unit: Unit, limit: int) -> Answer:
    headers = found["headers"]
    if not isinstance(headers, dict) or len(headers) > _MOST_HEADERS:
        raise ValueError("its headers")
    headers = {_text(name).lower(): _text(value) for name, value in headers.items()}
    url = _same_host(_text(found["url"], longest=MOST_UNIT), unit)
    reading = zlib.decompressobj()
    raw = reading.decompress(packed, limit + 1)
    if len(raw) > limit or not reading.eof:
        raise ValueError("its body")
    body = unpack_page(raw, headers.get("content-encoding", ""), limit, url)
    status = _between(found["status"], 200, 599)
    answer = Answer(body, url, status, headers, None if body is raw else raw)
    verdict, reason = judge(answer, has_answered=True)
    if verdict is not Verdict.TAKE:
        raise ValueError(reason)
    return answer


def _same_host(url: str, unit: Unit) -> str:
    """An address that redirects may lead to: they stay within the host."""
    if BaseURL.parse(url).auth is not None or _host(url) != _host(unit.url):
        raise ValueError("an address on another host")
    return url


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


# --------------------------------------------------------------------------- parts


def _headers(answer: Answer) -> dict[str, str]:
    return {name: _one_line(value) for name, value in answer.headers.items()}


def _one_line(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text[:_MOST_TEXT])


def _text(value: Any, *, longest: int = _MOST_TEXT) -> str:
    if not isinstance(value, str) or len(value) > longest or not value.isprintable():
        raise ValueError("it is not text of one line")
    return value


def _between(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"a number is not between {least} and {most}")
    return value


def _seconds(value: Any, most: float) -> float:
    if type(value) not in {int, float} or not math.isfinite(value) or not 0 <= value <= most:
        raise ValueError("a number of seconds")
    return float(value)
