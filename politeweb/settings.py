"""Settings of requests and limits on servers: one frozen value.

Source: RFC 9110, sections 10.1.2 (From), 10.1.5 (User-Agent) and 11.6.2 (Authorization).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from urllib.parse import unquote, urlsplit

from politeweb.errors import RequestRefused

MAX_RESPONSE = 64 << 20
_DISTRIBUTION = "silo-records"
"""What pip calls this program."""
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
_RESERVED = frozenset({"host", "content-length", "content-type", "transfer-encoding", "connection"})


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Settings of requests, and limits on servers.

    Credentials are not in the value's representation, and are sent to the host of the base URL
    only. Proxies, where `proxy` is None, come from the environment
    (``HTTPS_PROXY``, ``HTTP_PROXY``, ``NO_PROXY``).

    Attributes:
        contact: An e-mail address or URL, sent in User-Agent; an e-mail address also in From.
        user_agent: Replaces the default name and version; the contact is added to it.
        post: Send POST instead of GET.
        delay: Least seconds between the starts of two requests.
        connect_timeout: Seconds to connect.
        read_timeout: Seconds without a byte. 1 % of 6,778 endpoints needed 180 s (2023).
        total_timeout: Seconds for one response, including its headers.
        least_rate: Bytes a second that an exchange must bring, at the mean of a minute.
        max_response: Bytes of one response, encoded or decoded. A response that would take
            more than `MEMORY_FACTOR` times as much memory to read is refused.
        max_redirects: Redirects followed for one request.
        private_redirects: Follow redirects to addresses that are not public. They are
            always followed if the base URL's own host has such an address.
        stays: Follow redirects within the base URL's host only (``www.`` is the same host); others
            raise `MovedElsewhere`.
        attempts: Most attempts of one request; at least 1.
        first_attempts: Most attempts of a request before the first answer of the server, where
            somebody repeats the whole later, such as a schedule; None: as many as `attempts`.
        first_pause: Seconds before the second attempt; doubled before each further one.
        longest_pause: Seconds; a longer ``Retry-After`` raises `RetryLater`.
        insecure: Accept any TLS certificate.
        ca_file: Certificates (PEM) to trust instead of the system's.
        proxy: URL of the proxy for every request.
        auth: User and password, if the base URL has none.
        netrc: Whether ``~/.netrc`` may give them, if nothing else does.
        secret_headers: Name and value of further headers, such as ``Authorization``.
    """

    contact: str | None = None
    user_agent: str | None = None
    post: bool = False
    delay: float = 0.0
    connect_timeout: float = 20.0
    read_timeout: float = 180.0
    total_timeout: float = 900.0
    least_rate: float = 0.0
    max_response: int = MAX_RESPONSE
    max_redirects: int = 5
    private_redirects: bool = False
    stays: bool = False
    attempts: int = 5
    first_attempts: int | None = None
    first_pause: float = 1.0
    longest_pause: float = 300.0
    insecure: bool = False
    ca_file: str | None = None
    proxy: str | None = field(default=None, repr=False)
    auth: tuple[str, str] | None = field(default=None, repr=False)
    netrc: bool = True
    secret_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse values that would fail later.

        Raises:
            RequestRefused: A header cannot be sent, the proxy is not a URL, or the number of
                attempts is less than 1.
        """
        if min(self.attempts, self.attempts_before_answer) < 1:
            raise RequestRefused("the number of attempts must be at least 1")
        for what, text in (("contact", self.contact), ("User-Agent", self.user_agent)):
            if text and not _sendable(text):
                raise RequestRefused(f"{text!r} cannot be sent as a {what}")
        for name, value in self.secret_headers:
            _check_header(name, value)
        if self.proxy is not None:
            _check_proxy(self.proxy)

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of every request, without secrets."""
        agent = self.user_agent or own_name()
        headers = {"Accept-Encoding": "gzip, deflate", "Accept": "text/xml, application/xml, */*"}
        if not self.contact:
            return {"User-Agent": agent, **headers}
        if "@" in self.contact and ":" not in self.contact:
            headers["From"] = self.contact
        return {"User-Agent": f"{agent} (+{self.contact})", **headers}

    @property
    def attempts_before_answer(self) -> int:
        """Return the most attempts of a request while the server has not answered."""
        return self.attempts if self.first_attempts is None else self.first_attempts

    @property
    def proxies(self) -> dict[str, str] | None:
        """Return the proxy of each scheme; None to use the environment."""
        return {"http": self.proxy, "https": self.proxy} if self.proxy else None

    @property
    def verify(self) -> bool | str:
        """Return the trusted certificates: the system's, those of a file, or False for no check."""
        return False if self.insecure else self.ca_file or True


@cache
def own_name() -> str:
    """Return the name and version of this program; cached, because reading them takes 10 ms."""
    try:
        return f"recordsilo/{version(_DISTRIBUTION)}"
    except PackageNotFoundError:  # code that was not installed
        return "recordsilo"


def _sendable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _check_header(name: str, value: str) -> None:
    """Check a header; its value is secret and not shown in messages."""
    if not _NAME.fullmatch(name):
        raise RequestRefused("a header must begin with its name, as in Authorization: Bearer …")
    if name.lower() in _RESERVED:
        raise RequestRefused(f"the header {name} cannot be set by a user")
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
        raise RequestRefused("the proxy is not an http or https URL")


def settings_from(
    environment: Mapping[str, str],
    *,
    timeout: float | None = None,
    header_file: str | None = None,
    **options: Any,
) -> HttpSettings:
    """Return the settings of options and environment; an option that is None keeps its default.

    Args:
        environment: ``SILO_AUTH`` is ``user:password``, percent-decoded.
        timeout: Longest time without a byte; a whole response may take five times as long.
        header_file: Headers, one per line; empty lines and lines with ``#`` are ignored.
        options: Fields of `HttpSettings`.

    Raises:
        RequestRefused: A value is invalid. Messages do not show secrets.
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
        raise RequestRefused(f"{path} is not a readable text file") from None
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            name, _, value = line.partition(":")
            yield name.strip(), value.strip()


def _credentials(text: str) -> tuple[str, str]:
    user, colon, password = text.partition(":")
    if not colon:
        raise RequestRefused("the environment variable SILO_AUTH must be user:password")
    return unquote(user), unquote(password)
