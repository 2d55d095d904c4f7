"""Why a server cannot listen at an address, as a sentence; and what cheroot logs of its work."""

import errno
import logging
import socket
import sys
import time

_WITHOUT_FILES = (errno.EMFILE, errno.ENFILE)
_PAUSE = 0.1  # seconds before the next attempt to accept a connection
_SILENT_FOR = 60.0  # seconds between two messages that no more files may be open


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


class ServerLog:
    """What a server of cheroot tells of its work, in a log of ours; for its `error_log`."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._told = float("-inf")

    def note(self, message: str, level: int, traceback: bool) -> None:
        """Log a message, with the exception that is being handled if `traceback`.

        If the process may open no more files, cheroot tries to accept the waiting connection
        without a pause, and tells each failure. That is told once a minute here, in a sentence,
        and the next attempt waits a little.
        """
        problem = sys.exception()
        if not (isinstance(problem, OSError) and problem.errno in _WITHOUT_FILES):
            self._log.log(level, "%s", message, exc_info=traceback)
            return
        if time.monotonic() - self._told > _SILENT_FOR:
            self._told = time.monotonic()
            self._log.warning(
                "no more connections can be accepted (%s); new ones wait until others end, "
                "`ulimit -n` sets the limit",
                problem.strerror,
            )
        time.sleep(_PAUSE)
