"""Small databases of addresses in MaxMind's format, for tests.

Source: MaxMind DB File Format Specification, version 2.0.
"""

import ipaddress
from collections.abc import Mapping
from typing import Any

_BITS = 24
_MARKER = b"\xab\xcd\xefMaxMind.com"
_UINT16, _UINT32, _UINT64, _ARRAY = (5, 2), (6, 4), (9, 8), (11, 0)


def mmdb(networks: Mapping[str, Any], version: int = 6) -> bytes:
    """Return a database.

    Args:
        networks: Such as ``192.0.2.0/24`` → what is known of it: texts and mappings.
        version: 4, or 6: then networks of IPv4 are in ``::/96``.
    """
    nodes: list[list[int | None]] = [[None, None]]
    data, places = b"", {}
    for text, known in networks.items():
        places[text], data = len(data), data + _encoded(known)
        network = ipaddress.ip_network(text)
        number = f"{int(network.network_address):0{network.max_prefixlen}b}"
        bits = "0" * (96 if network.version < version else 0) + number[: network.prefixlen]
        at = 0
        for bit in map(int, bits[:-1]):
            if nodes[at][bit] is None:
                nodes.append([None, None])
                nodes[at][bit] = len(nodes) - 1
            at = nodes[at][bit] or 0
        nodes[at][int(bits[-1])] = -1 - places[text]
    count = len(nodes)

    def record(value: int | None) -> bytes:
        place = count if value is None else value if value >= 0 else count + 16 - 1 - value
        return place.to_bytes(_BITS // 8, "big")

    tree = b"".join(record(value) for node in nodes for value in node)
    about = {
        "binary_format_major_version": (_UINT16, 2),
        "binary_format_minor_version": (_UINT16, 0),
        "build_epoch": (_UINT64, 1_790_000_000),
        "database_type": "Made-up",
        "description": {},
        "ip_version": (_UINT16, version),
        "languages": (_ARRAY, 0),
        "node_count": (_UINT32, count),
        "record_size": (_UINT16, _BITS),
    }
    return tree + bytes(16) + data + _MARKER + _encoded(about)


def _encoded(value: Any) -> bytes:
    if isinstance(value, str):
        content = value.encode()
        assert len(content) < 29
        return bytes([2 << 5 | len(content)]) + content
    if isinstance(value, tuple):
        (kind, size), number = value
        head = [kind << 5 | size] if kind < 8 else [size, kind - 7]
        return bytes(head) + number.to_bytes(size, "big")
    parts = (part for pair in value.items() for part in pair)
    return bytes([7 << 5 | len(value)]) + b"".join(map(_encoded, parts))
