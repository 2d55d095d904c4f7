"""A block of log lines → what became of each, and the events among them.

Two ways, the same result: plain lines of Apache's formats in arrays (`columns`), with the numbers
of texts that repeat (`numbers`); every other line by `classify`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from silosteps.lines import Block
from usagestats.importing import unreadable
from usagestats.importing.columns import Array, LineColumns, columns_of
from usagestats.importing.intern import PADDING, InternTable
from usagestats.lines.readers import HEAD, Reader, WebServerReader, text_of
from usagestats.lines.requests import plain_path, read_request
from usagestats.rules.classify import MACHINE, NO_PATTERN, ROBOT, Classified, Rules, classify
from usagestats.rules.robots import AgentKind
from usagestats.values import Fate, Use, UseKind

KINDS = (UseKind.VIEW, UseKind.DOWNLOAD, UseKind.OTHER)
"""The kinds, by their number in an event."""
_KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_DIGEST = hashlib.blake2b(digest_size=8)
TOO_LONG = "longer than 1 MiB"
_USUAL_HEAD = re.compile(rb"([!-~]+) - -")
"""Of nearly all lines: an address, no user."""
_PIECE = 1 << 20
_REMEMBERED = 200_000
"""Texts that are remembered of a field; then those of this field are forgotten, to bound the
memory."""


@dataclass(slots=True)
class Events:
    """The uses of a block, in columns of equal length, with the texts that they name by number.

    Attributes:
        path: 64 bits of a digest of the path.
        client: Number of the address and user in `clients`.
        agent: Number of the user agent in `agents`.
    """

    moment: Array
    item: Array
    kind: Array
    path: Array
    client: Array
    agent: Array
    machine: Array
    items: list[str]
    clients: list[tuple[str, str]]
    agents: list[str]


@dataclass(slots=True)
class Sorted:
    """A block's lines, by what became of them.

    Attributes:
        fates: (fate, reason) → lines.
        kinds: Kind → counted lines.
        unreadable: The first unreadable lines, as far as they are kept.
    """

    lines: int = 0
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    unreadable: list[bytes] = field(default_factory=list)


class BlockClassifier:
    """Sorts the lines of blocks; keep one for all blocks of an import.

    Args:
        rules: Of the Silo.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._has_host = False
        self._forget_agents()
        self._forget_methods()
        self._forget_paths()
        self._forget_heads()

    def _forget_agents(self) -> None:
        self._agent_texts: dict[str, int] = {}
        self._agents = InternTable(partial(map, self._agent), 192, 1 << 14)

    def _forget_methods(self) -> None:
        self._methods = InternTable(partial(map, self._method), 64, 1 << 10)

    def _forget_paths(self) -> None:
        self._items: dict[str, int] = {}
        self._uses = np.zeros((0, 3), np.int64)
        self._paths = InternTable(self._new_uses, 128)

    def _forget_heads(self) -> None:
        self._clients: dict[tuple[str, str], int] = {}
        self._heads = InternTable(partial(map, self._new_head), 64)

    def close(self) -> None:
        """Free the tables, 60 MB; each refers to this object, so they would wait for `gc`."""
        del self._agents, self._methods, self._paths, self._heads

    def _agent(self, data: bytes) -> int:
        """Return the agent's number times 4, and who it is: 0 a person, 1 a robot, 2 a machine."""
        text = text_of(data)
        who = {AgentKind.PERSON: 0, AgentKind.ROBOT: 1, AgentKind.MACHINE: 2}[
            self._rules.agent(text)
        ]
        return self._agent_number(text) * 4 + who

    def _agent_number(self, text: str) -> int:
        return self._agent_texts.setdefault(text, len(self._agent_texts))

    def _method(self, data: bytes) -> int:
        request = read_request(text_of(data))
        return 0 if not request.method else 2 if request.method == "GET" else 1

    def _new_uses(self, requests: list[bytes]) -> list[int]:
        """Return the numbers of requests' uses; -1 if no pattern fits."""
        numbers: list[int] = []
        rows: list[tuple[int, int, int]] = []
        for data in requests:
            path = plain_path(data) or read_request(text_of(data)).path
            use = self._rules.patterns.find(path)
            numbers.append(-1 if use is None else len(self._uses) + len(rows))
            if use is not None:
                rows.append(self._columns_of(use, path))
        if rows:
            self._uses = np.concatenate((self._uses, np.array(rows, np.int64)))
        return numbers

    def _columns_of(self, use: Use, path: str) -> tuple[int, int, int]:
        """Return the number of the item, that of the kind, and 64 bits of a digest of the path."""
        item = self._items.setdefault(use.item, len(self._items))
        digest = _DIGEST.copy()
        digest.update(path.encode("utf-8", "surrogatepass"))
        number = int.from_bytes(digest.digest(), "little", signed=True)
        return item, _KIND_NUMBERS[use.kind], number

    def _new_head(self, data: bytes) -> int:
        """Return the number of an address and user; -1 if this is not the head of a line."""
        if not self._has_host and (usual := _USUAL_HEAD.fullmatch(data)):
            return self._client(usual[1].decode("ascii"), "")
        text = text_of(data)
        if self._has_host:
            text = text.partition(" ")[2]
        found = HEAD.fullmatch(text)
        if found is None:
            return -1
        address, _, user = found.groups()
        return self._client(address, "" if user == "-" else user)

    def _client(self, address: str, user: str) -> int:
        return self._clients.setdefault((address, user), len(self._clients))

    def sort(self, block: Block, reader: Reader) -> tuple[Sorted, Events]:
        """Sort the lines of a block.

        Args:
            block: Whole lines.
            reader: Of the log, as it is at the block's beginning.
        """
        self._forget_if_many()
        done = Sorted()
        found: list[tuple[int, ...]] = []
        parts: list[tuple[Array, ...]] = []
        if block.cut:
            done.lines = 1
            self._count(done, Classified(Fate.UNREADABLE, TOO_LONG), block.data)
        elif isinstance(reader, WebServerReader):
            if reader.has_host != self._has_host:
                self._forget_heads()
                self._has_host = reader.has_host
            for data in _pieces(block.data):
                columns = columns_of(data, has_agent=reader.has_agent)
                others = [data[a:b] for a, b in _pairs(columns.other)]
                done.lines += len(columns.moment) + len(others)
                parts.append(self._plain(data + PADDING, columns, done, others))
                for line in others:
                    self._take(line, classify(line, reader, self._rules), done, found)
        else:
            lines = block.split()
            done.lines = len(lines)
            for line in lines:
                reader = reader.after(line)
                self._take(line, classify(line, reader, self._rules), done, found)
        return done, self._events(parts, found)

    def sort_classified(self, lines: Iterable[tuple[bytes, Classified]]) -> tuple[Sorted, Events]:
        """Sort lines of which is known what became of them."""
        self._forget_if_many()
        done = Sorted()
        found: list[tuple[int, ...]] = []
        for line, became in lines:
            done.lines += 1
            self._take(line, became, done, found)
        return done, self._events([], found)

    def _forget_if_many(self) -> None:
        if max(len(self._agents), len(self._agent_texts)) > _REMEMBERED:
            self._forget_agents()
        if len(self._methods) > _REMEMBERED:
            self._forget_methods()
        if max(len(self._paths), len(self._items)) > _REMEMBERED:
            self._forget_paths()
        if max(len(self._heads), len(self._clients)) > _REMEMBERED:
            self._forget_heads()

    def _events(self, parts: list[tuple[Array, ...]], found: list[tuple[int, ...]]) -> Events:
        if found:
            parts.append(tuple(np.array(column, np.int64) for column in zip(*found, strict=True)))
        parts.append((np.zeros(0, np.int64),) * 7)
        moment, item, kind, path, client, agent, machine = map(
            np.concatenate, zip(*parts, strict=True)
        )
        return Events(
            moment, item, kind, path, client, agent, machine, list(self._items),
            list(self._clients), list(self._agent_texts),
        )  # fmt: skip

    def _take(
        self, line: bytes, became: Classified, done: Sorted, found: list[tuple[int, ...]]
    ) -> None:
        """Count a line, and add its event to those found."""
        self._count(done, became, line)
        if became.hit is None or became.use is None:
            return
        hit, use = became.hit, became.use
        item, kind, path = self._columns_of(use, hit.path)
        client, agent = self._client(hit.address, hit.user), self._agent_number(hit.agent)
        found.append((hit.moment, item, kind, path, client, agent, int(became.machine)))

    def _count(self, done: Sorted, became: Classified, line: bytes) -> None:
        done.fates[became.fate, became.reason] += 1
        if became.fate is Fate.COUNTED and became.use is not None:
            done.kinds[became.use.kind] += 1
        if became.fate is Fate.UNREADABLE and len(done.unreadable) < unreadable.MOST:
            done.unreadable.append(line[: unreadable.LONGEST])

    def _plain(
        self, data: bytes, columns: LineColumns, done: Sorted, others: list[bytes]
    ) -> tuple[Array, ...]:
        """Sort plain lines; adds lines to `others` whose head is not that of a line."""
        if len(columns.agent[0]):
            agents = self._agents(data, *columns.agent)
        else:
            agents = np.full(len(columns.moment), self._agent_number("") * 4)
        who = agents & 3
        heads = self._heads(data, *columns.head)
        good = heads >= 0
        if not good.all():
            # The line's end is not in the columns: it is the next LF.
            for start in columns.head[0][~good].tolist():
                end = data.find(b"\n", start)
                others.append(data[start : end if end >= 0 else len(data) - len(PADDING)])
        done.fates[Fate.BOT, ROBOT] += int(np.count_nonzero(good & (who == 1)))
        done.fates[Fate.BOT, MACHINE] += int(np.count_nonzero(good & (who == 2)))
        # Requests of robots are not read further.
        row = np.flatnonzero(good & (who != 1))
        methods = np.full(len(row), 2)
        # What begins with GET and a path is a request; the rest is read.
        unsure = np.flatnonzero(~columns.is_get[row])
        methods[unsure] = self._methods(data, *_of(columns.request, row[unsure]))
        status, person = columns.status[row], who[row] == 0
        possible = (methods == 2) & ((status == 200) | (status == 304))
        refused = person & ~possible
        for method, code in set(zip(methods[refused].tolist(), status[refused].tolist(),
                                    strict=True)):  # fmt: skip
            same = refused & (methods == method) & (status == code)
            reason = self._rules.refusal(("", "HEAD", "GET")[method], code)
            done.fates[Fate.OTHER, reason] += int(np.count_nonzero(same))
        row, person = row[possible], person[possible]
        uses = self._paths(data, *_of(columns.request, row))
        is_use = uses >= 0
        done.fates[Fate.OTHER, NO_PATTERN] += int(np.count_nonzero(person & ~is_use))
        done.fates[Fate.COUNTED, ""] += int(np.count_nonzero(person & is_use))
        row, person = row[is_use], person[is_use]
        item, kind, path = self._uses[uses[is_use]].T
        for place, name in enumerate(KINDS):
            done.kinds[name] += int(np.count_nonzero((kind == place) & person))
        machine = (~person).astype(np.int64)
        return columns.moment[row], item, kind, path, heads[row], agents[row] >> 2, machine


def _pieces(data: bytes) -> Iterator[bytes]:
    """Yield whole lines in pieces whose columns fit into a processor's cache."""
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + _PIECE) + 1 or data.find(b"\n", start) + 1
        yield data[start : end or len(data)]
        start = end or len(data)


def _of(field_of: tuple[Array, Array], rows: Array) -> tuple[Array, Array]:
    """Return where a field begins and ends in some rows."""
    return field_of[0][rows], field_of[1][rows]


def _pairs(field_of: tuple[Array, Array]) -> "zip[tuple[int, int]]":
    return zip(field_of[0].tolist(), field_of[1].tolist(), strict=True)
