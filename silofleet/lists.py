"""Read lists of repositories: addresses in lines, tables, ListFriends, CORE and OpenDOAR (pure).

No repository is contacted: the first run shows whether an address answers.
"""

import csv
import hashlib
import io
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, count
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from politeweb.addresses import host_of
from recordsilo.formats.documents import NoDocument, parsed_whole
from recordsilo.granary import fault_of_silo_name
from silofleet.errors import FleetRefused
from silofleet.values import Endpoint
from silofleet.wishes import address_of
from silowork.due.timetable import duration_of
from silowork.errors import JobRefused

LONGEST_NAME = 64
MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of a list, whatever its form."""
_LONGEST_CELL = 100_000
_MOST_REFUSED = 1_000
"""If so many rows stand before the first endpoint, and none is one, the file is no list."""
_MOST_FAULTS = 100_000
"""More rows than this that are no endpoints are not named."""
_MOST_ENDPOINTS = 200_000
_MOST_VALUES = 8_000_000
"""Of JSON, which is read as a whole."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_DIGITS = 6  # of a hash, which tells apart addresses of one name
_COLUMNS = {
    "url": ("url", "baseurl", "oaiurl", "oaipmhurl", "oaibaseurl", "oaipmhbaseurl", "endpoint"),
    "name": ("name", "silo"),
    "sets": ("set", "sets", "setspec", "setspecs"),
    "prefixes": ("prefix", "prefixes", "metadataprefix", "metadataformat", "formats"),
    "every": ("every", "interval"),
    "tags": ("tags", "tag"),
}
_FIELD = {column: key for key, columns in _COLUMNS.items() for column in columns}
_PREFIX = re.compile(r"[A-Za-z0-9\-_.!~*'()]+")
_UNSAFE = re.compile(r"[^a-z0-9._]+")
_COMMON = frozenset(
    {
        *("oai", "oai2", "oai2d", "oaipmh", "oai_pmh", "pmh", "oaihandler", "oaiserver"),
        *("cgi", "bin", "request", "index.php", "oai.php", "oai2.php", "server", "page"),
        *("rest", "ws", "api", "v1", "v2", "provider", "dataprovider"),
    }
)
"""Words of addresses that do not tell repositories apart."""

Row: TypeAlias = tuple[str, Mapping[str, str]]
"""Where it stands, and its fields by the keys of `_COLUMNS`."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a list has.

    Attributes:
        endpoints: In its order, with names that differ.
        refused: Where something stands that is no endpoint, and why it is none.
        repeated: How many stood in the list before, with the same sets and formats.
    """

    endpoints: list[Endpoint]
    refused: list[tuple[str, str]]
    repeated: int


def read_list(
    content: bytes,
    form: str = "",
    taken: Collection[str] = (),
    shown: Callable[[int], object] = lambda _count: None,
) -> Listed:
    """Read a list.

    Args:
        content: Of a file, UTF-8, or UTF-16 with its mark; at most `MOST_BYTES`.
        form: One of `FORMS`; guessed if it is empty.
        taken: Names that the endpoints must not have.
        shown: Called with the number of endpoints so far.

    Raises:
        FleetRefused: The whole is no list of that form.
    """
    if len(content) > MOST_BYTES:
        raise FleetRefused(f"the list is larger than the limit of {MOST_BYTES >> 20} MiB; split it")
    text = _text_of(content)
    form = form or _guessed(text)
    if form not in _READERS:
        raise FleetRefused(f"there is no form {form!r} of lists; there are {', '.join(FORMS)}")
    names, seen = {one.lower() for one in taken}, set()
    endpoints: list[Endpoint] = []
    refused: list[tuple[str, str]] = []
    repeated = 0
    for where, row in _READERS[form](text):
        try:
            endpoint = _endpoint(row, names)
        except (FleetRefused, JobRefused) as error:
            refused.append((where, str(error)))
            if len(refused) >= _MOST_REFUSED and not endpoints:
                raise FleetRefused(
                    f"the list has {len(refused):,} errors and no endpoint up to {where}; the"
                    f" first, {refused[0][0]}: {refused[0][1]}"
                ) from None
            if len(refused) >= _MOST_FAULTS:
                raise FleetRefused(f"the list has {len(refused):,} errors up to {where}") from None
            continue
        key = (endpoint.url, endpoint.sets, endpoint.prefixes)
        if key in seen:
            repeated += 1
            continue
        if len(endpoints) >= _MOST_ENDPOINTS:
            raise FleetRefused(f"the list has more than {_MOST_ENDPOINTS:,} endpoints; split it")
        seen.add(key)
        names.add(endpoint.name)
        endpoints.append(endpoint)
        shown(len(endpoints))
    return Listed(endpoints, refused, repeated)


