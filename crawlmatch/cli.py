"""The commands `silo crawl …`; the rest of the package is loaded when one is called.

Exit codes: 0 whole; 1 lines were set aside, or files could not be attached; 2 invalid input.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from crawlmatch.errors import check_extra
from recordsilo.cli import Commands, ExitCode, example, fail, fitted, open_silo
from recordsilo.command_table import Sections
from recordsilo.commands import completion
from recordsilo.commands.options import (
    all_of,
    check_not_empty,
    directory,
    json_array,
    json_object,
    print_json,
    quiet_option,
    selecting,
    tell_none,
)
from recordsilo.selection import Selection
from recordsilo.wording import counted
from silosteps.errors import DiskFull, StepsError, WorkerDied

if TYPE_CHECKING:
    from crawlmatch.matching import MatchRequest
    from crawlmatch.receipts import MatchReceipt
    from crawlmatch.rules import LineRules

F = TypeVar("F", bound=Callable[..., Any])

inputs = click.argument(
    "inputs", metavar="INPUT...", nargs=-1, required=True, shell_complete=completion.files
)
out = click.option("-o", "--output", required=True, metavar="PATH", help="Output path.")


def _crawl_names(silo_path: str) -> list[str]:
    from crawlmatch.kept import crawl_names

    return crawl_names(silo_path)


name = click.option(
    "--name",
    metavar="NAME",
    shell_complete=completion.among(_crawl_names),
    help="Name of the crawl (default: the one matched last).",
)


def _memory(_: click.Context, __: click.Parameter, value: str) -> str:
    """Check a size in the form that DuckDB expects."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}(MB|GB|MiB|GiB)", value):
        raise click.BadParameter(f"{value!r} is not a size; write 600MB or 4GB")
    return value


judging = all_of(
    click.option("--html-hit", is_flag=True, help="Look for web pages instead of documents."),
    click.option(
        "--rules", "rules_file", metavar="FILE.toml", type=click.File("r", encoding="utf-8"),
        help="TOML file with more patterns of login pages, or other media types of full texts.",
    ),
    click.option("--memory", default="600MB", callback=_memory, show_default=True, metavar="SIZE",
                 help="Maximum memory of the engine; beyond it, the engine uses the disk."),
    quiet_option,
)  # fmt: skip
also = all_of(
    click.option("--cdx", "indexes", metavar="FILE", multiple=True,
                 help="An index (CDX, CDXJ) or a WARC of the crawl; repeatable."),
    click.option("--earlier", metavar="PATH", multiple=True,
                 help="A shard, log, index or crawl_result.parquet of an earlier crawl, or its"
                 " name in the Silo, to resolve redirects that this crawl did not follow."),
    click.option("--jobs", "processes", type=click.IntRange(1, 64), default=1, show_default=True,
                 help="Number of inputs to read in parallel."),
)  # fmt: skip


@contextlib.contextmanager
def _told(*, engine: bool = True) -> Iterator[None]:
    """Print errors of the engine and of inputs as one sentence; name a missing package."""
    if engine:
        check_extra()
    try:
        yield
    except StepsError as error:
        fail(str(error), code_of(error))


def code_of(error: StepsError) -> ExitCode:
    """The exit code for an error of the steps: what was stopped, lost, or asked in vain."""
    if isinstance(error, WorkerDied | DiskFull):
        return ExitCode.STOPPED
    return ExitCode.LOSSES if type(error) is StepsError else ExitCode.USAGE


def _rules(given: dict[str, Any]) -> "LineRules":
    from crawlmatch.rules import MOST_TEXT, LineRules, rules_from

    if given["rules_file"] is not None:
        try:
            return rules_from(given["rules_file"].read(MOST_TEXT + 1), html=given["html_hit"])
        except UnicodeDecodeError:
            fail(f"{given['rules_file'].name} is not UTF-8; save the rules as UTF-8 text")
    return LineRules.html() if given["html_hit"] else LineRules()


def _request(given: dict[str, Any], **more: Any) -> "MatchRequest":
    from crawlmatch.matching import MatchRequest

    named = (*given.get("inputs", ()), *given.get("indexes", ()))
    return MatchRequest(inputs=named, earlier=given.get("earlier", ()), rules=_rules(given), **more)


