"""The command `silo star-due`: targets, which are searches with stars and a schedule.

A target is a file in ``curation/star-targets``; its last launch is a mark of the queue.
"""

import re
from datetime import UTC, datetime

import click

from example_sibling.steps import carry_out
from recordsilo import Silo
from recordsilo.cli import example, open_silo
from recordsilo.commands.options import directory
from recordsilo.disk.toml_files import TomlFiles
from recordsilo.selection import selection_from
from silowork.due.timetable import Past, is_due, timetable_of_texts
from silowork.queues.values import Message, Queues


@click.command("star-due", epilog=example("silo star-due myrepo"))
@directory
def star_due(silo_dir: str) -> int:
    """Give stars to the records of every target that is due."""
    with open_silo(silo_dir) as silo:
        return carry_out(silo.path, lambda queues: _launch(silo, queues))


def _launch(silo: Silo, queues: Queues) -> None:
    targets = TomlFiles(f"{silo.path}/curation/star-targets", re.compile("[a-z]+"))
    now, at_first = datetime.now(UTC), datetime(2000, 1, 1, tzinfo=UTC)
    for name in targets.names():
        target, launched = targets.load(name), queues.mark(name)
        past = Past(at_first, datetime.fromisoformat(launched) if launched else None)
        if is_due(timetable_of_texts(target["when"]), past, name, now):
            for queue in ("stars-to-check", "stars-to-give"):
                queues.forget(queue, now.timestamp())  # so that the same keys may come again
            records, stars = selection_from(target["select"]), b"%d" % target["stars"]
            some = (Message("stars-to-check", stars, one) for one in records.iterate(silo))
            queues.put(some, mark=(name, now.isoformat()))
