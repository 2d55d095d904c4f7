"""The commands of `silo` that tell of a record's versions: their states."""

import click

from recordsilo.cli import example, open_silo
from recordsilo.manifest import STATES
from recordsilo.options import directory, identifier, why

NO_STATE = "none"


@click.command(epilog=example(
    "silo state myrepo 6102",
    "silo state myrepo 6102 --set ready -m 'checked against the paper'",
    "silo state myrepo 6102 workingcopy --set none",
))  # fmt: skip
@directory
@identifier
@click.argument("version", required=False)
@click.option("--set", "new", type=click.Choice((*STATES, NO_STATE)),
              help="Say this of the version.")  # fmt: skip
@why
def state(
    *, silo_dir: str, item: str, version: str | None, new: str | None, agent: str, message: str
) -> None:
    """Print, or set, the state of a version (default: the current one).

    A clone begins as `in work`; `ready` and `withheld` are for a curator to say, and
    lists, searches and exports go by them. A harvested version may have a state too:
    it says something about the version and changes nothing in it.
    """
    with open_silo(silo_dir) as silo:
        record = silo[silo.resolve(item)]
        name = version or record.currentversion
        if new is None:
            click.echo(record.version_state(name) or NO_STATE)
            return
        wanted = None if new == NO_STATE else new
        record.set_version_state(name, wanted, agent=agent, message=message)
        click.echo(f"{record.item_id}: version {name} is {_said(wanted)}")


def _said(state: str | None) -> str:
    return "without a state" if state is None else state


commands: list[click.Command] = [state]
