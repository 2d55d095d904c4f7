"""The group `silo usage`: its commands with their summaries; a command is loaded when called."""

import click

from recordsilo.cli import Commands
from recordsilo.command_table import Sections

SECTIONS: Sections = {
    "Count": {
        "import": "import access logs, and count the uses in them",
        "try": "show what becomes of a log line",
        "follow": "count the lines of a log as it grows",
        "work": "count log lines from a queue",
    },
    "Look": {
        "totals": "print the figures of all records together",
        "top": "list what was used most",
        "show": "show how a record or an entity was used",
        "same": "count entities that are the same as one",
        "report": "print a COUNTER report",
    },
    "Send": {
        "push": "send uses to a gatherer such as IRUS",
        "redis": "write the counts into Redis, as in 2010",
        "visitors": "keep a profile of each visitor, from Kafka",
    },
    "Privacy": {
        "freeze": "destroy the keys and events of old days",
        "forget": "remove the uses of an address",
    },
}


@click.group(cls=Commands, sections=SECTIONS)
def usage() -> None:
    """Count how the records are used, from the access logs of a web server.

    A LOG is a file of Apache, nginx or IIS, plain or compressed, or - for standard input.
    """
