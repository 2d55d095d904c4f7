"""`silo info`: what a Silo holds, at a glance."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from recordsilo.cli import ExitCode, example, open_silo, shown
from recordsilo.commands.granary_list import silos_in
from recordsilo.commands.options import as_json_text, directory, json_option, print_json
from recordsilo.errors import RecordSiloError
from recordsilo.facts import Fact, facts_of
from recordsilo.overview import Overview, Size, overview, size_on_disk, size_text
from recordsilo.silo import Silo

_ERROR = "error"


@click.command(epilog=example("silo info myrepo", "silo info myrepo --json", "silo info silos"))
@directory
@click.option(
    "--size", "measure", is_flag=True,
    help="Measure the size on disk also of more than 10,000 records, file by file.",
)  # fmt: skip
@json_option("a JSON object; of a directory of Silos, JSON lines")
def info(*, silo_dir: str, measure: bool, as_json: bool) -> int:
    """Show what the Silo DIR holds, or a line for each Silo of the directory DIR.

    Records, versions, formats, sets, findings, size, and what packages know, such as the last
    harvests and the usage. The numbers come from the index.
    """
    if silos := silos_in(silo_dir):
        return _lines(silos, measure=measure, as_json=as_json)
    with open_silo(silo_dir) as silo:
        found, size = overview(silo), _size(silo, measure=measure)
        facts = facts_of(silo)
    if as_json:
        print_json(_as_json(found, size, facts))
    else:
        _show(found, size, facts)
    return _code(facts)


def _size(silo: Silo, *, measure: bool) -> Size:
    return size_on_disk(silo, len(silo), whole=measure)


def _show(found: Overview, size: Size, facts: Mapping[str, Fact]) -> None:
    for heading in (found.repository, found.address):
        if heading:
            click.echo(shown(heading))
    rows = [*found.lines(), ("size", size_text(size, found.records))]
    for name, fact in facts.items():
        rows += [(name if number == 0 else "", line) for number, line in enumerate(fact.lines)]
    for name, text in rows:
        click.echo(shown(f"{name:<10}  {text}"))


def _as_json(found: Overview, size: Size, facts: Mapping[str, Fact]) -> dict[str, Any]:
    measured = {"bytes": size.whole, "index": size.index, "responses": size.responses}
    return {
        **found.to_json(),
        "size": measured,
        **{name: dict(fact.data) for name, fact in facts.items()},
    }


def _lines(
    silos: Sequence[tuple[str, str, dict[str, Any]]], *, measure: bool, as_json: bool
) -> int:
    """Print a line for each Silo; one that cannot be read is named on stderr."""
    code = ExitCode.OK
    for name, path, _ in silos:
        try:
            with open_silo(path) as silo:
                found, facts = overview(silo), facts_of(silo)
                size = _size(silo, measure=measure) if as_json else None
        except (RecordSiloError, OSError) as error:
            code = ExitCode.LOSSES
            click.echo(f"silo: {path}: {error}", err=True)
            click.echo(
                as_json_text({"name": name, _ERROR: str(error)}) if as_json else f"{name}\t?"
            )
            continue
        code = max(code, _code(facts))
        if size is not None:
            click.echo(as_json_text({"name": name, **_as_json(found, size, facts)}))
        else:
            said = [fact.brief for fact in facts.values() if fact.brief]
            curated = [f"{found.curated:,} curated"] if found.curated else []
            rest = "; ".join([*curated, *said])
            click.echo(shown(f"{name}\t{found.records:,}\t{rest}\t{found.repository}"))
    return code


def _code(facts: Mapping[str, Fact]) -> ExitCode:
    return ExitCode.LOSSES if any(_ERROR in one.data for one in facts.values()) else ExitCode.OK
