"""The provider on HTTP (section 3.1), without a network."""

import gzip
import io
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oaipmhprovider import sample_repository
from oaipmhprovider.wsgi import ProviderApp
from politeweb.codings import accepts_gzip

FORM = "application/x-www-form-urlencoded"
Answer = tuple[str, dict[str, str], bytes]
Send = Callable[..., Answer]


@pytest.fixture(scope="module")
def send(ask: Any) -> Send:
    app = validator(ProviderApp(sample_repository(50), path="/oai2", clock=lambda: ask.now))

    def sent(query: str = "", *, method: str = "GET", body: bytes = b"", **environ: str) -> Answer:
        request: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": "/oai2",
            "QUERY_STRING": query,
            "wsgi.input": io.BytesIO(body),
            **(
                {"CONTENT_TYPE": FORM, "CONTENT_LENGTH": str(len(body))} if method == "POST" else {}
            ),
            **environ,
        }
        setup_testing_defaults(request)
        got: list[Any] = []
        chunks = app(request, lambda status, headers, exc=None: got.extend([status, headers]))
        try:
            content = b"".join(chunks)
        finally:
            chunks.close()
        headers = dict(got[1])
        assert int(headers["Content-Length"]) == len(content) or method == "HEAD"
        return got[0], headers, content

    return sent


def test_a_get_is_answered_as_xml(send: Send, validate: Any) -> None:
    status, headers, body = send("verb=Identify")
    assert status == "200 OK"
    assert headers["Content-Type"] == "text/xml; charset=utf-8"
    assert validate(body).findtext("{*}Identify/{*}compression") == "gzip"


def test_an_error_condition_is_http_200_all_the_same(send: Send, validate: Any) -> None:
    status, _, body = send("verb=Nope")
    assert status == "200 OK"
    assert validate(body).find("{*}error").get("code") == "badVerb"


def test_a_post_is_answered_like_a_get(send: Send) -> None:
    query = urlencode({"verb": "ListRecords", "metadataPrefix": "oai_dc", "from": "2015-01-01"})
    assert send(method="POST", body=query.encode()) == send(query)


def test_the_content_type_of_a_post_may_have_parameters(send: Send, validate: Any) -> None:
    _, _, body = send(method="POST", body=b"verb=Identify", CONTENT_TYPE=f"{FORM}; charset=UTF-8")
    assert validate(body).find("{*}Identify") is not None


def test_arguments_in_address_and_form_are_taken_together(send: Send, validate: Any) -> None:
    _, _, body = send("verb=Identify", method="POST", body=b"verb=Identify")
    assert validate(body).find("{*}error").get("code") == "badVerb"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_any_other_method_is_405_and_says_which_are_allowed(send: Send, method: str) -> None:
    status, headers, _ = send("verb=Identify", method=method)
    assert status.startswith("405 ")
    assert headers["Allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("path", ["/", "/oai", "/oai2/x", "/oai22"])
def test_any_other_path_is_404(send: Send, path: str) -> None:
    assert send("verb=Identify", PATH_INFO=path)[0].startswith("404 ")


def test_a_slash_at_the_end_of_the_path_does_no_harm(send: Send) -> None:
    assert send("verb=Identify", PATH_INFO="/oai2/")[0] == "200 OK"


def test_a_post_of_something_else_is_415(send: Send) -> None:
    status, _, _ = send(method="POST", body=b"{}", CONTENT_TYPE="application/json")
    assert status.startswith("415 ")


@pytest.mark.parametrize("length", ["", "x", "-1", "²"])
def test_a_post_of_unknown_length_is_411(send: Send, length: str) -> None:
    app = ProviderApp(sample_repository(1))
    got: list[Any] = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/oai2",
        "CONTENT_TYPE": FORM,
        "CONTENT_LENGTH": length,
        "wsgi.input": io.BytesIO(b"verb=Identify"),
    }
    app(environ, lambda status, headers, exc=None: got.append(status))  # type: ignore[arg-type,return-value]  # a plain stand-in
    assert got[0].startswith("411 ")


@pytest.mark.parametrize("length", ["65537", "9" * 40])
def test_a_post_too_long_is_413_and_is_not_read(send: Send, length: str) -> None:
    status, headers, _ = send(method="POST", body=b"", CONTENT_LENGTH=length)
    assert status.startswith("413 ")
    assert headers["Connection"] == "close"


def test_too_many_arguments_are_400(send: Send) -> None:
    assert send("&".join(["verb=Identify"] * 101))[0].startswith("400 ")


def test_an_answer_is_compressed_for_who_accepts_it(send: Send) -> None:
    query = "verb=ListRecords&metadataPrefix=oai_dc"
    _, plain_headers, plain = send(query)
    _, headers, packed = send(query, HTTP_ACCEPT_ENCODING="gzip, deflate, br")
    assert "Content-Encoding" not in plain_headers
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Vary"] == plain_headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 4


@pytest.mark.parametrize(
    "header",
    ["gzip", "GZIP", "deflate, gzip;q=0.5", "*", "x-gzip", "br,gzip;q=1.0", "gzip ; q = 0.001"],
)
def test_gzip_is_accepted_where_it_is_named(header: str) -> None:
    assert accepts_gzip(header)


@pytest.mark.parametrize(
    "header",
    ["", "identity", "gzip;q=0", "gzip;q=0.000", "br, deflate", "gzipped", "identity, *;q=0"],
)
def test_gzip_is_not_sent_where_it_is_not_wanted(header: str) -> None:
    assert not accepts_gzip(header)


def test_blanks_and_letters_beyond_ascii_are_decoded(send: Send, validate: Any) -> None:
    for identifier in ("oai:x:é/ü+%26", "oai:x:中文"):
        query = f"verb=GetRecord&metadataPrefix=oai_dc&identifier={quote(identifier, safe='')}"
        assert validate(send(query)[2]).find("{*}request").get("identifier") == identifier


@settings(deadline=None, derandomize=True)
@given(st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_whatever_the_query_the_answer_is_valid(send: Send, validate: Any, query: str) -> None:
    status, _, body = send("verb=GetRecord&identifier=" + query)
    assert status == "200 OK"
    validate(body)


def test_bytes_that_are_no_utf_8_are_no_identifier_here(send: Send, validate: Any) -> None:
    _, _, body = send("verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:%ff%fe")
    assert validate(body).find("{*}error").get("code") == "idDoesNotExist"
