"""`silo usage report`: reports by COUNTER."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from recordsilo.cli import example, fail
from recordsilo.commands.options import directory, json_object
from usagestats.commands.group import ended, opened
from usagestats.entities.usage import Usage
from usagestats.reports.as_json import as_json as report_as_json
from usagestats.reports.as_table import BYTE_ORDER_MARK, as_table
from usagestats.reports.asking import (
    CountedPeriod,
    filtered,
    known_parameters,
    month_over,
    months_asked,
)
from usagestats.reports.definitions import MACHINE, REPORTS, Definition, ReportNotice
from usagestats.reports.making import ReportRequest, UsageReport
from usagestats.reports.of_silo import counted_of, report_of
from usagestats.reports.platform import platform_of
from usagestats.store.consistency import check_imported
from usagestats.store.periods import period_of


@click.command(
    epilog=example(
        "silo usage report myrepo IR --from 2026-01 --until 2026-03 > ir.tsv",
        "silo usage report myrepo IR --show Authors --filter data_type=Article --parents --json",
    )
)
@directory
@click.argument("name", metavar="REPORT", type=click.Choice(tuple(REPORTS), case_sensitive=False))
@click.option("--from", "first", default="", metavar="MONTH", help="First month, YYYY-MM.")
@click.option("--until", "last", default="", metavar="MONTH", help="Last month, inclusive.")
@click.option(
    "--show", "shown", multiple=True, metavar="COLUMN",
    help="A column in addition, such as Authors or YOP; repeatable.",
)  # fmt: skip
@click.option(
    "--filter", "filters", multiple=True, metavar="NAME=VALUE",
    help="Only this usage, such as data_type=Article or access_method=Regular; repeatable.",
)  # fmt: skip
@click.option(
    "--machine", is_flag=True,
    help=f"Only access by machines (access_method={MACHINE}); by default, all access.",
)  # fmt: skip
@click.option("--parents", is_flag=True, help="Name the journal or book of each item.")
@click.option("--total", is_flag=True, help="One number for the whole period.")
@json_object
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--tsv", is_flag=True, help="Print the tabular form with tabs (the default).")
def report(
    silo_dir: str, name: str, first: str, last: str,
    *, shown: tuple[str, ...], filters: tuple[str, ...], machine: bool, parents: bool, total: bool,
    as_json: bool, as_csv: bool, tsv: bool,
) -> int:  # fmt: skip
    """Print a COUNTER report: IR, IR_A1, IR_M1, PR or PR_P1.

    IR is the usage of each record, PR that of the whole site by type of data; the others are their
    standard views. A report has whole months that are over; without --from and --until, it is
    that of the last one.
    """
    if as_json + as_csv + tsv > 1:
        fail("choose one of --json, --csv and --tsv")
    definition = REPORTS[name.upper()]
    if unknown := [one for one in shown if one not in definition.attributes]:
        columns = ", ".join(definition.attributes) or "no such columns"
        fail(f"{definition.report_id} has no column {unknown[0]}; it can show {columns}")
    query = _query(definition, filters, shown, machine=machine, parents=parents, total=total)
    with opened(silo_dir) as silo, Usage(silo) as usage:
        check_imported(silo.path)
        counted = counted_of(usage, datetime.now(UTC).date())
        months, told = _months(first, last, counted)
        platform = platform_of(silo.path).name
        request, ignored = filtered(ReportRequest(tuple(months)), definition, query, platform)
        if refused := [one for one in ignored if one.code in {3060, 3062}]:
            fail(f"{refused[0].message}: {refused[0].data}")
        notices = [*told, *ignored]
        found = report_of(usage, definition, request, now=datetime.now(UTC), notices=notices)
        _print(found, as_json=as_json, delimiter="," if as_csv else "\t")
    for notice in notices:
        click.echo(f"Note: {notice}", err=True)
    return ended(silo_dir)


def _query(
    definition: Definition, filters: Sequence[str], shown: Sequence[str],
    *, machine: bool, parents: bool, total: bool,
) -> dict[str, str]:  # fmt: skip
    """Return the parameters of the API that the options are."""
    pairs = [(name, name, value) for name, _, value in (one.partition("=") for one in filters)]
    pairs += [("--machine", "access_method", MACHINE)] if machine else []
    pairs += [("--parents", "include_parent_details", "True")] if parents else []
    pairs += [("--total", "granularity", "Totals")] if total else []
    pairs += [("--show", "attributes_to_show", "|".join(shown))] if shown else []
    query: dict[str, str] = {}
    known = sorted(known_parameters(definition) | {"platform"})
    for said, name, value in pairs:
        if name not in known:
            fail(f"{definition.report_id} has no {said}; its filters are {', '.join(known)}")
        if not value:
            fail(f"{said} has no value; write {said}=VALUE")
        query[name] = f"{query[name]}|{value}" if name in query else value
    return query


def _months(
    first: str, last: str, counted: CountedPeriod | None
) -> tuple[list[str], list[ReportNotice]]:
    """Return the months of the report: whole ones that are over, by default the last one."""
    period_of(first, last)
    for day in (first, last):
        if len(day) > 7:
            fail(f"a report has whole months; write {day[:7]} instead of {day}")
    begin, end = counted.months if counted else ("", "")
    if counted is None or end < begin:
        known = f"it is from {counted.first} to {counted.last}" if counted else "there is none yet"
        fail(f"there is no usage of a month that is over; {known}")
    if first > month_over(counted.today):
        fail(f"{first} is not over; the last month that is over is {month_over(counted.today)}")
    start = first or (begin if last else end)
    months, told = months_asked(start, last or max(start, end), counted)
    if not months:
        fail(f"there is no usage in this period; it is from {begin} to {end}")
    return months, told


def _print(report: UsageReport, *, as_json: bool, delimiter: str) -> None:
    """Print in UTF-8, whatever the terminal's encoding is; tables with a byte order mark."""
    if as_json:
        text = json.dumps(report_as_json(report), ensure_ascii=False, indent=2) + "\n"
    else:
        text = BYTE_ORDER_MARK + as_table(report, delimiter)
    click.echo(text.encode("utf-8", "replace"), nl=False)
