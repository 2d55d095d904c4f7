"""What people are told of the crawls by mail or webhook: ``crawling/notices.toml``."""

import logging
import os
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial

from recordsilo.disk.locks import Locks
from recordsilo.disk.toml_files import settings_toml
from recordsilo.disk.toml_tables import SettingWrong, checked
from silocrawl.conditions import Word
from silocrawl.errors import CrawlingError
from silocrawl.in_time import FAULTS
from silocrawl.paths import notices_file, notices_told_file
from silocrawl.status import CrawlStatus
from silowork.errors import JobRefused
from silowork.ledger_file import LedgerFile, LedgerKind
from silowork.notices import (
    SECONDS_OF_A_STEP,
    SETTINGS,
    Notice,
    NoticeSender,
    check_settings,
    clean,
)
from silowork.stop import Stop, working
from silowork.telling import BETWEEN_LOOKS, TOLD_TABLE, LookFindings, Notices, Told

_LOCK = "crawl-notices"

logger = logging.getLogger("silocrawl")


class NoticesInvalid(CrawlingError):
    """What says whom to tell, or what was told, cannot be read."""


def _unreadable(path: str, reason: str) -> Exception:
    said = f"what was told, {path}, cannot be read ({reason}); delete it: all is told again"
    return NoticesInvalid(said)


KIND = LedgerKind(TOLD_TABLE, _unreadable, version=1)


def load_settings(silo_path: str) -> Mapping[str, str]:
    """Read whom to tell; without a file, nobody.

    Raises:
        NoticesInvalid: Says what is wrong.
    """
    path = notices_file(silo_path)
    table = settings_toml(path, NoticesInvalid)
    try:
        found = checked(table, dict.fromkeys(SETTINGS, str))
        check_settings(found)
    except (SettingWrong, JobRefused) as error:
        raise NoticesInvalid(f"{path}: {error}") from None
    return found


def notices_of(found: CrawlStatus) -> list[Notice]:
    """What people must know, and what is well again if they knew that it was not."""
    return [
        Notice(one.label, one.word.value, clean(one.told), is_over=one.word is Word.GOOD)
        for one in found.conditions
    ]


class CrawlNotices:
    """Tells what is not well with the crawls of a Silo; one thread uses it."""

    def __init__(self, silo_path: str) -> None:
        self._path = silo_path
        self._file = LedgerFile(notices_told_file(silo_path), KIND)
        name = os.path.basename(os.path.abspath(silo_path))
        sender = NoticeSender("silo", name, "condition", f"silo crawl status {silo_path}")
        self._notices = Notices(sender, Told(self._file), self._find, FAULTS)

    def _find(self, now: datetime) -> LookFindings | None:
        settings = load_settings(self._path)
        if not (settings.get("mail") or settings.get("webhook")):
            return None
        from silocrawl.monitor import look  # noqa: PLC0415  # most crawls notify nobody

        return LookFindings(settings, notices_of(look(self._path, now)))

    def tell(self) -> bool:
        """Tell what is new, and wait for that, but not for long.

        Returns:
            Whether nothing is left to tell, or another process tells it.
        """
        try:
            with Locks.of_silo(self._path).hold_name_if_free(_LOCK) as is_free:
                if not is_free:
                    return True
                self._notices.look(datetime.now(UTC))
                is_told = self._notices.wait(time.monotonic() + SECONDS_OF_A_STEP)
                self._file.close()
                return is_told
        except OSError as error:  # of the lock
            logger.warning("notices could not be sent: %s", error)
            return False


def noticing(silo_path: str) -> AbstractContextManager[None]:
    """Tell in a thread while the block runs, about once a minute, and when it ends."""
    return working(partial(_tell_until, silo_path))


def _tell_until(silo_path: str, stop: Stop) -> None:
    notices = CrawlNotices(silo_path)
    while not stop.wait(BETWEEN_LOOKS.total_seconds() + 1):
        notices.tell()
    CrawlNotices(silo_path).tell()
