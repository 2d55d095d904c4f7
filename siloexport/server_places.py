"""The servers that the operator of a Silo lets the page export to, chosen by their names.

They are in ``curation/sword.toml``, ``curation/invenio.toml`` and ``curation/fedora.toml``:

    [theses]
    url = "https://repository.example.org/swordv2/servicedocument"
    credentials = "/etc/silo/repository.login"

Source: docs/export-deposits.md; docs/page-exports.md.
"""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recordsilo.disk.toml_files import settings_toml
from recordsilo.disk.toml_tables import SettingWrong, checked
from silowork.errors import JobRefused
from silowork.forms import Choices

_USUAL = ("url", "credentials")


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
        kind: Name of the kind of target, and of the file.
        options: Names of the values that a place may have, beside its address and secret.

    Raises:
        JobRefused: The file cannot be read or is invalid.
    """
    file = f"curation/{kind}.toml"
    tables = settings_toml(os.path.join(silo_path, *file.split("/")), JobRefused, shown=file)
    known = (*_USUAL, *options)
    return {name: _place(silo_path, file, name, table, known) for name, table in tables.items()}


@dataclass(frozen=True, slots=True)
class DepositServers:
    """The places of one kind of deposit, for its target.

    Attributes:
        kind: See `server_places`.
        options: See `server_places`.
    """

    kind: str
    options: tuple[str, ...]

    def named(self, silo_path: str, name: str) -> ServerPlace:
        """Return a place.

        Raises:
            JobRefused: There is no such place, or the file is invalid.
        """
        places = server_places(silo_path, self.kind, self.options)
        if name not in places:
            known = ", ".join(places) or "none"
            raise JobRefused(f"curation/{self.kind}.toml has no place {name!r}; there are {known}")
        return places[name]

    def choices(self, silo_path: str) -> Choices:
        """Return the places as choices of a form."""
        places = server_places(silo_path, self.kind, self.options).values()
        return tuple((one.name, f"{one.name} ({one.url})") for one in places)

    def check(self, silo_path: str, values: Mapping[str, Any]) -> None:
        """Check that the place exists which the values of a form name, if they name one.

        Raises:
            JobRefused: See `named`.
        """
        if "place" in values:
            self.named(silo_path, values["place"])

    def chosen(self, silo_path: str, given: Mapping[str, Any]) -> ServerPlace:
        """Return where to deposit: a place by its name, or what the options say.

        Raises:
            JobRefused: See `named`.
        """
        if "place" in given:
            found = self.named(silo_path, given["place"])
            chosen = {name: given[name] for name in self.options if given.get(name)}
            return replace(found, options={**found.options, **chosen})
        own = {name: given.get(name) or "" for name in self.options}
        return ServerPlace("", given["url"], given.get("credentials") or None, own)


def _place(silo_path: str, file: str, name: str, table: Any, known: Collection[str]) -> ServerPlace:
    try:
        table = checked(table, dict.fromkeys(known, str))
    except SettingWrong as error:
        raise JobRefused(f"{file}: [{name}] {error}") from None
    url = table.get("url", "")
    if not url.lower().startswith(("http://", "https://")):
        raise JobRefused(f"the url of {name} in {file} must begin with http:// or https://")
    credentials = table.get("credentials")
    if credentials is not None:
        credentials = os.path.expanduser(credentials)
        if not os.path.isabs(credentials):
            raise JobRefused(f"the credentials of {name} in {file} must be an absolute path")
        inside = f"{os.path.realpath(silo_path)}/"
        if f"{os.path.realpath(credentials)}/".startswith(inside):
            raise JobRefused(f"the credentials of {name} are inside the Silo, which may be copied; "
                             "put them elsewhere")  # fmt: skip
    options = {key: value for key, value in table.items() if key not in _USUAL}
    return ServerPlace(name, url, credentials, options)
