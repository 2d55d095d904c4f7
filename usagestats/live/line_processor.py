"""Processes live lines: counts them, logs them by kind, queues them for the gatherer.

An entry may come twice, because a worker died before it acknowledged it. Events are a set, so they
count once; so do pushes; and the journal knows which entries are in the logs.
"""

import functools
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from recordsilo import Silo
from silowork.ledger_file import new_id
from usagestats.counting import count
from usagestats.errors import FormatUnknown
from usagestats.importing.freezing import freeze
from usagestats.importing.receipt import ImportReceipt
from usagestats.importing.unreadable import escaped, key_name, without_addresses
from usagestats.lines.readers import Reader, detected, reader_of
from usagestats.live.entries import QueueEntry
from usagestats.packages import check_extra
from usagestats.push.outbox import Outbox
from usagestats.rules.classify import NOT_FOUND, Classified, Rules, classify
from usagestats.rules.of_silo import rules_of
from usagestats.store.consistency import check_keys, check_ledger
from usagestats.store.journal import Log, UsageJournal
from usagestats.store.keys import Keys, client_text, token
from usagestats.store.ledger import ImportedBlock, UsageLedger
from usagestats.values import Fate, Hit

BOTS, VIEWS, MISSING, OTHER, UNREADABLE = "bots", "views", "notfound", "other", "unreadable"
if TYPE_CHECKING:
    from usagestats.importing.block_work import Done

KINDS = (BOTS, VIEWS, MISSING, OTHER, UNREADABLE)
_DEFAULT = "combined"
_log = logging.getLogger(__name__)
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_Line: TypeAlias = tuple[bytes, Classified]
"""A line, and what became of it."""
Held = Callable[[Sequence[QueueEntry]], set[str]]


class LineProcessor:
    """Processes the live lines of a Silo; any number of processes may have one.

    Args:
        profile: Of the repository's software; ``""``: as in ``usage.toml``.
        log_format: `Reader.spec`; ``""``: as in ``usage.toml``, or as the entries say.

    Raises:
        UsageError: The settings are invalid, or there is no such format.
    """

    def __init__(self, silo_path: str, profile: str = "", log_format: str = "") -> None:
        self._silo = Silo(silo_path, create=False)
        self._path = self._silo.path
        self._rules: Rules = rules_of(self._silo, profile)[0]
        self._settings = self._rules.settings
        self._format = log_format or self._settings.format
        if self._format:
            reader_of(self._format)  # refused before a line is taken
        self._journal = UsageJournal(self._path)
        self._ledger = UsageLedger(self._path)
        check_ledger(self._path, self._ledger, self._settings.timezone)
        check_keys(self._path, self._ledger)
        check_extra()
        from usagestats.importing.block_work import (  # noqa: PLC0415 - loads numpy
            BlockProcessor,
        )

        self._workplace = BlockProcessor(self._path, self._settings)
        self._keys = Keys(self._path)
        self._import_id, self._receipt = new_id(), ImportReceipt()
        self._receipt.robots = self._rules.robots.version
        self._frozen_on = self._problem = ""
        self._left_out: set[str] = set()
        self._reader_of = functools.lru_cache(64)(reader_of)

    def take(
        self,
        entries: Sequence[QueueEntry],
        position: tuple[str, object] | None = None,
        held: Held | None = None,
    ) -> Counter[str]:
        """Work on entries; return how many lines of each kind were new.

        When it returns, all is on the medium, and the entries can be acknowledged.

        Args:
            entries: Some entries; those that were taken before are recognised.
            position: Noted with them; see `UsageJournal.write`.
            held: Returns the ids of those entries that nobody has acknowledged: another worker
                may have taken them over from this one, because it was slow.
        """
        now = datetime.now(UTC)
        today = f"{now.astimezone(self._settings.zone):%Y-%m-%d}"
        frozen = frozenset(self._ledger.frozen())
        readers = [self._reader(one) for one in entries]
        known = {
            one.entry_id: [*self._classified(one, reader)]
            for one, reader in zip(entries, readers, strict=True)
        }
        fresh_lines = [line for one in self._fresh(entries) for line in known[one.entry_id]]
        if fresh_lines:
            self._store(fresh_lines, readers, today, frozen)
        with self._journal.lock():
            fresh = self._fresh(entries)
            if held is not None:
                # In this order: an entry is acknowledged before the journal forgets it.
                still = held(fresh)
                fresh = [one for one in fresh if one.entry_id in still]
            logs: dict[Log, list[bytes]] = {}
            for one in fresh:
                for log, line in self._logged(known[one.entry_id], today, frozen):
                    logs.setdefault(log, []).append(line)
            ids = [one.entry_id for one in fresh]
            self._journal.write(logs, ids, int(time.time()), position)
        told: Counter[str] = Counter()
        for (_, kind), lines in logs.items():
            told[kind] += len(lines)
        return told

    def _fresh(self, entries: Sequence[QueueEntry]) -> list[QueueEntry]:
        known = self._journal.known([one.entry_id for one in entries])
        return [one for one in entries if one.entry_id not in known]

    def acknowledged(self, entries: Sequence[QueueEntry]) -> None:
        """Forget entries that will not come again."""
        with self._journal.lock():
            self._journal.forget([one.entry_id for one in entries])

    def position(self, source: str) -> object:
        """Return the position after the last lines of a source; None at first."""
        return self._journal.position(source)

    def count(self) -> None:
        """Count the days that changed; freeze those that are old enough, once a day."""
        problem = count(self._path, self._ledger).problem
        if problem != self._problem and problem:
            _log.warning("%s", problem)
        self._problem = problem
        now = datetime.now(self._settings.zone)
        if self._frozen_on != f"{now:%Y-%m-%d}":
            before = now - timedelta(days=self._settings.window)
            freeze(self._path, self._ledger, f"{before:%Y-%m-%d}")
            self._frozen_on = f"{now:%Y-%m-%d}"

    def close(self) -> None:
        """Close all files."""
        self._workplace.close()
        if self._receipt.lines:
            self._ledger.end(self._import_id, self._receipt.as_json())
        self._ledger.close()
        self._journal.close()
        self._silo.close()

    # ------------------------------------------------------------------ counting

    def _reader(self, entry: QueueEntry) -> Reader:
        try:
            if spec := self._format or entry.format:
                return self._reader_of(spec)
        except FormatUnknown:
            pass  # of an entry: its lines must not end every worker that takes them
        return detected(entry.lines) or reader_of(_DEFAULT)

    def _classified(self, entry: QueueEntry, reader: Reader) -> Iterator[_Line]:
        for line in entry.lines:
            reader = reader.after(line)
            yield line, classify(line, reader, self._rules)

    def _store(
        self,
        lines: Sequence[_Line],
        readers: Sequence[Reader],
        today: str,
        frozen: frozenset[str],
    ) -> None:
        """Store the events of lines, as the import of a block does."""
        done = self._workplace.work_classified(lines, frozen, readers)
        self._tell(done)
        if done.to_push:
            with Outbox(self._path) as outbox:
                outbox.add(done.to_push)
        added = ImportedBlock(b"", None, done.files, done.before, done.late)
        self._ledger.add(self._import_id, today, added, self._receipt.as_json())

    def _tell(self, done: "Done") -> None:
        for one in sorted(done.left_out - self._left_out):
            _log.warning("the expression %r of usage.toml took too long and is left out", one)
        self._left_out |= done.left_out
        self._receipt.left_out = sorted(self._left_out)
        self._receipt.lines += done.lines.lines
        for (fate, reason), number in done.lines.fates.items():
            self._receipt.fates[fate][reason] += number
        self._receipt.kinds.update(done.lines.kinds)
        self._receipt.late.update(done.late)

    # ------------------------------------------------------------------ logging

    def _logged(
        self, lines: Sequence[_Line], today: str, frozen: frozenset[str]
    ) -> Iterator[tuple[Log, bytes]]:
        """Yield each line for its log, without addresses; late ones are only in the ledger."""
        for line, found in lines:
            if found.hit is None:
                kind = UNREADABLE if found.fate is Fate.UNREADABLE else OTHER
                key = self._keys.key(key_name(today))
                yield (today, kind), escaped(without_addresses(line, key))
                continue
            moment = datetime.fromtimestamp(found.hit.moment, self._settings.zone)
            day = f"{moment:%Y-%m-%d}"
            if day in frozen:
                continue
            yield (day, kind_of(found)), logged_line(found.hit, moment, self._keys.key(day))


