"""Tells people by mail or webhook that endpoints are not well: once, and again after they were.

The clock calls `Notices.look` about once a minute. Messages are sent in a thread of their own,
and noted as told in the ledger after they were sent, so a server that does not answer loses
none, and holds nothing up.
"""

import json
import logging
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from netrc import NetrcParseError, netrc
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from politeweb.addresses import is_loopback
from politeweb.connections import bounded
from politeweb.failures import BROKEN, reason_of
from politeweb.sessions import PlainSession, sent
from politeweb.settings import HttpSettings
from silofleet.errors import FleetError
from silofleet.fleet import Fleet, Line
from silofleet.values import Node, State
from silowork.due.timetable import duration_of, duration_text

TOLD = (State.QUARANTINED, State.BLOCKED, State.MOVED, State.SUSPICIOUS)
ADVICE: Mapping[State, str] = {
    State.QUARANTINED: "asked once a month; to run it: silo fleet quarantine {0} {1} --release",
    State.BLOCKED: "ask the repository for access, then: silo fleet run-now {0} {1}",
    State.MOVED: "if that is the same repository: silo fleet readdress {0} {1}",
    State.SUSPICIOUS: "ask the repository; if its list is right: silo fleet accept {0} {1}",
}
BETWEEN_LOOKS = timedelta(minutes=1)
LONGEST_REST = timedelta(hours=1)
"""Between two attempts to send, while they fail."""
SECONDS_OF_A_STEP, SECONDS_OF_SENDING = 20.0, 120.0
MOST_IN_A_MESSAGE = 100
_HTTP = HttpSettings(
    connect_timeout=SECONDS_OF_A_STEP,
    read_timeout=SECONDS_OF_A_STEP,
    total_timeout=SECONDS_OF_A_STEP,
)
_LONGEST_TEXT = 300

