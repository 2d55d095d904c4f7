"""What headers of responses say, well-formed or not."""

from datetime import UTC, datetime

import pytest

from politeweb.answers import http_date, media_type, number_of, retry_after

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 2026 12:01:00 GMT", 60.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2026 12:01:00 -0000", 60.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("9" * 40, None),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2030 00:00:00 +99999999999999", None),
        (f"Mon, 01 Jan {'9' * 5000} 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_in_both_forms(value, seconds):
    assert retry_after(value, NOW) == seconds


@pytest.mark.parametrize("text", [f"Thu, 01 Jan 2026 12:00:00 {zone}" for zone in ("GMT", "-0000")])
def test_a_date_is_aware(text: str) -> None:
    assert http_date(text) == NOW


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), (" 7 ", 7), ("-1", None), ("²", None), ("1.5", None), ("", None), (None, None),
     ("9" * 18, 10**18 - 1), ("9" * 19, None), ("1" * 5000, None)],
)  # fmt: skip
def test_a_count_is_a_number_or_nothing(text: str | None, number: int | None) -> None:
    assert number_of(text) == number


def test_a_media_type_is_without_parameters() -> None:
    assert media_type(" Text/HTML ; charset=x") == "text/html"
    assert media_type("") == ""
