"""`silo fleet status` and `show`: what is known of the endpoints."""

from collections import Counter
from datetime import UTC, datetime

import click

from recordsilo.cli import example, fail, shown
from recordsilo.commands.options import json_object, print_json, tell_none
from recordsilo.wording import minute
from silofleet.commands.group import (
    directory,
    endpoint_names,
    moves_under_way,
    no_clock,
    nodes_awaited,
    opened,
)
from silofleet.fleet import LOCAL, EndpointLine, csv_of
from silofleet.values import TROUBLED, State

SHOWN = 50


@click.command(
    epilog=example(
        "silo fleet status many", "silo fleet status many --state failing --json",
        "silo fleet status many --tag physics -n 0",
    )
)  # fmt: skip
@directory
@click.option(
    "--state", "states", multiple=True, type=click.Choice([state.value for state in State]),
    help="Only endpoints in this state; repeatable.",
)  # fmt: skip
@click.option("--tag", default="", help="Only endpoints with this tag.")
@click.option(
    "-n", "--limit", type=click.IntRange(min=0), default=SHOWN, show_default=True,
    help="Show so many lines; 0 for all.",
)  # fmt: skip
@json_object
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def status(
    directory: str, states: tuple[str, ...], tag: str, limit: int, *, as_json: bool, as_csv: bool
) -> None:
    """Show the endpoints of the fleet DIR, those in trouble first.

    JSON and CSV have all endpoints. Only a last harvest that was whole has the state "whole".
    """
    if as_json and as_csv:
        fail("choose --json or --csv")
    now = datetime.now(UTC)
    with opened(directory) as fleet:
        lines = [
            line for line in fleet.lines(now)
            if (not states or line.state.value in states) and (not tag or tag in line.endpoint.tags)
        ]  # fmt: skip
        nodes = fleet.nodes_as_json(now)
        moves, clockless = moves_under_way(fleet), no_clock(fleet, now)
    if as_json:
        found = {"endpoints": [line.to_json() for line in lines], "nodes": nodes, "moves": moves}
        print_json(found)
    elif as_csv:
        for row in csv_of(lines):
            click.echo(row, nl=False)
    else:
        _print(directory, lines, limit, is_filtered=bool(states or tag))
        for sentence in (*(clockless if lines else ()), *moves, *nodes_awaited(lines)):
            click.echo(sentence)
        for node in nodes:
            if node["room"] * 10 < fleet.wishes.policy.reserve:
                click.echo(
                    f"The disk of the node {node['node']} is nearly full; no run starts there."
                )


def _print(directory: str, lines: list[EndpointLine], limit: int, *, is_filtered: bool) -> None:
    counts = Counter(line.state for line in lines)
    if not lines:
        what, way = "endpoints", "silo fleet add DIR URL|FILE adds some"
        if is_filtered:
            what, way = "endpoints of that state or tag", "silo fleet status DIR lists all"
        tell_none(what, way, directory)
        return
    click.echo(", ".join(f"{counts[state]:,} {state.value}" for state in TROUBLED if counts[state]))
    lines = sorted(lines, key=lambda line: (TROUBLED.index(line.state), line.endpoint.name))
    listed = lines[:limit] if limit else lines
    width = min(40, max(len(name) for name in ("endpoint", *(one.endpoint.name for one in listed))))
    click.echo(f"{'endpoint':<{width}}  {'state':<11}{'records':>11}  {'last whole':<20}  next due")
    for line in listed:
        whole = _moment(line.facts.whole) or "never"
        due = _moment(line.due) or ("now" if line.state is State.RUNNING else "-")
        row = f"{line.endpoint.name:<{width}}  {line.state.value:<11}{line.facts.records:>11,}"
        click.echo(f"{row}  {whole:<20}  {due}")
        if line.reason:
            click.echo(f"    {shown(line.reason)}")
    if len(listed) < len(lines):
        click.echo(f"and {len(lines) - len(listed):,} more; -n 0 shows all")


_LABELS = {"said": "result", "depth": "keeps", "last_whole": "last whole", "moved_to": "moved to"}
"""Key of the JSON values of an endpoint → what people read; others are read as they are."""
_VALUES = {("node", LOCAL): "this machine", ("depth", "pages"): "responses"}

_MOMENTS = {"last_whole", "started", "ended", "due", "added"}


@click.command(epilog=example("silo fleet show many oxford"))
@directory
@click.argument("name", shell_complete=endpoint_names)
@json_object
def show(directory: str, name: str, *, as_json: bool) -> None:
    """Show all that is known of the endpoint NAME, a name or an address, of the fleet DIR."""
    with opened(directory) as fleet:
        line = fleet.line(name)
        runs = fleet.ledger.runs_of(line.endpoint.name)
    if as_json:
        found = line.to_json() | {"runs": [run.to_json() for run in runs]}
        print_json(found)
        return
    for key, value in line.to_json().items():
        if key != "outcomes" and value not in (None, "", [], 0, False):
            text = (
                ", ".join(value) if isinstance(value, list) else "yes" if value is True else value
            )
            text = _VALUES.get((key, str(text)), str(text))
            text = minute(text) if key in _MOMENTS else text
            click.echo(f"{_LABELS.get(key, key):<12}{shown(text)}")
    for run in runs:
        outcome = run.outcome.value if run.outcome else "at work"
        click.echo(f"  {_moment(run.started)}  {outcome:<11}{shown(run.said)}")


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else minute(moment)
