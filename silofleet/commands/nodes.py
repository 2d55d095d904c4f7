"""`silo fleet nodes` and `probe`: the machines of a fleet, and whether its repositories answer."""

from collections import Counter
from concurrent.futures import wait
from datetime import UTC, datetime

import click

from recordsilo.cli import ExitCode, example, fail, shown
from recordsilo.commands.options import json_array, print_json, tell_none
from recordsilo.wording import counted, minute
from silofleet import moving
from silofleet.commands.group import (
    broker_option,
    contact_option,
    directory,
    endpoint_names,
    no_clock,
    nodes_awaited,
    opened,
)
from silofleet.fleet import LOCAL
from silofleet.probing import answers_to, orders_of

SECONDS_BETWEEN_LOOKS = 1.0
"""A signal that comes just before a wait does not end it; it is handled after this time."""


@click.command(epilog=example("silo fleet nodes many", "silo fleet nodes many --close n2"))
@directory
@click.option("--close", "closed", metavar="NAME", help="Place no new Silos on this node.")
@click.option("--open", "opened_", metavar="NAME", help="Place new Silos on this node again.")
@click.option("--forget", metavar="NAME", help="Forget a node that will not come back.")
@json_array
def nodes(
    directory: str, closed: str | None, opened_: str | None, forget: str | None, *, as_json: bool
) -> None:
    """List the nodes of the fleet DIR, with the room on their disks; or change one.

    A closed node goes on with the Silos that it has.
    """
    named = [one for one in (closed, opened_, forget) if one is not None]
    if len(named) > 1:
        fail("change one node at a time")
    with opened(directory) as fleet:
        now = datetime.now(UTC)
        lost, clockless = fleet.lost_nodes(now), no_clock(fleet, now)
        lines = fleet.lines(now)
        placed = Counter(line.node for line in lines)
        known = fleet.ledger.nodes()
        if named and named[0] not in {one.name for one in known}:
            fail(f"the fleet has no node {named[0]!r}; silo fleet nodes {directory} lists them")
        if forget is not None:
            if clockless and forget != LOCAL and forget not in lost:
                fail(f"whether the node {forget} reports is not known. {clockless[0]}")
            _check_gone(forget, placed[forget], is_lost=forget in lost)
            fleet.ledger.change_node(forget, gone=True)
        elif named:
            fleet.ledger.change_node(named[0], is_open=opened_ is not None)
        found = [node | {"endpoints": placed[node["node"]]} for node in fleet.nodes_as_json(now)]
        awaited = nodes_awaited(lines)
    if as_json:
        print_json(found)
        return
    if not found:
        tell_none("nodes have reported", "silo fleet run and silo fleet worker start some")
    for node in found:
        state = "lost" if node["lost"] else "open" if node["open"] else "closed"
        click.echo(
            f"{node['node']}  {state}  {counted(node['endpoints'], 'endpoint')}, "
            f"room for {counted(node['room'], 'record')}, slots: {node['slots']}, "
            f"seen {minute(node['seen'])}"
        )
    for sentence in (*(clockless if found else ()), *awaited):
        click.echo(sentence)


def _check_gone(name: str, placed: int, *, is_lost: bool) -> None:
    if name != LOCAL and not is_lost:
        fail(f"the node {name} reports; end its worker, and try again in two minutes")
    if placed:
        fail(
            f"the node {name} has {counted(placed, 'endpoint')}, which would wait for ever;"
            " move them to another node, or remove them, before"
        )


@click.command(epilog=example("silo fleet move many oxford --to n2"))
@directory
@click.argument("name", shell_complete=endpoint_names)
@click.option("--to", "target", required=True, metavar="NODE", help="The node that gets the Silo.")
def move(directory: str, name: str, target: str) -> None:
    """Move the Silo of the endpoint NAME of the fleet DIR to another node.

    Meanwhile the endpoint is not harvested. After a kill, the same command continues. The old
    Silo is kept under another name. endpoints.toml says where the Silos of a node are:
    [nodes.NODE] granary = "host:/path", or a path of this machine. Other machines are reached by
    ssh and rsync; between two of them, the Silo goes straight from one to the other.
    """
    with opened(directory) as fleet:
        kept = moving.move(fleet, name, target, lambda said: click.echo(shown(said), err=True))
    where = f"; the old Silo is {kept}, delete it when you have seen the new one" if kept else ""
    click.echo(f"{name}: moved to {target}{where}")


@click.command(epilog=example("silo fleet probe many", "silo fleet probe many oxford"))
@directory
@click.argument("names", metavar="[NAME]…", nargs=-1, shell_complete=endpoint_names)
@contact_option
@broker_option
def probe(directory: str, names: tuple[str, ...], contact: str | None, broker: str) -> int:
    """Ask the endpoints NAME of the fleet DIR, or all, whether they answer (Identify).

    Nothing is changed or stored. The exit code is 1 if one fails: it does not answer, or not
    with OAI-PMH. A fleet that runs with a broker shares the pace of hosts there; name it here,
    too.
    """
    with opened(directory) as fleet:
        wishes, now = fleet.wishes, datetime.now(UTC)
        found = [fleet.name_of(name) for name in names] or list(wishes.endpoints)
        holds = {host: until for host, until in fleet.ledger.holds().items() if until > now}
        orders = orders_of(fleet, map(wishes.endpoints.__getitem__, found), contact, broker)
    silent, width = 0, min(40, max(map(len, found), default=0))
    for order, future in zip(orders, answers_to(orders, holds), strict=True):
        while not future.done():
            wait([future], SECONDS_BETWEEN_LOOKS)
        answers, said = future.result()
        state = "answers" if answers else "fails  "
        click.echo(f"{order.endpoint:<{width}}  {state}  {shown(said)}")
        silent += not answers
    return ExitCode.LOSSES if silent else ExitCode.OK
