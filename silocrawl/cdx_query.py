"""The query of a CDX server: from parameters to lines of an index (pure).

The parameters and the fields are those of pywb and OutbackCDX; a filter means what it means in
pywb. Source: pywb, *CDXJ Server API*; OutbackCDX, README; IIPC, *CDX 2015* for the 11 fields.
"""

import heapq
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from itertools import chain, islice
from typing import Protocol
from urllib.parse import quote

from silocrawl.cdxj import key_of
from silocrawl.errors import CrawlingError
from silocrawl.moments import moment_or_none

MOST_LINES, MOST_READ = 100_000, 2_000_000
"""Lines of an answer, and lines of the index that are looked at for it."""
LONGEST_URL, LONGEST_FILTER, MOST_FILTERS = 4_000, 200, 10
FIELDS_OF_11 = (
    "urlkey", "timestamp", "url", "mime", "status", "digest",
    "redirect", "robotflags", "length", "offset", "filename",
)  # fmt: skip
"""The fields of `` CDX N b a m s k r M S V g``."""
_NAMES = {name: name for name in FIELDS_OF_11} | {
    "original": "url", "mimetype": "mime", "statuscode": "status",
} | dict(zip("NbamskrMSVg", FIELDS_OF_11, strict=True))  # fmt: skip
_LATEST, _EARLIEST = "29991231235959", "10000101000000"
_HOST_AND_PORT = re.compile(r"[^/?#:]+:([0-9]{1,5})(?=[/?#]|\Z)")
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
_REPETITION = re.compile(r"[*+{]")
MOST_REPETITIONS = 2

Row = dict[str, str]
Keep = Callable[[Row], bool]


class QueryRefused(CrawlingError, ValueError):
    """A query that cannot be answered as it is asked, or not completely."""


class Match(Enum):
    """Which addresses are meant by one."""

    EXACT = "exact"
    PREFIX = "prefix"
    HOST = "host"
    DOMAIN = "domain"


class CaptureOrder(Enum):
    """In which order captures are listed."""

    FORWARD = ""
    REVERSE = "reverse"
    CLOSEST = "closest"


class CaptureIndex(Protocol):
    """Where lines are found; see `Segments.find`."""

    def find(self, key: str, *, is_prefix: bool = False) -> Iterator[str]:
        """Yield the lines of a key, or of all keys that begin so, sorted."""


@dataclass(frozen=True, slots=True)
class CaptureQuery:
    """What is asked.

    Attributes:
        url: An address, or what addresses begin with.
        match: Which addresses are meant.
        begin, end: Earliest and latest time; 14 digits.
        order: In which order.
        closest: The time to which captures are sorted; 14 digits, empty for none.
        limit: Most lines; None for all.
        filters: All of them keep a capture that is listed.
        fields: Names as in `FIELDS_OF_11`; empty for all.
        is_json: Whether lines are JSON objects.
    """

    url: str
    match: Match = Match.EXACT
    begin: str = _EARLIEST
    end: str = _LATEST
    order: CaptureOrder = CaptureOrder.FORWARD
    closest: str = ""
    limit: int | None = None
    filters: tuple[Keep, ...] = ()
    fields: tuple[str, ...] = ()
    is_json: bool = False


def query_of(parameters: Iterable[tuple[str, str]]) -> CaptureQuery:
    """Read the parameters of a query; empty ones count as not given.

    Raises:
        QueryRefused: Says which parameter is wrong, missing, unknown or given twice.
    """
    given: dict[str, str] = {}
    filters: list[Keep] = []
    for name, value in parameters:
        known = _SYNONYMS.get(name, name)
        if known not in _PARAMETERS:
            known_ones = ", ".join(sorted(_PARAMETERS))
            raise QueryRefused(f"there is no parameter {name[:40]!r}; those here: {known_ones}")
        if known == "filter" and value:
            filters.append(_filter_of(value))
        elif value and known in given:
            raise QueryRefused(f"{known} is given twice")
        elif value:
            given[known] = value
    if len(filters) > MOST_FILTERS:
        raise QueryRefused(f"at most {MOST_FILTERS} filters can be given")
    url, match = _address_of(given.get("url", ""), given.get("matchType", ""))
    order, closest = _order_of(given.get("sort", ""), given.get("closest", ""))
    return CaptureQuery(
        url,
        match,
        begin=_padded("from", given.get("from", ""), _EARLIEST),
        end=_padded("to", given.get("to", ""), _LATEST),
        order=order,
        closest=closest,
        limit=_limit_of(given["limit"]) if "limit" in given else None,
        filters=tuple(filters),
        fields=tuple(_field_of(one) for one in given["fl"].split(",")) if "fl" in given else (),
        is_json=_one_of("output", given.get("output", "text"), ("text", "json")) == "json",
    )


