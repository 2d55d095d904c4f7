"""`silo usage push`: send uses to a gatherer."""

import dataclasses
import json
import sys
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

import click

from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory, json_object
from recordsilo.disk.locks import Locks
from recordsilo.wording import counted
from silowork.stop import Stop
from usagestats.commands.group import opened
from usagestats.push.openurl import CLIENTS, SENDS
from usagestats.push.outbox import Outbox, unsent_path
from usagestats.push.sending import HTTP, Push, Pushed
from usagestats.push.settings import PushSettings, push_settings
from usagestats.rules.settings import read_settings

HOW = """this Silo pushes nothing; to push, write into usage/usage.toml, before the next import:
[push]
profile = "irus"                          # or "pirus2"; "off" sends nothing
site = "https://eprints.example.org"      # the address of the repository
client = "token"                          # or "truncated", "raw": how IP addresses are sent"""


@click.command(epilog=example("silo usage push myrepo --dry-run", "silo usage push myrepo --yes"))
@directory
@click.option(
    "-y", "--yes", is_flag=True, help="Agree to what is sent; asked before the first push."
)
@click.option("--dry-run", is_flag=True, help="Say what would be sent, and to whom.")
@click.option(
    "--attempts",
    type=click.IntRange(1, 20),
    default=HTTP.attempts,
    show_default=True,
    help="Maximum number of requests for each use in this run.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=HTTP.total_timeout,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for an answer.",
)
@json_object
def push(
    silo_dir: str, attempts: int, timeout: float, *, yes: bool, dry_run: bool, as_json: bool
) -> int:  # fmt: skip
    """Send uses of records to a gatherer of usage statistics, such as IRUS.

    Imports collect what the profile in usage/usage.toml sends. Each use is sent in one request,
    repeated until the gatherer acknowledges it, and never after that.
    """
    with opened(silo_dir) as silo:
        settings = push_settings(silo.path)
        if settings is None:
            fail(HOW)
        open_since = datetime.now(UTC) - timedelta(days=read_settings(silo.path).window)
        with Outbox(silo.path) as outbox:
            said = _said(settings, outbox.waiting())
            if dry_run:
                click.echo(said)
                return ExitCode.OK
            if not outbox.has_consent(settings.consent):
                _ask(said, agreed=yes)
                outbox.consent(settings.consent)
            http = dataclasses.replace(
                HTTP, attempts=attempts, read_timeout=timeout, total_timeout=timeout
            )
            sender = Push(silo, outbox, settings, http)
            stop = Stop()
            try:
                with _only_one(silo.path), stop.on_signals():
                    outbox.expire(f"{open_since:%Y-%m-%d}")
                    pushed = sender.run(stop)
            finally:
                sender.close()
            _tell(pushed, outbox.waiting(), silo.path, as_json=as_json)
    if stop.asked:
        return ExitCode.INTERRUPTED if stop.interrupted else ExitCode.STOPPED
    if pushed.problem:
        fail(f"{pushed.problem}; what was not acknowledged waits", ExitCode.ENDPOINT)
    return ExitCode.LOSSES if pushed.unsent else ExitCode.OK


def _only_one(silo_path: str) -> AbstractContextManager[None]:
    """Wait for another push of this Silo, which would send the same."""
    return Locks.of_silo(silo_path).hold_name("usage-push")


def _said(settings: PushSettings, waiting: int) -> str:
    sends = SENDS[settings.profile].format(client=CLIENTS[settings.client])
    wait = "waits" if waiting == 1 else "wait"
    return f"To {settings.host} go, of {sends}.\n{counted(waiting, 'use')} {wait}."


def _ask(said: str, *, agreed: bool) -> None:
    click.echo(said, err=True)
    if agreed:
        return
    if not sys.stdin.isatty():
        fail("nothing is sent before somebody agrees to it: silo usage push --yes")
    if not click.confirm("Send them, now and in later pushes?", err=True):
        fail("nothing was sent")


def _tell(pushed: Pushed, waiting: int, silo_path: str, *, as_json: bool) -> None:
    if as_json:
        known = {
            "sent": pushed.sent, "repeated": pushed.repeated, "unsent": dict(pushed.unsent),
            "waiting": waiting, "problem": pushed.problem,
        }  # fmt: skip
        click.echo(json.dumps(known))
        return
    click.echo(f"{pushed.sent:,} acknowledged, {waiting:,} wait")
    if pushed.repeated:
        click.echo(
            f"{pushed.repeated:,} of them may have reached the gatherer before: "
            "the first request was not acknowledged"
        )
    for reason, uses in pushed.unsent.most_common():
        click.echo(f"{uses:,} not sent: {reason}")
    if pushed.unsent:
        click.echo(f"they are named in {unsent_path(silo_path)}")
