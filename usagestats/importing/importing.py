"""Import files of log lines into a Silo: what `silo usage import` does.

Each block of lines is added to the ledger as soon as its events are on the medium, so an import
that is killed goes on where it was: what it had imported is recognised.
"""

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_within
from recordsilo.extras import PackageMissing
from silosteps.errors import InputUnreadable, StepsError
from silosteps.inputs import InputStream
from silosteps.lines import Block, blocks
from silosteps.runners import in_order
from silowork.ledger_file import new_id
from usagestats.counting import count, import_lock
from usagestats.entities.catalogue import EntityCatalogue
from usagestats.errors import NothingRead, UsageError
from usagestats.importing import unreadable
from usagestats.importing.block_work import BlockProcessor, Done, Task, work
from usagestats.importing.files import FilePart, opened
from usagestats.importing.freezing import freeze
from usagestats.importing.receipt import ImportReceipt
from usagestats.lines.readers import Reader, detected, reader_of
from usagestats.push.outbox import Outbox
from usagestats.rules.of_silo import rules_of
from usagestats.rules.settings import UsageSettings
from usagestats.store.consistency import check_keys, check_ledger
from usagestats.store.counts import UsageCounts
from usagestats.store.events import remove_unnamed
from usagestats.store.keys import Keys
from usagestats.store.ledger import ImportedBlock, UsageLedger
from usagestats.store.paths import place

BLOCK = 30 << 20
"""Below 32 MiB, so that the memory of a block serves for the next one (malloc(3) of glibc)."""
_SAMPLE = 200
_BEGINNING = 1 << 18
"""Bytes that usually have so many lines."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What is to be imported, and how.

    Attributes:
        files: Names; ``-`` is standard input.
        profile: Of the repository's software; ``""``: as in ``usage.toml``.
        format: `Reader.spec` of the logs; ``""``: as in ``usage.toml``, or detected.
        complete: Whether last lines without LF are complete.
        again: Whether to read what was imported before, too, and to replace what it gave.
        processes: How many work at once.
    """

    files: Sequence[str]
    profile: str = ""
    format: str = ""
    complete: bool = False
    again: bool = False
    processes: int = 1


Progress = Callable[[str, int], object]


def import_logs(
    silo_path: str,
    request: ImportRequest,
    *,
    now: datetime | None = None,
    progress: Progress = lambda _name, _lines: None,
) -> ImportReceipt:
    """Import files of log lines, and count the days that they have changed.

    Args:
        now: The time, for tests.
        progress: Called after each block with the file and the lines so far.

    Raises:
        UsageError: The settings are invalid.
        StepsError: The engine failed, or a process was killed.
        OSError: The disk refused.

    What was imported before an error is kept. A file that cannot be read, or is in no known
    format, is named in the receipt (`ImportReceipt.failed`), and the others are imported.
    """
    begun = time.monotonic()
    bytes(BLOCK)  # freed at once: then malloc(3) of glibc keeps memory of this size, and reuses it
    now = now or datetime.now(UTC)
    with Silo(silo_path, create=False) as silo:
        silo_path = silo.path
        looked = silo.index_stamp()
        rules, _ = rules_of(silo, request.profile)
    settings = rules.settings
    make_within(silo_path, place(silo_path))
    with UsageLedger(silo_path) as ledger:
        check_ledger(silo_path, ledger, settings.timezone)
        check_keys(silo_path, ledger)
        running = _Import(silo_path, request, settings, ledger, now=now, progress=progress)
        running.receipt.robots = rules.robots.version
        running.receipt.counted_before = ledger.has_counted()
        try:
            remove_unnamed(silo_path, ledger, before=time.time() - 86_400)
            for name in request.files:
                running.file(name)
        except (UsageError, StepsError):
            count(silo_path, ledger)  # what was imported of the files before
            raise
        finally:
            running.close()
        receipt = running.receipt
        receipt.kept = running.kept()
        counted = count(silo_path, ledger)
        receipt.days = counted.days
        if counted.problem:
            receipt.failed.append(counted.problem)
        before = now.astimezone(settings.zone) - timedelta(days=settings.window)
        receipt.frozen, _ = freeze(silo_path, ledger, f"{before:%Y-%m-%d}")
        left_out = _read_new_records(silo_path, set(receipt.not_held), looked)
        receipt.left_out = sorted({*receipt.left_out, *left_out})
        receipt.seconds = time.monotonic() - begun
        ledger.end(running.id, receipt.as_json())
    return receipt


def _read_new_records(silo_path: str, absent: set[str], looked: object | None) -> list[str]:
    """Read the records that were used for the first time, so that no page has to.

    Args:
        absent: Identifiers that the Silo does not hold.
        looked: The stamp of its index before that was seen.

    Returns:
        Expressions of entities that took too long too often.
    """
    with (
        Silo(silo_path, create=False) as silo,
        contextlib.suppress(UsageError, OSError),  # a page tells it
        UsageCounts(silo_path) as counts,
        contextlib.closing(EntityCatalogue(silo, counts)) as catalogue,
    ):
        catalogue.refresh(absent, absent_at=looked)
        return [one.text for one in catalogue.mapping.own if one.is_left_out]
    return []