_SYNONYMS = {"fields": "fl", "from_ts": "from"}
_PARAMETERS = frozenset(
    ("url", "matchType", "from", "to", "closest", "sort", "limit", "filter", "output", "fl")
)


def answer(query: CaptureQuery, index: CaptureIndex) -> list[str]:
    """The lines of an answer, each with its line end; at most `MOST_LINES`.

    Raises:
        QueryRefused: The address is none, or the answer would not be complete.
    """
    kept = (row for row in _looked_at(_found(query, index)) if _is_meant(query, row))
    rows = list(_ordered(query, kept))
    if len(rows) > MOST_LINES:
        raise QueryRefused(
            f"there are more than {MOST_LINES:,} lines; ask for less with from, to, filter or limit"
        )
    said = _as_json if query.is_json else as_text
    return [said(row, query.fields) for row in rows]


# --------------------------------------------------------------------------- parameters


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise QueryRefused(f"{name} is {' or '.join(one for one in allowed if one)}")
    return value


def _address_of(url: str, match: str) -> tuple[str, Match]:
    """The address with a scheme and without a wildcard, and what is meant by it."""
    if not url:
        raise QueryRefused("url is missing, as in ?url=https://example.org/")
    if len(url) > LONGEST_URL:
        raise QueryRefused(f"url is longer than {LONGEST_URL:,} characters")
    if match:
        kind = Match(_one_of("matchType", match, [one.value for one in Match]))
        return _with_scheme(url), kind
    if url.startswith("*."):
        return _with_scheme(url[2:]), Match.DOMAIN
    if url.endswith("*"):
        return _with_scheme(url[:-1]), Match.PREFIX
    return _with_scheme(url), Match.EXACT


def _with_scheme(url: str) -> str:
    """An address that begins with a host and a port has a scheme, or the host is read as one."""
    if (found := _HOST_AND_PORT.match(url)) is None:
        return url
    return f"{'https' if found[1] == '443' else 'http'}://{url}"


def _padded(name: str, value: str, rest: str) -> str:
    if value and not (len(value) <= 14 and value.isascii() and value.isdigit()):
        raise QueryRefused(f"{name} is a time of at most 14 digits, as 20261124 or 20261124153000")
    return value + rest[len(value) :]


def _order_of(sort: str, closest: str) -> tuple[CaptureOrder, str]:
    order = CaptureOrder(_one_of("sort", sort, [one.value for one in CaptureOrder]))
    if not closest:
        if order is CaptureOrder.CLOSEST:
            raise QueryRefused("sort=closest needs closest, a time of at most 14 digits")
        return order, ""
    if order is CaptureOrder.REVERSE:
        raise QueryRefused("sort=reverse and closest exclude each other")
    padded = _padded("closest", closest, _EARLIEST)
    if moment_or_none(padded) is None:
        raise QueryRefused(f"closest is not a time: {closest}")
    return CaptureOrder.CLOSEST, padded


def _limit_of(value: str) -> int:
    if not (value.isascii() and value.isdigit() and int(value[:9]) >= 1 and len(value) < 10):
        raise QueryRefused("limit is a number from 1 on")
    return min(int(value), MOST_LINES)


def _field_of(name: str) -> str:
    try:
        return _NAMES[name.strip()]
    except KeyError:
        raise QueryRefused(
            f"there is no field {name[:40]!r}; those here: {', '.join(FIELDS_OF_11)}"
        ) from None


