"""Content for servers of other projects; runs in their environments, without our packages."""

import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from urllib.parse import parse_qsl
from wsgiref.simple_server import WSGIRequestHandler, make_server

SIZE = 55
PAGE = 10
FORMAT = (
    "oai_dc",
    "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
    "http://www.openarchives.org/OAI/2.0/oai_dc/",
)
NUMBERS = range(1, SIZE + 1)


def identifier(number: int) -> str:
    return f"oai:real.example:{number:04}"


def title(number: int) -> str:
    return f"Record {number:04}: Smith & Sons – naïve café"


def datestamp(number: int) -> datetime:
    """Eleven days apart, without a time zone; UTC is meant."""
    return datetime(2010, 1, 1, 8) + timedelta(days=11 * (number - 1))  # noqa: DTZ001


def moment(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def within(from_: datetime | None, until: datetime | None) -> list[int]:
    return [
        number
        for number in NUMBERS
        if (from_ is None or datestamp(number) >= from_)
        and (until is None or datestamp(number) <= until)
    ]


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def serve(application: Callable[..., Iterable[bytes]]) -> None:
    """Serve on a free loopback port, told on standard output, until the process is ended."""
    server = make_server("127.0.0.1", 0, application, handler_class=_Quiet)
    print(server.server_port, flush=True, file=sys.__stdout__)
    server.serve_forever()


def serve_answers(answer: Callable[[dict[str, str]], bytes]) -> None:
    """`serve` a function from arguments to an XML document."""

    def application(environ, start_response):
        query = environ["QUERY_STRING"]
        body = answer(dict(parse_qsl(query, keep_blank_values=True)))
        headers = [("Content-Type", "text/xml; charset=utf-8"), ("Content-Length", str(len(body)))]
        start_response("200 OK", headers)
        return [body]

    serve(application)
