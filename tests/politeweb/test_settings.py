"""What is refused before anything is sent, and which headers are."""

from pathlib import Path
from typing import Any

import pytest

from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings, own_name, settings_from


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"attempts": 0}, "at least 1"),
        ({"first_attempts": 0}, "at least 1"),
        ({"contact": "mé"}, "cannot be sent as a contact"),
        ({"user_agent": "a\r\nX: y"}, "cannot be sent as a User-Agent"),
        ({"secret_headers": (("X Key", "v"),)}, "must begin with its name"),
        ({"secret_headers": (("Host", "v"),)}, "cannot be set by a user"),
        ({"secret_headers": (("X-Key", "s3cret\n"),)}, "X-Key cannot be sent"),
        ({"secret_headers": (("X-Key", ""),)}, "X-Key cannot be sent"),
        ({"proxy": "socks5://h/"}, "not an http or https URL"),
        ({"proxy": "http://:80"}, "not an http or https URL"),
        ({"proxy": "http://h:x/"}, "not an http or https URL"),
    ],
)
def test_what_would_fail_later_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestRefused, match=words) as refused:
        HttpSettings(**given)
    assert "s3cret" not in str(refused.value)


def test_who_asks_is_told() -> None:
    assert HttpSettings().headers["User-Agent"] == own_name()
    mail = HttpSettings(contact="me@x.example", user_agent="ours/1").headers
    assert (mail["User-Agent"], mail["From"]) == ("ours/1 (+me@x.example)", "me@x.example")
    page = HttpSettings(contact="https://x.example/@me").headers
    assert "From" not in page
    assert page["User-Agent"].endswith(" (+https://x.example/@me)")


def test_options_and_environment_make_settings(tmp_path: Path) -> None:
    headers = tmp_path / "headers"
    headers.write_text("# May\n\nX-Key:  a:b \n", encoding="utf-8")
    found = settings_from(
        {"SILO_AUTH": "me:p%3Aq"}, timeout=5.0, header_file=str(headers), delay=None, post=True
    )
    assert (found.auth, found.secret_headers) == (("me", "p:q"), (("X-Key", "a:b"),))
    assert (found.read_timeout, found.connect_timeout, found.total_timeout) == (5, 5, 60)
    assert (found.delay, found.post) == (0.0, True)
    assert settings_from({}) == HttpSettings()
    assert settings_from({}, timeout=100.0).connect_timeout == 20


@pytest.mark.parametrize(
    ("environment", "content", "words"),
    [({"SILO_AUTH": "s3cret"}, "", "user:password"), ({}, "\udcff", "not a readable text file")],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, environment: dict[str, str], content: str, words: str
) -> None:
    path = tmp_path / "headers"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(RequestRefused, match=words) as refused:
        settings_from(environment, header_file=str(path))
    assert "s3cret" not in str(refused.value)


def test_proxies_and_certificates_are_as_they_are_given() -> None:
    assert (HttpSettings().proxies, HttpSettings().verify) == (None, True)
    assert HttpSettings(proxy="http://p:1").proxies == {"http": "http://p:1", "https": "http://p:1"}
    assert HttpSettings(ca_file="c.pem").verify == "c.pem"
    assert HttpSettings(ca_file="c.pem", insecure=True).verify is False
