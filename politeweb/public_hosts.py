"""Which addresses are public (pure).

A link in a record, or a redirect, to ``http://169.254.169.254/`` would make this machine request
something that only it can reach. `politeweb.connections` checks each address before it connects.
"""

import ipaddress

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


def is_public_peer(_host: str, _port: int, address: str) -> bool:
    """Whether a host of this address may be connected to, where only public ones may."""
    return is_public(address)
