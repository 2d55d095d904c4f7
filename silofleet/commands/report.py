"""`silo fleet report`: the state of a fleet in a text that can be mailed each day."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from recordsilo.cli import example, shown
from recordsilo.commands.options import json_object, print_json, quiet_option
from recordsilo.wording import counted, minute
from silofleet.commands.group import (
    directory,
    moves_under_way,
    no_clock,
    nodes_awaited,
    opened,
)
from silofleet.fleet import EndpointLine
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
    summary = _summary(directory)
    if as_json:
        print_json(summary.to_json())
    elif not quiet or summary.has_news:
        summary.show()


@dataclass(frozen=True, slots=True)
class _Summary:
    """What is said of a fleet.

    Attributes:
        runs: Endpoint → number of its runs since yesterday.
        parts: `_PARTS` → the endpoints of this part.
        moves: Moves under way, as sentences.
        concerns: Sentences on nodes that are awaited, and on a clock that is not at work.
    """

    directory: str
    now: datetime
    lines: Sequence[EndpointLine]
    runs: Mapping[str, int]
    parts: Mapping[str, Sequence[EndpointLine]]
    moves: Sequence[str]
    nodes: Sequence[Mapping[str, Any]]
    concerns: Sequence[str]

    @property
    def counts(self) -> Counter[State]:
        return Counter(line.state for line in self.lines)

    @property
    def records(self) -> int:
        return sum(line.facts.records for line in self.lines)

    @property
    def has_news(self) -> bool:
        lost = any(node["lost"] for node in self.nodes)
        return bool(lost or self.moves or self.concerns or any(self.parts.values()))

    def to_json(self) -> dict[str, Any]:
        counts = self.counts
        return {
            "at": self.now.isoformat(timespec="seconds"),
            "endpoints": len(self.lines),
            "records": self.records,
            "states": {state.value: counts[state] for state in State},
            "runs_since_yesterday": sum(self.runs.values()),
            **{
                name: [_json(line, self.directory) for line in part]
                for name, part in self.parts.items()
            },
            "moves": self.moves,
            "nodes": self.nodes,
        }

    def show(self) -> None:
        counts = self.counts
        said = ", ".join(f"{counts[state]:,} {state.value}" for state in TROUBLED if counts[state])
        click.echo(f"The fleet {self.directory} on {minute(self.now)}\n")
        click.echo(counted(len(self.lines), "endpoint") + (f": {said}" if said else ""))
        runs = sum(self.runs.values())
        click.echo(f"{counted(self.records, 'record')}; runs since yesterday: {runs:,}")
        for name, title in _PARTS.items():
            _print(title, self.parts[name], self.directory if name == "to_do" else "")
        if self.moves:
            click.echo("\n" + "\n".join(self.moves))
        click.echo("\nNodes")
        for node in self.nodes:
            click.echo(f"  {_of_node(node)}")
        for sentence in self.concerns:
            click.echo(f"  {sentence}")


_PARTS = {
    "not_well_since_yesterday": "Not well since yesterday",
    "back_since_yesterday": "Well again",
    "to_do": "To be decided by a person",
    "files_stay": "WARC files that did not get into their object store",
}


def _summary(directory: str) -> _Summary:
    now = datetime.now(UTC)
    with opened(directory) as fleet:
        lines = fleet.lines(now)
        runs = Counter(run.endpoint for run in fleet.ledger.ended_since(now - DAY))
        nodes = fleet.nodes_as_json(now)
        moves, clockless = moves_under_way(fleet), no_clock(fleet, now, DAY)
    was_well = {
        line.endpoint.name: _before(line, runs[line.endpoint.name]) in {"w", ""} for line in lines
    }
    is_in = {
        "not_well_since_yesterday": lambda line: was_well[line.endpoint.name] and _is_ill(line),
        "back_since_yesterday": lambda line: not was_well[line.endpoint.name] and is_well(line),
        "to_do": lambda line: line.state in TOLD,
        "files_stay": lambda line: FILES_STAY in line.facts.said,
    }
    parts = {name: [line for line in lines if is_in[name](line)] for name in _PARTS}
    concerns = [*(clockless if lines else ()), *nodes_awaited(lines)]
    return _Summary(directory, now, lines, runs, parts, moves, nodes, concerns)


def _of_node(node: Mapping[str, Any]) -> str:
    state = (
        f"LOST, last seen {minute(node['seen'])}"
        if node["lost"]
        else f"room for {node['room']:,} records"
    )
    return f"{node['node']}: {state}{'' if node['open'] else ', closed for new Silos'}"


def _before(line: EndpointLine, runs: int) -> str:
    """The letter of the last outcome before the last runs that says something; or nothing."""
    outcomes = line.facts.outcomes
    return outcomes[: max(0, len(outcomes) - runs)].rstrip("ch")[-1:]


def _is_ill(line: EndpointLine) -> bool:
    return line.facts.outcomes.rstrip("ch")[-1:] not in {"w", ""} and line.state is not State.PAUSED


def _json(line: EndpointLine, directory: str) -> dict[str, Any]:
    advice = advice_for(line, directory)
    return {
        "name": line.endpoint.name, "url": line.endpoint.url, "state": line.state.value,
        "said": line.facts.said, "advice": advice,
    }  # fmt: skip


def _print(title: str, lines: Sequence[EndpointLine], directory: str) -> None:
    if not lines:
        return
    click.echo(f"\n{title}: {len(lines):,}")
    for line in lines[:MOST]:
        click.echo(f"  {line.endpoint.name}  {line.state.value}: {shown(line.facts.said)}")
        if directory and (advice := advice_for(line, directory)):
            click.echo(f"    {advice}")
    if len(lines) > MOST:
        click.echo(f"  and {len(lines) - MOST:,} more; silo fleet status shows them")
