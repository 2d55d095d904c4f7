"""`silo usage top`, `show` and `same`: what was used, and which entities are one."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from recordsilo.cli import example, fail, fitted
from recordsilo.commands.options import directory, json_array, json_object
from recordsilo.wording import counted, minute
from usagestats.commands.group import ended, opened, period_given
from usagestats.entities.as_table import as_csv, figures_json, used_json
from usagestats.entities.bundles import assert_same, take_back
from usagestats.entities.usage import MEASURES, MEASURES_2010, RECORD, Usage, Used
from usagestats.store import queries
from usagestats.store.consistency import check_imported

first_day = click.option("--from", "first", default="", metavar="DAY", help="First day or month.")
last_day = click.option(
    "--until", "last", default="", metavar="DAY", help="Last day or month, inclusive."
)
csv_2010 = click.option(
    "--csv", "with_csv", is_flag=True,
    help="Print CSV with the columns of 2010: Label, Views, File Downloads, …",
)  # fmt: skip
_HEAD = ("Views", "Downloads", "Other", "Visitors")


@click.command(epilog=example("silo usage top myrepo --kind creator --from 2026-01 -n 5"))
@directory
@click.option("--kind", default=RECORD, help="record (the default), creator, subject, set, …")
@click.option(
    "-n", "--limit", "number", type=click.IntRange(1, 100_000), default=10, show_default=True,
    help="How many.",
)  # fmt: skip
@click.option(
    "--by",
    type=click.Choice(tuple(MEASURES)),
    default="all",
    show_default=True,
    help="What is compared.",
)
@first_day
@last_day
@json_array
@csv_2010
def top(
    silo_dir: str,
    *,
    kind: str,
    number: int,
    by: str,
    first: str,
    last: str,
    as_json: bool,
    with_csv: bool,
) -> int:
    """List the records, or the entities of a kind, that were used most."""
    with opened(silo_dir) as silo, Usage(silo) as usage:
        check_imported(silo.path)
        period = period_given(silo, first, last)
        kinds = (RECORD, *(one.name for one in usage.catalogue.mapping.kinds))
        if kind not in kinds:
            fail(f"there is no kind {kind!r}; there are {', '.join(kinds)}")
        measure = (MEASURES_2010 if with_csv else MEASURES)[by]
        if kind == RECORD:
            found = usage.top_items(period, measure, number)
        else:
            found = usage.top_entities(kind, period, measure, number)
    _print(found, as_json=as_json, with_csv=with_csv)
    return ended(silo_dir)


@click.command(
    epilog=example("silo usage show myrepo 3093", 'silo usage show myrepo "Vogt, Friederike"')
)
@directory
@click.argument("name", metavar="ID|ENTITY")
@first_day
@last_day
@json_object
@csv_2010
def show(silo_dir: str, name: str, first: str, last: str, *, as_json: bool, with_csv: bool) -> int:
    """Show how a record or an entity was used, and its entities or records.

    An ENTITY is a value such as a name, kind=value (creator=Smith), or a key (n:5681e3fc…).
    """
    with opened(silo_dir) as silo, Usage(silo) as usage:
        check_imported(silo.path)
        period = period_given(silo, first, last)
        one = usage.find(name)
        figures = queries.figures_of(usage.counts, one.items, period)
        measure = (MEASURES_2010 if with_csv else MEASURES)["all"]
        records = usage.used_items(one.items, period, len(one.items), measure)
        if with_csv:
            _echo_csv(records)
            return ended(silo_dir)
        moments = queries.first_and_last_use(usage.counts, one.items)
        places = queries.countries(usage.counts, period, one.items)
        known = {
            **used_json(one),
            **figures_json(figures),
            "first_use": _moment(moments[0]) if moments else None,
            "last_use": _moment(moments[1]) if moments else None,
            "countries": {code: uses for code, uses, _ in places},
            "entities": [e._asdict() for e in usage.catalogue.entities_of(one.key)],
            "items": [used_json(record) for record in records] if one.kind != RECORD else [],
        }  # fmt: skip
    if as_json:
        click.echo(json.dumps(known, ensure_ascii=False, indent=2))
        return ended(silo_dir)
    click.echo(f"{one.label or '(no title)'}\n{one.kind} {one.key}")
    click.echo(
        f"{counted(figures.views, 'view')} and "
        f"{counted(figures.total_requests, 'download')} (COUNTER); "
        f"{figures.views_2010:,} and {figures.downloads_2010:,} by the rule of 2010"
    )
    if moments:
        first, last = (minute(datetime.fromtimestamp(one, UTC)) for one in moments)
        click.echo(f"first use {first}, last use {last}")
    for entity in known["entities"]:
        click.echo(f"  {entity['kind']:<10} {entity['key']}  {entity['label']}")
    if one.kind != RECORD:
        _print(records, as_json=False, with_csv=False)
    return ended(silo_dir)


@click.command(
    epilog=example("silo usage same myrepo 'creator=Li, Matthew P.' 'creator=Matthew P. Li'")
)
@directory
@click.argument("names", metavar="ENTITY ENTITY...", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Take the assertion back.")
@click.option("--agent", default="", help="Name for the file (default: the user).")
def same(silo_dir: str, names: Sequence[str], agent: str, *, undo: bool) -> int:
    """Assert that entities are the same, so that their usage is added up as one.

    No record is changed.
    """
    with opened(silo_dir) as silo, Usage(silo) as usage:
        check_imported(silo.path)
        found = [usage.find(name) for name in names]
        if records := [one.key for one in found if one.kind == RECORD]:
            fail(f"{records[0]} is a record; name entities, such as creator=Smith")
        if len(kinds := {one.kind for one in found}) > 1:
            fail(f"these are of different kinds: {', '.join(sorted(kinds))}")
        keys = [usage.key(name) for name in names]
        who, now = agent or silo.agent, datetime.now(UTC).isoformat(timespec="seconds")
        if undo:
            number = take_back(silo.path, keys, who, now)
            click.echo(f"{counted(number, 'assertion')} taken back")
        else:
            click.echo(assert_same(silo.path, keys, who, now))
    return 0


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _echo_csv(used: Sequence[Used]) -> None:
    for line in as_csv(used):
        click.echo(line, nl=False)


def _print(found: Sequence[Used], *, as_json: bool, with_csv: bool) -> None:
    if as_json:
        click.echo(json.dumps([used_json(one) for one in found], ensure_ascii=False, indent=2))
        return
    if with_csv:
        _echo_csv(found)
        return
    click.echo("  ".join(f"{name:>9}" for name in _HEAD) + "  Label")
    for one in found:
        some = one.figures
        numbers = (some.views, some.total_requests, some.others, some.visitors)
        label = f"{one.label}  ({one.key})" if one.label else one.key
        click.echo("  ".join(f"{number:>9,}" for number in numbers) + f"  {fitted(label, 44)}")
