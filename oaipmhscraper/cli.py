"""The commands `silo identify`, `formats`, `sets`, `harvest` and `update`.

Exit codes: 0 whole; 1 finished with losses that the receipt names; 2 usage; 3 the
endpoint is unusable; 75 stopped early, the same command goes on; 130 interrupted.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import click

from oaipmhprotocol import BadArgument, CannotDisseminateFormat, NoSetHierarchy, OAIError
from oaipmhscraper.client import Client
from oaipmhscraper.errors import (
    BaseURLConflict,
    EndpointError,
    HarvestInterrupted,
    HarvestStopped,
    NoBaseURL,
    NothingToUpdate,
    RequestRefused,
    RetryLater,
    ScraperError,
)
from oaipmhscraper.fetch_command import fetch_files_command
from oaipmhscraper.http_settings import HttpSettings
from oaipmhscraper.identified import state_of
from oaipmhscraper.options import http_options
from oaipmhscraper.probe_command import probe
from oaipmhscraper.progress import display
from oaipmhscraper.receipt import Receipt
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo.cli import ExitCode, example, fail
from recordsilo.errors import ManifestUnreadable, RecordSiloError, StateUnreadable

json_option = click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
quiet_option = click.option(
    "--quiet", is_flag=True, help="Say nothing when all is well, one line when it is not."
)


@click.command(epilog=example("silo identify https://eprints.example.org/cgi/oai2"))
@click.argument("url")
@http_options
@json_option
def identify(url: str, settings: HttpSettings, as_json: bool) -> None:
    """What the OAI-PMH repository at URL says of itself."""
    with _sentences(), Client(url, settings) as client:
        found = state_of(client.identify())
    if as_json:
        _print_json(found)
        return
    for name, value in found.items():
        for line in value if isinstance(value, list) else [value]:
            click.echo(f"{name:<18}{' '.join(str(line).split())}")


@click.command(epilog=example("silo formats https://eprints.example.org/cgi/oai2"))
@click.argument("url")
@http_options
@json_option
def formats(url: str, settings: HttpSettings, as_json: bool) -> None:
    """The metadata formats of the repository at URL: prefix, namespace, schema."""
    with _sentences(), Client(url, settings) as client:
        found = client.list_metadata_formats()
    if as_json:
        _print_json(
            {one.prefix: {"schema": one.schema, "namespace": one.namespace} for one in found}
        )
        return
    width = max((len(one.prefix) for one in found), default=0)
    for one in found:
        click.echo(f"{one.prefix:<{width}}  {one.namespace}  {one.schema}")


@click.command(epilog=example("silo sets https://eprints.example.org/cgi/oai2"))
@click.argument("url")
@http_options
@json_option
def sets(url: str, settings: HttpSettings, as_json: bool) -> None:
    """The sets of the repository at URL: setSpec and setName."""
    with _sentences(), Client(url, settings) as client:
        found = {}
        with suppress(NoSetHierarchy):
            found = {one.spec: one.name for one in client.list_sets()}
    if as_json:
        _print_json(found)
        return
    width = max(map(len, found), default=0)
    for spec, name in found.items():
        click.echo(f"{spec:<{width}}  {name}")


@click.command(
    epilog=example("silo harvest https://eprints.example.org/cgi/oai2 myrepo -p oai_dc -p uketd_dc")
)
@click.argument("url")
@click.argument("directory", type=click.Path(file_okay=False))
@click.option(
    "-p",
    "--prefix",
    "prefixes",
    multiple=True,
    default=("oai_dc",),
    show_default=True,
    help="Metadata format; may be given several times.",
)
@click.option("--set", "set_spec", metavar="SPEC", help="Only members of this set.")
@click.option("--from", "from_", metavar="DATE", help="Earliest datestamp, YYYY-MM-DD or …Z.")
@click.option("--until", metavar="DATE", help="Latest datestamp, inclusive.")
@click.option("--update", is_flag=True, help="Only what changed since the last complete harvest.")
@click.option(
    "--identifier-prefix",
    metavar="TEXT",
    help="What identifiers begin with (oai:example.org:), so that they can be given without it."
    " Default: what the repository says of its identifiers.",
)
@click.option(
    "--restore-removed", is_flag=True, help="Bring back records that were removed by `silo rm`."
)
@click.option(
    "--moved",
    is_flag=True,
    help="The repository of DIRECTORY answers at URL from now on; harvest nothing yet.",
)
@click.option(
    "--receipt",
    "receipt_file",
    type=click.File("w", encoding="utf-8", lazy=True),
    help="Write the receipt as JSON.",
)
@http_options
@quiet_option
@json_option
def harvest(
    *,
    url: str,
    directory: str,
    prefixes: tuple[str, ...],
    set_spec: str | None,
    from_: str | None,
    until: str | None,
    update: bool,
    identifier_prefix: str | None,
    restore_removed: bool,
    moved: bool,
    receipt_file: Any,
    settings: HttpSettings,
    quiet: bool,
    as_json: bool,
) -> None:
    """Harvest the OAI-PMH repository at URL into the Silo DIRECTORY, new or not.

    Run again, it stores only what changed. A receipt says what was listed and stored.
    """
    report = _Report(quiet, as_json, receipt_file)
    with _sentences():
        if moved:
            with OAIPMHScraper(directory, settings=settings, agent="silo harvest") as scraper:
                scraper.moved_to(url)
            report.say(f"{directory} is harvested from {url} from now on.")
            return
        with (
            OAIPMHScraper(
                directory, url, identifier_prefix, settings=settings, agent="silo harvest"
            ) as scraper,
            report.stopped_too(),
            display(sys.stderr, quiet=quiet) as progress,
        ):
            receipt = scraper.harvest(
                prefixes,
                set_spec=set_spec,
                from_=from_,
                until=until,
                update=update,
                restore_removed=restore_removed,
                progress=progress,
            )
            _learn_set_names(scraper)
    report.finished(receipt)


@click.command(epilog=example("silo update myrepo --quiet"))
@click.argument("directory", type=click.Path(file_okay=False))
@http_options
@quiet_option
@json_option
def update(directory: str, settings: HttpSettings, quiet: bool, as_json: bool) -> None:
    """Bring the Silo DIRECTORY up to date: every format and set harvested before.

    The line for cron: needs no URL, and with --quiet says nothing when all is well.
    """
    report = _Report(quiet, as_json, None)
    with (
        _sentences(),
        OAIPMHScraper(directory, settings=settings, agent="silo update") as scraper,
        report.stopped_too(),
        display(sys.stderr, quiet=quiet) as progress,
    ):
        receipt = scraper.update(progress=progress)
        _learn_set_names(scraper)
    report.finished(receipt)


commands: list[click.Command] = [
    identify,
    formats,
    sets,
    probe,
    harvest,
    update,
    fetch_files_command,
]


class _Report:
    """Tells a person, a script or nobody how a harvest went."""

    def __init__(self, quiet: bool, as_json: bool, receipt_file: Any) -> None:
        self._quiet = quiet
        self._as_json = as_json
        self._receipt_file = receipt_file
        if quiet:
            logging.getLogger("OAIPMH Harvester").setLevel(logging.ERROR)

    def say(self, sentence: str) -> None:
        if not self._quiet and not self._as_json:
            click.echo(sentence)

    @contextmanager
    def stopped_too(self) -> Iterator[None]:
        """Show the receipt of a harvest that stopped as well."""
        try:
            yield
        except (HarvestStopped, HarvestInterrupted) as stop:
            if stop.receipt.counts.listed or self._as_json or self._receipt_file:
                self._show(stop.receipt)
            raise

    def finished(self, receipt: Receipt) -> None:
        """Show the receipt; end with 1 if anything is lost."""
        self._show(receipt)
        if receipt.whole:
            return
        if self._quiet or self._as_json:
            more = len(receipt.losses) - 1
            fail(
                f"not whole: {receipt.losses[0]}" + (f" (and {more} more)" if more else ""),
                ExitCode.LOSSES,
            )
        click.get_current_context().exit(ExitCode.LOSSES)

    def _show(self, receipt: Receipt) -> None:
        if self._receipt_file is not None:
            json.dump(receipt.to_json(), self._receipt_file, ensure_ascii=False, indent=1)
            self._receipt_file.write("\n")
        if self._as_json:
            _print_json(receipt.to_json())
        else:
            self.say(receipt.text())


def _learn_set_names(scraper: OAIPMHScraper) -> None:
    """Ask for the sets' names where records are in sets not known by name; optional."""
    if set(scraper.store.set_counts()) - set(scraper.state.get("sets", {})):
        with suppress(ScraperError, OAIError):
            scraper.getSets()


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=1))


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what can go wrong into a sentence and an exit code."""
    try:
        yield
    except HarvestInterrupted as interrupt:
        fail(f"{interrupt}; the same command goes on", ExitCode.INTERRUPTED)
    except HarvestStopped as stop:
        _fail_stopped(stop)
    except (RequestRefused, NothingToUpdate, NoBaseURL, BaseURLConflict) as error:
        fail(str(error), ExitCode.USAGE)
    except RetryLater as error:
        fail(str(error), ExitCode.STOPPED)
    except EndpointError as error:
        fail(str(error), ExitCode.ENDPOINT)
    except OAIError as error:
        fail(f"the repository answers {error}", ExitCode.ENDPOINT)
    except (ScraperError, ManifestUnreadable, StateUnreadable) as error:
        fail(str(error), ExitCode.LOSSES)
    except RecordSiloError as error:
        fail(str(error), ExitCode.USAGE)


def _fail_stopped(stop: HarvestStopped) -> NoReturn:
    if isinstance(stop.cause, CannotDisseminateFormat):
        prefix = next(one.metadata_prefix for one in stop.receipt.lists if one.stopped)
        fail(
            f"{stop.receipt.base_url} has no records in the format {prefix}"
            f" ({stop.cause}); its formats: silo formats {stop.receipt.base_url}",
            ExitCode.USAGE,
        )
    if stop.receipt.counts.listed or isinstance(stop.cause, RetryLater):
        fail(f"{stop}; what came before is stored, the same command goes on", ExitCode.STOPPED)
    fail(str(stop), ExitCode.USAGE if isinstance(stop.cause, BadArgument) else ExitCode.ENDPOINT)
