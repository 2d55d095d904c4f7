"""`silo usage report`: reports by COUNTER."""

import json
from datetime import UTC, datetime

import click

from recordsilo.cli import example, fail
from recordsilo.commands.options import as_json, directory
from usagestats.commands.group import ended, opened
from usagestats.entities.usage import Usage
from usagestats.reports.as_json import as_json as report_as_json
from usagestats.reports.as_table import as_table
from usagestats.reports.definitions import MACHINE, REGULAR, REPORTS
from usagestats.reports.making import Request
from usagestats.reports.of_silo import months_of, report_of
from usagestats.store import queries
from usagestats.store.parts import check_imported
from usagestats.store.periods import period_of


@click.command(epilog=example("silo usage report myrepo IR --from 2026-01 --until 2026-03"))
@directory
@click.argument("name", metavar="REPORT", type=click.Choice(tuple(REPORTS), case_sensitive=False))
@click.option("--from", "first", default="", metavar="MONTH", help="First month, YYYY-MM.")
@click.option("--until", "last", default="", metavar="MONTH", help="Last month, inclusive.")
@click.option(
    "--show", "shown", multiple=True, metavar="COLUMN",
    help="A column in addition, such as Authors or YOP; repeatable.",
)  # fmt: skip
@click.option(
    "--machine", is_flag=True,
    help=f"Access by machines (Access_Method {MACHINE}) instead of by people.",
)  # fmt: skip
@as_json
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--tsv", is_flag=True, help="Print the tabular form with tabs (the default).")
def report(
    silo_dir: str, name: str, first: str, last: str, shown: tuple[str, ...],
    *, machine: bool, as_json: bool, as_csv: bool, tsv: bool,
) -> int:  # fmt: skip
    """Print a COUNTER report: IR, IR_A1, PR or PR_P1.

    IR is the usage of each record, PR that of the whole site by type of data; IR_A1 and PR_P1 are
    their standard views. Without --from and --until, all months are in it.
    """
    if as_json + as_csv + tsv > 1:
        fail("choose one of --json, --csv and --tsv")
    definition = REPORTS[name.upper()]
    if unknown := [one for one in shown if one not in definition.attributes]:
        columns = ", ".join(definition.attributes) or "no such columns"
        fail(f"{definition.report_id} has no column {unknown[0]}; it can show {columns}")
    with opened(silo_dir) as silo, Usage(silo) as usage:
        check_imported(silo.path)
        period_of(first, last)
        for day in (first, last):
            if len(day) > 7:
                fail(f"a report has whole months; write {day[:7]} instead of {day}")
        months = months_of(usage, first, last)
        if not months:
            bounds = queries.bounds(usage.counts)
            known = f"it is from {bounds[0]} to {bounds[1]}" if bounds else "nor in any other one"
            fail(f"there is no usage in this period; {known}")
        methods = (MACHINE,) if machine else (REGULAR,)
        request = Request(months, access_methods=methods, shown=shown)
        found = report_of(usage, definition, request, now=datetime.now(UTC))
        if as_json:
            click.echo(json.dumps(report_as_json(found), ensure_ascii=False, indent=2))
        else:
            click.echo(as_table(found, "," if as_csv else "\t"), nl=False)
    return ended(silo_dir)
