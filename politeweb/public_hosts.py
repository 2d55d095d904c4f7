"""Allow connections to public addresses only.

A link in a record, or a redirect, to ``http://169.254.169.254/`` would make this machine request
something that only it can reach. The address of a connection is checked after it is made and before
anything is sent, so that a host name cannot change its address in between. A proxy, if used, is
responsible itself.
"""

import ipaddress
from collections.abc import Callable, Mapping
from typing import Any

import requests
import urllib3
from urllib3.connection import HTTPConnection

from politeweb.connections import BoundedAdapter
from politeweb.errors import FetchError

IsAllowed = Callable[[str, int, str], bool]
"""(host as in the URL, port, address connected to) → whether it is allowed."""
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_NEVER_PUBLIC = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "::/96",  # IPv4-compatible: RFC 4291, section 2.5.5.1
        "::ffff:0:0:0/96",  # IPv4-translated: RFC 2765, section 2.1
        "64:ff9b:1::/48",  # local-use NAT64: RFC 8215
        "fec0::/10",  # site-local: RFC 3879
    )
)


class PrivateAddress(FetchError):
    """A host has an address that is not public.

    Attributes:
        host: As in the URL.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(f"{host} has an address that is not public")


def is_public(address: str) -> bool:
    """Whether an IP address is public; an IPv4 address embedded in IPv6 must be public too.

    Deprecated and network-local forms (IPv4-compatible, IPv4-translated, site-local, local-use
    NAT64) are never public.
    """
    try:
        found: _Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if any(found in network for network in _NEVER_PUBLIC):
        return False
    return all(one.is_global and not one.is_multicast for one in (found, *_embedded(found)))


def _embedded(address: _Address) -> list[ipaddress.IPv4Address]:
    if not isinstance(address, ipaddress.IPv6Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _TRANSLATED:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [one for one in found if one is not None]


class GuardedAdapter(BoundedAdapter):
    """Refuses connections to disallowed addresses before anything is sent.

    Args:
        seconds: See `BoundedAdapter`.
        is_allowed: Called for each connection, with its remote address.
    """

    def __init__(self, seconds: float, is_allowed: IsAllowed) -> None:
        self._is_allowed = is_allowed
        super().__init__(seconds)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """See requests; connections to proxies are not checked."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _guarded_pools(
            self.poolmanager.pool_classes_by_scheme, self._is_allowed
        )


def guarded(session: requests.Session, seconds: float, is_allowed: IsAllowed) -> requests.Session:
    """Restrict a session to allowed addresses; return the session."""
    adapter = GuardedAdapter(seconds, is_allowed)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _guarded_pools(
    pools: Mapping[str, type[urllib3.HTTPConnectionPool]], is_allowed: IsAllowed
) -> dict[str, type[urllib3.HTTPConnectionPool]]:
    return {
        scheme: type(
            f"Guarded{pool.__name__}",
            (pool,),
            {"ConnectionCls": _guarded_connection(pool.ConnectionCls, is_allowed)},
        )
        for scheme, pool in pools.items()
    }


def _guarded_connection(connection: Any, is_allowed: IsAllowed) -> Any:
    def connect(self: HTTPConnection) -> Any:
        sock = connection._new_conn(self)
        if not is_allowed(self.host, self.port, sock.getpeername()[0]):
            sock.close()
            raise PrivateAddress(self.host)
        return sock

    return type(f"Guarded{connection.__name__}", (connection,), {"_new_conn": connect})