logger = logging.getLogger("silofleet")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that people are told.

    Attributes:
        endpoint: Its name, or ``node/NAME``.
        what: A state, ``lost`` or ``silent``.
        said: A sentence.
        url: The address of the repository.
    """

    endpoint: str
    what: str
    said: str
    url: str = ""

    @property
    def line(self) -> str:
        """The notice in one line."""
        place = f" ({self.url})" if self.url else ""
        return f"{self.endpoint}{place}: {self.what}: {self.said}"

    def to_json(self) -> dict[str, str]:
        """The notice as JSON values."""
        return {
            "endpoint": self.endpoint, "what": self.what, "said": self.said, "url": self.url,
        }  # fmt: skip


# --------------------------------------------------------------------------- what is not well


def advice_for(line: Line, directory: str) -> str:
    """What a person can do about the state of an endpoint; empty if nothing is known."""
    return ADVICE.get(line.state, "").format(directory, line.endpoint.name)


def notices_of(
    lines: Iterable[Line],
    nodes: Iterable[Node],
    lost: Iterable[str],
    silent_after: timedelta | None,
    now: datetime,
    *,
    directory: str,
) -> tuple[list[Notice], set[tuple[str, str]]]:
    """What people must know now, and what is well again: pairs of endpoint and ``what``."""
    notices: list[Notice] = []
    well: set[tuple[str, str]] = set()
    for line in lines:
        name, url = line.endpoint.name, line.endpoint.url
        if line.state in TOLD:
            parts = map(_clean, (line.facts.said, advice_for(line, directory)))
            notices.append(Notice(name, line.state.value, "; ".join(filter(None, parts)), url))
        elif is_well(line):
            well.update((name, state.value) for state in TOLD)
        if silent_after is None or line.state is State.PAUSED:
            continue
        since = line.facts.whole or line.facts.added
        if now - since > silent_after:
            said = f"no whole harvest since {since:%Y-%m-%d}, for more than"
            notices.append(Notice(name, "silent", f"{said} {duration_text(silent_after)}", url))
        else:
            well.add((name, "silent"))
    gone = set(lost)
    for node in nodes:
        if node.name in gone:
            said = f"it has not reported since {node.seen:%Y-%m-%d %H:%M} UTC; its Silos wait"
            notices.append(Notice(f"node/{node.name}", State.LOST.value, said))
        else:
            well.add((f"node/{node.name}", State.LOST.value))
    return notices, well


def is_well(line: Line) -> bool:
    """Whether the last harvest that says something was whole, and nothing is known against it."""
    return line.state in {State.WHOLE, State.DUE} and line.facts.outcomes.rstrip("ch")[-1:] == "w"


def _clean(text: str) -> str:
    plain = " ".join(text.encode("utf-8", "replace").decode().split())
    return plain if len(plain) <= _LONGEST_TEXT else plain[: _LONGEST_TEXT - 1] + "…"


# --------------------------------------------------------------------------- telling


class Notices:
    """Looks for what is not well, and tells it; one thread uses it.

    Args:
        fleet: The fleet; its wishes say whom to tell.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._channels = {"mail": _Channel(send_mail), "webhook": _Channel(send_webhook)}
        self._looked = datetime.min.replace(tzinfo=UTC)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell what is left, and wait for that, but not for long."""
        if kind is not None:
            return
        end = time.monotonic() + SECONDS_OF_A_STEP
        for channel in self._channels.values():
            channel.wait(end - time.monotonic())
        self._looked = datetime.min.replace(tzinfo=UTC)
        self.look(datetime.now(UTC))
        for channel in self._channels.values():
            channel.wait(end - time.monotonic())

    def look(self, now: datetime) -> None:
        """Tell what is new, unless it was done less than a minute ago."""
        if now - self._looked < BETWEEN_LOOKS:
            return
        self._looked = now
        try:
            settings = self._fleet.wishes.notices
            wanted = [name for name in self._channels if settings.get(name)]
            if wanted:
                self._tell(wanted, settings, now)
        except (FleetError, OSError) as error:
            logger.warning("nobody could be told what is not well: %s", error)

    def _tell(self, wanted: Sequence[str], settings: Mapping[str, str], now: datetime) -> None:
        fleet, silent = self._fleet, settings.get("silent_after")
        notices, well = notices_of(
            fleet.lines(now),
            fleet.ledger.nodes(),
            fleet.lost_nodes(now),
            duration_of(silent) if silent else None,
            now,
            directory=fleet.directory,
        )
        told = fleet.ledger.notices_sent()
        over = {(name, what) for name, what in told if (name, what.partition(" ")[2]) in well}
        if over:
            fleet.ledger.forget_sent(over)
        for channel in wanted:
            new = [one for one in notices if (one.endpoint, f"{channel} {one.what}") not in told]
            if new:
                self._channels[channel].start(channel, settings, fleet, new, now)


class _Channel:
    """One way to tell: sends a message at a time, and rests after failures."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self._thread: threading.Thread | None = None
        self._began = 0.0
        self._failures = 0
        self._next = datetime.min.replace(tzinfo=UTC)

    def start(
        self,
        name: str,
        settings: Mapping[str, str],
        fleet: Fleet,
        notices: Sequence[Notice],
        now: datetime,
    ) -> None:
        is_busy = self._thread is not None and self._thread.is_alive()
        if now < self._next or (is_busy and time.monotonic() - self._began < SECONDS_OF_SENDING):
            return
        self._began = time.monotonic()
        self._thread = threading.Thread(
            target=self._work, args=(name, settings, fleet, notices, now), daemon=True
        )
        self._thread.start()

    def wait(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(max(0.0, seconds))

    def _work(
        self,
        name: str,
        settings: Mapping[str, str],
        fleet: Fleet,
        notices: Sequence[Notice],
        now: datetime,
    ) -> None:
        try:
            self._send(settings, fleet.directory, notices, now)
            fleet.ledger.note_sent([(one.endpoint, f"{name} {one.what}") for one in notices], now)
        except (OSError, ValueError, FleetError, smtplib.SMTPException) as error:
            self._next = now + min(LONGEST_REST, BETWEEN_LOOKS * 2 ** min(self._failures, 9))
            self._failures += 1
            logger.warning("a notice could not be sent (%s): %s; it is sent later", name, error)
        else:
            self._failures = 0


def _subject(directory: str, notices: Sequence[Notice]) -> str:
    fleet = Path(directory).resolve().name
    if len(notices) == 1:
        return f"[silo] {fleet}: {notices[0].endpoint} is {notices[0].what}"
    return f"[silo] {fleet}: {len(notices):,} are not well"


def _body(directory: str, notices: Sequence[Notice]) -> str:
    lines = [one.line for one in notices[:MOST_IN_A_MESSAGE]]
    if len(notices) > MOST_IN_A_MESSAGE:
        lines.append(
            f"and {len(notices) - MOST_IN_A_MESSAGE:,} more: silo fleet report {directory}"
        )
    return "\n\n".join(lines) + "\n"


def send_mail(
    settings: Mapping[str, str], directory: str, notices: Sequence[Notice], now: datetime
) -> None:
    """Send one mail; with TLS if the server has it, and with the password that ~/.netrc has.

    Raises:
        OSError, SMTPException: It could not be sent.
    """
    host, _, port = settings.get("smtp", "localhost:25").rpartition(":")
    host = host.strip("[]")
    message = EmailMessage()
    message["Subject"] = _subject(directory, notices)
    message["From"] = settings.get("from") or f"silo@{socket.gethostname()}"
    message["To"] = settings["mail"]
    message["Date"] = now
    message.set_content(_body(directory, notices))
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
    settings: Mapping[str, str], directory: str, notices: Sequence[Notice], now: datetime
) -> None:
    """Send one POST of JSON; any answer of 200 to 299 is a success.

    Raises:
        OSError: It could not be sent, or the answer is another.
    """
    shown = notices[:MOST_IN_A_MESSAGE]
    content = {
        "text": f"{_subject(directory, notices)}\n\n{_body(directory, notices)}",
        "fleet": Path(directory).resolve().name,
        "at": now.isoformat(timespec="seconds"),
        "count": len(notices),
        "notices": [one.to_json() for one in shown],
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
