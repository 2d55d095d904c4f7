"""Addresses, verdicts, pauses and content codings, without a socket."""

import gzip
import tracemalloc
import zlib
from datetime import UTC, datetime

import pytest

from oaipmhclient.transport.http_rules import BaseURL, Verdict, judge, unpack_page
from politeweb.addresses import without_credentials
from politeweb.answers import Answer
from politeweb.codings import CodingBroken
from politeweb.errors import RequestRefused, ResponseTooLarge

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
OAI = b'<OAI-PMH xmlns="x"><error/></OAI-PMH>'


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" http://repo.example/oai \n", "http://repo.example/oai"),
        ("HTTPS://repo.example:8443/oai#top", "https://repo.example:8443/oai"),
        ("http://repo.example/?page=oai", "http://repo.example/?page=oai"),
        ("http://repo.example/oai?verb=Identify", "http://repo.example/oai"),
        (
            "http://repo.example/x?mode=oai&verb=ListRecords&metadataPrefix=oai_dc&set=a",
            "http://repo.example/x?mode=oai",
        ),
        ("http://repo.example/x?set=main", "http://repo.example/x?set=main"),
        ("http://user:pa%40ss@repo.example/oai", "http://repo.example/oai"),
        ("http://[::1]:80/oai", "http://[::1]:80/oai"),
    ],
)
def test_a_pasted_address_becomes_a_base_url(given, kept):
    assert BaseURL.parse(given).url == kept


def test_credentials_are_taken_out_and_never_shown():
    base = BaseURL.parse("http://user:pa%40ss@repo.example/oai")
    assert base.auth == ("user", "pa@ss")
    assert "pa" not in repr(base)
    assert (
        without_credentials("see http://u:p@h/x and https://q@h") == "see http://h/x and https://h"
    )


@pytest.mark.parametrize(
    "given",
    ["", "repo.example/oai", "ftp://repo.example/", "http://", "http:///oai", "http://h:x/"],
)
def test_what_is_no_http_address_is_refused(given):
    with pytest.raises(RequestRefused, match="not an http or https URL"):
        BaseURL.parse(given)


def test_arguments_join_a_query_that_is_there():
    base = BaseURL.parse("http://h/x?page=oai")
    assert base.request_url({"verb": "Identify"}) == "http://h/x?page=oai&verb=Identify"


@pytest.mark.parametrize(
    ("status", "body", "has_answered", "verdict"),
    [
        (200, OAI, False, Verdict.TAKE),
        (422, OAI, False, Verdict.TAKE),
        (500, OAI, True, Verdict.TAKE),
        (404, b"<html>", True, Verdict.FAIL),
        (403, b"", False, Verdict.FAIL),
        (429, b"", False, Verdict.TRY_AGAIN),
        (503, b"<html>", False, Verdict.TRY_AGAIN),
        (200, OAI[:-10], False, Verdict.TRY_AGAIN),
        (500, OAI[:-10], False, Verdict.TRY_AGAIN),
        (200, b"<html>", True, Verdict.TRY_AGAIN),
        (200, b"<html>", False, Verdict.TAKE),
        (200, b"", True, Verdict.TRY_AGAIN),
        (304, b"", False, Verdict.FAIL),
    ],
)
def test_answers_are_judged_by_body_then_status(status, body, has_answered, verdict):
    found, _ = judge(Answer(body, "http://h", status), has_answered=has_answered)
    assert found is verdict


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("raw", "coding"),
    [
        (OAI, ""),
        (OAI, "identity"),
        (gzip.compress(OAI, mtime=0), "gzip"),
        (gzip.compress(OAI, mtime=0), "x-gzip"),
        (gzip.compress(OAI[:9], mtime=0) + gzip.compress(OAI[9:], mtime=0), "gzip"),
        (gzip.compress(OAI, mtime=0), ""),
        (OAI, "gzip"),
        (zlib.compress(OAI), "deflate"),
        (raw_deflate(OAI), "deflate"),
        (gzip.compress(zlib.compress(OAI), mtime=0), "deflate, gzip"),
    ],
)
def test_content_codings_are_undone_also_where_the_header_lies(raw, coding):
    assert unpack_page(raw, coding, 1000, "http://h") == OAI


@pytest.mark.parametrize(
    ("raw", "coding", "words"),
    [
        (gzip.compress(OAI, mtime=0)[:-12], "gzip", "truncated"),
        (b"\x1f\x8b" + b"rubbish" * 4, "gzip", "damaged"),
        (OAI, "br", "not requested"),
        (OAI, "gzip,gzip,gzip,gzip", "4 content codings"),
    ],
)
def test_broken_codings_are_named(raw, coding, words):
    with pytest.raises(CodingBroken, match=words):
        unpack_page(raw, coding, 1000, "http://h")


def test_a_decompression_bomb_stops_at_the_limit():
    bomb = gzip.compress(bytes(50_000_000))
    tracemalloc.start()
    with pytest.raises(ResponseTooLarge, match="1,000,000 bytes"):
        unpack_page(bomb, "gzip", 1_000_000, "http://h")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    with pytest.raises(ResponseTooLarge):
        unpack_page(gzip.compress(bomb, mtime=0), "gzip, gzip", 1_000_000, "http://h")


def test_unpacking_many_small_members_copies_none_of_them_often(monkeypatch):
    """zlib copies what follows a member: given whole, 64 MiB of empty members took over an hour."""
    given = 0
    real = zlib.decompressobj

    class Counting:
        def __init__(self, window):
            self._stream = real(window)

        def decompress(self, piece, most):
            nonlocal given
            given += len(piece)
            return self._stream.decompress(piece, most)

        def __getattr__(self, name):
            return getattr(self._stream, name)

    monkeypatch.setattr("politeweb.codings.zlib.decompressobj", Counting)
    raw = gzip.compress(b"", mtime=0) * 10_000 + gzip.compress(OAI, mtime=0)
    assert unpack_page(raw, "gzip", 1000, "http://h") == OAI
    assert given < 100 * len(raw)