def _filter_of(text: str) -> Keep:
    """A filter ``[!][=|~][FIELD:]VALUE``: a value that is contained, equal, or matches.

    Regular expressions are bounded, so that none takes longer than the square of a value's
    length: they come from others, and cannot be interrupted.
    """
    if len(text) > LONGEST_FILTER:
        raise QueryRefused(f"a filter has at most {LONGEST_FILTER} characters")
    is_inverted = text.startswith("!")
    bare = text.removeprefix("!")
    kind, bare = (bare[:1], bare[1:]) if bare[:1] in {"=", "~"} else ("", bare)
    name, colon, value = bare.partition(":")
    if not colon:
        raise QueryRefused(f"a filter is FIELD:VALUE, as status:200 or ~mime:.*pdf; not {text!r}")
    field, matches = _field_of(name), _matching(kind, value)
    return lambda row: matches(row.get(field, "")) is not is_inverted


def _matching(kind: str, value: str) -> Callable[[str], bool]:
    if kind == "=":
        return lambda said: said == value
    if kind != "~":
        return lambda said: value in said
    if _REPEATED_GROUP.search(value) or len(_REPETITION.findall(value)) > MOST_REPETITIONS:
        raise QueryRefused(
            f"the regular expression {value!r} repeats a group, or has more than"
            f" {MOST_REPETITIONS} repetitions"
        )
    try:
        pattern = re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise QueryRefused(f"{value!r} is not a regular expression: {error}") from None
    return lambda said: pattern.match(said) is not None


# --------------------------------------------------------------------------- lines


def _found(query: CaptureQuery, index: CaptureIndex) -> Iterator[str]:
    """The lines of the addresses that are meant, sorted by their keys."""
    try:
        key = key_of(query.url)
    except ValueError as error:
        raise QueryRefused(f"url is not an address: {error}") from None
    host = key.partition(")/")[0]
    if query.match is Match.EXACT:
        return index.find(key)
    if query.match is Match.HOST:
        return index.find(f"{host})/", is_prefix=True)
    if query.match is Match.DOMAIN:
        return chain(
            index.find(f"{host})/", is_prefix=True), index.find(f"{host},", is_prefix=True)
        )
    last = query.url[-1]  # which the key may have lost
    return index.find(key if last not in "/?" or key.endswith(last) else key + last, is_prefix=True)


def _looked_at(lines: Iterable[str]) -> Iterator[Row]:
    for number, line in enumerate(lines):
        if number == MOST_READ:
            raise QueryRefused(
                f"more than {MOST_READ:,} lines of the index would have to be read; ask for less"
                " with a longer url, or another matchType"
            )
        yield row_of(line)


def row_of(line: str) -> Row:
    """Read a line of the index.

    Raises:
        ValueError: It is not one.
    """
    key, timestamp, table = line.split(" ", 2)
    return {"urlkey": key, "timestamp": timestamp, **json.loads(table)}


def _is_meant(query: CaptureQuery, row: Row) -> bool:
    is_in_time = query.begin <= row["timestamp"] <= query.end
    return is_in_time and all(keep(row) for keep in query.filters)


def _ordered(query: CaptureQuery, rows: Iterator[Row]) -> Iterable[Row]:
    """The rows in their order; one more than `MOST_LINES` if there are more, and no limit."""
    most = query.limit or MOST_LINES + 1
    if query.order is CaptureOrder.FORWARD:
        return islice(rows, most)
    if query.order is CaptureOrder.REVERSE:
        return reversed(deque(rows, most))
    wanted = moment_or_none(query.closest) or datetime.now(UTC)
    return heapq.nsmallest(most, rows, key=lambda row: _seconds_between(wanted, row["timestamp"]))


def _seconds_between(wanted: datetime, timestamp: str) -> float:
    found = moment_or_none(timestamp)
    return abs((found - wanted).total_seconds()) if found else float("inf")


def _as_json(row: Row, fields: Sequence[str]) -> str:
    return json.dumps({one: row[one] for one in fields or row if one in row}) + "\n"


def as_text(row: Row, fields: Sequence[str] = ()) -> str:
    """The line of a capture, with its line end; by default with all 11 fields."""
    return " ".join(_word(row.get(one, "")) for one in fields or FIELDS_OF_11) + "\n"


def _word(value: str) -> str:
    """A value as one word of ASCII; ``-`` if it is empty."""
    return quote(value, safe="".join(map(chr, range(33, 127)))) or "-"