class _Import:
    """A running import."""

    def __init__(
        self,
        silo_path: str,
        request: ImportRequest,
        settings: UsageSettings,
        ledger: UsageLedger,
        *,
        now: datetime,
        progress: Progress,
    ) -> None:
        self.id, self.receipt = new_id(), ImportReceipt()
        self._silo_path, self._request, self._settings = silo_path, request, settings
        self._ledger, self._progress = ledger, progress
        self._today = f"{now.astimezone(settings.zone):%Y-%m-%d}"
        self._frozen: frozenset[str] = frozenset()
        self._kept = 0
        self._keys = Keys(silo_path)
        self._not_held: set[str] = set()
        self._added: set[tuple[str, str]] = set()

    @functools.cached_property
    def _workplace(self) -> BlockProcessor:
        return BlockProcessor(self._silo_path, self._settings)

    @functools.cached_property
    def _outbox(self) -> Outbox:
        return Outbox(self._silo_path)

    def close(self) -> None:
        """Close what the work needed."""
        if "_workplace" in vars(self):
            self._workplace.close()
        if "_outbox" in vars(self):
            self._outbox.close()
        self.receipt.not_held = sorted(self._not_held)

    def file(self, name: str) -> None:
        """Import a file, or note why it cannot be read; what was read before stays."""
        self.receipt.files += 1
        try:
            self._file(name)
        except (InputUnreadable, NothingRead, PackageMissing) as error:
            self.receipt.failed.append(str(error))

    def _file(self, name: str) -> None:
        # Two imports of one file at a time would tell its lines twice.
        with (
            import_lock(self._silo_path),
            opened(name, self._ledger, again=self._request.again) as (stream, found, grows),
        ):
            part = found
            self._frozen = frozenset(self._ledger.frozen())
            self.receipt.known += part.known
            if part.within:
                rest = stream.readline()
                if not rest.endswith(b"\n"):
                    return
                part = part.after(Block(part.offset, part.offset + len(rest), rest), 0, part.reader)
            given: list[tuple[Block, str]] = []
            tasks = self._tasks(name, stream, part, given, grows=grows)
            if self._request.processes > 1:
                results = in_order(work, tasks, processes=self._request.processes)
            else:
                results = map(self._workplace.work, tasks)
            for done in results:
                part = self._add(part, *given.pop(0), done)
                self._progress(name, self.receipt.lines)

    def _tasks(
        self,
        name: str,
        stream: InputStream,
        part: FilePart,
        given: list[tuple[Block, str]],
        *,
        grows: bool,
    ) -> Iterator[Task]:
        """Yield the new blocks of a file; adds each to `given`, with the reader after it."""
        spec = self._request.format or part.reader or self._settings.format
        reader = reader_of(spec) if spec else None
        for one in blocks(stream, start=part.offset, size=BLOCK):
            block = one
            if reader is None:
                reader = _detected(name, block)
            self.receipt.without_agents |= not reader.has_agent
            if not block.terminated and grows and not self._request.complete:
                block = _without_part_of_line(block, reader)
                if block.end < one.end:
                    self.receipt.waiting.append(name)
                if not block.data:
                    return
            after = reader.after(block.data)
            given.append((block, after.spec))
            yield Task(self._silo_path, self._settings, reader.spec, block, self._frozen)
            reader = after
            del one, block  # before the next one is read

    def _add(self, part: FilePart, block: Block, spec: str, done: Done) -> FilePart:
        """Add a block to the receipt and to the ledger; return how far the file is imported."""
        receipt, lines = self.receipt, done.lines
        receipt.lines += lines.lines
        for (fate, reason), number in lines.fates.items():
            receipt.fates[fate][reason] += number
        receipt.kinds.update(lines.kinds)
        receipt.late.update(done.late)
        self._not_held |= done.not_held
        receipt.left_out = sorted({*receipt.left_out, *done.left_out})
        kept = lines.unreadable[: unreadable.MOST - self._kept]
        unreadable.keep(self._silo_path, self._keys, self._today, kept)
        self._kept += len(kept)
        part = part.after(block, lines.lines, spec)
        part, replaced = part.replaced()
        hint, mark = part.mark()
        if done.to_push:
            # Before the ledger: after a kill the block is read again, and known rows stay.
            self._outbox.add(done.to_push)
        gone = [(one.hint, one.mark) for one in replaced]
        added = ImportedBlock(hint, mark, done.files, done.before, done.late, gone)
        self._ledger.add(self.id, self._today, added, receipt.as_json())
        self._added |= {(day, name) for day, (name, _) in done.files.items()}
        return part

    def kept(self) -> list[str]:
        """Return the days of lines that were read again with events that are not from them."""
        if not self._request.again:
            return []
        days = sorted({day for day, _ in self._added})
        files = {day: {(day, name) for name, _ in self._ledger.files(day)} for day in days}
        return [day for day in days if files[day] - self._added]


def _detected(name: str, block: Block) -> Reader:
    """Return the reader for a file, by its first lines, or by others of its first block.

    Raises:
        NothingRead: None of them is in a known format.
    """
    first = block.data[:_BEGINNING].split(b"\n")
    reader = detected(first[:_SAMPLE]) if len(first) > _SAMPLE else None
    if reader is None:
        lines = block.split()
        reader = detected(lines[:_SAMPLE]) or detected(lines[:: max(1, len(lines) // _SAMPLE)])
    if reader is None:
        raise NothingRead(name)
    return reader


def _without_part_of_line(block: Block, reader: Reader) -> Block:
    """Return a block without its last line, unless that can be read although it has no LF."""
    start = block.data.rfind(b"\n") + 1
    if reader.after(block.data).read(block.data[start:]) is not None:
        return block
    return Block(block.start, block.start + start, block.data[:start])
