"""The commands `silo crawl checkpoint`, `package`, `packages` and `store`."""

import json
import os
import time
from collections.abc import Iterator
from typing import Any

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail, shown
from recordsilo.commands import completion
from recordsilo.commands.options import directory, json_array, print_json, quiet_option
from recordsilo.disk.locks import Locks
from recordsilo.wording import counted
from silocrawl.commands.opening import megabytes, opened, store_option
from silocrawl.errors import CrawlingError
from silocrawl.packages.checkpointing import checkpoint_now
from silocrawl.packages.heritrix_checkpoints import check_checkpoint, heritrix_checkpoints
from silocrawl.packages.kept import has_package, load_package, load_packages
from silocrawl.packages.own_checkpoints import (
    ask_for_checkpoint,
    checkpoint_names,
    is_wanted,
    stream_of_checkpoint,
)
from silocrawl.packages.settings import (
    StoreSettings,
    load_settings,
    settings_of,
    settings_table,
    store_address,
    store_settings,
    with_changes,
)
from silocrawl.packages.steps import finish, is_finished, working_alone
from silocrawl.packages.store import check_store
from silocrawl.packages.values import Package, checkpoint_message, stream_of
from silocrawl.sharing import LOCK, broker_of, open_own_queues
from silowork.queues.values import Message, Queues

SECONDS_FOR_A_CHECKPOINT = 60.0
_SECONDS_OF_BROKER = 10.0
"""So long a crawl with a broker, which holds no lock, has to answer if it is running at all."""
_LEAST_MEGABYTES = 100_000


@click.command(epilog=example("silo crawl checkpoint myrepo"))
@directory
@quiet_option
def checkpoint(*, silo_dir: str, quiet: bool) -> None:
    """Make a checkpoint of what was crawled since the last one, so that it can be packaged.

    A crawl that is running ends its WARC file, and goes on with a new one.
    """
    with opened(silo_dir) as silo, open_own_queues(silo.path) as queues:
        name = _checkpoint(silo, queues, load_settings(silo.path))
    if name is None:
        click.echo("silo: nothing was crawled since the last checkpoint", err=True)
    elif not quiet:
        click.echo(name)


def _checkpoint(silo: Silo, queues: Queues, settings: StoreSettings) -> str | None:
    """Make a checkpoint here, or have the crawl that is running make it."""
    with Locks.of_silo(silo.path).hold_name_if_free(LOCK) as is_free:
        if is_free and not broker_of(silo.path):
            return checkpoint_now(silo.path, queues, settings)
    before = checkpoint_names(silo.path)
    ask_for_checkpoint(silo.path)
    seconds = SECONDS_FOR_A_CHECKPOINT if not broker_of(silo.path) else _SECONDS_OF_BROKER
    end = time.monotonic() + seconds
    while is_wanted(silo.path) and time.monotonic() < end:
        time.sleep(0.1)
    if is_wanted(silo.path):
        if broker_of(silo.path):
            return checkpoint_now(silo.path, queues, settings)
        fail(f"the running crawl has made no checkpoint for {seconds:g} s; see what it says")
    after = [one for one in checkpoint_names(silo.path) if one not in before]
    return after[-1] if after else None


@click.command(
    epilog=example(
        "silo crawl package myrepo --store /srv/store",
        "silo crawl package myrepo --heritrix /srv/heritrix/jobs/theses",
    )
)
@directory
@store_option
@click.option("--checkpoint", "name", metavar="NAME", help="Only this checkpoint.")
@click.option("--heritrix", "job", metavar="JOBDIR", shell_complete=completion.directories,
              help="The checkpoints of this job of Heritrix, in place of our own.")  # fmt: skip
@click.option("--tar", is_flag=True, help="Write each package as one file, too.")
@quiet_option
def package(
    *, silo_dir: str, store: str | None, name: str | None, job: str | None, tar: bool, quiet: bool
) -> int:
    """Package what was crawled, bring it into a store, and verify it there.

    Makes a checkpoint if there is something new, and does all missing steps of all packages. The
    same command continues after a kill. Exit code 1 if
    a package failed.
    """
    failed = 0
    with opened(silo_dir) as silo, open_own_queues(silo.path) as queues:
        settings = with_changes(load_settings(silo.path), store=_absolute(store), sips=tar or None)
        store_address(silo.path, settings)
        if settings.is_for_tests:
            click.echo(
                f"silo: the ARKs have the NAAN {settings.naan}, which is for tests; set your own:"
                f" silo crawl store {shown(silo_dir)} --naan NAAN",
                err=True,
            )
        if job is None and name is None:
            _checkpoint(silo, queues, settings)
        messages = list(_messages(silo, name, job))
        with working_alone(silo.path):
            lacking = [one for one in messages if not _is_finished(silo, one, settings)]
            for message in lacking:
                failed += not _finished(silo, queues, message, settings, quiet=quiet)
    if not messages:
        click.echo("silo: nothing was crawled that could be packaged", err=True)
    elif not lacking and not quiet:
        click.echo(f"{counted(len(messages), 'package')} complete; see silo crawl packages")
    return ExitCode.LOSSES if failed else ExitCode.OK


def _is_finished(silo: Silo, message: Message, settings: StoreSettings) -> bool:
    if not has_package(silo.path, message.key):
        return False
    return is_finished(load_package(silo.path, message.key), settings)


def _absolute(store: str | None) -> str | None:
    """A directory that was named is seen from the current one, not from the Silo's."""
    if store is None or "://" in store:
        return store
    return os.path.abspath(store)


