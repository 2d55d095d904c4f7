"""`silo usage totals`: the figures of the whole site."""

import json

import click

from recordsilo.cells import csv_line
from recordsilo.cli import example
from recordsilo.commands.options import directory, json_object
from usagestats.commands.group import ended, opened, period_given
from usagestats.store import queries
from usagestats.store.consistency import check_imported
from usagestats.store.counts import UsageCounts
from usagestats.store.ledger import UsageLedger
from usagestats.values import Figures

RULES = {
    "counter": "COUNTER R5.1: without double clicks (30 s); a session is a user, day and hour",
    "2010": "rule of 2010: one use for each client, record, day and kind",
}


@click.command(epilog=example("silo usage totals myrepo --from 2026-01 --until 2026-03 --json"))
@directory
@click.option("--from", "first", default="", metavar="DAY", help="First day or month.")
@click.option("--until", "last", default="", metavar="DAY", help="Last day or month, inclusive.")
@click.option("--machine", is_flag=True, help="The uses by machines, which are kept apart.")
@json_object
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def totals(
    silo_dir: str, first: str, last: str, *, machine: bool, as_json: bool, as_csv: bool
) -> int:
    """Print the figures of all records together."""
    with opened(silo_dir) as silo:
        check_imported(silo.path)
        period = period_given(silo, first, last)
        with UsageCounts(silo.path) as counts, UsageLedger(silo.path, "read") as ledger:
            known: dict[str, str | int] = dict(_known(counts.totals(period, machine=machine)))
            begin, end = queries.bounds(counts) or ("", "")
            receipts = ledger.receipts()
    known |= {
        "from": first or begin, "until": last or end,
        "robots_list": receipts[0][1]["robots"] if receipts else "",
        "rule_item_investigations_and_requests": RULES["counter"], "rule_2010": RULES["2010"],
        "access_method": "Machine" if machine else "Regular",
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(known, indent=2))
    elif as_csv:
        click.echo(csv_line(known) + csv_line(known.values()), nl=False)
    else:
        click.echo(_text(known))
    return ended(silo_dir)


def _known(figures: Figures) -> dict[str, int]:
    return {
        "total_item_investigations": figures.total_investigations,
        "unique_item_investigations": figures.unique_investigations,
        "total_item_requests": figures.total_requests,
        "unique_item_requests": figures.unique_requests,
        "others": figures.others,
        "views_2010": figures.views_2010,
        "downloads_2010": figures.downloads_2010,
        "others_2010": figures.others_2010,
        "visitors": figures.visitors,
    }


_ONE = {
    "views and downloads,": "view or download,",
    "downloads,": "download,",
    "views": "view",
    "downloads": "download",
    "other uses": "other use",
    "visitors: addresses, of each record and day": "visitor: an address, of each record and day",
}
"""What is counted → its singular."""


def _text(known: dict[str, str | int]) -> str:
    def row(name: str, words: str) -> str:
        return f"{known[name]:>12,}  {words if known[name] != 1 else _ONE[words]}"

    def once(name: str) -> str:
        return f"{known[name]:,} of them unique per session"

    begin, end = known["from"] or "the beginning", known["until"] or "the end"
    access, robots = (
        str(known["access_method"]).lower(),
        known["robots_list"] or "no list",
    )
    return f"""{begin} to {end}, {access} access (robots: {robots})

{row("total_item_investigations", "views and downloads,")} {once("unique_item_investigations")}
{row("total_item_requests", "downloads,")} {once("unique_item_requests")}
{row("others", "other uses")}
              {RULES["counter"]}

{row("views_2010", "views")}
{row("downloads_2010", "downloads")}
{row("others_2010", "other uses")}
              {RULES["2010"]}

{row("visitors", "visitors: addresses, of each record and day")}"""
