"""How requests are sent, and what a server may ask of us: one frozen value.

Source: RFC 9110, sections 10.1.2 (From), 10.1.5 (User-Agent) and 11.6.2 (Authorization).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any
from urllib.parse import unquote, urlsplit

from politeweb.errors import RequestRefused

MAX_RESPONSE = 64 << 20
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_RESERVED = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection"})


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """How requests are sent, and what a server may ask of us.

    Credentials are in no representation of the value, and are sent to the host of
    the base URL only. Proxies, where `proxy` is None, come from the environment
    (``HTTPS_PROXY``, ``HTTP_PROXY``, ``NO_PROXY``).

    Attributes:
        contact: A mail address or URL; told in User-Agent, a mail address also in From.
        user_agent: Instead of our own name and version; the contact is added to it.
        post: Send POST instead of GET.
        delay: Least seconds between the starts of two requests.
        connect_timeout: Seconds to be connected.
        read_timeout: Seconds without a byte. 1 % of 6,778 endpoints needed 180 s (2023).
        total_timeout: Seconds for one answer, its head included.
        max_response: Bytes of one answer, packed or unpacked. Reading one takes at most
            `MEMORY_FACTOR` times as much memory; one that would take more is refused.
        max_redirects: Redirects followed for one request.
        private_redirects: Follow redirects to addresses that are not public. They are
            followed in any case where the base URL's own host is at such an address.
        attempts: How often one request is sent at most; at least 1.
        first_pause: Seconds before the second attempt; doubled before each further one.
        longest_pause: Seconds; a longer ``Retry-After`` raises `RetryLater`.
        insecure: Take any TLS certificate.
        ca_file: Certificates (PEM) to trust instead of the system's.
        proxy: URL of the proxy for every request.
        auth: User and password, where the base URL holds none.
        secret_headers: Name and value of further headers, say ``Authorization``.
    """

    contact: str | None = None
    user_agent: str | None = None
    post: bool = False
    delay: float = 0.0
    connect_timeout: float = 20.0
    read_timeout: float = 180.0
    total_timeout: float = 900.0
    max_response: int = MAX_RESPONSE
    max_redirects: int = 5
    private_redirects: bool = False
    attempts: int = 5
    first_pause: float = 1.0
    longest_pause: float = 300.0
    insecure: bool = False
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    auth: tuple[str, str] | None = field(default=None, repr=False)
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse what would fail only later, or for ever.

        Raises:
            RequestRefused: A header that cannot be sent, a proxy that is no URL,
                no attempt at all.
        """
        if self.attempts < 1:
            raise RequestRefused("a request is attempted at least once")
        for what, text in (("contact", self.contact), ("User-Agent", self.user_agent)):
            if text and not _sendable(text):
                raise RequestRefused(f"{text!r} cannot be sent as a {what}")
        for name, value in self.secret_headers:
            _check_header(name, value)
        if self.proxy is not None:
            _check_proxy(self.proxy)

    @property
    def headers(self) -> dict[str, str]:
        """What every request says of its sender; no secret among it."""
        agent = self.user_agent or _own_name()
        headers = {"Accept-Encoding": "gzip, deflate", "Accept": "text/xml, application/xml, */*"}
        if not self.contact:
            return {"User-Agent": agent, **headers}
        if "@" in self.contact and ":" not in self.contact:
            headers["From"] = self.contact
        return {"User-Agent": f"{agent} (+{self.contact})", **headers}

    @property
    def proxies(self) -> dict[str, str] | None:
        """The proxy of each scheme; None leaves it to the environment."""
        return {"http": self.proxy, "https": self.proxy} if self.proxy else None

    @property
    def verify(self) -> bool | str:
        """What certificates are held against: the system's, a file's, or nothing."""
        return False if self.insecure else self.ca_file or True


@cache
def _own_name() -> str:
    """Looked up once: reading a package's metadata takes as long as 20 records."""
    return f"recordsilo/{version('recordsilo')}"


def _sendable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _check_header(name: str, value: str) -> None:
    """The value is a secret: no message shows it."""
    if not _NAME.fullmatch(name):
        raise RequestRefused("a header begins with its name, as in Authorization: Bearer …")
    if name.lower() in _RESERVED:
        raise RequestRefused(f"the header {name} is not for a user to set")
    if not value or not _sendable(value):
        raise RequestRefused(f"the value of the header {name} cannot be sent")


def _check_proxy(proxy: str) -> None:
    try:
        parts = urlsplit(proxy)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname)
        sound = sound and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound:
        raise RequestRefused("the proxy is not given as an http or https URL")


def settings_from(
    environment: Mapping[str, str],
    *,
    timeout: float | None = None,
    header_file: str | None = None,
    **options: Any,
) -> HttpSettings:
    """The settings of options and environment; an option that is None keeps its default.

    Args:
        environment: ``SILO_AUTH`` is ``user:password``; a ``%`` code stands for its character.
        timeout: Longest silence; an answer as a whole may take five times as long.
        header_file: Headers, one a line; empty lines and lines with ``#`` are left out.
        options: Fields of `HttpSettings`.

    Raises:
        RequestRefused: Something that cannot be sent. Secrets are not repeated.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if timeout is not None:
        given |= {"read_timeout": timeout, "total_timeout": max(5 * timeout, 60.0)}
        given["connect_timeout"] = min(timeout, HttpSettings().connect_timeout)
    if header_file is not None:
        given["secret_headers"] = tuple(_headers_in(header_file))
    if environment.get("SILO_AUTH"):
        given["auth"] = _credentials(environment["SILO_AUTH"])
    return HttpSettings(**given)


def _headers_in(path: str) -> Iterator[tuple[str, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        raise RequestRefused(f"{path} cannot be read as a text") from None
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            name, _, value = line.partition(":")
            yield name.strip(), value.strip()


def _credentials(text: str) -> tuple[str, str]:
    user, colon, password = text.partition(":")
    if not colon:
        raise RequestRefused("the environment's SILO_AUTH is not user:password")
    return unquote(user), unquote(password)
