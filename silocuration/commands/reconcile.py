"""The commands `silo reconcile …`: identifiers for the values of a field."""

import getpass
import shlex

import click

from recordsilo.cli import example, fail, open_silo
from recordsilo.commands.options import directory, json_array, print_json, selecting
from recordsilo.progress import counting
from recordsilo.selection import Selection
from silocuration.authorities import FIELDS, read_authorities
from silocuration.commands.errors import sentences
from silocuration.reconciling.asking import ask, checked_field, values_in
from silocuration.reconciling.places import read_places
from silocuration.reconciling.store import OPEN, Reconciled, Reconciliation

_field = click.argument("field", type=click.Choice([*FIELDS]))
_place = click.argument("place")


@click.group()
def reconcile() -> None:
    """Find out what names mean, and give them identifiers (silo help reconciliation)."""


@reconcile.command("places", epilog=example("silo reconcile places myrepo"))
@directory
@json_array
def places(*, silo_dir: str, as_json: bool) -> None:
    """List the services and lists that values can be reconciled against."""
    with sentences():
        found = read_places(silo_dir).places.values()
    rows = [{"name": one.name, "title": one.title, "at": one.url or one.list} for one in found]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"{row['name']:<20} {row['at']}")
    if not rows:
        click.echo("none; silo help reconciliation says how to add one")


@reconcile.command("ask", epilog=example(
    "silo reconcile ask myrepo staff creator",
    "silo reconcile ask myrepo staff creator --search wind",
))  # fmt: skip
@directory
@_place
@_field
@selecting
@click.option(
    "--again",
    is_flag=True,
    help="Ask also for values that are not decided yet, as of a list that has grown.",
)
def ask_command(*, silo_dir: str, place: str, field: str, select: Selection, again: bool) -> None:
    """Ask a service or list about all values of a field that were not asked for before.

    By default, those of all records.
    """
    with sentences(), open_silo(silo_dir) as silo, counting("values asked for") as progress:
        found = read_places(silo.path).place(place)
        counts = values_in(silo, checked_field(field), select)
        values = sorted(counts, key=lambda one: (-counts[one], one))
        done = ask(
            found,
            silo.path,
            field,
            values,
            progress=lambda done, _total: progress(done),
            again=again,
        )
    click.echo(f"{done:,} values asked for, {len(values) - done:,} known")


@reconcile.command("show", epilog=example("silo reconcile show myrepo staff creator --json"))
@directory
@_place
@_field
@json_array
def show(*, silo_dir: str, place: str, field: str, as_json: bool) -> None:
    """Print what was asked for and is not decided, with the best candidate."""
    with sentences(), open_silo(silo_dir) as silo:
        found = read_places(silo.path).place(place)
        known = Reconciliation(silo.path, found.name, field).read().values()
    some = [one for one in known if one.decision == OPEN and one.asked]
    if as_json:
        print_json([_as_json(one) for one in some])
        return
    for one in some:
        best = one.candidates[0] if one.candidates else None
        said = f"{best.score:>5g}  {best.id}  {best.name}" if best else "no candidates"
        click.echo(f"{one.value}\t{said}")


def _as_json(one: Reconciled) -> dict[str, object]:
    return {
        "value": one.value,
        "candidates": [
            {"id": each.id, "name": each.name, "score": each.score} for each in one.candidates
        ],
    }


@reconcile.command("accept", epilog=example(
    "silo reconcile accept myrepo staff creator --score 95 --distance 10",
    'silo reconcile accept myrepo staff creator --value "Swan, A." --id 0000-0002-1825-0097',
))  # fmt: skip
@directory
@_place
@_field
@click.option("--value", help="Only this value.")
@click.option("--id", "key", help="The candidate to accept for --value.")
@click.option("--score", default=90.0, show_default=True, help="Least score.")
@click.option("--distance", default=10.0, show_default=True, help="Least distance to the next one.")
def accept(
    *, silo_dir: str, place: str, field: str, value: str | None, key: str | None,
    score: float, distance: float,
) -> None:  # fmt: skip
    """Accept the best candidates where they are clear, or one candidate."""
    if (value is None) != (key is None):
        fail("--value and --id go together")
    with sentences(), open_silo(silo_dir) as silo:
        store = Reconciliation(silo.path, read_places(silo.path).place(place).name, field)
        known = store.read()
        if value is not None:
            candidates = known.get(value, Reconciled(value)).candidates
            meant = [one for one in candidates if one.id == key]
            chosen = {value: meant[0]} if meant else {}
            if not chosen:
                fail(f"{value!r} has no candidate {key!r}; silo reconcile show lists them")
        else:
            chosen = {
                one.value: best
                for one in known.values()
                if one.decision == OPEN and (best := one.clear(score, distance))
            }
        batch = store.accept(chosen, getpass.getuser())
    if not chosen:
        click.echo("nothing is so clear; nothing was accepted")
        return
    undo_it = shlex.join(["silo", "reconcile", "undo", silo_dir, place, field, batch])
    click.echo(f"{len(chosen):,} accepted; {undo_it}")


@reconcile.command("undo", epilog=example("silo reconcile undo myrepo staff creator 5f0c…"))
@directory
@_place
@_field
@click.argument("batch")
def undo(*, silo_dir: str, place: str, field: str, batch: str) -> None:
    """Take back decisions that were made together."""
    with sentences(), open_silo(silo_dir) as silo:
        store = Reconciliation(silo.path, read_places(silo.path).place(place).name, field)
        number = store.undo(batch, getpass.getuser())
    if not number:
        fail(f"no decision that stands was made in {batch}")
    click.echo(f"{number:,} taken back")


@reconcile.command("identifiers", epilog=example("silo reconcile identifiers myrepo creator"))
@directory
@_field
@json_array
def identifiers(*, silo_dir: str, field: str, as_json: bool) -> None:
    """Print the values of a field that have an identifier."""
    with sentences(), open_silo(silo_dir) as silo:
        found = read_authorities(silo.path, field).values()
    if as_json:
        print_json([{"value": one.value, "id": one.id, "name": one.name} for one in found])
        return
    for one in found:
        click.echo(f"{one.value}\t{one.link or one.id}\t{one.name}")
