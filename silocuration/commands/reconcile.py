"""The commands `silo reconcile …`: identifiers for the values of a field."""

import getpass
import shlex
from typing import BinaryIO

import click

from recordsilo import Silo
from recordsilo.cli import Group, example, fail, open_silo
from recordsilo.commands.options import (
    all_of,
    directory,
    json_array,
    print_json,
    selecting,
    tell_none,
)
from recordsilo.progress import counting
from recordsilo.selection import Selection
from silocuration.authorities import FIELDS, read_authorities
from silocuration.commands.errors import sentences
from silocuration.reconciling.added_places import (
    PlaceDescription,
    add_place,
    change_place,
    described,
    probe,
    remove_place,
)
from silocuration.reconciling.asking import ask, checked_field, values_in
from silocuration.reconciling.lists import MOST_BYTES
from silocuration.reconciling.places import FILE, ReconciliationPlace, read_places
from silocuration.reconciling.store import OPEN, Reconciled, Reconciliation

_field = click.argument("field", type=click.Choice([*FIELDS]))
_place = click.argument("place")


@click.group(cls=Group)
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
    if not rows:
        tell_none("services or lists", "silo reconcile add DIR adds one", silo_dir)
    for row in rows:
        click.echo(f"{row['name']:<20} {row['at']}")


_about_place = all_of(
    click.option("--url", default="", help="The address of a service."),
    click.option("--list", "file", type=click.File("rb"),
                 help="A CSV file with the columns id and name, which is copied."),
    click.option("--title", default="", help="Its name on the page."),
    click.option("--type", "kind", default="", help="Only entities of this type."),
    click.option("--field", "fields", multiple=True, type=click.Choice([*FIELDS]),
                 help="What it is for; repeatable. All by default."),
    click.option("--unasked", is_flag=True, help="Do not ask the service what it is."),
)  # fmt: skip
"""The options that say what a service or list is."""


@reconcile.command("add", epilog=example(
    "silo reconcile add myrepo places --url https://reconcile.example.org/ --field publisher",
    "silo reconcile add myrepo staff --list staff.csv --field creator",
))  # fmt: skip
@directory
@_place
@_about_place
def add(
    *, silo_dir: str, place: str, url: str, file: BinaryIO | None, title: str, kind: str,
    fields: tuple[str, ...], unasked: bool,
) -> None:  # fmt: skip
    """Add a service, which is asked what it is first, or a list.

    A service has a public address, unless curation/reconciliation.toml says private = true
    in its table [added].
    """
    said = {"url": url, "title": title, "type": kind, "fields": [*fields]}
    content = file.read(MOST_BYTES + 1) if file else None
    with sentences(), open_silo(silo_dir) as silo:
        if url and not file and not unasked:
            click.echo(_told(described(silo.path, place, said)))
        add_place(silo.path, place, said, content)
    click.echo(f"{place} added; silo reconcile ask asks it for the values of a field")


@reconcile.command("change", epilog=example(
    'silo reconcile change myrepo places --title Institutions',
    "silo reconcile change myrepo staff --list staff-2027.csv",
))  # fmt: skip
@directory
@_place
@_about_place
def change(
    *, silo_dir: str, place: str, url: str, file: BinaryIO | None, title: str, kind: str,
    fields: tuple[str, ...], unasked: bool,
) -> None:  # fmt: skip
    """Change a service or list that was added; what is not given stays.

    Those of curation/reconciliation.toml are changed in that file.
    """
    content = file.read(MOST_BYTES + 1) if file else None
    with sentences(), open_silo(silo_dir) as silo:
        old = _added(silo, place)
        said = {
            "url": url or old.url,
            "title": title or old.title,
            "type": kind or old.type,
            "fields": [*fields] or [*old.fields],
        }
        if url and not unasked:
            click.echo(_told(described(silo.path, place, said)))
        change_place(silo.path, place, said, content)
    click.echo(f"{place} changed")


@reconcile.command("remove", epilog=example("silo reconcile remove myrepo staff"))
@directory
@_place
def remove(*, silo_dir: str, place: str) -> None:
    """Remove a service or list that was added, and the copy of the list.

    What was decided with it stays, and so do the identifiers.
    """
    with sentences(), open_silo(silo_dir) as silo:
        _added(silo, place)
        remove_place(silo.path, place)
    click.echo(f"{place} removed")


@reconcile.command("test", epilog=example("silo reconcile test myrepo staff"))
@directory
@_place
def test(*, silo_dir: str, place: str) -> None:
    """Ask a service what it is, or count the names of a list."""
    with sentences(), open_silo(silo_dir) as silo:
        found = probe(read_places(silo.path).place(place), silo.path)
    click.echo(_told(found))


def _added(silo: Silo, name: str) -> ReconciliationPlace:
    found = read_places(silo.path).place(name)
    if not found.is_added:
        fail(f"{name} is in {FILE}; change it there")
    return found


def _told(found: PlaceDescription) -> str:
    if found.entities is not None:
        return f"the list has {found.entities:,} name{'s' * (found.entities != 1)}"
    told = [f"the service answers as {found.name!r}"]
    if found.types:
        told.append(f"types: {', '.join(found.types)}")
    if found.space:
        told.append(f"identifiers: {found.space}")
    return "; ".join(told)


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
    if not some:
        ask_it = shlex.join(["silo", "reconcile", "ask", silo_dir, place, field])
        tell_none("values to decide about", f"{ask_it} asks for those that are new")
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
    if not any(one.asked for one in known.values()):
        ask_it = shlex.join(["silo", "reconcile", "ask", silo_dir, place, field])
        tell_none("values that were asked for", f"{ask_it} asks for them")
        return
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
    if not found:
        way = "silo reconcile accept gives some (silo help reconciliation)"
        tell_none(f"values of {field} that have an identifier", way)
    for one in found:
        click.echo(f"{one.value}\t{one.link or one.id}\t{one.name}")
