"""`silo shell`: a Python prompt with the Silo opened."""

import code
import contextlib
import importlib.util
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click

import recordsilo
from recordsilo.cli import ExitCode, example, open_silo, shown
from recordsilo.commands.options import directory
from recordsilo.errors import RecordSiloError
from recordsilo.overview import overview
from recordsilo.prompt_errors import frames_and_sentence
from recordsilo.silo import Silo
from recordsilo.wording import counted


@click.command(epilog=example("silo shell myrepo", "echo 'print(len(silo))' | silo shell myrepo"))
@directory
def shell(*, silo_dir: str) -> int:
    """Open a Python prompt with the Silo DIR as `silo`: IPython where it is installed.

    If standard input is not a terminal, it is run as a Python program.
    """
    with _own_streams(), open_silo(silo_dir) as silo:
        names = {"__name__": "__main__", "silo": silo, "recordsilo": recordsilo}
        if not sys.stdin.isatty():
            return _run(sys.stdin.buffer.read(), names)
        for line in _banner(silo):
            click.echo(shown(line))
        if importlib.util.find_spec("IPython") is not None:
            _ipython(names)
        else:
            _python(names)
    return ExitCode.OK


@contextlib.contextmanager
def _own_streams() -> Iterator[None]:
    """Let the prompt write to the terminal as it is: it moves the cursor, and asks where it is."""
    prepared = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = sys.__stdout__ or sys.stdout, sys.__stderr__ or sys.stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = prepared


def _banner(silo: Silo) -> list[str]:
    """What there is, and what to try."""
    found = overview(silo)
    what = [
        counted(found.records, "record"),
        f"in {', '.join(found.formats)}" if found.formats else "",
        f"from {found.repository}" if found.repository else "",
    ]
    some = next(iter(silo.page(limit=1).rows), None)
    record = f"silo[{some.identifier!r}], " if some else ""
    return [
        f"silo: {' '.join(filter(None, what))}",
        f"Try {record}silo.search('words'), help(silo). exit() ends.",
    ]


def _run(program: bytes, names: dict[str, Any]) -> int:
    """Run a program of the user; its errors are its own, except those of the store."""
    console = _Console(names)
    try:
        exec(compile(program, "<stdin>", "exec"), names)  # noqa: S102 - that is the command
    except (RecordSiloError, SystemExit, KeyboardInterrupt, BrokenPipeError):
        raise
    except SyntaxError:
        console.showsyntaxerror("<stdin>")
        return ExitCode.USAGE
    except Exception:  # noqa: BLE001 - of the user's program
        console.showtraceback()
        return ExitCode.LOSSES
    return ExitCode.OK


def _ipython(names: dict[str, Any]) -> None:
    import_module("IPython").start_ipython(argv=["--no-banner", "--no-confirm-exit"], user_ns=names)


def _python(names: dict[str, Any]) -> None:
    with contextlib.suppress(ImportError):
        import readline  # noqa: PLC0415 - not in every Python
        import rlcompleter  # noqa: PLC0415

        readline.set_completer(rlcompleter.Completer(names).complete)
        readline.parse_and_bind("tab: complete")
    _Console(names).interact(banner="", exitmsg="")


class _Console(code.InteractiveConsole):
    """Shows an error of the store as its sentence."""

    def showtraceback(self) -> None:
        """Print the error that was raised."""
        error = sys.exc_info()[1]
        if isinstance(error, RecordSiloError):
            self.write("\n".join(frames_and_sentence(error)) + "\n")
        else:
            super().showtraceback()
