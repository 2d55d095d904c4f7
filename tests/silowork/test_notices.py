"""Sending of notices: their texts, and servers that do not answer well."""

import time
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any

import pytest
from raw_server import raw_server

from silowork import notices
from silowork.errors import JobRefused
from silowork.notices import Notice, NoticeSender

SENDER = NoticeSender("fleet", "all", "endpoint", "silo fleet report all")


def test_a_webhook_whose_answer_drips_is_left_after_the_limit_of_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(notices, "SECONDS_OF_A_STEP", 0.5)

    def drips(_head: bytes) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nX: "
        for _ in range(200):
            yield b"."
            time.sleep(0.05)

    with (
        raw_server(drips) as server,
        pytest.raises(OSError, match="the server kept silent too long"),
    ):
        notices.send_webhook({"webhook": server.url}, SENDER, [], datetime.now(UTC))


def test_the_subject_says_how_many_are_not_well_and_well_again() -> None:
    bad, good = Notice("a", "blocked", "no"), Notice("b", "good", "well", is_over=True)
    assert SENDER.subject([bad]) == "[silo] all: a is blocked"
    assert SENDER.subject([bad, bad]) == "[silo] all: 2 are not well"
    assert SENDER.subject([bad, bad, good]) == "[silo] all: 2 are not well, 1 is well again"


@pytest.mark.parametrize("name", ["a\nBcc: b@example.org", "a\r\n\r\nx", "\0", "\ud800", "\u2028"])
def test_names_by_servers_forge_no_header_and_stop_no_mail(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []

    class Server(nullcontext[Any]):
        def __enter__(self) -> Any:
            return self

        def ehlo_or_helo_if_needed(self) -> None: ...

        def has_extn(self, _name: str) -> bool:
            return False

        def send_message(self, message: EmailMessage) -> None:
            sent.append(message.as_bytes())

    monkeypatch.setattr(notices, "_connected", lambda *_: Server())
    notice, sender = Notice(name, name, name, name), NoticeSender("fleet", name, "endpoint", "more")
    notices.send_mail({"mail": "me@example.org"}, sender, [notice], datetime.now(UTC))
    (message,) = sent
    assert not [line for line in message.splitlines() if line.lower().startswith(b"bcc")]


def test_a_long_message_says_where_the_rest_is() -> None:
    body = SENDER.body([Notice(f"n{number}", "blocked", "no") for number in range(102)])
    assert body.endswith("n99: blocked: no\n\nand 2 more: silo fleet report all\n")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("mail", "me", "mail is an address"),
        ("from", "a@b\n", "from is an address"),
        ("smtp", "mail", "a host and a port"),
        ("webhook", "ftp://x", "begins with http"),
    ],
)
def test_settings_are_checked(key: str, value: str, said: str) -> None:
    with pytest.raises(JobRefused, match=said):
        notices.check_settings({key: value})
