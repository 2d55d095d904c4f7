"""The command `silo fetch-files`.

Exit codes: 0 every link has its file; 1 some failed; 2 usage; 75 stopped early, or hosts were
postponed; 130 interrupted.
"""

import click

from oaipmhscraper.commands.http_options import http_options, read_size
from oaipmhscraper.documents.fetch_files import FilesWish, Into, fetch_files
from oaipmhscraper.documents.files_receipt import FilesReceipt
from oaipmhscraper.documents.link_rules import LinkRule
from politeweb.errors import RequestRefused
from politeweb.files import FileRules, FileTransport
from politeweb.settings import HttpSettings
from politeweb.shared_pace import turns_beside
from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import (
    check_not_empty,
    json_object,
    print_json,
    quiet_option,
    selecting,
)
from recordsilo.progress import counting
from recordsilo.selection import Selection
from recordsilo.wording import counted

USUAL_DELAY = 1.0
"""Default seconds between two requests to one host."""


@click.command(
    "fetch-files",
    epilog=example(
        r"silo fetch-files myrepo --rule 'dc:identifier=~https://repo\.example/.*\.pdf'"
    ),
)
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False))
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="FIELD[=~PATTERN]",
    help="Fetch links in this metadata field (dc:*, eprints:file, jats:self-uri …) that match the"
    " whole pattern; repeatable.  [default: links to files in the usual fields]",
)
@click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="TYPE",
    help="Accept only files of this media type, such as application/pdf or image/*; repeatable."
    "  [default: the type that the link suggests, but no web pages]",
)
@click.option(
    "--into",
    type=click.Choice([one.value for one in Into]),
    default=Into.VERSION.value,
    show_default=True,
    help="Add files to the version whose metadata has the link, or to a new working copy of it.",
)
@selecting
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Download at most N files.")
@click.option(
    "--max-size",
    callback=read_size,
    default="2G",
    show_default=True,
    metavar="SIZE",
    help="Maximum size of a file.",
)
@click.option("--retry-failed", is_flag=True, help="Retry files that failed permanently.")
@click.option("--ignore-robots", is_flag=True, help="Ignore robots.txt.")
@click.option(
    "--private-links",
    is_flag=True,
    help="Also follow links to private addresses.",
)
@json_object
@quiet_option
@http_options
@click.pass_context
def fetch_files_command(
    ctx: click.Context,
    *,
    settings: HttpSettings,
    directory: str,
    rules: tuple[str, ...],
    accepted: tuple[str, ...],
    into: str,
    select: Selection,
    limit: int | None,
    max_size: int,
    retry_failed: bool,
    ignore_robots: bool,
    private_links: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Download the files that records in the Silo DIR link to.

    Files are stored below files/ in a version of their record, with their origin. Another run
    fetches the missing ones; a link without a file is noted in its record with the reason.
    Each host gets one request per second, and robots.txt is obeyed. For a Silo of a fleet, each
    host also keeps the pace that it has there.
    """
    delayed = ctx.get_parameter_source("delay") is not click.core.ParameterSource.DEFAULT
    file_rules = FileRules(
        max_size, settings.delay if delayed else USUAL_DELAY, not ignore_robots, private_links
    )
    wish = FilesWish(_parsed(rules), accepted, Into(into), retry_failed)
    with Silo(directory, create=False) as silo:
        repository_url = str(silo.state.get("base_oai_url") or "")
        check_not_empty(silo, select)
        identifiers = None
        if not select.is_everything:
            is_named = bool(select.identifiers)
            found = select.find(silo)
            identifiers = [one for one in found if is_named or not silo.row(one).deleted]
        total = silo.count(deleted=False) if identifiers is None else len(identifiers)
        with (
            FileTransport(
                repository_url, settings, file_rules, turns=turns_beside(silo.path)
            ) as transport,
            counting("fetching files", total, quiet=quiet) as show,
        ):
            receipt = fetch_files(
                silo,
                transport,
                wish,
                identifiers=identifiers,
                limit=limit,
                progress=lambda receipt: show(receipt.records),
            )
    _report(receipt, as_json=as_json, quiet=quiet)


def _parsed(rules: tuple[str, ...]) -> tuple[LinkRule, ...]:
    try:
        return tuple(LinkRule.parse(text) for text in rules)
    except RequestRefused as error:
        fail(str(error), ExitCode.USAGE)


def _report(receipt: FilesReceipt, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json(receipt.to_json())
    elif not quiet:
        click.echo(receipt.text())
    if receipt.interrupted:
        fail("interrupted; run the same command to continue", ExitCode.INTERRUPTED)
    if receipt.postponed:
        hosts = ", ".join(receipt.hosts)
        fail(
            f"{counted(receipt.postponed, 'file')} of {hosts} postponed;"
            " run the same command to continue",
            ExitCode.STOPPED,
        )
    if receipt.failed:
        if quiet:
            fail(
                f"{counted(receipt.failed, 'file')} could not be fetched: {receipt.failures[0]}",
                ExitCode.LOSSES,
            )
        click.get_current_context().exit(ExitCode.LOSSES)
