"""`silo harvests`: list the finished and the open harvests of a Silo."""

import os
from collections import Counter
from datetime import UTC, datetime

import click

from oaipmhscraper.commands.reports import sentences
from oaipmhscraper.harvests.past_harvests import PastHarvest, harvests_of, owed_in
from oaipmhscraper.lists.journal import Journal
from oaipmhscraper.receipt import ListReceipt
from recordsilo.cli import ExitCode, example, fail, open_silo
from recordsilo.commands.options import json_array, print_json, tell_none
from recordsilo.wording import counted, minute


@click.command(epilog=example("silo harvests myrepo", "silo harvests myrepo --forget ID"))
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, exists=True))
@click.option(
    "--forget",
    metavar="ID",
    help="Do not resume this open harvest; the same command will start again. No record is lost.",
)
@click.option(
    "--give-up",
    "given_up",
    multiple=True,
    metavar="IDENTIFIER",
    help="Stop requesting this record, which earlier harvests listed but could not get;"
    " repeatable; `all` for every such record.",
)
@json_array
def harvests(directory: str, forget: str | None, given_up: tuple[str, ...], as_json: bool) -> None:
    """List the harvests of the Silo DIR with their time, scope and outcome."""
    with sentences(), open_silo(directory) as silo:
        if forget is not None:
            _forget(silo.path, forget)
        if given_up:
            _give_up(silo.path, given_up)
        found = list(harvests_of(silo.path))
        owed = owed_in(silo.path)
    if as_json:
        print_json([one.to_json() for one in found])
        return
    if not found:
        tell_none("harvests", "silo harvest URL DIR makes one", directory)
    for one in found:
        click.echo(_line(one))
        if one.said:
            click.echo(f"    {one.said}")
        if one.elsewhere:
            click.echo(f"    {_elsewhere(one, directory)}")
        for each in one.so_far:
            click.echo(f"    {_far(each)}")
    for what, number in owed:
        name = ListReceipt(what.metadata_prefix, what.set_spec).name
        click.echo(f"{name}: {counted(number, 'record')} owed; silo update requests them again")


def _give_up(silo_path: str, identifiers: tuple[str, ...]) -> None:
    names = () if "all" in identifiers else identifiers
    with Journal(silo_path) as journal:
        if not journal.give_up(names):
            fail("no such record is owed; silo harvests lists them", ExitCode.USAGE)


def _forget(silo_path: str, number: str) -> None:
    with Journal(silo_path) as journal:
        job = next((job for job in journal.jobs() if job.id == number), None)
        if job is None:
            fail(f"there is no open harvest {number}; silo harvests lists them", ExitCode.USAGE)
        with journal.held(job.request):
            journal.forget(job)


def _line(one: PastHarvest) -> str:
    began = datetime.strptime(one.id, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    listed, stored = one.counts.get("listed") or 0, one.counts.get("stored") or 0
    numbers = f"{listed:>9,} listed {stored:>9,} stored"
    return f"{one.id}  {minute(began)}  {one.state:<10} {numbers}  {one.what}"


def _elsewhere(one: PastHarvest, directory: str) -> str:
    return (
        f"WARC files in {os.path.dirname(one.elsewhere[0].url)}: {len(one.elsewhere):,} of"
        f" {len(one.files):,}; to bring them back: silo fleet archive --back {directory}"
    )


def _far(one: ListReceipt) -> str:
    """``oai_dc: 1,200 of 3,200 listed; windows: 2 done, 1 open``."""
    of = "" if one.expected is None else f" of {one.expected:,}"
    states = Counter(window.state for window in one.windows)
    windows = ", ".join(f"{number:,} {state}" for state, number in sorted(states.items()))
    return f"{one.name}: {one.counts.distinct:,}{of} listed; windows: {windows}"
