"""The Fedora servers that the page can export to: ``curation/fedora.toml``.

The operator of the Silo lists them; the users of the page choose one by its name. So no address
or password comes from a form, and a password is sent only to its own address.

    [eprints]
    url = "https://fedora.example.org/rest/eprints"
    credentials = "/etc/silo/eprints.login"

Source: docs/page.md, "Exports".
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from silowork.errors import JobRefused

PLACES = "curation/fedora.toml"
_KNOWN = frozenset({"url", "credentials", "crosswalk"})


@dataclass(frozen=True, slots=True)
class FedoraPlace:
    """A container in a Fedora.

    Attributes:
        url: The container's address.
        credentials: A file whose first line is ``user:password``; None for the environment
            or the netrc of the worker.
        crosswalk: File of a mapping; None for Dublin Core terms.
    """

    name: str
    url: str
    credentials: str | None = None
    crosswalk: str | None = None


def fedora_places(silo_path: str) -> Mapping[str, FedoraPlace]:
    """Return the places by name; empty if the file does not exist.

    Raises:
        JobRefused: The file cannot be read or is invalid.
    """
    path = os.path.join(silo_path, *PLACES.split("/"))
    try:
        with open(path, "rb") as file:
            tables = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise JobRefused(f"{PLACES} cannot be read: {error}") from None
    return {name: _place(silo_path, name, table) for name, table in tables.items()}


def fedora_place(silo_path: str, name: str) -> FedoraPlace:
    """Return a place by its name.

    Raises:
        JobRefused: There is no such place, or the file is invalid.
    """
    places = fedora_places(silo_path)
    if name not in places:
        known = ", ".join(places) or "none"
        raise JobRefused(f"{PLACES} does not have the place {name!r}; it has {known}")
    return places[name]


def _place(silo_path: str, name: str, table: Any) -> FedoraPlace:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise JobRefused(f"{PLACES} has no table of strings under {name!r}")
    if unknown := sorted(set(table) - _KNOWN):
        raise JobRefused(f"{PLACES} has the unknown key {unknown[0]!r} under {name}; the keys are "
                         "url, credentials and crosswalk")  # fmt: skip
    url = table.get("url", "")
    if not url.lower().startswith(("http://", "https://")):
        raise JobRefused(f"the url of {name} in {PLACES} must begin with http:// or https://")
    files = {key: _file(silo_path, name, table, key) for key in ("credentials", "crosswalk")}
    if (login := files["credentials"]) and _is_within(login, silo_path):
        raise JobRefused(f"the credentials of {name} are inside the Silo, which may be copied; "
                         "put them elsewhere")  # fmt: skip
    return FedoraPlace(name, url, **files)


def _file(silo_path: str, name: str, table: Mapping[str, str], key: str) -> str | None:
    """Return the path of a file; that of a crosswalk may be relative to ``curation/``."""
    if key not in table:
        return None
    path = os.path.expanduser(table[key])
    if os.path.isabs(path):
        return path
    if key == "credentials":
        raise JobRefused(f"the credentials of {name} in {PLACES} must be an absolute path")
    return os.path.join(silo_path, "curation", path)


def _is_within(path: str, directory: str) -> bool:
    return f"{os.path.realpath(path)}/".startswith(f"{os.path.realpath(directory)}/")
