"""What an installed `silo` must do: run by the Python of a clean environment, as a user would.

    cd /tmp/elsewhere && VENV/bin/python smoke.py 1.0.0

Only the installed packages are imported. It prints a line for each check, and ends with 1 at the
first that fails.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import click

import recordsilo
from recordsilo.cli import silo_command
from recordsilo.contributions import points

SILO = os.path.join(os.path.dirname(sys.executable), "silo")
VERSION = sys.argv[1] if len(sys.argv) > 1 else ""
WRONG = [
    "silo ls nowhere",
    "silo show sample 99",
    "silo harvest not-an-address d",
    "silo harvst http://127.0.0.1:9/oai d",
    "silo export csv sample --field nonsense",
    "silo search sample x --filter titel=x",
    "silo put sample 3002 missing.txt",
    "silo help nonsense",
]
"""Wrong input: each is refused with 2 and a sentence."""
SESSION = [
    ('silo search sample "pollinator networks" -n 1', "found, 1 shown"),
    ("silo ls sample --filter year=2016", "oai:eprints.example.org:"),
    ("silo show sample 3002", "harvest"),
    ("silo clone sample 3002 -m test", "workingcopy"),
    ("echo CC-BY | silo put sample 3002 - --as licence.txt", "licence.txt"),
    ("silo export files sample out --search pollinator", "created"),
    ("silo export csv sample out.csv", ""),
    ("silo export ocfl sample root --search pollinator", "created"),
    ("silo check sample", ""),
    ("silo help search", "# Search"),
    ("silo completion bash", "complete"),
]
"""A command, and what it prints."""


class Wrong(Exception):
    """A check failed; the text says how."""


def run(line: str, expected: int = 0, seconds: float = 120) -> str:
    """Run a line in a shell, and return what it printed on stdout and stderr."""
    done = subprocess.run(
        ["bash", "-c", line],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode != expected or "Traceback" in done.stdout:
        raise Wrong(f"{line}: exit {done.returncode}, not {expected}:\n{done.stdout}")
    return done.stdout


def version() -> str:
    """The installed version is the one to be released, and its code is the installed code."""
    place = os.path.realpath(recordsilo.__file__)
    if not place.startswith(os.path.realpath(sys.prefix) + os.sep):
        raise Wrong(f"{place} is not in {sys.prefix}")
    if (said := run("silo --version").strip()) != f"silo, version {VERSION}":
        raise Wrong(f"silo --version prints {said!r}")
    if recordsilo.__version__ != VERSION:
        raise Wrong(f"recordsilo.__version__ is {recordsilo.__version__}")
    return said


def helps() -> str:
    """Each command can be loaded, and prints its help."""
    count = 0
    above = click.Context(silo_command, info_name="silo")
    contexts = [above]
    while contexts:
        ctx = contexts.pop()
        text = ctx.command.get_help(ctx)
        if "Usage: " not in text or "cannot be loaded" in text:
            raise Wrong(f"{ctx.command_path} --help:\n{text}")
        count += 1
        if isinstance(ctx.command, click.Group):
            for name in ctx.command.list_commands(ctx):
                found = ctx.command.get_command(ctx, name)
                if found is None:
                    raise Wrong(f"{ctx.command_path} {name} cannot be loaded")
                contexts.append(click.Context(found, parent=ctx, info_name=name))
    return f"{count} commands have their help"


def shared() -> str:
    """The man pages, completions and documents are below the prefix."""
    share = Path(sys.prefix, "share")
    pages = len(list((share / "man" / "man1").glob("silo*.1")))
    documents = len(list((share / "recordsilo" / "docs").rglob("*.md")))
    scripts = [
        "bash-completion/completions/silo",
        "zsh/site-functions/_silo",
        "fish/vendor_completions.d/silo.fish",
    ]
    missing = [name for name in scripts if not (share / name).is_file()]
    if missing or pages < len(points("recordsilo.commands")) or not documents:
        raise Wrong(f"{pages} man pages, {documents} documents; missing: {missing}")
    return f"{pages} man pages, {documents} documents, completions of 3 shells"


def demo() -> str:
    """`silo demo` harvests the sample, and a second run changes nothing."""
    began = time.monotonic()
    first = run("silo demo --no-serve sample")
    took = time.monotonic() - began
    again = run("silo demo --no-serve sample")
    if "Whole: everything listed is in the Silo." not in first or "Nothing changed" not in again:
        raise Wrong(f"silo demo prints:\n{first}\n{again}")
    listed = re.search(r"([\d,]+) records listed", first)
    return f"silo demo: {listed[1] if listed else '?'} records in {took:.1f} s"


def page() -> str:
    """`silo serve` answers until SIGTERM, and then ends with 0."""
    with subprocess.Popen(
        [SILO, "serve", "sample", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            said = server.stdout.readline()
            url = re.search(r"http://\S+", said)
            if url is None:
                raise Wrong(f"silo serve prints {said!r}")
            for path, wanted in (("", "<!DOCTYPE html>"), ("search?q=pollinator", "pollinator")):
                with urllib.request.urlopen(url[0] + path, timeout=30) as answer:
                    if wanted.lower() not in answer.read().decode().lower():
                        raise Wrong(f"{url[0]}{path} has no {wanted}")
        finally:
            server.send_signal(signal.SIGTERM)
    if server.returncode != 0:
        raise Wrong(f"silo serve ended with {server.returncode}")
    return "silo serve answers, and stops"


def session() -> str:
    """Commands of every day print what they should."""
    for line, wanted in SESSION:
        if wanted not in (said := run(line)):
            raise Wrong(f"{line} does not print {wanted!r}:\n{said}")
    return f"{len(SESSION)} commands of every day"


def refusals() -> str:
    """Wrong input is refused in a sentence."""
    for line in WRONG:
        run(line, expected=2)
    return f"{len(WRONG)} wrong inputs refused"


def extras() -> str:
    """What needs an extra says so at once, and names this distribution to pip."""
    for option in ("usage", "crawl"):
        with contextlib.suppress(ImportError):
            __import__("duckdb")
            return "extras are installed"
        said = run(f"silo demo --{option} new", expected=2, seconds=30)
        if f"'silo-records[{option}]'" not in said or os.path.exists("new"):
            raise Wrong(f"silo demo --{option} prints:\n{said}")
    return "2 extras named before any work"


CHECKS: list[Callable[[], str]] = [version, helps, shared, demo, session, refusals, extras, page]


def main() -> int:
    """Make all checks in the working directory."""
    try:
        for check in CHECKS:
            print(f"  {check()}", flush=True)
    except (Wrong, subprocess.TimeoutExpired) as wrong:
        print(f"  {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