def _messages(silo: Silo, name: str | None, job: str | None) -> Iterator[Message]:
    """The messages of the checkpoints that are to be packaged."""
    if job is not None:
        job = os.path.abspath(job)
        if name:
            check_checkpoint(job, name)
        for one in [name] if name else heritrix_checkpoints(job):
            yield checkpoint_message(stream_of(os.path.basename(job)), one, job)
        return
    names = checkpoint_names(silo.path)
    if name is not None and name not in names:
        fail(f"there is no checkpoint {name}; there are {', '.join(names[-20:]) or 'none'}")
    for one in [name] if name else names:
        yield checkpoint_message(stream_of_checkpoint(silo.path, one), one)
    if name is None:
        for known in load_packages(silo.path)[0]:
            if known.directory:
                yield checkpoint_message(known.stream, known.checkpoint, known.directory)


def _finished(
    silo: Silo, queues: Queues, message: Message, settings: StoreSettings, *, quiet: bool
) -> bool:
    """Do what a package lacks, and tell it in a sentence; return whether all is well."""
    try:
        with megabytes(quiet=quiet) as told:
            done, waits = finish(silo.path, queues, message, settings, told)
    except (CrawlingError, OSError) as error:
        click.echo(shown(f"silo: {message.key}: {error}"), err=True)
        return False
    if not quiet:
        click.echo(shown(_sentence(done, waits)))
    return True


def _sentence(one: Package, waits: str) -> str:
    viral = f", {counted(len(one.viral), 'viral one')} apart" if one.viral else ""
    size = (
        f"{one.size / 1e6:,.1f} MB" if one.size >= _LEAST_MEGABYTES else f"{one.size / 1e3:,.1f} kB"
    )
    said = f"{one.id}: {counted(len(one.warcs), 'WARC file')}{viral}, {size}"
    return f"{said}, {one.ark}, {one.state}" + (f"; {waits}" if waits else "")


@click.command(epilog=example("silo crawl packages myrepo"))
@directory
@json_array
def packages(*, silo_dir: str, as_json: bool) -> int:
    """List the packages: how far they are, their WARC files, ARK and place.

    Exit code 1 if the last step of one failed.
    """
    with opened(silo_dir) as silo:
        found, damaged = load_packages(silo.path)
    if as_json:
        print_json([_object(one) for one in found])
    for one in found if not as_json else ():
        click.echo(shown(_sentence(one, one.error and f"failed: {one.error}")))
    for error in damaged:
        click.echo(shown(f"silo: {error}"), err=True)
    if not found and not damaged and not as_json:
        click.echo("silo: no packages; see silo crawl package", err=True)
    return ExitCode.LOSSES if damaged or any(one.error for one in found) else ExitCode.OK


def _object(one: Package) -> dict[str, Any]:
    return {
        "package": one.id,
        "ark": one.ark,
        "stream": one.stream,
        "checkpoint": one.checkpoint,
        "crawl": one.crawl_id,
        "started": one.started.isoformat(),
        "state": one.state,
        "history": {state.value: at.isoformat() for state, at in one.history},
        "error": one.error,
        "store": one.store,
        "bytes": one.size,
        "warcs": [
            {"name": warc.name, "bytes": warc.size, "sha512": warc.sha512, "ark": warc.ark,
             "viral": warc.is_viral}
            for warc in one.warcs
        ],
    }  # fmt: skip


_YES_OR_NO: Any = {"default": None, "is_flag": True}


@click.command(
    epilog=example("silo crawl store myrepo --store /srv/store --naan 12148 --node reading-room")
)
@directory
@store_option
@click.option(
    "--naan", metavar="NAAN", help="Your institution's number in ARKs; 99999 is for tests."
)
@click.option("--shoulder", metavar="TEXT", help="Begins the names of the ARKs.")
@click.option("--stream", metavar="NAME", help="Of our own crawls, in the names of packages.")
@click.option("--embargo-days", type=int, metavar="DAYS", help="Not shown for so long.")
@click.option("--node", "nodes", multiple=True, metavar="NAME",
              help="An access node that merges each package; repeatable.")  # fmt: skip
@click.option("--checkpoint-every", metavar="TIME", help="How often a crawl makes one: 12h.")
@click.option("--sips/--no-sips", help="Write each package as one file, too.", **_YES_OR_NO)
@click.option("--virus-check/--no-virus-check", help="By ClamAV.", **_YES_OR_NO)
@click.option("--delete-local/--no-delete-local", **_YES_OR_NO,
              help="Delete WARC files here when they were verified in the store.")  # fmt: skip
def store(*, silo_dir: str, nodes: tuple[str, ...], **given: Any) -> None:
    """Show how packages are made and where they go, or change it with options.

    Writes crawling/store.toml, where [bag-info] and [rights] may be added by hand.
    """
    with opened(silo_dir) as silo:
        before = load_settings(silo.path)
        given["store"] = _absolute(given["store"])
        changes = {name: value for name, value in given.items() if value is not None}
        if nodes:
            changes["nodes"] = list(nodes)
        table = settings_table(before) | {
            name.replace("_", "-"): value for name, value in changes.items()
        }
        settings = settings_of(table)
        if given["store"]:
            check_store(given["store"])
        if changes:
            store_settings(silo.path, settings)
        every = settings_table(settings, with_defaults=True)
    click.echo("\n".join(f"{name} = {json.dumps(value)}" for name, value in every.items()))
