"""`silo usage try`: what becomes of a log line."""

import json
import os
import sys
from datetime import datetime

import click

from recordsilo.cli import example, fail
from recordsilo.commands.options import directory, json_lines
from usagestats.commands.group import opened
from usagestats.lines.readers import FORMATS, detected, reader_of
from usagestats.rules.classify import Classified, Rules, classify
from usagestats.rules.of_silo import rules_of
from usagestats.rules.settings import PROFILES
from usagestats.values import Fate, Use

log_format = click.option(
    "--format", "log_format", type=click.Choice(FORMATS),
    help="Format of the log (default: that in usage.toml, else detected).",
)  # fmt: skip
profile = click.option(
    "--profile", type=click.Choice(PROFILES),
    help="Software of the repository, which decides what an address means.",
)  # fmt: skip


@click.command("try", epilog=example("silo usage try myrepo - < access.log"))
@directory
@click.argument("line")
@log_format
@profile
@json_lines
def try_line(
    silo_dir: str, line: str, log_format: str | None, profile: str | None, *, as_json: bool
) -> int:
    """Show what becomes of a log LINE (- reads lines from standard input); nothing is stored."""
    data = sys.stdin.buffer.read() if line == "-" else os.fsencode(line)
    lines = data.removesuffix(b"\n").split(b"\n")
    with opened(silo_dir) as silo:
        rules, records = rules_of(silo, profile or "", remember=False)
        spec = log_format or rules.settings.format
        reader = reader_of(spec) if spec else detected(lines[:100])
        if reader is None:
            fail("this line is of no known format; name one with --format, or see silo help usage")
        unreadable = False
        for one in lines:
            found = classify(one, reader, rules)
            unreadable |= found.fate is Fate.UNREADABLE
            use = rules.patterns.use(found.hit.path) if found.hit is not None else None
            held = use is not None and use.item not in records.not_held
            known = _known(found, use, rules, held=held)
            if as_json:
                click.echo(json.dumps(known))
            else:
                click.echo("\n".join(f"{name:<10}{value}" for name, value in known.items()))
    return 1 if unreadable else 0


def _known(found: Classified, use: Use | None, rules: Rules, *, held: bool) -> dict[str, str]:
    """Return what to print; a request that is not counted has its record and kind all the same."""
    known = {"result": "robot" if found.fate is Fate.BOT else str(found.fate)}
    if found.reason:
        known["because"] = found.reason
        if found.fate is Fate.BOT and found.hit is not None:
            known["because"] += f" ({rules.robots.why(found.hit.agent)})"
    if found.hit is not None:
        moment = datetime.fromtimestamp(found.hit.moment, rules.settings.zone)
        known |= {"path": found.hit.path, "day": f"{moment:%Y-%m-%d}"}
    if use is not None:
        note = "" if held else " (not in this Silo)"
        known |= {"kind": str(use.kind), "record": use.item + note}
        if use.file:
            known["file"] = use.file
    return known
