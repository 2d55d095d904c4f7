"""What people are told by mail or webhook, and the sending of it."""

import json
import re
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from netrc import NetrcParseError, netrc

from politeweb.addresses import is_loopback, parts_of
from politeweb.settings import HttpSettings
from recordsilo.wording import counted
from silowork.errors import JobRefused

SETTINGS = ("mail", "from", "smtp", "webhook")
SECONDS_OF_A_STEP = 20.0
MOST_IN_A_MESSAGE = 100
_LONGEST_TEXT = 300
_HOST_AND_PORT = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[^\s:\[\]]+):\d{1,5}")
_HTTP = HttpSettings(
    connect_timeout=SECONDS_OF_A_STEP,
    read_timeout=SECONDS_OF_A_STEP,
    total_timeout=SECONDS_OF_A_STEP,
)


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that people are told.

    Attributes:
        about: What is not well, such as the name of an endpoint.
        what: How it is, in a word; it is told once of each.
        said: A sentence.
        url: Its address; empty for none.
        is_over: Whether it is well again; only who was told of it before is told this.
    """

    about: str
    what: str
    said: str
    url: str = ""
    is_over: bool = False

    @property
    def line(self) -> str:
        """The notice in one line."""
        place = f" ({clean(self.url)})" if self.url else ""
        return f"{clean(self.about)}{place}: {clean(self.what)}: {clean(self.said)}"


@dataclass(frozen=True, slots=True)
class NoticeSender:
    """Who tells.

    Attributes:
        kind, name: In JSON, such as ``fleet`` and its name.
        thing: In JSON, what notices are about, such as ``endpoint``.
        more: The command that shows all.
    """

    kind: str
    name: str
    thing: str
    more: str

    def subject(self, notices: Sequence[Notice]) -> str:
        """The subject of a message: one line, whatever servers name their jobs."""
        if len(notices) == 1:
            return clean(f"[silo] {self.name}: {notices[0].about} is {notices[0].what}")
        over = sum(one.is_over for one in notices)
        parts = (
            (len(notices) - over, "is not well", "are not well"),
            (over, "is well again", "are well again"),
        )
        said = ", ".join(counted(number, *words) for number, *words in parts if number)
        return clean(f"[silo] {self.name}: {said}")

    def body(self, notices: Sequence[Notice]) -> str:
        """The text of a message: a line for each notice."""
        lines = [one.line for one in notices[:MOST_IN_A_MESSAGE]]
        if len(notices) > MOST_IN_A_MESSAGE:
            lines.append(f"and {len(notices) - MOST_IN_A_MESSAGE:,} more: {self.more}")
        return "\n\n".join(lines) + "\n"


def clean(text: str) -> str:
    """Return a text of others as one line that is not too long."""
    plain = " ".join(text.encode("utf-8", "replace").decode().split())
    return plain if len(plain) <= _LONGEST_TEXT else plain[: _LONGEST_TEXT - 1] + "…"


def check_settings(settings: Mapping[str, str]) -> None:
    """Check whom to tell: ``mail`` and ``from``, ``smtp``, ``webhook``; each may be absent.

    Raises:
        JobRefused: Says what is wrong.
    """
    for key in settings.keys() & {"mail", "from"}:
        if "@" not in settings[key] or not settings[key].isprintable():
            raise JobRefused(f"{key} is an address such as me@example.org")
    if "smtp" in settings and not _HOST_AND_PORT.fullmatch(settings["smtp"]):
        raise JobRefused("smtp is a host and a port, such as mail.example.org:25")
    if "webhook" in settings:
        parts = parts_of(settings["webhook"])
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise JobRefused("webhook is an address that begins with http or https")


def send_mail(
    settings: Mapping[str, str], sender: NoticeSender, notices: Sequence[Notice], now: datetime
) -> None:
    """Send one mail; with TLS if the server has it, and with the password that ~/.netrc has.

    Raises:
        OSError, SMTPException: It could not be sent.
    """
    host, _, port = settings.get("smtp", "localhost:25").rpartition(":")
    host = host.strip("[]")
    message = EmailMessage()
    message["Subject"] = sender.subject(notices)
    message["From"] = settings.get("from") or f"silo@{socket.gethostname()}"
    message["To"] = settings["mail"]
    message["Date"] = now
    message.set_content(sender.body(notices))
    context = ssl.create_default_context()
    with _connected(host, int(port), context) as server:
        server.ehlo_or_helo_if_needed()
        is_private = isinstance(server, smtplib.SMTP_SSL) or is_loopback(host)
        if not is_private and server.has_extn("starttls"):
            server.starttls(context=context)
            server.ehlo()
            is_private = True
        if is_private and server.has_extn("auth"):
            with suppress(FileNotFoundError, NetrcParseError):
                if found := netrc().authenticators(host):
                    server.login(found[0], found[2])
        server.send_message(message)


def _connected(host: str, port: int, context: ssl.SSLContext) -> smtplib.SMTP:
    if port == smtplib.SMTP_SSL_PORT:
        return smtplib.SMTP_SSL(host, port, timeout=SECONDS_OF_A_STEP, context=context)
    return smtplib.SMTP(host, port, timeout=SECONDS_OF_A_STEP)


def send_webhook(
    settings: Mapping[str, str], sender: NoticeSender, notices: Sequence[Notice], now: datetime
) -> None:
    """Send one POST of JSON; any answer of 200 to 299 is a success.

    Raises:
        OSError: It could not be sent, or the answer is another.
    """
    from politeweb.failures import BROKEN, reason_of  # noqa: PLC0415
    from politeweb.sessions import PlainSession, bounded, sent  # noqa: PLC0415 - loads requests

    content = {
        "text": f"{sender.subject(notices)}\n\n{sender.body(notices)}",
        sender.kind: sender.name,
        "at": now.isoformat(timespec="seconds"),
        "count": len(notices),
        "notices": [
            {sender.thing: one.about, "what": one.what, "said": one.said, "url": one.url}
            for one in notices[:MOST_IN_A_MESSAGE]
        ],
    }
    headers = {**_HTTP.headers, "Content-Type": "application/json"}
    body = json.dumps(content).encode()
    try:
        with (
            bounded(PlainSession(), SECONDS_OF_A_STEP) as session,
            sent(
                session, _HTTP, "POST", settings["webhook"],
                headers=headers, auth=None, body=body,
            ) as answer,
        ):  # fmt: skip
            status = answer.status_code
    except BROKEN as error:  # its text has the address, which may be secret
        raise OSError(reason_of(error, _HTTP)) from None
    if not 200 <= status < 300:
        raise OSError(f"the webhook answered {status}")
