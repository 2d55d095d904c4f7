"""Normal forms of an address: that of Heritrix and that of browsers (pure).

`heritrix_form` is the form that Heritrix 3 fetches and logs; `whatwg_form` is that of browsers
and of the crawlers built on them.

Source: `UsableURIFactory` and `LaxURLCodec` of webarchive-commons 1.1, whose behaviour
tests/crawlmatch/data/heritrix_forms.tsv records; the URL Standard of the WHATWG.
"""

import re
from encodings.idna import ToASCII
from functools import cache
from typing import Any
from urllib.parse import urljoin

from crawlmatch.errors import BadAddress
from recordsilo.extras import needed

MAX_LENGTH = 2083
"""Heritrix refuses longer addresses."""
FETCHED_SCHEMES = frozenset({"http", "https", "ftp", "ftps", "sftp"})
"""Schemes that a crawler fetches; addresses with others do not link to documents."""

_SAFE = r"A-Za-z0-9\-~_.*/=&+,:;@$!)(%|'"
_QUERY_SAFE = _SAFE + r"{}\[\]^?"
_ESCAPED_IN_PATH = re.compile(f"[^{_SAFE}]+")
_ESCAPED_IN_QUERY = re.compile(f"[^{_QUERY_SAFE}]+")
_CANONICAL = re.compile(
    r"https?://(?:[a-z0-9-]{1,63}\.)*[a-z0-9-]{1,63}(?:/(?!\.)"
    rf"[{_SAFE.replace('/', '')}]*)+(?:\?[{_QUERY_SAFE}]+)?"
)
"""Matches most of the addresses that `heritrix_form` does not change."""
_PLAIN = re.compile(
    r"https?://(?:[a-z0-9-]{1,63}\.)*[a-z][a-z0-9-]{0,62}(?:/(?!\.)[A-Za-z0-9\-~_.*=&+,:;@$!)(]*)+"
    r"(?:\?[A-Za-z0-9\-~_.*/=&+,:;@$!)(?]+)?"
)
_PARTS = re.compile(
    r"(?:(?P<scheme>[a-zA-Z][a-zA-Z0-9+\-.]*):)?"
    r"(?P<specific>(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?)?"
    r"(?:#.*)?",
    re.DOTALL,
)
_MANY_SLASHES = re.compile(r"(https?://)/+(.*)", re.DOTALL | re.IGNORECASE)
_PARENTS_FIRST = re.compile(r"\A(?:/\.\./)+")
_HOST = re.compile(r"(?:[a-zA-Z0-9_-]++\.?)++")
_LABEL_ENDS = re.compile("[.\u3002\uff0e\uff61]")
_NUMBERED_PORT = re.compile(r"(.*:)([0-9]+)")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_TRIMMED = "".join(map(chr, range(33)))
_BEFORE_PATH = re.compile(r"\s*[a-zA-Z][a-zA-Z0-9+\-.]*:[/\\]*[^/\\?#]*")
_REPLACEMENT = "%EF%BF%BD"
_NOT_ASCII = re.compile(r"%[Ee][Ff]%[Bb][Ff]%[Bb][Dd]|%[89A-Fa-f][0-9A-Fa-f]|[^\x00-\x7f]")


def heritrix_form(address: str) -> str:
    """Return the form in which Heritrix fetches and logs an address.

    The form of a form is itself, except where a dot stood beside a port
    or a user (``http://a.example:80.``): Heritrix drops one of them at a time.

    Args:
        address: As found in a description or a page; outer spaces are ignored.

    Raises:
        BadAddress: Heritrix would refuse it, or its scheme is not fetched.
    """
    if _CANONICAL.fullmatch(address) and len(address) <= MAX_LENGTH:
        return address
    form = _fixed_up(address)
    if len(form) > MAX_LENGTH:
        raise BadAddress(address, f"it is longer than {MAX_LENGTH:,} characters")
    return form


@cache
def _ada() -> Any:
    return needed("ada_url", "The form of an address in browsers", "crawl")


def whatwg_form(address: str) -> str:
    """Return the form in which a browser fetches an address, without its fragment.

    Raises:
        BadAddress: A browser would refuse it, or its scheme is not fetched.
    """
    try:
        url = _ada().URL(address.replace("\xa0", " "))
    except (ValueError, UnicodeError):
        raise BadAddress(address, "a browser would refuse it") from None
    if url.protocol[:-1] not in FETCHED_SCHEMES:
        raise BadAddress(address, f"the scheme {url.protocol[:-1]} is not fetched")
    url.hash = ""
    return str(url.href)


def replaced_form(address: str) -> str:
    """Return Heritrix's form of an address of which each byte that is not ASCII became U+FFFD.

    So crawlers log addresses that they read in another charset than they were written in. A
    character has as many of them as its UTF-8 has bytes, a no-break space two; escaped bytes count.

    Returns:
        ``""`` if no byte of the path and the query is replaced, or there is no such form.
    """
    begin = _after_host(address)
    text = address[begin:].rstrip(_TRIMMED + "\xa0").partition("#")[0]
    found = _NOT_ASCII.sub(_replaced, text)
    if found == text:
        return ""
    try:
        return heritrix_form(address[:begin] + found)
    except BadAddress:
        return ""


