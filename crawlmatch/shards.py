"""Shards: the pages of some inputs, in a directory of Parquet files.

The steps of `plan.merge` make a shard of its inputs, and merge several shards into one, in any
order and also if inputs overlap or are repeated. A shard's directory is renamed to its name
last, so it is complete or does not exist.
"""

import gzip
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from crawlmatch.errors import CrawlError, ShardUnusable
from crawlmatch.inputs import kind_of_file, read_lines, set_aside_line
from crawlmatch.plan import make_tables, merge
from crawlmatch.receipts import InputKind, InputReceipt
from crawlmatch.rules import LineRules
from crawlmatch.warcs import read_warc
from recordsilo.disk.atomic_file import flush_directory, flush_fd, remove_tree
from recordsilo.disk.regular_file import regular_fd
from silosteps.engine import Engine
from silosteps.errors import InputUnreadable
from silosteps.inputs import STDIN
from silosteps.step_file import steps_of

FORMAT = 2
RECEIPT = "shard.json"
SET_ASIDE = "set-aside.jsonl.gz"
_TABLES = {"pages": "page", "edges": "edge", "locations": "location", "captures": "capture"}
MEMORY = "600MB"
_FOR_ONE_THREAD = 2 << 30
_PACKED = 8
"""How many times as long lines are as what they are compressed to."""


Watch = Callable[[str], None]
"""Called with the name of each step before it runs; may raise to end the work."""


@dataclass(frozen=True, slots=True)
class ShardTask:
    """An input to make a shard of: one file in, one directory out."""

    source: str
    rules: LineRules
    memory: str = MEMORY

    @property
    def name(self) -> str:
        """A name for its shard, which changes if the file does.

        Raises:
            InputUnreadable: It does not exist.
        """
        try:
            found = os.stat(self.source)
        except OSError as error:
            raise InputUnreadable(self.source, error.strerror or str(error)) from error
        path = os.path.abspath(self.source)
        told = json.dumps([FORMAT, asdict(self), path, found.st_size, found.st_mtime_ns])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def write(self, path: str, watch: Watch | None = None) -> None:
        """Make the shard, as `write_shard` does."""
        write_shard(path, [self.source], self.rules, memory=self.memory, watch=watch)


@dataclass(slots=True)
class InputsRead:
    """The inputs read so far, and the file for malformed lines."""

    set_aside: gzip.GzipFile
    inputs: list[InputReceipt] = field(default_factory=list)

    def keep(self, name: str, reason: str, line: str) -> None:
        """Write a malformed line to the file."""
        self.set_aside.write(set_aside_line(name, reason, line))


@contextmanager
def opened_engine(
    scratch: str, memory: str = MEMORY, watch: Watch | None = None, names: Iterable[str] = ()
) -> Iterator[Engine]:
    """Open an engine with empty tables and its own directory for temporary files.

    Args:
        scratch: Where to make that directory.
        memory: Most memory of the engine, such as ``"512MB"``.
        watch: See `Watch`.
        names: The inputs to be read; for some millions of lines, a second thread costs more CPU
            than it saves time.
    """
    directory = f"{scratch}/{os.getpid()}-{secrets.token_hex(4)}.duckdb"
    os.makedirs(directory)
    try:
        threads = 1 if sum(map(_bytes_of, names)) < _FOR_ONE_THREAD else None
        steps = steps_of("crawlmatch")
        with Engine(steps, directory, memory=memory, threads=threads, watch=watch) as engine:
            make_tables(engine)
            yield engine
    finally:
        remove_tree(directory)


@contextmanager
def whole_directory(path: str) -> Iterator[str]:
    """Give a directory to write into, which replaces the one at the path when it is complete."""
    parent, name = os.path.split(os.path.abspath(path))
    os.makedirs(parent, exist_ok=True)
    sweep(parent, name)
    staged = f"{parent}/.{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
    os.mkdir(staged)
    try:
        yield staged
        _flush(staged)
        replaced = f"{parent}/.{name}.replaced"
        if os.path.lexists(path):
            os.rename(path, replaced)
        os.rename(staged, path)
        flush_directory(parent)
        remove_tree(replaced)
    except BaseException:
        remove_tree(staged)
        raise


def sweep(parent: str, name: str) -> None:
    """Clean up after a killed process: move the old directory back, remove temporary ones."""
    replaced, path = f"{parent}/.{name}.replaced", f"{parent}/{name}"
    if os.path.isdir(replaced) and not os.path.lexists(path):
        os.rename(replaced, path)
    remove_tree(replaced)
    for entry in os.listdir(parent):
        if not (entry.startswith(f".{name}.") and entry.endswith(".tmp")):
            continue
        pid = entry.removeprefix(f".{name}.").partition("-")[0]
        if not (pid.isdigit() and _runs(int(pid))):
            remove_tree(f"{parent}/{entry}")


def logs_first(names: Iterable[str]) -> list[str]:
    """Return inputs in the order in which they cost least: indexes and WARCs after all others.

    Raises:
        InputUnreadable: One does not exist.
    """
    return sorted(names, key=_is_index)


