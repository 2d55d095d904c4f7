"""Failures in words, and whether another attempt would help."""

import socket
import ssl
from typing import Any

import pytest
import requests
import urllib3

from politeweb.connections import PrivateAddress
from politeweb.failures import causes_of, is_final, is_timeout, reason_of
from politeweb.settings import HttpSettings

POOL: Any = None
CONNECTION: Any = None
REFUSED = urllib3.exceptions.NewConnectionError(CONNECTION, "no")
REFUSED.__cause__ = ConnectionRefusedError(111, "Connection refused")
UNKNOWN = urllib3.exceptions.NameResolutionError("h", CONNECTION, socket.gaierror(-2, "unknown"))
LATE = urllib3.exceptions.ConnectTimeoutError(CONNECTION, "late")
SILENT = urllib3.exceptions.ReadTimeoutError(POOL, "/", "silent")
RESET = ConnectionResetError(104, "reset")
TLS = urllib3.exceptions.SSLError(ssl.SSLError(1, "a bad certificate"))
CASES = [
    (requests.ConnectionError(REFUSED), "the connection was refused", True, False),
    (requests.ConnectionError(UNKNOWN), "the host name is unknown", True, False),
    (requests.ConnectTimeout(LATE), "no connection in 7 s", False, True),
    (requests.ReadTimeout(SILENT), "the server kept silent too long", False, True),
    (requests.exceptions.SSLError(TLS), "TLS failed (a bad certificate)", True, False),
    (requests.exceptions.ProxyError(REFUSED), "the proxy failed (Connection refused)", True, False),
    (requests.exceptions.InvalidURL("u:p@h"), "the connection broke (InvalidURL)", True, False),
    (requests.ConnectionError(RESET), "the connection broke (reset)", False, False),
    (urllib3.exceptions.IncompleteRead(1, 2), "the response was cut short", False, False),
    (TimeoutError("the response took too long"), "the server kept silent too long", False, True),
    (LATE, "no connection in 7 s", False, True),
    (REFUSED, "the connection was refused", True, False),
    (TLS, "TLS failed (a bad certificate)", True, False),
    (ConnectionResetError(104, "reset"), "the connection broke (reset)", False, False),
    (PrivateAddress("h"), "it has an address that is not public", False, False),
]  # fmt: skip


@pytest.mark.parametrize(("error", "words", "final", "timeout"), CASES)
def test_failures_are_told_in_words_without_addresses(
    error: Exception, words: str, *, final: bool, timeout: bool
) -> None:
    assert reason_of(error, HttpSettings(connect_timeout=7)) == words
    assert is_final(error, has_answered=False) is final
    assert is_timeout(error) is timeout


def test_a_host_that_answered_before_is_asked_again() -> None:
    assert not is_final(requests.ConnectionError(REFUSED), has_answered=True)
    assert is_final(requests.exceptions.SSLError(TLS), has_answered=True)


def test_an_error_that_refers_to_itself_has_an_end() -> None:
    one, two = OSError(5, "one"), OSError(5, "two")
    one.__context__, two.__context__ = two, one
    assert causes_of(one) == [one, two]
    assert reason_of(one, HttpSettings()) == "the connection broke (two)"


def test_a_host_that_was_not_reached_in_time_is_asked_again() -> None:
    slow = requests.ConnectTimeout(LATE)
    slow.__context__ = REFUSED
    assert not is_final(slow, has_answered=False)


def test_a_private_address_names_its_host() -> None:
    assert PrivateAddress("intranet.example").host == "intranet.example"
    assert str(PrivateAddress("intranet.example")) == (
        "intranet.example has an address that is not public"
    )
