"""What is said of an argument that names no Silo, no file or no directory, for all commands."""

import functools
import os
import re
from collections.abc import Iterator
from typing import Any

import click

from recordsilo.errors import VERSION_FILE, SiloNotFound

_SILO = "DIR"
"""The metavar of the argument that is a Silo."""
_VERBS = {"list", "ls", "show", "status"}
"""What people type after a command that needs no such word: ``silo jobs list myrepo``."""
_NAMED = re.compile(r"'(.*)' (does not exist|is a directory)\.|'(.*)': (Is a directory)", re.DOTALL)


def noticing_swaps(command: click.Command) -> click.Command:
    """Let a command, or those of a group, notice a Silo in the place of another argument."""
    if isinstance(command, click.Group):
        for one in command.commands.values():
            noticing_swaps(one)
    elif command.callback and _silo_argument(command) and not hasattr(command, "notices_swaps"):
        command.callback = _noticing(command.callback)
        command.notices_swaps = True  # type: ignore[attr-defined]  # commands are kept and met again
    return command


def _noticing(callback: Any) -> Any:
    @functools.wraps(callback)
    def call(*args: Any, **given: Any) -> Any:
        context = click.get_current_context()
        if said := _needless(context) or swapped(context.command, context.params):
            raise click.UsageError(said, context)
        return callback(*args, **given)

    return call


def _needless(context: click.Context) -> str:
    """What is said of a word such as ``list`` in the place of the Silo; ``""`` of others."""
    word = context.params.get(_silo_argument(context.command) or "")
    other = next(_others(context.command, context.params), "")
    if word not in _VERBS or not other or os.path.exists(word):
        return ""
    path = context.command_path
    return f"'{path}' is followed by the Silo, not by {word!r}; did you mean '{path} {other}'?"


def swapped(command: click.Command, given: dict[str, Any]) -> str:
    """The question whether the arguments of a command were swapped; ``""`` if none seems to be.

    Args:
        command: With one argument ``DIR``, which has to be a Silo, and others.
        given: The values of its parameters, as far as they were read.
    """
    argument = _silo_argument(command)
    place = given.get(argument) if argument else None
    if not isinstance(place, str) or is_silo(place):
        return ""
    silo = next((one for one in _others(command, given) if is_silo(one)), None)
    if silo is None:
        return ""
    return f"{place} is not a Silo, and {silo} is one; did you swap the arguments?"


def said_of_path(error: click.BadParameter) -> str:
    """Click's error about a path, as a sentence of ours; ``""`` for another error."""
    found = _NAMED.search(error.message)
    if found is None or not isinstance(error.param, click.Parameter) or error.ctx is None:
        return ""
    path, is_missing = found[1] or found[3], found[2] == "does not exist"
    param = error.param
    if not is_missing:
        given = {**error.ctx.params, str(param.name): path}
        return swapped(error.ctx.command, given) or f"{path} is a directory; name a file"
    if param.make_metavar(error.ctx) == _SILO:
        return str(SiloNotFound.at(path))
    return f"{path} does not exist; name an existing one for {param.get_error_hint(error.ctx)}"


def is_silo(path: str) -> bool:
    """Whether a path is that of a Silo."""
    return "\0" not in path and os.path.exists(f"{path}/{VERSION_FILE}")


def _silo_argument(command: click.Command) -> str | None:
    """The name of the one argument that is a Silo."""
    found = [
        one.name
        for one in command.params
        if isinstance(one, click.Argument) and one.metavar in (_SILO, f"[{_SILO}]")
    ]
    return found[0] if len(found) == 1 else None


def _others(command: click.Command, given: dict[str, Any]) -> Iterator[str]:
    """The values of the other arguments."""
    for one in command.params:
        if isinstance(one, click.Argument) and one.name != _silo_argument(command):
            value = given.get(str(one.name))
            values = value if isinstance(value, tuple) else (value,)
            yield from (each for each in values if isinstance(each, str))