def _is_index(name: str) -> bool:
    if name == STDIN or os.path.isdir(name):
        return False
    return kind_of_file(name) in {InputKind.CDX, InputKind.WARC}


def read_input(
    engine: Engine, name: str, rules: LineRules, reading: InputsRead, *, source: int | None = None
) -> None:
    """Read an input of any kind: a log, an index, a WARC, or a shard.

    Args:
        engine: Gets the rows.
        rules: What counts as a full text.
        reading: Gets the receipt and malformed lines.
        source: The source of its pages, as in ``steps.sql``; None for that of its kind.

    Raises:
        InputUnreadable: It does not exist, or is truncated.
        ShardUnusable, CrawlError: It cannot be used.
    """
    if os.path.isdir(name):
        reading.inputs += take_shard(engine, name, rules, earlier=source == 2)
    elif name != STDIN and kind_of_file(name) is InputKind.WARC:
        reading.inputs.append(
            read_warc(engine, name, rules, source=1 if source is None else source)
        )
    else:
        found = read_lines(
            engine,
            name,
            rules,
            source=source,
            set_aside=partial(reading.keep, name),
            after_logs=any(one.kind in {InputKind.LOG, InputKind.JSON} for one in reading.inputs),
        )
        reading.inputs.append(found)


def write_shard(
    path: str,
    names: Sequence[str],
    rules: LineRules,
    *,
    memory: str = MEMORY,
    watch: Watch | None = None,
) -> list[InputReceipt]:
    """Make a shard of some inputs; it replaces an existing one when it is complete.

    Args:
        path: The shard's directory.
        names: The inputs.
        rules: What counts as a full text.
        memory: Most memory of the engine, such as ``"512MB"``.
        watch: See `Watch`.

    Returns:
        The receipts of the inputs.

    Raises:
        InputUnreadable, ShardUnusable, CrawlError, OSError: Nothing is written.
        StepsError: Memory or disk space ran out; nothing is written.
    """
    if os.path.lexists(path) and not os.path.exists(f"{path}/{RECEIPT}"):
        raise CrawlError(f"{path} exists and is not a shard; give another name")
    with whole_directory(path) as staged, opened_engine(staged, memory, watch, names) as engine:
        with gzip.open(f"{staged}/{SET_ASIDE}", "wb") as kept:
            reading = InputsRead(kept)
            for name in logs_first(names):
                read_input(engine, name, rules, reading)
        merge(engine, rules)
        for table, name in _TABLES.items():
            engine.run(f"write_{table}", file=f"{staged}/{name}.parquet")
        told = {
            "format": FORMAT,
            "rules": {"full_texts": list(rules.full_texts)},
            "inputs": [one.to_json() for one in reading.inputs],
        }
        with open(f"{staged}/{RECEIPT}", "w", encoding="utf-8") as file:
            json.dump(told, file, ensure_ascii=False, indent=1)
    return reading.inputs


def take_shard(
    engine: Engine, path: str, rules: LineRules, *, earlier: bool = False
) -> list[InputReceipt]:
    """Read a shard; return the receipts of its inputs.

    Raises:
        ShardUnusable: It is not a shard, has a later format, or was made with other rules.
    """
    told = _told(path)
    if tuple(told["rules"]["full_texts"]) != rules.full_texts:
        kept = ", ".join(told["rules"]["full_texts"])
        raise ShardUnusable(path, f"it was made with {kept} as full texts; make it again")
    engine.run("take_pages", file=f"{path}/page.parquet", earlier=earlier)
    for table in ("locations", "captures") if earlier else ("edges", "locations", "captures"):
        engine.run(f"take_{table}", file=f"{path}/{_TABLES[table]}.parquet")
    return [InputReceipt.from_json(one) for one in told["inputs"]]


def _told(path: str) -> dict[str, Any]:
    try:
        with open(f"{path}/{RECEIPT}", encoding="utf-8", opener=regular_fd) as file:
            told: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        raise ShardUnusable(path, f"it has no {RECEIPT}; silo crawl map makes a shard") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ShardUnusable(path, f"its {RECEIPT} cannot be read ({error})") from None
    if told.get("format") != FORMAT:
        raise ShardUnusable(
            path,
            f"it is in format {told.get('format')}, this release reads {FORMAT};"
            " silo crawl map makes it again",
        )
    return told


def _bytes_of(name: str) -> int:
    """About how many bytes of lines an input has; 0 if nobody knows before it is read."""
    try:
        if os.path.isdir(name):
            return _PACKED * sum(entry.stat().st_size for entry in os.scandir(name))
        return os.path.getsize(name) * (_PACKED if name.endswith((".gz", ".zst")) else 1)
    except OSError:
        return 0


def _flush(directory: str) -> None:
    for name in sorted(os.listdir(directory)):
        if os.path.isfile(f"{directory}/{name}"):
            with open(f"{directory}/{name}", "rb") as file:
                flush_fd(file.fileno())
    flush_directory(directory)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
