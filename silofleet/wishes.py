"""What is wished of a fleet: ``fleet/endpoints.toml``, which people may edit and keep in git.

Commands append endpoints as text and rewrite only the tables of those that they change, so
comments and the order of the file stay.
"""

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import Any

import tomli_w

from filestores.schemes import check_address
from oaipmhclient.transport.http_rules import BaseURL
from oaipmhclient.walk.windows import read_length
from politeweb.addresses import is_loopback
from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings
from recordsilo.disk.atomic_file import make_parents, remove_left_over, replace_file
from recordsilo.disk.names import check_version_name
from recordsilo.disk.toml_tables import SettingWrong, check_names, checked
from recordsilo.errors import VersionNameError
from recordsilo.granary import fault_of_silo_name
from silofleet.errors import FleetRefused, WishesInvalid
from silofleet.values import Endpoint, Policy
from silowork.due.hours import hours_of, hours_text
from silowork.due.timetable import duration_of, duration_text
from silowork.errors import JobRefused
from silowork.notices import SETTINGS, check_settings

_TABLES = ("endpoint", "defaults", "policy", "hosts", "nodes", "notices")
_LONGEST_ADDRESS = 2_000
_LONGEST_INTERVAL = 86_400.0
_MOST = {"jitter": 0.5, "fewer": 1.0, "interval": _LONGEST_INTERVAL}
"""The most that these may be in [policy]."""
_BLOCK = re.compile(
    r"(^\n)?^[ \t]*\[\[[ \t]*endpoint[ \t]*\]\][^\n]*(?:\n|\Z)"
    r"(?:(?:[ \t]*(?:#[^\n]*)?\n)*(?![ \t]*(?:\[|#|\n|\Z))[^\n]*(?:\n|\Z))*",
    re.MULTILINE,
)
"""A table, without the comments and blank lines after it, which may be about the next."""
_START = """\
# The repositories of this fleet; see silo help fleet. Commands change only what they are about.

[defaults]
every = "1d"

[policy]
interval = 1.0    # least seconds between two requests to a host
"""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The content of the file.

    Attributes:
        endpoints: By name, in the order of the file.
        defaults: What holds for endpoints that say nothing else: fields of `Endpoint`.
        policy: The rules of the schedule.
        hosts: Host → least seconds between two requests.
        nodes: Node → its settings, such as ``search``, the address of its page.
        notices: Where to report: ``mail``, ``from``, ``smtp``, ``webhook``, ``silent_after``.
    """

    endpoints: Mapping[str, Endpoint] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    hosts: Mapping[str, float] = field(default_factory=dict)
    nodes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)

    def interval_of(self, host: str) -> float:
        """Least seconds between two requests to a host."""
        is_local = is_loopback(host) or is_loopback(host.rpartition(":")[0])
        return self.hosts.get(host, 0.0 if is_local else self.policy.interval)


def wishes_path(directory: str) -> str:
    """The path of the file in a Granary."""
    return os.path.join(directory, "fleet", "endpoints.toml")


def make_wishes(directory: str) -> None:
    """Create the file with its first tables."""
    path = wishes_path(directory)
    make_parents(path)
    replace_file(path, _START.encode())


def load_wishes(directory: str) -> Wishes:
    """Read the file.

    Raises:
        WishesInvalid: Says what is wrong, and where.
        FileNotFoundError: There is none.
    """
    path = wishes_path(directory)
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (ValueError, RecursionError) as error:
        raise WishesInvalid(f"{path} is not valid TOML: {error}") from None
    try:
        return _read(table)
    except (FleetRefused, JobRefused) as error:
        raise WishesInvalid(f"{path}: {error}") from None


def append_endpoints(
    directory: str, endpoints: Iterable[Endpoint], defaults: Mapping[str, Any]
) -> Wishes:
    """Add endpoints at the end of the file; return its new content.

    Args:
        directory: The Granary.
        endpoints: What is written of them is what differs from the defaults.
        defaults: Those of the file.

    Raises:
        WishesInvalid: The file would not be valid then; it is not changed.
    """
    tables = "".join(f"\n{_text_of(one, defaults)}" for one in endpoints)
    return _rewrite(directory, lambda text: text + ("" if text.endswith("\n") else "\n") + tables)


def change_endpoints(
    directory: str, endpoints: Iterable[Endpoint], defaults: Mapping[str, Any]
) -> Wishes:
    """Replace the tables of the endpoints of these names; see `append_endpoints`."""
    tables = {one.name: _text_of(one, defaults) for one in endpoints}
    return _rewrite(directory, lambda text: _with(text, tables))


def remove_endpoints(directory: str, names: Iterable[str]) -> Wishes:
    """Remove the tables of endpoints; see `append_endpoints`."""
    return _rewrite(directory, lambda text: _with(text, dict.fromkeys(names, "")))


def _rewrite(directory: str, change: Callable[[str], str]) -> Wishes:
    path = wishes_path(directory)
    with open(path, encoding="utf-8") as file:
        text = change(file.read())
    try:
        wishes = _read(tomllib.loads(text))
    except (ValueError, FleetRefused) as error:
        raise WishesInvalid(f"{path} would not be valid: {error}") from None
    replace_file(path, text.encode())
    remove_left_over(path)
    return wishes


def _with(text: str, tables: Mapping[str, str]) -> str:
    """The text with other tables of endpoints: name → table, or nothing."""

    def replaced(found: "re.Match[str]") -> str:
        try:
            (table,) = tomllib.loads(found[0])["endpoint"]
        except ValueError:  # its text has a line that begins with a bracket
            return found[0]
        instead = tables.get(table.get("name"))
        if instead is None:
            return found[0]
        return (found[1] or "") + instead if instead else ""

    def parted(text: str) -> tuple[dict[str, Mapping[str, Any]], list[Mapping[str, Any]]]:
        """The endpoints of these names, and the others."""
        found = tomllib.loads(text).get("endpoint", [])
        named = {one.get("name"): one for one in found if one.get("name") in tables}
        return named, [one for one in found if one.get("name") not in tables]

    changed = _BLOCK.sub(replaced, text)
    wanted, _none = parted("".join(tables.values()))
    if parted(changed) != (wanted, parted(text)[1]):
        raise FleetRefused(
            f"the table [[endpoint]] of {min(tables)} is written in an unusual way; edit the file"
        )
    return changed


# --------------------------------------------------------------------------- as texts


def _text_of(endpoint: Endpoint, defaults: Mapping[str, Any]) -> str:
    """The table of an endpoint as text: what it has other than the defaults of the file."""
    table = table_of(endpoint, defaults)
    return "[[endpoint]]\n" + tomli_w.dumps(table, multiline_strings=False)


def table_of(endpoint: Endpoint, defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The table of an endpoint, as in the file: what it has other than defaults."""
    plain = Endpoint(endpoint.name, endpoint.url, **(defaults or {}))
    table: dict[str, Any] = {"name": endpoint.name, "url": endpoint.url}
    for key, one in _KEYS.items():
        value = getattr(endpoint, one.field)
        if value not in (None, getattr(plain, one.field)):
            table[key] = one.write(value)
    return table


