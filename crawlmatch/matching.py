"""The match: from inputs and seeds to the table `crawl_result` and a receipt."""

import gzip
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from crawlmatch.errors import CrawlError
from crawlmatch.outcomes import LinkOutcome
from crawlmatch.plan import match, merge
from crawlmatch.receipts import InputKind, InputReceipt, MatchReceipt, merged
from crawlmatch.report import write_figures
from crawlmatch.results import write_sqlite
from crawlmatch.rules import LineRules
from crawlmatch.seeds import add_seeds, read_seeds
from crawlmatch.shards import (
    MEMORY,
    SET_ASIDE,
    InputsRead,
    ShardTask,
    Watch,
    logs_first,
    opened_engine,
    read_input,
)
from recordsilo.disk.atomic_file import flush_directory
from silosteps.engine import Engine
from silosteps.runners import in_order

RESULT = "crawl_result"
ShardRunner = Callable[[str, Sequence[ShardTask]], list[str]]
"""Makes the shards of some tasks, in the directory given or elsewhere, and returns their paths.

A task may be done twice, and anywhere: its shard is the same, and complete or not there.
"""


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """What to match.

    Attributes:
        inputs: Logs, JSON logs, indexes, WARCs and shards, in any order.
        indexes: Likewise; pages that are only in these count as captured too.
        earlier: Shards, logs or indexes of earlier crawls, and ``crawl_result.parquet``
            files, to resolve redirects that this crawl did not follow.
        seeds: Lists of seeds.
        seed_rows: More seeds, as (address, identifier).
        rules: What counts as a full text.
        unseeded: Whether the result has full texts without a seed.
    """

    inputs: Sequence[str]
    earlier: Sequence[str] = ()
    seeds: Sequence[str] = ()
    seed_rows: Sequence[tuple[str, str]] = ()
    rules: LineRules = field(default_factory=LineRules)
    unseeded: bool = True


def match_into(
    directory: str,
    request: MatchRequest,
    *,
    processes: int = 1,
    memory: str = MEMORY,
    tables: bool = True,
    run: ShardRunner | None = None,
    watch: Watch | None = None,
) -> MatchReceipt:
    """Match inputs and seeds, and write the result into an existing directory.

    Args:
        directory: Gets ``crawl_result.sqlite`` and ``set-aside.jsonl.gz``.
        processes: Number of processes; if more than one, they make shards, which are merged
            here.
        memory: Most memory of the engine, such as ``"512MB"``.
        tables: Whether to write ``crawl_result.parquet``, the figures of the report and the
            tables of `explain` too.
        run: Makes the shards instead of the processes.
        watch: See `crawlmatch.shards.Watch`.

    Raises:
        InputUnreadable, CrawlError: An input or a list of seeds cannot be read.
        StepsError: Memory or disk space ran out.
    """
    with (
        _as_shards(directory, request, run or _by_processes(processes), memory) as (
            names,
            kept_aside,
        ),
        opened_engine(directory, memory, watch, names) as engine,
    ):
        with gzip.open(f"{directory}/{SET_ASIDE}", "wb") as kept:
            for path in kept_aside:
                with gzip.open(path, "rb") as file:
                    kept.write(file.read())
            reading = InputsRead(kept)
            _read_all(engine, request, names, reading)
        merge(engine, request.rules)
        index_pages = int(engine.run("count_index_pages").all()[0][0])
        match(engine, request.rules, unseeded=request.unseeded)
        if tables:
            engine.run("kept_pages")
            for step, name in _FILES.items():
                engine.run(step, file=f"{directory}/{name}")
            write_figures(directory, engine)
        receipt = _receipt(engine, reading, index_pages)
        write_sqlite(engine.run("result_rows").rows(), f"{directory}/{RESULT}.sqlite")
    return receipt


_FILES = {
    "write_result": f"{RESULT}.parquet",
    "write_outcomes": "outcomes.parquet",
    "write_kept_pages": "pages.parquet",
    "write_kept_ways": "ways.parquet",
}


def match_to_sqlite(
    path: str, request: MatchRequest, *, processes: int = 1, memory: str = MEMORY
) -> MatchReceipt:
    """Match inputs and seeds into one SQLite file; it replaces an existing file when complete.

    Args:
        request, processes, memory: See `match_into`.

    Raises:
        As `match_into`; an existing file is unchanged.
    """
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise CrawlError(f"{path} is a directory; name a file")
    parent = os.path.dirname(target)
    with tempfile.TemporaryDirectory(prefix=".silo-crawl-", dir=parent) as scratch:
        receipt = match_into(scratch, request, processes=processes, memory=memory, tables=False)
        receipt.check_used()
        os.rename(f"{scratch}/{RESULT}.sqlite", target)
        flush_directory(parent)
    return receipt


