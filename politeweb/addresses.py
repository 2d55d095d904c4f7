"""Parse addresses from users and servers, and separate their credentials (pure)."""

import ipaddress
import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from politeweb.errors import RequestRefused


@dataclass(frozen=True, slots=True)
class Address:
    """An http or https URL, and the credentials that it contained.

    Attributes:
        url: Scheme, host, path and query.
        auth: User and password that it contained; never shown, logged or stored.
    """

    url: str
    auth: tuple[str, str] | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an address that a user entered.

        Fragments and outer spaces are dropped.

        Raises:
            RequestRefused: Not an http or https URL with a host.
        """
        parts = _split(text.strip())
        userinfo, at, host = parts.netloc.rpartition("@")
        user, _, password = userinfo.partition(":")
        url = urlunsplit((parts.scheme.lower(), host, parts.path, cls.kept_query(parts.query), ""))
        return cls(url, (unquote(user), unquote(password)) if at else None)

    @staticmethod
    def kept_query(query: str) -> str:
        """Return the part of a query that belongs to the address: all of it."""
        return query

    def shares_credentials_with(self, url: str) -> bool:
        """Whether to send credentials to a redirect's target: same host, no https→http."""
        here, there = urlsplit(self.url), urlsplit(url)
        if here.hostname != there.hostname:
            return False
        return (here.scheme, here.port) == (there.scheme, there.port) or (
            here.scheme == "http" and there.scheme == "https"
        )


def _split(text: str) -> SplitResult:
    try:
        text.encode()  # half of a surrogate pair is a ValueError, too
        parts = urlsplit(text)
        port_is_sound = parts.port is None or parts.port > 0
    except ValueError:
        port_is_sound = False
    if not port_is_sound or parts.scheme.lower() not in {"http", "https"} or not parts.hostname:
        raise RequestRefused(
            f"{without_credentials(text)!r} is not an http or https URL{_meant(text)}"
        )
    return parts


_WITHOUT_SCHEME = re.compile(
    r"(?P<here>localhost|127\.0\.0\.1)?(?(here)|(?:[\w-]+\.)+[^\W\d]{2,})(?::\d{1,5})?(?:[/?]\S*)?"
)


def _meant(text: str) -> str:
    """Return a question that names the address that was meant, if only its scheme is missing."""
    found = _WITHOUT_SCHEME.fullmatch(text.strip())
    if found is None:
        return ""
    return f"; did you mean {'http' if found['here'] else 'https'}://{text.strip()}?"


def parts_of(url: str) -> SplitResult:
    """Split an address of unknown origin; one that cannot be split is a path alone."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def is_loopback(host: str) -> bool:
    """Whether an address or host name, without brackets and port, means this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, without its port.

    Hosts on loopback keep their port, because each is another repository of a test.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    return f"{host}:{port}" if port and is_loopback(host) else host


_USERINFO = re.compile(r"(?<=//)[^/?#\s]*@")


def without_credentials(text: str) -> str:
    """Remove ``user:password@`` from the URLs in a text."""
    return _USERINFO.sub("", text)
