"""Request bodies: limits, broken ends, multipart in blocks."""

import contextlib
import io
import tempfile
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webui.http.bodies import BodyBrokeOff, RequestBody, content_length, open_body, read_form
from webui.http.errors import BadRequest, LengthRequired, TooLarge, UnsupportedMediaType
from webui.http.messages import Request
from webui.http.multipart import BLOCK, Form, FormLimits, boundary_of, read_multipart

BOUNDARY = "----WebKitFormBoundary7MA4"


def request_of(content: bytes, kind: str, length: str | None = None) -> Request:
    headers = {"content-type": kind, "content-length": length or str(len(content))}
    return Request("POST", "/", headers, io.BytesIO(content))


MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def encoded(parts: list[tuple[str, str | None, bytes]]) -> bytes:
    body = b""
    for name, filename, content in parts:
        file = f'; filename="{filename}"' if filename is not None else ""
        body += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n'.encode()
        body += b"Content-Type: application/x-whatever\r\n\r\n" + content + b"\r\n"
    return body + f"--{BOUNDARY}--\r\n".encode()


class Dribble(io.BytesIO):
    """Gives what is asked for in pieces of one size."""

    def __init__(self, content: bytes, piece: int) -> None:
        super().__init__(content)
        self._piece = piece

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._piece)


def read(content: bytes, piece: int = BLOCK) -> Form:
    return read_multipart(Dribble(content, piece), BOUNDARY, tempfile.gettempdir())


@given(
    st.binary(max_size=300).filter(lambda b: BOUNDARY.encode() not in b),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20).filter(
        lambda text: BOUNDARY not in text
    ),
    st.integers(1, 200),
)
def test_a_form_is_read_the_same_in_pieces_of_any_size(
    content: bytes, text: str, piece: int
) -> None:
    with read(encoded([("part", "a.bin", content), ("path", None, text.encode())]), piece) as form:
        assert form.fields == {"path": text}
        assert form.files["part"].filename == "a.bin"
        assert form.files["part"].content.read() == content


texts_like_parameters = st.text("abn*=';\"%0 9-\\/utfidna78ff\x80\u00e9", max_size=60)


@given(texts_like_parameters)
def test_no_parameter_of_a_header_ends_in_anything_but_a_refusal(parameters: str) -> None:
    with contextlib.suppress(UnsupportedMediaType):
        boundary_of("multipart/form-data; boundary" + parameters)
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=a; filename{parameters}"
    with contextlib.suppress(BadRequest):
        read(f"{head}\r\n\r\nx\r\n--{BOUNDARY}--".encode()).close()


@pytest.mark.parametrize("ending", [b"\r\n--", b"\r\n-", b"\r", b"\r\n--" + BOUNDARY.encode()[:9]])
def test_what_looks_like_a_boundary_stays_content(ending: bytes) -> None:
    with read(encoded([("part", "a", b"x" + ending)]), 7) as form:
        assert form.files["part"].content.read() == b"x" + ending


@pytest.mark.parametrize("cut", [1, 30, 90, 150, 170, -8, -5])
def test_a_form_that_is_cut_off_is_refused_whole(cut: int) -> None:
    whole = encoded([("part", "a.bin", b"content"), ("path", None, b"p")])
    with pytest.raises(BadRequest):
        read(whole[:cut])


def test_a_large_file_passes_through_little_memory() -> None:
    content = b"line\n" * 4_000_000  # 20 MB of short lines
    body = encoded([("part", "big", content)])
    tracemalloc.start()
    with read(body) as form:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert form.files["part"].content.seek(0, io.SEEK_END) == len(content)
    assert peak < 2_000_000


def test_uploaded_files_are_closed_with_the_form() -> None:
    with read(encoded([("part", "a", b"x")])) as form:
        file = form.files["part"].content
    assert file.closed


def test_very_many_parts_and_long_fields_are_refused() -> None:
    with pytest.raises(TooLarge):
        read(encoded([(f"f{n}", None, b"") for n in range(41)]))
    with pytest.raises(TooLarge):
        read(encoded([("a", None, b"x" * 40_000), ("b", None, b"x" * 40_000)]))
    with pytest.raises(TooLarge):
        read(encoded([("n" * 9_000, None, b"")]))


def test_a_long_form_without_files_takes_as_many_fields_as_an_urlencoded_one() -> None:
    body = encoded([(f"f{n}", None, b"x" * 100) for n in range(1000)])
    form = read_form(request_of(body, MULTIPART), len(body), fields_limit=len(body))
    assert len(form.fields) == 1000
    with pytest.raises(TooLarge):
        read_multipart(io.BytesIO(body), BOUNDARY, None, FormLimits(999, len(body)))


@pytest.mark.parametrize(
    "parameters",
    [
        "name=\"part\"; filename*=idna''%ff",
        f'name="part"; filename*{"9" * 5000}*=x',
        "name=\"part\"; filename*=utf-7''%2B2AA-",  # half a surrogate pair, decoded
        "name*=idna''%ff",
    ],
)
def test_a_part_with_a_malformed_name_is_refused(parameters: str, spool_dir: str) -> None:
    body = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {parameters}\r\n\r\nx\r\n"
    content = body.encode() + f"--{BOUNDARY}--\r\n".encode()
    with pytest.raises(BadRequest):
        read_form(request_of(content, MULTIPART), 10_000, spool_dir)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no boundary at all",
        f"--{BOUNDARY}garbage\r\n\r\n".encode(),
        f"--{BOUNDARY}\r\nContent-Type: text/plain\r\n\r\nx\r\n--{BOUNDARY}--".encode(),
        encoded([("f", None, b"\xff")]),
    ],
)
def test_what_is_no_form_is_refused(content: bytes) -> None:
    with pytest.raises(BadRequest):
        read(content)


