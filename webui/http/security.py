"""Checks of hosts and of requests from other sites; the headers of every answer (pure).

The page listens on loopback and answers only to configured names (a DNS name that is
rebound to 127.0.0.1 is refused). It refuses changes requested by another site's page.
Beyond loopback, users sign in (`webui.people.authentication`).

Source: Fetch Metadata Request Headers (W3C); RFC 6454 (Origin); CSP Level 3.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from politeweb.addresses import is_loopback
from webui.http.errors import BadRequest, CrossSite, ForeignHost
from webui.http.messages import Request

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_AUTHORITY = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:/@\s]+))(?::\d{1,5})?")

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""``data:`` images are for the arrows and ticks in Pico's style sheet."""
FILE_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""For files of records: shown in a separate origin, without running or loading anything."""

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: with it browsers send "Origin: null", and our own forms would look foreign.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "private, no-cache",
    "Vary": "Accept, Accept-Encoding, Accept-Language, Cookie, Origin, Sec-Fetch-Dest, "
    "Sec-Fetch-Site",
    "Content-Security-Policy": PAGE_POLICY,
}
"""Sent with every answer, unless the answer has its own value."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Under which addresses the page answers.

    Attributes:
        names: Host names it answers to, in lower case, without port.
        remote: Whether it was deliberately bound beyond loopback: any IP address is then an
            accepted host (a rebound DNS name is a name, not an address).
        proxies: Addresses of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto
            are trusted.
        user_header: The header in which they name the signed-in user; empty: none.
    """

    names: frozenset[str] = LOOPBACK_NAMES
    remote: bool = False
    proxies: frozenset[str] = frozenset()
    user_header: str = ""


LOOPBACK_ONLY = AddressPolicy()


def forwarded(request: Request, policy: AddressPolicy) -> Request:
    """Return the request as the client sent it to a trusted proxy, else unchanged."""
    if request.remote_addr not in policy.proxies:
        return request
    # A proxy appends the address it saw; the client may have written everything before it.
    client = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    scheme = request.headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower()
    return replace(
        request,
        remote_addr=client if _is_address(client) else request.remote_addr,
        scheme=scheme if scheme in {"http", "https"} else request.scheme,
        by_proxy=True,
    )


def check(request: Request, policy: AddressPolicy, *, only_reads: bool = False) -> None:
    """Check the host and the origin of a request.

    Args:
        only_reads: Whether it changes nothing, whatever its method.

    Raises:
        BadRequest: There is no Host header (RFC 9112, section 3.2).
        ForeignHost: It is malformed or names another machine.
        CrossSite: A change requested by another site, or, beyond loopback, by a client that
            does not state its site.
    """
    if "host" not in request.headers:
        raise BadRequest("A request must name the host that it is for (Host).")
    check_host(request.headers["host"], policy)
    if not request.is_safe and not only_reads:
        check_site(request)


def check_host(host: str, policy: AddressPolicy) -> None:
    """See `check`.

    Raises:
        ForeignHost: See `check`.
    """
    match = _AUTHORITY.fullmatch(host.strip())
    name = (match["v6"] or match["name"]).lower().rstrip(".") if match else ""
    if name in policy.names or (policy.remote and _is_address(name)):
        return
    raise ForeignHost(
        "This server answers only to 127.0.0.1, localhost and its configured names; the "
        "request was for another host."
    )


def public_origin(request: Request, policy: AddressPolicy) -> str:
    """Return scheme and host of the request, such as ``https://silo.example``.

    Empty if it came by an IP address or a name of this machine alone: others cannot use those.
    """
    host = request.headers.get("host", "").strip()
    match = _AUTHORITY.fullmatch(host)
    name = (match["name"] or "").lower().rstrip(".") if match else ""
    is_public = name in policy.names - LOOPBACK_NAMES and not _is_address(name)
    return f"{request.scheme}://{host}" if is_public else ""


def check_site(request: Request) -> None:
    """See `check`. Only browsers older than 2020 send neither header.

    Raises:
        CrossSite: See `check`.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin") or _origin_of(request.headers.get("referer", ""))
    if site is None and origin is None:
        if not is_loopback(request.remote_addr):
            raise CrossSite(
                "Programs on other machines must send the address of this page in an Origin header."
            )
    elif not _is_own(request, site, origin):
        raise CrossSite(
            "Refused, because this change was requested by another site. Make the change on "
            "the page of the record."
        )


def _is_own(request: Request, site: str | None, origin: str | None) -> bool:
    if site is not None:
        return site in {"same-origin", "none"}
    own = f"{request.scheme}://{request.headers['host'].strip()}"
    return (origin or "").lower() == own.lower()


def _origin_of(referer: str) -> str | None:
    """The origin of the page that a request says it comes from; None if it does not say so."""
    parts = referer.split("/", 3)
    return "/".join(parts[:3]) if referer else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
