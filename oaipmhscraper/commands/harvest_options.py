"""How to harvest, as options of the commands that do."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, TypeVar

import click

from oaipmhclient.walk.windows import read_length
from oaipmhscraper.harvests.job import MOST_IN_FLIGHT, HarvestOptions
from oaipmhscraper.lists.list_harvest import MOST_AGAIN
from oaipmhscraper.sweep_rules import SHARE
from politeweb.errors import RequestRefused
from recordsilo.commands.options import Number

F = TypeVar("F", bound=Callable[..., Any])


def _length(ctx: click.Context, param: click.Parameter, value: str | None) -> timedelta | None:
    if value is None:
        return None
    try:
        return read_length(value)
    except RequestRefused as error:
        raise click.BadParameter(str(error), ctx, param) from error


_OPTIONS = [
    click.option(
        "--window",
        callback=_length,
        metavar="LENGTH",
        help="Ask for the list in windows of this length: 12h, 14d, 2w, 6m, 1y"
        "  [default: in one, cut where it is long or breaks].",
    ),
    click.option(
        "--max-requests-in-flight",
        "max_in_flight",
        type=click.IntRange(1, 64),
        default=MOST_IN_FLIGHT,
        show_default=True,
        metavar="N",
        help="Most requests at once. One to begin with, more while the server keeps up.",
    ),
    click.option(
        "--overlap",
        callback=_length,
        metavar="LENGTH",
        help="How far before the last harvest an update begins, for servers that show changes"
        " late  [default: one day or second, by the repository's granularity].",
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
        help="Afterwards compare all that the repository lists with the Silo, to find"
        " deletions it does not announce: one absence is noted, the second is a deletion.",
    ),
    click.option(
        "--sweep-limit",
        type=Number(0.0, 100.0),
        default=SHARE * 100,
        show_default=True,
        metavar="PERCENT",
        help="Ignore a sweep that misses more of the Silo's records than this.",
    ),
    click.option(
        "--count/--no-count",
        default=True,
        help="Whether ListIdentifiers is asked as well where the repository gives no number"
        " of records, or one that does not fit  [default: it is].",
    ),
    click.option(
        "--ask-again",
        type=click.IntRange(0),
        default=MOST_AGAIN,
        show_default=True,
        metavar="N",
        help="How many records that were set aside, or could not be had, are asked for once more"
        " at the end of a list.",
    ),
    click.option(
        "--no-warc",
        is_flag=True,
        help="Do not keep the responses as received, in WARC files under DIRECTORY/harvests.",
    ),
    click.option(
        "--pages-only",
        is_flag=True,
        help="Only store the responses as WARC files; store no records yet.",
    ),
    click.option(
        "--restore-removed", is_flag=True, help="Restore records that were deleted with `silo rm`."
    ),
]


def harvest_options(command: F) -> F:
    """Give a command these options; it receives them as one keyword, ``options``."""

    @wraps(command)
    def with_options(*args: Any, **given: Any) -> Any:
        options = HarvestOptions(
            window=given.pop("window"),
            max_in_flight=given.pop("max_in_flight"),
            restore_removed=given.pop("restore_removed"),
            warc=not given.pop("no_warc"),
            pages_only=given.pop("pages_only"),
            anew=given.pop("anew"),
            overlap=given.pop("overlap") or timedelta(0),
            count=given.pop("count"),
            again=given.pop("ask_again"),
            sweep=given.pop("sweep"),
            sweep_share=given.pop("sweep_limit") / 100,
        )
        return command(*args, options=options, **given)

    decorated: Any = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]  # click types a decorated command as Any
