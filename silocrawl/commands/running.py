"""The commands `silo crawl run` and `silo crawl status`."""

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import replace
from typing import Any

import click

from crawlmatch.errors import CrawlError
from crawlmatch.kept import Crawl, crawl_named
from crawlmatch.outcomes import OWN
from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import Number, directory, json_object, quiet_option, tell_none
from recordsilo.progress import counting
from recordsilo.wording import counted
from silocrawl.amqp.settings import AmqpSettings, amqp_settings, has_amqp
from silocrawl.cataloguing import catalogue_all, cataloguing, put_matched
from silocrawl.cdxj import Segments
from silocrawl.commands.opening import (
    ADD_TARGET,
    opened,
    opened_queues,
    say_on_stderr,
    tell_refused,
)
from silocrawl.conditions import Condition
from silocrawl.fetching import PAUSES
from silocrawl.heritrix.indexing import index_all, indexing
from silocrawl.messages import CATALOGUE, CRAWL, INDEX, RENDER
from silocrawl.notices import CrawlNotices, load_settings, noticing
from silocrawl.outcomes import match_own_logs, matching
from silocrawl.packages.layout import store_file
from silocrawl.paths import index_directory, notices_file
from silocrawl.pdf_pages import check_documents
from silocrawl.posting import Poster, posting
from silocrawl.proposals import Documents, ProposalState
from silocrawl.running import CrawlSettings, CrawlSummary, CrawlWorker
from silocrawl.sharing import SECONDS_OF_LEASE, broker_of, open_own_queues, use_broker
from silocrawl.targets import target_names
from silowork.queues.values import Queues, QueueSize
from silowork.stop import Stop

_NODE = re.compile(r"[A-Za-z0-9-]{0,63}")


def _checked_node(_context: click.Context, _parameter: click.Parameter, name: str) -> str:
    if not _NODE.fullmatch(name):
        raise click.BadParameter("a node has letters, digits and -")
    return name


def _collection(_ctx: click.Context, _param: click.Parameter, url: str | None) -> str | None:
    if url is not None and not re.fullmatch(r"https?://[^/?#\s]+/[^?#\s]*[^/?#\s]/?", url):
        raise click.BadParameter("it is an address such as http://127.0.0.1:8080/coll")
    return url


_TRIES = (
    f"a host that does not answer is tried again after {PAUSES[0]:.0f}, {PAUSES[1]:.0f} and"
    f" {PAUSES[2]:.0f} seconds"
)


@click.command(
    epilog=example("silo crawl run myrepo --until-idle", "silo crawl run myrepo --interval 2")
)
@directory
@click.option("--until-idle", is_flag=True, help="End when nothing is due or queued.")
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    default=16,
    show_default=True,
    help="Addresses fetched at a time, each of another host.",
)
@click.option(
    "--interval",
    type=Number(0, 3600),
    default=1.0,
    show_default=True,
    help="Least seconds between two requests to a host.",
)
@click.option("--private", is_flag=True, help="Fetch addresses that are not public, too.")
@click.option(
    "--outbackcdx",
    metavar="URL",
    callback=_collection,
    help="Post the index to this collection of an OutbackCDX, too.",
)
@click.option(
    "--browsers",
    type=click.IntRange(1, 32),
    default=1,
    show_default=True,
    help="Pages rendered at a time, where targets want it.",
)
@click.option("--no-sandbox", is_flag=True, help="Do not lock the browsers in, as root cannot.")
@click.option(
    "--broker",
    metavar="URL",
    default="",
    help="A Redis that has the queues from now on; none: a file of the Silo.",
)
@click.option(
    "--node",
    metavar="NAME",
    default="",
    callback=_checked_node,
    help="Name of this machine, in the names of its logs.",
)
@quiet_option
def run(
    *, silo_dir: str, until_idle: bool, outbackcdx: str | None, quiet: bool, **given: Any
) -> int:
    """Launch what is due, fetch it, index it, and catalogue documents, until interrupted.

    robots.txt is obeyed. A second run goes on where the first one stopped; after a kill, what was
    being fetched is fetched again. With --broker, any number of processes can
    take part, each with this Silo or one of its own; the Silo remembers the broker.
    With crawling/amqp.toml, addresses go to a RabbitMQ, as by silo crawl bridge, and pages that
    are to be rendered are fetched here.
    """
    settings = CrawlSettings(
        given["threads"], given["interval"], given["private"],
        browsers=given["browsers"], has_sandbox=not given["no_sandbox"], node=given["node"],
    )  # fmt: skip
    with opened(silo_dir) as silo:
        if given["broker"]:
            use_broker(silo.path, given["broker"])
        return crawl(silo, settings, until_idle=until_idle, outbackcdx=outbackcdx, quiet=quiet)


