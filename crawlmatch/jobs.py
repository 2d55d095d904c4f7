"""Matches of crawls as jobs; the shards of their inputs are jobs that any worker may do.

The engine is loaded when a job runs, because the page reads the kinds of all jobs.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from crawlmatch.errors import CrawlError, check_extra
from crawlmatch.kept import check_name, crawls_beside, inputs_beside
from crawlmatch.outcomes import LinkOutcome
from recordsilo import Silo
from recordsilo.disk.atomic_file import remove_tree
from recordsilo.disk.locks import Locks
from recordsilo.extras import PackageMissing
from recordsilo.selection import Selection
from recordsilo.wording import counted
from silosteps.errors import StepsError
from silowork.errors import JobRefused, NoSuchJob
from silowork.forms import Field, Input, JobForm
from silowork.ledger import JobLedger
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

if TYPE_CHECKING:
    from crawlmatch.matching import MatchRequest
    from crawlmatch.receipts import MatchReceipt
    from crawlmatch.rules import LineRules
    from crawlmatch.shards import ShardTask

SHARDS = os.path.join(".silo", "crawls")
"""Where a Silo has the shards of matches in progress: a directory for each crawl."""
_SECONDS_BETWEEN_LOOKS = 0.3
_READING = "inputs read"


def arguments_of(name: str, request: "MatchRequest", memory: str) -> dict[str, Any]:
    """Return the arguments of the job that matches a crawl; without seeds: all records' links.

    Raises:
        JobRefused: An input is standard input, which a worker does not have.
    """
    named = {"inputs": request.inputs, "earlier": request.earlier, "seeds": request.seeds}
    if any("-" in paths for paths in named.values()):
        raise JobRefused("a job cannot read standard input; name a file")
    return {
        "name": name, "memory": memory,
        **{one: list(paths) for one, paths in named.items()},
        "full_texts": list(request.rules.full_texts), "walls": list(request.rules.walls),
        "defences": list(request.rules.defences),
    }  # fmt: skip


def match(work: Work) -> Ending:
    """Match a crawl: start a job for each shard, do those that no worker does, merge them.

    Raises:
        Interrupted: The job was asked to end; shards that are complete stay.
    """
    check_extra()
    from crawlmatch.crawls import match_into_silo

    name = str(work.arguments["name"])
    with Silo(work.silo_path, create=False) as silo:
        crawl, _is_new = match_into_silo(
            silo.path,
            name,
            _request(work.arguments, silo),
            memory=str(work.arguments["memory"]),
            run=partial(_by_workers, work),
            watch=lambda _step: work.end_if_asked(),
        )
    remove_tree(_directory(work.silo_path, name))
    return _ending(name, crawl.receipt)


def _request(given: Mapping[str, Any], silo: Silo) -> "MatchRequest":
    from crawlmatch.matching import MatchRequest
    from crawlmatch.record_links import links_of_records

    rows: tuple[tuple[str, str], ...] = ()
    if not given["seeds"]:
        rows = tuple((one.url, one.identifier) for one in links_of_records(silo, Selection()))
    return MatchRequest(
        inputs=_paths(silo.path, given["inputs"]),
        earlier=_paths(silo.path, given["earlier"]),
        seeds=_paths(silo.path, given["seeds"]),
        seed_rows=rows,
        rules=_rules(given),
    )


def _rules(given: Mapping[str, Any]) -> "LineRules":
    from crawlmatch.rules import LineRules

    return LineRules(*(tuple(given[name]) for name in ("full_texts", "walls", "defences")))


def _paths(silo_path: str, named: Sequence[str]) -> list[str]:
    """The paths of inputs; those beside the Silo are named without their directory.

    Raises:
        JobRefused: One beside the Silo is a symbolic link, a device or a pipe.
    """
    place, listed = crawls_beside(silo_path), set(inputs_beside(silo_path))
    for one in named:
        if "/" not in one and one not in listed and os.path.lexists(os.path.join(place, one)):
            raise JobRefused(f"{place}/{one} is a symbolic link, or no file and no shard")
    return [os.path.join(place, one) for one in named]


def _named(silo_path: str, path: str) -> str:
    """The opposite of `_paths`: the page shows no more of the server's directories than needed."""
    place, name = os.path.split(path)
    return name if place == crawls_beside(silo_path) else path


def _ending(name: str, receipt: "MatchReceipt") -> Ending:
    found = receipt.outcomes.get(LinkOutcome.FULLTEXT, 0) + receipt.outcomes.get(
        LinkOutcome.DUPLICATE, 0
    )
    counts = {"links": receipt.seed_rows, "full texts": found, "lines": receipt.set_aside}
    lines = [f"Crawl {name}"]
    lines += [f"{count:>11,}  {one.meaning}" for one, count in receipt.outcomes.items() if count]
    problems = [
        Problem("", f"{one.name}: {one.set_aside:,} of {counted(one.lines, 'line')} set aside")
        for one in receipt.inputs
        if one.set_aside
    ]
    shown = {label: count for label, count in counts.items() if count or label != "lines"}
    return Ending(not problems, "\n".join(lines), {"crawl": name}, shown, problems)


# -- shards -------------------------------------------------------------------------------


def _directory(silo_path: str, name: str) -> str:
    return os.path.join(silo_path, SHARDS, name)


