"""The head of a response: fields as they were received, and what they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from politeweb.response_head import ResponseHead

NAMES = st.text("abcXYZ-", min_size=1, max_size=8)
VALUES = st.text("abc,;= é", max_size=12).map(str.strip)


def head(*lines: bytes, status: int = 200) -> ResponseHead:
    return ResponseHead(status, b"\r\n".join([b"HTTP/1.1 200 OK", *lines, b"", b""]))


@given(st.lists(st.tuples(NAMES, VALUES)))
def test_fields_are_those_that_were_received(fields: list[tuple[str, str]]) -> None:
    lines = [f"{name}: {value}".encode("latin-1") for name, value in fields]
    found = head(*lines)
    assert [(name.decode(), value.decode("latin-1")) for name, value in found.fields] == fields
    for name, _ in fields:
        joined = ", ".join(value for other, value in fields if other.lower() == name.lower())
        assert found.get(name) == found.get(name.upper()) == joined


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ([b"X: one", b" two"], "one two"),
        ([b"X: one", b"\ttwo", b"  three "], "one two three"),
        ([b"X: one", b" ", b" two"], "one two"),
        ([b" lost", b"X: one"], "one"),
        ([b"X: one\rY: two"], "one Y: two"),
        ([b"X:one", b"", b"Y: two"], "one"),
        ([b"X"], ""),
        ([b"X: "], ""),
        ([b"X : one"], "one"),
    ],
)
def test_what_is_folded_is_one_value(lines: list[bytes], value: str) -> None:
    assert head(*lines).get("x") == value


@pytest.mark.parametrize("name", ["Location", "ETAG", "content-type", "Retry-After", "Date"])
def test_of_a_field_that_is_no_list_the_first_holds(name: str) -> None:
    line = name.encode()
    found = head(line + b": first", b"X: a", line.lower() + b": second", b"x: b")
    assert found.get(name) == "first"
    assert found.texts == [(name, "first"), ("X", "a"), ("x", "b")]
    assert found.get("X") == "a, b"
    assert len(found.fields) == 4, "as received"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_has_a_target(status: int) -> None:
    assert head(b"Location: /a?b#c", status=status).location == "/a?b#c"
    assert head(status=status).location == ""


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 404])
def test_no_other_status_leads_elsewhere(status: int) -> None:
    assert head(b"Location: /a", status=status).location == ""


def test_a_field_that_is_missing_is_empty() -> None:
    assert head().get("x") == ""
    assert head().fields == []
