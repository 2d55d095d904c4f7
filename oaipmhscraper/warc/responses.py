"""Responses as received: every answer of a harvest in WARC 1.1 files, with its request.

`politeweb.warc.writing` says what of an exchange is kept. The fields ``Silo-*`` are ours
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
from politeweb.warc.writing import ROTATE_AT, WarcFiles, packed_pair

HARVEST = "Silo-Harvest"
"""Record field: the harvest's id."""
PREFIX = "Silo-Metadata-Prefix"
"""Record field: the format of the list that a page belongs to, which a token does not say."""
REQUEST = "Silo-Request"
"""Record field: the arguments asked with, however they were sent (GET, POST, redirected)."""


class ResponseRecorder:
    """Writes a harvest's answers, one request and response a page; usable by many threads.

    What `record` was given is with the operating system when it returns, so a barrier over
    the Silo's file system covers it.

    Args:
        directory: Where the files go; made with the first answer.
        harvest_id: The harvest's id, a UTC time (``20261121T211331.123456Z``).
        about: What is said of the harvest in each file's ``warcinfo``: ``base-url``,
            ``agent``, ``identifier-uri-prefix`` … (see `replay`).
        settings: How requests were sent, for what they said of their sender.
        rotate_at: Bytes after which the next file is begun.

    Raises:
        OSError: The disk refused; what was not recorded must not be stored.
    """

    def __init__(
        self,
        directory: str,
        harvest_id: str,
        *,
        about: Mapping[str, str] | None = None,
        settings: HttpSettings | None = None,
        rotate_at: int = ROTATE_AT,
    ) -> None:
        self.harvest_id = harvest_id
        self._files = WarcFiles(
            directory, harvest_id, {"harvest": harvest_id, **(about or {})}, rotate_at
        )
        self._settings = settings or HttpSettings()

    def record(self, params: Mapping[str, str], answer: Answer, metadata_prefix: str = "") -> None:
        """Write a request and its answer, whatever the answer is."""
        asked = query_string(params)
        fields = {**self._fields(metadata_prefix), REQUEST: asked}
        self._files.append(packed_pair(answer, fields, self._settings, asked))

    def close(self) -> None:
        """Close the file; a further answer opens it again."""
        self._files.close()

    def __enter__(self) -> "ResponseRecorder":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _fields(self, metadata_prefix: str) -> dict[str, str]:
        return {HARVEST: self.harvest_id} | ({PREFIX: metadata_prefix} if metadata_prefix else {})


class RecordingTransport:
    """A transport whose every answer is recorded before anybody sees it.

    Args:
        inner: The way to the repository.
        recorder: Where to; several transports may share it.
        metadata_prefix: The format of the list that the requests are for.
    """

    def __init__(
        self, inner: Transport, recorder: ResponseRecorder, metadata_prefix: str = ""
    ) -> None:
        self.inner = inner
        self.metadata_prefix = metadata_prefix
        self._recorder = recorder

    def fetch(self, params: Mapping[str, str]) -> Answer:
        """Fetch, and record what came; the answer then says when it did.

        Raises:
            OSError: It could not be recorded.
        """
        answer = self.inner.fetch(params)
        if answer.received is None:
            answer = replace(answer, received=datetime.now(UTC))
        self._recorder.record(params, answer, self.metadata_prefix)
        return answer

    def __getattr__(self, name: str) -> Any:
        """What else the inner transport tells: ``base_url``, ``traffic``, ``close`` …"""
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)