def _endpoint(row: Mapping[str, str], names: Collection[str]) -> Endpoint:
    written = row.get("url", "").strip()
    if not written:
        raise FleetRefused("it has no address")
    if len(written.split()) > 1:
        raise FleetRefused(
            "it has more than an address; if the list is a table, name its columns in the first"
            " line: url, name, set, prefix, every, tags"
        )
    url = address_of(written)
    prefixes = _words(row.get("prefixes", ""))
    check_prefixes(prefixes)
    every = duration_of(row["every"]) if row.get("every") else timedelta(days=1)
    wished = _safe(row.get("name", ""))
    name = _unlike(wished, url, names) if wished else name_of(url, names)
    sets, tags = _words(row.get("sets", "")), _words(row.get("tags", ""))
    return Endpoint(name, url, every, prefixes, sets, tags=tags)


def check_prefixes(prefixes: Iterable[str]) -> None:
    """Check prefixes of metadata formats.

    Raises:
        FleetRefused: One cannot be such a prefix.
    """
    for prefix in prefixes:
        if not _PREFIX.fullmatch(prefix):
            raise FleetRefused(f"{prefix!r} cannot be the prefix of a metadata format")


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.split(r"[\s,;|]+", text.strip()))) if text.strip() else ()


# --------------------------------------------------------------------------- names


def name_of(url: str, taken: Collection[str]) -> str:
    """Return a name for the Silo of a repository: its host, and what tells it apart there.

    Such as ``eprints.example.org``, or ``journals.example.org-physics``. If another has that
    name, a hash of the address follows, which is the same in each list.

    Args:
        url: A valid address.
        taken: Names that others have.

    Returns:
        Letters, digits, ``.``, ``-`` and ``_``, at most 64, the first a letter or digit.
    """
    parts = urlsplit(url)
    words = re.split(r"[^a-z0-9._]+", f"{parts.path} {parts.query}".lower())
    telling = [word for word in words if word and word not in _COMMON]
    host = host_of(url).removeprefix("www.")
    return _unlike(_safe("-".join([host, *telling])) or "repository", url, taken)


def _unlike(name: str, url: str, taken: Collection[str]) -> str:
    if name not in taken and not fault_of_silo_name(name):
        return name
    short = name[: LONGEST_NAME - _DIGITS - 5].rstrip("-._")
    hashed = f"{short}-{hashlib.sha256(url.encode()).hexdigest()[:_DIGITS]}"
    if hashed not in taken:
        return hashed
    free = bisect_left(
        range(len(taken) + 2), True, 2, key=lambda number: f"{hashed}-{number}" not in taken
    )
    return next(one for number in count(free) if (one := f"{hashed}-{number}") not in taken)


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-._")[:LONGEST_NAME].rstrip("-._")


# --------------------------------------------------------------------------- forms


def _text_of(content: bytes) -> str:
    is_wide = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FleetRefused(f"the list is not UTF-8 (line {line}); save it as UTF-8") from None


def _guessed(text: str) -> str:
    begin = text.lstrip()[:1]
    if begin == "<":
        return "listfriends"
    if begin in {"{", "["}:
        return "opendoar" if '"repository_metadata"' in text else "core"
    head = next((line for line in io.StringIO(text, newline=None) if _said(line)), "")
    return "csv" if _fields(head) & {"url"} else "lines"


