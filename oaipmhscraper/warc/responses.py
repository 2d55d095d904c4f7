"""Store every response of a harvest as received in WARC 1.1 files, with its request.

`politeweb.warc.pairs` says which parts of an exchange are stored. The fields ``Silo-*`` are our
own
(docs/responses-and-files.md).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from oaipmhclient.transport.http_transport import Transport
from oaipmhprotocol.queries import query_string
from politeweb.answers import Answer
from politeweb.settings import HttpSettings
from politeweb.warc.pairs import packed_pair
from politeweb.warc.writing import WarcFiles
from recordsilo.closing import Closing

HARVEST = "Silo-Harvest"
"""Record field: the harvest's id."""
PREFIX = "Silo-Metadata-Prefix"
"""Record field: the format of a page's list, which a token does not have."""
REQUEST = "Silo-Request"
"""Record field: the request's arguments, however they were sent (GET, POST, redirected)."""


class ResponseRecorder(Closing):
    """Writes a harvest's responses with their requests; many threads may use it.

    When `record` returns, the operating system has the data, so a barrier on the Silo's file
    system includes it.

    Args:
        directory: The files' directory; created with the first response.
        harvest_id: The harvest's id, a UTC time (``20261121T211331.123456Z``).
        about: The fields of each file's ``warcinfo``: ``base-url``,
            ``agent``, ``identifier-uri-prefix`` … (see `replay`).
        settings: The settings of the requests, for the headers that identify the sender.

    Raises:
        OSError: The disk refused; a page that was not recorded must not be stored.
    """

    def __init__(
        self,
        directory: str,
        harvest_id: str,
        *,
        about: Mapping[str, str] | None = None,
        settings: HttpSettings | None = None,
    ) -> None:
        self.harvest_id = harvest_id
        self._files = WarcFiles(directory, harvest_id, {"harvest": harvest_id, **(about or {})})
        self._settings = settings or HttpSettings()

    def record(
        self, params: Mapping[str, str], answer: Answer, metadata_prefix: str = ""
    ) -> tuple[str, int]:
        """Write a request and its response, of any kind; return file name and place."""
        asked = query_string(params)
        fields = {**self._fields(metadata_prefix), REQUEST: asked}
        return self._files.append(packed_pair(answer, fields, self._settings, asked))

    def flush(self) -> None:
        """Return once all responses are on the medium."""
        self._files.flush()

    def close(self) -> None:
        """Close the file; another response opens it again."""
        self._files.close()

    def _fields(self, metadata_prefix: str) -> dict[str, str]:
        return {HARVEST: self.harvest_id} | ({PREFIX: metadata_prefix} if metadata_prefix else {})


class RecordingTransport:
    """A transport that records each response before returning it.

    Args:
        inner: The transport to the repository.
        recorder: Several transports may share it.
        metadata_prefix: The format of the list that the requests are for.
    """

    def __init__(
        self, inner: Transport, recorder: ResponseRecorder, metadata_prefix: str = ""
    ) -> None:
        self.inner = inner
        self.metadata_prefix = metadata_prefix
        self._recorder = recorder

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Fetch and record a response, and set when it was received.

        Raises:
            OSError: It could not be recorded.
        """
        answer = self.inner.fetch(params)
        if answer.received is None:
            answer = replace(answer, received=datetime.now(UTC))
        place = self._recorder.record(params, answer, self.metadata_prefix)
        return replace(answer, recorded=place)

    def __getattr__(self, name: str) -> Any:
        """Return other attributes of the inner transport: ``base_url``, ``traffic``, ``close`` …"""
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)
