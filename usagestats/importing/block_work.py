"""The work on one block: its lines sorted, its events written under the keys of their days.

Any process may do it, also twice: the files have the same names, and only the ledger makes them
count.
"""

import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from recordsilo import Silo
from recordsilo.disk.atomic_file import group_barrier
from silosteps.engine import Engine
from silosteps.lines import Block
from usagestats.countries import countries_path, country_lookup
from usagestats.importing.blocks import KINDS, BlockClassifier, Events, Sorted
from usagestats.importing.columns import Array
from usagestats.lines.readers import OwnReader, Reader, reader_of
from usagestats.push.collecting import rows_of
from usagestats.push.outbox import WaitingUse
from usagestats.push.settings import push_settings
from usagestats.rules.classify import LATE, Classified, Rules, classify
from usagestats.rules.of_silo import Records
from usagestats.rules.settings import UsageSettings
from usagestats.store.events import day_text, engine, write_events
from usagestats.store.keys import Keys, client_text, tokens, visitor_text
from usagestats.values import Fate

SECONDS = 30
"""Two clicks within so many seconds are a double click."""
_QUARTER = 900
"""Time zones change their offset at quarters of an hour."""


@dataclass(frozen=True, slots=True)
class Task:
    """A block to work on.

    Attributes:
        settings: Its settings.
        spec: The reader at the beginning of the block.
        block: Whole lines.
        frozen: Days whose events are not stored.
    """

    silo_path: str
    settings: UsageSettings
    spec: str
    block: Block
    frozen: frozenset[str]


@dataclass(slots=True)
class Done:
    """What a block had.

    Attributes:
        files: Day → name of its file of events, and how many they are.
        before: Days before those of events in their first seconds, which may end double clicks.
        late: Frozen day → lines, which are counted among the others.
        not_held: Identifiers without a record.
        left_out: Expressions that took too long too often.
        to_push: What a gatherer is to get, if the Silo pushes its usage to one.
    """

    lines: Sorted
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    late: Counter[str] = field(default_factory=Counter)
    not_held: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)
    to_push: list[WaitingUse] = field(default_factory=list)


