"""Requests as they are given, and secrets for their own host alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from raw_server import KEEP, RawServer, raw_server

from politeweb.addresses import Address
from politeweb.logins import has_login, login_for, secrets_for
from politeweb.response_head import ResponseHead
from politeweb.sessions import PlainSession, keep_header, sent
from politeweb.settings import HttpSettings

HOME = Address.parse("http://repo.example/oai")


@pytest.fixture(autouse=True)
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of logins, which is empty."""
    path = tmp_path / "netrc"
    path.touch(mode=0o600)
    monkeypatch.setenv("NETRC", str(path))
    return path


@pytest.fixture
def server() -> Iterator[RawServer]:
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://[broken\r\nContent-Length: 2\r\n\r\nab"
    with raw_server(lambda _head: [moved, KEEP]) as started:
        yield started


def test_a_request_is_sent_as_it_is_given_and_redirects_are_not_followed(
    server: RawServer,
) -> None:
    url = server.url + "a?b=%7Ec%2F&d=+"
    with PlainSession() as session:
        for _ in range(2):
            headers = {"User-Agent": "me"}
            with sent(
                session, HttpSettings(), "GET", url, headers=headers, auth=keep_header
            ) as got:
                assert got.headers["location"] == "http://[broken"
                assert got.raw.read() == b"ab"
    assert server.heads[0].startswith(b"GET /a?b=%7Ec%2F&d=+ HTTP/1.1\r\n")
    assert b"User-Agent: me\r\n" in server.heads[0]
    assert server.connections == 1


@pytest.mark.parametrize("url", ["http://other.example/", "http://repo.example:81/oai"])
def test_other_hosts_get_no_secrets(url: str) -> None:
    settings = HttpSettings(auth=("me", "mine"), secret_headers=(("X-Key", "k"),))
    assert secrets_for(url, HOME, settings) == {}
    assert secrets_for(url, None, settings) == {}


@pytest.mark.parametrize(
    ("home", "settings", "login"),
    [
        ("http://u:p@repo.example/", {"auth": ("me", "mine")}, "Basic dTpw"),
        ("http://repo.example/", {"auth": ("me", "mine")}, "Basic bWU6bWluZQ=="),
        ("http://repo.example/", {"auth": ("mé", "ü")}, "Basic bcOpOsO8"),
        ("http://u:p@repo.example/", {"secret_headers": (("AUTHORIZATION", "t"),)}, "t"),
    ],
)
def test_the_own_host_gets_the_nearest_credentials(
    home: str, settings: dict[str, Any], login: str
) -> None:
    found = secrets_for("https://repo.example/x", Address.parse(home), HttpSettings(**settings))
    assert list(found.values()) == [login]


def test_netrc_is_asked_where_nothing_else_is_given_unless_it_must_not_be(netrc: Path) -> None:
    netrc.write_text("machine repo.example login me password mine\n", encoding="utf-8")
    url = "http://repo.example/x"
    assert has_login(url)
    assert not has_login("http://other.example/")
    assert secrets_for(url, HOME, HttpSettings()) == {"Authorization": "Basic bWU6bWluZQ=="}
    assert secrets_for(url, HOME, HttpSettings(netrc=False)) == {}
    assert login_for(url, HttpSettings()) == {"Authorization": "Basic bWU6bWluZQ=="}
    assert login_for(url, HttpSettings(netrc=False)) == {}
    assert login_for("http://other.example/", HttpSettings()) == {}


def test_the_own_host_gets_secret_headers_too() -> None:
    settings = HttpSettings(auth=("me", "mine"), secret_headers=(("X-Key", "k"),))
    url = "http://repo.example/other"
    login = {"Authorization": "Basic bWU6bWluZQ=="}
    assert secrets_for(url, HOME, settings) == {"X-Key": "k", **login}
    home = Address.parse("http://u:p@repo.example/oai")
    assert secrets_for(url, home, settings)["Authorization"] == "Basic dTpw"
    token = HttpSettings(auth=("me", "mine"), secret_headers=(("authorization", "t"),))
    assert secrets_for(url, home, token) == {"authorization": "t"}


@pytest.mark.parametrize(
    ("status", "location", "found"),
    [(301, "/a", "/a"), (308, "/a", "/a"), (303, "", ""), (200, "/a", ""), (304, "/a", "")],
)
def test_only_a_redirect_has_a_target(status: int, location: str, found: str) -> None:
    raw = f"HTTP/1.1 {status} X\r\nLocation: {location}\r\n\r\n".encode()
    assert ResponseHead(status, raw).location == found


def test_a_server_that_keeps_silent_is_not_waited_for_longer_than_the_whole_may_take() -> None:
    class Noting(PlainSession):
        def request(self, *_arguments: Any, **how: Any) -> Any:
            return how

    settings = HttpSettings(
        connect_timeout=3, read_timeout=9, total_timeout=5, insecure=True, proxy="http://p:1"
    )
    how: Any = sent(Noting(), settings, "POST", "http://h/", headers={}, auth=None, body=b"x")
    assert how["timeout"] == (3, 5)
    assert (how["data"], how["verify"], how["stream"]) == (b"x", False, True)
    assert how["proxies"] == {"http": "http://p:1", "https": "http://p:1"}


def test_the_environment_is_read_once_for_each_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with PlainSession() as session:

        def proxies(url: str) -> Any:
            return session.merge_environment_settings(url, {}, True, True, None)["proxies"]

        monkeypatch.setenv("http_proxy", "http://p:1")
        assert proxies("http://a.example/x")["http"] == "http://p:1"
        monkeypatch.setenv("http_proxy", "http://p:2")
        assert proxies("http://a.example/y")["http"] == "http://p:1"
        assert proxies("http://b.example/y")["http"] == "http://p:2"
