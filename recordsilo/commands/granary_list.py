"""`silo ls` for a directory of Silos."""

import json
import os
from collections.abc import Sequence
from typing import Any

import click

from recordsilo.cli import ExitCode, open_silo, shown
from recordsilo.errors import VERSION_FILE, RecordSiloError
from recordsilo.granary import Granary


def silos_in(directory: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(name, path, description) of the Silos in a directory, by name; empty for a Silo."""
    if os.path.exists(f"{directory}/{VERSION_FILE}") or not os.path.isdir(directory):
        return []
    granary = Granary(directory, create=False)
    return [
        (name, os.path.join(directory, name), granary.description_of(name))
        for name in granary.silos
    ]


def print_silos(silos: Sequence[tuple[str, str, dict[str, Any]]], *, as_json: bool) -> int:
    """Print the Silos, one per line; one whose records cannot be counted is named on stderr."""
    code = ExitCode.OK
    for name, path, description in silos:
        try:
            with open_silo(path) as silo:
                records: int | None = len(silo)
        except (RecordSiloError, OSError) as error:
            records, code = None, ExitCode.LOSSES
            click.echo(f"silo: {path}: {error}", err=True)
        click.echo(
            _as_json(name, records, description) if as_json else _line(name, records, description)
        )
    return code


def _as_json(name: str, records: int | None, description: dict[str, Any]) -> str:
    members = {"name": name, "records": records, "description": description}
    return json.dumps(members, ensure_ascii=False)


def _line(name: str, records: int | None, description: dict[str, Any]) -> str:
    count = "?" if records is None else f"{records:,}"
    title = str(description.get("title") or description.get("description") or "")
    return shown("\t".join((name, count, title)))
