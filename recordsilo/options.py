"""Arguments and options that several commands of `silo` have."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from recordsilo.manifest import STATES

F = TypeVar("F", bound=Callable[..., Any])

directory = click.argument("silo_dir", metavar="DIR")
identifier = click.argument("item", metavar="ID")
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
in_state = click.option(
    "--state",
    type=click.Choice(STATES),
    help="Only records whose current version is in this state.",
)


class Number(click.FloatRange):
    """A number within a range; click takes NaN for within any."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; anything else fails the command."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def why(command: F) -> F:
    """The options that say who changes something, and why."""
    command = click.option("--agent", default="", help="Who changes it (default: the user).")(
        command
    )
    return click.option("-m", "--message", default="", help="Why, for the record's log.")(command)
