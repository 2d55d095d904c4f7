"""The commands of `silo` for a record's versions: states, history, differences."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import click

from recordsilo.cli import example, open_silo, shown
from recordsilo.commands import completion
from recordsilo.commands.options import (
    directory,
    identifier,
    json_array,
    json_object,
    print_json,
    why,
)
from recordsilo.disk.digest import Digest
from recordsilo.records.differences import Differences, FileDifference
from recordsilo.records.manifest import STATES, Version
from recordsilo.wording import minute

NO_STATE = "none"


@click.command(epilog=example(
    "silo state myrepo 6102",
    "silo state myrepo 6102 --set ready -m 'checked against the paper'",
    "silo state myrepo 6102 workingcopy --set none",
))  # fmt: skip
@directory
@identifier
@click.argument("version", required=False, shell_complete=completion.versions)
@click.option("--set", "new", type=click.Choice((*STATES, NO_STATE)),
              help="Set this status.")  # fmt: skip
@why
def state(
    *, silo_dir: str, item: str, version: str | None, new: str | None, agent: str, message: str
) -> None:
    """Print or set the status of a version (default: the current version).

    A clone begins as `in work`. A curator sets `ready` or `withheld`, and lists, searches
    and exports can filter by them. A harvested version may have a status too, because it
    does not change the version.
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
    return "without a status" if state is None else state


# -- history ----------------------------------------------------------------------------


@click.command(epilog=example("silo log myrepo 6102", "silo log myrepo 6102 --json"))
@directory
@identifier
@json_array
def log(*, silo_dir: str, item: str, as_json: bool) -> None:
    """Print the history of a record, oldest version first."""
    with open_silo(silo_dir) as silo:
        versions = silo[silo.resolve(item)].state.versions
    if as_json:
        history = [version_as_json(version) for version in versions]
        print_json(history)
        return
    for version in versions:
        for line in _history(version):
            click.echo(shown(line))


def version_as_json(version: Version) -> dict[str, Any]:
    """A version as JSON output shows it, without its files."""
    origin = version.origin
    return {
        "name": version.name,
        "date": version.date,
        "state": version.state,
        "origin": {
            "kind": origin.kind,
            "of": origin.of,
            "prefixes": dict(origin.prefixes),
            "agent": origin.agent,
            "message": origin.message,
            "date": origin.date,
        },
        "log": list(version.log),
    }


def version_line(version: Version) -> str:
    """A version in one line: name, date, origin, state."""
    origin = version.origin
    of = f" of {origin.of}" if origin.of else ""
    by = f" by {origin.agent}" if origin.agent else ""
    state = f"  [{version.state}]" if version.state else ""
    return f"version {version.name}  {version.date}  {origin.kind}{of}{by}{state}"


def _history(version: Version) -> Iterator[str]:
    yield version_line(version)
    made = f"made here {minute(version.origin.date)}" if version.origin.date else ""
    message = f"“{version.origin.message}”" if version.origin.message else ""
    if made or message:
        yield "  " + "  ".join(part for part in (made, message) if part)
    yield from (f"  {line}" for line in version.log)


# -- differences ------------------------------------------------------------------------


class DiffExit(IntEnum):
    """The exit codes of `silo diff`, which are those of diff(1)."""

    EQUAL = 0
    DIFFERENT = 1


@click.command(epilog=example(
    "silo diff myrepo 6102 1 workingcopy",
    "silo diff myrepo 6102 1 2 --json",
))  # fmt: skip
@directory
@identifier
@click.argument("before", metavar="V1", shell_complete=completion.versions)
@click.argument("after", metavar="V2", shell_complete=completion.versions)
@json_object
def diff(*, silo_dir: str, item: str, before: str, after: str, as_json: bool) -> int:
    """Compare two versions of a record on disk.

    Files are compared by digest. For changed text and XML files, the lines that differ are
    shown. XML is compared in canonical form, so the order of attributes and the white
    space between elements do not count. For files of more than 1 MiB or 20,000 lines, only
    sizes and digests are shown.

    \b
    Exit codes:
          0  the versions are equal
          1  they differ
          2  wrong input, or a file is missing on disk
    """
    with open_silo(silo_dir) as silo:
        record = silo[silo.resolve(item)]
        found = record.differences(before, after)
        if as_json:
            print_json(_as_json(record.item_id, found))
        else:
            for one in found.files:
                for line in _lines(one):
                    click.echo(shown(line))
    return DiffExit.DIFFERENT if found else DiffExit.EQUAL


def _as_json(identifier: str, found: Differences) -> dict[str, Any]:
    return {
        "identifier": identifier,
        "before": found.before,
        "after": found.after,
        "files": [
            {
                "path": one.path,
                "change": one.change,
                "before": _digest_as_json(one.before),
                "after": _digest_as_json(one.after),
                "form": one.form,
                "lines": list(one.lines),
            }
            for one in found.files
        ],
    }


def _digest_as_json(digest: Digest | None) -> dict[str, Any] | None:
    return None if digest is None else {"sha256": digest.sha256, "size": digest.size}


def _lines(one: FileDifference) -> Iterator[str]:
    sizes = " → ".join(f"{d.size:,}" for d in (one.before, one.after) if d)
    form = f"  ({one.form})" if one.form else ""
    yield f"{one.change:<8} {one.path}  {sizes} bytes{form}"
    if one.form == "xml" and not one.lines:
        yield "  the same XML, written differently"
    if one.form not in ("xml", "text"):
        for digest in filter(None, (one.before, one.after)):
            yield f"  sha256 {digest.sha256}"
    yield from (f"  {line}" for line in one.lines)