def _by_workers(work: Work, _scratch: str, tasks: Sequence["ShardTask"]) -> list[str]:
    """Start a job for each shard, and do what no worker is doing; return their paths.

    So a match needs no other worker, and a shard job that is killed, refused or never begun
    delays nothing.
    """
    ledger = JobLedger(work.silo_path)
    directory = _directory(work.silo_path, str(work.arguments["name"]))
    paths = {f"{directory}/{task.name}": task for task in tasks}
    for number, (path, task) in enumerate(paths.items()):
        if not os.path.isdir(path):
            given = {"match": work.job_id, "input": _named(work.silo_path, task.source)}
            title = f"Read {os.path.basename(task.source)}"
            job_id = f"{work.job_id}-{number:04}"
            ledger.add(CRAWL_SHARD.name, title, given, work.agent, job_id)
    while left := [path for path in paths if not os.path.isdir(path)]:
        work.end_if_asked()
        work.advanced(len(paths) - len(left), len(paths), _READING)
        if not any(_made(work, path, paths[path]) for path in left):
            work.stop.wait(_SECONDS_BETWEEN_LOOKS)
    work.advanced(len(paths), len(paths), _READING)
    return list(paths)


def _made(work: Work, path: str, task: "ShardTask") -> bool:
    """Make a shard; False if another process makes it."""
    with Locks.of_silo(work.silo_path).hold_name_if_free(f"shard-{task.name}") as is_free:
        if is_free and not os.path.isdir(path):
            task.write(path, lambda _step: work.end_if_asked())
        return is_free


def shard(work: Work) -> Ending:
    """Make one shard of a match, unless that is over or another process makes the shard.

    Raises:
        Interrupted: The job was asked to end.
    """
    check_extra()
    from crawlmatch.shards import ShardTask

    try:
        parent = JobLedger(work.silo_path).job(str(work.arguments["match"]))
    except NoSuchJob:
        parent = None
    if parent is not None and not parent.is_over:
        given = parent.arguments
        (source,) = _paths(work.silo_path, [str(work.arguments["input"])])
        task = ShardTask(source, _rules(given), str(given["memory"]))
        _made(work, f"{_directory(work.silo_path, str(given['name']))}/{task.name}", task)
    work.advanced(1, 1)
    return Ending(True, counts={"inputs": 1})


# -- forms --------------------------------------------------------------------------------


def _asked(fields: Fields, silo_path: str, _records: int) -> Asked:
    name = fields.get("name", "").strip()
    seeds, is_html = fields.get("seeds", "").strip(), fields.get("html_hit", "") == "yes"
    listed = inputs_beside(silo_path)
    chosen = [one for one in listed if fields.get(f"input-{one}", "")]
    try:
        check_extra()
        check_name(name)
    except (CrawlError, PackageMissing) as error:
        raise JobRefused(str(error)) from None
    if seeds and seeds not in listed:
        raise JobRefused(f"there is no list of seeds {seeds!r} (seeds) among the files of crawls")
    inputs = [one for one in chosen if one != seeds]
    if not inputs:
        raise JobRefused("choose at least one log, index, WARC or shard (input-NAME)")
    from crawlmatch.matching import MatchRequest
    from crawlmatch.rules import LineRules
    from crawlmatch.shards import MEMORY

    rules = LineRules.html() if is_html else LineRules()
    request = MatchRequest(inputs=inputs, seeds=[seeds] if seeds else (), rules=rules)
    return Asked(f"Match the crawl {name}", arguments_of(name, request, MEMORY))


def _form(silo_path: str) -> JobForm:
    """The files beside the Silo are offered."""
    form = JobForm(
        "Match a crawl",
        "Determine from the logs of a crawler what became of the links in the records.",
        "Crawls",
        see=("/crawls", "All crawls"),
        order=30,
    )
    try:
        check_extra()
    except PackageMissing as error:
        return replace(form, fault=str(error))
    listed = tuple((one, one) for one in inputs_beside(silo_path))
    if not listed:
        place = os.path.basename(crawls_beside(silo_path))
        return replace(
            form,
            fault=f"Put the files of the crawl into the directory {place} beside the Silo: logs, "
            "indexes, WARCs, shards, lists of seeds. Then reload this page.",
        )
    fields = (
        Field("input", "Logs, indexes and WARCs", Input.TICKS, choices=listed),
        Field(
            "seeds", "Links", Input.CHOICE, choices=(("", "The links of all records"), *listed)
        ),
        Field(
            "name", "Name of the crawl", required=True, default="crawl",
            pattern=r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}",
            help="A crawl of the same name is replaced.",
        ),
        Field("html_hit", "Look for web pages instead of documents", Input.TICK),
    )  # fmt: skip
    return replace(form, fields=fields)


FORESEEN = (StepsError,)
CRAWL_MATCH = Kind(
    "crawl-match", "Match a crawl", match, lane="crawl", foreseen=FORESEEN, read=_asked,
    form=_form, begun="Match of a crawl started", counts={"lines": "lines set aside"},
    result="links", did="{n} links",
)  # fmt: skip
CRAWL_SHARD = Kind(
    "crawl-shard", "Read an input of a crawl", shard, foreseen=FORESEEN, result="inputs",
    did="{n} inputs",
)  # fmt: skip