def kind_of(found: Classified) -> str:
    """Return the log of a line."""
    if found.fate is Fate.BOT:
        return BOTS
    if found.fate is Fate.COUNTED:
        return VIEWS
    return MISSING if found.reason == NOT_FOUND else OTHER


def logged_line(hit: Hit, moment: datetime, key: bytes) -> bytes:
    """Return a line in the combined format, with tokens in place of addresses and users."""
    mark = f"[{token(key, client_text(hit.address)) & 0xFFFF_FFFF_FFFF_FFFF:016x}]"
    user = f"[{token(key, hit.user) & 0xFFFF_FFFF_FFFF_FFFF:016x}]" if hit.user else "-"
    target = hit.path + (f"?{hit.query}" if hit.query else "")
    size = "-" if hit.size is None else str(hit.size)

    def hidden(text: str) -> str:
        # The client may be a host name; a text shorter than 1.1.1.1 is neither.
        return text.replace(hit.address, mark) if len(hit.address) >= 7 else text

    def plain(text: str) -> str:
        data = hidden(text).encode("utf-8", "replace")
        return without_addresses(data, key).decode("utf-8", "replace")

    agent = hidden(hit.agent)
    request = f"{hit.method} {plain(target)} HTTP/1.1"
    texts = (request, plain(hit.referrer) or "-", agent)
    quoted = [hidden(_quoted(text)) for text in texts]  # an escaped byte may complete an address
    return (
        f'{mark} - {user} [{moment:%d/%b/%Y:%H:%M:%S %z}] "{quoted[0]}" {hit.status:03} {size}'
        f' "{quoted[1]}" "{quoted[2]}"'
    ).encode("utf-8", "replace")


def _quoted(text: str) -> str:
    """Escape a text as web servers do; a line of JSON may have a line end in a text."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
