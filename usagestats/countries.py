"""The country of an address, from a file that the user names.

Two kinds of files are read: a database in MaxMind's format (``.mmdb``), by the package maxminddb;
and the plain lists of Debian's package tor-geoipdb (``geoip`` and ``geoip6``, of which one is
named and the other is found beside it).
"""

import bisect
import functools
import ipaddress
import os
from collections.abc import Callable, Iterator
from typing import TypeAlias

from recordsilo.disk.regular_file import open_regular
from usagestats.errors import CountriesUnreadable
from usagestats.packages import needed
from usagestats.store.paths import place

UNKNOWN = "XX"
"""The code of an address whose country is not known."""
Country: TypeAlias = Callable[[str], str]
_MMDB = b"\xab\xcd\xefMaxMind.com"
_MAX_LISTS = 256 << 20
DEBIAN = "/usr/share/tor/geoip"
"""Where Debian's tor-geoipdb has the list of IPv4 addresses."""


def countries_path(silo_path: str, setting: str) -> str:
    """Return the file that the setting ``countries`` of a Silo names; ``""`` if it names none."""
    if setting == "debian":
        return DEBIAN
    return place(silo_path, setting) if setting else ""


def country_lookup(path: str) -> Country:
    """Return a function from the text of an address to a country code (ISO 3166-1, capitals).

    Args:
        path: A file; with ``""`` no country is looked up, and every code is ``""``.

    Raises:
        CountriesUnreadable: The file cannot be read.
        PackageMissing: It is a ``.mmdb``, and maxminddb is not installed.
    """
    if not path:
        return lambda _: ""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - (128 << 10)))
            is_mmdb = _MMDB in file.read()
        look = _mmdb(path) if is_mmdb else _lists(path)
    except OSError as error:
        raise CountriesUnreadable(path, error.strerror or str(error)) from error
    return functools.lru_cache(200_000)(look)


def _mmdb(path: str) -> Country:
    maxminddb = needed("maxminddb")
    try:
        database = maxminddb.open_database(path)
    except maxminddb.InvalidDatabaseError as error:
        raise CountriesUnreadable(path, str(error)) from error

    def look(address: str) -> str:
        parsed = _address(address)
        if parsed is None or (parsed.version == 6 and database.metadata().ip_version == 4):
            return UNKNOWN
        try:
            found = database.get(parsed)
        except (maxminddb.InvalidDatabaseError, ValueError) as error:
            raise CountriesUnreadable(path, str(error)) from error
        for name in ("country", "registered_country"):
            known = found.get(name) if isinstance(found, dict) else None
            code = known.get("iso_code") if isinstance(known, dict) else known
            if isinstance(code, str) and code:
                return _code(code)
        code = found.get("country_code") if isinstance(found, dict) else None
        return _code(code) if isinstance(code, str) else UNKNOWN

    return look


def _lists(path: str) -> Country:
    """Read lists of ranges: first address, last address, code, separated by commas."""
    other = path.removesuffix("6") if path.endswith("6") else f"{path}6"
    ranges: dict[int, list[tuple[int, int, str]]] = {4: [], 6: []}
    for one in (path, other) if os.path.isfile(other) else (path,):
        if os.path.getsize(one) > _MAX_LISTS:
            raise CountriesUnreadable(one, f"it has more than {_MAX_LISTS >> 20} MiB")
        for version, first, last, code in _ranges(one):
            ranges[version].append((first, last, code))
    if not any(ranges.values()):
        raise CountriesUnreadable(path, "it has no line such as 16777216,16777471,AU")
    for some in ranges.values():
        some.sort()
    starts = {version: [one[0] for one in some] for version, some in ranges.items()}

    def look(address: str) -> str:
        parsed = _address(address)
        if parsed is None:
            return UNKNOWN
        place = bisect.bisect_right(starts[parsed.version], int(parsed)) - 1
        if place < 0:
            return UNKNOWN
        _, last, code = ranges[parsed.version][place]
        return code if int(parsed) <= last else UNKNOWN

    return look


def _ranges(path: str) -> Iterator[tuple[int, int, int, str]]:
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            parts = line.strip().replace('"', "").split(",")
            if line.startswith("#") or len(parts) < 3:
                continue
            try:
                if parts[0].isdigit():
                    yield (
                        6 if int(parts[0]) >> 32 else 4,
                        int(parts[0]),
                        int(parts[1]),
                        _code(parts[2]),
                    )
                else:
                    first, last = map(ipaddress.ip_address, parts[:2])
                    yield first.version, int(first), int(last), _code(parts[2])
            except ValueError:
                continue


def _code(text: str) -> str:
    return text.upper() if len(text) == 2 and text.isascii() and text.isalpha() else UNKNOWN


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Read an address; an IPv4 address in the form of IPv6 is one of IPv4."""
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed
