"""Why a server cannot listen at an address, as a sentence."""

import errno
import socket


class CannotListen(OSError):
    """The address is not this machine's, or the port is not permitted."""


class PortTaken(CannotListen):
    """Another program listens there."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        super().__init__(f"port {port} of {host} is taken by another program; name another --port")


def probe(host: str, port: int) -> None:
    """Test the address first, because cheroot reports every reason with one text.

    Raises:
        PortTaken: Another program listens there.
        CannotListen: The address is not this machine's, or the port is not permitted.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(host, port) from None
        reason = error.strerror or str(error)
        raise CannotListen(f"cannot listen on {host}, port {port}: {reason}") from None