# --------------------------------------------------------------------------- reading


def _read(table: Mapping[str, Any]) -> Wishes:
    with _naming("the file"):
        check_names(table, _TABLES)
    defaults = _endpoint_values(_table(table, "defaults"), "[defaults]")
    if named := defaults.keys() & {"name", "url"}:
        raise FleetRefused(f"[defaults] cannot have {min(named)!r}")
    endpoints: dict[str, Endpoint] = {}
    found = table.get("endpoint", [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise FleetRefused("an endpoint is a table [[endpoint]], in two brackets")
    for number, one in enumerate(found, 1):
        where = f"[[endpoint]] {one.get('name') or number}"
        endpoint = endpoint_of(one, where, defaults)
        if endpoint.name in endpoints:
            raise FleetRefused(f"there are two endpoints of the name {endpoint.name!r}")
        endpoints[endpoint.name] = endpoint
    hosts = {
        host.lower(): _seconds(_table(settings, host), f'[hosts."{host}"]')
        for settings in [_table(table, "hosts")]
        for host in settings
    }
    nodes = {
        check_node(name): _texts(_table(settings, name), f"[nodes.{name}]")
        for settings in [_table(table, "nodes")]
        for name in settings
    }
    notices = _notices(_table(table, "notices"))
    return Wishes(endpoints, _policy(_table(table, "policy")), hosts, nodes, notices, defaults)


def check_node(name: str) -> str:
    """Return the name of a node.

    Raises:
        FleetRefused: It cannot be one.
    """
    try:
        if any(character.isspace() for character in name):
            raise FleetRefused(f"{name!r} cannot name a node: it contains a space")
        return check_version_name(name)
    except VersionNameError as error:
        raise FleetRefused(f"{name!r} cannot name a node: {error.reason}") from None


def _depth(text: str) -> str:
    if text not in {"records", "pages"}:
        raise FleetRefused("depth is records or pages")
    return text


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of the table of an endpoint.

    Attributes:
        field: Of `Endpoint`.
        kind: As `recordsilo.disk.toml_tables.checked` names it.
        read, write: From the value in TOML to that of the field, and back.
    """

    field: str
    kind: type = str
    read: Callable[[Any], Any] = lambda value: value
    write: Callable[[Any], Any] = lambda value: value


_KEYS: Mapping[str, _Key] = {
    "name": _Key("name"),
    "url": _Key("url"),
    "every": _Key("every", read=duration_of, write=duration_text),
    "prefixes": _Key("prefixes", tuple, write=list),
    "sets": _Key("sets", tuple, write=list),
    "depth": _Key("depth", read=_depth),
    "hours": _Key("hours", read=hours_of, write=hours_text),
    "tags": _Key("tags", tuple, write=list),
    "adaptive": _Key("adaptive", bool),
    "window": _Key("window", read=read_length, write=duration_text),
    "spread": _Key("is_spread", bool),
    "giant": _Key("is_giant", bool),
    "paused": _Key("is_paused", bool),
    "node": _Key("node", read=lambda text: check_node(text) if text else ""),
    "warc_store": _Key("warc_store", read=lambda text: check_address(text) if text else ""),
}
_KINDS = {key: one.kind for key, one in _KEYS.items()}


def _endpoint_values(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    with _naming(where):
        given = checked(table, _KINDS)
        return {_KEYS[key].field: _KEYS[key].read(value) for key, value in given.items()}


def endpoint_of(
    table: Mapping[str, Any], where: str, defaults: Mapping[str, Any] | None = None
) -> Endpoint:
    """Read the table of an endpoint.

    Args:
        table: As `table_of` returns it.
        where: Names the table in errors.
        defaults: What holds if the table says nothing else: fields of `Endpoint`.

    Raises:
        FleetRefused: A key or a value is invalid.
    """
    values = {**(defaults or {}), **_endpoint_values(table, where)}
    for key in ("name", "url"):
        if not values.get(key):
            raise FleetRefused(f"{where}: it has no {key}")
    address_of(values["url"])
    if fault := fault_of_silo_name(values["name"]):
        raise FleetRefused(f"{where}: {values['name']!r} cannot name a Silo: {fault}")
    return Endpoint(**values)


def address_of(text: str) -> str:
    """Return the base URL in an address that is given for an endpoint, without a verb.

    Raises:
        FleetRefused: Not a valid address, or it has a password.
    """
    if len(text) > _LONGEST_ADDRESS:
        raise FleetRefused(f"the address is longer than {_LONGEST_ADDRESS:,} characters")
    try:
        address = BaseURL.parse(text)
    except RequestRefused as error:
        raise FleetRefused(str(error)) from None
    if address.auth is not None:
        raise FleetRefused(
            "an address must not contain a user or password, which the fleet's files would have;"
            " put them into ~/.netrc of the workers"
        )
    return address.url


def _policy(table: Mapping[str, Any]) -> Policy:
    with _naming("[policy]"):
        check_names(table, [one.name for one in fields(Policy)])
    policy = Policy()
    for key, value in table.items():
        plain = getattr(policy, key)
        with _naming(f"[policy]: {key}"):
            if isinstance(plain, timedelta):
                is_never = key == "count_every" and value == "never"
                value = timedelta(0) if is_never else duration_of(str(value))  # noqa: PLW2901  # as its kind
            elif isinstance(plain, str):
                if not isinstance(value, str):
                    raise JobRefused(f"{value!r} is not a text")
                HttpSettings(contact=value)  # checks it
            elif isinstance(value, bool) or not isinstance(value, int | float):
                raise JobRefused(f"{value!r} is not a number")
            elif isinstance(plain, int) and not isinstance(value, int):
                raise JobRefused(f"{value!r} is not a whole number")
            elif not 0 <= value <= _MOST.get(key, math.inf):
                most = _MOST.get(key)
                must = f"between 0 and {most:g}" if most else "0 or more"
                raise JobRefused(f"{value!r} is not {must}")
        policy = replace(policy, **{key: value})
    return policy


def _seconds(table: Mapping[str, Any], where: str) -> float:
    with _naming(where):
        value: float = checked(table, {"interval": float}).get("interval", 1.0)
    if not 0 <= value <= _LONGEST_INTERVAL:
        raise FleetRefused(f"{where}: interval is a number of seconds")
    return value


def _texts(table: Mapping[str, Any], where: str) -> dict[str, str]:
    if not all(isinstance(value, str) for value in table.values()):
        raise FleetRefused(f"{where}: its values are texts")
    return dict(table)


def _notices(table: Mapping[str, Any]) -> dict[str, str]:
    with _naming("[notices]"):
        found = checked(table, dict.fromkeys((*SETTINGS, "silent_after"), str))
        check_settings(found)
    if "silent_after" in found:
        with _naming("[notices]: silent_after"):
            duration_of(found["silent_after"])
    return found


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise FleetRefused(f"{key} is a table")
    return found


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Put the name of a table before what is wrong in it."""
    try:
        yield
    except (SettingWrong, JobRefused, FleetRefused, RequestRefused) as error:
        raise FleetRefused(f"{where}: {error}") from None
