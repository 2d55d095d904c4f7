"""Readers of log lines, one for each format (pure).

A reader is described by its `spec`, a text that makes the same reader again (`reader_of`): so the
rest of a file can be read later, by another process.
"""

import functools
import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from recordsilo.patterns import PatternRefused
from usagestats.errors import FormatUnknown
from usagestats.expressions import Expression
from usagestats.lines.moments import any_moment, clf_moment, iso_moment, moment_by
from usagestats.lines.requests import RequestLine, read_request, read_target
from usagestats.values import Hit

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
HEAD = re.compile(r"(\S+) (\S+) (.+)", re.ASCII | re.DOTALL)
"""What is before the time in the formats of Apache: address, identity and user."""
_LINE = re.compile(
    rf"(\S+) (\S+) (.+?) \[([^][]{{0,64}})\] {_QUOTED} (\d{{3}}) (\d+|-)(.*)", re.ASCII | re.DOTALL
)
_PARTS = ("address", "ident", "user", "time", "request", "status", "size")
_AGENT = re.compile(rf" {_QUOTED} {_QUOTED}(?: .*)?", re.ASCII | re.DOTALL)
"""How long a pattern of one's own may take for a line."""


class Reader(Protocol):
    """Reads the lines of a log.

    Attributes:
        spec: What makes this reader again: the name of the format, and what it needs.
        has_agent: Whether the log has user agents; without them no robot is recognised.
    """

    spec: str
    has_agent: bool

    def read(self, line: bytes) -> Hit | None:
        """Read a line without its LF; None if it is not of this format."""

    def is_directive(self, line: bytes) -> bool:
        """Whether the line is about the log itself, such as ``#Fields`` of IIS."""

    def after(self, lines: bytes) -> "Reader":
        """Return the reader for what follows these lines."""


def text_of(data: bytes) -> str:
    """Decode a part of a line; a byte that is not UTF-8 becomes ``\\xff``."""
    return data.decode("utf-8", "backslashreplace")


class _Plain:
    """A reader without directives."""

    has_agent = True

    def is_directive(self, line: bytes) -> bool:  # noqa: ARG002
        return False

    def after(self, lines: bytes) -> Any:  # noqa: ARG002
        return self


class WebServerReader(_Plain):
    """The formats of Apache and nginx: common, combined, and combined after a virtual host.

    What follows the user agent is not read. A line of a combined log without referrer and user
    agent is not of that format.
    """

    def __init__(self, spec: str) -> None:
        self.spec, self.has_agent = spec, spec != "common"
        self.has_host = spec == "vhost_combined"

    def read(self, line: bytes) -> Hit | None:
        text = text_of(line.removesuffix(b"\r"))
        host = ""
        if self.has_host:
            host, _, text = text.partition(" ")
        found = _LINE.fullmatch(text)
        if found is None:
            return None
        *parts, rest = found.groups()
        known = dict(zip(_PARTS, parts, strict=True), host=host)
        moment = clf_moment(known["time"])
        if moment is None:
            return None
        if self.has_agent:
            more = _AGENT.fullmatch(rest)
            if more is None:
                return None
            known["referrer"], known["agent"] = more.groups()
        elif rest:
            return None
        return _hit(moment, read_request(known["request"]), known)


class IISReader:
    """W3C extended log files, as IIS writes them; times are in UTC, and agents have ``+``.

    Args:
        fields: Of the directive ``#Fields`` that is in force.

    Source: https://www.w3.org/TR/WD-logfile.html
    """

    has_agent = True

    def __init__(self, fields: Sequence[str]) -> None:
        self._fields = tuple(fields)
        self.spec = f"iis:{' '.join(fields)}"

    def is_directive(self, line: bytes) -> bool:
        return line.startswith(b"#")

    def after(self, lines: bytes) -> "IISReader":
        at = lines.rfind(b"\n#Fields:") + 1
        if not lines[at:].startswith(b"#Fields:"):
            return self
        line = lines[at:].partition(b"\n")[0]
        return IISReader(text_of(line).removeprefix("#Fields:").split())

    def read(self, line: bytes) -> Hit | None:
        parts = [text_of(part) for part in line.split()]
        if len(parts) != len(self._fields) or not parts:
            return None
        known = {
            name: "" if part == "-" else part
            for name, part in zip(self._fields, parts, strict=True)
        }
        moment = iso_moment(f"{known.get('date')}T{known.get('time')}+00:00")
        status, address = known.get("sc-status", ""), known.get("c-ip", "")
        if moment is None or not address or not _is_status(status):
            return None
        request = read_target(known.get("cs-method", ""), known.get("cs-uri-stem", ""))
        if query := known.get("cs-uri-query"):
            request = RequestLine(request.method, request.path, query)
        return _hit(
            moment,
            request,
            {
                "address": address,
                "user": known.get("cs-username", ""),
                "agent": known.get("cs(User-Agent)", "").replace("+", " "),
                "status": status,
                "referrer": known.get("cs(Referer)", ""),
                "host": known.get("cs-host", ""),
                "size": known.get("sc-bytes", ""),
            },
        )


