"""The commands `silo crawl heritrix status`, `launch`, `pending-urls`, …, and what they share."""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from recordsilo.cli import Commands, ExitCode, example, fail, shown
from recordsilo.command_table import Sections
from recordsilo.commands.options import (
    Number,
    RenamedOption,
    all_of,
    json_array,
    json_object,
    print_json,
)
from recordsilo.wording import counted
from silocrawl.heritrix import questions
from silocrawl.heritrix.client import SECONDS, ActionResult, Heritrix
from silocrawl.heritrix.connection import fingerprint, served_certificate
from silocrawl.heritrix.engines import PASSWORD, password_of
from silocrawl.heritrix.errors import (
    ActionRefused,
    AnswerInvalid,
    HeritrixError,
    LoginRefused,
    NoAnswer,
    ScriptFailed,
    TookTooLong,
)
from silocrawl.heritrix.removing import remove_job
from silocrawl.heritrix.states import HeritrixAction, HeritrixJob

_Lines = Callable[[dict[str, Any]], list[str]]
_CODES = {
    NoAnswer: ExitCode.ENDPOINT,
    LoginRefused: ExitCode.ENDPOINT,
    AnswerInvalid: ExitCode.ENDPOINT,
    ScriptFailed: ExitCode.LOSSES,
    TookTooLong: ExitCode.STOPPED,
}
server_options = all_of(
    click.option("-H", "--host", "server", metavar="URL", envvar="HERITRIX_URL", show_envvar=True,
                 default="https://127.0.0.1:8443", show_default=True, help="Where Heritrix is."),
    click.option("-u", "--user", metavar="NAME", default="admin", show_default=True,
                 help="Its login; the password is in HERITRIX_PASSWORD or in ~/.netrc."),
    click.option("--certificate", metavar="FILE", type=click.File(encoding="ascii"),
                 help="The server's own certificate; see silo crawl heritrix trust."),
    click.option("--basic", is_flag=True, help="Send the password itself, as a proxy may want."),
)  # fmt: skip
the_job = click.argument("job", metavar="JOB")
_a_job = click.argument("job", metavar="[JOB]", default="")
_job_option = click.option("-j", "--job", metavar="JOB", default="", help="Of this job.")
_limit = click.option("-n", "--limit", metavar="N", type=click.IntRange(1, 1_000_000),
                      cls=RenamedOption, earlier=["-l"],
                      default=1000, show_default=True, help="At most so many.")  # fmt: skip
wait_option = click.option("--wait", metavar="SECONDS", type=Number(0, 86_400), default=SECONDS,
                           show_default=True, help="Wait so long for it.")  # fmt: skip


@contextmanager
def told() -> Iterator[None]:
    """End the command in a sentence if Heritrix, or what is asked of it, is not well."""
    try:
        yield
    except HeritrixError as error:
        fail(str(error), next((c for k, c in _CODES.items() if isinstance(error, k)), 2))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}")


def heritrix_of(*, server: str, user: str, certificate: Any, basic: bool) -> Heritrix:
    """The Heritrix that `server_options` name."""
    try:
        pinned = certificate.read(1 << 20) if certificate else ""
    except UnicodeDecodeError:
        fail(f"{certificate.name} is not a certificate in PEM")
    if not (password := password_of(server, user)):
        fail(f"no password for {user}: set {PASSWORD}, or write it into ~/.netrc")
    return Heritrix(server, user, password, certificate=pinned, basic=basic)