SECTIONS: Sections = {
    "Follow the links of records": {
        "target": "choose what is crawled, how far, and when",
        "run": "launch what is due, fetch, index and catalogue it",
        "launch": "put the seeds that are due into the queue",
        "inject": "put single addresses into the queue",
        "heritrix": "let a Heritrix fetch; ask and control it",
        "bridge": "pass messages between the queues and a RabbitMQ",
    },
    "Look at crawls": {
        "status": "show how everything is, and what to do",
        "queue": "look at the queues; retry what failed",
        "proposals": "decide about documents that may be a record's",
        "compare": "compare pages with how they are archived",
        "replay": "show what was crawled, as it was, by pywb",
        "cdx-server": "answer CDX queries of pywb and others",
        "import": "take in WARC and WACZ files from elsewhere",
    },
    "Keep what was crawled": {
        "store": "say how packages are made and where they go",
        "checkpoint": "make a checkpoint, to be packaged",
        "package": "package it, and bring it into the store",
        "packages": "list the packages, and how far they are",
        "verify": "check the packages in the store",
        "merge": "bring packages to an access node",
    },
    "Outcomes of links, from any crawl": {
        "seeds": "print the links of records",
        "match": "match a crawl with the records",
        "list": "list the crawls of a Silo",
        "report": "count outcomes, domains, statuses, media types",
        "explain": "explain the outcome of a link, hop by hop",
        "attach": "add the full texts of a crawl to records",
    },
    "As arabesque": {
        "backward": "trace full texts back to their seeds",
        "forward": "trace seeds to their final addresses",
        "everything": "both, and full texts without a seed",
        "map": "make a shard of inputs",
        "dump": "print all results as JSON lines",
        "postprocess": "note the statuses of full texts",
    },
}


@click.group(cls=Commands, sections=SECTIONS)
def crawl() -> None:
    """Follow the links of records, archive what is found, and report the outcome of each link.

    An INPUT is a crawl log of Heritrix, plain or compressed, the same as JSON, an index
    (CDX, CDXJ), a WARC, a shard (silo crawl map), or - for standard input.
    """


@crawl.command(epilog=example("silo crawl seeds myrepo > seeds.tsv"))
@directory
@selecting
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["fulltext", "doi", "landing"]),
    help="Only links of this kind; repeatable.",
)
def seeds(
    silo_dir: str,
    select: Selection,
    kinds: tuple[str, ...],
) -> None:
    """Print the links of records (address, identifier, kind), separated by tabs."""
    with _told(), open_silo(silo_dir) as silo:
        from crawlmatch.record_links import links_of_records

        check_not_empty(silo, select)
        for link in links_of_records(silo, select):
            if not kinds or link.kind in kinds:
                click.echo(link.line(), nl=False)


@crawl.command("map", epilog=example("silo crawl map crawl.log.gz -o shard-1"))
@inputs
@out
@judging
@json_object
def map_command(output: str, *, as_json: bool, **given: Any) -> int:
    """Make a shard of inputs. Shards merge in any order."""
    with _told():
        from crawlmatch.shards import write_shard

        read = write_shard(output, given["inputs"], _rules(given), memory=given["memory"])
    if as_json:
        print_json({"inputs": [one.to_json() for one in read]})
    else:
        for one in read:
            if one.set_aside or not given["quiet"]:
                click.echo(_input_line(one))
    return ExitCode.LOSSES if any(one.set_aside for one in read) else ExitCode.OK


def _written(output: str, request: "MatchRequest", given: dict[str, Any], *, as_json: bool) -> int:
    """Match into one SQLite file, written completely or not at all."""
    from crawlmatch.matching import match_to_sqlite

    receipt = match_to_sqlite(output, request, processes=given["processes"], memory=given["memory"])
    return _show(receipt, output, as_json=as_json, quiet=given["quiet"])


@crawl.command(
    epilog=example(
        "silo crawl backward crawl.log -o hits.sqlite",
        "silo crawl backward shard-1 --cdx crawl.cdx -o hits.sqlite",
    )
)
@inputs
@out
@also
@judging
@json_object
def backward(output: str, *, as_json: bool, **given: Any) -> int:
    """Trace each full text back to the address where the crawler began; needs no seeds."""
    with _told():
        return _written(output, _request(given), given, as_json=as_json)


@crawl.command(epilog=example("silo crawl forward seeds.tsv crawl.log -o seeds.sqlite"))
@click.argument("seed_file", metavar="SEEDS", shell_complete=completion.files)
@inputs
@out
@also
@judging
@json_object
def forward(seed_file: str, output: str, *, as_json: bool, **given: Any) -> int:
    """Trace each seed to its final addresses; full texts without a seed are left out."""
    with _told():
        request = _request(given, seeds=(seed_file,), unseeded=False)
        return _written(output, request, given, as_json=as_json)


@crawl.command(epilog=example("silo crawl everything seeds.tsv crawl.log.gz -o all.sqlite"))
@click.argument("seed_file", metavar="SEEDS", shell_complete=completion.files)
@inputs
@out
@also
@judging
@json_object
def everything(seed_file: str, output: str, *, as_json: bool, **given: Any) -> int:
    """List each seed with its final addresses, and the full texts without a seed."""
    with _told():
        return _written(output, _request(given, seeds=(seed_file,)), given, as_json=as_json)


