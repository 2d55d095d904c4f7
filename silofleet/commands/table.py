"""The group `silo fleet`: its commands with their summaries; a command is loaded when called."""

import click

from recordsilo.cli import Commands
from recordsilo.command_table import Sections

SECTIONS: Sections = {
    "Set up": {
        "init": "make a directory a fleet",
        "add": "add repositories: one, or all of a list",
        "remove": "remove endpoints; their Silos stay",
        "pause": "start no runs of endpoints",
        "readdress": "give an endpoint another address",
    },
    "Harvest": {
        "run": "run what is due, until Ctrl-C",
        "run-now": "run endpoints next",
        "worker": "harvest for a fleet on this machine",
    },
    "Look": {
        "status": "list the endpoints, those in trouble first",
        "show": "show all that is known of one endpoint",
        "report": "what changed since yesterday, and what is to do",
        "probe": "ask endpoints whether they answer",
    },
    "Decide": {
        "accept": "accept that endpoints list fewer records",
        "quarantine": "ask endpoints only once a month",
    },
    "Search all Silos": {
        "search": "find records in all Silos",
        "index": "update the search index of all Silos",
        "token": "let other nodes search the Silos here",
    },
    "Several machines, and disks": {
        "nodes": "list the nodes and the room on their disks",
        "move": "move a Silo to another node",
        "archive": "move WARC files into an object store",
        "receipts": "print the harvests of Silos, for a rebuild",
        "rebuild": "rebuild the state from Silos and receipts",
    },
}


@click.group(cls=Commands, sections=SECTIONS)
def fleet() -> None:
    """Harvest many repositories again and again, each into its own Silo, and search them all.

    DIR is a directory of Silos.
    """