_NAMES: Mapping[str, tuple[str, ...]] = {
    "time": ("time", "time_iso8601", "@timestamp", "timestamp", "time_local", "ts", "msec"),
    "address": (
        "address", "remote_addr", "remote_ip", "client_ip", "clientip", "ip", "host",
        "request.client_ip", "request.remote_ip", "client.ip", "source.ip",
    ),
    "user": ("user", "remote_user", "user_id", "user.name"),
    "request": ("request", "request_line"),
    "method": ("method", "request_method", "verb", "request.method", "http.request.method"),
    "path": ("path", "uri", "request_uri", "url", "request.uri", "url.path", "url.original"),
    "status": ("status", "status_code", "response", "code", "http.response.status_code"),
    "agent": (
        "agent", "user_agent", "http_user_agent", "userAgent", "user-agent",
        "request.headers.User-Agent", "user_agent.original",
    ),
    "referrer": (
        "referrer", "referer", "http_referer", "request.headers.Referer", "http.request.referrer",
    ),
    "host": ("vhost", "server_name", "http_host", "request.host"),
    "size": ("size", "bytes", "body_bytes_sent", "bytes_sent", "http.response.body.bytes"),
}  # fmt: skip
"""What a part of a line is called in JSON logs; the first name that a line has counts."""
PARTS = tuple(_NAMES)


