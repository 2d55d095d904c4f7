"""The commands `silo crawl heritrix create`, `feed`, `tail` and `resume`."""

import os
from contextlib import ExitStack
from typing import Any

import click

from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail, shown
from recordsilo.commands.options import Number, directory, quiet_option
from recordsilo.disk.locks import Locks
from recordsilo.progress import counting
from recordsilo.wording import counted
from silocrawl.cataloguing import cataloguing, put_matched
from silocrawl.commands.heritrix import heritrix_of, server_options, the_job, told, with_heritrix
from silocrawl.commands.opening import opened, opened_queues
from silocrawl.commands.running import last_document, settle
from silocrawl.errors import CrawlingError
from silocrawl.heritrix.client import JOB_NAME, Heritrix
from silocrawl.heritrix.errors import ActionRefused
from silocrawl.heritrix.feeding import feed_once
from silocrawl.heritrix.following import SECONDS_BETWEEN_LOOKS, follow
from silocrawl.heritrix.jobs import JobPlan
from silocrawl.heritrix.making import make_job, note_directory, resume_job
from silocrawl.heritrix.noted import note
from silocrawl.heritrix.tailing import JobAfar, JobHere, Tail
from silocrawl.messages import INDEX
from silocrawl.outcomes import matching
from silocrawl.running import CrawlRunning
from silocrawl.sharing import LOCK, SECONDS_OF_LEASE, broker_of, open_own_queues
from silocrawl.targets import load_target
from silowork.queues.values import Queues
from silowork.stop import Stop

_follow_option = click.option("--follow", is_flag=True, help="Go on until interrupted.")
_jobs_option = click.option(
    "--jobs", metavar="DIRECTORY", default="",
    help="The directory of Heritrix's jobs, as this machine sees it.",
)  # fmt: skip