def _read_all(
    engine: Engine, request: MatchRequest, names: Sequence[str], reading: InputsRead
) -> None:
    for name in logs_first(names):
        read_input(engine, name, request.rules, reading)
    own = len(reading.inputs)
    for name in request.earlier:
        if name.endswith(".parquet"):
            engine.run("take_earlier", file=name, pages=request.rules.pages)
        else:
            read_input(engine, name, request.rules, reading, source=2)
    reading.inputs[own:] = [replace(one, kind=InputKind.EARLIER) for one in reading.inputs[own:]]
    for name in request.seeds:
        reading.inputs.append(read_seeds(engine, name))
    add_seeds(engine, request.seed_rows)


# -- shards beside each other -------------------------------------------------------------


def _by_processes(number: int) -> ShardRunner | None:
    """Return a runner with several processes; None for one, which needs no shards."""

    def run(directory: str, tasks: Sequence[ShardTask]) -> list[str]:
        jobs = [(f"{directory}/{n}", task) for n, task in enumerate(tasks)]
        return list(in_order(_made, jobs, processes=min(number, len(jobs))))

    return run if number > 1 else None


def _made(job: tuple[str, ShardTask]) -> str:
    path, task = job
    task.write(path)
    return path


@contextmanager
def _as_shards(
    directory: str, request: MatchRequest, run: ShardRunner | None, memory: str
) -> Iterator[tuple[Sequence[str], list[str]]]:
    """Return the inputs, with files replaced by the shards that a runner made."""
    names = list(dict.fromkeys(request.inputs))
    files = [name for name in names if name != "-" and not os.path.isdir(name)]
    if run is None or len(files) < 2:
        yield names, []
        return
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        made = run(scratch, [ShardTask(name, request.rules, memory) for name in files])
        others = [name for name in names if name not in files]
        yield [*others, *made], [f"{path}/{SET_ASIDE}" for path in made]


# -- what is counted ----------------------------------------------------------------------


_LINE_SCOPES = ("skip-log-scope", "skip-tiny-octetstream", "skip-empty-file")


def _receipt(engine: Engine, reading: InputsRead, index_pages: int) -> MatchReceipt:
    documents, updated = engine.run("count_hits").all()[0]
    missing, loops = engine.run("count_missing").all()[0]
    normalised, bad = engine.run("count_seed_forms").all()[0]
    seed_rows = engine.run("count_seeds").all()[0][0]
    outcomes = {LinkOutcome(name): count for name, count in engine.run("count_outcomes").all()}
    endless = engine.run("count_endless").all()[0][0]
    rules = {str(name): count for name, count in engine.run("count_rules").all()}
    inputs = merged(reading.inputs)
    unfound = rules.get("", 0) - bad
    backward = {
        **_of_lines(inputs),
        "documents": documents,
        "documents-without-parent": missing,
        "documents-in-loops": loops,
    }
    forward = {
        "inserted": seed_rows - updated - unfound - bad,
        "existing-id-updated": updated,
        "existing-complete": 0,
        "map-url-missing": unfound,
        "skip-bad-seed-url": bad,
        "skip-raw-line": sum(
            sum(one.reasons.values()) for one in inputs if one.kind == InputKind.SEEDS
        ),
        "_normalized-seed-url": normalised,
        "_redirect-recursion-limit": endless,
    }
    indexes = {
        "skip-cdx-raw": sum(
            one.reasons.get("header", 0) for one in inputs if one.kind == InputKind.CDX
        ),
        "pages-without-full-text": index_pages,
    }
    counters = {"backward": backward, "backward_cdx": indexes, "forward": forward}
    return MatchReceipt(tuple(inputs), seed_rows, outcomes, rules, counters)


def _of_lines(inputs: Sequence[InputReceipt]) -> dict[str, int]:
    """Return what each line of the logs was."""
    logs = [one for one in inputs if one.kind in {InputKind.LOG, InputKind.JSON}]
    scopes = [one.scopes or {} for one in logs]
    return {
        "skip-log-prereq": sum(one.reasons.get("prerequisite", 0) for one in logs),
        **{name: sum(one.get(name, 0) for one in scopes) for name in _LINE_SCOPES},
        "full-text-lines": sum(one.get("full-text", 0) for one in scopes),
    }
