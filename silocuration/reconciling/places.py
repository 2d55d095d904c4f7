"""The services and lists that values are reconciled against, and who may use ours.

``curation/reconciliation.toml`` (docs/reconciliation.md):

    [service]                          # ours, at /reconcile
    public = true                      # without signing in
    origins = ["https://refine.example.org"]

    [added]                            # services that are added on the page
    private = true                     # may have addresses that are not public

    [places.ror]
    url = "https://reconcile.example.org/ror"
    type = "Organization"
    fields = ["publisher"]

    [places.staff]
    list = "staff.csv"                 # curation/lists/staff.csv
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from recordsilo.disk.toml_files import TomlFiles, load_toml
from silocuration.authorities import FIELDS
from silocuration.errors import CurationError

FILE = "curation/reconciliation.toml"
LISTS, ADDED = "curation/lists", "curation/reconciliation-places"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_LIST = re.compile(r"[^\W_][\w.-]{0,99}\.csv")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "url": str,
    "list": str,
    "title": str,
    "type": str,
    "fields": list,
    "private": bool,
    "delay": (int, float),
}


class PlacesUnreadable(CurationError):
    """The file with the places, or that of one that was added, is invalid."""

    def __init__(self, reason: str, file: str = FILE) -> None:
        self.reason = reason
        super().__init__(f"{file} cannot be used: {reason}")


class PlaceNotFound(CurationError):
    """There is no place of that name."""

    def __init__(self, name: str, known: str) -> None:
        self.name = name
        super().__init__(f"there is no service or list {name!r}; there are {known or 'none'}")


class PlaceUnusable(CurationError):
    """A place does not answer, or not as specified.

    Attributes:
        place: Its name.
    """

    def __init__(self, place: str, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"{place} cannot be asked: {reason}")


@dataclass(frozen=True, slots=True)
class ReconciliationPlace:
    """A service, or a list of one's own.

    Attributes:
        url: Of a service; empty for a list.
        list: Name of a file in `LISTS`; empty for a service.
        type: Only entities of this type; empty for all.
        fields: The fields that are offered with it.
        private: Whether the service may have an address that is not public.
        delay: Least seconds between the starts of two requests.
        is_added: Whether it was added on the page.
    """

    name: str
    title: str
    url: str = ""
    list: str = ""
    type: str = ""
    fields: tuple[str, ...] = tuple(FIELDS)
    private: bool = False
    delay: float = 1.0
    is_added: bool = False

    def list_path(self, silo_path: str) -> str:
        """Where the list is."""
        return os.path.join(silo_path, *LISTS.split("/"), self.list)


@dataclass(frozen=True, slots=True)
class ReconciliationSettings:
    """What the file says.

    Attributes:
        public: Whether our service answers without sign-in.
        origins: Of pages of other servers that may ask it; those of this machine always may.
        private_added: Whether services that were added may have addresses that are not public.
    """

    places: Mapping[str, ReconciliationPlace]
    public: bool = False
    origins: tuple[str, ...] = ()
    private_added: bool = False

    def place(self, name: str) -> ReconciliationPlace:
        """Return a place.

        Raises:
            PlaceNotFound: There is none of that name.
        """
        if name not in self.places:
            raise PlaceNotFound(name, ", ".join(self.places))
        return self.places[name]


def read_places(silo_path: str) -> ReconciliationSettings:
    """Read the file, then what was added on the page; of the same name, the file counts.

    Raises:
        PlacesUnreadable: A file cannot be read or is invalid.
    """
    try:
        table = load_toml(os.path.join(silo_path, *FILE.split("/")))
    except FileNotFoundError:
        table = {}
    except (OSError, ValueError) as error:
        raise PlacesUnreadable(str(error)) from None
    if unknown := sorted({*table} - {"service", "places", "added"}):
        raise PlacesUnreadable(f"it has the unknown table {unknown[0]!r}")
    service, places = table.get("service", {}), table.get("places", {})
    if not isinstance(service, dict) or not isinstance(places, dict):
        raise PlacesUnreadable("service and places are tables")
    origins = service.get("origins", [])
    if {*service} - {"public", "origins"} or type(service.get("public", False)) is not bool:
        raise PlacesUnreadable("the service has public, true or false, and origins")
    if not isinstance(origins, list) or not all(map(_is_origin, origins)):
        raise PlacesUnreadable("origins is a list of texts such as https://refine.example.org")
    added = table.get("added", {})
    if added not in ({}, {"private": True}, {"private": False}):
        raise PlacesUnreadable("added has private, true or false")
    found = {name: place_of(name, one) for name, one in places.items()}
    private = added.get("private", False)
    for one in _added(silo_path, private=private):
        found.setdefault(one.name, one)
    return ReconciliationSettings(found, service.get("public", False), tuple(origins), private)


def added_files(silo_path: str) -> TomlFiles:
    """The files of the places that were added on the page."""
    return TomlFiles(os.path.join(silo_path, *ADDED.split("/")), NAME, silo_path)


def _added(silo_path: str, *, private: bool) -> Iterator[ReconciliationPlace]:
    files = added_files(silo_path)
    for name in files.names():
        try:
            table = files.load(name)
            yield replace(place_of(name, table), private=private, is_added=True)
        except FileNotFoundError:  # removed meanwhile
            continue
        except (OSError, ValueError, PlacesUnreadable) as error:
            reason = error.reason if isinstance(error, PlacesUnreadable) else str(error)
            raise PlacesUnreadable(reason, f"{ADDED}/{name}.toml") from None


def place_of(name: str, table: Any) -> ReconciliationPlace:
    """Check the table of a place.

    Raises:
        PlacesUnreadable: It is invalid.
    """
    if not NAME.fullmatch(name):
        raise PlacesUnreadable(f"{name!r} is no name: use small letters, digits, - and _")
    if not isinstance(table, dict):
        raise PlacesUnreadable(f"places.{name} is no table")
    for key, value in table.items():
        if key not in _TYPES or not isinstance(value, _TYPES[key]):
            known = ", ".join(_TYPES)
            raise PlacesUnreadable(f"{key} of {name} is unknown or wrong; keys are {known}")
    fields = table.get("fields", [*FIELDS])
    if not fields or not {*map(str, fields)} <= {*FIELDS}:
        raise PlacesUnreadable(f"the fields of {name} are some of {', '.join(FIELDS)}")
    url, file = table.get("url", ""), table.get("list", "")
    if bool(url) == bool(file):
        raise PlacesUnreadable(f"{name} needs either url or list")
    if url and not _is_address(url):
        raise PlacesUnreadable(f"the url of {name} is no address of http or https")
    if file and not _LIST.fullmatch(file):
        raise PlacesUnreadable(f"the list of {name} is the name of a .csv file in {LISTS}")
    return ReconciliationPlace(
        name,
        table.get("title") or name,
        url,
        file,
        table.get("type", ""),
        tuple(map(str, fields)),
        table.get("private", False),
        max(0.0, min(60.0, float(table.get("delay", 1.0)))),  # also of nan
    )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and not parts.username and "#" not in url
    return plain and parts.scheme in {"http", "https"} and bool(host)


def _is_origin(text: Any) -> bool:
    return isinstance(text, str) and bool(re.fullmatch(r"https?://[\w.:\[\]-]+", text))
