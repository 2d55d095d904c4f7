"""Which addresses are public (pure).

A link in a record, or a redirect, to ``http://169.254.169.254/`` would make this machine request
something that only it can reach. `politeweb.connections` checks each address before it connects.
"""

import ipaddress

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
_NEVER_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "192.0.0.0/24",  # protocol assignments: RFC 6890; clouds give credentials at 192.0.0.192
        "192.88.99.0/24",  # relays of 6to4, deprecated: RFC 7526
        "::/96",  # IPv4-compatible: RFC 4291, section 2.5.5.1
        "::ffff:0:0:0/96",  # IPv4-translated: RFC 2765, section 2.1
        "64:ff9b:1::/48",  # local-use NAT64: RFC 8215
        "fec0::/10",  # site-local: RFC 3879
        "100:0:0:1::/64",  # for no traffic at all: RFC 9780
        "3fff::/20",  # documentation: RFC 9637
        "5f00::/16",  # identifiers of segments: RFC 9602
    )
)


def is_public(address: str) -> bool:
    """Whether an IP address is public; an IPv4 address embedded in IPv6 must be public too.

    Deprecated and network-local forms (IPv4-compatible, IPv4-translated, site-local, local-use
    NAT64) and networks for special purposes, which older versions of Python take for public, are
    never public.
    """
    try:
        found: _Address = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_public(one) for one in (found, *_embedded(found)))


def _is_public(address: _Address) -> bool:
    if any(address in network for network in _NEVER_PUBLIC):
        return False
    return address.is_global and not address.is_multicast


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
