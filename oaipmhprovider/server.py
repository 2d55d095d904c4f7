"""Run a data provider on a loopback port, for demonstrations, tests and benchmarks."""

import logging
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

from cheroot import wsgi

from oaipmhprotocol import Granularity
from oaipmhprovider.provider import DEFAULT_SETTINGS, Settings
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.sample.site import ChangingSample, SampleSite
from oaipmhprovider.source import RecordSource
from oaipmhprovider.wsgi import Clock, ProviderApp, utc_now

LOOPBACK = "127.0.0.1"
PATH = "/cgi/oai2"
_THREADS = 4
_SECONDS_TO_STOP = 5
_LARGEST_REQUEST = 128 * 1024

_log = logging.getLogger(__name__)


class _QuietServer(wsgi.Server):
    """Cheroot, with its messages sent to this module's logger instead of stderr."""

    expiration_interval = 0.1  # seconds; stopping takes as long

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        _log.log(level, "%s", msg, exc_info=traceback)

    @staticmethod
    def bind_socket(socket_: socket.socket, bind_addr: tuple[str, int]) -> socket.socket:
        """Bind, or close the socket; Cheroot 11.1.2 leaves it open if the port is in use."""
        try:
            socket_.bind(bind_addr)
        except OSError:
            socket_.close()
            raise
        return socket_


class ProviderServer:
    """Serves a source on 127.0.0.1 in its own threads, from construction to `close`.

    Usable as a context manager. Connections are kept alive.

    Args:
        source: The records.
        port: 0 chooses a free port.
        settings: Its ``base_url``, if not given, is set to the server's address.
        clock: Returns the current time for responses.
        front: Makes the application to serve from the provider's; by default, that one.

    Raises:
        OSError: The port is in use.

    Attributes:
        base_url: The address for harvesters.
        source: As given.
    """

    def __init__(
        self,
        source: RecordSource,
        port: int = 0,
        *,
        settings: Settings = DEFAULT_SETTINGS,
        clock: Clock = utc_now,
        front: Callable[[ProviderApp], Any] = lambda app: app,
    ) -> None:
        self.source = source
        app = ProviderApp(source, settings, path=PATH, clock=clock)
        self._server: Any = _QuietServer((LOOPBACK, port), front(app), numthreads=_THREADS)
        self._server.shutdown_timeout = _SECONDS_TO_STOP
        self._server.max_request_header_size = _LARGEST_REQUEST
        self._server.max_request_body_size = _LARGEST_REQUEST
        self._server.prepare()
        self.port: int = self._server.bind_addr[1]
        self.base_url = settings.base_url or f"http://{LOOPBACK}:{self.port}{PATH}"
        app.settings = replace(app.settings, base_url=self.base_url)
        self._thread = threading.Thread(target=self._server.serve, name=self.base_url, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving and free the port; responses under way are finished first."""
        self._server.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class SampleServer(ProviderServer):
    """`ProviderServer` with the sample repository (see `oaipmhprovider.sample`).

    Its page, which can change records, is at `page_url`.

    Args:
        port: 0 chooses a free port.
        size: The number of records.
        granularity: Of the datestamps.
        settings: See `ProviderServer`.
        clock: See `ProviderServer`.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        size: int = 3200,
        granularity: Granularity = Granularity.SECOND,
        settings: Settings = DEFAULT_SETTINGS,
        clock: Clock = utc_now,
    ) -> None:
        source = ChangingSample(sample_repository(size, granularity=granularity))
        super().__init__(
            source,
            port,
            settings=settings,
            clock=clock,
            front=lambda app: SampleSite(app, source, clock),
        )

    @property
    def page_url(self) -> str:
        """The address of the repository's page."""
        return f"http://{LOOPBACK}:{self.port}/"
