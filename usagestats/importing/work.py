"""The work on one block: its lines sorted, its events written under the keys of their days.

Any process may do it, also twice: the files have the same names, and only the ledger makes them
count.
"""

import functools
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from recordsilo import Silo
from recordsilo.disk.atomic_file import group_barrier
from silosteps.engine import Engine
from silosteps.lines import Block
from usagestats.countries.lookup import countries_path, country_lookup
from usagestats.importing.blocks import KINDS, Events, Sorted, Sorter
from usagestats.importing.columns import Array
from usagestats.lines.readers import Reader, reader_of
from usagestats.push.collecting import rows_of
from usagestats.push.outbox import Row
from usagestats.push.settings import push_settings
from usagestats.rules.classify import LATE, Classified, Rules, classify
from usagestats.rules.of_silo import Records
from usagestats.rules.settings import Settings
from usagestats.store.events import day_text, engine, write_events
from usagestats.store.keys import Keys, client_text, token, visitor_text
from usagestats.values import Fate

SECONDS = 30
"""Two clicks within so many seconds are a double click."""
_QUARTER = 900
"""Time zones change their offset at quarters of an hour."""


@dataclass(frozen=True, slots=True)
class Task:
    """A block to work on.

    Attributes:
        silo_path: The Silo.
        settings: Its settings.
        spec: The reader at the beginning of the block.
        block: Whole lines.
        frozen: Days whose events are not stored.
    """

    silo_path: str
    settings: Settings
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
        to_push: What a gatherer is to get, if the Silo pushes its usage to one.
    """

    lines: Sorted
    files: dict[str, tuple[str, int]] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    late: Counter[str] = field(default_factory=Counter)
    not_held: set[str] = field(default_factory=set)
    to_push: list[Row] = field(default_factory=list)


class Workplace:
    """What the work on blocks needs, kept for all blocks of an import."""

    def __init__(self, silo_path: str, settings: Settings) -> None:
        self.silo_path, self.settings = silo_path, settings
        self._silo = Silo(silo_path, create=False)
        self._records = Records(self._silo)
        self._rules = Rules(settings, self._records.resolve, self._records.by_link)
        self._sorter = Sorter(self._rules)
        self._push = push_settings(silo_path)
        self._engine: Engine | None = None
        self._barrier = group_barrier(silo_path)
        self._keys = Keys(silo_path, self._barrier)
        self._country = country_lookup(countries_path(silo_path, settings.countries))

    def work(self, task: Task) -> Done:
        """Work on a block."""
        return self.work_with(task, reader_of(task.spec))

    def work_with(self, task: Task, reader: Reader) -> Done:
        """Work on a block, with its reader."""
        lines, events = self._sorter.sort(task.block, reader)
        done = Done(lines)
        if len(events.moment):
            name = hashlib.sha256(task.block.data).hexdigest()[:32]
            self._store(events, task.frozen, name, done)
            done.to_push = self._to_push(task, reader)
        return done

    def _to_push(self, task: Task, reader: Reader) -> list[Row]:
        """Return what a gatherer is to get; it needs more of a line than events have."""
        if self._push is None:
            return []
        since = datetime.now(self.settings.zone) - timedelta(days=self.settings.window)
        first = f"{since:%Y-%m-%d}"

        def classified() -> Iterator[Classified]:
            current = reader
            for line in task.block.split():
                current = current.after(line)
                yield classify(line, current, self._rules)

        return list(
            rows_of(
                classified(), self._push, self.settings.zone, self._keys.key,
                lambda day: day >= first and day not in task.frozen,
            )
        )  # fmt: skip

    def _store(self, events: Events, frozen: frozenset[str], name: str, done: Done) -> None:
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
        day, person = days[row], events.person[row]
        client, visitor, country, codes = self._tokens(day, person, events.people, texts)
        neighbour = np.zeros(len(row), np.int64)
        for place in np.flatnonzero(follows[row]).tolist():
            previous = day_text(int(day[place]) - 1)
            if previous not in frozen:
                text = visitor_text(*events.people[int(person[place])])
                neighbour[place] = token(self._keys.key(previous), text)
                done.before.append(previous)
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
            name,
            columns,
            items=used,
            countries=codes,
            barrier=self._barrier,
        )
        done.before = sorted(set(done.before))

    def _tokens(
        self, day: Array, person: Array, people: list[tuple[str, str, str]], texts: dict[int, str]
    ) -> tuple[Array, Array, Array, list[str]]:
        """Return the tokens of each event's client and visitor, and its country's number."""
        distinct, place = np.unique(day * len(people) + person, return_inverse=True)
        clients: dict[tuple[int, str], int] = {}
        codes: dict[str, int] = {}
        made = np.zeros((3, len(distinct)), np.int64)
        for number, both in enumerate(distinct.tolist()):
            of_day, who = divmod(both, len(people))
            address, user, agent = people[who]
            key = self._keys.key(texts[of_day])
            known = clients.get((of_day, address))
            if known is None:
                known = clients[of_day, address] = token(key, client_text(address))
            made[0, number] = known
            made[1, number] = token(key, visitor_text(address, user, agent))
            made[2, number] = codes.setdefault(self._country(address), len(codes))
        return made[0][place], made[1][place], made[2][place], list(codes)

    def close(self) -> None:
        """Close the Silo and the engine."""
        self._silo.close()
        if self._engine is not None:
            self._engine.close()


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
def _workplace(silo_path: str, settings: Settings) -> Workplace:
    return Workplace(silo_path, settings)


def work(task: Task) -> Done:
    """Work on a block, in a process of its own; what it needs is kept for the next one."""
    return _workplace(task.silo_path, task.settings).work(task)