def test_the_boundary_comes_from_the_content_type() -> None:
    assert boundary_of(f"multipart/form-data; boundary={BOUNDARY}") == BOUNDARY
    assert boundary_of('multipart/form-data; boundary="a b"') == "a b"
    assert boundary_of("text/plain") is None


@pytest.mark.parametrize(
    "parameter",
    ["", '; boundary=""', "; boundary*=idna''%ff", f"; boundary*{'9' * 5000}*=x",
     "; boundary*=utf-7''%2B2AA-"],
)  # fmt: skip
def test_a_boundary_that_is_missing_or_malformed_is_refused(parameter: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        boundary_of("multipart/form-data" + parameter)


@pytest.mark.parametrize("length", ["-5", "+5", "5 5", "0x10", "", "٣", "9" * 20])
def test_a_length_that_is_no_count_is_refused(length: str) -> None:
    with pytest.raises(BadRequest):
        content_length({"content-length": length})


def test_a_chunked_body_is_asked_for_its_length() -> None:
    with pytest.raises(LengthRequired):
        content_length({"transfer-encoding": "chunked", "content-length": "3"})


def test_a_body_over_the_limit_is_not_read() -> None:
    request = request_of(b"x" * 11, "text/plain")
    with pytest.raises(TooLarge, match="11 bytes; the limit is 10 bytes"):
        open_body(request, 10)
    assert request.body.read() == b"x" * 11


def test_a_body_ends_where_it_said_or_breaks_off_loudly() -> None:
    assert RequestBody(io.BytesIO(b"abcdef"), 3).readall() == b"abc"
    with pytest.raises(BodyBrokeOff):
        RequestBody(io.BytesIO(b"ab"), 3).readall()


@pytest.fixture
def spool_dir(tmp_path: Any) -> str:
    return str(tmp_path / "spool")


def test_forms_are_urlencoded_json_or_multipart(spool_dir: str) -> None:
    urlencoded = request_of(b"a=1&b=%C3%A9&a=2", "application/x-www-form-urlencoded")
    assert read_form(urlencoded).fields == {"a": "2", "b": "é"}
    assert read_form(request_of(b'{"a": "1"}', "application/json")).fields == {"a": "1"}
    body = encoded([("a", None, b"1")])
    for where in (spool_dir, None):
        with read_form(request_of(body, MULTIPART), spool_dir=where) as form:
            assert form.fields == {"a": "1"}
    assert read_form(request_of(b"", "")).fields == {}


@pytest.mark.parametrize(
    ("content", "kind", "error"),
    [
        (b"a=%ff", "application/x-www-form-urlencoded", BadRequest),
        (b"a=\xff", "application/x-www-form-urlencoded", BadRequest),
        (b"&".join([b"a=1"] * 200), "application/x-www-form-urlencoded", BadRequest),
        (b"[]", "application/json", BadRequest),
        (b'{"a": 1}', "application/json", BadRequest),
        (b"[" * 60_000, "application/json", BadRequest),
        (b"nonsense", "application/json", BadRequest),
        (b"a=1", "text/plain", UnsupportedMediaType),
        (b"x" * 70_000, "application/x-www-form-urlencoded", TooLarge),
        (encoded([("f", "a.txt", b"x")]), MULTIPART, BadRequest),
        (encoded([("a", None, b"")] * 101), MULTIPART, TooLarge),
        (encoded([("a", None, b"x" * 70_000)]), MULTIPART, TooLarge),
        (b'{"a": "\\ud800"}', "application/json", BadRequest),
        (b'{"\\udfff": "a"}', "application/json", BadRequest),
        (b"a=%ED%A0%80", "application/x-www-form-urlencoded", BadRequest),
        (encoded([("a", None, b"\xed\xa0\x80")]), MULTIPART, BadRequest),
    ],
)
def test_a_form_that_cannot_be_read_is_refused(
    content: bytes, kind: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read_form(request_of(content, kind))


def test_a_form_that_broke_off_changes_nothing(spool_dir: str) -> None:
    with pytest.raises(BadRequest, match="broke off"):
        read_form(request_of(b"a=1", "application/x-www-form-urlencoded", "9"))
    body = encoded([("part", "a", b"x")])[:-20]
    with pytest.raises(BadRequest, match="broke off"):
        read_form(request_of(body, MULTIPART, "999"), 10_000, spool_dir)


def test_a_form_with_too_many_fields_is_told_so(client: Any) -> None:
    answer = client.post("/searches", {f"field-{n}": "" for n in range(10_001)})
    assert answer.status == 400
    assert "A request has at most 10,000 fields." in answer.text
    assert (
        client.get("/search.json?" + "&".join(101 * ["q="]))
        .error["message"]
        .endswith("100 fields.")
    )