def _after_host(address: str) -> int:
    match = _BEFORE_PATH.match(address)
    return match.end() if match else len(address)


def _replaced(match: re.Match[str]) -> str:
    """As many U+FFFD as the match has bytes; what is one already stays one."""
    text = match[0]
    is_one = text.startswith("%") or text == "\ufffd"
    return _REPLACEMENT * (1 if is_one else len(text.encode("utf-8", "replace")))


def is_plain(address: str) -> bool:
    """Whether an address is certainly equal to both its forms, Heritrix's and the browsers'."""
    return len(address) <= MAX_LENGTH and _PLAIN.fullmatch(address) is not None


def redirect_target(page: str, location: str) -> str | None:
    """Return the target of a redirect, in Heritrix's form; None if it is not a valid address.

    Args:
        page: The address that redirects.
        location: The value of its ``Location`` header; may be relative.
    """
    if _stands_alone(page, location):
        return location
    try:
        return heritrix_form(urljoin(page, location.strip()))
    except (BadAddress, ValueError):
        return None


def _stands_alone(page: str, location: str) -> bool:
    """Whether a location is an address in Heritrix's form, which `urljoin` does not change.

    It drops an empty parameter (``;``), and refuses pages with some hosts: those of IPv6 that are
    none, and some that are not ASCII.
    """
    return (
        len(location) <= MAX_LENGTH
        and ";" not in location
        and page.isascii()
        and "[" not in page
        and "]" not in page
        and _CANONICAL.fullmatch(location) is not None
    )


def host_of(address: str) -> str:
    """Return the host of an address in one of the forms above, without user and port."""
    authority = address.partition("://")[2].partition("/")[0].partition("?")[0]
    return authority.rpartition("@")[2].partition(":")[0]


# -- Heritrix ---------------------------------------------------------------------------


def _fixed_up(address: str) -> str:
    text = _cleaned(address)
    match = _PARTS.fullmatch(text)
    if match is None or not match["scheme"]:
        raise BadAddress(address, "it has no scheme, such as https:")
    scheme = match["scheme"].lower()
    if scheme not in FETCHED_SCHEMES:
        raise BadAddress(address, f"the scheme {scheme} is not fetched")
    if match["authority"] is None or match["specific"] == "//":
        raise BadAddress(address, "it has no host")
    authority = _authority(address, scheme, match["authority"])
    path = _PARENTS_FIRST.sub("/", match["path"], count=1) if match["path"] else "/"
    path = _without_dots(_ESCAPED_IN_PATH.sub(_escaped, path))
    query = _ESCAPED_IN_QUERY.sub(_escaped, match["query"] or "")
    return f"{scheme}://{authority}{path}{'?' if query else ''}{query}"


def _cleaned(address: str) -> str:
    """Correct spaces, backslashes and slashes, as old browsers did."""
    text = address.replace("\xa0", " ").strip(_TRIMMED)
    if len(text) > MAX_LENGTH:
        raise BadAddress(address, f"it is longer than {MAX_LENGTH:,} characters")
    before, mark, after = text.partition("?")
    text = before.replace("\\", "/") + mark + after
    text = text.translate({9: None, 10: None, 13: None})
    match = _MANY_SLASHES.fullmatch(text)
    return match[1] + match[2] if match else text


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _authority(address: str, scheme: str, authority: str) -> str:
    while authority.endswith("%20"):
        authority = authority[:-3]
    user, at, rest = authority.partition("@")
    if not at:
        user, rest = "", authority
    name, colon, port = rest.partition(":")
    text = _ESCAPED_IN_PATH.sub(_escaped, user) + at + _host(address, name) + colon + port
    if scheme in _DEFAULT_PORTS:
        text = _checked_port(address, text).removesuffix(_DEFAULT_PORTS[scheme])
        text = _checked_port(address, text)  # there may be a second one before it
    text = text.removesuffix(".").removeprefix(".")
    host, colon, port = text.rpartition(":")
    if not colon or "@" in port:
        return text
    if port and not (port.isascii() and port.isdigit()):
        raise BadAddress(address, f"its port is not a number: {port}")
    if ":" in host.rpartition("@")[2]:
        raise BadAddress(address, "it has two ports")
    return f"{host}:{port.lstrip('0') or '0'}" if port else host


def _checked_port(address: str, authority: str) -> str:
    match = _NUMBERED_PORT.fullmatch(authority)
    if match is None:
        return authority
    port = match[2].lstrip("0") or "0"
    if len(port) > 5 or not 0 < int(port) <= 65535:
        raise BadAddress(address, f"the port {port} is out of range")
    return match[1] + port


def _host(address: str, name: str) -> str:
    """Return a host name in lower case, with its labels encoded by IDNA 2003."""
    if name.isascii():
        if not _HOST.fullmatch(name):
            raise BadAddress(address, f"{name!r} cannot be the name of a host")
        return name.lower()
    try:
        encoded = ".".join(ToASCII(label).decode() for label in _LABEL_ENDS.split(name))
    except UnicodeError:
        encoded = ""
    if not _HOST.fullmatch(encoded):
        raise BadAddress(address, f"{name!r} cannot be the name of a host")
    return encoded.lower()


def _without_dots(path: str) -> str:
    """Resolve ``.`` and ``..`` in a path; segments above the root are dropped."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
