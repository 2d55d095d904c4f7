"""The commands `silo jobs` and `silo worker`."""

import json
import logging
import os
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from recordsilo.cli import ExitCode, example, fail, open_silo
from recordsilo.commands.completion import names_in, offered
from recordsilo.commands.options import F, directory, json_option, tell_none
from recordsilo.disk.network_disks import refuse_network_disk
from recordsilo.extras import needed
from recordsilo.granary import is_granary
from recordsilo.wording import minute
from silowork.broker import Broker
from silowork.errors import JobRefused, JobsError, NoSuchJob
from silowork.kinds import done_in_all
from silowork.ledger import LEDGER
from silowork.service import Jobs
from silowork.values import Job, JobAction, State

MOST = 100
PROBLEMS = 1000


def job_ids(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete the ID of a job of the Silo; the newest come first."""
    return offered(names_in(ctx, LEDGER, "SELECT id FROM job ORDER BY made DESC"), typed)


def _usable_broker(_ctx: click.Context, _param: click.Parameter, url: str) -> str:
    """Return the address if Celery supports it."""
    scheme, is_address, _ = url.partition("://")
    if url:
        transports = needed("kombu.transport", "a broker", "fleet", package="celery")
        known = transports.TRANSPORT_ALIASES
        if not (is_address and url.isascii()) or scheme.partition("+")[0] not in known:
            raise click.BadParameter(
                f"{url!r} is not the address of a broker; write redis://host/0"
            )
    return url


def broker_option_for(text: str) -> Callable[[F], F]:
    """Make the option --broker; `text` says what the broker is for."""
    return click.option(
        "--broker",
        default="",
        callback=_usable_broker,
        envvar="SILO_BROKER",
        metavar="URL",
        help=f"{text} [also: environment variable SILO_BROKER].",
    )


broker_option = broker_option_for(
    "Notify workers through this broker, such as redis://host/0; without one they poll the Silo's"
    " ledger of jobs"
)


@click.command(
    epilog=example(
        "silo jobs myrepo",
        "silo jobs myrepo 20261121T222100Z-0a1b2c",
        "silo jobs myrepo 20261121T222100Z-0a1b2c --do retry",
    )
)
@directory
@click.argument("job_id", metavar="[JOB]", default="", shell_complete=job_ids)
@click.option(
    "--do",
    "action",
    type=click.Choice([action.value for action in JobAction]),
    help="Pause, resume or stop the job, retry what failed, or dismiss a failure.",
)
@json_option("JSON lines, or with JOB a JSON object")
@broker_option
def jobs(*, silo_dir: str, job_id: str, action: str | None, as_json: bool, broker: str) -> int:
    """List the jobs of the Silo DIR, newest first, or show one with its receipt.

    The exit code is 1 if the JOB failed or was not completed.
    """
    if action and not job_id:
        raise click.UsageError("--do needs a JOB")
    with open_silo(silo_dir) as silo:
        found = Jobs.of(silo.path, broker)
    try:
        if not job_id:
            _print_list(found, as_json)
            return ExitCode.OK
        job = found.act(job_id, JobAction(action)) if action else found.ledger.job(job_id)
    except (NoSuchJob, JobRefused) as error:
        fail(str(error))
    except JobsError as error:
        fail(str(error), ExitCode.LOSSES)
    _print_one(found, job, as_json)
    return ExitCode.LOSSES if job.state is State.FAILED else ExitCode.OK


def _print_list(found: Jobs, as_json: bool) -> None:
    job = None
    for job in found.ledger.jobs(MOST):
        click.echo(json.dumps(job.to_json(), ensure_ascii=False) if as_json else _line(job))
    if job is None and not as_json:
        tell_none("jobs", "the page makes them (silo serve), and silo schedule add")


def _line(job: Job) -> str:
    done = done_in_all(job)
    number = job.advance.done if done is None else done
    return f"{job.job_id}  {minute(job.made)}  {job.state.value:<8}{number:>10,}  {job.title}"


def _print_one(found: Jobs, job: Job, as_json: bool) -> None:
    problems = [one for _number, one in found.ledger.problems(job.job_id, PROBLEMS)]
    if as_json:
        failed = [{"identifier": one.identifier, "reason": one.reason} for one in problems]
        click.echo(json.dumps(job.to_json() | {"failed": failed}, ensure_ascii=False, indent=2))
        return
    click.echo(_line(job))
    for text in (job.sentence, job.text):
        if text:
            click.echo(text)
    for one in problems:
        click.echo(f"{one.identifier}: {one.reason}" if one.identifier else one.reason)
    waits = found.problem() if not job.is_over else ""
    if waits:
        click.echo(waits, err=True)


force_option = click.option(
    "--force",
    is_flag=True,
    help="Use a network file system. Only if no other machine ever writes there.",
)


@click.command(
    epilog=example(
        "silo worker myrepo", "silo worker many", "silo worker myrepo --broker redis://host/0"
    )
)
@directory
@click.option(
    "--slots",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Run at most this many jobs at a time.",
)
@broker_option
@force_option
def worker(*, silo_dir: str, slots: int, broker: str, force: bool) -> None:
    """Run the jobs of the Silo DIR until Ctrl-C or SIGTERM.

    DIR may also be a directory of Silos; one worker then runs the jobs of all of them.

    `silo serve` starts a worker itself. Use this command for jobs without the page, and with a
    broker. Interrupted jobs are continued. DIR must be on a disk of this machine.
    """
    from silowork.worker_process import run_worker  # noqa: PLC0415  # loads the kinds of jobs

    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("kombu").setLevel(logging.ERROR)
    refuse_network_disk(silo_dir, forced=force)
    path = os.path.abspath(silo_dir)
    if not is_granary(path):
        with open_silo(silo_dir) as silo:
            path = silo.path
    click.echo(f"Working on the jobs of {silo_dir} (stop with Ctrl-C)", err=True)
    try:
        run_worker(Broker(path, broker), slots=slots)
    except JobsError as error:
        fail(str(error), ExitCode.LOSSES)
