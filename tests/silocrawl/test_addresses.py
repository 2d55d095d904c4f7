"""The form in which an address is fetched: as Heritrix has it, without a login."""

import pytest

from silocrawl.addresses import fetched_form, why_not_web, without_login


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


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("https://a.example", ""),
        ("HTTP://a.example:80/x?y", ""),
        ("localhost:8081/3002/", "write http://localhost:8081/3002/"),
        ("a.example/x", "write http://a.example/x"),
        ("server:8080", "write http://server:8080"),
        ("https://u:secret@a.example/x", "without a login, which is never used: https://a.example/x"),
        *((one, f"{one!r} is not an address of http or https") for one in
          ("doi:10.1/x", "mailto:a@b.example", "ftp://a.example/", "a b", "http://")),
    ],
)  # fmt: skip
def test_it_is_said_what_is_wrong_with_an_address(address: str, said: str) -> None:
    assert why_not_web(address).endswith(said)
    assert bool(why_not_web(address)) == bool(said)
    assert "secret" not in why_not_web(address)
