"""Options of the commands that harvest."""

import logging
from collections.abc import Callable
from dataclasses import fields
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar, cast

import click

from oaipmhclient.walk.windows import read_length
from oaipmhscraper.options import APART_FROM, MOST_AGAIN, MOST_IN_FLIGHT, HarvestOptions
from oaipmhscraper.sweep_rules import SHARE
from politeweb.errors import RequestRefused
from recordsilo.commands.options import Number, all_of

F = TypeVar("F", bound=Callable[..., Any])


def _length(ctx: click.Context, param: click.Parameter, value: str | None) -> timedelta | None:
    if value is None:
        return None
    try:
        return read_length(value)
    except RequestRefused as error:
        raise click.BadParameter(str(error), ctx, param) from error


def _overlap(ctx: click.Context, param: click.Parameter, value: str | None) -> timedelta:
    return _length(ctx, param, value) or timedelta(0)


def _show_requests(_ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        logging.getLogger("OAIPMH Harvester.requests").setLevel(logging.INFO)


_OPTIONS = [  # each named as its field of `HarvestOptions`
    click.option(
        "-v",
        "--verbose",
        is_flag=True,
        expose_value=False,
        callback=_show_requests,
        help="Report each repeated request on stderr.",
    ),
    click.option(
        "--window",
        callback=_length,
        metavar="LENGTH",
        help="Length of the periods by which to request the list: 12h, 14d, 2w, 6m, 1y"
        "  [default: the whole list, split if it is long or fails].",
    ),
    click.option(
        "--max-requests-in-flight",
        "max_in_flight",
        type=click.IntRange(1, 64),
        default=MOST_IN_FLIGHT,
        show_default=True,
        metavar="N",
        help="Maximum number of parallel requests; starts with one.",
    ),
    click.option(
        "--overlap",
        callback=_overlap,
        metavar="LENGTH",
        help="How far before the last harvest an update begins, for servers that list changes late"
        "  [default: one day or second, by the repository's granularity].",
    ),
    click.option(
        "--again",
        "anew",
        is_flag=True,
        help="Start again instead of resuming a stopped harvest.",
    ),
    click.option(
        "--sweep",
        is_flag=True,
        help="Then compare the repository's identifiers with the Silo, to find deletions that it"
        " does not announce. A record that is missing in two sweeps is deleted.",
    ),
    click.option(
        "--sweep-limit",
        "sweep_share",
        callback=lambda _ctx, _param, percent: percent / 100,
        type=Number(0.0, 100.0),
        default=SHARE * 100,
        show_default=True,
        metavar="PERCENT",
        help="Ignore a sweep if more than this share of the Silo's records is missing.",
    ),
    click.option(
        "--count/--no-count",
        default=True,
        help="Count with ListIdentifiers if the repository states no number of records, or a wrong"
        " one"
        "  [default: --count].",
    ),
    click.option(
        "--ask-again",
        "again",
        type=click.IntRange(0),
        default=MOST_AGAIN,
        show_default=True,
        metavar="N",
        help="Maximum number of records to request again at the end of a list, if they were"
        " unreadable or not available.",
    ),
    click.option(
        "--identifiers-first",
        is_flag=True,
        help="Begin with ListIdentifiers, and get the records one by one with GetRecord, for"
        " repositories whose ListRecords is of no use. Without it, that is found out.",
    ),
    click.option(
        "--no-warc",
        "warc",
        is_flag=True,
        callback=lambda _ctx, _param, is_given: not is_given,
        help="Do not store the responses in WARC files below DIR/harvests.",
    ),
    click.option(
        "--two-processes/--one-process",
        "apart_from",
        default=None,
        callback=lambda _ctx, _param, asked: {None: APART_FROM, True: 0, False: None}[asked],
        help="Store records in a second process, which reads the pages from the WARC files, so"
        " that fetching does not wait  [default: for lists of more than"
        f" {APART_FROM:,} records, if the repository takes its time].",
    ),
    click.option(
        "--pages-only",
        is_flag=True,
        help="Only store the responses in WARC files; do not store records.",
    ),
    click.option(
        "--restore-removed", is_flag=True, help="Restore records that were deleted with `silo rm`."
    ),
]


def harvest_options(command: F) -> F:
    """Add these options to a command, which receives them as one keyword, ``options``."""

    @wraps(command)
    def with_options(*args: Any, **given: Any) -> Any:
        options = {one.name: given.pop(one.name) for one in fields(HarvestOptions)}
        return command(*args, options=HarvestOptions(**options), **given)

    return all_of(*_OPTIONS)(cast("F", with_options))
