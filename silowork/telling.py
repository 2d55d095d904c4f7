"""Tells people what is not well: once, and again after it was well.

`Notices.look` is called about once a minute, or once by a command. Messages are sent in a thread
of their own, and noted as told after they were sent, so a server that does not answer loses none,
and holds nothing up.
"""

import logging
import smtplib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from silowork.ledger_file import LedgerFile
from silowork.notices import SECONDS_OF_A_STEP, Notice, NoticeSender, send_mail, send_webhook

BETWEEN_LOOKS = timedelta(minutes=1)
LONGEST_REST = timedelta(hours=1)
"""Between two attempts to send, while they fail."""
SECONDS_OF_SENDING = 120.0
TOLD_TABLE = """
CREATE TABLE IF NOT EXISTS told (
    endpoint TEXT NOT NULL,
    what TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (endpoint, what)
) WITHOUT ROWID;
"""
"""What a file needs for `Told`; the first column has what a notice is about."""
_NEVER = datetime.min.replace(tzinfo=UTC)
Send = Callable[[Mapping[str, str], NoticeSender, Sequence[Notice], datetime], object]

logger = logging.getLogger("silowork")


@dataclass(frozen=True, slots=True)
class LookFindings:
    """What a look has found.

    Attributes:
        settings: Whom to tell; see `check_settings`.
        notices: What is not well, and with `Notice.is_over`, what is well again.
        well: Pairs of `Notice.about` and `Notice.what` that are over without a word.
    """

    settings: Mapping[str, str]
    notices: Sequence[Notice]
    well: Collection[tuple[str, str]] = ()


class Told:
    """What was told already, in a file that has `TOLD_TABLE`: pairs of what it is about, and how.

    Raises (every method): as `LedgerFile` does.
    """

    def __init__(self, file: LedgerFile) -> None:
        self._file = file

    def sent(self) -> set[tuple[str, str]]:
        """All that was told and is not over."""
        return {(about, what) for about, what in self._file.rows("SELECT endpoint, what FROM told")}

    def note(self, sent: Iterable[tuple[str, str]], now: datetime) -> None:
        """Note that something was told."""
        at = now.astimezone(UTC).isoformat(timespec="microseconds")
        with self._file.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO told VALUES (?, ?, ?)",
                [(about, what, at) for about, what in sent],
            )

    def forget(self, sent: Iterable[tuple[str, str]]) -> None:
        """Forget something, so that it is told again when it happens again."""
        with self._file.transaction() as connection:
            connection.executemany("DELETE FROM told WHERE endpoint = ? AND what = ?", list(sent))


class Notices:
    """Looks for what is not well, and tells it; one thread uses it.

    Args:
        sender: Who tells.
        told: What was told before.
        find: Looks how things are at a time; None if nobody is to be told.
        faults: Errors of the other two; they are logged.
    """

    def __init__(
        self,
        sender: NoticeSender,
        told: Told,
        find: Callable[[datetime], LookFindings | None],
        faults: tuple[type[Exception], ...] = (),
    ) -> None:
        self._told, self._find = told, find
        self._faults: tuple[type[Exception], ...] = (*faults, OSError)
        self._channels = {
            "mail": _NoticeChannel("mail", send_mail, sender, told, self._faults),
            "webhook": _NoticeChannel("webhook", send_webhook, sender, told, self._faults),
        }
        self._looked = _NEVER

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_exception: object) -> None:
        """Tell what is left, and wait for that, but not for long."""
        if kind is None:
            end = time.monotonic() + SECONDS_OF_A_STEP
            self.wait(end)
            self._looked = _NEVER
            self.look(datetime.now(UTC))
            self.wait(end)

    def wait(self, end: float) -> bool:
        """Wait until what is being sent was sent; return whether it was.

        Args:
            end: At most until this time of `time.monotonic`.
        """
        waited = [one.wait(end - time.monotonic()) for one in self._channels.values()]
        return all(waited)

    def look(self, now: datetime) -> None:
        """Tell what is new, unless it was done less than a minute ago."""
        if now - self._looked < BETWEEN_LOOKS:
            return
        self._looked = now
        try:
            if (found := self._find(now)) is not None:
                self._tell(found, now)
        except self._faults as error:
            logger.warning("notices could not be sent: %s", error)

    def _tell(self, found: LookFindings, now: datetime) -> None:
        told = self._told.sent()
        if over := {one for one in told if (one[0], one[1].partition(" ")[2]) in found.well}:
            self._told.forget(over)
        for name, channel in self._channels.items():
            if not found.settings.get(name):
                continue
            new = [one for one in found.notices if _is_new(one, name, told)]
            if new:
                channel.start(found.settings, new, now)


def _is_new(one: Notice, channel: str, told: Collection[tuple[str, str]]) -> bool:
    """Whether something is to be told by a channel."""
    if one.is_over:
        return any(about == one.about and what.startswith(f"{channel} ") for about, what in told)
    return (one.about, f"{channel} {one.what}") not in told


class _NoticeChannel:
    """One way to tell: sends a message at a time, and rests after failures."""

    def __init__(
        self,
        name: str,
        send: Send,
        sender: NoticeSender,
        told: Told,
        faults: tuple[type[Exception], ...],
    ) -> None:
        self._name, self._send, self._sender, self._told = name, send, sender, told
        self._faults: tuple[type[Exception], ...] = (*faults, ValueError, smtplib.SMTPException)
        self._thread: threading.Thread | None = None
        self._began = 0.0
        self._failures = 0
        self._next = _NEVER

    def start(self, settings: Mapping[str, str], notices: Sequence[Notice], now: datetime) -> None:
        is_busy = self._thread is not None and self._thread.is_alive()
        if now < self._next or (is_busy and time.monotonic() - self._began < SECONDS_OF_SENDING):
            return
        self._began = time.monotonic()
        self._thread = threading.Thread(
            target=self._work, args=(settings, notices, now), daemon=True
        )
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        if self._thread is None:
            return True
        self._thread.join(max(0.0, seconds))
        return not (self._failures or self._thread.is_alive())

    def _work(self, settings: Mapping[str, str], notices: Sequence[Notice], now: datetime) -> None:
        try:
            self._send(settings, self._sender, notices, now)
            self._note(notices, now)
        except self._faults as error:
            self._next = now + min(LONGEST_REST, BETWEEN_LOOKS * 2 ** min(self._failures, 9))
            self._failures += 1
            said = "a notice could not be sent (%s): %s; it is sent later"
            logger.warning(said, self._name, error)
        else:
            self._failures = 0

    def _note(self, notices: Sequence[Notice], now: datetime) -> None:
        begin = f"{self._name} "
        new = [(one.about, begin + one.what) for one in notices if not one.is_over]
        if new:
            self._told.note(new, now)
        if over := {one.about for one in notices if one.is_over}:
            sent = self._told.sent()
            self._told.forget((a, what) for a, what in sent if a in over and what.startswith(begin))
