"""`silo fleet report`: the state of a fleet in a text that can be mailed each day."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from recordsilo.cli import example, shown
from recordsilo.commands.options import json_object, quiet_option
from recordsilo.wording import counted
from silofleet.commands.group import (
    directory,
    moves_under_way,
    no_clock,
    nodes_awaited,
    opened,
)
from silofleet.fleet import Line
from silofleet.notices import TOLD, advice_for, is_well
from silofleet.values import FILES_STAY, TROUBLED, State

DAY = timedelta(days=1)
MOST = 100
"""Endpoints that a part of the text names."""


@click.command(
    epilog=example("silo fleet report many", "silo fleet report many -q | mail -E -s Fleet me")
)
@directory
@json_object
@quiet_option
def report(directory: str, *, as_json: bool, quiet: bool) -> None:
    """Print a summary of the fleet DIR: what changed since yesterday, what a person has to do,
    and the nodes.

    The exit code is 0 even if endpoints are not well. With --quiet, nothing is printed if nothing
    changed and a person has nothing to do. For messages when something happens, see [notices]
    in silo help fleet.
    """
    now = datetime.now(UTC)
    with opened(directory) as fleet:
        lines = fleet.lines(now)
        runs = Counter(run.endpoint for run in fleet.ledger.ended_since(now - DAY))
        nodes = fleet.nodes_as_json(now)
        moves, clockless = moves_under_way(fleet), no_clock(fleet, now, DAY)
    before = {line.endpoint.name: _before(line, runs[line.endpoint.name]) for line in lines}
    parts = {
        "not_well_since_yesterday": [
            line for line in lines if before[line.endpoint.name] in {"w", ""} and _is_ill(line)
        ],
        "back_since_yesterday": [
            line for line in lines if before[line.endpoint.name] not in {"w", ""} and is_well(line)
        ],
        "to_do": [line for line in lines if line.state in TOLD],
        "files_stay": [line for line in lines if FILES_STAY in line.facts.said],
    }
    counts = Counter(line.state for line in lines)
    if as_json:
        found: dict[str, Any] = {
            "at": now.isoformat(timespec="seconds"),
            "endpoints": len(lines),
            "records": sum(line.facts.records for line in lines),
            "states": {state.value: counts[state] for state in State},
            "runs_since_yesterday": runs.total(),
            **{name: [_json(line, directory) for line in part] for name, part in parts.items()},
            "moves": moves,
            "nodes": nodes,
        }
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    concerns = [*(clockless if lines else ()), *nodes_awaited(lines)]
    lost = any(node["lost"] for node in nodes)
    if quiet and not (lost or moves or concerns or any(parts.values())):
        return
    said = ", ".join(f"{counts[state]:,} {state.value}" for state in TROUBLED if counts[state])
    click.echo(f"The fleet {directory} on {now:%Y-%m-%d %H:%M} UTC\n")
    click.echo(counted(len(lines), "endpoint") + (f": {said}" if said else ""))
    records = sum(line.facts.records for line in lines)
    click.echo(f"{counted(records, 'record')}; runs since yesterday: {runs.total():,}")
    for title, name in (
        ("Not well since yesterday", "not_well_since_yesterday"),
        ("Well again", "back_since_yesterday"),
        ("To be decided by a person", "to_do"),
        ("WARC files that did not get into their object store", "files_stay"),
    ):
        _print(title, parts[name], directory if name == "to_do" else "")
    if moves:
        click.echo("\n" + "\n".join(moves))
    click.echo("\nNodes")
    for node in nodes:
        seen = node["seen"][:16].replace("T", " ")
        state = (
            f"LOST, last seen {seen} UTC" if node["lost"] else f"room for {node['room']:,} records"
        )
        click.echo(f"  {node['node']}: {state}{'' if node['open'] else ', closed for new Silos'}")
    for sentence in concerns:
        click.echo(f"  {sentence}")


def _before(line: Line, runs: int) -> str:
    """The letter of the last outcome before the last runs that says something; or nothing."""
    outcomes = line.facts.outcomes
    return outcomes[: max(0, len(outcomes) - runs)].rstrip("ch")[-1:]


def _is_ill(line: Line) -> bool:
    return line.facts.outcomes.rstrip("ch")[-1:] not in {"w", ""} and line.state is not State.PAUSED


def _json(line: Line, directory: str) -> dict[str, Any]:
    advice = advice_for(line, directory)
    return {
        "name": line.endpoint.name, "url": line.endpoint.url, "state": line.state.value,
        "said": line.facts.said, "advice": advice,
    }  # fmt: skip


def _print(title: str, lines: Sequence[Line], directory: str) -> None:
    if not lines:
        return
    click.echo(f"\n{title}: {len(lines):,}")
    for line in lines[:MOST]:
        click.echo(f"  {line.endpoint.name}  {line.state.value}: {shown(line.facts.said)}")
        if directory and (advice := advice_for(line, directory)):
            click.echo(f"    {advice}")
    if len(lines) > MOST:
        click.echo(f"  and {len(lines) - MOST:,} more; silo fleet status shows them")