def _delay(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> Any:
    found = {}
    for one in given:
        host, _, seconds = one.partition("=")
        try:
            found[host] = float(seconds)
        except ValueError:
            raise click.BadParameter(f"{one!r} is not such as example.org=10") from None
        if not 0 <= found[host] <= 86_400:
            raise click.BadParameter("a delay is 0 to 86,400 seconds")
    return found


@click.command(
    epilog=example(
        "silo crawl heritrix create myrepo theses theses --contact https://example.org/crawler"
    )
)
@with_heritrix
@directory
@the_job
@click.argument("target_name", metavar="TARGET")
@click.option(
    "--contact",
    metavar="URL",
    required=True,
    envvar="HERITRIX_CONTACT",
    help="Where those who are crawled learn who does it. [env: HERITRIX_CONTACT]",
)
@click.option(
    "--interval",
    type=Number(0, 3600),
    metavar="SECONDS",
    help="Least seconds between requests to a host; by default as Heritrix has it.",
)
@click.option(
    "--delay",
    "delays",
    multiple=True,
    metavar="HOST=SECONDS",
    callback=_delay,
    help="The same for one host; may be repeated.",
)
@click.option(
    "--checkpoint-minutes",
    type=click.IntRange(0, 100_000),
    default=60,
    show_default=True,
    help="Between Heritrix's own checkpoints; 0: none.",
)
@_jobs_option
def create(
    client: Heritrix, *, silo_dir: str, job: str, target_name: str, jobs: str, **given: Any
) -> None:  # fmt: skip
    """Make JOB of a target and build it: its scope, limits, and patterns to ignore.

    A target with an address ends as its limits say. That of the links of records gets its seeds
    by `feed`, and waits for more until it is terminated.
    """
    with opened(silo_dir) as silo, open_own_queues(silo.path) as queues:
        target = load_target(silo.path, target_name)
        seeds = 1 if target.url else sum(1 for _ in links_of_records(silo, target.select))
        with told():
            made = make_job(client, queues, JobPlan(job, target, seeds=seeds, **given), jobs)
    click.echo(shown(f"{made.name} is {made.state}; begin with silo crawl heritrix launch {job}"))
    if target.url and not target.when.is_paused:
        paused = f"silo crawl target pause {silo_dir} {target.name}"
        click.echo(shown(f"silo: silo crawl run fetches it, too, until you {paused}"), err=True)
    if not target.url:
        click.echo(shown(f"then: silo crawl heritrix feed {silo_dir} {job} --follow"))


@click.command(epilog=example("silo crawl heritrix feed myrepo theses --follow"))
@with_heritrix
@directory
@the_job
@_follow_option
@quiet_option
def feed(client: Heritrix, *, silo_dir: str, job: str, follow: bool, quiet: bool) -> int:
    """Give the addresses in the queue uris-to-crawl to JOB, in place of our own fetcher.

    Seeds become seeds of the job, with what belongs to them. With --follow, also what is launched
    or injected later.
    """
    stop, done = Stop(), 0
    with opened(silo_dir) as silo, opened_queues(silo) as queues, ExitStack() as stack:
        if not broker_of(silo.path) and not stack.enter_context(
            Locks.of_silo(silo.path).hold_name_if_free(LOCK)
        ):
            raise CrawlRunning(silo.path)
        stack.enter_context(told())
        stack.enter_context(stop.on_signals())
        show = stack.enter_context(counting("addresses", quiet=quiet))
        while not stop.asked:
            if not (found := client.job(job)).is_active:
                raise ActionRefused(f"the job {job} is {found.state}; launch it first")
            fed = feed_once(
                silo.path,
                queues,
                job,
                lambda name, content: client.write(job, f"action/{name}", content),
            )
            done += fed
            show(done)
            if not fed and not follow:
                break
            if not fed:
                stop.wait(SECONDS_BETWEEN_LOOKS)
    if not quiet:
        click.echo(shown(f"{counted(done, 'address', 'addresses')} given to {job}"))
    return _code(stop) if follow else ExitCode.OK


@click.command(
    epilog=example(
        "silo crawl heritrix tail myrepo theses --follow",
        "silo crawl heritrix tail myrepo theses --jobs /srv/heritrix/jobs",
    )
)
@server_options
@directory
@the_job
@click.option("--follow", is_flag=True, help="Go on until the job has ended.")
@_jobs_option
@quiet_option
def tail(*, silo_dir: str, job: str, follow: bool, jobs: str, quiet: bool, **server: Any) -> int:
    """Read the crawl log of JOB: outcomes into our index and logs, documents to records.

    Goes on where it ended before, over checkpoints and launches. With --jobs, the log is read
    from the disk, and Heritrix need not run. Archives of a job on this machine's disk stay where
    they are; `crawling/places.tsv` says where.
    """
    if not JOB_NAME.fullmatch(job):
        fail(f"{job!r} is not a valid name of a job")
    with opened(silo_dir) as silo, told(), open_own_queues(silo.path) as queues:
        if jobs:
            here = os.path.join(os.path.abspath(jobs), job)
            files: JobAfar | JobHere = JobHere(here)
            files.names("")
            note(queues, job, directory=here)
        else:
            client = heritrix_of(**server)
            files = JobAfar(client, job)
            note_directory(queues, client.url, client.job(job))
        return _tail(silo, queues, Tail(queues, job, files), is_following=follow, quiet=quiet)


@click.command(epilog=example("silo crawl heritrix resume myrepo theses"))
@with_heritrix
@directory
@the_job
@_jobs_option
@quiet_option
def resume(client: Heritrix, *, silo_dir: str, job: str, jobs: str, quiet: bool) -> int:
    """Let JOB go on from its last checkpoint after its Heritrix was killed, and follow its log.

    It follows the log until the job has ended.
    What was fetched after the checkpoint is fetched again; each fetch is an outcome of its own,
    and counts once. A job that runs is only followed.
    """
    with opened(silo_dir) as silo, told(), open_own_queues(silo.path) as queues:
        done = resume_job(client, job)
        note_directory(queues, client.url, done.job, jobs)
        if not quiet:
            gone_on = f", from {done.checkpoint}" if done.checkpoint else ""
            click.echo(shown(f"{job} is {done.job.state}{gone_on}"), err=True)
        log = Tail(queues, job, JobAfar(client, job))
        return _tail(silo, queues, log, is_following=True, quiet=quiet)


def _tail(silo: Silo, queues: Queues, log: Tail, *, is_following: bool, quiet: bool) -> int:
    """Follow a log; then match and catalogue, as after a crawl of ours."""
    stop, last = Stop(), last_document(silo)
    with ExitStack() as stack:
        stack.enter_context(stop.on_signals())
        show = stack.enter_context(counting("outcomes", quiet=quiet))
        if is_following:
            stack.enter_context(cataloguing(silo.path, SECONDS_OF_LEASE))
            stack.enter_context(matching(silo.path, lambda kept: put_matched(queues, kept)))
        is_whole = follow(silo.path, log, stop, is_following=is_following, shown=show)
    say = (lambda _line: None) if quiet else click.echo
    settle(silo, queues, stop, last, say)
    say(f"{counted(log.lines, 'line')} read, {log.new:,} of them new outcomes")
    if log.refused:
        lines = counted(log.refused, "line is", "lines are")
        command = f"silo crawl queue dead {silo.path} {INDEX}"
        click.echo(shown(f"silo: {lines} none of a crawl log: {command}"), err=True)
    if not is_whole:
        return _code(stop)
    if is_following:
        say(shown(f"the job {log.job} has ended{_how(log)}"))
    return ExitCode.LOSSES if log.refused else ExitCode.OK


def _how(log: Tail) -> str:
    """How a job ended; empty if that cannot be read, as its log was."""
    try:
        outcome = log.outcome()
    except (CrawlingError, OSError):
        return ""
    return f": {outcome}" if outcome else ""


def _code(stop: Stop) -> int:
    return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