def with_heritrix(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of the server, and a `Heritrix` as its first argument."""

    @server_options
    @functools.wraps(command)
    def called(*, server: str, user: str, certificate: Any, basic: bool, **given: Any) -> Any:
        with told():
            client = heritrix_of(server=server, user=user, certificate=certificate, basic=basic)
            return command(client, **given)

    return called


def _named(client: Heritrix, job: str) -> str:
    """The job, or the only one that there is."""
    if job:
        return job
    names = [name for name, _ in client.engine().jobs]
    if len(names) != 1:
        fail(f"name a job; Heritrix has: {', '.join(names) or 'none'}")
    return names[0]


SECTIONS: Sections = {
    "Look": {
        "status": "show Heritrix and its jobs",
        "list-jobs": "list the jobs",
        "job-info": "show what is said of a job",
        "info-xml": "print it in XML",
        "job-cxml": "print the configuration of a job",
        "surt-scope": "print the SURT prefixes of its scope",
        "show-decide-rules": "print the rules of its scope",
        "show-metadata": "print who crawls, and why",
        "pending-urls": "list addresses that wait",
        "pending-urls-from": "list those of a host",
        "url-status": "show what became of an address",
    },
    "Fetch for a Silo": {
        "create": "make a job of a target",
        "feed": "give a job addresses of the queue",
        "tail": "take what its log tells into index and logs",
        "resume": "go on from the last checkpoint, and follow the log",
    },
    "Do": {
        "build": "read the configuration of a job",
        "launch": "begin to crawl, or go on from a checkpoint",
        "pause": "fetch nothing for now",
        "unpause": "go on",
        "checkpoint": "note where a job is, and end its WARC files",
        "terminate": "end a job",
        "teardown": "free its memory",
        "remove": "delete a job with its files",
        "kill-toethreads": "interrupt threads that hang",
        "trust": "print the certificate, to be pinned",
    },
}


@click.group(cls=Commands, sections=SECTIONS)
def heritrix() -> None:
    """Ask and control a Heritrix 3, over its REST interface."""


def _line(job: HeritrixJob) -> str:
    counts = f"{job.downloaded:>10,} fetched {job.queued:>10,} wait {job.rate:>7.1f}/s"
    return f"{job.name:24} {job.state:13} {counts if job.is_active else job.description}"


@heritrix.command(epilog=example("silo crawl heritrix status", "silo crawl heritrix status --json"))
@with_heritrix
@json_object
def status(client: Heritrix, *, as_json: bool) -> None:
    """Show Heritrix and its jobs: states, addresses, rates."""
    engine = client.engine()
    jobs = [client.job(name) for name, _ in engine.jobs]
    if as_json:
        print_json({**asdict(engine), "jobs": [_plain(job) for job in jobs]})
        return
    used, most = engine.heap_used >> 20, engine.heap_most >> 20
    click.echo(shown(f"Heritrix {engine.version} at {client.url}: {used:,} of {most:,} MB used"))
    for job in jobs:
        click.echo(shown(_line(job)))
    if not client.is_pinned:
        click.echo("silo: its certificate is not pinned; see silo crawl heritrix trust", err=True)


def _plain(job: HeritrixJob) -> dict[str, Any]:
    return {**asdict(job), "actions": sorted(job.actions)}


@heritrix.command("list-jobs", epilog=example("silo crawl heritrix list-jobs"))
@with_heritrix
@json_array
def list_jobs(client: Heritrix, *, as_json: bool) -> None:
    """List the jobs."""
    jobs = client.engine().jobs
    if as_json:
        print_json([{"name": name, "description": said} for name, said in jobs])
    for name, _ in () if as_json else jobs:
        click.echo(shown(name))


@heritrix.command("job-info", epilog=example("silo crawl heritrix job-info theses"))
@with_heritrix
@_a_job
@json_object
def job_info(client: Heritrix, *, job: str, as_json: bool) -> None:
    """Show what Heritrix says of a job."""
    found = _plain(client.job(_named(client, job)))
    if as_json:
        print_json(found)
    for name, value in () if as_json else found.items():
        lines = value if isinstance(value, list | tuple) else [value]
        for line in lines or [""]:
            click.echo(shown(f"{name.replace('_', ' '):14} {line}"))


@heritrix.command("info-xml", epilog=example("silo crawl heritrix info-xml theses > job.xml"))
@with_heritrix
@_a_job
def info_xml(client: Heritrix, *, job: str) -> None:
    """Print it as Heritrix says it, in XML."""
    click.echo(client.job_xml(_named(client, job)), nl=False)


@heritrix.command(
    "job-cxml", epilog=example("silo crawl heritrix job-cxml theses > crawler-beans.cxml")
)
@with_heritrix
@_a_job
def job_cxml(client: Heritrix, *, job: str) -> None:
    """Print the configuration of a job."""
    found = client.job(_named(client, job))
    click.echo(client.read(found.name, os.path.basename(found.configuration)), nl=False)


def _settings(told: Any) -> str:
    pairs = sorted(told.items()) if isinstance(told, dict) else []
    return " ".join(f"{key}={value}" for key, value in pairs)


def _add_question(name: str, question: str, about: str, lines: _Lines) -> None:
    @heritrix.command(name, help=about, epilog=example(f"silo crawl heritrix {name} theses"))
    @with_heritrix
    @_a_job
    def command(client: Heritrix, *, job: str) -> None:
        for one in questions.ask(client, _named(client, job), question):
            for line in lines(one):
                click.echo(shown(line))


_add_question(
    "surt-scope", questions.SURT_SCOPE, "Print the SURT prefixes of a job's scope.",
    lambda one: [f"{one.get('decision')}\t{one.get('surt')}"],
)  # fmt: skip
_add_question(
    "show-decide-rules", questions.DECIDE_RULES, "Print the rules of a scope, in their order.",
    lambda one: [f"{one.get('rule')}\t{_settings(one.get('settings'))}"],
)  # fmt: skip
_add_question(
    "show-metadata", questions.METADATA, "Print who crawls, why, and under which name.",
    lambda one: [f"{key}\t{value}" for key, value in sorted(one.items())],
)  # fmt: skip


def _show_pending(found: list[dict[str, Any]]) -> None:
    for one in found:
        click.echo(shown("\t".join(str(one.get(key) or "-") for key in ("url", "hops", "via"))))
    click.echo(f"silo: {counted(len(found), 'address', 'addresses')}", err=True)


@heritrix.command("pending-urls", epilog=example("silo crawl heritrix pending-urls theses -l 5"))
@with_heritrix
@_a_job
@_limit
def pending_urls(client: Heritrix, *, job: str, limit: int) -> None:
    """List addresses that wait to be fetched, with hops and via."""
    _show_pending(questions.ask(client, _named(client, job), questions.PENDING, most=limit))


@heritrix.command(
    "pending-urls-from", epilog=example("silo crawl heritrix pending-urls-from example.org -l 5")
)
@with_heritrix
@click.argument("host")
@_job_option
@_limit
def pending_urls_from(client: Heritrix, *, host: str, job: str, limit: int) -> None:
    """List the addresses that wait in the queues of a HOST, in their order."""
    urls = questions.addresses_of(host)
    asked = questions.PENDING_FROM
    _show_pending(questions.ask(client, _named(client, job), asked, urls=urls, most=limit))


@heritrix.command("url-status", epilog=example("silo crawl heritrix url-status http://a.example/"))
@with_heritrix
@click.argument("url")
@_job_option
@json_object
def url_status(client: Heritrix, *, url: str, job: str, as_json: bool) -> None:
    """Show whether a URL is in scope, known, waiting, and how it was fetched before."""
    most = questions.MOST_SEARCHED
    found = questions.ask(client, _named(client, job), questions.URL_STATUS, url=url, most=most)
    for one in found:
        history = one.pop("history", [])
        if as_json:
            print_json({**one, "history": history})
            continue
        for key in sorted(one):
            click.echo(shown(f"{key:10} {one[key]}"))
        for fetch in history:
            click.echo(shown(f"fetched    {_settings(fetch)}"))


@heritrix.command(
    "kill-toethreads",
    epilog=example("silo crawl heritrix kill-toethreads theses --longer-than 600"),
)
@with_heritrix
@the_job
@click.option("--longer-than", "seconds", metavar="SECONDS", type=click.IntRange(0, 10**6),
              default=0, help="Only those at work on one address for so long.")  # fmt: skip
def kill_toethreads(client: Heritrix, *, job: str, seconds: int) -> None:
    """Interrupt the threads at work, and start others in their place.

    The last resort where threads hang: what they fetch is lost, and a thread that writes into
    the database may damage it. Make a checkpoint before.
    """
    killed = questions.ask(client, job, questions.KILL_THREADS, seconds=seconds)
    for one in killed:
        click.echo(shown(f"{one.get('thread')}\t{one.get('seconds')} s\t{one.get('url')}"))
    click.echo(f"silo: {counted(len(killed), 'thread')} killed", err=True)


_ACTIONS = {
    HeritrixAction.BUILD: "Read the configuration of a job, and make it ready to be launched.",
    HeritrixAction.PAUSE: "Let a job fetch nothing for now; what is being fetched is ended first.",
    HeritrixAction.UNPAUSE: "Let a paused job go on.",
    HeritrixAction.CHECKPOINT: (
        "Note where a job is, so that it can go on from there; end its WARC files."
    ),
    HeritrixAction.TERMINATE: "End a job for good.",
    HeritrixAction.TEARDOWN: "Free the memory of a job that has ended; its files stay.",
}


def _say(done: ActionResult, action: HeritrixAction) -> None:
    made = f"; checkpoint {done.checkpoint}" if done.checkpoint else ""
    again = "" if done.is_new else f": nothing to {action}"
    click.echo(shown(f"{done.job.name} is {done.job.state}{made}{again}"))


def _add(action: HeritrixAction, about: str) -> None:
    @heritrix.command(
        action.value,
        help=f"{about} What is done already is not done again.",
        epilog=example(f"silo crawl heritrix {action} theses"),
    )
    @with_heritrix
    @the_job
    @wait_option
    def command(client: Heritrix, *, job: str, wait: float) -> None:
        _say(client.act(job, action, wait), action)


for _action, _about in _ACTIONS.items():
    _add(_action, _about)


@heritrix.command(epilog=example("silo crawl heritrix launch site --checkpoint latest"))
@with_heritrix
@the_job
@click.option("--checkpoint", metavar="NAME", default="",
              help="Go on from this checkpoint; latest: from the last one.")  # fmt: skip
@wait_option
def launch(client: Heritrix, *, job: str, checkpoint: str, wait: float) -> None:
    """Build a job and begin to crawl. A job that runs already is not launched again."""
    _say(client.launch(job, checkpoint, wait), HeritrixAction.LAUNCH)


@heritrix.command(epilog=example("silo crawl heritrix remove theses --jobs /srv/heritrix/jobs"))
@with_heritrix
@the_job
@click.option("--jobs", metavar="DIR", help="Heritrix's directory of jobs, as reached from here.")
@click.option("--with-archives", is_flag=True, help="Delete its WARC files, too.")
def remove(client: Heritrix, *, job: str, jobs: str | None, with_archives: bool) -> None:
    """Delete a job that is torn down, with its files.

    Heritrix does not offer this over REST: it is done on the disk.
    """
    if jobs is None:
        there = client.job(job).configuration
        raise ActionRefused(
            f"Heritrix removes nothing itself; it has {there}: give its directory of jobs by --jobs"
        )
    remove_job(client, job, jobs, with_archives=with_archives)
    click.echo(f"{job} is removed")


@heritrix.command(epilog=example("silo crawl heritrix trust > heritrix.pem"))
@server_options
def trust(*, server: str, **_: Any) -> None:
    """Print the certificate that the server has now, to be compared and pinned."""
    with told():
        found = served_certificate(server)
    click.echo(found, nl=False)
    for algorithm, where in (("sha1", ", as Heritrix prints it when it starts"), ("sha256", "")):
        digest = bytes.fromhex(fingerprint(found, algorithm)).hex(":").upper()
        click.echo(f"silo: {algorithm} {digest}{where}", err=True)
