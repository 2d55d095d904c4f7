"""The cases of damage by name: the number of the code they yield, and the function's name."""

from collections.abc import Callable
from typing import Any

Box = Any  # the Box of audit/conftest.py, which --import-mode=importlib keeps from being imported
Break = Callable[..., object]
Register = Callable[[Break], Break]
CASES: dict[str, Break] = {}
OF_2010: dict[str, Break] = {}
OF_INDEX: dict[str, Break] = {}


def breaks(number: str, cases: dict[str, Break] = CASES) -> Register:
    """Add a function that damages a Silo so that the audit finds this code, and no other."""

    def register(function: Break) -> Break:
        cases[f"{number}-{function.__name__.replace('_', '-')}"] = function
        return function

    return register


def breaks_2010(number: str) -> Register:
    """The same for a Silo that 2010 wrote."""
    return breaks(number, OF_2010)


def breaks_index(number: str) -> Register:
    """The same for the index of a Silo."""
    return breaks(number, OF_INDEX)
