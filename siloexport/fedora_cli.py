"""`silo export fedora …`: what is selected goes to a Fedora 6 or 7, and is looked after there."""

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from recordsilo import Silo
from recordsilo.cli import example, open_silo
from recordsilo.commands.options import as_json, directory, selecting
from siloexport import options
from siloexport.engine import Export
from siloexport.running import run_to, share, shown_of
from siloexport.showing import (
    show_reconciliation,
    show_rollback,
    show_run,
    show_status,
    show_verification,
)

if TYPE_CHECKING:
    from siloexport.targets.fedora import FedoraTarget

_URL = "http://127.0.0.1:8080/rest/silo"


def _to(command: Any) -> Any:
    """The options that name the target."""
    for option in (
        click.option(
            "--crosswalk",
            metavar="FILE.toml",
            help="How metadata becomes RDF; by default Dublin Core terms.",
        ),
        click.option(
            "--credentials",
            metavar="FILE",
            help="A file with user:password; else FEDORA_USER and FEDORA_PASSWORD, or netrc.",
        ),
        click.option(
            "--to", "url", metavar="URL", required=True, help="A container; made, if not there."
        ),
    ):
        command = option(command)
    return command


@contextlib.contextmanager
def _opened(silo_dir: str, given: dict[str, Any]) -> Iterator[tuple[Silo, "FedoraTarget"]]:
    """The Silo and the target; rdflib is loaded here and not before."""
    from siloexport.crosswalk import Crosswalk  # noqa: PLC0415 - slow, and only for Fedora
    from siloexport.targets.fedora import FedoraClient, FedoraTarget  # noqa: PLC0415
    from siloexport.targets.fedora.credentials import credentials  # noqa: PLC0415

    with open_silo(silo_dir) as silo, options.told():
        url, mapping = given["url"], given["crosswalk"]
        crosswalk = Crosswalk.read(mapping) if mapping else None
        with FedoraClient(url, credentials(url, given["credentials"], os.environ)) as client:
            yield silo, FedoraTarget(url, client, crosswalk)


@click.group()
def fedora() -> None:
    """Export records to Fedora 6 or 7, each version as a version, and verify them there.

    A record is one Archival Group, named by its cleaned identifier, below URL. User and
    password come from a file (--credentials), from FEDORA_USER and FEDORA_PASSWORD, or
    from your netrc.
    """


@fedora.command(
    epilog=example(
        f"silo export fedora run myrepo --to {_URL}",
        f"silo export fedora run myrepo --to {_URL} --versions all --jobs 4",
        f"silo export fedora run myrepo --to {_URL} --state ready --report actions.jsonl",
    )
)
@directory
@_to
@selecting
@options.what_goes
@options.how_run
@options.jobs
@options.showing
def run(silo_dir: str, **given: Any) -> int:
    """Send what is not in Fedora as it is in the Silo now; what is there already stays."""
    with _opened(silo_dir, given) as (silo, target):
        return run_to(silo, target, given)


@fedora.command(epilog=example(f"silo export fedora plan myrepo --to {_URL} --versions all"))
@directory
@_to
@selecting
@options.what_goes
@options.on_conflict
@options.limit
@options.jobs
@options.showing
def plan(silo_dir: str, **given: Any) -> int:
    """Say what a run would do; nothing is written, neither in Fedora nor in the Silo.

    Fedora is asked about each record of which something would be done.
    """
    with _opened(silo_dir, given) as (silo, target):
        return run_to(silo, target, {**given, "dry_run": True})


@fedora.command(epilog=example(f"silo export fedora resume myrepo --to {_URL}"))
@directory
@_to
@options.jobs
@options.showing
def resume(silo_dir: str, **given: Any) -> int:
    """Go on with the last run to URL, as it was asked for."""
    with _opened(silo_dir, given) as (silo, target):
        export = Export(silo, target)
        return show_run(
            shown_of(given),
            lambda watch, stop: export.resume(jobs=given["jobs"], watch=watch, stop=stop),
        )


@fedora.command(epilog=example(f"silo export fedora status myrepo --to {_URL}"))
@directory
@_to
@as_json
def status(silo_dir: str, **given: Any) -> None:
    """Say what the ledger has of URL: records, unfinished deposits, runs."""
    with _opened(silo_dir, given) as (silo, target):
        show_status(Export(silo, target), shown_of(given))


@fedora.command(
    epilog=example(
        f"silo export fedora verify myrepo --to {_URL} --jobs 4",
        f"silo export fedora verify myrepo --to {_URL} --sample 5% --report differences.jsonl",
    )
)
@directory
@_to
@selecting
@options.sample
@options.jobs
@options.showing
def verify(silo_dir: str, **given: Any) -> int:
    """Compare what Fedora holds with the Silo: digests, descriptions as graphs, versions."""
    with _opened(silo_dir, given) as (silo, target):
        export = Export(silo, target)
        selection = given["select"]
        part, shown = share(given["sample"]), shown_of(given)
        return show_verification(export, selection, part, shown, jobs=given["jobs"])


@fedora.command(epilog=example(f"silo export fedora reconcile myrepo --to {_URL}"))
@directory
@_to
@selecting
@options.jobs
@as_json
def reconcile(silo_dir: str, **given: Any) -> int:
    """Rebuild the ledger from what Fedora says it holds."""
    with _opened(silo_dir, given) as (silo, target):
        selection, shown = given["select"], shown_of(given)
        return show_reconciliation(Export(silo, target), selection, shown, jobs=given["jobs"])


@fedora.command(
    epilog=example(f"silo export fedora rollback myrepo 20260301T101500Z-0a1b2c --to {_URL}")
)
@directory
@click.argument("run_id", metavar="RUN")
@_to
@options.purge
@as_json
def rollback(silo_dir: str, run_id: str, purge: bool, **given: Any) -> int:
    """Take back the objects that a run created; --purge their tombstones too."""
    with _opened(silo_dir, given) as (silo, target):
        return show_rollback(Export(silo, target), run_id, shown_of(given), purge=purge)
