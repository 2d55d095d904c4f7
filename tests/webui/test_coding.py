"""Answers under gzip: which are, for whom, with what tag; and that HEAD and GET agree."""

import gzip
import zlib
from typing import Any

import pytest

from webui.http.coding import LEAST, labelled, packed
from webui.http.messages import Request, Response
from webui.http.streams import CSV, SMALL

from .conftest import PLAIN
from .test_streams import Body

GZIP = {"Accept-Encoding": "gzip, deflate, br"}
PAGE = "text/html; charset=utf-8"
CODED = ["/", "/search", "/search.json", "/search/results.csv", "/search/results.jsonl",
         "/static/page.css", "/static/silo.js", "/openapi.json",
         "/records/oai+example,org+1", "/records/oai+example,org+1.json"]  # fmt: skip
PLAIN_ONES = ["/records/oai+example,org+1/versions/1/files/oai_dc", "/robots.txt",
              "/search/files.zip", "/search/bags.zip"]  # fmt: skip


def asked(**headers: str) -> Request:
    found = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("GET", "/", {"accept-encoding": "gzip"} | found, Any)  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.parametrize("path", CODED)
def test_what_is_sent_under_gzip_is_what_is_sent_without(client: Any, path: str) -> None:
    plain, coded = client.get(path), client.get(path, headers=GZIP)
    assert "Content-Encoding" not in plain.headers
    assert coded.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(coded.body) == plain.body
    assert len(coded.body) < len(plain.body)
    for one in (plain, coded):
        assert "Accept-Encoding" in one.headers["Vary"]
    assert "ETag" not in plain.headers or plain.headers["ETag"] != coded.headers["ETag"]


@pytest.mark.parametrize("path", PLAIN_ONES)
def test_files_of_records_and_archives_are_sent_as_they_are(client: Any, path: str) -> None:
    assert "Content-Encoding" not in client.get(path, headers=GZIP).headers


@pytest.mark.long
@pytest.mark.parametrize("path", [*CODED, *PLAIN_ONES])
@pytest.mark.parametrize("sent", [{}, GZIP], ids=["plain", "gzip"])
def test_head_says_what_get_says(client: Any, path: str, sent: dict[str, str]) -> None:
    got, head = (client.ask(method, path, headers=sent) for method in ("GET", "HEAD"))
    assert head.body == b""
    may_lack = {"Date", "Content-Length", "Transfer-Encoding", "Connection"}
    kept = {name: value for name, value in got.headers.items() if name not in may_lack}
    assert {name: value for name, value in head.headers.items() if name not in may_lack} == kept
    length = head.headers.get("Content-Length")
    assert length in {None, str(len(got.body))}


@pytest.mark.long
@pytest.mark.parametrize("path", ["/search", "/search.json", "/static/page.css", "/quality"])
@pytest.mark.parametrize("sent", [{}, GZIP], ids=["plain", "gzip"])
def test_every_page_that_has_not_changed_is_not_sent_again(
    client: Any, path: str, sent: dict[str, str]
) -> None:
    tag = client.get(path, headers=sent).headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        again = client.get(path, headers=sent | {"If-None-Match": known})
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    assert client.get(path, headers=sent | {"If-None-Match": '"other"'}).status == 200


def test_the_tag_of_a_record_under_gzip_makes_a_change_conditional(client: Any, silo: Any) -> None:
    url = "/records/oai+example,org+1"
    tag = client.get(url + ".json", headers=GZIP).headers["ETag"]
    assert tag.endswith('-gz"')
    fields = {"name": "a", "clone_of": "1"}
    assert client.post(url + "/versions", fields, headers={"If-Match": tag}).status == 201
    other = {"name": "b", "clone_of": "1"}
    assert client.post(url + "/versions", other, headers={"If-Match": tag}).status == 412
    assert "b" not in silo[PLAIN].versions


@pytest.mark.parametrize(
    ("site", "is_coded"),
    [("same-origin", True), ("none", True), ("", True), ("cross-site", False),
     ("same-site", False)],
)  # fmt: skip
def test_what_another_site_requests_is_not_compressed(
    client: Any, site: str, is_coded: bool
) -> None:
    headers = GZIP | ({"Sec-Fetch-Site": site} if site else {})
    answer = client.get("/search?q=guess", headers=headers)
    assert ("Content-Encoding" in answer.headers) == is_coded
    assert "Sec-Fetch-Site" in answer.headers["Vary"]


@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "deflate, *;q=0"])
def test_who_does_not_accept_gzip_gets_none(client: Any, accepted: str) -> None:
    answer = client.get("/search", headers={"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers


def test_a_small_answer_is_not_compressed() -> None:
    for size, is_coded in ((LEAST - 1, False), (LEAST, True)):
        found = packed(labelled(asked(), Response(200, b"a" * size, PAGE)))
        assert ("Content-Encoding" in found.headers) == is_coded


def test_a_streamed_answer_is_compressed_block_by_block_and_closed() -> None:
    body = Body(b"a,b\r\n" * 1000, b"c,d\r\n" * 1000)
    found = packed(labelled(asked(), Response(200, body, CSV, content_length=10_000)))
    assert found.content_length is None
    reader, sent = zlib.decompressobj(31), iter(found.body)  # type: ignore[arg-type]
    first = next(sent)
    assert reader.decompress(first) == b"a,b\r\n" * 1000  # nothing waits for the next block
    assert reader.decompress(b"".join(sent)) == b"c,d\r\n" * 1000
    assert reader.eof
    found.body.close()  # type: ignore[union-attr]
    assert body.is_closed


def test_a_streamed_answer_that_breaks_off_has_no_end() -> None:
    class Breaking(Body):
        def __next__(self) -> bytes:
            if not self._blocks:
                raise OSError("broken")
            return super().__next__()

    found = packed(labelled(asked(), Response(200, Breaking(b"x" * SMALL), CSV)))
    reader = zlib.decompressobj(31)
    reader.decompress(next(found.body))  # type: ignore[arg-type]
    assert not reader.eof


def test_the_page_after_a_refused_form_is_compressed_too(client: Any) -> None:
    page = "/jobs/new/audit"
    headers = GZIP | {"Referer": f"http://127.0.0.1:{client.port}{page}", "Accept": "text/html"}
    fields = {"kind": "audit", "title": "x", "when": "sometimes"}
    answer = client.post("/jobs", fields, headers=headers)
    assert answer.status == 400
    assert b'action="/jobs"' in gzip.decompress(answer.body)


def test_the_page_of_an_error_is_compressed_and_has_no_tag(client: Any) -> None:
    answer = client.get("/records/nobody", headers=GZIP)
    assert (answer.status, answer.headers["Content-Encoding"]) == (404, "gzip")
    assert b"<h1>" in gzip.decompress(answer.body)
    assert "ETag" not in answer.headers
    assert "Content-Encoding" not in client.get("/records/nobody.json", headers=GZIP).headers
