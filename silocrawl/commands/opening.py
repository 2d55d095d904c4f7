"""What the commands share: the Silo, its queues, and errors as sentences."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from crawlmatch.cli import code_of
from crawlmatch.errors import BadAddress
from recordsilo import Silo
from recordsilo.cli import ExitCode, fail, open_silo
from recordsilo.commands import completion
from recordsilo.progress import counting
from silocrawl.errors import CrawlingError
from silocrawl.sharing import has_queues, open_crawl_queues
from silocrawl.targets import load_targets, target_names
from silosteps.errors import StepsError
from silowork.errors import JobRefused, JobsError
from silowork.queues.values import Queues

name_argument = click.argument(
    "name", metavar="NAME", shell_complete=completion.among(target_names)
)
pywb_option = click.option(
    "--pywb",
    default="wayback",
    metavar="PATH",
    help="The program wayback of pywb; by default the one on PATH.",
)

amqp_option = click.option(
    "--amqp", "url", default="", metavar="URL",
    help="The broker, as amqp://USER@HOST:5672/VHOST or amqps://…, without a password; by default"
    " AMQP_URL, or what crawling/amqp.toml says.",
)  # fmt: skip


ADD_TARGET = "silo crawl target add DIR --all makes one of the links of all records"
"""How to begin, for `tell_none`."""
store_help = "A directory, s3://bucket/crawls, or sftp://user@host/path."
store_option = click.option("--store", metavar="PLACE", help=store_help)
_MEGABYTE = 1_000_000


@contextmanager
def megabytes(*, quiet: bool) -> Iterator[Callable[[int], object]]:
    """Show the megabytes that were worked on; yields what gets the bytes since its last call."""
    done = 0
    with counting("MB", quiet=quiet) as show:

        def told(size: int) -> None:
            nonlocal done
            before, done = done, done + size
            if done // _MEGABYTE > before // _MEGABYTE:
                show(done // _MEGABYTE)

        yield told


@contextmanager
def opened(silo_dir: str) -> Iterator[Silo]:
    """Open a Silo; errors of crawls end the command in a sentence."""
    with in_sentences(), open_silo(silo_dir) as silo:
        yield silo


@contextmanager
def in_sentences() -> Iterator[None]:
    """End the command in a sentence if a crawl, or what it needs, is not well."""
    try:
        yield
    except (CrawlingError, BadAddress, JobRefused) as error:
        fail(str(error), ExitCode.USAGE)
    except StepsError as error:  # of matching what was crawled
        fail(str(error), code_of(error))
    except JobsError as error:
        fail(str(error))


def say_on_stderr(line: str) -> None:
    """Print a line as one of the command."""
    click.echo(f"silo: {line}", err=True)


def tell_refused(silo: Silo) -> set[str]:
    """Say which targets cannot be read, and why; return these sentences."""
    _, refused = load_targets(silo.path)
    for error in refused:
        click.echo(f"silo: not crawled: {error}", err=True)
    return set(map(str, refused))


@contextmanager
def opened_queues(silo: Silo, *, changes: bool = True) -> Iterator[Queues]:
    """Open the queues of a Silo.

    Args:
        changes: Whether they are changed, and made where there are none.
    """
    if not changes and not has_queues(silo.path):
        command = "launch" if target_names(silo.path) else "target add"
        fail(f"nothing was launched in this Silo; see silo crawl {command}")
    with open_crawl_queues(silo.path, "create" if changes else "read") as queues:
        yield queues
