"""WARC files as other tools write them."""

from io import BytesIO
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def by_others(
    path: Path, *responses: tuple[str, dict[str, str], bytes], packed: bool = True
) -> Path:
    """What another tool's crawl looks like: WARC 1.0, response first, none of our fields."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=packed)
        for url, headers, content in responses:
            head = StatusAndHeaders("200 OK", list(headers.items()), protocol="HTTP/1.1")
            response = writer.create_warc_record(
                url, "response", payload=BytesIO(content), length=len(content), http_headers=head
            )
            ask = StatusAndHeaders(f"GET /{url} HTTP/1.1", [], is_http_request=True)
            request = writer.create_warc_record(url, "request", http_headers=ask)
            writer.write_request_response_pair(request, response)
    return path
