"""The sample repository's own page, with a button that changes five of its records.

A harvester that updates from the sample repository meets nothing new until somebody
presses it. Changes are kept in memory: a restarted sample repository is as it was.
"""

import html
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from oaipmhprovider.sample.mutable_source import MutableSource
from oaipmhprovider.sample.pages import WorkPages
from oaipmhprovider.sample.repository import SampleRepository
from oaipmhprovider.source import Position, RecordSource, Selection
from oaipmhprovider.wsgi import Clock, ProviderApp

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

CHANGES = "/changes"
AT_ONCE = 5
"""Records that one press changes."""

_TITLE = re.compile(rb"(<(?:dc:|article-)title[^>]*>)(.*?)(?=</)", re.DOTALL)
_EDITION = re.compile(rb" \(edition (\d+)\)\Z")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{name}</title>
</head>
<body>
<h1>{name}</h1>
<p>A made-up repository of {count:,} records, to try harvesting with.
Its OAI-PMH base URL is <code>{base_url}</code>.</p>
<form action="{changes}" method="post">
<p><button>Change {at_once} records</button>
The titles of the next {at_once} records change, beginning with record 3000.</p>
</form>
<h2>Changed records</h2>
{changed}
</body>
</html>
"""


class SampleSite:
    """A WSGI application: the repository's page at ``/``, OAI-PMH at the provider's path.

    With pages, it also has those of the works, and their documents.
    ``POST /changes`` publishes the next changes, and leads back to the page. A form on another
    website cannot do that (the ``Origin`` has to be this server).
    """

    def __init__(
        self,
        provider: ProviderApp,
        source: "ChangingSample",
        clock: Clock,
        pages: WorkPages | None = None,
    ) -> None:
        self._provider = provider
        self._source = source
        self._clock = clock
        self._pages = pages

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        request = environ["REQUEST_METHOD"], environ.get("PATH_INFO", "") or "/"
        if request == ("POST", CHANGES):
            return self._change(environ, start_response)
        if request in {("GET", "/"), ("HEAD", "/")}:
            return _answer(start_response, "200 OK", self._page(), "text/html")
        if self._pages is not None and request[0] in {"GET", "HEAD"}:
            path = request[1].encode("latin-1").decode("utf-8", "replace")
            if found := self._pages.answer(path):
                size = str(len(found.body))
                start_response(found.status, [*found.headers.items(), ("Content-Length", size)])
                return [found.body]
        return self._provider(environ, start_response)

    def _change(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        origin = environ.get("HTTP_ORIGIN", "")
        if origin and origin.partition("://")[2] != environ.get("HTTP_HOST", ""):
            sentence = "Records are changed from the repository's own page only.\n"
            return _answer(start_response, "403 Forbidden", sentence, "text/plain")
        self._source.change(self._clock())
        start_response("303 See Other", [("Location", "/"), ("Content-Length", "0")])
        return [b""]

    def _page(self) -> str:
        identifiers = self._source.changed
        listed = "".join(f"<li>{html.escape(one)}</li>\n" for one in identifiers)
        return _PAGE.format(
            name=html.escape(self._source.identify().repository_name),
            count=self._source.count(Selection("oai_dc")),
            base_url=html.escape(self._provider.settings.base_url or ""),
            changes=CHANGES,
            at_once=AT_ONCE,
            changed=f"<ol>\n{listed}</ol>" if identifiers else "<p>None yet.</p>",
        )


class ChangingSample(MutableSource):
    """The sample repository, in which the next five records change whenever it is told to.

    Attributes:
        changed: Identifiers of the records changed so far, in the order of their changes.
    """

    def __init__(self, sample: SampleRepository) -> None:
        super().__init__(sample)
        self._sample: RecordSource = sample
        self._place: Position | None = None
        self.changed: tuple[str, ...] = ()

    def change(self, moment: datetime) -> Sequence[str]:
        """Change the titles of the next `AT_ONCE` records; after the last comes the first.

        Returns:
            Their identifiers; fewer, or none, where fewer are left before the end.
        """
        with self._lock:  # two requests at once change different records
            found: list[str] = []
            selection = Selection("oai_dc")
            while len(found) < AT_ONCE:
                headers = self._sample.headers(selection, self._place, AT_ONCE)
                if not headers:
                    self._place = None
                    break
                for header in headers[: AT_ONCE - len(found)]:
                    self._place = Position.of(header)
                    if not header.deleted:
                        self.revise(header.identifier, moment, _with_next_edition)
                        found.append(header.identifier)
            self.changed = (*self.changed, *found)
            return found


def _with_next_edition(document: bytes) -> bytes:
    """The document with another edition named in its title."""
    match = _TITLE.search(document)
    if match is None:
        return document
    said = _EDITION.search(match[2])
    title = match[2][: said.start()] if said else match[2]
    edition = b"%s (edition %d)" % (title, int(said[1]) + 1 if said else 2)
    return document[: match.start(2)] + edition + document[match.end(2) :]


def _answer(
    start_response: "StartResponse", status: str, text: str, media_type: str
) -> Iterable[bytes]:
    body = text.encode()
    headers = [
        ("Content-Type", f"{media_type}; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", "default-src 'none'; form-action 'self'"),
    ]
    start_response(status, headers)
    return [body]