@crawl.command(
    epilog=example(
        "silo crawl match myrepo crawl.log.gz --seeds seeds.tsv",
        "silo crawl match myrepo shard-1 shard-2 --cdx crawl.cdx --name spring",
    )
)
@directory
@inputs
@click.option(
    "--seeds",
    "seed_files",
    metavar="FILE",
    multiple=True,
    help="A list of seeds; repeatable. By default the links of all records.",
)
@click.option(
    "--name", default="crawl", show_default=True, metavar="NAME", help="Name of the crawl."
)
@click.option(
    "--queue", is_flag=True, help="Leave it to the workers (silo worker, silo serve) as a job."
)
@also
@judging
@json_object
def match(
    silo_dir: str,
    seed_files: tuple[str, ...],
    *,
    name: str,
    queue: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Match a crawl with the records, and store it in the Silo, in crawls/NAME."""
    with _told(), open_silo(silo_dir) as silo:
        from crawlmatch.crawls import match_into_silo, named_earlier
        from crawlmatch.record_links import links_of_records

        given["earlier"] = tuple(named_earlier(silo.path, one) for one in given["earlier"])
        if queue:
            for paths in ("inputs", "indexes", "earlier"):
                given[paths] = tuple(map(_absolute, given[paths]))
            request = _request(given, seeds=tuple(map(_absolute, seed_files)))
            return _queued(silo.path, name, request, given, as_json=as_json)
        rows = (
            ()
            if seed_files
            else tuple((one.url, one.identifier) for one in links_of_records(silo, Selection()))
        )
        request = _request(given, seeds=seed_files, seed_rows=rows)
        kept, is_new = match_into_silo(
            silo.path, name, request, processes=given["processes"], memory=given["memory"]
        )
    code = _show(kept.receipt, kept.path, as_json=as_json, quiet=given["quiet"])
    if not (is_new or as_json or given["quiet"]):
        click.echo(f"Nothing changed: {kept.path} is already up to date for these inputs.")
    return code


def _absolute(path: str) -> str:
    return path if path == "-" else os.path.abspath(path)


def _queued(
    path: str, name: str, request: "MatchRequest", given: dict[str, Any], *, as_json: bool
) -> int:
    """Start the job that matches a crawl."""
    from crawlmatch.jobs import CRAWL_MATCH, arguments_of
    from crawlmatch.kept import check_name
    from silowork.errors import JobsError
    from silowork.service import Jobs

    try:
        arguments = arguments_of(check_name(name), request, given["memory"])
        jobs = Jobs.of(path, os.environ.get("SILO_BROKER", ""))
        job = jobs.begin(CRAWL_MATCH.name, f"Match the crawl {name}", arguments, "silo crawl match")
    except JobsError as error:
        fail(str(error))
    if as_json:
        print_json(job.to_json())
    else:
        if not given["quiet"]:
            click.echo(f"{job.job_id}: silo jobs shows its progress")
        if waits := jobs.problem():
            click.echo(waits, err=True)
    return ExitCode.OK


def _show(receipt: "MatchReceipt", path: str, *, as_json: bool, quiet: bool) -> int:
    if as_json:
        print_json({"path": path, **receipt.to_json()})
    elif receipt.set_aside or not quiet:
        for one in receipt.inputs:
            click.echo(_input_line(one))
        click.echo(f"{counted(receipt.seed_rows, 'seed row')}, each with one outcome:")
        for outcome, count in receipt.outcomes.items():
            if count:
                click.echo(f"{count:>11,}  {outcome:<20} {outcome.meaning}")
        click.echo(path)
    return ExitCode.LOSSES if receipt.set_aside else ExitCode.OK


def _input_line(one: Any) -> str:
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(one.reasons.items()))
    told = f" ({reasons})" if reasons else ""
    return f"{one.name}: {one.kind}, {counted(one.lines, 'line')}, {one.used:,} used{told}"


@crawl.command(epilog=example("silo crawl explain myrepo 3002",
                              "silo crawl explain myrepo http://example.org/6102.pdf"))  # fmt: skip
@directory
@click.argument("asked", metavar="ID|URL")
@name
@click.option("--no-lines", is_flag=True, help="Do not look up lines in the logs.")
@json_array
def explain(silo_dir: str, asked: str, *, name: str | None, no_lines: bool, as_json: bool) -> None:
    """Explain the outcome of a link: its chain, hop by hop, with the lines of the log."""
    with _told(), open_silo(silo_dir) as silo:
        from crawlmatch.explain import explain as explained
        from crawlmatch.kept import latest_crawl

        with contextlib.suppress(KeyError):
            asked = silo.resolve(asked) if ":/" not in asked else asked
        found = explained(
            latest_crawl(silo.path, name),
            asked,
            scratch=silo.staging.directory(),
            lines=not no_lines,
        )
    if as_json:
        print_json([one.to_json() for one in found])
    else:
        click.echo("\n\n".join(one.text() for one in found))


@crawl.command(
    epilog=example("silo crawl report myrepo", "silo crawl report myrepo --csv > crawl.csv")
)
@directory
@name
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_object
def report(silo_dir: str, *, name: str | None, as_csv: bool, as_json: bool) -> None:
    """Report a crawl: outcomes, domains, statuses, media types, breadcrumbs."""
    with _told(engine=False), open_silo(silo_dir) as silo:
        from crawlmatch.kept import latest_crawl
        from crawlmatch.report import report_on

        found = report_on(latest_crawl(silo.path, name))
    if as_json:
        print_json(found.to_json())
    else:
        click.echo(found.to_csv() if as_csv else found.text(fitted), nl=not as_csv)


@crawl.command(epilog=example("silo crawl attach myrepo warcs/"))
@directory
@click.argument("warcs", metavar="WARC...", nargs=-1, required=True, type=click.Path(exists=True))
@name
@selecting
@json_object
@quiet_option
def attach(
    silo_dir: str,
    warcs: tuple[str, ...],
    *,
    select: Selection,
    name: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Add the full texts of a crawl to curated versions of their records."""
    with _told(), open_silo(silo_dir) as silo:
        from crawlmatch.attach import attach as attached
        from crawlmatch.kept import latest_crawl

        identifiers: tuple[str, ...] = ()
        if not select.is_everything:
            check_not_empty(silo, select)
            identifiers = select.find(silo)
        receipt = attached(silo, latest_crawl(silo.path, name), warcs, identifiers=identifiers)
    if as_json:
        print_json(receipt.to_json())
    elif not (quiet and receipt.is_whole):
        click.echo(
            f"{receipt.attached:,} attached, {receipt.present:,} already present,"
            f" {len(receipt.absent):,} in none of the WARCs,"
            f" {counted(len(receipt.unknown), 'identifier')} not in the Silo"
        )
        for identifier, url, reason in receipt.refused:
            click.echo(f"not attached: {identifier}: {url}: {reason}")
        for path in receipt.broken:
            click.echo(f"not read completely: {path}")
    return ExitCode.OK if receipt.is_whole else ExitCode.LOSSES


@crawl.command("list", epilog=example("silo crawl list myrepo"))
@directory
@json_array
def list_command(silo_dir: str, *, as_json: bool) -> None:
    """List the crawls in a Silo: name, date of the match, seed rows, full texts."""
    with _told(engine=False), open_silo(silo_dir) as silo:
        from crawlmatch.kept import crawls
        from crawlmatch.outcomes import LinkOutcome

        found = crawls(silo.path)
        rows = [
            {
                "name": one.name,
                "matched": one.matched,
                "seed_rows": one.receipt.seed_rows,
                "full_texts": one.receipt.outcomes.get(LinkOutcome.FULLTEXT, 0)
                + one.receipt.outcomes.get(LinkOutcome.DUPLICATE, 0),
            }
            for one in found
        ]
    if as_json:
        print_json(rows)
    elif not rows:
        tell_none("crawls", "silo crawl match DIR makes one from the files of a crawl", silo_dir)
    for row in [] if as_json else rows:
        click.echo("\t".join(str(value) for value in row.values()))


@crawl.command(epilog=example("silo crawl postprocess statuses.tsv all.sqlite"))
@click.argument("statuses", metavar="SHA1_STATUS")
@click.argument("database", metavar="DB", type=click.Path(exists=True, dir_okay=False))
def postprocess(statuses: str, database: str) -> None:
    """Write the statuses of full texts (lines SHA1 TAB STATUS) into crawl_result."""
    with _told(engine=False):
        from crawlmatch.postprocess import postprocess as done

        click.echo(json.dumps(done(statuses, database).to_json()))


@crawl.command(epilog=example("silo crawl dump all.sqlite --only-identifier-hits > hits.jsonl"))
@click.argument("database", metavar="DB", type=click.Path(exists=True, dir_okay=False))
@click.option("--only-identifier-hits", is_flag=True, help="Only full texts with an identifier.")
@click.option(
    "--only-direct-breadcrumbs", is_flag=True, help="Only full texts found without following links."
)
@click.option(
    "--max-per-identifier", type=click.IntRange(1), metavar="N", help="At most N per identifier."
)
def dump(database: str, **given: Any) -> None:
    """Print crawl_result as JSON lines, ordered by identifier."""
    with _told(engine=False):
        from crawlmatch.postprocess import as_lines, dumped

        for line in as_lines(dumped(database, **given)):
            click.echo(line)
