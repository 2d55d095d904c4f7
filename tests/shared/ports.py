"""Free ports on loopback, for servers that are told theirs."""

import secrets
import socket
from contextlib import suppress


def free_port() -> int:
    """A free port below those that Linux gives to connections, so none takes it meanwhile."""
    while True:
        with socket.socket() as found, suppress(OSError):
            found.bind(("127.0.0.1", 20_000 + secrets.randbelow(12_000)))
            return int(found.getsockname()[1])