class JSONReader(_Plain):
    """One JSON object on each line; objects in it have names such as ``request.uri``.

    Args:
        names: Part of a line → its name in this log, where it has a name of its own.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.spec = f"json:{json.dumps(dict(names), sort_keys=True)}" if names else "json"
        self._names = {
            part: ((names[part],) if part in names else usual) for part, usual in _NAMES.items()
        }

    def read(self, line: bytes) -> Hit | None:
        try:
            known = json.loads(line)
        except (ValueError, RecursionError):
            return None
        if not isinstance(known, dict):
            return None
        known = dict(_flat(known))
        found = {
            part: next((known[name] for name in names if name in known), "")
            for part, names in self._names.items()
        }
        moment = any_moment(found["time"])
        texts = {part: "" if value is None else str(value) for part, value in found.items()}
        if b"\\u" in line:  # it may name half of a character, which is no text
            texts = {
                part: text_of(text.encode("utf-8", "backslashreplace"))
                for part, text in texts.items()
            }
        if moment is None or not texts["address"] or not _is_status(texts["status"]):
            return None
        request = (
            read_request(texts["request"])
            if texts["request"]
            else read_target(texts["method"], texts["path"])
        )
        return _hit(moment, request, texts)


def _flat(known: Mapping[str, Any], before: str = "", depth: int = 4) -> Iterable[tuple[str, Any]]:
    for name, value in known.items():
        if isinstance(value, dict) and depth:
            yield from _flat(value, f"{before}{name}.", depth - 1)
        elif isinstance(value, list):
            yield before + name, value[0] if value else ""
        else:
            yield before + name, value


class OwnReader(_Plain):
    """A regular expression of one's own, with a group for each part of a line.

    Args:
        pattern: Groups ``address``, ``time``, ``status``, and ``request`` or ``method`` and
            ``path``; optional: ``agent``, ``user``, ``referrer``, ``host``, ``size``.
        time: A form of `datetime.strptime`; ``""`` for the usual forms.

    Raises:
        FormatUnknown: The expression is invalid, or lacks a group.
    """

    def __init__(self, pattern: str, time: str = "") -> None:
        self.spec = f"regex:{json.dumps([pattern, time])}"
        try:
            self.expression = Expression(pattern)
        except PatternRefused as error:
            raise FormatUnknown(f"the expression of the log's lines: {error}") from error
        groups = self.expression.groups
        for needed in ({"address"}, {"time"}, {"status"}, {"request", "path"}):
            if not needed & groups:
                named = " or ".join(sorted(f"(?P<{one}>…)" for one in needed))
                raise FormatUnknown(f"the expression of the log's lines needs a group {named}")
        self.has_agent = "agent" in groups
        self._moment: Callable[[str], int | None] = (
            functools.partial(moment_by, time) if time else any_moment
        )

    def read(self, line: bytes) -> Hit | None:
        found = self.expression.fullmatch(text_of(line.removesuffix(b"\r")))
        if found is None:
            return None
        known = {name: value or "" for name, value in found.groupdict().items()}
        moment = self._moment(known["time"])
        if moment is None or not known["address"] or not _is_status(known["status"]):
            return None
        request = (
            read_request(known["request"])
            if "request" in known
            else read_target(known.get("method", "GET"), known["path"])
        )
        return _hit(moment, request, known)


def _hit(moment: int, request: RequestLine, known: Mapping[str, str]) -> Hit:
    """Make a request from the texts of a line, by the names of `_NAMES`; ``-`` is nothing."""
    user, agent, referrer, host, size = (
        known.get(name, "") for name in ("user", "agent", "referrer", "host", "size")
    )
    return Hit(
        moment, known["address"], "" if user == "-" else user, agent, request.method, request.path,
        request.query, int(known["status"]), "" if referrer == "-" else referrer,
        request.host or host,
        int(size) if size.isascii() and size.isdigit() and len(size) < 19 else None,
    )  # fmt: skip


def _is_status(text: str) -> bool:
    return len(text) == 3 and text.isascii() and text.isdigit()


# --------------------------------------------------------------------------- choosing

WEB_SERVER = ("combined", "vhost_combined", "common")
FORMATS = (*WEB_SERVER, "iis", "json")
"""Formats that their name alone describes."""
NAMES = (*FORMATS, "regex")


def reader_of(spec: str) -> Reader:
    """Make a reader from a `Reader.spec`, or from the name of a format.

    Raises:
        FormatUnknown: There is no such format.
    """
    name, _, rest = spec.partition(":")
    if name in WEB_SERVER:
        return WebServerReader(name)
    if name == "iis":
        return IISReader(rest.split())
    try:
        if name == "json":
            return JSONReader(json.loads(rest) if rest else {})
        if name == "regex":
            return OwnReader(*json.loads(rest))
    except (ValueError, TypeError) as error:
        raise FormatUnknown(f"{spec!r} does not describe a log format") from error
    raise FormatUnknown(f"there is no log format {name!r}; there are {', '.join(NAMES)}")


def detected(lines: Sequence[bytes]) -> Reader | None:
    """Return the reader that reads the most of these lines; None if none reads any."""
    lines = [line for line in lines if line.strip()]
    # Other readers would take the host for the address of every visitor.
    has_host = sum(map(_begins_with_host, lines)) * 2 > len(lines)
    names = ("vhost_combined", "json") if has_host else ("combined", "common", "json")
    readers: list[Reader] = [reader_of(name) for name in names]
    if any(line.startswith(b"#Fields:") for line in lines):
        readers.append(IISReader(()).after(b"\n".join(lines)))
    read = {one: sum(one.read(line) is not None for line in lines) for one in readers}
    best = max(readers, key=lambda one: read[one])
    if read[best]:
        return best
    is_iis = any(line.startswith(b"#") for line in lines) and isinstance(readers[-1], IISReader)
    return readers[-1] if is_iis else None


def _begins_with_host(line: bytes) -> bool:
    """Whether the line begins with a name, and then an address."""
    first, _, rest = line.partition(b" ")
    return not _is_address(first) and _is_address(rest.partition(b" ")[0])


def _is_address(part: bytes) -> bool:
    try:
        ipaddress.ip_address(text_of(part))
    except ValueError:
        return False
    return True