def _on_stderr(line: str) -> None:
    click.echo(line, err=True)


def crawl(
    silo: Silo,
    settings: CrawlSettings,
    *,
    until_idle: bool,
    outbackcdx: str | None = None,
    quiet: bool = False,
    tell: Callable[[str], object] = _on_stderr,
) -> int:
    """Crawl, catalogue what was found, and tell what became of it; return an exit code.

    Args:
        settings: How it is crawled; the broker is the one that the Silo has noted.
        until_idle: End when nothing is due or queued.
        outbackcdx: Address of a collection to which the index is posted.
        quiet: Tell only what is not well.
        tell: Gets each line about what is well.
    """
    check_documents()
    load_settings(silo.path)  # if it is invalid, that is said now
    stop, last = Stop(), last_document(silo)
    say = (lambda _line: None) if quiet else tell
    amqp = amqp_settings(silo.path) if has_amqp(silo.path) else None
    is_bridged = amqp is not None and bool(amqp.out)
    settings = replace(settings, broker=broker_of(silo.path), is_bridged=is_bridged)
    with ExitStack() as stack:
        queues = stack.enter_context(opened_queues(silo))
        own = stack.enter_context(open_own_queues(silo.path)) if settings.broker else queues
        stack.enter_context(stop.on_signals())
        with suppress(CrawlError):
            put_matched(own, crawl_named(silo.path, OWN))
        if _has_nothing(silo, queues):
            waits = "" if until_idle else "; waiting for the first one (stop with Ctrl-C)"
            tell_none("targets, so nothing to crawl", f"{ADD_TARGET}{waits}", silo.storage_dir)
        worker = CrawlWorker(silo, queues, settings)
        with (
            _threads_beside(silo.path, own, amqp, outbackcdx),
            counting("addresses", quiet=quiet) as show,
        ):
            done = worker.run(
                stop,
                until_idle=until_idle,
                shown=lambda summary, _held: show(summary.fetched),
                waits=lambda said: None if quiet else _on_stderr(f"silo: {said}; {_TRIES}"),
            )
        say(_said(done))
        if done.private:
            said = counted(done.private, "address is", "addresses are")
            click.echo(f"silo: {said} not public; give --private to fetch them", err=True)
        waiting = _show_waiting(queues, done.no_browser)
        settle(silo, own, stop, last, say)
        if stop.asked:
            _show_left(silo, queues)
        dead = _show_dead(queues, silo.path)
        refused = tell_refused(silo)
    if stop.asked:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    return ExitCode.LOSSES if dead or refused or waiting else ExitCode.OK


@contextmanager
def _threads_beside(
    silo_path: str, own: Queues, amqp: AmqpSettings | None, outbackcdx: str | None
) -> Iterator[None]:
    """Index, catalogue, package and tell what is fetched in a ``with`` block, in threads."""
    index = Segments(index_directory(silo_path))
    with (
        posting(Poster(outbackcdx, index, own)) if outbackcdx else nullcontext(),
        _bridging(silo_path, amqp) if amqp is not None else nullcontext(),
        indexing(silo_path),
        cataloguing(silo_path, SECONDS_OF_LEASE),
        _packaging(silo_path) if os.path.lexists(store_file(silo_path)) else nullcontext(),
        noticing(silo_path),
        matching(silo_path, lambda kept: put_matched(own, kept)),
    ):
        yield


def _bridging(silo_path: str, amqp: AmqpSettings) -> AbstractContextManager[None]:
    from silocrawl.amqp.bridge import bridging  # noqa: PLC0415  # few crawls have a bridge

    return bridging(silo_path, amqp, say_on_stderr)


def _packaging(silo_path: str) -> AbstractContextManager[None]:
    from silocrawl.packages.steps import packaging  # noqa: PLC0415  # many crawls make no packages

    return packaging(silo_path, SECONDS_OF_LEASE)


def settle(silo: Silo, own: Queues, stop: Stop, last: int, say: Callable[[str], object]) -> None:
    """Index, match and catalogue what was fetched, unless asked to stop, and tell of it.

    Args:
        own: The queues of this machine.
        stop: Asks to end.
        last: `last_document` before.
        say: Gets each line.
    """
    if not stop.asked:
        index_all(silo.path, stop)
    if not stop.asked and target_names(silo.path):
        if (outcomes := match_own_logs(silo)) is not None:
            put_matched(own, outcomes)
        for line in _outcome_lines(outcomes):
            say(line)
    if not stop.asked:
        catalogue_all(silo.path, SECONDS_OF_LEASE, stop)
    for line in _document_lines(silo, last):
        say(line)


