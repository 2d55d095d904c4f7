"""Addresses of users and servers, and the credentials in them."""

import pytest

from politeweb.addresses import Address, host_of, is_loopback, parts_of, without_credentials
from politeweb.errors import RequestRefused


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("http://h/other", True),
        ("https://h/oai", True),
        ("http://h:8080/oai", False),
        ("http://other/oai", False),
    ],
)
def test_credentials_follow_a_redirect_only_to_the_same_host(target, told):
    assert Address.parse("http://u:p@h/oai").shares_credentials_with(target) is told
    assert not Address.parse("https://u:p@h/oai").shares_credentials_with("http://h/oai")


def test_credentials_are_decoded_and_never_shown() -> None:
    address = Address.parse(" HTTP://user:pa%40ss@Repo.example:8080/a?b#c ")
    assert (address.url, address.auth) == ("http://Repo.example:8080/a?b", ("user", "pa@ss"))
    assert "pa" not in repr(address)


@pytest.mark.parametrize(
    "text",
    ["", "ftp://h/", "http://", "http://h:0/", "http://h:x/", "http://[1/", "http://\ud800/"],
)
def test_what_is_no_http_address_is_refused_without_its_credentials(text: str) -> None:
    with pytest.raises(RequestRefused, match="not an http or https URL") as refused:
        Address.parse(text.replace("//", "//u:s3cret@"))
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("repo.example/oai", "; did you mean https://repo.example/oai?"),
        ("localhost:8080", "; did you mean http://localhost:8080?"),
        ("127.0.0.1/x", "; did you mean http://127.0.0.1/x?"),
        ("what is this", "URL"),
    ],
)
def test_an_address_without_its_scheme_is_asked_about(text: str, meant: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        Address.parse(text)
    assert str(refused.value).endswith(meant)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Repo.example:8443/a", "repo.example"),
        ("http://repo.example./", "repo.example"),
        ("http://127.0.0.1:8080/", "127.0.0.1:8080"),
        ("http://LOCALHOST:1/", "localhost:1"),
        ("http://localhost/", "localhost"),
        ("http://[::1]:5/", "::1:5"),
        ("http://h:x/", ""),
        ("no address", ""),
    ],
)
def test_repositories_on_loopback_are_told_apart_by_their_ports(url: str, host: str) -> None:
    assert host_of(url) == host


def test_what_cannot_be_split_is_a_path() -> None:
    assert parts_of("http://[1/a").path == "http://[1/a"
    assert parts_of("http://h/a").path == "/a"


@pytest.mark.parametrize(
    ("host", "is_here"),
    [("localhost", True), ("127.8.9.1", True), ("::1", True), ("h", False), ("10.0.0.1", False)],
)
def test_loopback_is_this_machine(host: str, *, is_here: bool) -> None:
    assert is_loopback(host) is is_here


def test_credentials_are_removed_wherever_they_are_in_a_text() -> None:
    told = without_credentials("see http://u:p@h/x, https://q@h and ftp://h/a@b")
    assert told == "see http://h/x, https://h and ftp://h/a@b"
