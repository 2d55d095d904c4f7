"""The servers of deposits that the page can export to, chosen by their names.

The operator of the Silo defines them in ``curation/sword.toml`` and ``curation/invenio.toml``:

    [theses]
    url = "https://repository.example.org/swordv2/servicedocument"
    credentials = "/etc/silo/repository.login"

Source: docs/export-deposits.md.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from recordsilo.disk.toml_files import load_toml
from siloexport.fedora_places import is_within
from silowork.errors import JobRefused
from silowork.forms import Choices

_USUAL = frozenset({"url", "credentials"})


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """A server, and how to deposit there.

    Attributes:
        url: Its address.
        credentials: Path of a file that holds the secret; None for the environment of the worker.
        options: Further values, by the names of the options of the command.
    """

    name: str
    url: str
    credentials: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


def server_places(silo_path: str, kind: str, options: Collection[str]) -> dict[str, ServerPlace]:
    """Return the places of a kind by name; empty if its file does not exist.

    Args:
        silo_path: The Silo's directory.
        kind: Name of the kind of target, and of the file.
        options: Names of the values that a place may have, beside its address and secret.

    Raises:
        JobRefused: The file cannot be read or is invalid.
    """
    file = f"curation/{kind}.toml"
    try:
        tables = load_toml(os.path.join(silo_path, *file.split("/")))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise JobRefused(f"{file} cannot be read: {error}") from None
    known = _USUAL | set(options)
    return {name: _place(silo_path, file, name, table, known) for name, table in tables.items()}


def server_place(silo_path: str, kind: str, name: str, options: Collection[str]) -> ServerPlace:
    """Return a place by its name.

    Args:
        silo_path, kind, options: See `server_places`.
        name: Of the place.

    Raises:
        JobRefused: There is no such place, or the file is invalid.
    """
    places = server_places(silo_path, kind, options)
    if name not in places:
        known = ", ".join(places) or "none"
        raise JobRefused(f"curation/{kind}.toml has no place {name!r}; there are {known}")
    return places[name]


def place_choices(silo_path: str, kind: str, options: Collection[str]) -> Choices:
    """Return the places as choices of a form."""
    places = server_places(silo_path, kind, options).values()
    return tuple((one.name, f"{one.name} ({one.url})") for one in places)


def _place(silo_path: str, file: str, name: str, table: Any, known: Collection[str]) -> ServerPlace:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise JobRefused(f"{file} has no table of strings under {name!r}")
    if unknown := sorted(set(table) - set(known)):
        keys = ", ".join(sorted(known))
        raise JobRefused(f"{file} has the unknown key {unknown[0]!r} under {name}; keys are {keys}")
    url = table.get("url", "")
    if not url.lower().startswith(("http://", "https://")):
        raise JobRefused(f"the url of {name} in {file} must begin with http:// or https://")
    credentials = table.get("credentials")
    if credentials is not None:
        credentials = os.path.expanduser(credentials)
        if not os.path.isabs(credentials):
            raise JobRefused(f"the credentials of {name} in {file} must be an absolute path")
        if is_within(credentials, silo_path):
            raise JobRefused(f"the credentials of {name} are inside the Silo, which may be copied; "
                             "put them elsewhere")  # fmt: skip
    options = {key: value for key, value in table.items() if key not in _USUAL}
    return ServerPlace(name, url, credentials, options)