def _outcome_lines(kept: Crawl | None) -> Iterator[str]:
    """The outcomes of the links of all targets, a line each; none if nothing was fetched."""
    if kept is None:
        return
    receipt = kept.receipt
    yield f"{counted(receipt.seed_rows, 'link')}, each with one outcome:"
    for outcome, count in receipt.outcomes.items():
        if count:
            yield f"{count:>11,}  {outcome:<20} {outcome.meaning}"


def last_document(silo: Silo) -> int:
    """The number of the newest document, after which `settle` tells of them."""
    with Documents(silo.path, "read") as documents:
        return documents.last()


def _document_lines(silo: Silo, last: int = 0) -> Iterator[str]:
    """What became of the documents that are newer than one of them: a line, or none."""
    with Documents(silo.path, "read") as documents:
        counts = documents.counts(after=last)
    if counts:
        found = ", ".join(
            f"{counts[state]:,} {state}" for state in ProposalState if state in counts
        )
        yield f"documents: {found} (silo crawl proposals list shows them)"


def _show_waiting(queues: Queues, reason: str) -> int:
    """Tell of the pages that wait for a browser; return how many there are."""
    waiting = queues.sizes().get(RENDER, QueueSize()).alive if reason else 0
    if waiting:
        pages = counted(waiting, "page waits", "pages wait")
        click.echo(f"silo: {pages} to be rendered: {reason}", err=True)
    return waiting


def _show_left(silo: Silo, queues: Queues) -> None:
    """Tell of a run that was stopped what it leaves to the next one."""
    if _has_nothing(silo, queues):
        click.echo("silo: stopped; there was nothing to crawl", err=True)
        return
    left = _left(queues)
    said = counted(left, "address waits", "addresses wait")
    click.echo(f"silo: stopped; {said}; run the same command to continue", err=True)


def _show_dead(queues: Queues, silo_dir: str) -> int:
    """Tell of the messages that failed too often; return how many there are."""
    sizes, dead = queues.sizes(), 0
    names = (
        (RENDER, "page"),
        (CRAWL, "address", "addresses"),
        (INDEX, "outcome"),
        (CATALOGUE, "document"),
    )
    for name, *words in names:
        if number := sizes.get(name, QueueSize()).dead:
            dead += number
            many = counted(number, *words)
            command = f"silo crawl queue dead {silo_dir} {name}"
            click.echo(f"{many} failed too often: {command}", err=True)
    return dead


def _has_nothing(silo: Silo, queues: Queues) -> bool:
    """Whether there is nothing to crawl, now or later; a broker may get targets of others."""
    return not (broker_of(silo.path) or _left(queues) or target_names(silo.path))


def _left(queues: Queues) -> int:
    """How many addresses are to be fetched or rendered."""
    sizes = queues.sizes()
    return sum(sizes.get(name, QueueSize()).alive for name in (CRAWL, RENDER))


def _said(one: CrawlSummary) -> str:
    return f"{one.fetched:,} addresses, of which {one.answered:,} answered; {one.bytes:,} bytes"


@click.command(
    epilog=example(
        "silo crawl status myrepo",
        "silo crawl status myrepo --json",
        "silo crawl status myrepo --notify   # by cron, where no silo crawl run does it",
    )
)
@directory
@click.option("--notify", is_flag=True, help="Notify those that crawling/notices.toml names.")
@json_object
def status(*, silo_dir: str, notify: bool, as_json: bool) -> int:
    """Show the state of the crawls: a word, a sentence and what to do for each part.

    Exit code 0 if all is well, 1 if there is a warning or an alert. With --notify, people are
    notified once of each, and once when it is good again.
    """
    with opened(silo_dir) as silo:
        if notify:
            return _notified(silo.path)
        from silocrawl.monitor import look  # noqa: PLC0415  # `run` does without it

        found = look(silo.path)
    if as_json:
        told = {one.label: _object(one) for one in found.conditions}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return ExitCode.OK if found.is_good else ExitCode.LOSSES
    wide = max(len(one.label) for one in found.conditions)
    for one in found.conditions:
        click.echo(f"{one.label:{wide}} {one.word:8} {one.said}")
        if one.advice:
            advice = re.sub(r"\bDIR\b", lambda _: shlex.quote(silo_dir), one.advice)
            click.echo(f"{'':{wide + 9}} {advice}")
    return ExitCode.OK if found.is_good else ExitCode.LOSSES


def _object(one: Condition) -> dict[str, Any]:
    more = {"advice": one.advice, "figures": one.figures}
    return {"state": one.word, "said": one.said} | {key: some for key, some in more.items() if some}


def _notified(silo_path: str) -> int:
    if not load_settings(silo_path):
        said = f"{notices_file(silo_path)} names nobody; see silo help crawling"
        fail(said, ExitCode.USAGE)
    return ExitCode.OK if CrawlNotices(silo_path).tell() else ExitCode.LOSSES
