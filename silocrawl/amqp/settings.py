"""Which broker a Silo's queues are bridged to, and by what names: ``crawling/amqp.toml``.

A password is never an argument of a command, which other users of the machine can read: it is in
the environment, in the user's netrc, or in the file, if only its owner may read that.
"""

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from requests.utils import get_netrc_auth

from recordsilo.disk.toml_files import settings_toml
from recordsilo.disk.toml_tables import SettingWrong, check_names
from silocrawl.errors import CrawlingError
from silocrawl.messages import CATALOGUE, CRAWL, INDEX
from silocrawl.paths import amqp_file

URL = "AMQP_URL"
"""The variable of the environment that has the address of a broker, with its password."""
PORTS = {"amqp": 5672, "amqps": 5671}
EXCHANGE = "umbra"
THEIRS = {CRAWL: "requests", INDEX: INDEX, CATALOGUE: CATALOGUE}
"""Queue of a Silo → its name at a broker, as Heritrix calls that from which it takes addresses."""
_NAME = re.compile(r"(?!amq\.)[^\x00-\x1f\x7f]{1,127}")
_KEYS = ("url", "exchange", "certificate", "declare", "queues")


class AmqpRefused(CrawlingError, ValueError):
    """A broker that cannot be used as it is wished."""


@dataclass(frozen=True, slots=True)
class AmqpBroker:
    """A RabbitMQ.

    Attributes:
        vhost: The virtual host; ``/`` is that which every RabbitMQ has.
        certificate: Path of the certificate that signs the broker's; empty: the system's do.
    """

    host: str
    port: int
    vhost: str
    user: str
    password: str = field(repr=False)
    is_tls: bool = False
    certificate: str = ""

    @property
    def shown(self) -> str:
        """Its address, without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        name = "" if self.vhost == "/" else f"/{quote(self.vhost, safe='')}"
        return f"{'amqps' if self.is_tls else 'amqp'}://{host}:{self.port}{name}"


@dataclass(frozen=True, slots=True)
class AmqpSettings:
    """What is bridged.

    Attributes:
        exchange: A direct one; the routing key of a message is the name of its queue there.
        out: Name of a queue of the Silo → of that to which its messages go.
        into: Name of a queue of the Silo → of that from which they come.
        declares: Whether what is missing at the broker is declared there.
    """

    broker: AmqpBroker
    exchange: str = EXCHANGE
    out: Mapping[str, str] = field(default_factory=lambda: {CRAWL: THEIRS[CRAWL]})
    into: Mapping[str, str] = field(
        default_factory=lambda: {one: THEIRS[one] for one in (INDEX, CATALOGUE)}
    )
    declares: bool = True

    def only(self, direction: str) -> "AmqpSettings":
        """The same for one direction, ``out`` or ``in``; for both if it is empty.

        Raises:
            AmqpRefused: Nothing is left.
        """
        out = {} if direction == "in" else self.out
        into = {} if direction == "out" else self.into
        if not (out or into):
            raise AmqpRefused("no queue is bridged; see [queues] of crawling/amqp.toml")
        return AmqpSettings(self.broker, self.exchange, out, into, self.declares)


def has_amqp(silo_path: str) -> bool:
    """Whether a Silo has settings of a bridge."""
    return os.path.exists(amqp_file(silo_path))


def amqp_settings(
    silo_path: str, url: str = "", environment: Mapping[str, str] = os.environ
) -> AmqpSettings:
    """Read the settings of a Silo, all of which have defaults but the address.

    Args:
        url: The address of the broker, without a password; empty: the environment or the file.
        environment: The variables of the process.

    Raises:
        AmqpRefused: They are invalid, or there is no address or no password.
    """
    table, path = _table_of(silo_path), amqp_file(silo_path)
    if _has_password(url):
        raise AmqpRefused(
            "other users can read the password in a command; put the whole address into the"
            f" variable {URL}, or the password into your netrc"
        )
    address = url or environment.get(URL, "") or str(table.get("url", ""))
    if not address:
        raise AmqpRefused(f"no broker is known; give --amqp, set {URL}, or write url into {path}")
    queues = table.get("queues", THEIRS)
    if not isinstance(queues, dict) or (unknown := sorted(set(queues) - set(THEIRS))):
        named = f"{unknown[0]!r}" if isinstance(queues, dict) else "queues"
        raise AmqpRefused(
            f"{path}: {named} is not a queue of a bridge; these are: {', '.join(THEIRS)}"
        )
    names = [table.get("exchange", EXCHANGE), *queues.values()]
    if bad := [one for one in names if not (isinstance(one, str) and _NAME.fullmatch(one))]:
        raise AmqpRefused(f"{path}: {bad[0]!r} cannot be the name of an exchange or a queue")
    return AmqpSettings(
        broker_of_url(address, str(table.get("certificate", ""))),
        names[0],
        {one: name for one, name in queues.items() if one == CRAWL},
        {one: name for one, name in queues.items() if one != CRAWL},
        table.get("declare", True) is True,
    )


def _table_of(silo_path: str) -> dict[str, Any]:
    path = amqp_file(silo_path)
    table = settings_toml(path, AmqpRefused, follow=False)
    try:
        check_names(table, _KEYS)
    except SettingWrong as error:
        raise AmqpRefused(f"{path}: {error}") from None
    if _has_password(str(table.get("url", ""))) and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise AmqpRefused(f"other users may read the password in {path}; run chmod 600 {path}")
    return table


def broker_of_url(url: str, certificate: str = "") -> AmqpBroker:
    """Read an address such as ``amqps://silo@mq.example.org/crawl``.

    Without a port, the usual one is meant, without a virtual host ``/``, and without a user the
    guest whom a RabbitMQ admits from its own machine.

    Raises:
        AmqpRefused: It is invalid, or nothing gives the password of its user.
    """
    form = "an address is like amqp://USER@HOST:5672/VHOST"
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS[parts.scheme]
        host, name = parts.hostname or "", unquote(parts.path[1:], errors="strict")
        user = unquote(parts.username or "", errors="strict")
        password = None if parts.password is None else unquote(parts.password, errors="strict")
    except (KeyError, ValueError):
        raise AmqpRefused(form) from None
    if not host or parts.query or parts.fragment or "/" in parts.path[1:]:
        raise AmqpRefused(f"{form}, and nothing more; a / in a virtual host is written %2F")
    known = get_netrc_auth(f"https://{parts.netloc.rpartition('@')[2]}") if password is None else ()
    if known and user in {"", known[0]}:
        user, password = known
    if password is None and user in {"", "guest"}:
        user = password = "guest"  # noqa: S105 (that of every RabbitMQ, for its own machine)
    if password is None:
        raise AmqpRefused(
            f"there is no password of {user} at {host}: set {URL} to the whole address, or write"
            f" a line into your netrc: machine {host} login {user} password …"
        )
    is_tls = parts.scheme == "amqps"
    return AmqpBroker(host, port, name or "/", user, password, is_tls, certificate)


def _has_password(url: str) -> bool:
    return ":" in url.rpartition("@")[0].partition("//")[2]
