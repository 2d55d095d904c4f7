"""The commands `silo identify`, `formats`, `sets`, `init`, `harvest` and `update`.

Exit codes: 0 whole; 1 finished with losses, listed in the receipt; 2 usage; 3 the endpoint is
unusable; 75 stopped early, continued by the same command; 130 interrupted.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click
from click.core import ParameterSource

from oaipmhclient.client import Client
from oaipmhprotocol import NoSetHierarchy
from oaipmhscraper.commands.harvest_options import harvest_options
from oaipmhscraper.commands.http_options import http_options
from oaipmhscraper.commands.reports import HarvestReporter, sentences
from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.progress import display
from oaipmhscraper.repository_state import state_of
from oaipmhscraper.scraper import OAIPMHScraper
from oaipmhscraper.silo_cleanup import undone_if_refused
from politeweb.settings import HttpSettings
from recordsilo.cli import example, fail
from recordsilo.commands import completion
from recordsilo.commands.options import OutputFile, json_object, print_json, quiet_option
from recordsilo.errors import VERSION_FILE
from recordsilo.garbage import keep_freed_memory
from recordsilo.silo import Silo, may_become_a_silo

ALL = "all"
"""A prefix that stands for every format of the repository."""


@click.command(epilog=example("silo identify https://eprints.example.org/cgi/oai2"))
@click.argument("url")
@http_options
@json_object
def identify(url: str, settings: HttpSettings, as_json: bool) -> None:
    """Show how the OAI-PMH repository at URL identifies itself."""
    with sentences(), Client(url, settings) as client:
        found = state_of(client.identify())
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        for line in value if isinstance(value, list) else [value]:
            click.echo(f"{name:<18}{' '.join(str(line).split())}")


@click.command(epilog=example("silo formats https://eprints.example.org/cgi/oai2"))
@click.argument("url")
@http_options
@json_object
def formats(url: str, settings: HttpSettings, as_json: bool) -> None:
    """List the metadata formats of the repository at URL: prefix, namespace, schema."""
    with sentences(), Client(url, settings) as client:
        found = client.list_metadata_formats()
    if as_json:
        print_json(
            {one.prefix: {"schema": one.schema, "namespace": one.namespace} for one in found}
        )
        return
    width = max((len(one.prefix) for one in found), default=0)
    for one in found:
        click.echo(f"{one.prefix:<{width}}  {one.namespace}  {one.schema}")


@click.command(epilog=example("silo sets https://eprints.example.org/cgi/oai2"))
@click.argument("url")
@http_options
@json_object
def sets(url: str, settings: HttpSettings, as_json: bool) -> None:
    """List the sets of the repository at URL: setSpec and setName."""
    with sentences(), Client(url, settings) as client:
        found = {}
        with suppress(NoSetHierarchy):
            found = {one.spec: one.name for one in client.list_sets()}
    if as_json:
        print_json(found)
        return
    width = max(map(len, found), default=0)
    for spec, name in found.items():
        click.echo(f"{spec:<{width}}  {name}")


@click.command(
    epilog=example("silo harvest https://eprints.example.org/cgi/oai2 myrepo -p oai_dc -p uketd_dc")
)
@click.argument("places", nargs=-1, metavar="URL DIR", shell_complete=completion.directories)
@click.option(
    "-p",
    "--prefix",
    "prefixes",
    multiple=True,
    shell_complete=completion.prefixes,
    help="Metadata format; repeatable; `all` for every format. Default: oai_dc;"
    " with --replay, every format.",
)
@click.option("--set", "set_spec", metavar="SPEC", help="Only records in this set.")
@click.option("--from", "from_", metavar="DATE", help="Earliest datestamp, YYYY-MM-DD or …Z.")
@click.option("--until", metavar="DATE", help="Latest datestamp, inclusive.")
@click.option("--update", is_flag=True, help="Only changes since the last complete harvest.")
@click.option(
    "--identifier-prefix",
    metavar="TEXT",
    help="Prefix of the identifiers (oai:example.org:), which can then be left out in commands."
    " Default: the prefix that the repository states.",
)
@click.option(
    "--moved",
    is_flag=True,
    help="Store URL as the new address of the repository of DIR; harvest nothing.",
)
@click.option(
    "--replay",
    "recorded",
    multiple=True,
    type=click.Path(exists=True),
    metavar="WARC",
    help="Create the new Silo DIR from recorded responses: a WARC file, or a directory of"
    " WARC files, such as harvests/ of a Silo; repeatable. Sends no requests.",
)
@click.option(
    "--receipt",
    "receipt_file",
    type=OutputFile(),
    metavar="FILE",
    help="Write the receipt as JSON.",
)
@harvest_options
@http_options
@quiet_option
@json_object
def harvest(
    *,
    places: tuple[str, ...],
    prefixes: tuple[str, ...],
    set_spec: str | None,
    from_: str | None,
    until: str | None,
    update: bool,
    identifier_prefix: str | None,
    moved: bool,
    recorded: tuple[str, ...],
    receipt_file: str | None,
    options: HarvestOptions,
    settings: HttpSettings,
    quiet: bool,
    as_json: bool,
) -> None:
    """Harvest the OAI-PMH repository at URL into the Silo DIR.

    If it is stopped or killed, the same command resumes it. Another run stores only
    changes. A receipt counts what was listed and stored.
    """
    keep_freed_memory()
    report = HarvestReporter(quiet, as_json, receipt_file)
    if recorded:
        _refuse_options_of_requests()
        (directory,) = _places(places, "DIR")
        prefixes = () if ALL in prefixes else prefixes
        _replay(directory, recorded, report, settings, prefixes=prefixes, set_spec=set_spec)
        return
    prefixes = prefixes or ("oai_dc",)
    url, directory = _places(places, "URL", "DIR")
    if moved:
        _note_move(directory, url, report, settings)
        return
    with (
        sentences(),
        undone_if_refused(directory),
        OAIPMHScraper(
            directory, url, identifier_prefix, settings=settings, agent="silo harvest"
        ) as scraper,
        report.stopped_too(),
        display(sys.stderr, quiet=report.quiet) as progress,
    ):
        receipt = scraper.harvest(
            list(scraper.getMetadataPrefixes()) if ALL in prefixes else prefixes,
            set_spec=set_spec,
            from_=from_,
            until=until,
            update=update,
            options=options,
            progress=progress,
        )
        scraper.learn_choices()
    report.finished(receipt)


def _replay(
    directory: str,
    recorded: Sequence[str],
    report: HarvestReporter,
    settings: HttpSettings,
    **chosen: Any,
) -> None:
    from oaipmhscraper.replay.replay import replay  # noqa: PLC0415 - a harvest needs none of it

    with (
        sentences(),
        report.stopped_too(),
        display(sys.stderr, quiet=report.quiet) as progress,
    ):
        most = settings.max_response
        receipt = replay(directory, recorded, progress=progress, max_response=most, **chosen)
    report.finished(receipt)


def _note_move(directory: str, url: str, report: HarvestReporter, settings: HttpSettings) -> None:
    with (
        sentences(),
        OAIPMHScraper(directory, settings=settings, agent="silo harvest") as scraper,
    ):
        scraper.moved_to(url)
    report.say(f"{directory} will be harvested from {url} from now on.")


def _refuse_options_of_requests() -> None:
    """Refuse what a replay, which sends no requests, would ignore."""
    context = click.get_current_context()
    given = [
        max(one.opts, key=len)
        for one in context.command.params
        if one.name and one.name not in _OF_REPLAY
        if context.get_parameter_source(one.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"--replay takes no {' or '.join(given)}: it sends no requests")


_OF_REPLAY = frozenset({
    "places", "prefixes", "set_spec", "recorded", "receipt_file", "max_response", "quiet",
    "as_json",
})  # fmt: skip
"""The parameters of `harvest` that a replay uses."""


def _places(given: tuple[str, ...], *names: str) -> tuple[str, ...]:
    """Return the arguments of `harvest`; a replay has one less."""
    if len(given) != len(names):
        raise click.UsageError(f"expected {' and '.join(names)}")
    if len(given) == 2 and "://" in given[1] and "://" not in given[0]:
        raise click.UsageError(f"the order is URL DIR: silo harvest {given[1]} {given[0]}")
    return given


@click.command(epilog=example("silo update myrepo --quiet"))
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
@harvest_options
@http_options
@quiet_option
@json_object
def update(
    directory: str, options: HarvestOptions, settings: HttpSettings, quiet: bool, as_json: bool
) -> None:
    """Harvest what has changed since the last harvests of the Silo DIR.

    Stopped harvests are resumed too; `silo harvests` lists them. Suitable for cron: it needs
    no URL, and with --quiet prints nothing on success.
    """
    report = HarvestReporter(quiet, as_json, None)
    with (
        sentences(),
        OAIPMHScraper(directory, settings=settings, agent="silo update") as scraper,
        report.stopped_too(),
        display(sys.stderr, quiet=quiet) as progress,
    ):
        receipt = scraper.update(options=options, progress=progress)
        scraper.learn_choices()
    report.finished(receipt)


@click.command(
    epilog=example("silo init myrepo", "silo init myrepo https://eprints.example.org/cgi/oai2")
)
@click.argument("directory", metavar="DIR", shell_complete=completion.directories)
@click.argument("url", metavar="[URL]", required=False)
def init(directory: str, url: str | None) -> None:
    """Make an empty Silo in DIR, which does not exist or is empty.

    With URL, the Silo is for the records of that OAI-PMH repository, which is asked to identify
    itself. Its records come with: silo harvest URL DIR.
    """
    if not may_become_a_silo(directory):
        what = (
            "is a Silo already"
            if os.path.exists(os.path.join(directory, VERSION_FILE))
            else "holds other files"
        )
        fail(f"{directory} {what}; name a directory that does not exist or is empty")
    if url is None:
        with sentences():
            Silo(directory).close()
    else:
        with sentences(), OAIPMHScraper(directory, url):
            pass
    follow = f"silo harvest {url or 'URL'} {directory}"
    click.echo(f"{directory} is an empty Silo; to fill it: {follow}")
