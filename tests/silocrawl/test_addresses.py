"""The form in which an address is fetched: as Heritrix has it, without a login."""

import pytest

from silocrawl.addresses import fetched_form, without_login


@pytest.mark.parametrize(
    ("address", "form"),
    [
        ("http://user:pw@A.example/x y", "http://a.example/x%20y"),
        ("HTTPS://user@a.example:443/@b?c@d", "https://a.example/@b?c@d"),
        ("http:\\\\u:p@a.example/", "http://a.example/"),
        ("http://a.example/https://u:p@b.example/", "http://a.example/https://u:p@b.example/"),
    ],
)
def test_no_login_is_fetched_or_logged(address: str, form: str) -> None:
    assert fetched_form(address) == form


def test_only_what_has_a_login_changes() -> None:
    for address in (
        "http://a.example/x y",
        "http://a.example/@b",
        "nonsense@",
        "mailto:a@b.example",
    ):
        assert without_login(address) == address
    assert without_login("http://u:p@a.example/x y") == "http://a.example/x%20y"