def _said(line: str) -> str:
    """A line without its comment; a ``#`` within an address begins none."""
    if "#" not in line:
        return line.strip()
    return re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()


def _each_line(text: str) -> Iterator[str]:
    """The lines of a text with their ends, one at a time: all together take 20 times its size."""
    return (found[0] for found in _LINE.finditer(text))


def _lines(text: str) -> Iterator[Row]:
    for number, line in enumerate(_each_line(text), 1):
        if url := _said(line):
            yield f"line {number}", {"url": url}


def _fields(head: str) -> set[str]:
    try:
        columns = next(csv.reader([head], delimiter=_delimiter(head)), [])
    except csv.Error:  # a column is longer than any name
        return set()
    return {_field(column) for column in columns}


def _field(column: str) -> str:
    return _FIELD.get(re.sub(r"[^a-z]", "", column.lower()), "")


def _delimiter(head: str) -> str:
    return max("\t,;|", key=head.count)


def _table(text: str) -> Iterator[Row]:
    lines = _each_line(text)
    begin, head = next((one for one in enumerate(lines) if _said(one[1])), (0, ""))
    rows = csv.reader(chain([head], lines), delimiter=_delimiter(head))
    try:
        keys = [_field(column) for column in next(rows, [])]
        if "url" not in keys:
            raise FleetRefused(
                "the table has no column of addresses; name it url in the first line"
            )
        for row in rows:
            if not any(row) or row[0].startswith("#"):
                continue
            if any(len(cell) > _LONGEST_CELL for cell in row):
                raise csv.Error("a cell is too long; a quotation mark may be missing")
            found = [(key, cell) for key, cell in zip(keys, row, strict=False) if key]
            yield f"line {begin + rows.line_num}", dict(reversed(found))
    except csv.Error as error:
        raise FleetRefused(
            f"line {begin + rows.line_num} is not a row of a table: {error}"
        ) from None


def _friends(text: str) -> Iterator[Row]:
    content = re.sub(r"^\s*<\?xml[^>]*\?>", "", text).encode()
    try:
        root = parsed_whole(content)
    except NoDocument as error:
        raise FleetRefused(f"the list {error}") from None
    friends = list(root.iter("{*}baseURL"))
    if not friends:
        raise FleetRefused("the list has no element baseURL, so it is not ListFriends")
    for number, one in enumerate(friends, 1):
        yield f"baseURL {number}", {"url": one.text or ""}


def _core(text: str) -> Iterator[Row]:
    for where, row in _rows(text):
        prefix = row.get("metadataFormat")
        yield (
            where,
            {
                "url": _string(row.get("oaiPmhUrl")),
                "prefixes": prefix if isinstance(prefix, str) and _PREFIX.fullmatch(prefix) else "",
            },
        )


def _opendoar(text: str) -> Iterator[Row]:
    for where, row in _rows(text):
        about = row.get("repository_metadata")
        yield where, {"url": _string(about.get("oai_url")) if isinstance(about, dict) else ""}


def _rows(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, of ``items`` or ``results``, one alone, or one a line."""
    if sum(map(text.count, "{[,")) > _MOST_VALUES:
        raise FleetRefused(f"the list has more than {_MOST_VALUES:,} values; split it")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        try:
            found = [json.loads(line) for line in _each_line(text) if line.strip()]
        except (ValueError, RecursionError) as error:
            raise FleetRefused(f"the list is not JSON: {error}") from None
    if isinstance(found, dict):
        found = next((found[key] for key in ("items", "results") if key in found), [found])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise FleetRefused("the list has no objects")
    for number, row in enumerate(found, 1):
        yield f"object {number}", row


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


_READERS: Mapping[str, Callable[[str], Iterable[Row]]] = {
    "lines": _lines,
    "csv": _table,
    "listfriends": _friends,
    "opendoar": _opendoar,
    "core": _core,
}
FORMS = tuple(_READERS)
