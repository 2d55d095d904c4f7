"""What the commands share: the Silo, its queues, and errors as sentences."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import click

from crawlmatch.errors import BadAddress
from recordsilo import Silo
from recordsilo.cli import ExitCode, fail, open_silo
from recordsilo.commands import completion
from silocrawl.errors import CrawlingError
from silocrawl.paths import queues_file
from silocrawl.targets import load_targets, target_names
from silowork.errors import JobRefused, JobsError
from silowork.queues.sqlite import SqliteQueues

name_argument = click.argument(
    "name", metavar="NAME", shell_complete=completion.among(target_names)
)
pywb_option = click.option(
    "--pywb",
    default="wayback",
    metavar="PATH",
    help="The program wayback of pywb; by default the one on PATH.",
)


@contextmanager
def opened(silo_dir: str) -> Iterator[Silo]:
    """Open a Silo; errors of crawls end the command in a sentence."""
    try:
        with open_silo(silo_dir) as silo:
            yield silo
    except (CrawlingError, BadAddress, JobRefused) as error:
        fail(str(error), ExitCode.USAGE)
    except JobsError as error:
        fail(str(error))


def tell_refused(silo: Silo) -> set[str]:
    """Say which targets cannot be read, and why; return these sentences."""
    _, refused = load_targets(silo.path)
    for error in refused:
        click.echo(f"silo: not crawled: {error}", err=True)
    return set(map(str, refused))


@contextmanager
def opened_queues(silo: Silo, *, changes: bool = True) -> Iterator[SqliteQueues]:
    """Open the queues of a Silo.

    Args:
        silo: The Silo.
        changes: Whether they are changed, and made where there are none.
    """
    path = queues_file(silo.path)
    with ExitStack() as stack:
        if not os.path.exists(path):
            if not changes:
                fail("nothing was launched in this Silo; see silo crawl launch")
            os.makedirs(os.path.dirname(path), exist_ok=True)
        yield stack.enter_context(SqliteQueues(path, "create" if changes else "read"))