class BlockProcessor:
    """What the work on blocks needs, kept for all blocks of an import."""

    def __init__(self, silo_path: str, settings: UsageSettings) -> None:
        self.silo_path, self.settings = silo_path, settings
        self._silo = Silo(silo_path, create=False)
        self._records = records = Records(self._silo, settings.uuids)
        self._rules = Rules(settings, records.resolve, records.by_link, records.by_uuid)
        self._sorter = BlockClassifier(self._rules)
        self._reader_of = functools.lru_cache(16)(reader_of)
        self._push = push_settings(silo_path)
        self._engine: Engine | None = None
        self._barrier = group_barrier(silo_path)
        self._keys = Keys(silo_path, self._barrier)
        path = countries_path(silo_path, settings.countries)
        self._country = country_lookup(path) if path else None

    def work(self, task: Task) -> Done:
        """Work on a block."""
        return self.work_with(task, self._reader_of(task.spec))

    def work_with(self, task: Task, reader: Reader) -> Done:
        """Work on a block, with its reader."""
        lines, events = self._sorter.sort(task.block, reader)
        done = self._done(lines, events, task.frozen, [reader])
        if len(events.moment):  # pushes need more of a line than the arrays have
            done.to_push = self._to_push(self._classified(task.block, reader), task.frozen)
        return done

    def work_classified(
        self,
        lines: Sequence[tuple[bytes, Classified]],
        frozen: frozenset[str],
        readers: Iterable[Reader],
    ) -> Done:
        """Work on lines of which is known what became of them.

        Args:
            lines: Each with what became of it.
            frozen: Days whose events are not stored.
            readers: Which read them.
        """
        done = self._done(*self._sorter.sort_classified(lines), frozen, readers)
        done.to_push = self._to_push((found for _, found in lines), frozen)
        return done

    def _done(
        self, lines: Sorted, events: Events, frozen: frozenset[str], readers: Iterable[Reader]
    ) -> Done:
        done = Done(lines, left_out=self._left_out(readers))
        if len(events.moment):
            self._store(events, frozen, done)
        return done

    def _left_out(self, readers: Iterable[Reader]) -> set[str]:
        """Return the expressions that took too long too often, also in earlier blocks."""
        own = [one.expression for one in readers if isinstance(one, OwnReader)]
        return {one.text for one in [*self._rules.own, *own] if one.is_left_out}

    def _classified(self, block: Block, reader: Reader) -> Iterator[Classified]:
        for line in block.split():
            reader = reader.after(line)
            yield classify(line, reader, self._rules)

    def _to_push(self, found: Iterable[Classified], frozen: frozenset[str]) -> list[WaitingUse]:
        """Return what a gatherer is to get."""
        if self._push is None:
            return []
        since = datetime.now(self.settings.zone) - timedelta(days=self.settings.window)
        first = f"{since:%Y-%m-%d}"
        return list(
            rows_of(
                found, self._push, self.settings.zone, self._keys.key,
                lambda day: day >= first and day not in frozen,
            )
        )  # fmt: skip

    def _store(self, events: Events, frozen: frozenset[str], done: Done) -> None:
        """Write the events of days that are not frozen."""
        local = events.moment + offsets(events.moment, self.settings.zone)
        days = local // 86_400
        before = events.moment - SECONDS
        follows = (before + offsets(before, self.settings.zone)) // 86_400 != days
        texts = {day: day_text(day) for day in np.unique(days).tolist()}
        open_days = [day for day, text in texts.items() if text not in frozen]
        keep = np.isin(days, open_days)
        for day, machine in zip(days[~keep].tolist(), events.machine[~keep].tolist(), strict=True):
            if not machine:
                done.late[texts[day]] += 1
        for kind in events.kind[~keep & (events.machine == 0)].tolist():
            done.lines.kinds[KINDS[kind]] -= 1
            done.lines.fates[Fate.COUNTED, ""] -= 1
            done.lines.fates[Fate.OTHER, LATE] += 1
        row = np.flatnonzero(keep)
        if not len(row):
            return
        day, who = days[row], (events.client[row], events.agent[row])
        client, visitor = self._tokens(day, *who, events)
        neighbour = np.zeros(len(row), np.int64)
        ending = np.flatnonzero(follows[row])
        previous = day[ending] - 1
        ending = ending[[day_text(one) not in frozen for one in previous.tolist()]]
        if len(ending):
            before = day[ending] - 1
            _, neighbour[ending] = self._tokens(before, who[0][ending], who[1][ending], events)
            done.before = [day_text(one) for one in np.unique(before).tolist()]
        country, codes = self._countries(who[0], events.clients)
        items = events.item[row]
        columns: dict[str, np.ndarray[Any, Any]] = {
            "day": day.astype(np.int32), "moment": events.moment[row],
            "hour": (local[row] % 86_400 // 3600).astype(np.uint8), "item": items,
            "kind": events.kind[row].astype(np.uint8), "path": events.path[row], "client": client,
            "visitor": visitor, "neighbour": neighbour,
            "machine": events.machine[row].astype(np.bool_), "country": country,
        }  # fmt: skip
        used = {item: events.items[item] for item in np.unique(items).tolist()}
        done.not_held = self._records.not_held & set(used.values())
        self._engine = self._engine or engine(self.silo_path, threads=1)
        done.files = write_events(
            self.silo_path,
            self._engine,
            _digest(columns),
            columns,
            items=used,
            countries=codes,
            barrier=self._barrier,
        )

    def _tokens(
        self, days: Array, clients: Array, agents: Array, events: Events
    ) -> tuple[Array, Array]:
        """Return the tokens of clients and of visitors, under the keys of days."""
        known, programs = events.clients, events.agents

        def visitors(pairs: Array) -> Iterator[str]:
            who, program = np.divmod(pairs, len(programs))
            for one, agent in zip(who.tolist(), program.tolist(), strict=True):
                address, user = known[one]
                yield visitor_text(address, user, programs[agent])

        def addresses(numbers: Array) -> Iterator[str]:
            return (client_text(known[one][0]) for one in numbers.tolist())

        client = self._each(days, clients, addresses)
        return client, self._each(days, clients * len(programs) + agents, visitors)

    def _each(
        self, days: Array, numbers: Array, texts_of: Callable[[Array], Iterator[str]]
    ) -> Array:
        """Return the token of each number's text under the key of its day; each is made once."""
        made = np.zeros(len(days), np.int64)
        order = np.argsort(days, kind="stable")
        each, starts = np.unique(days[order], return_index=True)
        for day, row in zip(each.tolist(), np.split(order, starts[1:]), strict=True):
            distinct, place = np.unique(numbers[row], return_inverse=True)
            made[row] = tokens(self._keys.key(day_text(day)), texts_of(distinct))[place]
        return made

    def _countries(self, clients: Array, known: list[tuple[str, str]]) -> tuple[Array, list[str]]:
        """Return the number of each client's country, and the codes by number."""
        if self._country is None:
            return np.zeros(len(clients), np.int64), [""]
        distinct, place = np.unique(clients, return_inverse=True)
        codes: dict[str, int] = {}
        numbers = [
            codes.setdefault(self._country(known[one][0]), len(codes)) for one in distinct.tolist()
        ]
        return np.array(numbers, np.int64)[place], list(codes)

    def close(self) -> None:
        """Close the Silo and the engine, and free the memory."""
        self._sorter.close()
        self._silo.close()
        if self._engine is not None:
            self._engine.close()


def _digest(columns: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Return a name for events: the same ones have the same name, whoever wrote them."""
    digest = hashlib.sha256()
    for name in ("moment", "kind", "path", "client", "visitor", "neighbour"):
        digest.update(columns[name].tobytes())
    return digest.hexdigest()[:32]


def offsets(moments: Array, zone: ZoneInfo) -> Array:
    """Return the seconds by which local time is ahead of UTC, at each moment."""
    if zone.key == "UTC":
        return np.zeros(len(moments), np.int64)
    quarters, place = np.unique(moments // _QUARTER, return_inverse=True)
    return np.array([_offset(zone, quarter) for quarter in quarters.tolist()], np.int64)[place]


@functools.lru_cache(100_000)
def _offset(zone: ZoneInfo, quarter: int) -> int:
    ahead = datetime.fromtimestamp(quarter * _QUARTER, zone).utcoffset()
    assert ahead is not None
    return int(ahead.total_seconds())


@functools.lru_cache(1)
def _workplace(silo_path: str, settings: UsageSettings) -> BlockProcessor:
    return BlockProcessor(silo_path, settings)


def work(task: Task) -> Done:
    """Work on a block, in a process of its own; what it needs is kept for the next one."""
    return _workplace(task.silo_path, task.settings).work(task)
