"""Services and lists that people add: ``curation/reconciliation-places/<name>.toml``.

The administrator's file, `places.FILE`, is never written: it may have comments, and of the same
name it counts. Services that were added have public addresses only, unless that file says
otherwise. A list that was uploaded is ``curation/lists/<name>.csv``; it is written after its place
and removed before it, so a process that is killed leaves no list that belongs to no place.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from politeweb.settings import HttpSettings
from recordsilo.disk.atomic_file import make_parents, remove_file, replace_file
from recordsilo.disk.locks import Locks
from recordsilo.disk.toml_files import TomlFiles
from silocuration.errors import CurationError
from silocuration.reconciling.lists import MOST_BYTES, ListUnusable, names_from, read_list
from silocuration.reconciling.places import (
    NAME,
    PlaceNotFound,
    PlacesUnreadable,
    ReconciliationPlace,
    added_files,
    place_of,
    read_places,
)

_SAID = ("url", "title", "type", "fields")
_TEST = HttpSettings(
    connect_timeout=3, read_timeout=5, total_timeout=8, max_response=1 << 20, attempts=1,
    netrc=False,
)  # fmt: skip


class PlaceRefused(CurationError):
    """A place cannot be added or changed as it was asked for.

    Attributes:
        field: The field of the form that is wrong.
    """

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class PlaceDescription:
    """What a service or list says of itself.

    Attributes:
        name: Of a service.
        types: Names of its types, at most 20.
        space: The beginning of its identifiers.
        entities: Names in a list; None of a service.
    """

    name: str
    types: tuple[str, ...] = ()
    space: str = ""
    entities: int | None = None


def add_place(
    silo_path: str, name: str, said: Mapping[str, Any], uploaded: bytes | None = None
) -> ReconciliationPlace:
    """Add a service or a list.

    Args:
        name: Not yet of a place, except one whose list a killed process did not write.
        said: ``url``, ``title``, ``type`` and ``fields``, as the file has them.
        uploaded: The content of a list; then there is no ``url``.

    Raises:
        PlaceRefused: The name is taken or none, or what was said is invalid; nothing is stored.
        PlacesUnreadable: A file of places cannot be read.
        OSError: The disk refused; nothing is stored.
    """
    table = _table(name, said, uploaded)
    place, files = _place(name, table), added_files(silo_path)
    with Locks.of_silo(silo_path).hold_name("reconciliation-places"):
        known = read_places(silo_path).places.get(name)
        if known is not None and not _lacks_list(silo_path, known):
            raise PlaceRefused("name", f"there is already a service or list {name}")
        if place.list and os.path.lexists(place.list_path(silo_path)):
            file = place.list
            raise PlaceRefused("name", f"there is already a list {file}; choose another name")
        if known is not None:
            files.remove(name)
        try:
            files.add(name, table)
        except FileExistsError:
            raise PlaceRefused("name", f"there is already a service or list {name}") from None
        if uploaded is not None:
            try:
                _keep_list(place.list_path(silo_path), uploaded)
            except OSError:
                files.remove(name)
                raise
    return place


def _lacks_list(silo_path: str, place: ReconciliationPlace) -> bool:
    """Whether it was added with a list that is not there."""
    own = place.is_added and place.list == f"{place.name}.csv"
    return own and not os.path.lexists(place.list_path(silo_path))


def described(silo_path: str, name: str, said: Mapping[str, Any]) -> PlaceDescription:
    """Ask a service what it is, before it is added or changed.

    Args:
        name, said: As for `add_place`, with an address.

    Raises:
        PlaceRefused: What was said is invalid.
        PlaceUnusable: It does not answer as specified.
        PlacesUnreadable: A file of places cannot be read.
    """
    place = _place(name, _table(name, said, None))
    private = read_places(silo_path).private_added
    return probe(replace(place, private=private, is_added=True), silo_path)


def change_place(
    silo_path: str, name: str, said: Mapping[str, Any], uploaded: bytes | None = None
) -> ReconciliationPlace:
    """Change a place that was added; what was decided with it stays.

    Args:
        said: See `add_place`; what is empty is taken away. A list has no ``url``.
        uploaded: The new content of a list; None for the old one.

    Raises:
        PlaceNotFound: There is none of that name that was added.
        PlaceRefused: What was said is invalid; nothing is changed.
    """
    files = added_files(silo_path)
    with Locks.of_silo(silo_path).hold_name("reconciliation-places"):
        old = _added_table(files, name)
        if "list" in old and said.get("url"):
            why = f"{name} is a list, without an address; add the service under another name"
            raise PlaceRefused("part", why)
        if "url" in old and (not said.get("url") or uploaded is not None):
            why = f"{name} is a service, and needs its address; add a list under another name"
            raise PlaceRefused("url", why)
        kept = {key: value for key, value in old.items() if key not in _SAID}
        table = kept | {key: value for key, value in said.items() if value}
        place = _place(name, table)
        if uploaded is not None:
            _check_list(uploaded)
            _keep_list(place.list_path(silo_path), uploaded)
        files.store(name, table)
    return place


def _added_table(files: TomlFiles, name: str) -> dict[str, Any]:
    own = files.names()
    if name not in own:
        raise PlaceNotFound(name, ", ".join(own))
    try:
        return files.load(name)
    except (OSError, ValueError):
        raise PlaceRefused("url", f"the file of {name} cannot be read; remove it") from None


def _table(name: str, said: Mapping[str, Any], uploaded: bytes | None) -> dict[str, Any]:
    if not NAME.fullmatch(name):
        raise PlaceRefused("name", "use small letters, digits, - and _ for the name")
    table = {key: value for key, value in said.items() if value}
    if ("url" in table) == (uploaded is not None):
        raise PlaceRefused("url", "give either an address or a list")
    if uploaded is not None:
        _check_list(uploaded)
        table["list"] = f"{name}.csv"
    return table


def _place(name: str, table: Mapping[str, Any]) -> ReconciliationPlace:
    try:
        return place_of(name, table)
    except PlacesUnreadable as error:
        raise PlaceRefused("url", error.reason) from None


def _check_list(content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise PlaceRefused("part", f"the list is larger than {MOST_BYTES >> 20} MiB")
    try:
        names_from("", content)
    except ListUnusable as error:
        raise PlaceRefused("part", f"the list cannot be used: {error.reason}") from None


def _keep_list(path: str, content: bytes) -> None:
    make_parents(path)
    replace_file(path, content)


def remove_place(silo_path: str, name: str) -> None:
    """Remove a place that was added, with its list; decisions and identifiers stay.

    Raises:
        PlaceNotFound: There is none of that name that was added.
    """
    files = added_files(silo_path)
    with Locks.of_silo(silo_path).hold_name("reconciliation-places"):
        own = files.names()
        if name not in own:
            raise PlaceNotFound(name, ", ".join(own))
        try:
            uploaded = files.load(name).get("list") == f"{name}.csv"
        except (OSError, ValueError):
            uploaded = False
        if uploaded:
            path = ReconciliationPlace(name, name, list=f"{name}.csv").list_path(silo_path)
            if os.path.lexists(path):
                remove_file(path)
        files.remove(name)


def probe(
    place: ReconciliationPlace, silo_path: str, settings: HttpSettings = _TEST
) -> PlaceDescription:
    """Ask a service for its manifest, or read a list.

    Raises:
        PlaceUnusable, ListUnusable: It cannot be asked, and why.

    Cost: one request, of at most 8 s; of a list, reading it.
    """
    if place.list:
        return PlaceDescription(place.title, entities=len(read_list(place.list_path(silo_path))))
    from silocuration.reconciling.http_service import Service  # noqa: PLC0415  # 100 ms of HTTP

    with Service(place, settings) as service:
        told = service.manifest
    return PlaceDescription(told.name, _names(told.types), told.identifier_space)


def _names(types: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(re.sub(r"\s+", " ", name or key)[:80] for key, name in types[:20])
