"""Run a data provider on a loopback port, for demonstrations, tests and benchmarks."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from oaipmhprotocol import Granularity
from oaipmhprovider.limits import ClientLimit
from oaipmhprovider.provider import DEFAULT_SETTINGS, Settings
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.sample.pages import WorkPages
from oaipmhprovider.sample.site import ChangingSample, SampleSite
from oaipmhprovider.source import RecordSource
from oaipmhprovider.wsgi import Clock, ProviderApp, utc_now
from politeweb.closing import Closing
from politeweb.loopback import LOOPBACK, LoopbackServer

PATH = "/cgi/oai2"


class ProviderServer(Closing):
    """Serves a source on 127.0.0.1 in its own threads, from construction to `close`.

    Usable as a context manager. Connections are kept alive.

    Args:
        port: 0 chooses a free port.
        path: Of the base URL.
        settings: Its ``base_url``, if not given, is set to the server's address.
        clock: Returns the current time for responses.
        front: Makes the application to serve from the provider's; by default, that one.
        limit: How much a client may ask; see `ProviderApp`.

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
        path: str = PATH,
        settings: Settings = DEFAULT_SETTINGS,
        clock: Clock = utc_now,
        front: Callable[[ProviderApp], Any] = lambda app: app,
        limit: ClientLimit | None = None,
    ) -> None:
        self.source = source
        app = ProviderApp(source, settings, path=path, clock=clock, limit=limit)
        self._server = LoopbackServer(front(app), port)
        self.port = self._server.port
        self.base_url = settings.base_url or f"http://{LOOPBACK}:{self.port}{path}"
        app.settings = replace(app.settings, base_url=self.base_url)
        self._server.start()

    def close(self) -> None:
        """Stop serving and free the port; responses under way are finished first."""
        self._server.close()


class SampleServer(ProviderServer):
    """`ProviderServer` with the sample repository (see `oaipmhprovider.sample`).

    Its page, which can change records, is at `page_url`.

    Args:
        port: 0 chooses a free port.
        size: The number of records.
        granularity: Of the datestamps.
        settings: See `ProviderServer`.
        clock: See `ProviderServer`.
        with_pages: Serve landing pages and documents, to which the links of the records lead.

    Attributes:
        has_pages: As given.
        site_url: The address of the pages, ``http://localhost:PORT``: crawlers and indexes treat
            a name otherwise than the number of a machine.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        size: int = 3200,
        granularity: Granularity = Granularity.SECOND,
        settings: Settings = DEFAULT_SETTINGS,
        clock: Clock = utc_now,
        with_pages: bool = False,
    ) -> None:
        sample = sample_repository(size, granularity=granularity)
        source, pages = ChangingSample(sample), WorkPages(sample.work) if with_pages else None
        super().__init__(
            source,
            port,
            settings=settings,
            clock=clock,
            front=lambda app: SampleSite(app, source, clock, pages),
        )
        self.has_pages = with_pages
        self.site_url = f"http://localhost:{self.port}"
        if with_pages:
            sample.site = self.site_url

    @property
    def page_url(self) -> str:
        """The address of the repository's page."""
        return f"http://{LOOPBACK}:{self.port}/"
