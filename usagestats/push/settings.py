"""The table ``[push]`` of ``usage.toml``."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from recordsilo.disk.toml_tables import check_names
from usagestats.errors import SettingsInvalid
from usagestats.store.paths import settings_path
from usagestats.store.tables import naming, read_tables


class Profile(StrEnum):
    """Which OpenURL is sent."""

    PIRUS2 = "pirus2"
    IRUS = "irus"


class ClientAddress(StrEnum):
    """How the client's address is sent."""

    RAW = "raw"
    TRUNCATED = "truncated"
    TOKEN = "token"  # noqa: S105  # not a secret


OFF = "off"
"""The profile that sends nothing."""
GATHERERS = {Profile.IRUS: "https://irus.jisc.ac.uk/counter/"}


@dataclass(frozen=True, slots=True)
class PushSettings:
    """What is sent to whom.

    Attributes:
        gatherer: Address that takes one request for each use.
        site: Address of the repository, such as ``https://eprints.example.org``; for logs
            that do not name the host.
        version: Which version of an article is served (pirus2).
        pause: Least seconds between two requests.
    """

    profile: Profile
    gatherer: str
    site: str
    client: ClientAddress = ClientAddress.TOKEN
    version: str = "Accepted version"
    pause: float = 0.3

    @property
    def consent(self) -> str:
        """A text that changes when something else is sent, or to another gatherer."""
        return f"{self.profile} {self.client} {self.gatherer}"

    @property
    def host(self) -> str:
        """The gatherer's host."""
        return urlsplit(self.gatherer).netloc.rpartition("@")[2]


def push_settings(silo_path: str) -> PushSettings | None:
    """Read the settings of a Silo; None if it pushes nothing.

    Raises:
        SettingsInvalid: The table is invalid; the message says where.
    """
    table = read_tables(silo_path).get("push")
    if table is None:
        return None
    try:
        with naming("[push]"):
            return settings_from(table)
    except ValueError as error:
        raise SettingsInvalid(settings_path(silo_path), str(error)) from error


def settings_from(table: Any) -> PushSettings | None:
    """Make settings from the table.

    Raises:
        ValueError: A value is invalid.
    """
    check_names(table, [one.name for one in fields(PushSettings)])
    if table.get("profile") == OFF:
        return None
    profile = _one_of(Profile, table.get("profile"), "profile", OFF)
    pause = table.get("pause", 0.3)
    if not isinstance(pause, int | float) or isinstance(pause, bool) or not 0 <= pause <= 3600:
        raise ValueError("pause is a number of seconds")
    found = PushSettings(
        profile,
        _address(table.get("gatherer", GATHERERS.get(profile)), "gatherer"),
        _address(table.get("site"), "site").rstrip("/"),
        _one_of(ClientAddress, table.get("client", "token"), "client"),
        table.get("version", "Accepted version"),
        float(pause),
    )
    if not isinstance(found.version, str):
        raise ValueError("version is a text")  # noqa: TRY004  # of a file
    return found


def _address(value: object, name: str) -> str:
    if isinstance(value, str):
        try:
            parts = urlsplit(value)
            if parts.scheme in {"http", "https"} and parts.hostname and not parts.query:
                return value
        except ValueError:
            pass
    raise ValueError(f'{name} is an address: {name} = "https://host/path"')


def _one_of(kind: Any, value: object, name: str, *more: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        *names, last = (f'"{one}"' for one in (*kind, *more))
        raise ValueError(f"{name} is {', '.join(names)} or {last}") from None
