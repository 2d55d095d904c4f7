"""Requests to the provider, as query strings and as forms."""

import io
from collections.abc import Hashable, Iterable
from datetime import UTC, datetime

from fuzzing.target import Target
from lxml import etree

from oaipmhprovider.sample import sample_repository
from oaipmhprovider.wsgi import ProviderApp

_NOW = datetime(2026, 11, 22, tzinfo=UTC)


class Providers(Target):
    promise = "Any request to the provider is answered with well-formed XML, or with a 4xx."
    words = (
        b"verb=", b"ListRecords", b"ListIdentifiers", b"ListSets", b"GetRecord", b"Identify",
        b"&", b"=", b"+", b"%00", b"%FF", b"%EF%BF%BF", b"%1B", b"metadataPrefix=oai_dc", b"from=",
        b"until=", b"set=", b"resumptionToken=", b"identifier=", b"2010-01-01", b"9999-12-31",
        b"0001-01-01T00:00:00Z", b"2010-02-30", b"%ED%A0%80", b"<", b"]]>", b"\x00", b"\xff",
    )  # fmt: skip
    largest = 4_096

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        source = sample_repository(30)
        self._app = ProviderApp(source, clock=lambda: _NOW)

    def seeds(self) -> Iterable[bytes]:
        return [
            b"verb=Identify", b"verb=ListSets", b"verb=ListMetadataFormats",
            b"verb=ListRecords&metadataPrefix=oai_dc&from=2010-01-01&until=2026-01-01",
            b"verb=ListIdentifiers&metadataPrefix=oai_dc&set=a",
            b"verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Asample%3A1",
            b"verb=ListRecords&resumptionToken=abc",
        ]  # fmt: skip

    def check(self, data: bytes) -> Hashable:
        query = self._asked({"REQUEST_METHOD": "GET", "QUERY_STRING": data.decode("latin-1")}, b"")
        form = {
            "REQUEST_METHOD": "POST",
            "CONTENT_TYPE": "application/x-www-form-urlencoded",
            "CONTENT_LENGTH": str(len(data)),
        }
        return query, self._asked(form, data)

    def _asked(self, environ: dict[str, str], body: bytes) -> Hashable:
        begun: list[str] = []
        request = {"PATH_INFO": "/oai2", "wsgi.input": io.BytesIO(body), **environ}
        answer = b"".join(self._app(request, lambda status, headers: begun.append(status)))
        [status] = begun
        if status != "200 OK":
            assert status.startswith("4")
            return status
        root = etree.fromstring(answer)
        return tuple(one.get("code") for one in root.iter("{*}error"))
